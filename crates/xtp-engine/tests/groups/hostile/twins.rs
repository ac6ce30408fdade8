//! Joins under the name of a member, from another address (§9.10).

use super::forge::{View, speak};
use super::scene::{KINDS, Kind, STEP, join, message, options, outside};
use crate::world::{ARRIVES, Fate, World, address, group, is_done};
use std::cell::Cell;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupId, ReceiverOptions, Target};
use xtp_wire::{Control, Options, ToTransmitter};

const SECOND: Duration = Duration::from_secs(1);

fn named(name: &str) -> ReceiverOptions {
    let mut join = join();
    join.name = name.to_owned();
    join
}

/// A transmitter to two members that has sent a little, and goes on.
fn begin(world: &mut World<'_>, kind: Kind) -> (GroupId, [GroupId; 2]) {
    let mut options = options(kind);
    options.expect = Some(2);
    let cast = world.cast(0, Target::Group(group(1)), options);
    let members = [(1, "one"), (2, "two")].map(|(host, name)| world.join(host, named(name)));
    world.run_for(SECOND);
    world.write(0, cast, &message()[..1_000], false);
    world.run_for(SECOND);
    (cast, members)
}

fn end(world: &mut World<'_>, cast: GroupId) {
    world.write(0, cast, &message()[1_000..], true);
    let now = world.now;
    world.engine(0).group_finish(now, cast).unwrap();
    assert!(world.run());
}

/// A program at `from` joins as "one" again and again, by keys of its own, or by one; where it `proves` its address, it says of each place
/// that it is given that it has everything so far.
fn pose(world: &mut World<'_>, from: SocketAddr, is_new: bool, proves: bool) {
    for turn in 0..500 {
        world.run_for(4 * STEP);
        let view = View::of(world.tap.as_deref().unwrap());
        let key = if is_new { 5 + turn } else { 5 };
        let forged = view.join(key, "one", Options::empty());
        world.inject(from, address(0), &forged);
        for told in view.members.iter().filter(|told| proves && told.at == from) {
            let control = Control {
                rseq: view.position,
                alloc: 1 << 40,
                echo: view.sync,
            };
            let said = speak(
                *told,
                turn as u32,
                ToTransmitter::Status(control),
                Options::empty(),
            );
            world.inject(from, address(0), &said);
        }
    }
}

#[test]
fn a_member_keeps_its_place_from_a_twin() {
    for kind in KINDS {
        for (is_new, proves) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut world = World::new(3, |_| ARRIVES);
            world.tap = Some(Vec::new());
            let (cast, members) = begin(&mut world, kind);
            pose(&mut world, outside(), is_new, proves);
            end(&mut world, cast);
            for (host, id) in [1, 2].into_iter().zip(members) {
                let party = world.party(host, id);
                assert_eq!(party.octets, message(), "{kind:?}, {proves}");
                assert_eq!(party.closed(), Some(&GroupClose::Normal));
            }
            let reports = world.members(0, cast);
            assert_eq!(reports.len(), 2, "{reports:?}");
            assert!(reports.iter().all(is_done), "{reports:?}");
        }
    }
}

/// The program that had the name is gone without a word: it is asked for two seconds, and the place is free.
#[test]
fn a_receiver_that_moved_has_its_place_again() {
    let is_gone = Cell::new(false);
    let mut world = World::new(4, |copy| {
        match is_gone.get() && (copy.from == 1 || copy.to == 1) {
            true => Fate::Lost,
            false => ARRIVES,
        }
    });
    let (cast, [old, other]) = begin(&mut world, Kind::Coded);
    is_gone.set(true);
    let new = world.join(3, named("one"));
    world.run_for(3 * SECOND);
    assert!(world.members(0, cast).iter().any(|one| one.address == address(3)));
    world.write(0, cast, &message()[1_000..], true);
    let now = world.now;
    world.engine(0).group_finish(now, cast).unwrap();
    world.run_for(10 * SECOND);
    assert_eq!(world.party(0, cast).closed(), Some(&GroupClose::Normal));
    for (host, id) in [(3, new), (2, other)] {
        assert_eq!(world.party(host, id).octets, message());
    }
    assert_ne!(world.party(1, old).octets, message());
}
