//! Local paths begin with the longest datagram: what becomes of those that carry less, and of those that do not say so; and of any
//! path that carries less than the base.

use bytes::Bytes;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    ContextId, Datagram, Driver, Ecn, Engine, EngineConfig, Event, Failure, ListenOptions, OpenOptions, Read,
    Time, TransmitBatch, paradigm,
};

const PORT: u16 = 9;
/// What loopback carries in a datagram.
const LOOPBACK: usize = 65_507;
const TRAVEL: Duration = Duration::from_micros(10);

/// What the carrier says of a datagram that is too long.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Says {
    Nothing,
    TooLong,
    HowLong,
}

struct World {
    now: Time,
    ends: [Driver; 2],
    addrs: [SocketAddr; 2],
    wire: VecDeque<(Time, usize, Vec<u8>)>,
    fits: usize,
    says: Says,
    /// Lengths of all datagrams that were to leave.
    lengths: Vec<usize>,
    received: Vec<u8>,
    closed: bool,
}

impl World {
    fn new(fits: usize, says: Says) -> Self {
        Self::with_room(fits, says, EngineConfig::new([0; 32]).near_room)
    }

    /// Where a peer's socket is taken to hold `room` octets.
    fn with_room(fits: usize, says: Says, room: u64) -> Self {
        let engine = |n| {
            let mut config = EngineConfig::new([n; 32]);
            config.local_datagram = LOOPBACK;
            config.near_room = room;
            Driver::new(Engine::new(config).unwrap())
        };
        let mut ends = [engine(1), engine(2)];
        ends[1]
            .command()
            .listen(ListenOptions::every_service(PORT))
            .unwrap();
        Self {
            now: Time::from_nanos(1_000_000_000),
            ends,
            addrs: ["127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap()],
            wire: VecDeque::new(),
            fits,
            says,
            lengths: Vec::new(),
            received: Vec::new(),
            closed: false,
        }
    }

    /// The two hosts are not one.
    fn far(&mut self, remote: bool) {
        if remote {
            self.addrs = ["10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap()];
        }
    }

    fn flush(&mut self, me: usize) {
        let mut out = TransmitBatch::new();
        self.ends[me].command().flush(self.now, &mut out);
        let mut too_long = 0;
        out.for_each_datagram(|_, octets| {
            self.lengths.push(octets.len());
            if octets.len() > self.fits {
                too_long += 1;
            } else {
                self.wire.push_back((self.now + TRAVEL, 1 - me, octets.to_vec()));
            }
        });
        for _ in 0..too_long {
            let octets = match self.says {
                Says::Nothing => continue,
                Says::TooLong => None,
                Says::HowLong => Some(self.fits),
            };
            let told =
                self.ends[me]
                    .command()
                    .failed(self.now, self.addrs[1 - me], Failure::TooBig { octets });
            assert!(told, "an association sent it");
        }
        if too_long > 0 && self.says != Says::Nothing {
            self.flush(me);
        }
    }

    fn take_events(&mut self) {
        while let Some((_, event)) = self.ends[0].poll_event() {
            self.closed |= matches!(event, Event::Closed(_));
        }
        while let Some((id, event)) = self.ends[1].poll_event() {
            if matches!(event, Event::Accepted { .. } | Event::Readable) {
                while let Ok(Read::Data { bytes, .. }) = self.ends[1].command().read(self.now, id, usize::MAX)
                {
                    self.received.extend_from_slice(&bytes);
                }
            }
        }
    }

    fn run_until_closed(&mut self) {
        self.run(Duration::MAX);
    }

    /// Until an association is closed, or for so long nothing is to happen.
    fn run(&mut self, quiet: Duration) {
        for _ in 0..30_000 {
            self.flush(0);
            self.flush(1);
            self.take_events();
            if self.closed {
                return;
            }
            let wire = self.wire.front().map(|(at, ..)| *at);
            let due = [wire, self.ends[0].deadline(), self.ends[1].deadline()];
            let Some(next) = due.into_iter().flatten().min() else {
                return;
            };
            if next.since(self.now) > quiet {
                return;
            }
            self.now = self.now.max(next);
            while self.wire.front().is_some_and(|(at, ..)| *at <= self.now) {
                let Some((_, to, octets)) = self.wire.pop_front() else {
                    return;
                };
                let (src, data) = (self.addrs[1 - to], &octets[..]);
                let (dst, ecn, backing) = (None, Ecn::NotEct, None);
                self.ends[to].command().receive(
                    self.now,
                    Datagram {
                        src,
                        dst,
                        ecn,
                        data,
                        backing,
                    },
                );
            }
        }
    }

    /// A stream that has begun: one octet was written, and is known to have arrived.
    fn open_stream(&mut self) -> ContextId {
        let options = paradigm::stream(PORT);
        let id = self.ends[0]
            .command()
            .open(self.now, self.addrs[1], options)
            .unwrap();
        let taken = self.ends[0]
            .command()
            .send(self.now, id, Bytes::from_static(&[7]), false);
        assert_eq!(taken, Ok(1));
        // Not amid a question whether the peer is still there.
        self.run(Duration::from_secs(1));
        assert_eq!(self.received.len(), 1);
        id
    }

    fn send(&mut self, options: OpenOptions, len: usize) {
        let octets: Vec<u8> = (0..len).map(|n| (n * 7 % 251) as u8).collect();
        let id = self.ends[0]
            .command()
            .open(self.now, self.addrs[1], options)
            .unwrap();
        self.ends[0]
            .command()
            .send(self.now, id, Bytes::from(octets.clone()), true)
            .unwrap();
        self.ends[0].command().close_writer(self.now, id).unwrap();
        self.run_until_closed();
        let what = format!("{:?} {len} over {}", self.says, self.fits);
        assert!(self.closed, "{what}: no end, {:?}", self.lengths);
        assert_eq!(self.received.len(), octets.len(), "{what}");
        assert!(self.received == octets, "{what}: other octets");
    }
}

#[test]
fn a_message_that_fits_is_one_packet_of_a_new_association() {
    for len in [100, 16_384, 65_000] {
        let mut world = World::new(LOOPBACK, Says::TooLong);
        world.send(paradigm::one_shot(PORT), len);
        let longer = world.lengths.iter().filter(|octets| **octets > 100).count();
        assert_eq!(longer, 1, "{len}: {:?}", world.lengths);
    }
}

#[test]
fn what_does_not_leave_leaves_again_at_once_and_fits() {
    for says in [Says::TooLong, Says::HowLong] {
        for fits in [1_200, 1_472, 8_972, 20_000, 65_000] {
            for len in [100, 5_000, 16_384, 65_400, 300_000] {
                let mut world = World::new(fits, says);
                let begin = world.now;
                world.send(paradigm::one_shot(PORT), len);
                // No timer of a second was waited for.
                let took = world.now.since(begin);
                assert!(
                    took < Duration::from_millis(900),
                    "{says:?} {len} over {fits}: {took:?}"
                );
            }
        }
    }
}

/// Sizes below the base datagram, down to the least.
const NARROW: [usize; 6] = [548, 549, 576, 972, 1_172, 1_199];

#[test]
fn a_path_below_the_base_that_says_so_carries_everything_at_once() {
    for remote in [false, true] {
        for fits in NARROW {
            for len in [100, 900, 5_000, 60_000, 300_000] {
                for options in [paradigm::one_shot(PORT), paradigm::acknowledged_datagram(PORT)] {
                    let mut world = World::new(fits, Says::HowLong);
                    world.far(remote);
                    let begin = world.now;
                    world.send(options, len);
                    let took = world.now.since(begin);
                    assert!(took < Duration::from_millis(900), "{len} over {fits}: {took:?}");
                }
            }
        }
    }
}

#[test]
fn a_path_known_to_be_below_the_base_is_sent_nothing_longer() {
    for remote in [false, true] {
        for fits in NARROW {
            for len in [100, 900, 5_000, 60_000] {
                let mut world = World::new(fits, Says::Nothing);
                world.far(remote);
                for me in 0..2 {
                    let peer = world.addrs[1 - me];
                    world.ends[me].command().note_path_mtu(world.now, peer, fits);
                }
                let begin = world.now;
                world.send(paradigm::one_shot(PORT), len);
                let took = world.now.since(begin);
                assert!(took < Duration::from_millis(900), "{len} over {fits}: {took:?}");
                let longest = world.lengths.iter().max();
                assert!(longest <= Some(&fits), "{len} over {fits}: {:?}", world.lengths);
            }
        }
    }
}

#[test]
fn a_path_that_carries_more_again_is_sent_more() {
    let mut world = World::new(LOOPBACK, Says::Nothing);
    let peer = world.addrs[1];
    world.ends[0].command().note_path_mtu(world.now, peer, 600);
    world.ends[0].command().note_path_mtu(world.now, peer, LOOPBACK);
    world.send(paradigm::one_shot(PORT), 60_000);
    assert!(
        world.lengths.iter().any(|octets| *octets > 60_000),
        "{:?}",
        world.lengths
    );
}

#[test]
fn no_path_is_taken_to_carry_less_than_the_least() {
    let mut world = World::new(LOOPBACK, Says::Nothing);
    let peer = world.addrs[1];
    world.ends[0].command().note_path_mtu(world.now, peer, 100);
    world.send(paradigm::one_shot(PORT), 60_000);
    assert_eq!(world.lengths.iter().max(), Some(&xtp_engine::LEAST_DATAGRAM));
}

#[test]
fn a_path_that_swallows_long_datagrams_gets_short_ones() {
    for fits in [1_200, 1_472, 8_192, 20_000] {
        for len in [100, 5_000, 16_384, 65_400, 300_000] {
            let mut world = World::new(fits, Says::Nothing);
            world.send(paradigm::one_shot(PORT), len);
            world.lengths.reverse();
            let last = world.lengths.iter().find(|octets| **octets > 100);
            assert!(
                last.is_none_or(|octets| *octets <= fits),
                "{len} over {fits}: {:?}",
                world.lengths
            );
        }
    }
}

/// What Linux counts in a socket's buffer for a datagram with so many octets of data, at most.
fn counted(octets: usize) -> usize {
    const OVERHEAD: usize = 384;
    const STRUCT: usize = 256;
    match octets + OVERHEAD {
        short if short <= 16_384 => short.next_power_of_two().max(512) + STRUCT,
        long => long + STRUCT,
    }
}

#[test]
fn short_packets_to_a_local_peer_that_does_not_look_stay_within_its_socket() {
    // A receive buffer of 4 MiB is counted as one of 8.
    const SOCKET: usize = 8 << 20;
    for size in [16, 64, 128, 256, 1_024, 2_048, 4_096, 8_192, 16_384, 60_000] {
        let mut world = World::new(LOOPBACK, Says::TooLong);
        let id = world.open_stream();
        world.lengths.clear();
        let mut written = 0;
        // More than credit allows, or would.
        while written < 5 << 20 && world.ends[0].view().context(id).unwrap().writable() >= size as u64 {
            let taken = world.ends[0]
                .command()
                .send(world.now, id, Bytes::from(vec![7; size]), false);
            written += taken.unwrap();
            // Before any timer of the writer expires.
            world.now = world.now + Duration::from_nanos(10);
            world.flush(0);
        }
        let there: usize = world.lengths.iter().map(|octets| counted(*octets)).sum();
        assert!(there <= SOCKET, "{size}: {there} octets are counted");
        assert!(there >= SOCKET / 4, "{size}: {there} of its room are used");

        // The rest leaves in long packets.
        let before = world.lengths.len();
        let there: usize = world.lengths.iter().sum::<usize>() - 32 * before;
        world.run_until_closed();
        assert_eq!(world.received.len(), 1 + written, "{size}");
        let longer = world.lengths[before..].iter().filter(|octets| **octets > 100);
        let (longer, least) = (longer.count(), (written - there).div_ceil(LOOPBACK - 32));
        assert!(longer <= least + 2, "{size}: {longer} packets instead of {least}");
    }
}

#[test]
fn what_a_full_socket_threw_away_is_sent_again_however_much_it_was() {
    // One train fills more of a small room than there is.
    for room in [100_000, 1 << 20, 3 << 20] {
        let mut world = World::with_room(LOOPBACK, Says::Nothing, room);
        let id = world.open_stream();
        // A socket that is full of what others sent has room for short datagrams: the ends of messages, and questions.
        world.fits = 2_000;
        let message = Bytes::from(vec![7; 256 << 10]);
        for _ in 0..15 {
            let taken = world.ends[0].command().send(world.now, id, message.clone(), true);
            assert_eq!(taken, Ok(message.len()));
            world.flush(0);
        }
        world.run(Duration::from_millis(1));
        world.fits = LOOPBACK;
        // No timer of a second is waited for.
        world.run(Duration::from_secs(1));
        assert_eq!(world.received.len(), 1 + 15 * message.len(), "room of {room}");
    }
}

#[test]
fn who_would_rather_sleep_is_not_woken_to_ask_after_a_moment_of_silence() {
    let mut world = World::new(LOOPBACK, Says::TooLong);
    let id = world.open_stream();
    let taken = world.ends[0]
        .command()
        .send(world.now, id, Bytes::from_static(&[7]), false);
    assert_eq!(taken, Ok(1));
    world.flush(0);
    let soon = world.now + Duration::from_millis(20);
    assert!(world.ends[0].deadline().is_some_and(|at| at < soon));
    assert!(world.ends[0].patient_deadline().is_none_or(|at| at > soon));
    // What is lost is asked for as before.
    world.now = soon;
    world.lengths.clear();
    world.flush(0);
    assert_eq!(world.lengths.len(), 1, "{:?}", world.lengths);
}
