//! Those who fall behind or come late fetch what they lack by associations of their own.

use crate::slow::{RATE, assert_whole, join, one_cut_off, one_late, options, three_receivers, write};
use crate::world::{ARRIVES, Copy, Fate, World, address, group, is_done};
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::group::{DropReason, GroupClose, MemberState, Slow, Target};
use xtp_wire::Format;

/// One is cut off for a second and a half: the others do not wait for it, and it gets the rest beside them.
#[test]
fn one_that_was_cut_off_catches_up() {
    let cut = Cell::new(false);
    let (mut world, cast, receivers) = one_cut_off(&cut, options(3), (800, 1_500));
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    let members = world.members(0, cast);
    assert!(members.iter().all(is_done), "{members:?}");
    let lagged = members
        .iter()
        .filter(|member| member.state == MemberState::Done(true));
    assert_eq!(lagged.count(), 1, "{members:?}");
    let firsts = world.counts.get(&(3, Format::First as u8)).copied().unwrap_or(0);
    assert!(firsts > 0, "it opened an association");
}

/// Whoever joins when half has left is whole in the end, too.
#[test]
fn one_that_comes_late_gets_the_beginning() {
    let (mut world, cast, receivers) = one_late(World::new(4, |_| ARRIVES), options(2), 2_000);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    assert!(world.members(0, cast).iter().all(is_done));
}

/// What one that comes late lacks is not repeated for everybody, however wide the window is: the others are done when they would
/// be without it.
#[test]
fn one_that_comes_late_costs_the_others_nothing() {
    let mut wide = options(2);
    wide.window = 4 << 20;
    let (mut world, cast, receivers) = one_late(World::new(4, |_| ARRIVES), wide, 1_000);
    world.run_for(Duration::from_millis(2_250));
    for (host, id) in &receivers[..2] {
        assert_whole(&world, *host, *id);
    }
    assert!(world.run());
    assert_whole(&world, 3, receivers[2].1);
    assert_eq!(world.counts.get(&(0, Format::Parity as u8)), None);
    assert!(world.members(0, cast).iter().all(is_done));
}

/// The group is over for the others, and END was lost to one who was cut off: it fetches the rest.
#[test]
fn one_that_slept_through_the_end_fetches_the_rest() {
    let cut = Cell::new(false);
    let (mut world, cast, receivers) = one_cut_off(&cut, options(3), (1_000, 8_000));
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    assert!(world.members(0, cast).iter().all(is_done));
}

/// What is no longer kept can not be fetched: the report says so, and so does the one that is out.
#[test]
fn what_is_no_longer_kept_ends_it() {
    let mut few = options(3);
    few.keep = 50_000;
    let cut = Cell::new(false);
    let (mut world, cast, receivers) = one_cut_off(&cut, few, (1_000, 2_500));
    assert!(world.run());
    for (host, id) in &receivers[..2] {
        assert_whole(&world, *host, *id);
    }
    let members = world.members(0, cast);
    let behind = MemberState::Dropped(DropReason::Behind);
    assert_eq!(
        members.iter().filter(|member| member.state == behind).count(),
        1,
        "{members:?}"
    );
    let lost = world.party(3, receivers[2].1);
    assert!(
        !matches!(lost.closed(), None | Some(GroupClose::Normal)),
        "{:?}",
        lost.closed()
    );
}

/// Nobody may fetch where the slow are dropped.
#[test]
fn where_the_slow_are_dropped_nobody_fetches() {
    let mut drop = options(3);
    drop.slow = Slow::Drop;
    let cut = Cell::new(false);
    let (mut world, _, receivers) = one_cut_off(&cut, drop, (1_000, 2_000));
    assert!(world.run());
    for (host, id) in &receivers[..2] {
        assert_whole(&world, *host, *id);
    }
    assert_eq!(world.counts.get(&(3, Format::First as u8)), None);
}

/// Whoever has everything is let go at once, even where the group waits for one that sleeps.
#[test]
fn those_who_are_done_wait_for_nobody() {
    let cut = Cell::new(false);
    let mut waits = options(3);
    waits.slow = Slow::Wait;
    // So wide that the others need not wait for it while something is still to be sent.
    waits.window = 1 << 20;
    let (mut world, cast, receivers) = three_receivers(&cut, waits);
    world.run_for(Duration::from_secs(1));
    cut.set(true);
    world.run_for(Duration::from_millis(2_250));
    for (host, id) in &receivers[..2] {
        assert_whole(&world, *host, *id);
    }
    assert_eq!(world.party(0, cast).closed(), None, "one is still waited for");
    cut.set(false);
    assert!(world.run());
    assert_whole(&world, 3, receivers[2].1);
    assert!(world.members(0, cast).iter().all(is_done));
}

/// While the group has something to send, who fetches gets a small share of its rate.
#[test]
fn who_fetches_takes_little_from_the_group() {
    let cut = Cell::new(false);
    let (mut world, _, receivers) = one_cut_off(&cut, options(3), (500, 1_000));
    world.tap = Some(Vec::new());
    let woke = world.now;
    while world.party(1, receivers[0].1).complete_at.is_none() {
        world.run_for(Duration::from_millis(5));
    }
    let span = world.now.since(woke);
    let fetched = world.tap.take().unwrap_or_default();
    let fetched = fetched.iter().filter(|sent| sent.dst == address(3));
    let octets: usize = fetched.map(|sent| sent.octets.len()).sum();
    let share = (RATE as f64 / 33.0 * span.as_secs_f64()) as usize;
    // What may leave at once, and packets that are none of the stream.
    let most = 2 * share + (40 << 10);
    assert!(span > Duration::from_secs(1), "{span:?}");
    assert!(
        (1..=most).contains(&octets),
        "{octets} in {span:?}, at most {most}"
    );
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
}

/// No more than eight fetch at a time; the others try again, and all are whole.
#[test]
fn no_more_than_eight_fetch_at_a_time() {
    let cut = Cell::new(false);
    let mut world = World::new(12, |copy: &Copy| {
        match cut.get() && (copy.to > 1 || copy.from > 1) {
            true => Fate::Lost,
            false => ARRIVES,
        }
    });
    let cast = world.cast(0, Target::Group(group(1)), options(11));
    let receivers: Vec<_> = (1..12).map(|host| (host, world.join(host, join()))).collect();
    write(&mut world, 0, cast);
    world.run_for(Duration::from_secs(1));
    cut.set(true);
    world.run_for(Duration::from_millis(1_200));
    cut.set(false);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    assert!(world.members(0, cast).iter().all(is_done));
    let refused = world.counts.get(&(0, Format::Diag as u8)).copied().unwrap_or(0);
    assert!((2..=200).contains(&refused), "{refused}");
}
