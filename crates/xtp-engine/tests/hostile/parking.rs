//! Associations at rest: who lies packed and who does not, and that nothing it knew is lost by it.

use super::forge::View;
use super::moving::{challenge, later, moved};
use super::world::{DELAY, MS, PORT, World, address};
use std::time::Duration;
use xtp_engine::{
    Confirm, CongestionKind, ContextId, EngineConfig, ListenOptions, MarkAt, OpenOptions, Rate, Read,
    Setting, paradigm,
};
use xtp_wire::{Body, ClientId, DiagCode, DiagValue, Key, Options, Packet, Tlv, Traffic, XcntlFlags};

/// Whoever may lie packed does so at once.
fn eager(config: &mut EngineConfig) {
    config.overrides.max_whole = 0;
    config.overrides.park_after = Duration::ZERO;
}

/// An association that lasts, in whose packets nothing is owed; both ends are at rest.
fn begun_with(
    ahead: bool,
    config: impl Fn(&mut EngineConfig),
    listen: impl Fn(&mut ListenOptions),
    options: OpenOptions,
) -> (World, [ContextId; 2]) {
    let both = |change: &mut EngineConfig| {
        eager(change);
        config(change);
    };
    let mut world = World::with(ahead, both, listen);
    let id = world.open(options);
    let mut peer = id;
    for _ in 0..3 {
        world.send(0, id, 50);
        world.run(40 * MS);
        peer = world.accepted();
        assert_eq!(world.read(1, peer).len(), 50);
        world.send(1, peer, 50);
        world.run(40 * MS);
        assert_eq!(world.read(0, id).len(), 50);
    }
    world.run(100 * MS);
    assert_eq!([parked(&world, 0), parked(&world, 1)], [true; 2]);
    (world, [id, peer])
}

fn begun(ahead: bool) -> (World, [ContextId; 2]) {
    begun_with(ahead, |_| {}, |_| {}, paradigm::stream(PORT))
}

fn parked(world: &World, end: usize) -> bool {
    let stats = world.ends[end].view().stats();
    assert_eq!(stats.contexts, 1);
    stats.parked == 1
}

#[test]
fn octets_that_nobody_has_read_keep_it_whole() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead);
        world.send(0, id, 500);
        world.run(100 * MS);
        assert_eq!([parked(&world, 0), parked(&world, 1)], [true, false]);
        assert_eq!(world.read(1, peer), super::world::payload(500));
        world.run(100 * MS);
        assert!(parked(&world, 1));
    }
}

/// Parking is no timer that falls due behind the turn: it would keep what comes next from the short way.
#[test]
fn the_turn_in_which_it_comes_to_rest_parks_it() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead);
        world.send(0, id, 500);
        world.run(100 * MS);
        assert!(!parked(&world, 1));
        assert_eq!(world.read(1, peer).len(), 500);
        world.flush(1);
        assert!(parked(&world, 1), "ahead: {ahead}");
    }
}

/// An initiator that does not know yet whether it is proved asks after a second (§3.7.3), and lies packed until then: who opens thousands
/// in a second would have all of them whole.
#[test]
fn an_initiator_that_will_ask_for_a_proof_rests_until_then() {
    for ahead in [false, true] {
        let mut world = World::with(ahead, eager, |_| {});
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 50);
        world.run(40 * MS);
        let peer = world.accepted();
        assert_eq!(world.read(1, peer).len(), 50);
        world.send(1, peer, 50);
        world.run(40 * MS);
        assert_eq!(world.read(0, id).len(), 50);
        world.run(100 * MS);
        assert!(parked(&world, 0), "ahead: {ahead}");
        let begin = world.sent.len();
        world.run(2 * Duration::from_secs(1));
        let asked = |packet: &Packet<'_>| packet.header.options.contains(Options::SREQ);
        let questions = world.sent_by(0, begin).filter(asked).count();
        assert_eq!(questions, 1, "ahead: {ahead}");
        assert!(parked(&world, 0), "ahead: {ahead}");
    }
}

/// A tag leaves with the octet behind it, and waits for that one without any timer.
#[test]
fn a_tag_that_waits_for_its_octet_keeps_it_whole() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead);
        world.ends[0].command().send_tag(world.now, id, 77).unwrap();
        world.run(100 * MS);
        assert!(!parked(&world, 0));
        world.send(0, id, 100);
        world.run(100 * MS);
        let read = world.ends[1].command().read(world.now, peer, 1_000);
        assert!(matches!(read, Ok(Read::Tag { tag: 77, .. })), "{read:?}");
        assert_eq!(world.read(1, peer).len(), 100);
    }
}

/// The peer's user waits until octets are taken that have not come yet: that is answered whenever they are.
#[test]
fn an_answer_that_its_user_owes_keeps_it_whole() {
    for ahead in [false, true] {
        let (mut world, [_, peer]) = begun(ahead);
        let view = View::of(&world, 1);
        let asks = View {
            seq: view.seq + 500,
            ..view
        };
        world.forge(1, &asks.cntl(Options::DREQ, view.control()));
        world.run(100 * MS);
        assert!(!parked(&world, 1));
        let begin = world.sent.len();
        world.forge(1, &later(&view, 1).data(view.seq, Options::empty(), &[1; 500]));
        assert_eq!(world.read(1, peer).len(), 500);
        world.flush(1);
        let echoes: Vec<_> = world
            .sent_by(1, begin)
            .filter_map(|packet| packet.body.control().map(|control| control.echo))
            .collect();
        assert!(echoes.contains(&view.sync), "{echoes:?}, ahead: {ahead}");
    }
}

/// Without PATH only an echo of a packet of the last three round trips proves that a port has changed (§7.6): so long what
/// was sent is remembered.
#[test]
fn what_proves_a_change_of_port_is_remembered_for_three_round_trips() {
    for ahead in [false, true] {
        let legacy = |config: &mut EngineConfig| config.overrides.legacy = true;
        let (mut world, [_, peer]) = begun_with(ahead, legacy, |_| {}, paradigm::stream(PORT));
        // Two packets that ask, the second of which is answered: the first is news no more.
        let mut first = None;
        for _ in 0..2 {
            world.send(1, peer, 100);
            world.ends[1]
                .command()
                .mark(world.now, peer, MarkAt::Queued, Confirm::Received)
                .unwrap();
            world.flush(1);
            first.get_or_insert(View::of(&world, 1).echo);
            world.run(MS / 2);
        }
        world.run(2 * DELAY);
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.stats().octets_acknowledged),
            Ok(350)
        );
        assert!(!parked(&world, 1));
        let view = View::of(&world, 1);
        let mut control = view.control();
        control.echo = first.expect("it left");
        let mut elsewhere = address(0);
        elsewhere.set_port(40_000);
        world.inject(1, elsewhere, &view.cntl(Options::empty(), control));
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(elsewhere),
            "ahead: {ahead}"
        );
    }
}

#[test]
fn window_and_pace_are_remembered() {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = CongestionKind::Cubic;
    let (mut world, [id, peer]) = begun_with(false, |_| {}, |_| {}, options);
    let window = |world: &World| {
        world.ends[0]
            .view()
            .context(id)
            .unwrap()
            .stats()
            .congestion_window
    };
    let initial = window(&world).unwrap();
    for _ in 0..20 {
        world.send(0, id, 20_000);
        world.run(4 * DELAY);
        world.read(1, peer);
    }
    let grown = window(&world).unwrap();
    assert!(grown > initial + 2_000, "{grown}");
    assert!(!parked(&world, 0));
    world.run(100 * MS);
    assert!(parked(&world, 0));
    assert_eq!(window(&world), Some(grown));
}

/// What the peer's reader allows in a second is kept after a rest as before it.
#[test]
fn the_limit_of_the_peer_is_remembered() {
    let limited = |listen: &mut ListenOptions| {
        listen.tuning.in_rate = Rate {
            octets_per_second: 20_000,
            burst: 2_000,
        };
    };
    let (mut world, [id, _]) = begun_with(false, |_| {}, limited, paradigm::stream(PORT));
    let begin = world.sent.len();
    world.send(0, id, 50_000);
    world.run(Duration::from_secs(1));
    let sent = world.data_sent_by(0, begin);
    assert!((15_000..=24_000).contains(&sent), "{sent} octets in a second");
}

/// Who raced a packet of the peer once, and was found out, is no candidate for a minute.
#[test]
fn distrust_is_remembered() {
    for ahead in [false, true] {
        let (mut world, [_, peer]) = begun(ahead);
        moved(&mut world, 5);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(5))
        );
        // The true peer answers where it was.
        world.run(20 * MS);
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(0))
        );
        world.run(Duration::from_secs(1));
        assert!(parked(&world, 1));
        for (by, place, candidate) in [(10, 5, false), (20, 6, true)] {
            let view = later(&View::of(&world, 1), by);
            let from = world.sent.len();
            let word = view.cntl(Options::empty(), view.control());
            world.inject(1, address(place), &word);
            assert_eq!(
                challenge(&world, from, place).is_some(),
                candidate,
                "{place}, ahead: {ahead}"
            );
            world.run(Duration::from_secs(1));
        }
    }
}

/// What a specifier says of this end: when it began, and as which client.
fn stated(packet: &Packet<'_>) -> Option<(u32, Option<ClientId>)> {
    let traffic = match &packet.body {
        Body::First(first) => &first.traffic,
        Body::Tcntl { traffic, .. } => traffic,
        _ => return None,
    };
    let Traffic::Extended(terms) = traffic else {
        return None;
    };
    let client = terms.tlvs.iter().find_map(|tlv| match tlv {
        Tlv::Client(client) => Some(client),
        _ => None,
    });
    Some((terms.time, client))
}

/// An initiator says the same of itself in every specifier.
#[test]
fn what_an_initiator_began_with_is_remembered() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead);
        let first = world
            .sent_by(0, 0)
            .find_map(|packet| stated(&packet))
            .expect("FIRST left");
        assert!(first.0 != 0 && first.1.is_some(), "{first:?}");
        let begin = world.sent.len();
        let rate = Rate {
            octets_per_second: 1_000_000,
            burst: 10_000,
        };
        world.ends[0]
            .command()
            .set(world.now, id, Setting::InRate(rate))
            .unwrap();
        world.flush(0);
        let again = world.sent_by(0, begin).find_map(|packet| stated(&packet));
        assert_eq!(again, Some(first), "ahead: {ahead}");
    }
}

/// A reader that ships its window does so after a rest too.
#[test]
fn the_window_that_a_reader_ships_is_remembered() {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = CongestionKind::Kdd;
    let (mut world, [id, _]) = begun_with(false, |_| {}, |_| {}, options);
    let told = |world: &World, begin: usize| {
        let windows = world.sent_by(1, begin).filter_map(|packet| match packet.body {
            Body::Xcntl(status) if status.flags.contains(XcntlFlags::WINDOW) => Some(status.rxrate),
            _ => None,
        });
        windows.last()
    };
    let before = told(&world, 0).expect("it ships one");
    let begin = world.sent.len();
    world.send(0, id, 1_000);
    world.run(100 * MS);
    let after = told(&world, begin).expect("it ships one still");
    assert!(after >= before, "{before} {after}");
}

/// A DIAG about a key that is not this association's wakes nobody; one about its own is followed.
#[test]
fn a_diag_about_another_key_does_not_wake_it() {
    for ahead in [false, true] {
        let (mut world, _) = begun(ahead);
        let own = world.sent_by(1, 0).last().expect("it spoke").header.key;
        for (key, asked) in [(own.value() ^ 1, 0), (own.value(), 1)] {
            let view = View {
                key: Key::returned(key),
                ..View::of(&world, 1)
            };
            let diag = view.diag(
                Options::empty(),
                DiagCode::InvalidContext,
                DiagValue::Unspecified,
                "",
            );
            let begin = world.sent.len();
            world.forge(1, &diag);
            assert_eq!(world.sent_by(1, begin).count(), asked, "ahead: {ahead}");
            assert_eq!(parked(&world, 1), asked == 0);
        }
    }
}

/// An identifier names one association for ever, whoever has its place now.
#[test]
fn an_old_identifier_reaches_nobody() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        let old = world.open(paradigm::stream(PORT));
        world.send(0, old, 50);
        world.run(40 * MS);
        let old_peer = world.accepted();
        for (end, id) in [(0, old), (1, old_peer)] {
            world.ends[end].command().abort(world.now, id).unwrap();
            world.ends[end].command().release(world.now, id).unwrap();
        }
        world.run(Duration::from_secs(20));
        assert_eq!(
            [0, 1].map(|end: usize| world.ends[end].view().stats().contexts),
            [0; 2]
        );
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 70);
        world.run(40 * MS);
        let peer = world.accepted();
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.readable()),
            Ok(70)
        );
        for (end, id) in [(0, old), (1, old_peer)] {
            let error = xtp_engine::Error::NoContext;
            assert_eq!(
                world.ends[end]
                    .view()
                    .context(id)
                    .map(|context| context.readable()),
                Err(error.clone())
            );
            assert_eq!(
                world.ends[end].command().abort(world.now, id),
                Err(error),
                "ahead: {ahead}"
            );
        }
        assert_eq!(
            world.ends[1].view().context(peer).map(|context| context.peer()),
            Ok(address(0))
        );
    }
}

/// What is left of finished initiators: so many and no more, and none for ever.
#[test]
fn finished_initiators_have_a_limit_and_an_end() {
    for ahead in [false, true] {
        let few = |config: &mut EngineConfig| config.overrides.max_time_waits = 2;
        let mut world = World::with(ahead, few, |_| {});
        for _ in 0..5 {
            let id = world.open(paradigm::one_shot(PORT));
            world.send(0, id, 50);
            world.ends[0].command().close_writer(world.now, id).unwrap();
            world.run(40 * MS);
            let peer = world.accepted();
            world.read(1, peer);
            world.run(40 * MS);
            world.ends[1].command().release(world.now, peer).unwrap();
            world.ends[0].command().release(world.now, id).unwrap();
            world.run(40 * MS);
            assert!(world.ends[0].view().stats().time_waits <= 2);
        }
        assert_eq!(world.ends[0].view().stats().time_waits, 2, "ahead: {ahead}");
        world.run(Duration::from_secs(11));
        assert_eq!(world.ends[0].view().stats().time_waits, 0, "ahead: {ahead}");
    }
}

/// Sends a message to and fro.
fn exchange(world: &mut World, [id, peer]: [ContextId; 2]) {
    world.send(0, id, 50);
    world.run(4 * DELAY);
    assert_eq!(world.read(1, peer).len(), 50);
    world.send(1, peer, 50);
    world.run(4 * DELAY);
    assert_eq!(world.read(0, id).len(), 50);
}

fn parkings(world: &World) -> [u64; 2] {
    [0, 1].map(|end: usize| world.ends[end].view().stats().parkings)
}

/// Every context at rest may lie packed, after the usual time.
fn few(config: &mut EngineConfig) {
    config.overrides.max_whole = 0;
}

fn begun_by(world: &mut World) -> [ContextId; 2] {
    let id = world.open(paradigm::stream(PORT));
    world.send(0, id, 50);
    world.run(4 * DELAY);
    let ids = [id, world.accepted()];
    assert_eq!(world.read(1, ids[1]).len(), 50);
    exchange(world, ids);
    ids
}

/// An association used again and again is packed once at most; when it is used no more, after seconds.
#[test]
fn an_association_in_use_stays_whole() {
    for ahead in [false, true] {
        let mut world = World::with(ahead, few, |_| {});
        let ids = begun_by(&mut world);
        world.run(200 * MS);
        let before = parkings(&world);
        for _ in 0..20 {
            exchange(&mut world, ids);
            world.run(300 * MS);
        }
        let after = parkings(&world);
        for end in 0..2 {
            assert!(
                after[end] <= before[end] + 1,
                "{before:?} {after:?}, ahead: {ahead}"
            );
            assert!(!parked(&world, end), "ahead: {ahead}");
        }
        world.run(Duration::from_secs(5));
        assert_eq!([0, 1].map(|end| parked(&world, end)), [true; 2], "ahead: {ahead}");
    }
}

/// An association that asks once a silence whether its peer lives is not in use, nor is one that was used once.
#[test]
fn an_association_that_is_not_used_is_packed_soon() {
    for ahead in [false, true] {
        let mut world = World::with(ahead, few, |_| {});
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 50);
        world.run(4 * DELAY);
        let peer = world.accepted();
        assert_eq!(world.read(1, peer).len(), 50);
        world.send(1, peer, 50);
        world.run(4 * DELAY);
        assert_eq!(world.read(0, id).len(), 50);
        world.run(100 * MS);
        assert_eq!([0, 1].map(|end| parked(&world, end)), [true; 2], "ahead: {ahead}");
        // The initiator asks for a proof after a second, and whether its peer lives after 25.
        for span in [1, 25] {
            let before = parkings(&world);
            world.run(Duration::from_secs(span));
            world.run(100 * MS);
            assert_eq!([0, 1].map(|end| parked(&world, end)), [true; 2], "ahead: {ahead}");
            assert!(
                parkings(&world)[0] > before[0],
                "it asked nothing, ahead: {ahead}"
            );
        }
    }
}

/// A peer that uses many associations in turn, however often, has no more of them whole than memory is meant for.
#[test]
fn associations_in_use_have_a_limit() {
    const OPEN: usize = 20;
    for ahead in [false, true] {
        let little = |config: &mut EngineConfig| {
            few(config);
            // A quarter of it is for associations: 1 KiB each, and 4 KiB more for whole ones.
            config.memory_limit = (4 * (OPEN as u64 + 4 * 3)) << 10;
        };
        let mut world = World::with(ahead, little, |_| {});
        let open: Vec<_> = (0..OPEN).map(|_| begun_by(&mut world)).collect();
        for _ in 0..10 {
            for ids in &open {
                exchange(&mut world, *ids);
                world.run(100 * MS);
            }
            // Answers of the last second are not acknowledged yet.
            for (end, most) in [(0, 4), (1, 14)] {
                let stats = world.ends[end].view().stats();
                assert_eq!(stats.contexts, OPEN);
                let whole = stats.contexts - stats.parked;
                assert!(whole <= most, "{whole} are whole at end {end}, ahead: {ahead}");
            }
        }
    }
}
