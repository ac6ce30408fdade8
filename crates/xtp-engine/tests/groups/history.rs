//! What a transmitter no longer keeps its user gives back: whoever is behind or late becomes whole by that.

use crate::slow::{self, MESSAGE, assert_whole, octets, one_cut_off, one_late};
use crate::world::{ARRIVES, Copy, Fate, World, group, is_done};
use bytes::Bytes;
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::group::{
    BucketOptions, DropReason, GroupClose, HistoryItem, MemberState, Mode, Target, TransmitterOptions,
};

/// Far less than what who is late lacks.
const KEEP: u64 = 20_000;

fn options(expect: u32) -> TransmitterOptions {
    let mut options = slow::options(expect);
    options.keep = KEEP;
    options.history = true;
    options
}

/// What stands at a position of that stream, `most` octets of it at most.
fn past(position: u64, most: usize) -> Option<HistoryItem> {
    let (whole, mut at) = (octets(), 0);
    for (number, part) in whole.chunks(MESSAGE).enumerate() {
        if number % 3 == 0 {
            if at == position {
                return Some(HistoryItem::Tag(number as u64));
            }
            at += 8;
        }
        if (at..at + part.len() as u64).contains(&position) {
            let rest = &part[(position - at) as usize..];
            return Some(HistoryItem::Octets {
                bytes: Bytes::copy_from_slice(&rest[..rest.len().min(most)]),
                end_of_message: rest.len() <= most,
            });
        }
        at += part.len() as u64;
    }
    panic!("nothing was sent at {position}")
}

/// Two from the beginning, and one that comes when two thirds have left.
fn one_comes_late(options: TransmitterOptions, history: impl FnMut(u64, usize) -> Option<HistoryItem>) {
    let asked = Cell::new(0_u64);
    let mut history = history;
    let mut world = World::new(4, |_| ARRIVES);
    world.remember(|position, most| {
        asked.set(asked.get() + 1);
        history(position, most)
    });
    let (mut world, cast, receivers) = one_late(world, options, 2_000);
    assert_eq!(asked.get(), 0, "who is not late gets nothing from the past");
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    let members = world.members(0, cast);
    assert!(members.iter().all(is_done), "{members:?}");
    assert!(asked.get() > 0);
}

#[test]
fn one_that_comes_late_gets_what_is_no_longer_kept() {
    one_comes_late(options(2), past);
}

/// Its user gives a few octets at a time, and more than was asked for.
#[test]
fn pieces_of_any_size() {
    let mut number = 0;
    one_comes_late(options(2), |position, most| {
        number += 1;
        past(position, [1, 100, 5_000, most, 3 * most][number % 5])
    });
}

/// Without parity, and where members answer to the whole group.
#[test]
fn other_modes_have_a_past() {
    let mut plain = options(2);
    plain.fec = None;
    one_comes_late(plain.clone(), past);
    plain.mode = Mode::Bucket(BucketOptions::default());
    one_comes_late(plain, past);
}

#[test]
fn one_that_was_cut_off_gets_what_is_no_longer_kept() {
    let cut = Cell::new(false);
    let (mut world, cast, receivers) = one_cut_off(&cut, options(3), (1_000, 2_500));
    world.remember(past);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    assert!(world.members(0, cast).iter().all(is_done));
}

/// The only one that held the window is switched off while one that came late still fetches, and has no room for what the group sends:
/// when that has what lies below its `live`, the group does not keep what follows any more.
#[test]
fn one_that_is_left_gets_what_is_no_longer_kept() {
    for fec in [None, options(1).fec] {
        let off = Cell::new(false);
        let mut world = World::new(3, |copy: &Copy| {
            match off.get() && [copy.to, copy.from].contains(&1) {
                true => Fate::Lost,
                false => ARRIVES,
            }
        });
        world.remember(past);
        let mut options = options(1);
        options.fec = fec;
        options.patience = Duration::from_secs(5);
        let cast = world.cast(0, Target::Group(group(1)), options);
        world.join(1, slow::join());
        slow::write(&mut world, 0, cast);
        world.run_for(Duration::from_secs(1));
        let mut join = slow::join();
        join.capacity = 30_000;
        let late = world.join(2, join);
        world.run_for(Duration::from_secs(1));
        off.set(true);
        assert!(world.run(), "{:?}", world.members(0, cast));
        assert_whole(&world, 2, late);
    }
}

/// A user that does not have it says so: who lacks it is out, and hears why.
#[test]
fn a_past_that_is_lost() {
    let nothing = HistoryItem::from(Bytes::new());
    for answer in [None, Some(nothing)] {
        let mut world = World::new(4, |_| ARRIVES);
        world.remember(move |_, _| answer.clone());
        let (mut world, cast, receivers) = one_late(world, options(2), 2_000);
        assert!(world.run());
        for (host, id) in &receivers[..2] {
            assert_whole(&world, *host, *id);
        }
        let members = world.members(0, cast);
        assert_eq!(
            members[2].state,
            MemberState::Dropped(DropReason::Behind),
            "{members:?}"
        );
        let closed = world.party(3, receivers[2].1).closed();
        assert!(!matches!(closed, None | Some(GroupClose::Normal)), "{closed:?}");
    }
}
