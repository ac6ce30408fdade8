//! Announcements that somebody made up.

use super::forge::View;
use super::scene::{Kind, STEP, join, message, options};
use crate::world::{ARRIVES, World, address, group};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupId, Target};
use xtp_wire::Format;

const SECOND: Duration = Duration::from_secs(1);

/// Runs for so long; meanwhile announcements of transmitters that are not there come, each of another one.
fn flood(world: &mut World<'_>, span: Duration) -> u64 {
    let end = world.now + span;
    let mut made = 0;
    while world.now < end {
        world.run_for(STEP);
        made += 1;
        let forged = View {
            key: made,
            ..View::default()
        };
        let liar = SocketAddr::from(([10, 9, (made >> 8) as u8, made as u8], 36_036));
        world.inject(liar, group(1), &forged.to_group()[0]);
    }
    made
}

fn joins(world: &World<'_>, host: usize) -> usize {
    world
        .counts
        .get(&(host, Format::Jcntl as u8))
        .copied()
        .unwrap_or(0)
}

fn transmit(world: &mut World<'_>, receivers: u32) -> GroupId {
    let mut options = options(Kind::Coded);
    options.expect = Some(receivers);
    let cast = world.cast(0, Target::Group(group(1)), options);
    world.write(0, cast, &message(), true);
    let now = world.now;
    world.engine(0).group_finish(now, cast).unwrap();
    cast
}

/// Nobody else is there: one join a second leaves each receiver, however many are announced.
#[test]
fn they_cost_one_join_a_second() {
    let mut world = World::new(3, |_| ARRIVES);
    let receivers = [1, 2].map(|host| (host, world.join(host, join())));
    let made = flood(&mut world, 10 * SECOND);
    assert_eq!(made, 2_000);
    for (host, id) in receivers {
        assert!((8..=11).contains(&joins(&world, host)), "{}", joins(&world, host));
        assert_eq!(world.party(host, id).closed(), None, "it listens on");
    }
}

/// A receiver that says whom it wants to hear does not notice them.
#[test]
fn who_names_its_source_hears_no_other() {
    let run = |attacked: bool| {
        let mut world = World::new(2, |_| ARRIVES);
        let mut join = join();
        join.source = Some(address(0).ip());
        let id = world.join(1, join);
        transmit(&mut world, 1);
        if attacked {
            flood(&mut world, 2 * SECOND);
        }
        assert!(world.run());
        let party = world.party(1, id);
        assert_eq!(party.octets, message());
        (party.complete_at, party.closed_at, joins(&world, 1))
    };
    assert_eq!(run(true), run(false));
}

/// One that hears whoever comes first may be kept from joining while they come, and no longer than a second beyond that.
#[test]
fn when_they_are_over_the_true_one_is_joined() {
    let run = |attacked: Duration| {
        let mut world = World::new(2, |_| ARRIVES);
        let id = world.join(1, join());
        flood(&mut world, attacked);
        transmit(&mut world, 1);
        let began = world.now;
        assert!(world.run());
        let party = world.party(1, id);
        assert_eq!(party.octets, message());
        assert_eq!(party.closed(), Some(&GroupClose::Normal));
        party.complete_at.expect("it is whole").since(began)
    };
    let (quiet, attacked) = (run(Duration::ZERO), run(3 * SECOND));
    let bound = quiet + SECOND + 2 * Duration::from_millis(250);
    assert!(attacked <= bound, "{attacked:?} instead of {quiet:?}");
}

/// Whoever is a member is not kept from anything.
#[test]
fn members_do_not_notice_them() {
    let run = |attacked: bool| {
        let mut world = World::new(3, |_| ARRIVES);
        let receivers = [1, 2].map(|host| (host, world.join(host, join())));
        transmit(&mut world, 2);
        world.run_for(SECOND / 10);
        if attacked {
            flood(&mut world, SECOND / 2);
        }
        assert!(world.run());
        let parties = receivers.map(|(host, id)| world.party(host, id));
        parties.map(|party| {
            assert_eq!(party.octets, message());
            (party.complete_at, party.closed_at)
        })
    };
    assert_eq!(run(true), run(false));
}

/// Made-up transmitters from more hosts than a listener has places cost a join a second for each place. Those that are heard are not put out, and
/// a true one gets a place a second after they are over.
#[test]
fn a_listener_is_not_filled_by_those_who_do_not_answer() {
    let mut world = World::new(4, |_| ARRIVES);
    let mut listening = join();
    listening.at_once = 4;
    let listener = world.listen(1, listening);
    let first = world.cast(2, Target::Group(group(1)), options(Kind::Coded));
    world.run_for(SECOND / 10);
    assert_eq!(world.heard(1, listener).len(), 1);
    let before = joins(&world, 1);
    flood(&mut world, 10 * SECOND);
    let cost = joins(&world, 1) - before;
    assert!(
        (20..=33).contains(&cost),
        "{cost} joins of three places in ten seconds"
    );
    assert_eq!(world.heard(1, listener).len(), 1, "the user hears nothing of it");
    transmit(&mut world, 1);
    world.run_for(SECOND + SECOND / 2);
    let heard = world.heard(1, listener);
    assert_eq!(heard.len(), 2);
    world.run_for(5 * SECOND);
    assert_eq!(world.party(1, heard[1]).octets, message());
    assert_eq!(world.members(2, first).len(), 1);
}
