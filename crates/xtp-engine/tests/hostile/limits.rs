//! What binds a writer binds it by every way: to a peer that asks again and again without a pause it answers as long as
//! credit, window, pace and rate allow, whether its messages go the general way, leave ahead of the bookkeeping, or are handed
//! from packet to user and from user to packet.

use super::forge::View;
use super::shortcuts::begun;
use super::wanted::{datagram, hand_in};
use super::world::{Link, MS, PORT, Sent, World, address, payload};
use std::time::Duration;
use xtp_engine::{CongestionKind, ContextId, Datagram, OpenOptions, Rate, Unit, paradigm};
use xtp_wire::{Control, Options};

/// Octets of each question.
const ASKED: usize = 50;
/// The least an initiator grants: ten packets.
const CAPACITY: u64 = 6_000;
const ROUNDS: u32 = 80;

/// A conversation: octets of each answer, the time between two, and whether so little may leave that hardly anything does.
#[derive(Clone, Copy)]
struct Talk {
    len: usize,
    pause: Duration,
    narrow: bool,
}

/// Answers of `len` octets, in no time.
fn at_once(len: usize) -> Talk {
    Talk {
        len,
        pause: Duration::ZERO,
        narrow: false,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    General,
    Ahead,
    Handed,
}

const WAYS: [Way; 3] = [Way::General, Way::Ahead, Way::Handed];

/// The next question comes to the responder, whose user reads it.
fn ask(world: &mut World, way: Way, peer: ContextId, octets: &[u8]) {
    if way == Way::Handed {
        if let Some(message) = hand_in(world, peer, datagram(octets), octets.len()) {
            assert_eq!(message.data.len(), ASKED);
            return;
        }
    } else {
        world.receive(1, address(0), None, octets);
    }
    world.read(1, peer);
}

/// Its user answers; whether the answer was handed to its packet.
fn answer(world: &mut World, way: Way, peer: ContextId, len: usize) -> bool {
    let (mut link, mut data) = (Link::default(), payload(len));
    let handed = way == Way::Handed
        && world.ends[1].hand_out(world.now, peer, (None, &mut data), Unit::Message, &mut link);
    if handed {
        world.carry(1, &link);
    } else {
        world.ends[1].command().send(world.now, peer, data, true).unwrap();
        world.flush(1);
    }
    handed
}

/// What the responder of `world` sends to a peer that has everything at once and asks again.
fn converse(way: Way, world: &mut World, peer: ContextId, talk: Talk) -> (Vec<Sent>, View, u64) {
    let (base, begin) = (View::of(world, 1), world.sent.len());
    let (before, mut handed) = (world.ends[1].view().stats().express, 0);
    for round in 0..ROUNDS {
        let now = View::of(world, 1);
        let view = View {
            sync: base.sync.wrapping_add(round),
            seq: base.seq + u64::from(round) * ASKED as u64,
            ..now
        };
        let control = Control {
            rseq: now.nxt,
            alloc: base.alloc,
            echo: now.echo,
        };
        ask(world, way, peer, &view.exchange(control, &[9; ASKED]));
        handed += u64::from(answer(world, way, peer, talk.len));
        world.now = world.now + talk.pause;
    }
    let short = world.ends[1].view().stats().express - before;
    (world.sent[begin..].to_vec(), base, short.max(handed))
}

/// All three ways send the same, of which the last two take some by a short way unless all is too `narrow` for that; how
/// many octets of data.
fn all_agree(
    name: &str,
    options: &OpenOptions,
    talk: Talk,
    prepare: impl Fn(&mut World, ContextId),
) -> (u64, View) {
    let mut first: Option<(Vec<Sent>, View, _)> = None;
    for way in WAYS {
        let (mut world, [_, peer]) = begun(way != Way::General, options.clone(), Rate::default());
        prepare(&mut world, peer);
        let (sent, base, short) = converse(way, &mut world, peer, talk);
        let Talk { len, narrow, .. } = talk;
        assert!(short == 0 || way != Way::General, "{name}, {len} octets");
        assert!(
            short > 0 || way == Way::General || narrow,
            "{name}, {len} octets: {way:?}"
        );
        let stats = world.ends[1].view().context(peer).unwrap().stats();
        let stats = (stats.congestion_window, stats.rtt, stats.max_data);
        let (expected, _, counted) = first.get_or_insert((sent.clone(), base, stats));
        assert_eq!(*counted, stats, "{name}, {len} octets: {way:?}");
        assert!(
            *expected == sent,
            "{name}, {len} octets: {way:?} sends other packets"
        );
    }
    let (sent, base, _) = first.expect("there are ways");
    let end = |sent: &Sent| {
        let packet = xtp_wire::Packet::parse(&sent.octets).unwrap();
        packet.header.seq + packet.body.data().map_or(0, |data| data.data.len() as u64)
    };
    let end = sent.iter().map(end).max().expect("something was sent");
    (end - base.nxt, base)
}

fn everything(len: usize) -> u64 {
    len as u64 * u64::from(ROUNDS)
}

#[test]
fn no_way_sends_beyond_the_credit() {
    for len in [200, 310, 400, 700, 1_300, 2_000, 2_100, 2_400, 3_000] {
        for probe_mtu in [false, true] {
            let mut options = paradigm::stream(PORT);
            options.tuning.recv_capacity = CAPACITY;
            options.tuning.recv_capacity_max = Some(CAPACITY);
            options.tuning.overrides.probe_mtu = probe_mtu;
            let talk = Talk {
                pause: MS,
                ..at_once(len)
            };
            let (sent, base) = all_agree("credit", &options, talk, |_, _| {});
            assert!(sent <= base.alloc - base.nxt, "{sent} octets");
            assert_eq!(sent < everything(len), everything(len) > base.alloc - base.nxt);
        }
    }
}

#[test]
fn no_way_outruns_the_pace() {
    for kind in [CongestionKind::Cubic, CongestionKind::Model] {
        for len in [1_000, 2_600] {
            let mut options = paradigm::stream(PORT);
            options.tuning.congestion = kind;
            let (sent, _) = all_agree(&format!("{kind:?}"), &options, at_once(len), |_, _| {});
            assert!(sent < everything(len), "{sent} octets");
        }
    }
}

#[test]
fn no_way_exceeds_the_rate_the_peer_allows() {
    let mut options = paradigm::stream(PORT);
    options.tuning.in_rate = Rate {
        octets_per_second: 400_000,
        burst: 3_000,
    };
    for len in [200, 400] {
        let ways = WAYS.map(|way| {
            let (mut world, [_, peer]) = begun(way != Way::General, options.clone(), Rate::default());
            let (sent, ..) = converse(way, &mut world, peer, at_once(len));
            let octets: usize = sent.iter().map(|sent| sent.octets.len()).sum();
            assert!(
                octets < everything(len) as usize,
                "{way:?}: {octets} octets at once"
            );
            sent
        });
        assert!(
            ways[0] == ways[1] && ways[1] == ways[2],
            "{len} octets: other packets"
        );
    }
}

/// After losses the window is a few packets.
#[test]
fn no_way_exceeds_a_small_window() {
    for len in [1_000, 2_600, 3_500, 4_000] {
        let mut options = paradigm::stream(PORT);
        options.tuning.congestion = CongestionKind::Cubic;
        let shrink = |world: &mut World, peer: ContextId| {
            for _ in 0..6 {
                world.lose[0] = 2;
                world.send(1, peer, 3_000);
                world.run(20 * MS);
            }
            let stats = world.ends[1].view().context(peer).unwrap().stats();
            assert!(stats.congestion_window < Some(4_000), "{stats:?}");
        };
        let talk = Talk {
            narrow: len > 3_000,
            ..at_once(len)
        };
        all_agree("after losses", &options, talk, shrink);
    }
}

/// What was not used for long is worth less (§5.3).
#[test]
fn every_way_knows_that_it_was_idle() {
    for kind in [CongestionKind::Cubic, CongestionKind::Model] {
        for pause in [4 * MS, 7 * MS, 60 * MS] {
            for len in [400, 2_600] {
                let mut options = paradigm::stream(PORT);
                options.tuning.congestion = kind;
                let grow = |world: &mut World, peer: ContextId| {
                    for _ in 0..10 {
                        world.send(1, peer, 40_000);
                        world.run(20 * MS);
                    }
                };
                let talk = Talk {
                    len,
                    pause,
                    narrow: true,
                };
                all_agree(&format!("{kind:?}, {pause:?} idle"), &options, talk, grow);
            }
        }
    }
}

/// Where the capabilities lie in the specifier of a FIRST to an IPv4 address.
const CAPS: usize = xtp_wire::HEADER_LEN + 16 + 40;

/// An association whose initiator offers XDATA and no PATH, in whose packets nothing is owed.
fn without_path(ahead: bool) -> (World, ContextId) {
    let mut world = World::new(ahead);
    world.lose[1] = 1;
    let id = world.open(paradigm::stream(PORT));
    world.send(0, id, 100);
    world.flush(0);
    let mut first = world.sent[0].octets.clone();
    let caps = xtp_wire::Caps::XDATA.bits();
    first[CAPS..CAPS + 4].copy_from_slice(&caps.to_be_bytes());
    xtp_wire::seal(&mut first, []);
    world.forge(1, &first);
    world.run(40 * MS);
    let peer = world.accepted();
    for _ in 0..3 {
        world.read(1, peer);
        world.send(1, peer, 60);
        world.run(4 * MS);
        world.read(0, id);
        world.send(0, id, 50);
        world.run(4 * MS);
    }
    world.run(40 * MS);
    world.read(1, peer);
    world.send(1, peer, 100);
    world.flush(1);
    (world, peer)
}

/// A port that changed is not proved by an echo of what went to the old one (§7.6): no way sends it more than three times
/// what came from it.
#[test]
fn no_way_floods_a_port_that_proved_nothing() {
    for way in WAYS {
        let (mut world, peer) = without_path(way != Way::General);
        let view = View::of(&world, 1);
        let mut elsewhere = address(0);
        elsewhere.set_port(40_000);
        let word = view.cntl(Options::empty(), view.control());
        let begin = world.sent.len();
        world.inject(1, elsewhere, &word);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(elsewhere),
            "it moved"
        );
        let mut came = word.len();
        for round in 0..8 {
            let later = View {
                sync: view.sync.wrapping_add(1 + round),
                seq: view.seq + u64::from(round),
                ..view
            };
            let question = later.exchange(view.control(), b"?");
            came += question.len();
            let datagram = Datagram {
                src: elsewhere,
                ..datagram(&question)
            };
            let message = match way {
                Way::Handed => hand_in(&mut world, peer, datagram, question.len()),
                _ => {
                    world.receive(1, elsewhere, None, &question);
                    None
                }
            };
            if message.is_none() {
                world.read(1, peer);
            }
            answer(&mut world, way, peer, 1_000);
            let sent = world.sent[begin..].iter().filter(|sent| sent.dst == elsewhere);
            let octets: usize = sent.map(|sent| sent.octets.len()).sum();
            assert!(octets <= 3 * came, "{way:?}: {octets} octets for {came}");
        }
    }
}
