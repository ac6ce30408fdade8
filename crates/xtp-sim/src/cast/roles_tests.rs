//! Each part has an effect, and those it does not concern notice nothing.

use std::collections::BTreeSet;

use xtp_link::{LinkConfig, Loss};

use super::*;
use crate::cast::world::receiver_at;
use crate::cast::{GroupWorld, Reading, Target, Verdict};

/// Three receivers, nothing is lost, and nothing happens but this to one of them or to the transmitter.
fn played(at: Duration, what: Disturbance) -> GroupWorld {
    let mut plan = (1..)
        .map(CastPlan::draw)
        .find(|plan| {
            let plain = !plan.is_datagram && !plan.is_collected() && !plan.is_compared;
            let all = plan.options.require == Require::All && plan.options.expect == Some(3);
            plain && all && plan.target == Target::Group && plan.octets() > 20_000
        })
        .expect("some seed");
    plan.options.slow = Slow::CatchUp;
    plan.uplink.loss = Loss::None;
    for member in &mut plan.members {
        let quiet = LinkConfig {
            delay: Duration::from_millis(1),
            ..LinkConfig::default()
        };
        (member.down, member.up) = (quiet.clone(), quiet);
        member.reading = Reading::Fast;
        member.verdict = Verdict::Confirm {
            after: Duration::ZERO,
        };
        (member.socket_buffer, member.at, member.batch) = (4 << 20, Duration::ZERO, 16);
    }
    plan.troubles = vec![Trouble { at, what }];
    let mut world = GroupWorld::new(plan, 3).expect("a world");
    assert!(world.settle(world.limit()), "it is over");
    assert_eq!(world.failure, None);
    world.judge().expect("nothing is wrong");
    world
}

fn whole(world: &GroupWorld) -> Vec<bool> {
    let members = world.members.iter();
    members.map(|member| member.complete_at.is_some()).collect()
}

#[test]
fn one_that_is_deaf_to_large_packets_gets_nothing_and_costs_nobody_anything() {
    let deaf = |octets| Disturbance::Deaf {
        member: 1,
        octets,
        span: Duration::from_secs(60),
    };
    let world = played(Duration::ZERO, deaf(100));
    assert!(!world.members[1].found, "announcements are as long as data");
    assert_eq!(whole(&world), [true, false, true]);
    let world = played(Duration::ZERO, deaf(9_000));
    assert_eq!(whole(&world), [true; 3], "nothing is so long");
}

#[test]
fn a_carrier_that_takes_a_part_costs_repairs() {
    // Less than the patience: a member that stays behind for so long is dropped.
    let span = Duration::from_secs(2);
    let world = played(Duration::from_millis(1), Disturbance::TransmitterRefused { span });
    assert_eq!(whole(&world), [true; 3]);
    assert!(world.watch.repairs > 0, "something was thrown away");
}

#[test]
fn a_transmitter_that_slept_judges_nobody() {
    let span = Duration::from_secs(15);
    let world = played(Duration::from_millis(5), Disturbance::TransmitterPause { span });
    assert_eq!(whole(&world), [true; 3]);
    assert!(world.sender.dropped.is_empty());
    assert!(world.now > 15_000_000_000, "it did sleep");
}

#[test]
fn receivers_behind_one_address_are_told_apart() {
    let mut plans = (1..).map(CastPlan::of_roles);
    let plan = plans
        .find(|plan| {
            plan.members
                .iter()
                .filter(|member| member.beside.is_some())
                .count()
                > 1
        })
        .expect("some seed");
    let addresses: Vec<_> = (0..plan.members.len())
        .map(|member| plan.address_of(member, 0))
        .collect();
    let hosts: BTreeSet<_> = addresses.iter().map(|address| address.ip()).collect();
    assert_eq!(addresses.iter().collect::<BTreeSet<_>>().len(), addresses.len());
    assert!(hosts.len() < addresses.len() - 1, "three are behind one");
    for member in 0..addresses.len() {
        for instance in [0, 1] {
            assert_eq!(receiver_at(plan.address_of(member, instance)), Some(member));
        }
    }
}

/// Parts are drawn beside what a seed of groups draws, not in its place.
#[test]
fn what_a_seed_of_groups_draws_stays_what_it_was() {
    for seed in 1..200 {
        let (cast, roles) = (CastPlan::draw(seed), CastPlan::of_roles(seed));
        assert_eq!(cast.members.len(), roles.members.len());
        if !roles.is_compared {
            assert_eq!(cast.messages, roles.messages);
            assert_eq!(cast.troubles[..], roles.troubles[..cast.troubles.len()]);
        }
        assert!(cast.liar.is_none() && cast.members.iter().all(|member| member.beside.is_none()));
    }
}
