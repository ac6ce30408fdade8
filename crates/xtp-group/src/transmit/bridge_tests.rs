//! A transmitter's host and receivers' hosts on a bridge: its uplink has a rate and a queue, every way to a receiver loses
//! some packets.

use crate::groups::host_testing::Host;
use crate::{CastStats, GroupEvent, GroupId, ReceiverOptions, Target, TransmitterOptions};
use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use xtp_core::Time;
use xtp_core::transmit::{Datagram, Ecn, TransmitBatch};
use xtp_core::user::Read;

use super::scripted::{group, host};

/// Ethernet, IP and UDP around a packet.
const AROUND: u64 = 42;
/// One way from host to host, unless said otherwise.
const DELAY: Duration = Duration::from_micros(100);

pub(super) struct Way {
    /// Octets a second of the uplink, and what its queue holds.
    pub(super) rate: u64,
    pub(super) queue: u64,
    /// From host to host.
    pub(super) delay: Duration,
    /// Of a thousand packets to a receiver so many are lost.
    pub(super) loss: u32,
    /// For so long the transmitter's host takes so much time for a train; then it takes none.
    pub(super) slow: (Duration, Duration),
    /// After a pause so many octets pass at once.
    pub(super) bucket: u64,
    /// A packet that finds so many octets before it gets a mark of congestion, if it may.
    pub(super) marked_above: u64,
}

impl Way {
    /// A link of so many octets a second and with a queue of so many octets, that loses nothing besides.
    pub(super) fn of(rate: u64, queue: u64) -> Self {
        Self {
            rate,
            queue,
            delay: DELAY,
            loss: 0,
            slow: (Duration::ZERO, Duration::ZERO),
            marked_above: u64::MAX,
            bucket: 0,
        }
    }
}

/// At whom (0 is the transmitter), from whom, whether to the group, and what.
type Travelling = (usize, SocketAddr, bool, (Ecn, Vec<u8>));

struct Party {
    host: Host,
    id: GroupId,
    octets: u64,
    /// When it was told that it has everything.
    complete: Option<Time>,
    closed: bool,
    seed: u64,
}

pub(super) struct Bridge {
    way: Way,
    pub(super) now: Time,
    transmitter: Host,
    pub(super) id: GroupId,
    parties: Vec<Party>,
    /// What arrives when.
    under_way: BTreeMap<(Time, u64), Travelling>,
    number: u64,
    free: Time,
    /// When the slow transmitter goes on, and until when it is slow.
    goes_on: Time,
    slow_until: Time,
    source: VecDeque<Bytes>,
    finished: bool,
    pub(super) events: Vec<GroupEvent>,
    pub(super) feedback: u64,
    pub(super) dropped: u64,
    pub(super) longest_queue: Duration,
    /// Packets that left able to be marked, and those that were.
    pub(super) able: u64,
    pub(super) marked: u64,
    pub(super) group_octets: u64,
    /// The host of one is switched off then.
    pub(super) off: Option<(usize, Time)>,
    /// From then on the way to one carries no packets longer than 300 octets.
    pub(super) deaf: Option<(usize, Time)>,
}

/// What the way to a deaf receiver carries.
const SHORT: usize = 300;

impl Bridge {
    pub(super) fn new(way: Way, options: TransmitterOptions, receivers: u8, octets: usize) -> Self {
        let now = Time::ZERO + Duration::from_secs(1);
        let mut transmitter = Host::new(1);
        let id = transmitter
            .cast(now, Target::Group(group()), options)
            .expect("sound");
        let parties = (1..=receivers).map(|number| {
            let mut host = Host::new(number + 1);
            let options = ReceiverOptions {
                group: Some(group()),
                ..ReceiverOptions::default()
            };
            let id = host.join(now, options).expect("sound");
            Party {
                host,
                id,
                octets: 0,
                complete: None,
                closed: false,
                seed: u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            }
        });
        let chunk = Bytes::from(vec![7; 1 << 16]);
        let source = (0..octets.div_ceil(1 << 16)).map(|index| {
            let from = index << 16;
            chunk.slice(..(octets - from).min(1 << 16))
        });
        Self {
            goes_on: now,
            slow_until: now + way.slow.0,
            way,
            now,
            transmitter,
            id,
            parties: parties.collect(),
            under_way: BTreeMap::new(),
            number: 0,
            free: now,
            source: source.collect(),
            finished: false,
            events: Vec::new(),
            feedback: 0,
            dropped: 0,
            longest_queue: Duration::ZERO,
            able: 0,
            marked: 0,
            group_octets: 0,
            off: None,
            deaf: None,
        }
    }

    /// Runs until the transmitter's group is closed; says how long that took.
    pub(super) fn run(&mut self, limit: Duration) -> Duration {
        let began = self.now;
        let end = began + limit;
        loop {
            self.serve_transmitter();
            for index in 0..self.parties.len() {
                self.serve_receiver(index);
            }
            if self
                .events
                .iter()
                .any(|event| matches!(event, GroupEvent::Closed(_)))
            {
                return self.now.since(began);
            }
            let timers = self.parties.iter().filter_map(|party| party.host.deadline());
            let next = self
                .under_way
                .first_key_value()
                .map(|((at, _), _)| *at)
                .into_iter()
                .chain(self.transmitter.deadline().map(|at| at.max(self.goes_on)))
                .chain(timers)
                .min();
            let next = next.expect("something is to come");
            self.now = self.now.max(next);
            assert!(self.now <= end, "it takes too long: {:?}", self.report());
            self.arrive();
        }
    }

    pub(super) fn stats(&mut self) -> CastStats {
        self.transmitter.cast_stats(self.now, self.id).expect("known")
    }

    pub(super) fn report(&mut self) -> String {
        let stats = self.transmitter.cast_stats(self.now, self.id);
        let members = self.transmitter.members(self.now, self.id);
        let octets: Vec<u64> = self.parties.iter().map(|party| party.octets).collect();
        format!("{stats:?}\n{members:?}\n{octets:?} {:?}", self.events)
    }

    fn arrive(&mut self) {
        while let Some(entry) = self
            .under_way
            .first_entry()
            .filter(|entry| entry.key().0 <= self.now)
        {
            let (to, src, of_group, (ecn, data)) = entry.remove();
            let datagram = Datagram {
                src,
                dst: None,
                ecn,
                data: &data,
                backing: None,
            };
            match to.checked_sub(1).map(|index| &mut self.parties[index]) {
                None => {
                    self.feedback += 1;
                    self.transmitter.receive(self.now, datagram);
                }
                Some(party) if of_group => party.host.receive_group(self.now, group(), datagram),
                Some(party) => party.host.receive(self.now, datagram),
            }
        }
    }

    fn put(&mut self, at: Time, to: usize, src: SocketAddr, of_group: bool, data: (Ecn, &[u8])) {
        self.number += 1;
        let data = (data.0, data.1.to_vec());
        self.under_way
            .insert((at, self.number), (to, src, of_group, data));
    }

    fn serve_transmitter(&mut self) {
        if self.now < self.goes_on {
            return;
        }
        self.write();
        for round in 0.. {
            assert!(round < 100_000, "the transmitter never rests");
            let mut batch = TransmitBatch::new();
            self.transmitter.flush(self.now, &mut batch);
            let mut datagrams = Vec::new();
            batch.for_each_datagram(|train, octets| datagrams.push((train.dst, train.ecn, octets.to_vec())));
            for (dst, ecn, octets) in datagrams {
                self.uplink(dst, ecn, &octets);
            }
            while let Some((_, event)) = self.transmitter.poll_event() {
                if event == GroupEvent::Writable {
                    self.write();
                } else {
                    self.events.push(event);
                }
            }
            if batch.is_empty() {
                return;
            }
            if self.now < self.slow_until {
                self.goes_on = self.now + self.way.slow.1;
                return;
            }
        }
    }

    fn write(&mut self) {
        while let Some(next) = self.source.pop_front() {
            let taken = self
                .transmitter
                .send(self.now, self.id, next.clone(), false)
                .unwrap_or(0);
            if taken < next.len() {
                return self.source.push_front(next.slice(taken..));
            }
        }
        if !self.finished {
            self.finished = true;
            self.transmitter.finish(self.now, self.id).expect("known");
        }
    }

    fn uplink(&mut self, dst: SocketAddr, ecn: Ecn, octets: &[u8]) {
        let wire = octets.len() as u64 + AROUND;
        let waiting = self.free.since(self.now);
        let before = u128::from(self.way.rate) * waiting.as_nanos() / 1_000_000_000;
        if before > u128::from(self.way.queue) {
            self.dropped += 1;
            return;
        }
        let able = ecn == Ecn::Ect0;
        let marks = able && before > u128::from(self.way.marked_above);
        let ecn = if marks { Ecn::Ce } else { ecn };
        self.able += u64::from(able);
        self.marked += u64::from(marks);
        let takes = Duration::from_nanos(wire * 1_000_000_000 / self.way.rate);
        let saved = Duration::from_nanos(self.way.bucket * 1_000_000_000 / self.way.rate);
        self.free = self.free.max(self.now - saved) + takes;
        self.longest_queue = self.longest_queue.max(self.free.since(self.now));
        let at = self.free.max(self.now) + self.way.delay;
        let src = SocketAddr::from(([192, 0, 2, 100], 30_000));
        let of_group = dst == group();
        self.group_octets += if of_group { wire } else { 0 };
        for index in 0..self.parties.len() {
            let concerned = of_group || dst == host(index as u8 + 1);
            let unheard = octets.len() > SHORT && is_since(self.deaf, index, self.now);
            if concerned && !unheard && !self.is_lost(index) {
                self.put(at, index + 1, src, of_group, (ecn, octets));
            }
        }
    }

    fn is_lost(&mut self, index: usize) -> bool {
        if is_since(self.off, index, self.now) {
            return true;
        }
        let seed = &mut self.parties[index].seed;
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed >> 20) % 1_000 < u64::from(self.way.loss)
    }

    fn serve_receiver(&mut self, index: usize) {
        let src = host(index as u8 + 1);
        let party = &mut self.parties[index];
        while let Ok(Read::Data { bytes, .. }) = party.host.read(self.now, party.id, 1 << 20) {
            party.octets += bytes.len() as u64;
        }
        let mut batch = TransmitBatch::new();
        party.host.flush(self.now, &mut batch);
        while let Some((_, event)) = party.host.poll_event() {
            party.closed |= matches!(event, GroupEvent::Closed(_));
            if event == GroupEvent::Complete {
                party.complete = Some(self.now);
            }
        }
        let mut datagrams = Vec::new();
        batch.for_each_datagram(|_, octets| datagrams.push(octets.to_vec()));
        for octets in datagrams {
            let at = self.now + self.way.delay;
            if !self.is_lost(index) {
                self.put(at, 0, src, false, (Ecn::NotEct, &octets));
            }
        }
    }

    /// When the last member that is neither switched off nor deaf had everything.
    pub(super) fn completed(&self) -> Option<Time> {
        let there = |index: usize| [self.off, self.deaf].iter().flatten().all(|(of, _)| *of != index);
        let all = self.parties.iter().enumerate().filter(|(index, _)| there(*index));
        all.map(|(_, party)| party.complete)
            .try_fold(Time::ZERO, |last, complete| Some(last.max(complete?)))
    }

    /// What every receiver has.
    pub(super) fn octets(&self) -> Vec<u64> {
        self.parties.iter().map(|party| party.octets).collect()
    }
}

/// Whether this happened to that receiver.
fn is_since(what: Option<(usize, Time)>, index: usize, now: Time) -> bool {
    what.is_some_and(|(of, at)| of == index && at <= now)
}
