//! Questions: which are answered, and with which number.

use super::forge::View;
use super::world::{MS, PORT, World};
use xtp_engine::{CongestionKind, ContextId, OpenOptions, Read, paradigm};
use xtp_wire::{Control, DELAY_NONE, Options, Xcntl, XcntlFlags};

/// An association that lasts, in whose packets nothing is owed.
fn begun(ahead: bool, options: OpenOptions) -> (World, [ContextId; 2]) {
    let mut world = World::new(ahead);
    let id = world.open(options);
    for _ in 0..3 {
        world.send(0, id, 50);
        world.run(40 * MS);
    }
    let peer = world.accepted();
    assert_eq!(world.read(1, peer).len(), 150);
    world.send(1, peer, 50);
    world.run(40 * MS);
    (world, [id, peer])
}

fn later(view: &View, by: u32) -> View {
    View {
        sync: view.sync.wrapping_add(by),
        ..*view
    }
}

/// The answer names the newest question, whatever came in between (§3.2).
#[test]
fn an_overtaken_question_does_not_come_back() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead, paradigm::stream(PORT));
        world.send(0, id, 500);
        world.run(2 * MS);
        let view = View::of(&world, 1);
        for by in [1, 0] {
            let asks = later(&view, by).cntl(Options::DREQ, view.control());
            world.forge(1, &asks);
        }
        let begin = world.sent.len();
        assert_eq!(world.read(1, peer).len(), 500);
        world.flush(1);
        let echoes: Vec<_> = world
            .sent_by(1, begin)
            .filter_map(|packet| packet.body.control().map(|control| control.echo))
            .collect();
        assert_eq!(echoes, [view.sync.wrapping_add(1)], "ahead: {ahead}");
    }
}

/// The level of an overtaken packet is no edge.
#[test]
fn an_overtaken_level_asks_for_nothing() {
    for ahead in [false, true] {
        let (mut world, _) = begun(ahead, paradigm::stream(PORT));
        let level = world.sent_by(0, 0).last().expect("it spoke").header.options & Options::EDGE;
        let view = View::of(&world, 1);
        let begin = world.sent.len();
        world.forge(1, &later(&view, 1).cntl(level ^ Options::EDGE, view.control()));
        assert_eq!(world.sent_by(1, begin).count(), 1, "the edge is answered");
        world.run(20 * MS);
        let begin = world.sent.len();
        world.forge(1, &view.cntl(level, view.control()));
        assert_eq!(world.sent_by(1, begin).count(), 0, "ahead: {ahead}");
    }
}

/// However fast packets come over a hole: who reports gaps at once does so once in a millisecond (§4.6).
#[test]
fn gaps_are_reported_once_in_a_millisecond() {
    for ahead in [false, true] {
        let mut options = paradigm::stream(PORT);
        options.tuning.fast_nak = true;
        let (mut world, _) = begun(ahead, options);
        let view = View::of(&world, 1);
        let begin = world.sent.len();
        let level = world.sent_by(0, 0).last().expect("it spoke").header.options & Options::EDGE;
        for number in 0..8 {
            let seq = view.seq + 100 + 10 * u64::from(number);
            let data = later(&view, number).data(seq, level | Options::FASTNAK, &[1; 10]);
            world.forge(1, &data);
        }
        assert_eq!(world.sent_by(1, begin).count(), 1, "ahead: {ahead}");
    }
}

/// An acknowledgement that ends inside a tag ends before it: the tag is sent again whole (§5.5).
#[test]
fn a_tag_is_never_acknowledged_in_part() {
    for ahead in [false, true] {
        let (mut world, [id, peer]) = begun(ahead, paradigm::stream(PORT));
        world.lose[1] = usize::MAX;
        world.ends[0].command().send_tag(world.now, id, 77).unwrap();
        world.send(0, id, 100);
        world.flush(0);
        let view = View::of(&world, 0);
        let begin = view.nxt - 108;
        let control = Control {
            rseq: begin + 4,
            ..view.control()
        };
        world.forge(0, &view.cntl(Options::empty(), control));
        assert_eq!(
            world.ends[0]
                .view()
                .context(id)
                .map(|context| context.stats().octets_acknowledged),
            Ok(begin)
        );
        world.lose[1] = 0;
        world.run(100 * MS);
        let read = world.ends[1].command().read(world.now, peer, 1_000);
        assert!(matches!(read, Ok(Read::Tag { tag: 77, .. })), "{read:?}");
        assert_eq!(world.read(1, peer).len(), 100);
    }
}

/// A receiver's window that was overtaken is not taken (§5.3.1).
#[test]
fn a_window_that_was_overtaken_is_not_taken() {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = CongestionKind::Kdd;
    let (mut world, [id, _]) = begun(false, options);
    let old = View::of(&world, 0).control();
    world.send(0, id, 500);
    world.flush(0);
    let view = View::of(&world, 0);
    let window = |world: &mut World, by, control, octets| {
        let status = Xcntl {
            control,
            delay_us: DELAY_NONE,
            flags: XcntlFlags::WINDOW,
            rxrate: octets,
            ..Xcntl::default()
        };
        let packet = later(&view, by).packet(Options::empty(), xtp_wire::Body::Xcntl(status));
        world.forge(0, &packet);
        world.ends[0]
            .view()
            .context(id)
            .unwrap()
            .stats()
            .congestion_window
    };
    let newer = Control {
        rseq: old.rseq,
        ..view.control()
    };
    assert_eq!(window(&mut world, 1, newer, 50_000), Some(50_000));
    assert_eq!(window(&mut world, 0, old, 20_000), Some(50_000));
}

/// A second context of one FIRST lacks what the first one confirmed, which is never sent again: an end that believed it to be its peer
/// asked it for ever.
#[test]
fn a_peer_that_takes_back_what_it_confirmed_is_not_there() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 300);
        world.run(40 * MS);
        world.lose = [usize::MAX; 2];
        world.send(0, id, 100);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        let mut view = View::of(&world, 0);
        for _ in 0..800 {
            world.run(100 * MS);
            if world.closed(0).is_empty() {
                let (sync, newest) = (view.sync.wrapping_add(1), View::of(&world, 0));
                view = View { sync, ..newest };
                let control = Control {
                    rseq: 200,
                    ..view.control()
                };
                world.forge(0, &view.cntl(Options::empty(), control));
            }
        }
        assert!(!world.closed(0).is_empty(), "ahead: {ahead}");
    }
}
