//! Whatever strangers send at a live engine with an open transfer (§1.12).

use core::net::SocketAddr;

use crate::common::{MS, SECOND, finish_clean, link, pour, recorded, send, stream_flow};
use xtp_engine::{CloseReason, EngineConfig};
use xtp_sim::app::{Outcome, Step};
use xtp_sim::host::HostConfig;
use xtp_sim::packet::Seen;
use xtp_sim::rng::Rng;
use xtp_sim::world::World;
use xtp_wire::Format;

fn stranger() -> SocketAddr {
    SocketAddr::from(([10, 9, 9, 9], 9_999))
}

/// A transfer of 100 KB both ways that takes some seconds. Payloads are covered by the checksum, since a flip in
/// one that is not is delivered by design.
fn transfer() -> World {
    let configs = (1..=2u8).map(|number| {
        let mut engine = EngineConfig::new([number; 32]);
        engine.checksum_payload = true;
        HostConfig::new(engine)
    });
    let mut world =
        recorded(World::new(1, configs.collect(), &link(10 * MS), false).expect("valid settings"));
    let writing = || {
        let mut steps = Vec::new();
        for _ in 0..50 {
            steps.extend([pour(2_000), Step::Wait(40 * MS)]);
        }
        steps
    };
    let mut forward = vec![send(50), Step::Wait(100 * MS)];
    forward.extend(writing());
    forward.push(Step::CloseWriter);
    let mut back = writing();
    back.extend([Step::AwaitEnd, Step::CloseWriter]);
    world.add_flow(stream_flow(forward, back));
    world
}

struct Attack {
    sent: u64,
    rng: Rng,
}

impl Attack {
    fn throw(&mut self, world: &mut World, src: SocketAddr, octets: &[u8]) {
        self.sent += octets.len() as u64;
        let to = self.rng.range(0, 1) as usize;
        world.inject(to, src, octets);
    }
}

/// Runs the transfer to its end while `strike` throws things every few milliseconds.
fn under_attack(mut strike: impl FnMut(&mut Attack, &mut World)) -> (World, Attack) {
    let mut world = transfer();
    let mut attack = Attack {
        sent: 0,
        rng: Rng::new(5, 0),
    };
    // Once both ends know each other: who copies a FIRST before that is on the path and can do worse.
    world.run_for(300 * MS);
    while world.now < 3_000_000_000 {
        world.run_for(3 * MS);
        for _ in 0..10 {
            strike(&mut attack, &mut world);
        }
        assert_eq!(world.failure, None);
    }
    finish_clean(&mut world);
    (world, attack)
}

/// Nothing but DIAG goes to the stranger, at most 100 a second, at most three times what came from there.
fn check_replies(world: &World, attack: &Attack) {
    let mut octets = 0;
    let mut count = 0u64;
    for (_, _, flying) in world
        .net
        .captured
        .iter()
        .flatten()
        .filter(|(_, _, flying)| flying.dst == stranger())
    {
        let seen = Seen::decode(&flying.data).expect("well-formed");
        assert_eq!(seen.format, Format::Diag, "{seen:?}");
        octets += flying.data.len() as u64;
        count += 1;
    }
    assert!(octets <= 3 * attack.sent, "{octets} octets for {}", attack.sent);
    let seconds = world.now / 1_000_000_000 + 1;
    assert!(count <= 2 * 100 * (seconds + 1), "{count} replies in {seconds} s");
}

/// One of the newest packets of the transfer itself.
fn recent(world: &World, rng: &mut Rng) -> Option<Vec<u8>> {
    let captured = world.net.captured.as_deref().unwrap_or_default();
    let own = captured
        .iter()
        .rev()
        .filter(|(_, _, flying)| flying.dst != stranger());
    own.take(200)
        .nth(rng.range(0, 199) as usize)
        .map(|(_, _, flying)| flying.data.to_vec())
}

#[test]
fn random_octets() {
    let (world, attack) = under_attack(|attack, world| {
        let len = attack.rng.range(0, 200) as usize;
        let mut octets: Vec<u8> = (0..len).map(|_| attack.rng.number() as u8).collect();
        if len > 12 && attack.rng.percent(70) {
            octets[11] = 0x20 | octets[11] & 0x1f; // the right version
        }
        if len > 32 && attack.rng.percent(50) {
            octets[12..16].copy_from_slice(&(len as u32 - 32).to_be_bytes());
        }
        let src = if attack.rng.percent(50) {
            stranger()
        } else {
            world.net.address(0)
        };
        attack.throw(world, src, &octets);
    });
    check_replies(&world, &attack);
    let stats = [0, 1].map(|host| world.hosts[host].engine.view().stats());
    assert!(
        stats
            .iter()
            .all(|stats| stats.malformed > 0 && stats.bad_checksum > 0),
        "{stats:?}"
    );
}

#[test]
fn truncated_packets() {
    let (world, attack) = under_attack(|attack, world| {
        let Some(mut octets) = recent(world, &mut attack.rng) else {
            return;
        };
        let len = attack.rng.range(0, octets.len() as u64 - 1) as usize;
        octets.truncate(len);
        let src = world.net.address(attack.rng.range(0, 1) as usize);
        attack.throw(world, src, &octets);
    });
    check_replies(&world, &attack);
}

#[test]
fn flipped_bits() {
    for from_peer in [true, false] {
        let (world, attack) = under_attack(|attack, world| {
            let Some(mut octets) = recent(world, &mut attack.rng) else {
                return;
            };
            // One flip never passes the checksum.
            let bit = attack.rng.range(0, octets.len() as u64 * 8 - 1) as usize;
            octets[bit / 8] ^= 1 << (bit % 8);
            let src = if from_peer {
                world.net.address(attack.rng.range(0, 1) as usize)
            } else {
                stranger()
            };
            attack.throw(world, src, &octets);
        });
        check_replies(&world, &attack);
    }
}

/// The checksum made good again: what lies behind it is attacked.
#[test]
fn flipped_headers_with_a_good_checksum() {
    let (world, attack) = under_attack(|attack, world| {
        let Some(mut octets) = recent(world, &mut attack.rng) else {
            return;
        };
        for _ in 0..=attack.rng.range(0, 2) {
            // Key, options, lengths, sort: the numbers of a stream are the business of a thief who knows the key.
            let bit = attack.rng.range(8, 12 * 8 - 1) as usize;
            octets[bit / 8] ^= 1 << (bit % 8);
        }
        octets[0] ^= 0x10; // never a live key
        reseal(&mut octets);
        attack.throw(world, stranger(), &octets);
    });
    check_replies(&world, &attack);
    for host in [0, 1] {
        let stats = world.hosts[host].engine.view().stats();
        assert!(stats.contexts < 10_000 && stats.half_open <= 1_025, "{stats:?}");
    }
}

/// Writes the checksum anew, over whatever the option bits say.
fn reseal(octets: &mut [u8]) {
    octets[16] = 0;
    octets[17] = 0;
    let covered = if octets[8] & 0x40 != 0 {
        32.min(octets.len())
    } else {
        octets.len()
    };
    let words = octets[..covered]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low)));
    let mut sum = words.sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let check = !(sum as u16);
    octets[16..18].copy_from_slice(&check.to_be_bytes());
}

#[test]
fn replayed_packets_do_no_harm() {
    let (world, _) = under_attack(|attack, world| {
        let captured = world.net.captured.as_deref().unwrap_or_default();
        let place = attack.rng.range(0, captured.len() as u64 - 1) as usize;
        let (_, from, flying) = captured[place].clone();
        let src = world.net.address(from);
        attack.sent += flying.data.len() as u64;
        world.inject(1 - from, src, &flying.data);
    });
    assert_eq!(world.flows[0].accepted, 1);
}

#[test]
fn firsts_without_a_listener_are_refused_at_a_limited_rate() {
    let mut world = crate::common::pair();
    world.packet_limit = 1_000_000;
    for number in 0..1_000u32 {
        let mut flow = stream_flow(vec![send(50), Step::CloseWriter], vec![]);
        flow.start = MS * number;
        flow.listening = false;
        world.add_flow(flow);
    }
    world.run_for(SECOND);
    assert_eq!(world.failure, None);
    let captured = world.net.captured.iter().flatten();
    let replies = captured.filter(|(_, from, _)| *from == 1).count();
    assert!(
        (100..=201).contains(&replies),
        "{replies} replies to 1 000 FIRSTs in a second"
    );
    let refused =
        |task: &xtp_sim::app::Task| matches!(&task.outcome, Outcome::Closed(CloseReason::Refused(_)));
    assert!(world.tasks.iter().filter(|task| refused(task)).count() >= replies - 50);
    crate::common::finish(&mut world);
}
