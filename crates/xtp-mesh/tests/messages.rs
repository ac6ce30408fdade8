//! Messages of every length, matched by peer and tag.

mod world;

use world::{MS, World};
use xtp_mesh::{From, MeshCompletion, PeerNumber, Tags};

fn pattern(length: usize, seed: u8) -> Vec<u8> {
    (0..length)
        .map(|at| (at / 251) as u8 ^ (at as u8).wrapping_mul(7) ^ seed)
        .collect()
}

/// Lengths around every border: nothing, a packet, the eager limit, a piece, several.
const LENGTHS: [usize; 12] = [
    0,
    1,
    8,
    1_000,
    1_400,
    16_383,
    16_384,
    16_385,
    65_536,
    262_144,
    262_145,
    5 << 20,
];

fn post(world: &mut World, host: usize, from: impl Into<From>, tags: Tags, room: usize, token: u64) {
    let host = &mut world.hosts[host].mesh;
    host.receive(from, tags, vec![0; room], token)
        .map_err(|(error, _)| error)
        .unwrap();
}

#[test]
fn messages_of_every_length_come_whole_and_once_posted_before_or_after() {
    for posted_first in [true, false] {
        for loss in [0, 10] {
            let mut world = World::new(2);
            world.loss = loss;
            let from = world.peer(1, 0);
            let receives = |world: &mut World| {
                for (n, length) in LENGTHS.iter().enumerate() {
                    post(world, 1, from, Tags::exact(n as u64), *length, n as u64);
                }
            };
            if posted_first {
                receives(&mut world);
            }
            for (n, length) in LENGTHS.iter().enumerate() {
                world.send(0, 1, n as u64, &pattern(*length, n as u8), n as u64);
            }
            if !posted_first {
                world.run(50 * MS);
                receives(&mut world);
            }
            world.until(200_000 * MS, |world| {
                world.hosts[1].done.len() == LENGTHS.len() && world.hosts[0].done.len() == LENGTHS.len()
            });
            let mut received = world.hosts[1].received();
            received.sort_by_key(|(token, _)| *token);
            for (n, (token, octets)) in received.into_iter().enumerate() {
                assert_eq!(token, n as u64);
                assert!(
                    octets == pattern(LENGTHS[n], n as u8),
                    "{n}, {posted_first}, {loss}"
                );
            }
            let mut sent = world.hosts[0].told_sent();
            sent.sort_unstable();
            assert_eq!(sent, (0..LENGTHS.len() as u64).collect::<Vec<_>>());
            assert_eq!(world.hosts[1].mesh.unexpected(), (0, 0));
        }
    }
}

#[test]
fn a_small_wanted_message_passes_a_big_unwanted_one() {
    let mut world = World::new(2);
    world.send(0, 1, 1, &pattern(50 << 20, 1), 1);
    world.send(0, 1, 2, b"small", 2);
    post(&mut world, 1, From::Any, Tags::exact(2), 100, 0);
    world.until(100 * MS, |world| world.hosts[1].received().len() == 1);
    assert_eq!(world.hosts[1].received()[0].1, b"small");
    let label = world.hosts[1].mesh.peek(From::Any, Tags::Any).unwrap();
    assert_eq!((label.tag, label.length), (1, 50 << 20));
    assert_eq!(world.hosts[1].mesh.unexpected(), (1, 0));
    assert_eq!(world.hosts[0].told_sent(), [2]);
    world.until(1_000 * MS, |_| true);
    post(&mut world, 1, From::Any, Tags::Any, 50 << 20, 7);
    world.until(60_000 * MS, |world| world.hosts[1].received().len() == 2);
    assert!(world.hosts[1].received()[1].1 == pattern(50 << 20, 1));
}

#[test]
fn a_small_message_does_not_wait_behind_the_octets_of_a_big_one() {
    let mut world = World::new(2);
    world.rate = Some(100_000);
    post(&mut world, 1, From::Any, Tags::exact(1), 50 << 20, 1);
    world.send(0, 1, 1, &pattern(50 << 20, 1), 1);
    world.run(100 * MS);
    post(&mut world, 1, From::Any, Tags::exact(2), 8, 2);
    world.send(0, 1, 2, b"small", 2);
    world.until(20 * MS, |world| !world.hosts[1].received().is_empty());
    assert!(world.hosts[1].received() == [(2, b"small".to_vec())]);
}

#[test]
fn from_a_peer_whoever_opened_and_in_its_order() {
    let mut world = World::new(2);
    // Both speak first.
    for n in 0..50 {
        world.send(0, 1, n % 3, &n.to_be_bytes(), n);
        world.send(1, 0, n % 3, &n.to_be_bytes(), n);
    }
    for host in [0, 1] {
        let from = world.peer(host, 1 - host);
        for n in 0..50 {
            post(&mut world, host, from, Tags::Any, 8, n);
        }
    }
    world.until(1_000 * MS, |world| {
        world.hosts.iter().all(|host| host.received().len() == 50)
    });
    for host in &world.hosts {
        let expected: Vec<_> = (0..50_u64).map(|n| (n, n.to_be_bytes().to_vec())).collect();
        assert_eq!(host.received(), expected);
    }
}

#[test]
fn a_message_goes_to_the_receive_posted_first_of_those_for_it() {
    let mut world = World::new(3);
    let [one, two] = [world.peer(0, 1), world.peer(0, 2)];
    post(&mut world, 0, two, Tags::Any, 8, 0);
    post(&mut world, 0, From::Any, Tags::like(0, 1), 8, 1);
    post(&mut world, 0, one, Tags::exact(4), 8, 2);
    post(&mut world, 0, From::Any, Tags::Any, 8, 3);
    for tag in [5, 4, 4] {
        world.send(1, 0, tag, &[tag as u8], tag);
    }
    world.until(100 * MS, |world| world.hosts[0].done.len() == 3);
    world.send(2, 0, 4, &[9], 9);
    world.until(100 * MS, |world| world.hosts[0].done.len() == 4);
    let expected = [(3, vec![5]), (1, vec![4]), (2, vec![4]), (0, vec![9])];
    assert_eq!(world.hosts[0].received(), expected);
}

#[test]
fn a_longer_message_keeps_its_beginning_and_tells_its_length() {
    for length in [100, 16_384, 1 << 20] {
        for room in [0, 1, 64] {
            let mut world = World::new(2);
            world.send(0, 1, 1, &pattern(length, 3), 5);
            post(&mut world, 1, From::Any, Tags::Any, room, 6);
            world.until(500 * MS, |world| {
                !world.hosts[1].done.is_empty() && !world.hosts[0].done.is_empty()
            });
            let MeshCompletion::Received { memory, outcome, .. } = &world.hosts[1].done[0] else {
                panic!("{:?}", world.hosts[1].done);
            };
            let arrival = outcome.unwrap();
            assert_eq!(
                (arrival.label.length, arrival.taken),
                (length as u64, room as u64)
            );
            assert_eq!(memory[..], pattern(length, 3)[..room]);
            assert_eq!(world.hosts[0].told_sent(), [5]);
        }
    }
}

#[test]
fn a_claimed_message_is_its_finders() {
    let mut world = World::new(2);
    for n in 0..2_u64 {
        world.send(0, 1, 1, &pattern(100 + n as usize, 0), n);
    }
    world.send(0, 1, 1, &pattern(100_000, 0), 2);
    world.run(20 * MS);
    let mesh = &mut world.hosts[1].mesh;
    let (first, label) = mesh.claim(From::Any, Tags::exact(1)).unwrap();
    assert_eq!(label.length, 100);
    let (second, label) = mesh.claim(From::Any, Tags::exact(1)).unwrap();
    assert_eq!(label.length, 101);
    let (third, label) = mesh.claim(From::Any, Tags::Any).unwrap();
    assert_eq!(label.length, 100_000);
    assert!(mesh.claim(From::Any, Tags::Any).is_none() && mesh.peek(From::Any, Tags::Any).is_none());
    mesh.discard(first).unwrap();
    assert!(mesh.discard(first).is_err());
    mesh.receive_claimed(third, vec![0; 100_000], 3).unwrap();
    mesh.receive_claimed(second, vec![0; 200], 2).unwrap();
    assert!(mesh.receive_claimed(second, Vec::new(), 0).is_err());
    world.until(200 * MS, |world| {
        world.hosts[1].done.len() == 2 && world.hosts[0].done.len() == 3
    });
    let received = world.hosts[1].received();
    assert_eq!(received[0], (2, pattern(101, 0)));
    assert_eq!(received[1], (3, pattern(100_000, 0)));
}

#[test]
fn what_is_sent_to_oneself_stays() {
    let mut world = World::new(1);
    let mesh = &mut world.hosts[0].mesh;
    let octets = pattern(1 << 20, 5);
    mesh.send(PeerNumber::OWN, 7, 8, octets.clone().into(), 1)
        .unwrap();
    mesh.send(PeerNumber::OWN, 7, 8, bytes::Bytes::new(), 2).unwrap();
    mesh.receive(PeerNumber::OWN, Tags::exact(7), vec![0; 1 << 20], 3)
        .unwrap();
    mesh.receive(From::Any, Tags::exact(7), Vec::new(), 4).unwrap();
    world.run(MS);
    assert_eq!(world.hosts[0].received(), [(3, octets), (4, Vec::new())]);
    assert_eq!((world.hosts[0].told_sent(), world.hosts[0].sent), (vec![1, 2], 0));
}

#[test]
fn two_that_send_to_each_other_beyond_every_window_do_not_stand_still() {
    let mut world = World::new(2);
    for n in 0..40 {
        for host in [0, 1] {
            world.send(host, 1 - host, n, &pattern(1 << 20, n as u8), n);
        }
    }
    world.run(100 * MS);
    for n in 0..40 {
        for host in [0, 1] {
            post(&mut world, host, From::Any, Tags::exact(n), 1 << 20, n);
        }
    }
    world.until(100_000 * MS, |world| {
        world.hosts.iter().all(|host| host.done.len() == 80)
    });
    for host in &world.hosts {
        assert!(
            host.received()
                .iter()
                .all(|(n, octets)| *octets == pattern(1 << 20, *n as u8))
        );
    }
}

#[test]
fn messages_nobody_wants_take_bounded_memory_and_others_go_on() {
    let mut world = World::new(3);
    for n in 0..20_000 {
        world.send(0, 1, n, &pattern(1_000, 0), n);
    }
    world.run(500 * MS);
    let (_, held) = world.hosts[1].mesh.unexpected();
    assert!(held <= 64 << 10, "{held}");
    let peer = world.peer(0, 1);
    assert_eq!(
        world.hosts[1].mesh.unexpected().0 + world.hosts[0].mesh.unsent(peer),
        20_000 + (20_000 - 65)
    );
}

#[test]
fn what_is_sent_in_one_breath_shares_packets() {
    let mut world = World::new(2);
    world.send(0, 1, 0, b"first", 0);
    world.run(100 * MS);
    let before = world.hosts[0].sent;
    for n in 0..64 {
        world.send(0, 1, n, b"8 octets", n);
    }
    world.run(100 * MS);
    // 64 records of 40 octets are three packets of the least size; one more may ask for status.
    assert!(
        world.hosts[0].sent - before <= 4,
        "{}",
        world.hosts[0].sent - before
    );
}
