//! A peer that seems to be somewhere else: what it has to show, and what is forgotten when it has.

use super::forge::View;
use super::world::{DELAY, MS, PORT, World, address};
use xtp_engine::{ContextId, Failure, paradigm};
use xtp_wire::{Body, Key, Options, Path, PathKind};

fn begun(ahead: bool) -> (World, ContextId) {
    let mut world = World::new(ahead);
    let (_, peer) = talked(&mut world);
    (world, peer)
}

/// An association in which both have said something, as each end calls it.
fn talked(world: &mut World) -> (ContextId, ContextId) {
    let id = world.open(paradigm::stream(PORT));
    for _ in 0..3 {
        world.send(0, id, 100);
        world.run(40 * MS);
        let peer = world.accepted();
        world.read(1, peer);
        world.send(1, peer, 100);
        world.run(40 * MS);
        world.read(0, id);
    }
    (id, world.accepted())
}

/// What the responder asked of an address, if it did.
pub(super) fn challenge(world: &World, from: usize, place: usize) -> Option<Path> {
    let sent = world.sent[from..]
        .iter()
        .filter(|sent| sent.dst == address(place));
    sent.filter_map(|sent| match xtp_wire::Packet::parse(&sent.octets).ok()?.body {
        Body::Path(path) if path.kind == PathKind::Challenge => Some(path),
        _ => None,
    })
    .next()
}

pub(super) fn later(view: &View, by: u32) -> View {
    View {
        sync: view.sync.wrapping_add(by),
        ..*view
    }
}

/// Moves the initiator to `place`; the responder knows it afterwards.
pub(super) fn moved(world: &mut World, place: usize) -> View {
    let view = View::of(world, 1);
    let from = world.sent.len();
    world.inject(1, address(place), &view.cntl(Options::empty(), view.control()));
    let asked = challenge(world, from, place).expect("it is challenged");
    let answer = Path {
        kind: PathKind::Response,
        ..asked
    };
    world.inject(
        1,
        address(place),
        &later(&view, 1).packet(Options::empty(), Body::Path(answer)),
    );
    later(&view, 2)
}

#[test]
fn nobody_moves_without_an_answer_to_a_challenge() {
    for ahead in [false, true] {
        let (mut world, peer) = begun(ahead);
        let view = View::of(&world, 1);
        let from = world.sent.len();
        let word = |by: u32| later(&view, by).cntl(Options::empty(), view.control());
        world.inject(1, address(5), &word(u32::MAX));
        assert_eq!(challenge(&world, from, 5), None, "it was overtaken");
        world.inject(1, address(5), &word(0));
        let asked = challenge(&world, from, 5).expect("it is challenged");
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(0)),
            "nothing was answered yet"
        );
        let wrong = Path {
            kind: PathKind::Response,
            nonce: asked.nonce ^ 1,
            ..asked
        };
        let response = later(&view, 1).packet(Options::empty(), Body::Path(wrong));
        world.inject(1, address(5), &response);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(0)),
            "another nonce"
        );
        let right = Path {
            nonce: asked.nonce,
            ..wrong
        };
        let response = later(&view, 2).packet(Options::empty(), Body::Path(right));
        world.inject(1, address(6), &response);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(0)),
            "from another address"
        );
        let response = later(&view, 3).packet(Options::empty(), Body::Path(right));
        world.inject(1, address(5), &response);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(5))
        );
    }
}

/// A challenge is answered where it came from.
/// The peer of a host that slept moved twice: the answer to the challenge and what came from the third address are taken in one turn.
#[test]
fn a_candidate_is_challenged_in_the_turn_in_which_the_way_back_is() {
    for ahead in [false, true] {
        let (mut world, peer) = begun(ahead);
        let view = View::of(&world, 1);
        let from = world.sent.len();
        world.inject(1, address(5), &view.cntl(Options::empty(), view.control()));
        let answer = Path {
            kind: PathKind::Response,
            ..challenge(&world, from, 5).expect("it is challenged")
        };
        let answer = later(&view, 1).packet(Options::empty(), Body::Path(answer));
        world.receive(1, address(5), None, &answer);
        let word = later(&view, 2).cntl(Options::empty(), view.control());
        world.inject(1, address(6), &word);
        let context = world.ends[1].view().context(peer);
        assert_eq!(context.map(|context| context.peer()), Ok(address(5)));
        world.run(MS);
        assert!(challenge(&world, from, 6).is_some(), "the candidate");
        assert!(challenge(&world, from, 0).is_some(), "the way back");
    }
}

#[test]
fn a_challenge_is_answered_where_it_came_from() {
    for ahead in [false, true] {
        let (mut world, _) = begun(ahead);
        let view = View::of(&world, 1);
        let path = Path {
            kind: PathKind::Challenge,
            size: 48,
            nonce: 0x1234,
        };
        let from = world.sent.len();
        world.inject(1, address(5), &view.packet(Options::empty(), Body::Path(path)));
        let answers: Vec<_> = world.sent[from..]
            .iter()
            .filter_map(|sent| match xtp_wire::Packet::parse(&sent.octets).ok()?.body {
                Body::Path(path) if path.kind == PathKind::Response => Some((sent.dst, path.nonce)),
                _ => None,
            })
            .collect();
        assert_eq!(answers, [(address(5), 0x1234)], "ahead: {ahead}");
    }
}

/// The round trip of the old path is no news of the new one, and reports about the old address concern nobody; nor is
/// anybody heard there who has only the key that FIRST named.
#[test]
fn what_was_known_of_the_old_address_is_forgotten() {
    for ahead in [false, true] {
        let (mut world, peer) = begun(ahead);
        let first = world.sent_by(0, 0).next().expect("FIRST left").header.key.value();
        assert!(world.ends[1].view().context(peer).unwrap().stats().rtt.is_some());
        let view = moved(&mut world, 5);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(5))
        );
        assert_eq!(world.ends[1].view().context(peer).unwrap().stats().rtt, None);
        assert_eq!(world.ends[1].view().round_trip(), None, "as a reader knows it");
        world.flush(1);
        let from = world.sent.len();
        world.ends[1]
            .command()
            .failed(world.now, address(0), Failure::PortUnreachable);
        world.flush(1);
        assert_eq!(
            world.sent_by(1, from).count(),
            0,
            "a report about the old address is followed"
        );
        let old = View {
            key: Key::own(first),
            ..view
        };
        world.inject(1, address(0), &old.data(view.seq, Options::empty(), b"odd"));
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.readable()),
            Ok(0),
            "ahead: {ahead}"
        );
        world.run(DELAY);
    }
}

/// An association whose responder has sent so much that window and datagrams have grown.
fn grown() -> (World, ContextId) {
    let cubic = |listen: &mut xtp_engine::ListenOptions| {
        listen.tuning.congestion = xtp_engine::CongestionKind::Cubic;
    };
    let mut world = World::with(false, |_| {}, cubic);
    let id = world.open(paradigm::stream(PORT));
    world.send(0, id, 100);
    world.run(40 * MS);
    let peer = world.accepted();
    for _ in 0..30 {
        world.send(1, peer, 20_000);
        world.run(4 * DELAY);
        world.read(0, id);
    }
    world.run(40 * MS);
    (world, peer)
}

/// Another path has another capacity and carries datagrams of another size.
#[test]
fn a_move_begins_with_a_small_window_and_small_datagrams() {
    let (mut world, peer) = grown();
    let before = world.ends[1].view().context(peer).unwrap().stats();
    moved(&mut world, 5);
    let after = world.ends[1].view().context(peer).unwrap().stats();
    assert!(before.max_data > 8_000, "{}", before.max_data);
    assert_eq!(after.max_data, 1_168);
    let (before, after) = (
        before.congestion_window.unwrap(),
        after.congestion_window.unwrap(),
    );
    assert!(before > 50_000, "{before}");
    assert!(after <= 15_000, "{after}");
}

/// The probe of a size is answered by whom it was sent to.
#[test]
fn the_probe_of_a_size_is_answered_by_the_peer_alone() {
    let mut world = World::new(false);
    let id = world.open(paradigm::stream(PORT));
    world.send(0, id, 100);
    world.run(40 * MS);
    let peer = world.accepted();
    let probe = loop {
        let from = world.sent.len();
        world.send(1, peer, 5_000);
        world.flush(1);
        if let Some(probe) = challenge(&world, from, 0) {
            break probe;
        }
        world.run(4 * DELAY);
        world.read(0, id);
    };
    assert_eq!(probe.size, 1_400);
    let view = View::of(&world, 1);
    for (place, size) in [(5, 1_168), (0, 1_368)] {
        let answer = Path {
            kind: PathKind::Response,
            ..probe
        };
        let response = later(&view, u32::from(place == 0)).packet(Options::empty(), Body::Path(answer));
        world.inject(1, address(place), &response);
        let stats = world.ends[1].view().context(peer).unwrap().stats();
        assert_eq!(stats.max_data, size, "answered from {place}");
    }
}

/// Without PATH a port changes with nothing but an echo of what went to the old one. So three times what came from the new
/// one may go there until it echoes what was sent to it (§7.3, §7.6).
#[test]
fn a_port_that_changed_is_sent_no_more_than_three_times_what_came_from_it() {
    for ahead in [false, true] {
        let mut world = World::with(ahead, |config| config.overrides.legacy = true, |_| {});
        let (_, peer) = talked(&mut world);
        world.send(1, peer, 100);
        world.flush(1);
        let mut elsewhere = address(0);
        elsewhere.set_port(40_000);
        let view = View::of(&world, 1);
        let word = view.cntl(Options::empty(), view.control());
        let begin = world.sent.len();
        world.inject(1, elsewhere, &word);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(elsewhere)
        );
        world.send(1, peer, 100_000);
        world.run(std::time::Duration::from_secs(20));
        let there = |world: &World| -> Vec<_> {
            let sent = world.sent[begin..].iter();
            sent.filter(|sent| sent.dst == elsewhere).cloned().collect()
        };
        let octets = |world: &World| there(world).iter().map(|sent| sent.octets.len()).sum::<usize>();
        let sent = octets(&world);
        assert!(sent > 0, "somebody may be there");
        assert!(
            sent <= 3 * word.len(),
            "{sent} octets for {}, ahead: {ahead}",
            word.len()
        );
        // Whoever is there shows that it hears.
        let heard = there(&world);
        let newest = xtp_wire::Packet::parse(&heard.last().unwrap().octets)
            .unwrap()
            .header
            .sync;
        let mut control = View::of(&world, 1).control();
        (control.echo, control.rseq) = (newest, view.nxt);
        world.inject(1, elsewhere, &later(&view, 1).cntl(Options::empty(), control));
        world.run(20 * MS);
        assert!(octets(&world) > 5_000, "{} octets", octets(&world));
    }
}
