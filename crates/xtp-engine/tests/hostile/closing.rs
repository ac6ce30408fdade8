//! How an association ends, and what is said of it then.

use super::forge::View;
use super::world::{DELAY, MS, PORT, World};
use std::time::Duration;
use xtp_engine::{Confirm, ContextId, MarkAt, paradigm};
use xtp_wire::{Control, DiagCode, DiagValue, Options};

/// An association that lasts, both ends of which know each other; nothing is owed.
fn begun(ahead: bool) -> (World, [ContextId; 2]) {
    let mut world = World::new(ahead);
    let id = world.open(paradigm::stream(PORT));
    world.send(0, id, 300);
    world.run(40 * MS);
    let peer = world.accepted();
    assert_eq!(world.read(1, peer).len(), 300);
    world.send(1, peer, 100);
    world.run(40 * MS);
    assert_eq!(world.read(0, id).len(), 100);
    (world, [id, peer])
}

/// A packet that somebody forges who knows this of the association.
type Packet<'a> = &'a dyn Fn(&View) -> Vec<u8>;

/// Packets in order, each with the next sync.
fn forge_all(world: &mut World, victim: usize, packets: &[Packet<'_>]) {
    let view = View::of(world, victim);
    for (number, packet) in packets.iter().enumerate() {
        let sync = view.sync.wrapping_add(number as u32);
        let octets = packet(&View { sync, ..view });
        world.forge(victim, &octets);
    }
}

#[test]
fn octets_beyond_the_announced_end_are_a_protocol_error() {
    for ahead in [false, true] {
        let (mut world, [_, peer]) = begun(ahead);
        let last: Packet<'_> = &|view| view.data(view.seq + 100, Options::WCLOSE, &[1; 100]);
        let inside: Packet<'_> = &|view| view.data(view.seq + 50, Options::empty(), &[1; 50]);
        forge_all(&mut world, 1, &[last, inside]);
        assert_eq!(world.closed(1), "", "nothing is wrong yet");
        let beyond: Packet<'_> = &|view| {
            let later = View {
                sync: view.sync.wrapping_add(2),
                ..*view
            };
            later.data(view.seq + 150, Options::empty(), &[1; 51])
        };
        forge_all(&mut world, 1, &[beyond]);
        assert!(world.closed(1).contains("protocol error"), "{}", world.closed(1));
        assert_eq!(world.read(1, peer), [0_u8; 0]);
    }
}

#[test]
fn an_end_below_what_is_stored_is_a_protocol_error() {
    let ends: [fn(&View) -> Vec<u8>; 2] = [
        |view| {
            let at = View {
                seq: view.seq + 150,
                ..*view
            };
            at.cntl(Options::WCLOSE, view.control())
        },
        |view| view.data(view.seq, Options::WCLOSE, &[1; 50]),
    ];
    for ahead in [false, true] {
        for end in ends {
            let (mut world, _) = begun(ahead);
            let early: Packet<'_> = &|view| view.data(view.seq + 100, Options::empty(), &[1; 100]);
            forge_all(&mut world, 1, &[early, &end]);
            assert!(world.closed(1).contains("protocol error"), "{}", world.closed(1));
        }
    }
}

/// What lies behind a hole when an end is over is never read: a released initiator keeps neither it nor a place for it.
#[test]
fn nothing_behind_a_hole_outlives_an_end() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead);
        let early: Packet<'_> = &|view| view.data(view.seq + 100, Options::empty(), &[1; 100]);
        forge_all(&mut world, 0, &[early]);
        world.lose = [usize::MAX; 2];
        world.ends[0].command().abort(world.now, id).unwrap();
        world.ends[0].command().release(world.now, id).unwrap();
        world.run(DELAY);
        assert_eq!(world.ends[0].view().stats().contexts, 0, "ahead: {ahead}");
        assert_eq!(world.ends[0].view().stats().memory, 0, "ahead: {ahead}");
    }
}

/// 500 octets of the initiator are lost, and its peer says END.
fn ended_with(ahead: bool, options: Options) -> (String, u64) {
    let (mut world, [id, _]) = begun(ahead);
    world.lose[1] = usize::MAX;
    world.send(0, id, 500);
    world.run(2 * DELAY);
    let view = View::of(&world, 0);
    let control = Control {
        rseq: view.nxt - 500,
        ..view.control()
    };
    world.forge(0, &view.cntl(options | Options::END, control));
    let acknowledged = world.ends[0]
        .view()
        .context(id)
        .map(|context| context.stats().octets_acknowledged)
        .unwrap();
    (world.closed(0), acknowledged)
}

#[test]
fn end_does_not_confirm_what_the_peer_does_not_have() {
    for ahead in [false, true] {
        let (told, acknowledged) = ended_with(ahead, Options::empty());
        assert!(told.contains("500 octets unconfirmed"), "{told}");
        assert!(told.contains("1 octets lost"), "{told}");
        assert_eq!(acknowledged, 300);
        let (told, _) = ended_with(ahead, Options::WCLOSE);
        assert!(told.contains("0 octets lost, 500 octets unconfirmed"), "{told}");
        let (told, _) = ended_with(ahead, Options::WCLOSE | Options::RCLOSE);
        assert!(told.contains("500 octets were not taken"), "{told}");
    }
}

/// All is confirmed, but the peer ends without having ended its stream.
#[test]
fn end_does_not_hide_a_stream_that_has_no_end() {
    for ahead in [false, true] {
        let (mut world, _) = begun(ahead);
        let view = View::of(&world, 0);
        world.forge(0, &view.cntl(Options::END, view.control()));
        assert!(world.closed(0).contains("1 octets lost"), "{}", world.closed(0));
    }
}

/// What an end says of its closes when it says END.
fn claims(options: Options) -> Options {
    options & (Options::END | Options::RCLOSE | Options::WCLOSE)
}

/// Who aborted says END to stragglers and nothing more: as a context, as what is left of it, as a tombstone.
#[test]
fn an_abort_never_looks_like_an_orderly_end() {
    for ahead in [false, true] {
        for me in 0..2 {
            for (released, closed) in [(false, false), (true, false), (false, true), (true, true)] {
                let (mut world, ids) = begun(ahead);
                if closed && me == 0 {
                    // That its stream has ended was said, and is taken back by the abort.
                    world.ends[me].command().close_writer(world.now, ids[me]).unwrap();
                    world.run(20 * MS);
                }
                // Nothing of it arrives: the other goes on.
                world.lose[1 - me] = usize::MAX;
                let begin = world.sent.len();
                world.ends[me].command().abort(world.now, ids[me]).unwrap();
                world.flush(me);
                let said: Vec<_> = world
                    .sent_by(me, begin)
                    .map(|packet| packet.header.options)
                    .collect();
                assert_eq!(
                    said.iter().map(|options| claims(*options)).collect::<Vec<_>>(),
                    [Options::END]
                );
                if released {
                    world.ends[me].command().release(world.now, ids[me]).unwrap();
                    world.flush(me);
                }
                world.run(20 * MS);
                let begin = world.sent.len();
                world.send(1 - me, ids[1 - me], 100);
                world.run(2 * DELAY);
                let said: Vec<_> = world
                    .sent_by(me, begin)
                    .map(|packet| packet.header.options)
                    .collect();
                assert!(
                    !said.is_empty(),
                    "stragglers are answered by {me}, released: {released}"
                );
                for options in said {
                    assert_eq!(claims(options), Options::END, "end {me}, released: {released}");
                }
            }
        }
    }
}

/// Both ends closed in order; END itself never reached the responder.
fn ended(ahead: bool) -> (World, [ContextId; 2]) {
    let (mut world, ids) = begun(ahead);
    for (me, id) in ids.into_iter().enumerate() {
        world.ends[me].command().close_writer(world.now, id).unwrap();
    }
    world.run(Duration::from_millis(200));
    assert_eq!(
        [world.closed(0), world.closed(1)],
        ["closed; everything confirmed"; 2]
    );
    (world, ids)
}

/// END is never answered, and neither is a burst of stragglers answered one by one.
#[test]
fn what_is_left_says_little() {
    for ahead in [false, true] {
        for me in 0..2 {
            for released in [false, true] {
                let (mut world, ids) = ended(ahead);
                if released {
                    world.ends[me].command().release(world.now, ids[me]).unwrap();
                    world.flush(me);
                }
                let view = View::of(&world, me);
                let begin = world.sent.len();
                for _ in 0..4 {
                    world.forge(me, &view.cntl(Options::SREQ, view.control()));
                }
                let said: Vec<_> = world
                    .sent_by(me, begin)
                    .map(|packet| packet.header.options)
                    .collect();
                let all = Options::END | Options::RCLOSE | Options::WCLOSE;
                assert_eq!(
                    said.iter().map(|options| claims(*options)).collect::<Vec<_>>(),
                    [all]
                );
                world.run(6 * MS);
                let begin = world.sent.len();
                world.forge(me, &view.cntl(Options::END, view.control()));
                assert_eq!(world.sent_by(me, begin).count(), 0, "END was answered by {me}");
                // Whoever has not heard END goes on to answer.
                if me == 0 {
                    world.run(6 * MS);
                    world.forge(me, &view.cntl(Options::SREQ, view.control()));
                    assert_eq!(world.sent_by(me, begin).count(), 1);
                }
            }
        }
    }
}

/// DIAG and COOKIE have no sync of an association: what is over neither answers them nor echoes them afterwards.
#[test]
fn what_is_left_echoes_no_diag() {
    for (ahead, me, released) in [
        (false, 0, false),
        (false, 0, true),
        (true, 0, true),
        (false, 1, true),
    ] {
        let (mut world, ids) = ended(ahead);
        if released {
            world.ends[me].command().release(world.now, ids[me]).unwrap();
            world.flush(me);
        }
        let view = View::of(&world, me);
        let begin = world.sent.len();
        let later = View {
            sync: view.sync.wrapping_add(1 << 30),
            ..view
        };
        let (code, value) = (DiagCode::MaximumPacketSize, DiagValue::Unspecified);
        world.forge(me, &later.diag(Options::empty(), code, value, ""));
        world.forge(me, &later.cookie());
        assert_eq!(world.sent_by(me, begin).count(), 0, "answered by {me}");
        world.run(6 * MS);
        world.forge(me, &view.cntl(Options::SREQ, view.control()));
        let answer = world.sent_by(me, begin).next().expect("a straggler is answered");
        let echo = answer.body.control().map(|control| control.echo);
        assert_eq!(
            echo,
            Some(view.sync),
            "{me}, ahead: {ahead}, released: {released}"
        );
    }
}

/// What was written and never sent is as unconfirmed as what was.
#[test]
fn end_counts_what_was_never_sent_as_unconfirmed() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead);
        world.lose[1] = usize::MAX;
        let written = world.ends[0]
            .command()
            .send(world.now, id, super::world::payload(1 << 18), true);
        let written = written.expect("it is open");
        world.flush(0);
        let view = View::of(&world, 0);
        assert!((view.nxt as usize) < written, "not all of it left");
        let control = Control {
            rseq: 300,
            ..view.control()
        };
        world.forge(0, &view.cntl(Options::WCLOSE | Options::END, control));
        let told = format!("{written} octets unconfirmed");
        assert!(
            world.closed(0).contains(&told),
            "{} of {written}",
            world.closed(0)
        );
    }
}

/// RCLOSE of a reader that does not have everything refuses, and confirms nothing (§6.2).
#[test]
fn rclose_before_the_end_confirms_nothing() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead);
        world.lose[1] = usize::MAX;
        world.send(0, id, 500);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.flush(0);
        let view = View::of(&world, 0);
        let control = Control {
            rseq: view.nxt - 500,
            ..view.control()
        };
        world.forge(0, &view.cntl(Options::RCLOSE, control));
        assert_eq!(
            world.ends[0]
                .view()
                .context(id)
                .map(|context| context.stats().octets_acknowledged),
            Ok(300)
        );
        let refused = xtp_engine::Event::Refused { not_taken: 500 };
        let told = world.events[0].iter().any(|(_, event)| *event == refused);
        assert!(told, "{:?}", world.events[0]);
    }
}

/// Octets that a refusal threw away before they left are not confirmed to a user that asks afterwards (§6.2).
#[test]
fn what_a_refusal_threw_away_is_not_confirmed() {
    for ahead in [false, true] {
        let (mut world, [id, _]) = begun(ahead);
        let view = View::of(&world, 0);
        let written = world.ends[0]
            .command()
            .send(world.now, id, super::world::payload(500), false);
        assert_eq!(written, Ok(500));
        let control = Control {
            rseq: view.nxt,
            ..view.control()
        };
        world.forge(0, &view.cntl(Options::RCLOSE, control));
        let refused = xtp_engine::Event::Refused { not_taken: 500 };
        let told = world.events[0].iter().any(|(_, event)| *event == refused);
        assert!(told, "{:?}", world.events[0]);
        for what in [Confirm::Received, Confirm::Delivered] {
            let mark = world.ends[0].command().mark(world.now, id, MarkAt::Queued, what);
            assert_eq!(mark, Err(xtp_engine::Error::RefusedByPeer), "{what:?}");
        }
    }
}
