//! Several transmitters on one group, several groups, and one group after another.

use crate::world::{ARRIVES, Party, World, address, group, is_done};
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId, ReceiverOptions, Target, TransmitterOptions};

fn options(expect: u32) -> TransmitterOptions {
    let mut options = TransmitterOptions::default();
    options.expect = Some(expect);
    options
}

fn join(number: u8, source: Option<usize>) -> ReceiverOptions {
    let mut join = ReceiverOptions::default();
    join.group = Some(group(number));
    join.source = source.map(|host| address(host).ip());
    join
}

fn message(of: u8, len: usize) -> Vec<u8> {
    (0..len)
        .map(|place| of.wrapping_mul(31) ^ (place / 5) as u8)
        .collect()
}

fn write(world: &mut World<'_>, host: usize, id: GroupId, message: &[u8]) {
    world.write(host, id, message, true);
    let now = world.now;
    world.engine(host).group_finish(now, id).unwrap();
}

fn assert_whole(party: &Party, message: &[u8]) {
    assert_eq!(party.octets, message);
    assert_eq!(party.closed(), Some(&GroupClose::Normal));
}

/// Two transmitters of one group differ by their addresses; each receiver hears the one it asked for.
#[test]
fn two_transmitters_on_one_group() {
    let mut world = World::new(4, |_| ARRIVES);
    let casts = [0, 1].map(|host| world.cast(host, Target::Group(group(1)), options(2)));
    let messages = [message(1, 20_000), message(2, 30_000)];
    let mut receivers = Vec::new();
    for host in [2, 3] {
        for source in [0, 1] {
            receivers.push((host, source, world.join(host, join(1, Some(source)))));
        }
    }
    for source in [0, 1] {
        write(&mut world, source, casts[source], &messages[source]);
    }
    assert!(world.run());
    for (host, source, id) in receivers {
        let party = world.party(host, id);
        assert_whole(party, &messages[source]);
        let found = GroupEvent::Found(address(source));
        assert!(party.events.contains(&found));
    }
    for (host, cast) in casts.into_iter().enumerate() {
        let members = world.members(host, cast);
        assert_eq!(members.len(), 2);
        assert!(members.iter().all(is_done));
    }
}

/// One host transmits to two groups, another hears both.
#[test]
fn two_groups_between_two_hosts() {
    let mut world = World::new(2, |_| ARRIVES);
    let casts = [1, 2].map(|number| world.cast(0, Target::Group(group(number)), options(1)));
    let receivers = [1, 2].map(|number| world.join(1, join(number, None)));
    let messages = [message(3, 10_000), message(4, 15_000)];
    for (cast, message) in casts.into_iter().zip(&messages) {
        write(&mut world, 0, cast, message);
    }
    assert!(world.run());
    for (id, message) in receivers.into_iter().zip(&messages) {
        assert_whole(world.party(1, id), message);
    }
}

/// Who transmits itself hears another one.
#[test]
fn transmitter_and_receiver_in_one_engine() {
    let mut world = World::new(2, |_| ARRIVES);
    let casts = [0, 1].map(|host| world.cast(host, Target::Group(group(host as u8)), options(1)));
    let receivers =
        [(0, 1), (1, 0)].map(|(host, from)| (host, from, world.join(host, join(from as u8, None))));
    let messages = [message(5, 9_000), message(6, 4_000)];
    for host in [0, 1] {
        write(&mut world, host, casts[host], &messages[host]);
    }
    assert!(world.run());
    for (host, from, id) in receivers {
        assert_whole(world.party(host, id), &messages[from]);
    }
}

/// Whoever listens again after a group's end hears the next one, not the one that is over.
#[test]
fn one_group_after_the_other() {
    let mut world = World::new(2, |_| ARRIVES);
    for round in 1..4 {
        let cast = world.cast(0, Target::Group(group(1)), options(1));
        let receiver = world.join(1, join(1, None));
        let message = message(round, 5_000);
        write(&mut world, 0, cast, &message);
        assert!(world.run(), "round {round}");
        assert_whole(world.party(1, receiver), &message);
        world.release(0, cast);
        world.release(1, receiver);
        world.run_for(Duration::from_millis(5));
    }
}

/// A transmitter that copies needs no multicast.
#[test]
fn copies_to_each_receiver() {
    let mut world = World::new(4, |_| ARRIVES);
    let targets = [1, 2, 3].map(address).to_vec();
    let cast = world.cast(0, Target::Each(targets), options(3));
    let mut own = ReceiverOptions::default();
    own.group = None;
    let receivers = [1, 2, 3].map(|host| (host, world.join(host, own.clone())));
    let message = message(9, 40_000);
    write(&mut world, 0, cast, &message);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(world.party(host, id), &message);
    }
    assert!(world.members(0, cast).iter().all(is_done));
}

/// Tags and message ends come where they were written.
#[test]
fn tags_and_messages() {
    let mut world = World::new(3, |_| ARRIVES);
    let cast = world.cast(0, Target::Group(group(1)), options(2));
    let receivers = [1, 2].map(|host| (host, world.join(host, join(1, None))));
    let now = world.now;
    let message = message(7, 6_000);
    world.engine(0).group_tag(now, cast, 0xaa).unwrap();
    world.write(0, cast, &message[..1_000], true);
    world.write(0, cast, &message[1_000..1_010], false);
    world.engine(0).group_tag(now, cast, 0xbb).unwrap();
    world.write(0, cast, &message[1_010..], true);
    world.engine(0).group_finish(now, cast).unwrap();
    assert!(world.run());
    for (host, id) in receivers {
        let party = world.party(host, id);
        assert_whole(party, &message);
        assert_eq!(party.tags, [(0, 0xaa), (1_010, 0xbb)]);
        assert_eq!(party.ends, [1_000, 6_000]);
    }
}
