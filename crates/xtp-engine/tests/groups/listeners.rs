//! Several transmitters of one group, heard by listeners and by single receivers.

use crate::world::{ARRIVES, Copy, Fate, Party, World, address, group, is_done};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId, ReceiverOptions, Target, TransmitterOptions};
use xtp_wire::Format;

const MILLIS: Duration = Duration::from_millis(1);

fn options(expect: u32) -> TransmitterOptions {
    let mut options = TransmitterOptions::default();
    options.expect = Some(expect);
    options
}

fn listening(at_once: u16) -> ReceiverOptions {
    let mut options = ReceiverOptions::default();
    options.group = Some(group(1));
    options.at_once = at_once;
    options
}

fn transmitter(party: &Party) -> SocketAddr {
    let found = party.events.iter().find_map(|event| match event {
        GroupEvent::Found(transmitter) => Some(*transmitter),
        _ => None,
    });
    found.expect("the first thing it is told")
}

/// What a listener got, by transmitter; nothing twice.
fn got(world: &World<'_>, host: usize, listener: GroupId) -> BTreeMap<SocketAddr, Vec<u8>> {
    let mut got = BTreeMap::new();
    for receiver in world.heard(host, listener) {
        let party = world.party(host, receiver);
        let before = got.insert(transmitter(party), party.octets.clone());
        assert_eq!(before, None, "host {host} heard one transmitter twice");
    }
    got
}

fn line(host: usize, number: usize) -> Vec<u8> {
    format!("{number} of {host}: hello, all of you").into_bytes()
}

/// So many of a hundred copies of packets are lost, the same ones every time.
fn losing(percent: u64) -> impl FnMut(&Copy) -> Fate {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state % 100 < percent {
            Fate::Lost
        } else {
            ARRIVES
        }
    }
}

fn finish(world: &mut World<'_>, host: usize, cast: GroupId) {
    let now = world.now;
    world.engine(host).group_finish(now, cast).unwrap();
}

/// Eight hosts, each of which says fifty things to all others, with loss: everybody gets everything of everybody once, in order.
#[test]
fn a_chat_loses_nothing_and_says_nothing_twice() {
    const HOSTS: usize = 8;
    const LINES: usize = 50;
    let mut world = World::new(HOSTS, losing(3));
    let listeners: Vec<_> = (0..HOSTS).map(|host| world.listen(host, listening(16))).collect();
    let casts: Vec<_> = (0..HOSTS)
        .map(|host| world.cast(host, Target::Group(group(1)), options(HOSTS as u32 - 1)))
        .collect();
    for number in 0..LINES {
        for (host, cast) in casts.iter().enumerate() {
            world.write(host, *cast, &line(host, number), true);
        }
        world.run_for(2 * MILLIS);
    }
    for (host, cast) in casts.iter().enumerate() {
        finish(&mut world, host, *cast);
    }
    world.run_for(Duration::from_secs(20));
    let all = |host: usize| {
        (0..LINES)
            .flat_map(|number| line(host, number))
            .collect::<Vec<u8>>()
    };
    for host in 0..HOSTS {
        let got = got(&world, host, listeners[host]);
        assert_eq!(got.len(), HOSTS - 1, "host {host}: itself it does not hear");
        for other in (0..HOSTS).filter(|other| *other != host) {
            assert!(got[&address(other)] == all(other), "{other} at {host}");
        }
        assert_eq!(world.party(host, casts[host]).closed(), Some(&GroupClose::Normal));
        let members = world.members(host, casts[host]);
        assert!(
            members.len() == HOSTS - 1 && members.iter().all(is_done),
            "{members:?}"
        );
    }
}

/// Each of three hosts sends a datagram within 20 ms of the others, and hears one of them at a time: all get all.
fn three_datagrams(at_once: u16, lost: u64) {
    for turn in 0..4_u64 {
        let mut world = World::new(3, losing(lost));
        let listeners: Vec<_> = (0..3)
            .map(|host| world.listen(host, listening(at_once)))
            .collect();
        let mut casts = Vec::new();
        for host in 0..3 {
            let data = Bytes::from(line(host, 0));
            casts.push(world.datagram(host, Target::Group(group(1)), options(2), data));
            world.run_for(5 * turn as u32 * MILLIS);
        }
        world.run_for(Duration::from_secs(5));
        for host in 0..3 {
            let got = got(&world, host, listeners[host]);
            let others = (0..3).filter(|other| *other != host);
            let all = others.map(|other| (address(other), line(other, 0))).collect();
            assert_eq!(got, all, "at {host}, {turn}");
            assert_eq!(world.members(host, casts[host]).len(), 2);
            assert_eq!(world.party(host, casts[host]).closed(), Some(&GroupClose::Normal));
            for receiver in world.heard(host, listeners[host]) {
                assert_eq!(world.party(host, receiver).closed(), Some(&GroupClose::Normal));
            }
        }
    }
}

#[test]
fn datagrams_of_three_at_once_side_by_side() {
    three_datagrams(16, 0);
    three_datagrams(16, 10);
}

#[test]
fn datagrams_of_three_at_once_in_turn() {
    three_datagrams(1, 0);
    three_datagrams(1, 10);
}

/// Programs that join for one datagram after the other, and let go of each when `is_done`, get all, and each once.
fn joins_in_turn(judge: impl FnMut(&Copy) -> Fate, is_done: impl Fn(&Party) -> bool) {
    let mut world = World::new(3, judge);
    let casts: Vec<_> = (0..3)
        .map(|host| {
            let data = Bytes::from(line(host, 0));
            world.datagram(host, Target::Group(group(1)), options(2), data)
        })
        .collect();
    let mut got: Vec<Vec<Vec<u8>>> = vec![Vec::new(); 3];
    let mut joined: Vec<_> = (0..3).map(|host| world.join(host, listening(1))).collect();
    let mut gone = Vec::new();
    for _ in 0..400 {
        world.run_for(10 * MILLIS);
        for host in 0..3 {
            let party = world.party(host, joined[host]);
            if !is_done(party) {
                continue;
            }
            got[host].push(party.octets.clone());
            gone.push((host, joined[host], party.events.len()));
            world.release(host, joined[host]);
            joined[host] = world.join(host, listening(1));
        }
    }
    for host in 0..3 {
        got[host].sort_unstable();
        let others: Vec<_> = (0..3).filter(|other| *other != host).collect();
        let all: Vec<_> = others.iter().map(|other| line(*other, 0)).collect();
        assert_eq!(got[host], all, "at {host}");
        assert_eq!(world.members(host, casts[host]).len(), 2);
    }
    for (host, id, told) in gone {
        assert_eq!(
            world.party(host, id).events.len(),
            told,
            "who has let go is told nothing"
        );
    }
}

/// They have read it.
#[test]
fn joins_one_after_the_other_miss_nothing() {
    joins_in_turn(losing(10), |party| party.ended);
}

/// They wait for its end, and each for that of another one.
#[test]
fn joins_that_wait_for_the_end_miss_nothing() {
    // Each hears first what the next one says.
    let judge = |copy: &Copy| match copy.packet {
        0 if copy.to != (copy.from + 2) % 3 => Fate::Lost,
        _ => ARRIVES,
    };
    joins_in_turn(judge, |party| party.closed().is_some());
}

/// Three receivers of one endpoint hear three transmitters, not all the first.
#[test]
fn joins_side_by_side_take_different_transmitters() {
    let mut world = World::new(4, |_| ARRIVES);
    let joined: Vec<_> = (0..3).map(|_| world.join(0, listening(1))).collect();
    let casts: Vec<_> = (1..4)
        .map(|host| world.cast(host, Target::Group(group(1)), options(1)))
        .collect();
    for (at, cast) in casts.iter().enumerate() {
        world.write(at + 1, *cast, &line(at + 1, 7), true);
        finish(&mut world, at + 1, *cast);
    }
    assert!(world.run());
    let mut got: Vec<_> = joined.iter().map(|id| transmitter(world.party(0, *id))).collect();
    got.sort_unstable();
    assert_eq!(got, [1, 2, 3].map(address));
    for id in joined {
        let party = world.party(0, id);
        assert_eq!(party.closed(), Some(&GroupClose::Normal));
    }
}

/// A transmitter for which there is no place is told so, waits beyond its time to wait, and is heard when there is one.
#[test]
fn one_that_finds_no_place_waits_for_one() {
    let mut world = World::new(3, |_| ARRIVES);
    let listener = world.listen(0, listening(1));
    let mut waiting = TransmitterOptions::default();
    waiting.wait = Duration::from_secs(2);
    let first = world.cast(1, Target::Group(group(1)), waiting.clone());
    world.run_for(20 * MILLIS);
    let second = world.cast(2, Target::Group(group(1)), waiting);
    for (host, cast) in [(1, first), (2, second)] {
        world.write(host, cast, &line(host, 1), true);
    }
    finish(&mut world, 2, second);
    world.run_for(Duration::from_secs(10));
    let [receiver] = world.heard(0, listener)[..] else {
        panic!("one at a time: {:?}", world.heard(0, listener));
    };
    assert_eq!(world.party(0, receiver).octets, line(1, 1));
    assert_eq!(world.party(2, second).closed(), None, "it waits");
    let now = world.now;
    let stats = world.engine(2).cast_stats(now, second).unwrap();
    assert!((8..=11).contains(&stats.busy_reports), "once a second: {stats:?}");
    finish(&mut world, 1, first);
    world.run_for(Duration::from_secs(2));
    world.release(0, receiver);
    world.run_for(Duration::from_secs(3));
    assert_eq!(got(&world, 0, listener)[&address(2)], line(2, 1));
    for (host, cast) in [(1, first), (2, second)] {
        assert_eq!(world.party(host, cast).closed(), Some(&GroupClose::Normal));
    }
}

/// The same of a datagram.
#[test]
fn a_datagram_that_finds_no_place_waits_for_one() {
    let mut world = World::new(3, |_| ARRIVES);
    let listener = world.listen(0, listening(1));
    let mut waiting = TransmitterOptions::default();
    waiting.wait = Duration::from_secs(1);
    let first = world.cast(1, Target::Group(group(1)), options(1));
    world.run_for(20 * MILLIS);
    let data = Bytes::from(line(2, 0));
    let second = world.datagram(2, Target::Group(group(1)), waiting, data);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.party(2, second).closed(), None, "it waits");
    let [receiver] = world.heard(0, listener)[..] else {
        panic!("one at a time");
    };
    finish(&mut world, 1, first);
    world.run_for(Duration::from_secs(1));
    world.release(0, receiver);
    world.run_for(Duration::from_secs(6));
    assert_eq!(got(&world, 0, listener)[&address(2)], line(2, 0));
    assert_eq!(world.party(2, second).closed(), Some(&GroupClose::Normal));
    assert_eq!(world.members(2, second).len(), 1);
}

/// Whoever says for ever that it is busy costs the patience, and no more.
#[test]
fn one_that_is_always_busy_costs_the_patience() {
    let mut world = World::new(3, |_| ARRIVES);
    world.listen(0, listening(1));
    let first = world.cast(1, Target::Group(group(1)), options(1));
    world.run_for(20 * MILLIS);
    let mut waiting = TransmitterOptions::default();
    waiting.wait = Duration::from_secs(1);
    waiting.patience = Duration::from_secs(4);
    let second = world.cast(2, Target::Group(group(1)), waiting);
    world.run_for(Duration::from_millis(4_900));
    assert_eq!(world.party(2, second).closed(), None);
    world.run_for(Duration::from_millis(700));
    assert_eq!(world.party(2, second).closed(), Some(&GroupClose::Nobody));
    assert_eq!(
        world.party(1, first).closed(),
        None,
        "the one that is heard notices nothing"
    );
}

/// A host has half of the places, and what it makes up costs no more than these; one that answers is not put out by others.
#[test]
fn a_host_has_half_of_the_places() {
    let mut world = World::new(6, |_| ARRIVES);
    let listener = world.listen(0, listening(4));
    let mut same = Vec::new();
    for _ in 0..3 {
        same.push(world.cast(1, Target::Group(group(1)), options(1)));
    }
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.heard(0, listener).len(), 2);
    let others: Vec<_> = (2..5)
        .map(|host| world.cast(host, Target::Group(group(1)), options(1)))
        .collect();
    world.run_for(Duration::from_secs(3));
    assert_eq!(world.heard(0, listener).len(), 4, "four in all");
    // Whose user lets go of one before its end is not offered it again.
    let first = world.heard(0, listener)[0];
    world.release(0, first);
    world.run_for(Duration::from_secs(3));
    let heard = world.heard(0, listener);
    assert_eq!(heard.len(), 5);
    let found: Vec<_> = heard.iter().map(|id| transmitter(world.party(0, *id))).collect();
    assert!(others.len() == 3 && same.len() == 3 && found[4] != found[0] || found[4] == address(1));
}

/// A listener that goes leaves its user what it has been given, and nothing else comes.
#[test]
fn a_listener_that_goes_leaves_what_it_gave() {
    let mut world = World::new(3, |_| ARRIVES);
    let listener = world.listen(0, listening(16));
    let first = world.cast(1, Target::Group(group(1)), options(1));
    world.run_for(20 * MILLIS);
    world.release(0, listener);
    let second = world.cast(2, Target::Group(group(1)), options(1));
    world.write(1, first, &line(1, 0), true);
    finish(&mut world, 1, first);
    world.run_for(Duration::from_secs(2));
    let heard = world.heard(0, listener);
    assert_eq!(heard.len(), 1);
    assert_eq!(world.party(0, heard[0]).octets, line(1, 0));
    assert_eq!(world.party(0, heard[0]).closed(), Some(&GroupClose::Normal));
    assert_eq!(world.members(2, second).len(), 0);
    let busy = world.counts.get(&(0, Format::Diag as u8)).copied().unwrap_or(0);
    assert_eq!(busy, 0, "nobody is told anything");
}

#[test]
fn a_listener_has_places() {
    for wrong in [0, 257] {
        let mut world = World::new(1, |_| ARRIVES);
        let now = world.now;
        assert!(world.engine(0).listen_group(now, listening(wrong)).is_err());
    }
}

/// Datagrams that have no END, of transmitters that are soon gone, leave no more behind than a limit says: a true one is heard.
#[test]
fn datagrams_without_an_end_leave_little_behind() {
    let judge = |copy: &Copy| {
        // No END arrives, and no confirmation.
        let arrives = copy.multicast && copy.format == Format::First;
        if arrives { ARRIVES } else { Fate::Lost }
    };
    let mut world = World::new(2, judge);
    let listener = world.listen(0, listening(4));
    for number in 0..1_200 {
        let data = Bytes::from(line(1, number));
        let cast = world.datagram(1, Target::Group(group(1)), options(1), data);
        world.run_for(MILLIS);
        world.release(1, cast);
        world.run_for(MILLIS);
        for receiver in world.heard(0, listener).into_iter().skip(number) {
            world.release(0, receiver);
        }
    }
    assert_eq!(world.heard(0, listener).len(), 1_200, "each was heard");
}
