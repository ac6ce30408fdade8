//! What a transmitter no longer keeps its user gives back: whoever is behind or late becomes whole by that.

use crate::world::{ARRIVES, Copy, Fate, World, group, is_done};
use bytes::Bytes;
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::Rate;
use xtp_engine::group::{
    BucketOptions, CastOptions, DropReason, GroupClose, GroupId, HistoryItem, JoinOptions, MemberState, Mode,
    Target,
};

/// Octets of the stream, tags apart: some seconds at [`RATE`].
const LEN: usize = 600_000;
const RATE: u64 = 200_000;
/// Far less than what who is late lacks.
const KEEP: u64 = 20_000;
/// Octets of a message; a tag stands before each third.
const MESSAGE: usize = 7_777;

fn octets() -> Vec<u8> {
    (0..LEN)
        .map(|place| (place / 5) as u8 ^ (place >> 10) as u8)
        .collect()
}

fn options(expect: u32) -> CastOptions {
    let mut options = CastOptions::default();
    options.expect = Some(expect);
    options.rate = Rate {
        octets_per_second: RATE,
        burst: 16 << 10,
    };
    options.window = 256 << 10;
    options.keep = KEEP;
    options.history = true;
    options
}

fn join() -> JoinOptions {
    let mut join = JoinOptions::default();
    join.group = Some(group(1));
    join
}

fn write(world: &mut World<'_>, host: usize, id: GroupId) {
    let (whole, now) = (octets(), world.now);
    for (number, part) in whole.chunks(MESSAGE).enumerate() {
        if number % 3 == 0 {
            world.engine(host).group_tag(now, id, number as u64).unwrap();
        }
        world.write(host, id, part, true);
    }
    world.engine(host).group_finish(now, id).unwrap();
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

fn assert_whole(world: &World<'_>, host: usize, id: GroupId) {
    let party = world.party(host, id);
    assert!(party.octets == octets(), "the octets of host {host}");
    let ends = (1..=LEN.div_ceil(MESSAGE)).map(|part| (part * MESSAGE).min(LEN));
    assert!(party.ends.iter().copied().eq(ends), "{:?}", party.ends);
    let tags = (0..LEN.div_ceil(MESSAGE)).step_by(3);
    assert!(
        party
            .tags
            .iter()
            .copied()
            .eq(tags.map(|part| (part * MESSAGE, part as u64)))
    );
    assert_eq!(party.closed(), Some(&GroupClose::Normal));
}

/// Nothing reaches host 3, and nothing comes of it, while `cut` is set.
fn unless_cut(cut: &Cell<bool>) -> impl FnMut(&Copy) -> Fate + '_ {
    |copy| match cut.get() && (copy.to == 3 || copy.from == 3) {
        true => Fate::Lost,
        false => ARRIVES,
    }
}

/// Two from the beginning, and one that comes when two thirds have left.
fn one_comes_late(options: CastOptions, history: impl FnMut(u64, usize) -> Option<HistoryItem>) {
    let asked = Cell::new(0_u64);
    let mut history = history;
    let mut world = World::new(4, |_| ARRIVES);
    world.remember(|position, most| {
        asked.set(asked.get() + 1);
        history(position, most)
    });
    let cast = world.cast(0, Target::Group(group(1)), options);
    let mut receivers = vec![(1, world.join(1, join())), (2, world.join(2, join()))];
    write(&mut world, 0, cast);
    world.run_for(Duration::from_secs(2));
    assert_eq!(asked.get(), 0, "who is not late gets nothing from the past");
    receivers.push((3, world.join(3, join())));
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
    let mut world = World::new(4, unless_cut(&cut));
    world.remember(past);
    let cast = world.cast(0, Target::Group(group(1)), options(3));
    let receivers = [1, 2, 3].map(|host| (host, world.join(host, join())));
    write(&mut world, 0, cast);
    world.run_for(Duration::from_secs(1));
    cut.set(true);
    world.run_for(Duration::from_millis(2_500));
    cut.set(false);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id);
    }
    assert!(world.members(0, cast).iter().all(is_done));
}

/// A user that does not have it says so: who lacks it is out, and hears why.
#[test]
fn a_past_that_is_lost() {
    let nothing = HistoryItem::from(Bytes::new());
    for answer in [None, Some(nothing)] {
        let mut world = World::new(4, |_| ARRIVES);
        world.remember(move |_, _| answer.clone());
        let cast = world.cast(0, Target::Group(group(1)), options(2));
        let receivers = [(1, world.join(1, join())), (2, world.join(2, join()))];
        write(&mut world, 0, cast);
        world.run_for(Duration::from_secs(2));
        let late = world.join(3, join());
        assert!(world.run());
        for (host, id) in receivers {
            assert_whole(&world, host, id);
        }
        let members = world.members(0, cast);
        assert_eq!(
            members[2].state,
            MemberState::Dropped(DropReason::Behind),
            "{members:?}"
        );
        let closed = world.party(3, late).closed();
        assert!(!matches!(closed, None | Some(GroupClose::Normal)), "{closed:?}");
    }
}
