//! Datagrams taken as a run have the effects they would have one by one, to the last octet of the answers.

use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    Arrivals, Arrived, ContextId, Datagram, Driver, Ecn, Engine, EngineConfig, Event, ListenOptions, Read,
    Time, TransmitBatch, paradigm,
};

const SERVICE: u16 = 9;
/// No longer datagram gets through.
const MTU: usize = 1_472;
const WRITER: &str = "10.0.0.1:36036";
const READER: &str = "10.0.0.2:36036";

/// Datagrams of one length that came joined, the last perhaps shorter.
struct Slab<'a> {
    src: SocketAddr,
    octets: &'a Bytes,
    at: usize,
    stride: usize,
    /// Datagrams that were taken in runs.
    in_runs: usize,
}

impl<'a> Arrivals<'a> for Slab<'a> {
    fn only(&self) -> Option<Arrived<'a>> {
        None
    }

    fn next(&mut self) -> Option<Arrived<'a>> {
        let data = self.octets.get(self.at..).filter(|data| !data.is_empty())?;
        self.at += self.stride.min(data.len());
        Some(Arrived {
            joined: datagram(self.src, data, self.octets),
            stride: self.stride.min(data.len()),
        })
    }

    fn skip_joined(&mut self, count: usize) {
        self.in_runs += 1 + count;
        self.at += count * self.stride;
    }
}

fn datagram<'a>(src: SocketAddr, data: &'a [u8], backing: &'a Bytes) -> Datagram<'a> {
    Datagram {
        src,
        dst: None,
        ecn: Ecn::Ect0,
        data,
        backing: Some(backing),
    }
}

/// A reader, and how it takes what comes joined.
struct Reader {
    engine: Driver,
    joined: bool,
    id: Option<ContextId>,
    octets: Vec<u8>,
    taken_in_runs: usize,
}

impl Reader {
    fn new(joined: bool) -> Self {
        let mut engine = Driver::new(Engine::new(EngineConfig::new([2; 32])).unwrap());
        engine
            .command()
            .listen(ListenOptions::every_service(SERVICE))
            .unwrap();
        Self {
            engine,
            joined,
            id: None,
            octets: Vec::new(),
            taken_in_runs: 0,
        }
    }

    /// Takes datagrams of `stride` octets that lie in one slab, the last perhaps shorter.
    fn receive(&mut self, now: Time, src: SocketAddr, slab: &Bytes, stride: usize) {
        if !self.joined {
            for data in slab.chunks(stride) {
                self.engine.command().receive(now, datagram(src, data, slab));
            }
            return;
        }
        let mut arrivals = Slab {
            src,
            octets: slab,
            at: 0,
            stride,
            in_runs: 0,
        };
        self.engine.receive_all(now, &mut arrivals);
        self.taken_in_runs += arrivals.in_runs;
    }

    /// Everything it sends, and what its user found.
    fn turn(&mut self, now: Time, reads: bool) -> Vec<Vec<u8>> {
        while let Some((id, event)) = self.engine.poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                self.id = Some(id);
            }
        }
        while let (true, Some(id)) = (reads, self.id)
            && let Ok(Read::Data { bytes, .. }) = self.engine.command().read(now, id, usize::MAX)
        {
            self.octets.extend_from_slice(&bytes);
        }
        datagrams(self.engine.command(), now)
            .into_iter()
            .map(|(_, octets)| octets)
            .collect()
    }
}

/// What an engine sends, train by train.
fn datagrams(engine: &mut Engine, now: Time) -> Vec<(usize, Vec<u8>)> {
    let mut out = TransmitBatch::new();
    engine.flush(now, &mut out);
    let mut all = Vec::new();
    out.for_each_datagram(|train, octets| {
        all.push((std::ptr::from_ref(train) as usize, octets.to_vec()));
    });
    all
}

/// Neighbours of equal length as receive offload would join them; those that `lost` names are missing.
fn join(sent: &[(usize, Vec<u8>)], mut lost: impl FnMut() -> bool) -> Vec<(Bytes, usize)> {
    let mut slabs: Vec<(Vec<u8>, usize, bool)> = Vec::new();
    for (_, datagram) in sent {
        if lost() || datagram.len() > MTU {
            continue;
        }
        match slabs.last_mut() {
            Some((slab, stride, open)) if *open && datagram.len() <= *stride && slab.len() < 60_000 => {
                slab.extend_from_slice(datagram);
                *open = datagram.len() == *stride;
            }
            _ => slabs.push((datagram.clone(), datagram.len(), true)),
        }
    }
    slabs
        .into_iter()
        .map(|(slab, stride, _)| (slab.into(), stride))
        .collect()
}

/// Sends a stream to two readers, one datagram in `lose` lost (0: none). Returns how many came in runs.
fn compare(lose: u64, chunk: usize) -> usize {
    let (writer_addr, reader_addr): (SocketAddr, SocketAddr) =
        (WRITER.parse().unwrap(), READER.parse().unwrap());
    let mut writer = Engine::new(EngineConfig::new([1; 32])).unwrap();
    let mut readers = [Reader::new(false), Reader::new(true)];
    let mut now = Time::from_nanos(1_000_000_000);
    let id = writer.open(now, reader_addr, paradigm::stream(SERVICE)).unwrap();
    let text: Vec<u8> = (0..2_000_000_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let mut rest = Bytes::from(text.clone());
    let mut dice = 1_u64;
    for turn in 0..4_000 {
        let offered = rest.slice(..chunk.min(rest.len()));
        let accepted = if offered.is_empty() {
            0
        } else {
            writer.send(now, id, offered, turn % 7 == 0).unwrap()
        };
        rest = rest.slice(accepted..);
        let sent = datagrams(&mut writer, now);
        now = now + Duration::from_millis(5);
        let slabs = join(&sent, || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            lose > 0 && (dice >> 33).is_multiple_of(lose)
        });
        for reader in &mut readers {
            for (slab, stride) in &slabs {
                reader.receive(now, writer_addr, slab, *stride);
            }
        }
        let reads = turn % 3 > 0;
        let [one_by_one, joined] = &mut readers;
        let answers = one_by_one.turn(now, reads);
        assert_eq!(answers, joined.turn(now, reads), "turn {turn}");
        let stats = |reader: &Reader| {
            reader.id.map(|id| {
                let mut stats = reader.engine.view().context(id).expect("there").stats();
                // What is taken one by one is a small part of its buffer, and copied.
                stats.octets_copied = 0;
                format!("{stats:?}")
            })
        };
        assert_eq!(stats(one_by_one), stats(joined), "turn {turn}");
        assert_eq!(one_by_one.engine.deadline(), joined.engine.deadline());
        now = now + Duration::from_millis(5);
        for answer in &answers {
            let datagram = Datagram {
                src: reader_addr,
                dst: None,
                ecn: Ecn::NotEct,
                data: answer,
                backing: None,
            };
            writer.receive(now, datagram);
        }
        if joined.octets.len() == text.len() {
            break;
        }
    }
    let [one_by_one, joined] = readers;
    assert!(
        one_by_one.octets == text && joined.octets == text,
        "{} octets",
        joined.octets.len()
    );
    joined.taken_in_runs
}

#[test]
fn a_run_is_what_its_datagrams_are() {
    let runs = compare(0, 100_000);
    assert!(runs > 1_000, "{runs}");
}

#[test]
fn holes_and_short_writes_make_no_difference() {
    for (lose, chunk) in [(50, 100_000), (7, 300_000), (300, 6_000), (0, 1_500)] {
        compare(lose, chunk);
    }
}
