//! What status may say about losses.

use super::forge::View;
use super::world::{DELAY, MS, PORT, World};
use xtp_engine::{CongestionKind, paradigm};
use xtp_wire::{Control, Options};

/// Status that was overtaken does not take back what a newer one showed: the segment that it found too young to be lost is
/// looked at again when it is old enough, and nobody waits for WTIMER.
#[test]
fn status_that_was_overtaken_is_not_judged() {
    for ahead in [false, true] {
        for stale in [false, true] {
            let mut world = World::new(ahead);
            let id = world.open(paradigm::stream(PORT));
            for _ in 0..3 {
                world.send(0, id, 50);
                world.run(40 * MS);
            }
            let old = View::of(&world, 0).control();
            let before = world.ends[0].context_stats(id).unwrap();
            // Two segments of which the first is lost, says the status; the packets themselves never arrive.
            world.lose[1] = 2;
            let begin = world.sent.len();
            for _ in 0..2 {
                world.send(0, id, 700);
                world.flush(0);
            }
            let syncs: Vec<_> = world.sent_by(0, begin).map(|packet| packet.header.sync).collect();
            let [_, second] = syncs[..] else {
                panic!("two packets were sent: {syncs:?}")
            };
            world.lose[1] = usize::MAX;
            world.run(2 * DELAY);
            let view = View::of(&world, 0);
            let told = Control {
                rseq: old.rseq,
                alloc: old.alloc,
                echo: second,
            };
            world.forge(0, &view.spans(told, (old.rseq + 700, old.rseq + 1_400))[1]);
            if stale {
                let later = View {
                    sync: view.sync.wrapping_add(1),
                    ..view
                };
                world.forge(0, &later.cntl(Options::empty(), old));
            }
            let none = world.ends[0].context_stats(id).unwrap();
            assert_eq!(none.octets_retransmitted, before.octets_retransmitted);
            world.run(4 * MS);
            let after = world.ends[0].context_stats(id).unwrap();
            assert_eq!(
                after.octets_retransmitted - before.octets_retransmitted,
                700,
                "stale: {stale}, ahead: {ahead}"
            );
            assert_eq!(after.wtimer_expiries, before.wtimer_expiries);
        }
    }
}

/// A writer whom nobody answers sends no more than its window, and not all of that at once.
#[test]
fn a_writer_keeps_to_its_window_and_its_pace() {
    for kind in [CongestionKind::Cubic, CongestionKind::Model] {
        let mut world = World::new(false);
        let mut options = paradigm::stream(PORT);
        options.tuning.congestion = kind;
        let id = world.open(options);
        for _ in 0..40 {
            world.send(0, id, 20_000);
            world.run(4 * DELAY);
            let peer = world.accepted();
            world.read(1, peer);
        }
        let window = world.ends[0]
            .context_stats(id)
            .unwrap()
            .congestion_window
            .expect("it has one");
        world.lose[1] = usize::MAX;
        let begin = world.sent.len();
        let all = world.ends[0].send(world.now, id, super::world::payload(200_000), true);
        let written = all.expect("it is open") as u64;
        world.flush(0);
        let at_once = world.data_sent_by(0, begin) as u64;
        world.run(4 * MS);
        let sent = world.data_sent_by(0, begin) as u64;
        println!("{kind:?}: window {window}, {written} written, {at_once} at once, {sent} in all");
        assert!(written > 2 * window, "window {window} of {written}");
        assert!(at_once < window, "{at_once} of {window} at once");
        assert!(sent <= window + 1_200, "{sent} of {window}");
    }
}
