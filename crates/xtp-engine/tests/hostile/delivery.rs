//! What is said of delivery and of the end while a user has not taken what came (§3.2, §6.4).

use super::forge::View;
use super::world::{MS, PORT, World, payload};
use std::time::Duration;
use xtp_engine::{Confirm, ContextId, Event, MarkAt, paradigm};
use xtp_wire::Options;

/// Both streams came and ended, and the responder's user has taken nothing; `confirm`: what the initiator's close waits for.
fn untaken(ahead: bool, confirm: Confirm) -> (World, [ContextId; 2]) {
    let mut world = World::new(ahead);
    let mut options = paradigm::stream(PORT);
    options.confirm = confirm;
    let id = world.open(options);
    world.send(0, id, 200);
    world.run(40 * MS);
    let peer = world.accepted();
    world.send(0, id, 100);
    world.ends[0].command().close_writer(world.now, id).unwrap();
    world.run(40 * MS);
    world.ends[1].command().close_writer(world.now, peer).unwrap();
    world.run(Duration::from_millis(500));
    (world, [id, peer])
}

fn ends_said(world: &World) -> usize {
    let ends = [0, 1].map(|end: usize| {
        let said = world.sent_by(end, 0);
        said.filter(|packet| packet.header.options.contains(Options::END))
            .count()
    });
    ends.iter().sum()
}

/// Who closes and wants to know that all was taken hears END no sooner, and says it no sooner.
#[test]
fn nobody_ends_before_the_user_has_taken_everything() {
    for ahead in [false, true] {
        let (mut world, [_, peer]) = untaken(ahead, Confirm::Delivered);
        assert_eq!(ends_said(&world), 0, "ahead: {ahead}");
        assert_eq!([world.closed(0), world.closed(1)], ["", ""]);
        assert_eq!(world.read(1, peer).len(), 300);
        world.run(Duration::from_millis(500));
        assert_eq!(ends_said(&world), 1, "ahead: {ahead}");
        assert_eq!(
            [world.closed(0), world.closed(1)],
            ["closed; everything confirmed"; 2]
        );
    }
}

/// Who asked for nothing but receipt is told of receipt: END says nothing about the peer's user.
#[test]
fn an_end_tells_of_delivery_only_who_asked_for_it() {
    for confirm in [Confirm::Received, Confirm::Delivered] {
        for ahead in [false, true] {
            let mut world = World::new(ahead);
            let mut options = paradigm::stream(PORT);
            options.confirm = confirm;
            let id = world.open(options);
            world.send(0, id, 200);
            world.run(40 * MS);
            let delivered = world.ends[0]
                .command()
                .mark(world.now, id, MarkAt::Offset(200), Confirm::Delivered)
                .unwrap();
            let received = world.ends[0]
                .command()
                .mark(world.now, id, MarkAt::Offset(200), Confirm::Received)
                .unwrap();
            world.ends[0].command().close_writer(world.now, id).unwrap();
            world.lose[0] = usize::MAX;
            world.run(4 * MS);
            let view = View::of(&world, 0);
            let all = Options::END | Options::RCLOSE | Options::WCLOSE;
            world.forge(0, &view.cntl(all, view.control()));
            assert_eq!(world.closed(0), "closed; everything confirmed");
            let told = |mark| {
                let events = &world.events[0];
                events.iter().any(|(_, event)| *event == Event::Marked(mark))
            };
            assert!(told(received));
            assert_eq!(told(delivered), confirm == Confirm::Delivered, "ahead: {ahead}");
        }
    }
}

/// The response to a request has a hole, and its last packet says END: that is no end (§6.5).
#[test]
fn an_end_behind_a_hole_ends_nothing() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        let id = world.open(paradigm::transaction(PORT));
        world.send(0, id, 100);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.lose[1] = usize::MAX;
        world.flush(0);
        let first = world.sent_by(0, 0).next().expect("FIRST left").header;
        let view = View {
            key: xtp_wire::Key::returned(first.key.value()),
            sync: 1,
            seq: 0,
            nxt: 100,
            alloc: 100_000,
            echo: first.sync,
            first_echo: first.sync,
        };
        let all = payload(200);
        let ends = Options::END | Options::RCLOSE | Options::WCLOSE | Options::EOM;
        world.forge(0, &view.data(120, ends, &all[120..]));
        assert_eq!(world.closed(0), "", "ahead: {ahead}");
        let later = View { sync: 2, ..view };
        world.forge(0, &later.data(0, ends, &all));
        assert_eq!(world.closed(0), "closed; everything confirmed", "ahead: {ahead}");
        assert_eq!(world.read(0, id), all);
    }
}

/// A peer that has ended its own stream and falls silent has confirmed what it confirmed, and no more (§6.7).
#[test]
fn silence_confirms_nothing() {
    for ahead in [false, true] {
        for written in [0, 500] {
            let mut world = World::new(ahead);
            let id = world.open(paradigm::stream(PORT));
            world.send(0, id, 200);
            world.run(40 * MS);
            let peer = world.accepted();
            world.read(1, peer);
            world.ends[1].command().close_writer(world.now, peer).unwrap();
            world.run(200 * MS);
            world.lose[1] = usize::MAX;
            if written > 0 {
                world.send(0, id, written);
            }
            world.ends[0].command().close_writer(world.now, id).unwrap();
            world.run(Duration::from_secs(200));
            let told = world.closed(0);
            let confirmed = told == "closed; everything confirmed";
            assert!(!told.is_empty());
            assert_eq!(confirmed, written == 0, "{told}, ahead: {ahead}");
        }
    }
}
