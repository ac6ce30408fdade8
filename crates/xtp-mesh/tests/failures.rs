//! Peers that compute, die, begin again, leave, and paths that break.

mod world;

use std::time::Duration;
use world::{MS, World, shortly};
use xtp_mesh::{From, LossReason, MeshCompletion, MeshOptions, Tags};

const SECOND: Duration = Duration::from_secs(1);

fn post(world: &mut World, host: usize, from: impl Into<From>, room: usize, token: u64) {
    let mesh = &mut world.hosts[host].mesh;
    mesh.receive(from, Tags::Any, vec![0; room], token)
        .map_err(|(error, _)| error)
        .unwrap();
}

fn numbers(world: &World, host: usize) -> Vec<u64> {
    let received = world.hosts[host].received();
    let number = |octets: Vec<u8>| u64::from_be_bytes(octets[..8].try_into().unwrap());
    received.into_iter().map(|(_, octets)| number(octets)).collect()
}

#[test]
fn a_peer_that_computes_for_minutes_gets_everything_once_and_in_order() {
    for begun in [false, true] {
        for pause in [30, 75, 200] {
            let mut world = World::new(2);
            for n in 0..300 {
                post(&mut world, 1, From::Any, 8, n);
            }
            if begun {
                world.send(0, 1, 0, &0_u64.to_be_bytes(), 0);
                world.run(SECOND);
            }
            world.hosts[1].paused = true;
            for n in u64::from(begun)..200 {
                world.send(0, 1, 0, &n.to_be_bytes(), n);
                world.run(pause * SECOND / 200);
            }
            world.hosts[1].paused = false;
            world.run(SECOND);
            assert_eq!(
                numbers(&world, 1),
                (0..200).collect::<Vec<_>>(),
                "{begun}, {pause} s"
            );
        }
    }
}

#[test]
fn a_path_that_breaks_for_minutes_loses_nothing() {
    for both in [false, true] {
        let mut world = World::new(2);
        for n in 0..100 {
            post(&mut world, 0, From::Any, 300_000, n);
            post(&mut world, 1, From::Any, 300_000, n);
        }
        let octets = |n: u64| [&n.to_be_bytes()[..], &vec![1; (n % 7 * 40_000) as usize][..]].concat();
        for n in 0..100 {
            if n == 20 {
                world.cut.insert((0, 1));
                if both {
                    world.cut.insert((1, 0));
                }
            }
            if n == 60 {
                world.cut.clear();
            }
            world.send(0, 1, 0, &octets(n), n);
            world.send(1, 0, 0, &octets(n), n);
            world.run(4 * SECOND);
        }
        world.run(10 * SECOND);
        for host in [0, 1] {
            let mut got = numbers(&world, host);
            got.sort_unstable();
            assert_eq!(
                got,
                (0..100).collect::<Vec<_>>(),
                "host {host}, both ways: {both}"
            );
            let lost = world.hosts[host]
                .done
                .iter()
                .find(|done| matches!(done, MeshCompletion::Lost { .. }));
            assert!(lost.is_none(), "{:?}", lost.map(shortly));
        }
    }
}

#[test]
fn a_peer_that_begins_again_is_told_of_and_what_follows_is_a_new_session() {
    let mut world = World::new(2);
    for n in 0..10 {
        post(&mut world, 1, From::Any, 8, n);
    }
    for n in 0..5_u64 {
        world.send(0, 1, 0, &n.to_be_bytes(), n);
    }
    world.run(SECOND);
    world.restart(1);
    for n in 0..10 {
        post(&mut world, 1, From::Any, 8, n);
    }
    // The new one speaks first.
    world.send(1, 0, 0, &77_u64.to_be_bytes(), 0);
    world.run(3 * SECOND);
    post(&mut world, 0, From::Any, 8, 50);
    world.run(SECOND);
    assert_eq!(numbers(&world, 0), [77]);
    let lost: Vec<_> = world.hosts[0]
        .done
        .iter()
        .filter(|done| matches!(done, MeshCompletion::Lost { .. }))
        .collect();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(matches!(
        lost[0],
        MeshCompletion::Lost {
            reason: LossReason::Restarted,
            ..
        }
    ));
    for n in 5..10_u64 {
        world.send(0, 1, 0, &n.to_be_bytes(), n);
    }
    world.run(3 * SECOND);
    assert_eq!(numbers(&world, 1), (5..10).collect::<Vec<_>>());
}

#[test]
fn what_is_under_way_to_one_that_began_again_ends_with_an_error() {
    let mut world = World::new(2);
    let peer = world.peer(0, 1);
    world.send(0, 1, 1, &[1; 100_000], 1);
    post(&mut world, 0, peer, 8, 9);
    world.run(SECOND);
    world.restart(1);
    world.send(0, 1, 1, &[1; 8], 2);
    world.run(30 * SECOND);
    let done: Vec<_> = world.hosts[0].done.iter().map(shortly).collect();
    assert!(
        done.iter()
            .any(|done| done.contains("token: 1") && done.contains("Restarted")),
        "{done:?}"
    );
    assert!(
        done.iter()
            .any(|done| done.contains("received 9") && done.contains("Restarted")),
        "{done:?}"
    );
}

#[test]
fn a_dead_peer_is_lost_after_the_patience_and_not_before() {
    let mut options = MeshOptions::default();
    options.patience = 100 * SECOND;
    let mut world = World::with(2, options);
    let peer = world.peer(0, 1);
    world.hosts[1].paused = true;
    world.send(0, 1, 1, &[1; 8], 1);
    world.send(0, 1, 1, &[1; 100_000], 2);
    post(&mut world, 0, peer, 8, 3);
    world.run(80 * SECOND);
    assert_eq!(
        world.hosts[0].done.iter().map(shortly).collect::<Vec<_>>().len(),
        1
    );
    world.run(60 * SECOND);
    let done: Vec<_> = world.hosts[0].done[1..].iter().map(shortly).collect();
    assert_eq!(done.len(), 3, "{done:?}");
    assert!(done.iter().all(|done| done.contains("Silent")), "{done:?}");
    assert!(done[2].contains("unconfirmed: 1"), "{done:?}");
    // It comes back: a new session.
    world.hosts[1].paused = false;
    world.run(SECOND);
    post(&mut world, 1, From::Any, 8, 1);
    world.send(0, 1, 1, &5_u64.to_be_bytes(), 4);
    world.run(30 * SECOND);
    assert_eq!(numbers(&world, 1).last(), Some(&5));
}

#[test]
fn one_that_leaves_loses_nothing_and_is_told_of() {
    let mut world = World::new(2);
    let peer = world.peer(1, 0);
    for n in 0..30_u64 {
        world.send(0, 1, 0, &n.to_be_bytes(), n);
    }
    let (now, host) = (world.now, &mut world.hosts[0]);
    host.mesh.turn(now, &mut host.driver);
    host.mesh.leave(now, &mut host.driver);
    world.until(5 * SECOND, |world| world.hosts[0].mesh.is_gone());
    for n in 0..31 {
        post(&mut world, 1, peer, 8, n);
    }
    world.run(SECOND);
    assert_eq!(numbers(&world, 1), (0..30).collect::<Vec<_>>());
    let left = |done: &&world::Done| {
        matches!(
            done,
            MeshCompletion::Lost {
                reason: LossReason::Left,
                ..
            }
        )
    };
    assert_eq!(world.hosts[1].done.iter().filter(left).count(), 1);
}

#[test]
fn ten_thousand_seconds_of_silence_cost_nothing() {
    let mut world = World::new(2);
    post(&mut world, 1, From::Any, 8, 0);
    world.send(0, 1, 0, &1_u64.to_be_bytes(), 0);
    world.run(10 * SECOND);
    let before = world.hosts[0].sent + world.hosts[1].sent;
    world.run(10_000 * SECOND);
    let after = world.hosts[0].sent + world.hosts[1].sent;
    // Keepalives: one in 25 s and its answer.
    assert!(after - before <= 2 * 10_000 / 20, "{}", after - before);
    post(&mut world, 1, From::Any, 8, 1);
    world.send(0, 1, 0, &2_u64.to_be_bytes(), 1);
    world.run(100 * MS);
    assert_eq!(numbers(&world, 1), [1, 2]);
}

#[test]
fn what_one_that_leaves_has_said_on_any_association_is_taken_first() {
    // Both spoke first, so that there are two express associations, and long messages have theirs.
    let mut world = World::new(2);
    world.send(0, 1, 0, &0_u64.to_be_bytes(), 0);
    world.send(1, 0, 0, &0_u64.to_be_bytes(), 0);
    for n in 0..40 {
        post(&mut world, 1, From::Any, 300_000, n);
    }
    world.run(SECOND);
    let octets = |n: u64| [&n.to_be_bytes()[..], &vec![1; (n % 3 * 100_000) as usize][..]].concat();
    for n in 1..40_u64 {
        world.send(0, 1, 0, &octets(n), n);
        while world.hosts[0].told_sent().len() <= n as usize {
            world.run(MS);
        }
    }
    let (now, host) = (world.now, &mut world.hosts[0]);
    host.mesh.leave(now, &mut host.driver);
    world.run(SECOND);
    let mut got = numbers(&world, 1);
    got.sort_unstable();
    assert_eq!(got, (0..40).collect::<Vec<_>>());
}

#[test]
fn octets_that_are_under_way_when_a_peer_leaves_still_come() {
    let mut world = World::new(2);
    world.rate = Some(100_000);
    post(&mut world, 1, From::Any, 8, 0);
    world.send(0, 1, 0, &0_u64.to_be_bytes(), 0);
    world.run(SECOND);
    post(&mut world, 1, From::Any, 300_000, 1);
    world.send(0, 1, 0, &[&1_u64.to_be_bytes()[..], &[7; 250_000]].concat(), 1);
    // Announced, pulled, and written: two milliseconds and a half of it are under way.
    world.run(2 * MS);
    assert!(world.hosts[1].done.len() == 1);
    let (now, host) = (world.now, &mut world.hosts[0]);
    host.mesh.leave(now, &mut host.driver);
    world.run(SECOND);
    assert_eq!(numbers(&world, 1), [0, 1]);
    assert!(world.hosts[1].done.iter().any(|done| matches!(
        done,
        MeshCompletion::Lost {
            reason: LossReason::Left,
            ..
        }
    )));
}

fn reasons(world: &World, host: usize) -> Vec<LossReason> {
    let lost = |done: &world::Done| match done {
        MeshCompletion::Lost { reason, .. } => Some(*reason),
        _ => None,
    };
    world.hosts[host].done.iter().filter_map(lost).collect()
}

#[test]
fn what_was_opened_to_one_life_of_a_peer_and_read_by_another_breaks_no_rule() {
    for pulled in [false, true] {
        let mut world = World::new(2);
        let long = [3; 40_000];
        if pulled {
            post(&mut world, 0, From::Any, long.len(), 1);
        }
        // Both open; what the first one says does not come through, and it learns of the other life meanwhile.
        world.cut.insert((0, 1));
        world.send(0, 1, 0, &long, 1);
        world.send(0, 1, 0, &1_u64.to_be_bytes(), 2);
        world.send(1, 0, 0, &long, 1);
        world.run(SECOND / 2);
        assert_eq!(world.hosts[0].mesh.unexpected().0, usize::from(!pulled));
        world.restart(1);
        world.cut.clear();
        for token in 10..13 {
            post(&mut world, 1, From::Any, long.len(), token);
        }
        world.run(10 * SECOND);
        world.send(0, 1, 0, &9_u64.to_be_bytes(), 3);
        world.run(10 * SECOND);
        for host in [0, 1] {
            let of = reasons(&world, host);
            assert!(of.iter().all(|reason| *reason == LossReason::Restarted), "{of:?}");
            assert!(of.len() <= 1, "{of:?}");
        }
        assert_eq!(numbers(&world, 1).last(), Some(&9));
    }
}

/// Packets of 500 round trips after the first messages of these hosts, of which this many in a hundred are lost.
fn packets_after(openers: &[usize], loss: u64) -> usize {
    let mut world = World::new(2);
    world.loss = loss;
    for host in [0, 1] {
        (0..502).for_each(|token| post(&mut world, host, From::Any, 8, token));
    }
    for host in openers {
        world.send(*host, 1 - host, 0, &0_u64.to_be_bytes(), 0);
    }
    world.run(10 * SECOND);
    world.loss = 0;
    let sent = |world: &World| world.hosts[0].sent + world.hosts[1].sent;
    let before = sent(&world);
    for n in 1..=500_u64 {
        for host in [0, 1] {
            world.send(host, 1 - host, 0, &n.to_be_bytes(), n);
            while numbers(&world, 1 - host).last() != Some(&n) {
                world.run(MS / 10);
            }
        }
    }
    sent(&world) - before
}

#[test]
fn two_that_open_at_once_use_one_association() {
    let (one, both) = (packets_after(&[0], 0), packets_after(&[0, 1], 0));
    assert!(both <= one + one / 50, "{both} packets where {one} are enough");
    let (one, both) = (packets_after(&[0], 20), packets_after(&[0, 1], 20));
    assert!(both <= one + one / 50, "{both} packets where {one} are enough");
}

fn leave(world: &mut World, host: usize) {
    let (now, host) = (world.now, &mut world.hosts[host]);
    host.mesh.leave(now, &mut host.driver);
}

#[test]
fn what_was_sent_comes_although_its_sender_leaves_at_once() {
    for loss in [0, 30] {
        let mut world = World::new(2);
        world.loss = loss;
        for n in 0..20_u64 {
            post(&mut world, 1, From::Any, 8, n);
            world.send(0, 1, 0, &n.to_be_bytes(), n);
        }
        // No association is open yet.
        leave(&mut world, 0);
        assert!(!world.hosts[0].mesh.is_gone());
        world.until(100 * SECOND, |world| world.hosts[0].mesh.is_gone());
        assert_eq!(numbers(&world, 1), (0..20).collect::<Vec<_>>());
    }
}

#[test]
fn a_session_that_is_over_does_not_begin_again_by_what_is_still_on_its_way() {
    let mut world = World::new(2);
    (0..4).for_each(|token| post(&mut world, 0, From::Any, 8, token));
    // Both open; one of the two associations is not answered, for its packets are late. The other one has the lower session.
    world.delays_opening = Some(1);
    world.send(0, 1, 0, &1_u64.to_be_bytes(), 1);
    world.send(1, 0, 0, &1_u64.to_be_bytes(), 1);
    world.run(3 * SECOND);
    assert_eq!(numbers(&world, 0), [1]);
    leave(&mut world, 1);
    world.run(3 * SECOND);
    assert_eq!(reasons(&world, 0), [LossReason::Left]);
    world.release_held();
    world.run(3 * SECOND);
    assert_eq!(numbers(&world, 0), [1]);
    assert_eq!(reasons(&world, 0), [LossReason::Left]);
}

#[test]
fn a_receive_ends_where_its_sender_left_and_was_killed_before_it_had_the_word() {
    let mut world = World::new(2);
    world.send(0, 1, 0, &[1; 50_000], 1);
    world.run(SECOND);
    // What leaves says still comes; what is said to it does not.
    world.cut.insert((1, 0));
    post(&mut world, 1, From::Any, 50_000, 1);
    world.run(Duration::ZERO);
    leave(&mut world, 0);
    world.run(SECOND);
    world.restart(0);
    world.cut.clear();
    world.run(30 * SECOND);
    let done: Vec<_> = world.hosts[1].done.iter().map(shortly).collect();
    assert!(
        done.iter().any(|done| done.starts_with("received 1: Err")),
        "{done:?}"
    );
}
