//! A responder that was started a moment ago, and FIRSTs that may be older than it (§6.9).

use super::forge::View;
use super::world::{DELAY, MS, PORT, World, address};
use std::time::Duration;
use xtp_engine::{ContextId, EngineConfig, Event, Started, Time, paradigm};
use xtp_wire::{
    Body, DiagCode, DiagValue, ExtendedTraffic, First, Format, Key, Options, Packet, Tlv, Tlvs, Traffic,
};

fn since(ms: u64) -> Started {
    let at = Time::from_nanos(ms * 1_000_000);
    Started { utc_ms: ms, at }
}

/// Both were started at this moment of UTC, in milliseconds; the world begins at 1 000.
fn started(ahead: bool, at: u64) -> World {
    World::with(
        ahead,
        |config: &mut EngineConfig| config.started = Some(since(at)),
        |_| {},
    )
}

fn ask(world: &mut World) -> ContextId {
    let id = world.open(paradigm::transaction(PORT));
    world.send(0, id, 50);
    world.ends[0].command().close_writer(world.now, id).unwrap();
    id
}

/// Whom the FIRSTs named that left since there were `from` packets.
fn names(world: &World, from: usize) -> Vec<Option<u64>> {
    let named = |first: &First<'_>| {
        let Traffic::Extended(terms) = first.traffic else {
            panic!("{:?}", first.traffic)
        };
        terms.tlvs.iter().find_map(|tlv| match tlv {
            Tlv::Instance(name) => Some(name),
            _ => None,
        })
    };
    let firsts = world.sent_by(0, from).filter_map(|packet| match packet.body {
        Body::First(first) => Some(named(&first)),
        _ => None,
    });
    firsts.collect()
}

fn accepted(world: &World) -> usize {
    let told = world.events[1].iter();
    told.filter(|(_, event)| matches!(event, Event::Accepted { .. }))
        .count()
}

/// The server takes the message that came last and answers.
fn answer(world: &mut World) {
    let peer = world.accepted();
    assert_eq!(world.read(1, peer).len(), 50);
    world.send(1, peer, 30);
    world.ends[1].command().close_writer(world.now, peer).unwrap();
    world.run(100 * MS);
}

/// Whoever was refused for naming nobody names the instance, which was there before all of its packets; and does so at once
/// the next time, as long as it is asked for and no longer.
#[test]
fn who_is_refused_by_a_young_instance_names_it() {
    for ahead in [false, true] {
        let mut world = started(ahead, 500);
        let id = ask(&mut world);
        world.run(20 * MS);
        assert_eq!(names(&world, 0), [None, Some(500)], "ahead: {ahead}");
        assert_eq!(accepted(&world), 1);
        answer(&mut world);
        assert_eq!(world.read(0, id).len(), 30);
        for (wait, name) in [(40, Some(500)), (30, None)] {
            world.run(Duration::from_secs(wait));
            let from = world.sent.len();
            let id = ask(&mut world);
            world.run(20 * MS);
            let mut named = names(&world, from);
            // Who is known to be near is asked again soon.
            named.dedup();
            assert_eq!(named, [name], "after {wait} s more, ahead: {ahead}");
            answer(&mut world);
            assert_eq!(world.read(0, id).len(), 30);
        }
        assert_eq!(world.ends[1].view().stats().refused_age, 1);
    }
}

/// A FIRST that left before the instance was started may have been executed by the one before.
#[test]
fn what_left_before_the_instance_was_there_is_not_repeated() {
    for ahead in [false, true] {
        let mut world = started(ahead, 1_100);
        world.lose[1] = 1;
        let id = ask(&mut world);
        world.flush(0);
        let first = world.sent[0].clone();
        world.now = world.now + Duration::from_millis(195);
        world.inject(1, address(0), &first.octets);
        world.run(2 * DELAY);
        assert_eq!(accepted(&world), 0);
        assert_eq!(names(&world, 0), [None], "ahead: {ahead}");
        assert!(world.closed(0).contains("unknown"), "{}", world.closed(0));
        assert!(
            world.ends[0]
                .command()
                .send(world.now, id, "more".into(), true)
                .is_err()
        );
    }
}

/// An instance comes of age while a client hears its refusal and takes a late copy without a name: the FIRST that names it is the
/// same, and is answered.
#[test]
fn a_late_copy_that_a_grown_instance_took_is_the_same_request() {
    for ahead in [false, true] {
        let mut world = started(ahead, 500);
        world.now = world.now + Duration::from_millis(49_400);
        let id = ask(&mut world);
        world.flush(0);
        let first = world.sent[0].clone();
        world.run(3 * DELAY / 2);
        // The FIRSTs that name it are lost.
        world.lose[1] = usize::MAX;
        world.run(Duration::from_millis(1_500));
        assert_eq!(names(&world, 0)[..2], [None, Some(500)], "ahead: {ahead}");
        assert_eq!(accepted(&world), 0);
        world.inject(1, address(0), &first.octets);
        world.lose[1] = 0;
        world.run(2 * DELAY);
        assert_eq!(accepted(&world), 1, "the copy is taken");
        world.run(Duration::from_secs(3));
        assert_eq!(accepted(&world), 1, "FIRST is the same");
        answer(&mut world);
        assert_eq!(world.read(0, id).len(), 30, "{}", world.closed(0));
    }
}

/// The FIRST that names an instance was asked for: where it is lost, the next one leaves after the first period of WTIMER, not the second.
#[test]
fn a_first_that_names_an_instance_is_no_expiry() {
    for ahead in [false, true] {
        let mut world = started(ahead, 500);
        ask(&mut world);
        world.run(3 * DELAY / 2);
        world.lose[1] = usize::MAX;
        world.run(Duration::from_millis(1_500));
        assert_eq!(names(&world, 0), [None, Some(500), Some(500)], "ahead: {ahead}");
    }
}

/// A refusal of a copy that left before FIRST named the instance says nothing of the one that does.
#[test]
fn a_second_refusal_by_the_instance_that_is_named_is_of_an_old_copy() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        world.lose[1] = usize::MAX;
        ask(&mut world);
        world.flush(0);
        refuse(&mut world, 777);
        refuse(&mut world, 777);
        world.flush(0);
        assert_eq!(names(&world, 0), [None, Some(777)], "ahead: {ahead}");
        assert_eq!(world.closed(0), "");
    }
}

/// The FIRST that left first, made to name somebody.
fn naming(world: &World, name: Option<u64>, time: u32) -> Vec<u8> {
    let first = world.sent[0].octets.clone();
    let packet = Packet::parse(&first).unwrap();
    let Body::First(first) = packet.body else {
        panic!("FIRST left first")
    };
    let Traffic::Extended(terms) = first.traffic else {
        panic!("it is extended")
    };
    let mut list = Vec::new();
    let kept = terms
        .tlvs
        .iter()
        .filter(|tlv| !matches!(tlv, Tlv::Instance(_) | Tlv::Pad(_)));
    let mut add = |tlv: Tlv<'_>| {
        let begin = list.len();
        list.resize(begin + tlv.encoded_len(), 0);
        tlv.encode(&mut list[begin..]).unwrap();
        list.len() % 8
    };
    let over = kept.chain(name.map(Tlv::Instance)).map(&mut add).last();
    if over == Some(4) {
        add(Tlv::Pad(0));
    }
    let tlvs = Tlvs::new(&list).expect("they have a form");
    let traffic = Traffic::Extended(ExtendedTraffic { time, tlvs, ..terms });
    let body = Body::First(First { traffic, ..first });
    let changed = Packet { body, ..packet };
    let mut octets = vec![0; changed.encoded_len()];
    changed.encode(&mut octets).unwrap();
    octets
}

/// What names another instance was meant for that one, however old this one is; what names this one is welcome, whatever
/// the time on it.
#[test]
fn a_first_is_executed_by_the_instance_it_names() {
    for ahead in [false, true] {
        for (name, time, taken) in [
            (Some(499), 1_000, false),
            (Some(500), 1_000, true),
            (Some(500), 1, true),
            (None, 1_000, false),
        ] {
            let mut world = started(ahead, 500);
            world.lose[1] = usize::MAX;
            ask(&mut world);
            world.flush(0);
            let first = naming(&world, name, time);
            world.forge(1, &first);
            assert_eq!(accepted(&world) == 1, taken, "{name:?} at {time}, ahead: {ahead}");
        }
        let mut world = started(ahead, 500);
        world.lose[1] = usize::MAX;
        ask(&mut world);
        world.flush(0);
        world.now = world.now + Duration::from_secs(60);
        let first = naming(&world, Some(499), 61_000);
        world.forge(1, &first);
        assert_eq!(accepted(&world), 0, "old enough, and another one");
    }
}

/// A legacy FIRST has no time and can name nobody: it never was protected.
#[test]
fn a_legacy_first_is_taken_by_a_young_instance() {
    for ahead in [false, true] {
        let young = |config: &mut EngineConfig| {
            config.started = Some(since(500));
            config.overrides.legacy = true;
        };
        let mut world = World::with(ahead, young, |_| {});
        let id = ask(&mut world);
        world.run(20 * MS);
        assert_eq!(accepted(&world), 1, "ahead: {ahead}");
        answer(&mut world);
        assert_eq!(world.read(0, id).len(), 30);
    }
}

/// A refusal for its age of the FIRST that left last, by an instance of this name that is a minute old.
fn refuse(world: &mut World, name: u64) {
    let mut firsts = world.sent.iter().rev().filter_map(|sent| {
        let header = Packet::parse(&sent.octets).unwrap().header;
        (header.format == Format::First).then_some(header)
    });
    let first = firsts.next().expect("FIRST left");
    let view = View {
        key: Key::returned(first.key.value()),
        sync: 1,
        seq: 0,
        nxt: 50,
        alloc: 0,
        echo: first.sync,
        first_echo: first.sync,
    };
    let (code, value) = (DiagCode::ContextRefused, DiagValue::ImproperState);
    let text = format!("1000 {name} 60000 0");
    world.forge(0, &view.diag(Options::empty(), code, value, &text));
}

fn firsts(world: &World) -> usize {
    let formats = world.sent_by(0, 0).map(|packet| packet.header.format);
    formats.filter(|format| *format == Format::First).count()
}

/// What was repeated once is not repeated again: the second instance may have executed what the first refused.
#[test]
fn what_is_refused_twice_is_not_repeated_twice() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        world.lose[1] = usize::MAX;
        ask(&mut world);
        world.flush(0);
        refuse(&mut world, 777);
        assert_eq!(names(&world, 0), [None, Some(777)]);
        refuse(&mut world, 778);
        world.flush(0);
        assert_eq!(firsts(&world), 2, "ahead: {ahead}");
        assert!(world.closed(0).contains("unknown"), "{}", world.closed(0));
    }
}

/// A legacy request has no number by which a responder would know it again, so it is not repeated.
#[test]
fn what_has_no_number_is_not_repeated() {
    for ahead in [false, true] {
        let mut world = World::with(ahead, |config| config.overrides.legacy = true, |_| {});
        world.lose[1] = usize::MAX;
        ask(&mut world);
        world.flush(0);
        refuse(&mut world, 777);
        world.flush(0);
        assert_eq!(firsts(&world), 1, "ahead: {ahead}");
        assert!(world.closed(0).contains("unknown"), "{}", world.closed(0));
    }
}

/// What left in two formats may have been taken in the one that was not refused: nothing begins anew, nothing is over.
#[test]
fn what_fell_back_to_legacy_formats_is_not_repeated() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        world.lose[1] = usize::MAX;
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 50);
        world.run(Duration::from_secs(8));
        let legacy = world.sent_by(0, 0).filter(|packet| match packet.body {
            Body::First(first) => !matches!(first.traffic, Traffic::Extended(_)),
            _ => false,
        });
        assert!(legacy.count() > 0, "it fell back");
        let before = firsts(&world);
        refuse(&mut world, 777);
        world.flush(0);
        assert_eq!(firsts(&world), before, "ahead: {ahead}");
        assert!(!world.closed(0).contains("unknown"), "{}", world.closed(0));
    }
}

/// However much is lost, a message to an instance that is older than clocks may run apart meanwhile is asked for again by its name.
/// Where the instance may be too young for that, the user is told how young it is.
#[test]
fn losses_leave_nothing_unknown_that_is_known() {
    for age in [300, 2_000, 12_000, 45_000] {
        let (mut unknown, mut named) = (Vec::new(), 0);
        for seed in 0..300 {
            for options in [paradigm::acknowledged_datagram(PORT), paradigm::one_shot(PORT)] {
                let start = 1_000 - age.min(500);
                let mut world = started(true, start);
                world.now = world.now + Duration::from_millis(age.saturating_sub(500));
                world.chance = Some(seed);
                let (now, mut data) = (world.now, super::world::payload(50));
                let begun = world.ends[0].begin_message(now, address(1), options, &mut data);
                assert!(begun.is_ok() && data.is_empty());
                world.run(Duration::from_secs(25));
                named += usize::from(names(&world, 0).contains(&Some(start)));
                let closed = world.closed(0);
                unknown.extend(closed.contains("unknown").then_some(closed));
            }
        }
        assert!(named > 300, "{named} of 600 were asked for by name");
        match age {
            300 => assert!(unknown.iter().all(|told| told.contains("the peer was started"))),
            _ => assert_eq!(unknown, [""; 0], "{age} ms after the start"),
        }
    }
}
