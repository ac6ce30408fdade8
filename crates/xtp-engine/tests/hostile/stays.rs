//! Who was answered and of whom only END is awaited: it is its END, or none, whether or not there is a context of it.

use super::world::{Joined, Link, MS, PORT, World, address, payload};
use std::net::SocketAddr;
use xtp_engine::{ContextId, Datagram, Ecn, Event, Expectation, Parting, Read, Reply, paradigm};

fn datagram(src: SocketAddr, octets: &[u8]) -> Datagram<'_> {
    Datagram {
        src,
        dst: None,
        ecn: Ecn::NotEct,
        data: octets,
        backing: None,
    }
}

fn take_events(world: &mut World) {
    while let Some(event) = world.ends[1].poll_event() {
        world.events[1].push(event);
    }
}

/// What `me` sends next, which does not arrive by itself.
fn next(world: &mut World, me: usize) -> Vec<u8> {
    world.lose[1 - me] = 1;
    world.flush(me);
    world.sent.last().expect("something left").octets.clone()
}

/// A request is answered at once, and its END is under way; both ends' names, and END.
fn answered(world: &mut World) -> (ContextId, ContextId, Vec<u8>) {
    let id = world.open(paradigm::transaction(PORT));
    world.ends[0]
        .command()
        .send(world.now, id, payload(20), true)
        .unwrap();
    world.ends[0].command().close_writer(world.now, id).unwrap();
    let first = next(world, 0);
    world.take(1, datagram(address(0), &first));
    take_events(world);
    let peer = world.accepted();
    world.ends[1].command().accepted(peer).unwrap();
    let read = world.ends[1].command().read(world.now, peer, 100);
    assert!(matches!(read, Ok(Read::Data { eom: true, .. })), "{read:?}");
    world.ends[1]
        .command()
        .send(world.now, peer, payload(60), true)
        .unwrap();
    world.ends[1].command().close_writer(world.now, peer).unwrap();
    let mut link = Link::default();
    assert!(world.ends[1].turn(world.now, &mut link), "there was no room");
    world.lose[0] = 1;
    world.carry(1, &link);
    let answer = world.sent.last().expect("it was answered").octets.clone();
    world.receive(0, address(1), None, &answer);
    assert_eq!(world.read(0, id).len(), 60);
    (id, peer, next(world, 0))
}

/// The same, of a kind that was seen before: there is only a note of it.
fn staying() -> (World, ContextId, Vec<u8>) {
    let mut world = World::new(true);
    for _ in 0..4 {
        let (id, peer, end) = answered(&mut world);
        world.forge(1, &end);
        world.ends[0].command().release(world.now, id).unwrap();
        world.ends[1].command().release(world.now, peer).unwrap();
        world.run(MS);
    }
    let (_, peer, end) = answered(&mut world);
    assert_eq!(world.ends[1].view().stats().pending, 1);
    (world, peer, end)
}

#[test]
fn an_end_from_elsewhere_confirms_nothing() {
    let (mut world, peer, end) = staying();
    for (src, ends) in [(address(7), false), (address(0), true)] {
        world.take(1, datagram(src, &end));
        take_events(&mut world);
        let closed = |(id, event): &(ContextId, Event)| *id == peer && matches!(event, Event::Closed(_));
        assert_eq!(world.events[1].iter().any(closed), ends, "END from {src}");
    }
    world.flush(1);
}

#[test]
fn an_end_from_elsewhere_lets_nobody_go() {
    let (mut world, peer, end) = staying();
    let parted = world.ends[1].close(world.now, peer, 60);
    assert!(matches!(parted, Parting::Awaits(Some(_))), "{parted:?}");
    world.flush(1);
    let (listener, limit) = (world.listener, 1_000);
    for (src, expected) in [(address(7), Reply::General), (address(0), Reply::Ended(peer))] {
        let (now, driver) = (world.now, &mut world.ends[1]);
        driver.expect(Expectation::Message { listener, limit });
        driver.receive(now, &mut Joined::new(datagram(src, &end), end.len()));
        let reply = driver.reply(now, &mut Link::default());
        assert_eq!(reply, expected, "END from {src}");
    }
    world.flush(1);
}
