//! What arrived and is thrown away unread was not delivered, whoever asks (§3.2, §6.4, §6.6).

use super::forge::View;
use super::world::{MS, PORT, World};
use std::time::Duration;
use xtp_engine::{Confirm, ContextId, Event, Failure, MarkAt, MarkId, OpenOptions, paradigm};
use xtp_wire::Options;

const WELL: &str = "closed; everything confirmed";
const LONG: Duration = Duration::from_secs(30);

/// How a user takes no more.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaves {
    ClosesReader,
    Discards,
    Releases,
}

const WAYS: [Leaves; 3] = [Leaves::ClosesReader, Leaves::Discards, Leaves::Releases];

fn leave(world: &mut World, how: Leaves, id: ContextId) {
    let (now, end) = (world.now, &mut world.ends[1]);
    match how {
        Leaves::ClosesReader => end.command().close_reader(now, id).unwrap(),
        Leaves::Discards => end.command().discard(now, id, 0).unwrap(),
        Leaves::Releases => return end.command().release(now, id).unwrap(),
    }
    let _ = end.command().close_writer(now, id);
}

fn confirmed(mut options: OpenOptions) -> OpenOptions {
    options.confirm = Confirm::Delivered;
    options
}

/// An association of this paradigm whose first message of 200 octets has come to the responder.
fn begun(ahead: bool, options: OpenOptions) -> (World, [ContextId; 2]) {
    let mut world = World::new(ahead);
    let lasting = options.service == xtp_wire::service::STREAM;
    let id = world.open(options);
    world.send(0, id, 200);
    if !lasting {
        world.ends[0].command().close_writer(world.now, id).unwrap();
    }
    world.run(40 * MS);
    let peer = world.accepted();
    (world, [id, peer])
}

fn reached(world: &World, mark: MarkId) -> bool {
    let told = &world.events[0];
    told.iter().any(|(_, event)| *event == Event::Marked(mark))
}

/// The initiator closes and waits for delivery, at whatever moment the responder's user goes.
#[test]
fn a_close_is_not_confirmed_by_a_user_who_takes_no_more() {
    for (how, ahead) in WAYS.into_iter().flat_map(|how| [(how, false), (how, true)]) {
        for gone_first in [false, true] {
            for taken in [0, 200] {
                let (mut world, [id, peer]) = begun(ahead, confirmed(paradigm::stream(PORT)));
                if taken > 0 {
                    assert_eq!(world.read(1, peer).len(), 200);
                }
                world.send(0, id, 100);
                world.run(40 * MS);
                if gone_first {
                    leave(&mut world, how, peer);
                }
                world.ends[0].command().close_writer(world.now, id).unwrap();
                world.run(40 * MS);
                if !gone_first {
                    leave(&mut world, how, peer);
                }
                world.run(LONG);
                let context = format!("{how:?}, ahead {ahead}, gone first {gone_first}, taken {taken}");
                let told = world.closed(0);
                assert!(!told.is_empty(), "{context}: it waits for ever");
                assert_ne!(told, WELL, "{context}");
            }
        }
    }
}

/// The same of associations of one message, whose responder closes by itself.
#[test]
fn a_message_thrown_away_is_not_confirmed() {
    for (how, ahead) in WAYS.into_iter().flat_map(|how| [(how, false), (how, true)]) {
        for options in [paradigm::acknowledged_datagram(PORT), paradigm::transaction(PORT)] {
            let (mut world, [_, peer]) = begun(ahead, confirmed(options));
            leave(&mut world, how, peer);
            world.run(LONG);
            let told = world.closed(0);
            assert!(!told.is_empty(), "{how:?}, ahead {ahead}: it waits for ever");
            assert_ne!(told, WELL, "{how:?}, ahead {ahead}");
        }
    }
}

/// Nothing changes for who asked for arrival alone, nor for who is asked when everything was taken.
#[test]
fn who_asks_for_less_or_gives_all_ends_well() {
    for (how, ahead) in WAYS.into_iter().flat_map(|how| [(how, false), (how, true)]) {
        for delivered in [false, true] {
            let stream = match delivered {
                true => confirmed(paradigm::stream(PORT)),
                false => paradigm::stream(PORT),
            };
            let (mut world, [id, peer]) = begun(ahead, stream);
            world.ends[0].command().close_writer(world.now, id).unwrap();
            world.run(40 * MS);
            if delivered {
                assert_eq!(world.read(1, peer).len(), 200);
            }
            leave(&mut world, how, peer);
            world.run(LONG);
            assert_eq!(
                world.closed(0),
                WELL,
                "{how:?}, ahead {ahead}, delivered {delivered}"
            );
            let aborts = world.sent_by(1, 0).filter(|packet| {
                let options = packet.header.options;
                options.contains(Options::END) && !options.contains(Options::RCLOSE)
            });
            assert_eq!(aborts.count(), 0);
        }
    }
}

/// A mark below what was taken is reached, one above is not; the refusal tells the writer in time.
#[test]
fn what_was_taken_before_is_confirmed() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead, paradigm::stream(PORT));
        assert_eq!(world.read(1, peer).len(), 200);
        let low = world.ends[0]
            .command()
            .mark(world.now, id, MarkAt::Queued, Confirm::Delivered)
            .unwrap();
        world.flush(0);
        world.send(0, id, 100);
        world.run(2 * MS);
        let before = world.now;
        leave(&mut world, Leaves::ClosesReader, peer);
        world.run(40 * MS);
        assert!(reached(&world, low), "ahead {ahead}");
        let high = world.ends[0]
            .command()
            .mark(world.now, id, MarkAt::Queued, Confirm::Delivered);
        assert!(high.is_err(), "ahead {ahead}: {high:?}");
        world.run(LONG);
        assert!(
            world.closed(0).contains("not taken") || world.closed(0) == WELL,
            "{}",
            world.closed(0)
        );
        let late = world
            .sent
            .iter()
            .filter(|sent| sent.at > before + Duration::from_secs(1));
        assert_eq!(late.count(), 0, "somebody polls");
    }
}

/// The abort is lost: whoever asks again hears the same from what is left of the association.
#[test]
fn what_is_left_does_not_confirm_it_either() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead, confirmed(paradigm::stream(PORT)));
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.run(40 * MS);
        // Its own stream is complete, so nothing else would be amiss.
        world.ends[1].command().close_writer(world.now, peer).unwrap();
        world.run(40 * MS);
        world.lose[0] = 1;
        leave(&mut world, Leaves::ClosesReader, peer);
        world.run(LONG);
        let told = world.closed(0);
        assert!(
            told.contains("0 octets lost, 200 octets unconfirmed"),
            "ahead {ahead}: {told}"
        );
    }
}

/// END of a reader that has not seen the question answers nothing.
#[test]
fn an_end_that_crosses_the_question_tells_nothing() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead, confirmed(paradigm::stream(PORT)));
        let before = View::of(&world, 0);
        world.lose[1] = usize::MAX;
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.flush(0);
        let all = Options::END | Options::RCLOSE | Options::WCLOSE;
        let view = View {
            echo: before.echo,
            ..View::of(&world, 0)
        };
        world.forge(0, &view.cntl(all, view.control()));
        assert!(world.closed(0).contains("200 octets"), "{}", world.closed(0));
    }
}

/// Silence and a port without anybody confirm what arrived, and not that it was taken.
#[test]
fn silence_delivers_nothing() {
    for ahead in [false, true] {
        for silent in [true, false] {
            let (mut world, [id, peer]) = begun(ahead, confirmed(paradigm::stream(PORT)));
            world.ends[1].command().close_writer(world.now, peer).unwrap();
            world.ends[0].command().close_writer(world.now, id).unwrap();
            world.run(200 * MS);
            world.lose = [usize::MAX; 2];
            if !silent {
                world.ends[0]
                    .command()
                    .failed(world.now, super::world::address(1), Failure::PortUnreachable);
            }
            world.run(Duration::from_secs(200));
            let told = world.closed(0);
            assert!(
                !told.is_empty() && told != WELL,
                "silent {silent}, ahead {ahead}: {told}"
            );
        }
    }
}

/// What the one who goes has written is confirmed before the abort ends everything.
#[test]
fn an_answer_arrives_before_the_abort() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead, confirmed(paradigm::transaction(PORT)));
        world.send(1, peer, 300);
        leave(&mut world, Leaves::Discards, peer);
        world.run(LONG);
        assert_eq!(world.read(0, id).len(), 300, "ahead {ahead}");
        let told = world.closed(0);
        assert!(!told.is_empty() && told != WELL, "ahead {ahead}: {told}");
    }
}

/// END says nothing of delivery to who did not close so, whatever else it asks about.
#[test]
fn a_mark_is_not_reached_by_an_end() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead, paradigm::stream(PORT));
        world.lose = [usize::MAX; 2];
        let mark = world.ends[0]
            .command()
            .mark(world.now, id, MarkAt::Queued, Confirm::Delivered)
            .unwrap();
        world.flush(0);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.flush(0);
        let all = Options::END | Options::RCLOSE | Options::WCLOSE;
        let view = View::of(&world, 0);
        world.forge(0, &view.cntl(all, view.control()));
        assert_eq!(world.closed(0), WELL, "ahead {ahead}");
        assert!(!reached(&world, mark), "ahead {ahead}");
    }
}
