//! What came is kept by reference only where that keeps little else: a stranger's few octets hold no buffer of the carrier's.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{
    Arrivals, Arrived, Datagram, Driver, Ecn, Engine, EngineConfig, ListenOptions, Time, TransmitBatch,
    paradigm,
};

const PORT: u16 = 9;
/// Octets of a buffer that packets come in.
const SLAB: usize = 60_000;
/// Octets a reader takes that its user leaves there.
const CAPACITY: u64 = 100_000;
/// Times as much as is charged that may be kept.
const MOST: u64 = 4;

/// A buffer of the carrier's; there are as many as the counter says.
struct Slab(Vec<u8>, Arc<AtomicUsize>);

impl Slab {
    fn filled(octets: &[u8], count: &Arc<AtomicUsize>) -> Bytes {
        count.fetch_add(1, Ordering::Relaxed);
        let mut slab = octets.to_vec();
        slab.resize(SLAB, 0);
        Bytes::from_owner(Self(slab, Arc::clone(count)))
    }
}

impl AsRef<[u8]> for Slab {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

fn engine(number: u8) -> Engine {
    let mut engine = Engine::new(EngineConfig::new([number; 32])).expect("in range");
    let mut options = ListenOptions::every_service(PORT);
    options.tuning.recv_capacity = CAPACITY;
    engine.listen(options).expect("free");
    engine
}

fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 36_036))
}

/// What an engine says.
fn flush(engine: &mut Engine, now: Time) -> Vec<Vec<u8>> {
    let (mut out, mut said) = (TransmitBatch::new(), Vec::new());
    engine.flush(now, &mut out);
    out.for_each_datagram(|_, octets| said.push(octets.to_vec()));
    said
}

/// A datagram and what came joined to it, which is nobody's.
struct First<'a>(Option<Arrived<'a>>);

impl<'a> Arrivals<'a> for First<'a> {
    fn only(&self) -> Option<Arrived<'a>> {
        None
    }

    fn next(&mut self) -> Option<Arrived<'a>> {
        self.0.take()
    }

    fn skip_joined(&mut self, _: usize) {}
}

/// `count` streams to a server of which each packet comes in a buffer of its own, the first of data left out if `holes`;
/// octets kept, and octets charged.
fn keep(count: u8, holes: bool) -> (u64, u64) {
    let (mut now, mut server) = (Time::from_nanos(1_000_000_000), Driver::new(engine(1)));
    let slabs = Arc::new(AtomicUsize::new(0));
    for number in 2..2 + count {
        let mut client = engine(number);
        let id = client
            .open(now, address(1), paradigm::stream(PORT))
            .expect("room");
        let mut skipped = !holes;
        for octets in [100, 500_000] {
            client.send(now, id, vec![7; octets].into(), false).expect("room");
            for _ in 0..300 {
                now = now + Duration::from_millis(1);
                for packet in flush(&mut client, now) {
                    if octets > 100 && !std::mem::replace(&mut skipped, true) {
                        continue;
                    }
                    let slab = Slab::filled(&packet, &slabs);
                    let datagram = |data| Datagram {
                        src: address(number),
                        dst: None,
                        ecn: Ecn::NotEct,
                        data,
                        backing: Some(&slab),
                    };
                    // What lies behind it in the buffer came with it, and is none of this association's.
                    let joined = datagram(&slab[..2 * packet.len()]);
                    let stride = packet.len();
                    server.receive_all(now, &mut First(Some(Arrived { joined, stride })));
                }
                for packet in flush(server.command(), now) {
                    let datagram = Datagram {
                        src: address(1),
                        dst: None,
                        ecn: Ecn::NotEct,
                        data: &packet,
                        backing: None,
                    };
                    client.receive(now, datagram);
                }
            }
        }
    }
    let kept = slabs.load(Ordering::Relaxed) * SLAB;
    (kept as u64, server.view().stats().memory)
}

#[test]
fn what_is_charged_is_a_good_part_of_what_is_kept() {
    for holes in [false, true] {
        let (kept, charged) = keep(4, holes);
        assert!(
            charged >= 4 * CAPACITY,
            "holes: {holes}: only {charged} octets came"
        );
        assert!(
            kept <= MOST * charged,
            "holes: {holes}: {kept} kept, {charged} charged"
        );
    }
}
