//! Each rule of the judge can fail: a group that went well, and one thing that was seen is made another.

use std::time::Duration;

use xtp_engine::Confirm;
use xtp_engine::group::{DropReason, GroupClose, GroupEvent, MemberState, Require};
use xtp_link::{LinkConfig, Loss};

use super::*;
use crate::cast::{CastPlan, Disturbance, Trouble};

const SEED: u64 = 3;

/// Three receivers, of which nobody has any trouble but what `change` does.
fn played(change: impl FnOnce(&mut CastPlan)) -> GroupWorld {
    let mut plan = (1..)
        .map(CastPlan::draw)
        .find(|plan| {
            let plain = !plan.is_datagram && !plan.is_collected() && !plan.is_compared;
            let all = plan.options.require == Require::All && plan.options.expect == Some(3);
            plain && all && plan.target == Target::Group && plan.octets() > 20_000
        })
        .expect("some seed");
    plan.troubles.clear();
    plan.uplink.loss = Loss::None;
    for member in &mut plan.members {
        let quiet = LinkConfig {
            delay: Duration::from_millis(1),
            ..LinkConfig::default()
        };
        (member.down, member.up) = (quiet.clone(), quiet);
        member.reading = crate::cast::Reading::Fast;
        member.verdict = Verdict::Confirm {
            after: Duration::ZERO,
        };
        member.socket_buffer = 4 << 20;
        member.at = Duration::ZERO;
    }
    change(&mut plan);
    let mut world = GroupWorld::new(plan, SEED).expect("a world");
    assert!(world.settle(world.limit()), "it is over");
    assert_eq!(world.failure, None);
    world
}

fn wrong(mut world: GroupWorld, what: &str) {
    let said = world.judge().expect_err(what);
    assert!(said.contains(what), "{said}");
}

#[test]
fn a_group_that_went_well_is_not_blamed() {
    let excused = played(|_| {}).judge().expect("nothing is wrong");
    assert!(excused.is_empty(), "{excused:?}");
}

#[test]
fn who_has_not_everything_says_nothing_else() {
    let mut world = played(|_| {});
    world.members[1].check.next -= 1;
    wrong(world, "says that all is well");
    let mut world = played(|_| {});
    world.members[1].check.next -= 1;
    world.members[1].now.closed = Some((world.now, GroupClose::TransmitterLost));
    wrong(world, "is not whole");
}

/// It confirms before it has read everything, which its transmitter does not ask for.
#[test]
fn a_slow_reader_is_not_judged_before_it_has_read() {
    let mut world = played(|plan| {
        let octets = plan.octets() as usize;
        plan.options.confirm = Confirm::Received;
        plan.members[1].join.capacity = 2 * octets as u64;
        plan.members[1].join.confirm = Confirm::Received;
        plan.members[1].reading = crate::cast::Reading::Slow {
            octets: octets / 50,
            every: Duration::from_millis(100),
        };
    });
    let (ended, _) = world.members[1].now.closed.clone().expect("it is over");
    assert!(world.now > ended + nanos(Duration::from_secs(2)));
    world.judge().expect("nothing is wrong");
}

/// Whether what a member that was cut off for a second lacks is excused, if it is out so much later.
fn is_excused(loss: Loss, after: Duration) -> bool {
    let mut world = played(|_| {});
    let address = world.members[1].now.address;
    let mut reports = world.sender.reports.iter();
    let report = reports
        .find(|report| report.address == address)
        .expect("it joined");
    let out = nanos(2 * MARGIN + Duration::from_secs(1) + after);
    world
        .sender
        .dropped
        .insert(report.member, (out, DropReason::TooSlow));
    world.members[1].plan.up.loss = loss;
    world.plan.troubles = vec![Trouble {
        at: 2 * MARGIN,
        what: Disturbance::Cut {
            member: 1,
            span: Duration::from_secs(1),
        },
    }];
    world.excuses(1).contains(&"came back late, and loses packets")
}

#[test]
fn who_has_no_time_for_a_third_first_is_excused() {
    let loss = Loss::Random(0.05);
    assert!(is_excused(loss, Duration::from_secs(3)));
    assert!(!is_excused(loss, Duration::from_secs(4)));
    assert!(!is_excused(Loss::None, Duration::from_secs(3)));
}

#[test]
fn who_ends_ends_in_time() {
    let mut world = played(|_| {});
    let late = world.now + nanos(world.limit());
    world.members[0].now.closed = Some((late, GroupClose::Normal));
    wrong(world, "ended long after its transmitter");
    let mut world = played(|_| {});
    world.sender.closed = Some((late, GroupClose::Normal));
    wrong(world, "after everything was over");
    let mut world = played(|_| {});
    world.sender.closed = Some((world.now, GroupClose::TransmitterLost));
    wrong(world, "the transmitter ended");
}

#[test]
fn a_report_says_what_is_so() {
    for (state, what) in [
        (MemberState::Holder, "its member is open"),
        (
            MemberState::Dropped(DropReason::Unreachable),
            "out for a reason that does not hold",
        ),
        (
            MemberState::Dropped(DropReason::Rejected),
            "out for a reason that does not hold",
        ),
        (
            MemberState::Dropped(DropReason::Replaced),
            "out for a reason that does not hold",
        ),
        (
            MemberState::Dropped(DropReason::Behind),
            "out for a reason that does not hold",
        ),
    ] {
        let mut world = played(|_| {});
        world.sender.reports[1].state = state;
        wrong(world, what);
    }
}

/// Whoever is told to be done has everything: the receiver's program is another one by then.
#[test]
fn nobody_is_done_without_everything() {
    let mut world = played(|_| {});
    let done = world.sender.reports[0].member;
    let at = world.sender.reports[0].address;
    assert_eq!(world.news_of(&[GroupEvent::Done(done)]), None);
    let mut members = world.members.iter_mut();
    let one = members.find(|member| member.now.address == at).expect("a member");
    one.now.closed = None;
    one.now.had -= 1;
    one.left = true;
    let said = world.news_of(&[GroupEvent::Done(done)]).expect("it is not");
    assert!(said.contains("is said to be done and has"), "{said}");
}

/// What the program before said that had its address is read when the next one runs there, which has read nothing.
#[test]
fn who_is_done_may_have_been_started_again() {
    let mut world = played(|plan| plan.options.confirm = Confirm::Delivered);
    let done = world.sender.reports[0].member;
    let at = world.sender.reports[0].address;
    let mut members = world.members.iter_mut();
    let one = members.find(|member| member.now.address == at).expect("a member");
    one.now.confirmed = false;
    let next = crate::cast::member::ProgramRun {
        had: 0,
        read: 0,
        ..one.now.clone()
    };
    one.before.push(core::mem::replace(&mut one.now, next));
    one.check.next = 0;
    one.left = true;
    assert_eq!(world.news_of(&[GroupEvent::Done(done)]), None);
    let before = world.members.iter_mut().flat_map(|member| &mut member.before);
    before.for_each(|run| run.read -= 1);
    let said = world
        .news_of(&[GroupEvent::Done(done)])
        .expect("it had not read all");
    assert!(said.contains("its user has read"), "{said}");
}

/// Its stream may begin where the transmitter's ends; its user reads later and has not heard of it.
#[test]
fn who_is_done_and_came_last_has_nothing_to_read() {
    let mut world = played(|plan| plan.options.confirm = Confirm::Delivered);
    let done = world.sender.reports[0].member;
    let at = world.sender.reports[0].address;
    let mut members = world.members.iter_mut();
    let one = members.find(|member| member.now.address == at).expect("a member");
    one.now.confirmed = false;
    (one.check.next, one.begins_anywhere) = (0, true);
    assert_eq!(world.news_of(&[GroupEvent::Done(done)]), None);
}

#[test]
fn repairs_beyond_the_bound_are_too_many() {
    let mut world = played(|plan| {
        for member in &mut plan.members {
            member.down.loss = Loss::Random(0.03);
        }
    });
    world.judge().expect("nothing is wrong");
    let bound = information_bound(&world);
    world.watch.repairs = bound + bound / 4 + 40;
    // Unasked rows and symbols with many marks have their own allowance.
    world.plan.options.fec = None;
    wrong(world, "packets repaired where");
}

#[test]
fn who_is_healthy_is_not_held_up() {
    let mut world = played(|plan| {
        plan.options.slow = Slow::CatchUp;
        plan.troubles.push(Trouble {
            at: Duration::from_millis(30),
            what: Disturbance::Pause {
                member: 2,
                span: Duration::from_millis(300),
            },
        });
    });
    world.compare_with_calm(SEED).expect("nobody is");
    let healthy = &mut world.members[0];
    healthy.complete_at = healthy.complete_at.map(|at| at + 60_000_000_000);
    let said = world.compare_with_calm(SEED).expect_err("it is");
    assert!(said.contains("held up by others"), "{said}");
}
