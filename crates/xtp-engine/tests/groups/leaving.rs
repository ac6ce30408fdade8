//! Users that leave while an association of their party fetches, or waits to: nothing of it is left, and the driver rests.

use crate::slow::{join, options, write};
use crate::world::{ARRIVES, Copy, Fate, World, group};
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::group::{GroupId, Target};

/// Receivers that are cut off for a while.
const LATE: [usize; 2] = [2, 3];

/// Two of three receivers were cut off and want to fetch what they missed; the transmitter has a place for one association.
fn two_who_fetch(cut: &Cell<bool>) -> (World<'_>, GroupId, [GroupId; 3]) {
    let judge = |copy: &Copy| match cut.get() && LATE.iter().any(|host| [copy.to, copy.from].contains(host)) {
        true => Fate::Lost,
        false => ARRIVES,
    };
    let mut world = World::with(4, |config| config.max_contexts = 1, judge);
    let cast = world.cast(0, Target::Group(group(1)), options(3));
    let receivers = [1, 2, 3].map(|host| world.join(host, join()));
    write(&mut world, 0, cast);
    world.run_for(Duration::from_millis(500));
    cut.set(true);
    world.run_for(Duration::from_millis(1_000));
    cut.set(false);
    world.run_for(Duration::from_millis(500));
    assert_eq!(world.associations(0), 1, "one of them fetches");
    (world, cast, receivers)
}

/// The user of a receiver whose catch-up was refused leaves before it is tried again.
#[test]
fn who_leaves_before_it_fetches_again_leaves_nothing_to_do() {
    let cut = Cell::new(false);
    let (mut world, _, receivers) = two_who_fetch(&cut);
    for host in LATE {
        world.release(host, receivers[host - 1]);
    }
    // The last word of one that fetched is kept for a minute.
    world.run_for(Duration::from_secs(70));
    for host in LATE {
        assert_eq!(world.driver(host).deadline(), None, "host {host}");
    }
}

/// A receiver's user leaves while an association fetches for it: that one ends as well, at both ends.
#[test]
fn who_leaves_while_it_fetches_leaves_no_association() {
    let cut = Cell::new(false);
    let (mut world, _, receivers) = two_who_fetch(&cut);
    for host in LATE {
        world.release(host, receivers[host - 1]);
    }
    world.run_for(Duration::from_secs(2));
    assert_eq!([0, 2, 3].map(|host| world.associations(host)), [0; 3]);
}

/// The transmitter's user leaves while somebody fetches: the association ends at both ends, and nobody turns for nothing.
#[test]
fn a_transmitter_that_leaves_supplies_nobody() {
    let cut = Cell::new(false);
    let (mut world, cast, _) = two_who_fetch(&cut);
    world.release(0, cast);
    world.run_for(Duration::from_secs(2));
    assert_eq!([0, 2, 3].map(|host| world.associations(host)), [0; 3]);
    let now = world.now;
    assert!(world.driver(0).deadline().is_none_or(|at| at > now));
}

/// The answer to a wish for history comes when the transmitter is gone.
#[test]
fn an_answer_that_comes_too_late_is_nothing_to_do() {
    let cut = Cell::new(false);
    let mut few = options(3);
    few.keep = 50_000;
    few.history = true;
    let judge = |copy: &Copy| match cut.get() && (copy.to == 3 || copy.from == 3) {
        true => Fate::Lost,
        false => ARRIVES,
    };
    let mut world = World::new(4, judge);
    let cast = world.cast(0, Target::Group(group(1)), few);
    let _ = [1, 2, 3].map(|host| world.join(host, join()));
    write(&mut world, 0, cast);
    world.run_for(Duration::from_millis(500));
    cut.set(true);
    world.run_for(Duration::from_millis(1_000));
    cut.set(false);
    world.run_for(Duration::from_millis(1_000));
    let wish = world
        .unanswered
        .take()
        .expect("it is asked for what is no longer kept");
    world.release(0, cast);
    world.run_for(Duration::from_secs(2));
    let now = world.now;
    world.driver(0).history(&wish, None);
    world.run_for(Duration::from_secs(1));
    assert!(!world.driver(0).is_pressing(now));
}
