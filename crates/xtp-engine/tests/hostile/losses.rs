//! What status may say about losses.

use super::forge::View;
use super::world::{DELAY, MS, PORT, World, address};
use std::time::Duration;
use xtp_engine::{CongestionKind, ContextId, Failure, paradigm};
use xtp_wire::{Body, Caps, Control, DELAY_NONE, DiagCode, DiagValue, Options, Traffic, Xcntl};

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
            let before = world.ends[0].view().context(id).unwrap().stats();
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
            let none = world.ends[0].view().context(id).unwrap().stats();
            assert_eq!(none.octets_retransmitted, before.octets_retransmitted);
            world.run(4 * MS);
            let after = world.ends[0].view().context(id).unwrap().stats();
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
            .view()
            .context(id)
            .unwrap()
            .stats()
            .congestion_window
            .expect("it has one");
        world.lose[1] = usize::MAX;
        let begin = world.sent.len();
        let all = world.ends[0]
            .command()
            .send(world.now, id, super::world::payload(200_000), true);
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

/// An association that lasts, in whose packets nothing is owed.
fn begun(ahead: bool) -> (World, ContextId) {
    let mut world = World::new(ahead);
    let id = world.open(paradigm::stream(PORT));
    for _ in 0..3 {
        world.send(0, id, 50);
        world.run(40 * MS);
    }
    (world, id)
}

/// Sends messages that all are lost; the syncs of their packets.
fn lose(world: &mut World, id: ContextId, count: usize) -> Vec<u32> {
    world.lose[1] = usize::MAX;
    let begin = world.sent.len();
    for _ in 0..count {
        world.send(0, id, 700);
        world.flush(0);
    }
    let syncs: Vec<_> = world.sent_by(0, begin).map(|packet| packet.header.sync).collect();
    assert_eq!(syncs.len(), count);
    syncs
}

/// CNTL shows losses by what it echoes, a TCNTL with the same numbers does not (§4.3).
#[test]
fn only_status_is_evidence_of_loss() {
    for ahead in [false, true] {
        for evidence in [false, true] {
            let (mut world, id) = begun(ahead);
            let old = View::of(&world, 0).control();
            let syncs = lose(&mut world, id, 6);
            let view = View::of(&world, 0);
            let told = Control {
                echo: syncs[5],
                ..old
            };
            let traffic = Traffic::None {
                service: xtp_wire::service::STREAM,
            };
            let terms = Body::Tcntl {
                control: told,
                xkey: 0,
                traffic,
            };
            let packet = match evidence {
                true => view.cntl(Options::empty(), told),
                false => view.packet(Options::empty(), terms),
            };
            world.forge(0, &packet);
            let again = world.ends[0]
                .view()
                .context(id)
                .unwrap()
                .stats()
                .octets_retransmitted;
            assert_eq!(again, if evidence { 3 * 700 } else { 0 }, "ahead: {ahead}");
        }
    }
}

/// What was sent right before a handshake and is missing in its answer is lost, however young (§3.7.2).
#[test]
fn the_answer_to_a_handshake_shows_what_is_lost() {
    for ahead in [false, true] {
        let (mut world, id) = begun(ahead);
        lose(&mut world, id, 1);
        world.lose[1] = 0;
        world.ends[0]
            .command()
            .failed(world.now, address(1), Failure::PortUnreachable);
        world.run(2 * DELAY);
        let stats = world.ends[0].view().context(id).unwrap().stats();
        assert_eq!(stats.octets_retransmitted, 700, "ahead: {ahead}");
        assert_eq!(stats.wtimer_expiries, 0);
    }
}

/// A DIAG says that the peer does not know the association, and the last packet of the peer comes behind it: on a busy host much
/// later than three times WTIMER, which is 15 ms here (§3.7.2). Without an answer the association is lost all the same, and soon.
#[test]
fn a_peers_last_words_may_come_after_the_word_that_it_went() {
    for ahead in [false, true] {
        for answers in [true, false] {
            let (mut world, id) = begun(ahead);
            world.lose[1] = usize::MAX;
            world.send(0, id, 700);
            world.flush(0);
            let view = View::of(&world, 0);
            let (code, value) = (DiagCode::InvalidContext, DiagValue::Unspecified);
            world.forge(0, &view.diag(Options::empty(), code, value, ""));
            world.run(150 * MS);
            assert_eq!(world.closed(0), "", "ahead: {ahead}");
            if answers {
                let view = View::of(&world, 0);
                world.forge(0, &view.cntl(Options::empty(), view.control()));
            }
            world.run(100 * MS);
            let lost = world.closed(0).contains("lost");
            assert_eq!(lost, !answers, "ahead: {ahead}: {}", world.closed(0));
        }
    }
}

/// An association in mid-transfer whose peer is silent from now on, while the carrier reports its port unreachable for so long: how
/// it stands a little after `at`.
fn unreachable_for(ahead: bool, reports: Duration, at: Duration) -> String {
    let (mut world, id) = begun(ahead);
    world.lose[1] = usize::MAX;
    world.send(0, id, 700);
    world.flush(0);
    let begin = world.now;
    while world.now.since(begin) < at {
        if world.now.since(begin) <= reports {
            world.ends[0]
                .command()
                .failed(world.now, address(1), Failure::PortUnreachable);
        }
        world.run(50 * MS);
    }
    world.closed(0)
}

/// A firewall that is loaded anew rejects for some tenths of a second what a moment later passes: "port unreachable" ends an
/// association only if it goes on for seconds (§3.7.2).
#[test]
fn a_port_that_is_unreachable_for_a_moment_ends_nothing() {
    for ahead in [false, true] {
        for reports in [0, 150, 900] {
            let closed = unreachable_for(ahead, reports * MS, Duration::from_secs(10));
            assert_eq!(closed, "", "ahead: {ahead}, {reports} ms");
        }
        assert_eq!(
            unreachable_for(ahead, Duration::from_secs(9), 2_900 * MS),
            "",
            "ahead: {ahead}"
        );
        let closed = unreachable_for(ahead, Duration::from_secs(9), 3_200 * MS);
        assert!(closed.contains("lost"), "ahead: {ahead}: {closed}");
    }
}

/// A round trip is measured by an answer, less the time the peer says that it kept it; never by status that says it
/// answers nothing, nor by a plain one that nobody asked for (§3.1).
#[test]
fn round_trips_are_measured_by_answers_only() {
    let sample = |delay: Option<u32>| {
        let (mut world, id) = begun(false);
        let old = View::of(&world, 0).control();
        let syncs = lose(&mut world, id, 1);
        let before = world.ends[0].view().context(id).unwrap().stats();
        world.now = world.now + 3 * MS;
        let view = View::of(&world, 0);
        let control = Control {
            echo: syncs[0],
            rseq: old.rseq + 700,
            ..old
        };
        let packet = match delay {
            None => view.cntl(Options::empty(), control),
            Some(delay_us) => {
                let status = Xcntl {
                    control,
                    delay_us,
                    ..Xcntl::default()
                };
                view.packet(Options::empty(), Body::Xcntl(status))
            }
        };
        world.forge(0, &packet);
        let after = world.ends[0].view().context(id).unwrap().stats();
        assert_eq!(after.octets_acknowledged, before.octets_acknowledged + 700);
        (after.rtt_samples - before.rtt_samples, before.rtt, after.rtt)
    };
    assert_eq!(sample(Some(DELAY_NONE)).0, 0);
    let (samples, before, after) = sample(Some(0));
    assert!(samples == 1 && after > before, "{before:?} {after:?}");
    let (samples, before, after) = sample(Some(2_900));
    assert!(samples == 1 && after < before, "{before:?} {after:?}");
    assert_eq!(sample(None).0, 0, "nobody asked");
}

/// A segment that is too large for the path is cut, although answers to others keep coming so that no timer tells (§5.5).
#[test]
fn a_segment_that_never_arrives_is_cut_while_others_do() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 100);
        world.run(40 * MS);
        let peer = world.accepted();
        for _ in 0..30 {
            world.send(0, id, 20_000);
            world.run(4 * DELAY);
            world.read(1, peer);
        }
        world.run(40 * MS);
        world.read(1, peer);
        let before = world.ends[0].view().context(id).unwrap().stats();
        assert!(before.max_data > 8_000, "{}", before.max_data);
        world.carries = 1_200;
        world.send(0, id, 8_000);
        for _ in 0..100 {
            world.send(0, id, 100);
            world.run(4 * DELAY);
        }
        let after = world.ends[0].view().context(id).unwrap().stats();
        assert_eq!(after.max_data, 1_168, "ahead: {ahead}");
        assert_eq!(world.read(1, peer).len(), 18_000);
    }
}

/// A path that was silent for seconds is begun with a small window (§5.3).
#[test]
fn silence_closes_the_window() {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = CongestionKind::Cubic;
    options.tuning.overrides.probe_mtu = false;
    let mut world = World::new(false);
    let id = world.open(options);
    for _ in 0..30 {
        world.send(0, id, 20_000);
        world.run(4 * DELAY);
        let peer = world.accepted();
        world.read(1, peer);
    }
    let window = |world: &World| {
        world.ends[0]
            .view()
            .context(id)
            .unwrap()
            .stats()
            .congestion_window
            .unwrap()
    };
    let grown = window(&world);
    assert!(grown > 20_000, "{grown}");
    world.lose[1] = usize::MAX;
    world.send(0, id, 50_000);
    world.run(std::time::Duration::from_secs(5));
    assert!(window(&world) <= 12_000, "{} of {grown}", window(&world));
}

/// The milliseconds until a message whose packet is lost is there, and then its answer, the first packet of which is lost where `both`
/// are; the longest of a dozen exchanges.
fn longest_repair(ahead: bool, caps: Caps, both: bool) -> u32 {
    let mut world = World::with(ahead, |config| config.overrides.caps -= caps, |_| {});
    let id = world.open(paradigm::stream(PORT));
    let mut ends = [id, id];
    let mut longest = 0;
    for round in 0..12 {
        for me in [0, 1] {
            if round > 1 && (me == 0 || both) {
                world.lose[1 - me] = 1;
            }
            world.send(me, ends[me], 100);
            let (mut waited, mut got) = (0, 0);
            while got < 100 {
                world.run(MS);
                waited += 1;
                assert!(waited < 5_000, "nothing repairs it");
                if round == 0 && me == 0 {
                    ends[1] = world.accepted();
                }
                got += world.read(1 - me, ends[1 - me]).len();
            }
            longest = longest.max(if round > 1 { waited } else { 0 });
            // A moment to think.
            world.run(2 * MS);
        }
    }
    longest
}

/// How long a repair took is not how long the peer usually takes: LSTIMER would double with each loss (§3.6).
#[test]
fn a_repair_is_no_usual_answer() {
    for ahead in [false, true] {
        for caps in [Caps::empty(), Caps::XDATA] {
            for both in [false, true] {
                let longest = longest_repair(ahead, caps, both);
                assert!(
                    longest < 40,
                    "{longest} ms; ahead: {ahead}, without {caps:?}, both: {both}"
                );
            }
        }
    }
}
