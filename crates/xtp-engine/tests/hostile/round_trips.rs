//! What a reader that writes nothing decides by its round trip, and how it comes to know it (§5.1, §3.1).

use super::world::{DELAY, MS, PORT, World, address};
use std::time::Duration;
use xtp_engine::{CongestionKind, ContextId, OpenOptions, Rate, paradigm};
use xtp_wire::{Body, Caps, Options, Traffic, serial_gt};

const CAPACITY: u64 = 64 << 10;

/// A word, a pause, then many: the responder reads everything and writes nothing.
fn poured(options: OpenOptions, caps: Caps, pause: Duration, pieces: usize) -> (World, [ContextId; 2]) {
    let growing = |listen: &mut xtp_engine::ListenOptions| {
        listen.tuning.recv_capacity = CAPACITY;
        listen.tuning.recv_capacity_max = Some(16 * CAPACITY);
    };
    let mut world = World::with(false, |config| config.overrides.caps -= caps, growing);
    let id = world.open(options);
    world.send(0, id, 100);
    world.run(pause);
    let peer = world.accepted();
    for _ in 0..pieces {
        let sent = world.ends[0]
            .command()
            .send(world.now, id, super::world::payload(20_000), true);
        assert!(sent.is_ok());
        world.run(DELAY / 2);
        world.read(1, peer);
    }
    world.run(20 * MS);
    world.read(1, peer);
    (world, [id, peer])
}

/// The widest the responder ever granted.
fn widest(world: &World) -> u64 {
    let told = world
        .sent_by(1, 0)
        .filter_map(|packet| packet.body.control().copied());
    told.map(|control| control.alloc - control.rseq)
        .max()
        .expect("it spoke")
}

/// What the first use of its key tells is a pause here. A reader that grew by it would grant a thousand times what it gets.
#[test]
fn a_reader_does_not_grow_for_a_pause() {
    let mut options = paradigm::stream(PORT);
    options.tuning.out_rate = Rate {
        octets_per_second: 2_000_000,
        burst: 20_000,
    };
    let (world, [_, peer]) = poured(options, Caps::XDATA, Duration::from_secs(2), 1_600);
    let got = world.ends[1]
        .view()
        .context(peer)
        .unwrap()
        .stats()
        .octets_received;
    assert!(got > 1_000_000, "{got}");
    assert!(widest(&world) < 2 * CAPACITY, "{}", widest(&world));
}

/// And one that gets much asks for its round trip and grows.
#[test]
fn a_reader_that_needs_its_round_trip_asks_for_it() {
    let (world, [_, peer]) = poured(paradigm::stream(PORT), Caps::XDATA, Duration::from_secs(2), 400);
    assert!(world.ends[1].view().context(peer).unwrap().stats().rtt_samples > 0);
    assert!(widest(&world) > 2 * CAPACITY, "{}", widest(&world));
}

/// It asks a few times, never twice at once, and not when nothing comes.
#[test]
fn a_reader_asks_for_its_round_trip_a_few_times() {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = CongestionKind::Kdd;
    let (world, _) = poured(options, Caps::XDATA, 40 * MS, 400);
    let asked: Vec<_> = world
        .sent_by(1, 0)
        .zip(world.sent.iter().filter(|sent| sent.by == 1))
        .filter(|(packet, _)| packet.header.options.contains(Options::SREQ))
        .map(|(packet, sent)| (sent.at, packet.header.sync))
        .collect();
    assert!((1..=4).contains(&asked.len()), "{} questions", asked.len());
    for pair in asked.windows(2) {
        let [(_, first), (again, _)] = pair else { continue };
        let mut answers = world
            .sent
            .iter()
            .filter(|sent| sent.by == 0 && sent.at + DELAY <= *again);
        let answered = answers.any(|sent| {
            let packet = xtp_wire::Packet::parse(&sent.octets).unwrap();
            let control = packet.body.control();
            control.is_some_and(|control| !serial_gt(*first, control.echo))
        });
        assert!(answered, "it asked again before it was answered");
    }
}

/// A window shipped beside a rate is as fast as the path, although the key was used after a pause.
#[test]
fn a_shipped_window_is_no_crawl_after_a_pause() {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = CongestionKind::Kdd;
    let (world, [_, peer]) = poured(options, Caps::XCNTL | Caps::XDATA, Duration::from_secs(10), 200);
    let got = world.ends[1]
        .view()
        .context(peer)
        .unwrap()
        .stats()
        .octets_received;
    assert!(got > 500_000, "{got} octets in {:?}", 100 * DELAY);
    // A rate is stated when the round trip was measured, not computed from what only bounds it.
    let stated = world.sent_by(1, 0).filter_map(|packet| match packet.body {
        Body::Tcntl {
            traffic: Traffic::Extended(terms),
            ..
        } => Some(terms.inrate),
        _ => None,
    });
    let rates: Vec<_> = stated.filter(|rate| *rate > 0).collect();
    assert!(!rates.is_empty(), "no rate was ever stated");
    assert!(
        rates.iter().all(|rate| *rate > 500_000),
        "{rates:?} octets a second"
    );
}

/// The round trip an open association has after its peer, silent in mid-transfer for `pause`, took everything that lay in its socket:
/// at once, or one packet after the other with an answer to each.
fn after_a_pause(pause: Duration, one_by_one: bool) -> Duration {
    let mut world = World::new(false);
    let id = world.open(paradigm::stream(PORT));
    for _ in 0..4 {
        world.send(0, id, 50);
        world.run(40 * MS);
    }
    let peer = world.accepted();
    world.read(1, peer);
    // A program that is stopped hears nothing and says nothing.
    world.lose = [usize::MAX; 2];
    let begin = world.sent.len();
    world.send(0, id, 700);
    world.run(pause);
    world.lose = [0; 2];
    let mine = world.sent[begin..].iter().filter(|sent| sent.by == 0);
    let held: Vec<Vec<u8>> = mine.map(|sent| sent.octets.clone()).collect();
    assert!(held.len() > 5, "{} packets were repeated", held.len());
    for octets in &held {
        world.receive(1, address(0), None, octets);
        if one_by_one {
            world.flush(1);
        }
    }
    world.run(200 * MS);
    world.send(0, id, 700);
    world.run(200 * MS);
    assert_eq!(world.closed(0), "");
    world.ends[0]
        .view()
        .context(id)
        .unwrap()
        .stats()
        .rtt
        .expect("it was measured")
}

/// Questions repeated into a pause of the peer are no samples: their sender would wait for seconds where a packet is lost
/// next, on a path of milliseconds (§3.1).
#[test]
fn a_pause_of_the_peer_is_no_round_trip() {
    for seconds in [1, 5, 20, 45] {
        for one_by_one in [true, false] {
            let rtt = after_a_pause(Duration::from_secs(seconds), one_by_one);
            assert!(rtt < 4 * DELAY, "{seconds} s, one by one {one_by_one}: {rtt:?}");
        }
    }
}
