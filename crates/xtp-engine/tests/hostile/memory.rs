//! Where the memory of all associations is short: what is charged, and who is granted how much (`engine::memory`).

use super::forge::View;
use super::world::{DELAY, MS, PORT, World, address, payload};
use xtp_engine::{ContextId, Datagram, Ecn, EngineConfig, OpenOptions, paradigm};
use xtp_wire::{Body, DataSegment, Options, Packet, Traffic};

/// Of all. Three quarters of it are for what is charged, half of which is given to whoever asks.
const LIMIT: u64 = 1 << 20;
const ACCOUNT: u64 = LIMIT / 4 * 3;
/// One association gets an eighth at most.
const CAPACITY: u64 = LIMIT / 8;
/// What an association counts that has nothing else, and what everybody may send unasked.
const CONTEXT: u64 = 1_024;
const ALLOWANCE: u64 = 17_880;
/// What a user may always queue.
const QUEUE: usize = 64 << 10;

fn small(ahead: bool) -> World {
    World::with(
        ahead,
        |config: &mut EngineConfig| config.memory_limit = LIMIT,
        |_| {},
    )
}

/// An association whose responder has read what came, and granted what it grants.
fn begun(world: &mut World) -> [ContextId; 2] {
    let id = world.open(paradigm::stream(PORT));
    world.send(0, id, 10);
    world.run(40 * MS);
    let peer = world.accepted();
    assert_eq!(world.read(1, peer).len(), 10);
    world.run(40 * MS);
    [id, peer]
}

/// What an end is charged, beside 1 KiB for each association.
fn charged(world: &World, end: usize) -> u64 {
    world.ends[end].view().stats().memory - CONTEXT * world.ends[end].view().stats().contexts as u64
}

/// The farthest octet that the responder granted the association whose key this initiator's packets have.
fn granted(world: &World, from: usize) -> u64 {
    let told = world.sent_by(1, from);
    let allocs = told.filter_map(|packet| packet.body.control().map(|control| control.alloc));
    allocs.max().expect("it told something")
}

fn pour(world: &mut World, [id, peer]: [ContextId; 2], pieces: usize) {
    for _ in 0..pieces {
        world.send(0, id, 10_000);
        world.run(10 * MS);
        world.read(1, peer);
        world.run(10 * MS);
    }
}

#[test]
fn what_is_kept_and_what_was_promised_is_charged() {
    for ahead in [false, true] {
        let mut world = small(ahead);
        let [id, peer] = begun(&mut world);
        assert_eq!(
            charged(&world, 1),
            CAPACITY - 10,
            "granted and not taken, ahead: {ahead}"
        );
        world.lose = [usize::MAX; 2];
        world.send(1, peer, 30_000);
        world.flush(1);
        // What the user took is granted anew in the same turn.
        assert_eq!(charged(&world, 1), CAPACITY + 30_000, "queued");
        world.ends[1].command().abort(world.now, peer).unwrap();
        world.flush(1);
        assert_eq!(charged(&world, 1), 0, "it is over");
        world.ends[0].command().abort(world.now, id).unwrap();
        world.flush(0);
        assert_eq!(charged(&world, 0), 0, "it is over");
        // What everybody may send is charged when it is there.
        let mut world = small(ahead);
        world.lose[0] = usize::MAX;
        let id = world.open(paradigm::transaction(PORT));
        world.send(0, id, 700);
        world.run(DELAY);
        let peer = world.accepted();
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.readable()),
            Ok(700)
        );
        assert_eq!(charged(&world, 1), 700, "stored, ahead: {ahead}");
    }
}

/// The first packet of a datagram of several.
#[test]
fn parts_of_datagrams_are_charged() {
    for ahead in [false, true] {
        let mut world = small(ahead);
        let id = world.open(paradigm::datagram(PORT));
        world.send(0, id, 3_000);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.flush(0);
        let first = world.sent[0].octets.clone();
        world.forge(1, &first);
        let kept = charged(&world, 1);
        assert!((1_000..3_000).contains(&kept), "{kept}, ahead: {ahead}");
    }
}

/// An association that has moved much, and so many others that memory is rationed.
fn rationed(ahead: bool) -> (World, [ContextId; 2], Vec<[ContextId; 2]>) {
    let mut world = small(ahead);
    let busy = begun(&mut world);
    pour(&mut world, busy, 100);
    let others = (0..3).map(|_| begun(&mut world)).collect();
    assert!(charged(&world, 1) > ACCOUNT / 2, "{}", charged(&world, 1));
    (world, busy, others)
}

/// What one may have beyond what its user has taken.
fn room(world: &mut World, ids: [ContextId; 2]) -> u64 {
    pour(world, ids, 30);
    let from = world.sent.len();
    pour(world, ids, 3);
    let taken = world.ends[1]
        .view()
        .context(ids[1])
        .unwrap()
        .stats()
        .octets_delivered;
    granted(world, from) - taken
}

#[test]
fn who_moves_gets_a_share_of_what_is_left_and_all_when_there_is_enough() {
    for ahead in [false, true] {
        let (mut world, busy, others) = rationed(ahead);
        let share = room(&mut world, busy);
        let most = (ACCOUNT - 3 * CAPACITY) / 8;
        assert!(
            share <= most && share > 10_000,
            "{share} of {most}, ahead: {ahead}"
        );
        // Who has moved nothing gets no more than what everybody may send.
        let from = world.sent.len();
        begun(&mut world);
        let idle = granted(&world, from);
        assert!(idle <= ALLOWANCE, "{idle}, ahead: {ahead}");
        for [id, peer] in others {
            world.ends[0].command().abort(world.now, id).unwrap();
            world.ends[1].command().abort(world.now, peer).unwrap();
        }
        world.run(20 * MS);
        let again = room(&mut world, busy);
        assert!(again > CAPACITY - 40_000, "{again}, ahead: {ahead}");
    }
}

/// Users of an end queue so much on associations of their own that `left` octets are left.
fn filled(world: &mut World, end: usize, left: u64) {
    let mut ids: Vec<_> = (0..12).map(|_| begun(world)[end]).collect();
    world.lose = [usize::MAX; 2];
    while charged(world, end) < ACCOUNT - left {
        let id = ids.pop().expect("they are enough");
        let wanted = (ACCOUNT - left - charged(world, end)) as usize;
        world.send(end, id, wanted.min(QUEUE));
        world.flush(end);
    }
    assert_eq!(charged(world, end), ACCOUNT - left);
}

/// A packet that comes unasked is kept where there is room for it, and else dropped as if it had been lost.
#[test]
fn what_comes_unasked_is_kept_if_there_is_room() {
    for ahead in [false, true] {
        for (left, kept) in [(4_000, 1_000), (500, 0)] {
            let mut world = small(ahead);
            filled(&mut world, 1, left);
            world.lose[1] = 0;
            let id = world.open(paradigm::transaction(PORT));
            world.send(0, id, 1_000);
            world.run(DELAY);
            let peer = world.accepted();
            assert_eq!(
                world.ends[1]
                    .view()
                    .context(peer)
                    .map(|context| context.readable()),
                Ok(kept),
                "{left} left, ahead: {ahead}"
            );
            assert!(charged(&world, 1) <= ACCOUNT);
        }
    }
}

/// What FIRST grants is what memory has.
#[test]
fn first_grants_less_where_memory_is_short() {
    for ahead in [false, true] {
        let credit = |short: bool| {
            let mut world = small(ahead);
            if short {
                filled(&mut world, 0, 50_000);
            }
            let from = world.sent.len();
            let id = world.open(paradigm::stream(PORT));
            world.send(0, id, 10);
            world.flush(0);
            let stated = world.sent_by(0, from).find_map(|packet| match packet.body {
                Body::First(first) => match first.traffic {
                    Traffic::Extended(terms) => Some(terms.credit),
                    _ => None,
                },
                _ => None,
            });
            stated.expect("FIRST left")
        };
        assert_eq!(credit(false), CAPACITY);
        assert!(credit(true) <= ALLOWANCE, "{}, ahead: {ahead}", credit(true));
    }
}

/// Users may queue 64 KiB whatever is left, and no more.
#[test]
fn users_queue_a_little_where_memory_is_short() {
    for ahead in [false, true] {
        let (mut world, [id, peer], _) = rationed(ahead);
        world.lose = [usize::MAX; 2];
        let all = CAPACITY as usize;
        let taken = world.ends[1]
            .command()
            .send(world.now, peer, payload(all), true)
            .unwrap();
        assert_eq!(taken, QUEUE, "ahead: {ahead}");
        let taken = world.ends[0]
            .command()
            .send(world.now, id, payload(all), true)
            .unwrap();
        assert!(taken >= QUEUE);
    }
}

/// What is short is looked at packet by packet, and payload is copied out of the carrier's buffers, which it would keep.
#[test]
fn where_memory_is_short_payload_keeps_no_buffer() {
    for short in [false, true] {
        let mut world = small(false);
        if short {
            let others: Vec<_> = (0..3).map(|_| begun(&mut world)).collect();
            assert_eq!(others.len(), 3);
        }
        let ids = begun(&mut world);
        pour(&mut world, ids, 20);
        world.run(40 * MS);
        assert_eq!(charged(&world, 1) > ACCOUNT / 2, short);
        let last = world.sent_by(0, 0).last().expect("it spoke");
        let view = View {
            key: last.header.key,
            sync: last.header.sync.wrapping_add(1),
            seq: last.header.seq + last.body.data().map_or(0, |data| data.data.len() as u64),
            ..View::of(&world, 1)
        };
        let level = last.header.options & Options::EDGE;
        let packets: Vec<_> = (0..2)
            .map(|number: u32| {
                let next = View {
                    sync: view.sync.wrapping_add(number),
                    seq: view.seq + 1_024 * u64::from(number),
                    ..view
                };
                let body = Body::Data(DataSegment {
                    tag: None,
                    data: &[3; 1_024],
                });
                next.packet(Options::NOCHECK | level, body)
            })
            .collect();
        let all = bytes::Bytes::from(packets.concat());
        let datagram = Datagram {
            src: address(0),
            dst: None,
            ecn: Ecn::NotEct,
            data: &all,
            backing: Some(&all),
        };
        let stride = packets[0].len();
        let before = world.ends[1]
            .view()
            .context(ids[1])
            .unwrap()
            .stats()
            .octets_copied;
        let taken = world.take_joined(1, datagram, stride);
        assert_eq!(taken, if short { 0 } else { 2 });
        let next = View {
            sync: view.sync.wrapping_add(2),
            seq: view.seq + 2_048,
            ..view
        };
        let alone = bytes::Bytes::from(next.data(next.seq, level, &[3; 1_024]));
        let datagram = Datagram {
            data: &alone,
            backing: Some(&alone),
            ..datagram
        };
        world.take(1, datagram);
        world.flush(1);
        let copied = world.ends[1]
            .view()
            .context(ids[1])
            .unwrap()
            .stats()
            .octets_copied
            - before;
        assert_eq!(copied, if short { 3 * 1_024 } else { 0 });
    }
}

/// No reader of one association may come to more than an eighth, whatever its user chose.
#[test]
fn one_association_gets_an_eighth_at_most() {
    let mut options: OpenOptions = paradigm::stream(PORT);
    options.tuning.recv_capacity = 8 * LIMIT;
    let mut world = World::with(
        false,
        |config: &mut EngineConfig| config.memory_limit = LIMIT,
        |listen| listen.tuning.recv_capacity = 8 * LIMIT,
    );
    let id = world.open(options);
    world.send(0, id, 10);
    world.run(40 * MS);
    let peer = world.accepted();
    world.read(1, peer);
    world.run(40 * MS);
    assert!(granted(&world, 0) <= CAPACITY + 10);
    assert_eq!(
        [charged(&world, 0), charged(&world, 1)],
        [CAPACITY, CAPACITY - 10]
    );
}

/// Whoever was granted less than it could use hears of it in the very turn in which somebody gives memory back, also if what was
/// given back first was not worth a packet.
#[test]
fn who_waits_for_memory_is_told_when_there_is_some() {
    for ahead in [false, true] {
        let (mut world, [id, peer], others) = rationed(ahead);
        pour(&mut world, [id, peer], 30);
        let small = begun(&mut world);
        let from = world.sent.len();
        world.send(0, id, QUEUE);
        world.run(100 * MS);
        let before = granted(&world, from);
        let grants_most = |packet: &Packet<'_>| {
            packet
                .body
                .control()
                .is_some_and(|control| control.alloc == before)
        };
        let told = world.sent_by(1, from).find(grants_most).expect("it was answered");
        let key = told.header.key;
        // Nothing arrives any more, and no time passes.
        world.lose = [usize::MAX; 2];
        world.send(1, small[1], 500);
        world.flush(1);
        let from = world.sent.len();
        let grants = |world: &World| {
            let to_it = world.sent_by(1, from).filter(|packet| packet.header.key == key);
            let allocs = to_it.filter_map(|packet| packet.body.control().map(|control| control.alloc));
            allocs.collect::<Vec<_>>()
        };
        world.ends[1].command().abort(world.now, small[1]).unwrap();
        world.flush(1);
        assert_eq!(
            grants(&world),
            [],
            "500 octets are no packet's worth, ahead: {ahead}"
        );
        world.ends[1].command().abort(world.now, others[0][1]).unwrap();
        world.flush(1);
        let after = grants(&world);
        assert!(
            after.len() == 1 && after[0] > before,
            "{after:?} after {before}, ahead: {ahead}"
        );
    }
}
