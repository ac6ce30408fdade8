//! Where the ranges end that somebody fetches (§9.7): a tag that begins in one comes whole, and is put where it belongs.

use crate::slow::{self, join};
use crate::world::{ARRIVES, World, group, is_done};
use bytes::Bytes;
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupId, HistoryItem, Target, TransmitterOptions};
use xtp_wire::Format;

/// For so much the receiver that comes late has room: there its first range ends, or a little beyond.
const ROOM: u64 = 30_000;
/// From there on tags stand close together, so many of them, with so many octets after each.
const DENSE: usize = 60;
const AFTER_TAG: usize = 5;
/// From one tag to the next.
const APART: u64 = 8 + AFTER_TAG as u64;

/// Tags, each with the octets after it.
fn parts() -> Vec<(Option<u64>, usize)> {
    let dense = (1..=DENSE as u64).map(|tag| (Some(tag), AFTER_TAG));
    [(None, ROOM as usize - 40)]
        .into_iter()
        .chain(dense)
        .chain([(None, 500_000)])
        .collect()
}

fn octet(place: usize) -> u8 {
    (place / 3) as u8 ^ (place >> 9) as u8
}

fn write(world: &mut World<'_>, id: GroupId) {
    let (now, mut at) = (world.now, 0);
    for (tag, len) in parts() {
        if let Some(tag) = tag {
            world.engine(0).group_tag(now, id, tag).unwrap();
        }
        let part: Vec<u8> = (at..at + len).map(octet).collect();
        world.write(0, id, &part, true);
        at += len;
    }
    world.engine(0).group_finish(now, id).unwrap();
}

/// What stands at a position of that stream.
fn past(position: u64, most: usize) -> Option<HistoryItem> {
    let (mut at, mut place) = (0, 0);
    for (tag, len) in parts() {
        if let Some(tag) = tag {
            if at == position {
                return Some(HistoryItem::Tag(tag));
            }
            at += 8;
        }
        let end = at + len as u64;
        if (at..end).contains(&position) {
            let begin = place + (position - at) as usize;
            let count = most.min((end - position) as usize);
            return Some(HistoryItem::Octets {
                bytes: (begin..begin + count).map(octet).collect::<Vec<_>>().into(),
                end_of_message: position + count as u64 == end,
            });
        }
        (at, place) = (end, place + len);
    }
    panic!("nothing begins at {position}")
}

#[track_caller]
fn assert_whole(world: &World<'_>, host: usize, id: GroupId) {
    let party = world.party(host, id);
    let len: usize = parts().iter().map(|(_, len)| len).sum();
    assert!(
        party.octets.iter().copied().eq((0..len).map(octet)),
        "host {host}: {} of {len}, {:?}",
        party.octets.len(),
        party.events
    );
    assert_eq!(party.ends.len(), parts().len());
    let tags = (0..DENSE).map(|number| (ROOM as usize - 40 + number * AFTER_TAG, number as u64 + 1));
    assert!(party.tags.iter().copied().eq(tags), "{:?}", party.tags);
    assert_eq!(party.closed(), Some(&GroupClose::Normal));
}

/// One from the beginning, and one that comes two seconds later with so much room.
fn one_late(options: TransmitterOptions, room: u64) -> (World<'static>, GroupId, [(usize, GroupId); 2]) {
    let mut world = World::new(3, |_| ARRIVES);
    world.remember(past);
    let cast = world.cast(0, Target::Group(group(1)), options);
    let first = (1, world.join(1, join()));
    write(&mut world, cast);
    world.run_for(Duration::from_secs(2));
    let mut late = join();
    late.capacity = room;
    let late = (2, world.join(2, late));
    (world, cast, [first, late])
}

/// Wherever a range ends: before a tag, after it, or within.
#[test]
fn a_tag_across_the_end_of_a_range_is_whole() {
    for has_history in [false, true] {
        let mut options = slow::options(1);
        options.history = has_history;
        if has_history {
            options.keep = 0;
        }
        for more in 0..APART {
            let (mut world, cast, receivers) = one_late(options.clone(), ROOM + more);
            assert!(world.run(), "{more} {has_history}: {:?}", world.members(0, cast));
            for (host, id) in receivers {
                assert_whole(&world, host, id);
            }
            assert!(world.members(0, cast).iter().all(is_done));
        }
    }
}

/// A range that ends within a tag for which there is no room until its user reads: what can not be taken is not sent again and again.
#[test]
fn a_tag_that_there_is_no_room_for_is_not_fetched() {
    for more in 0..APART {
        let (mut world, cast, receivers) = one_late(slow::options(1), ROOM + more);
        let (host, late) = receivers[1];
        world.rest(host, late);
        world.run_for(Duration::from_secs(1));
        // It has what it has room for.
        let before = world.counts.clone();
        world.run_for(Duration::from_secs(2));
        let firsts = (host, Format::First as u8);
        let opened =
            world.counts.get(&firsts).copied().unwrap_or(0) - before.get(&firsts).copied().unwrap_or(0);
        let data = (0, Format::Data as u8);
        assert!(opened <= 1, "{more}: {opened} associations while nothing is read");
        assert!(before[&data] > 0);
        world.read_on(host, late);
        assert!(world.run(), "{more}: {:?}", world.members(0, cast));
        for (host, id) in receivers {
            assert_whole(&world, host, id);
        }
    }
}

/// Two messages that are a tag and nothing else, between two of octets.
fn past_of_empty_messages(position: u64, most: usize) -> Option<HistoryItem> {
    let (octet, end) = match position {
        0..1_000 => (1, 1_000),
        1_000 => return Some(HistoryItem::EmptyMessage(7)),
        1_008 => return Some(HistoryItem::EmptyMessage(8)),
        _ => (2, 501_016),
    };
    let count = most.min((end - position) as usize);
    Some(HistoryItem::Octets {
        bytes: vec![octet; count].into(),
        end_of_message: position + count as u64 == end,
    })
}

/// Such a message ends for whoever fetches it as for whoever was there.
#[test]
fn an_empty_message_behind_a_tag_is_fetched_with_its_end() {
    for has_history in [false, true] {
        let mut world = World::new(3, |_| ARRIVES);
        world.remember(past_of_empty_messages);
        let mut options = slow::options(1);
        options.history = has_history;
        if has_history {
            options.keep = 0;
        }
        let cast = world.cast(0, Target::Group(group(1)), options);
        let there = world.join(1, join());
        world.write(0, cast, &[1; 1_000], true);
        let now = world.now;
        for tag in [7, 8] {
            world.engine(0).group_tag(now, cast, tag).unwrap();
            assert_eq!(world.engine(0).group_send(now, cast, Bytes::new(), true), Ok(0));
        }
        world.write(0, cast, &[2; 500_000], true);
        world.engine(0).group_finish(now, cast).unwrap();
        world.run_for(Duration::from_secs(2));
        let late = world.join(2, join());
        assert!(world.run(), "{:?}", world.members(0, cast));
        let (there, late) = (world.party(1, there), world.party(2, late));
        assert_eq!(there.ends.len(), 4);
        assert_eq!(there.tags.len(), 2);
        assert_eq!((&late.ends, &late.tags), (&there.ends, &there.tags));
        assert_eq!(late.octets.len(), 501_000);
    }
}
