//! Octets that nobody granted are not stored, however they come.

use super::forge::View;
use super::world::{DELAY, MS, PORT, World, address};
use bytes::Bytes;
use xtp_engine::{ContextId, Datagram, Ecn, paradigm};
use xtp_wire::{Body, DataSegment, Options};

const CAPACITY: u64 = 64 << 10;

/// An association that lasts, whose responder keeps little; `len` octets came and are unread.
fn begun(ahead: bool, len: usize) -> (World, ContextId) {
    let small = |options: &mut xtp_engine::ListenOptions| {
        options.tuning.recv_capacity = CAPACITY;
        options.tuning.recv_capacity_max = Some(CAPACITY);
    };
    let mut world = World::with(ahead, |_| {}, small);
    let id = world.open(paradigm::stream(PORT));
    // There and back, so that nothing is owed and both know each other.
    for round in 0..3 {
        world.send(0, id, 10);
        world.run(4 * DELAY);
        let peer = world.accepted();
        assert_eq!(world.read(1, peer).len(), 10);
        world.send(1, peer, 10 + round);
        world.run(40 * MS);
        assert_eq!(world.read(0, id).len(), 10 + round);
    }
    if len > 0 {
        world.send(0, id, len);
        world.run(40 * MS);
    }
    (world, id)
}

/// What the responder told its peer last.
fn granted(world: &World) -> u64 {
    let told = world.sent_by(1, 0);
    let allocs = told.filter_map(|packet| packet.body.control().map(|control| control.alloc));
    allocs.max().expect("credit was granted")
}

/// DATA, DATA without flow control, and XDATA, up to `end`.
fn packets(view: &View, end: u64) -> [Vec<u8>; 3] {
    let data = vec![7; (end - view.seq) as usize];
    [
        view.data(view.seq, Options::empty(), &data),
        view.data(view.seq, Options::NOFLOW, &data),
        view.exchange(view.control(), &data),
    ]
}

#[test]
fn what_lies_beyond_the_grant_is_dropped() {
    for ahead in [false, true] {
        for form in 0..3 {
            for beyond in [1, 100, 1_500] {
                let (mut world, _) = begun(ahead, 500);
                let peer = world.accepted();
                let held = world.ends[1].view().context(peer).unwrap().readable();
                let view = View::of(&world, 1);
                let packet = &packets(&view, granted(&world) + beyond)[form];
                world.forge(1, packet);
                let stats = world.ends[1].view().context(peer).unwrap().stats();
                assert_eq!(
                    world.ends[1]
                        .view()
                        .context(peer)
                        .map(|context| context.readable()),
                    Ok(held),
                    "form {form}, {beyond}"
                );
                assert!(stats.overrun >= beyond, "form {form}: {}", stats.overrun);
            }
        }
    }
}

#[test]
fn what_is_granted_is_stored_to_the_last_octet() {
    for ahead in [false, true] {
        for form in 0..3 {
            let (mut world, _) = begun(ahead, 500);
            let peer = world.accepted();
            let view = View::of(&world, 1);
            let packet = &packets(&view, granted(&world))[form];
            world.forge(1, packet);
            let stats = world.ends[1].view().context(peer).unwrap().stats();
            assert_eq!(stats.octets_received, granted_before(&view, &world));
            assert_eq!(stats.overrun, 0);
        }
    }
}

/// The grant that stood when `view` was taken.
fn granted_before(view: &View, world: &World) -> u64 {
    let told = world.sent_by(1, 0).filter_map(|packet| {
        let control = *packet.body.control()?;
        (control.rseq <= view.seq).then_some(control.alloc)
    });
    told.max().expect("credit was granted")
}

/// Room that the user made, and of which the peer has not been told, is no grant.
#[test]
fn room_that_was_not_told_is_no_grant() {
    for ahead in [false, true] {
        for form in [0, 2] {
            let (mut world, _) = begun(ahead, 500);
            let peer = world.accepted();
            let view = View::of(&world, 1);
            let grant = granted(&world);
            assert_eq!(world.read(1, peer).len(), 500);
            let packet = &packets(&view, grant + 1)[form];
            // Before its user's turn ends.
            let before = world.sent.len();
            world.forge(1, packet);
            let told = world
                .sent_by(1, before)
                .filter_map(|packet| packet.body.control().copied());
            let told: Vec<_> = told.collect();
            assert!(told.iter().all(|control| control.rseq == view.seq), "{told:?}");
            assert_eq!(
                world.ends[1]
                    .view()
                    .context(peer)
                    .map(|context| context.readable()),
                Ok(0),
                "form {form}"
            );
        }
    }
}

/// A writer who repeats nothing and obeys nothing fills no more than the capacity.
#[test]
fn an_unreliable_stream_fills_no_more_than_its_capacity() {
    for ahead in [false, true] {
        let small = |options: &mut xtp_engine::ListenOptions| {
            options.tuning.recv_capacity = CAPACITY;
            options.tuning.recv_capacity_max = Some(CAPACITY);
        };
        let mut world = World::with(ahead, |_| {}, small);
        let id = world.open(paradigm::unreliable_stream(PORT));
        world.send(0, id, 10);
        world.run(40 * MS);
        let peer = world.accepted();
        let view = View::of(&world, 1);
        let chunk = vec![9; 4_000];
        for number in 0..100 {
            let options = Options::NOERR | Options::NOFLOW;
            let later = View {
                sync: view.sync.wrapping_add(number),
                ..view
            };
            let seq = view.seq + u64::from(number) * chunk.len() as u64;
            world.forge(1, &later.data(seq, options, &chunk));
        }
        let held = world.ends[1].view().context(peer).unwrap().readable();
        assert!(
            (CAPACITY / 2..=CAPACITY).contains(&held),
            "{held} octets are kept"
        );
        assert!(world.ends[1].view().context(peer).unwrap().stats().overrun > 200_000);
    }
}

/// Packets of plain data that came joined, `count` of them.
fn joined(view: &View, count: u64, len: usize) -> (Bytes, usize) {
    let data = vec![3; len];
    let mut octets = Vec::new();
    for number in 0..count {
        let next = View {
            sync: view.sync.wrapping_add(number as u32),
            seq: view.seq + number * len as u64,
            ..*view
        };
        let body = Body::Data(DataSegment {
            tag: None,
            data: &data,
        });
        octets.extend(next.packet(Options::NOCHECK, body));
    }
    let stride = octets.len() / count as usize;
    (octets.into(), stride)
}

fn taken(world: &mut World, src: usize, (octets, stride): &(Bytes, usize)) -> usize {
    let datagram = Datagram {
        src: address(src),
        dst: None,
        ecn: Ecn::NotEct,
        data: octets,
        backing: Some(octets),
    };
    world.take_joined(1, datagram, *stride)
}

/// A run is taken as far as there is room, from whom it comes, in its place, and only if it is the newest.
#[test]
fn a_run_of_packets_is_held_against_the_same_rules() {
    let run = |change: fn(&mut View), src| {
        let (mut world, _) = begun(false, 0);
        let mut view = View::of(&world, 1);
        change(&mut view);
        let run = joined(&view, 3, 1_024);
        taken(&mut world, src, &run)
    };
    assert_eq!(run(|_| {}, 0), 3);
    assert_eq!(run(|_| {}, 5), 0, "from elsewhere");
    assert_eq!(run(|view| view.sync = view.sync.wrapping_sub(1), 0), 0, "old");
    assert_eq!(run(|view| view.seq -= 10, 0), 0, "octets that are there");
    assert_eq!(run(|view| view.seq += 10, 0), 0, "behind a hole");
    let (mut world, _) = begun(false, 500);
    let view = View::of(&world, 1);
    let fits = (granted(&world) - view.seq) / 1_024;
    assert!(fits > 2);
    let run = joined(&view, fits + 2, 1_024);
    assert_eq!(taken(&mut world, 0, &run), fits as usize);
    // A hole has to be filled with an eye on what lies behind it.
    let (mut world, _) = begun(false, 0);
    let view = View::of(&world, 1);
    world.forge(1, &view.data(view.seq + 2_048, Options::empty(), &[5; 100]));
    let next = View {
        sync: view.sync.wrapping_add(1),
        ..view
    };
    let run = joined(&next, 2, 1_024);
    assert_eq!(taken(&mut world, 0, &run), 0, "into a hole");
}
