//! Mode B: answers to the whole group, collected in buckets.

use crate::world::{ARRIVES, Copy, DELAY, Fate, World, address, group, is_done};
use std::cell::Cell;
use std::time::Duration;
use xtp_engine::group::{
    BucketOptions, Cycle, DropReason, GroupClose, GroupId, MemberState, Mode, ReceiverOptions, Require, Slow,
    Target, TransmitterOptions,
};
use xtp_engine::{Engine, EngineConfig, Rate, Time};
use xtp_wire::Format;

/// Octets of the stream.
const LEN: usize = 200_000;
/// Octets a second.
const RATE: u64 = 1_000_000;
const WINDOW: u64 = 32 << 10;

fn options(expect: u32, buckets: BucketOptions) -> TransmitterOptions {
    let mut options = TransmitterOptions::default();
    options.expect = Some(expect);
    options.mode = Mode::Bucket(buckets);
    options.rate = Rate {
        octets_per_second: RATE,
        burst: 4 << 10,
    };
    options.window = WINDOW;
    options.patience = Duration::from_secs(3);
    options
}

fn join() -> ReceiverOptions {
    let mut join = ReceiverOptions::default();
    join.group = Some(group(1));
    join
}

fn message() -> Vec<u8> {
    (0..LEN)
        .map(|place| (place / 7) as u8 ^ (place >> 9) as u8)
        .collect()
}

/// A stream of messages of so many octets, tags among them.
fn write(world: &mut World<'_>, id: GroupId, each: usize) {
    let (whole, now) = (message(), world.now);
    for (number, part) in whole.chunks(each).enumerate() {
        if number.is_multiple_of(5) {
            world.engine(0).group_tag(now, id, number as u64).unwrap();
        }
        world.write(0, id, part, true);
    }
    world.engine(0).group_finish(now, id).unwrap();
}

fn assert_whole(world: &World<'_>, host: usize, id: GroupId, each: usize) {
    let party = world.party(host, id);
    assert!(party.octets == message(), "the octets of host {host}");
    assert_eq!(party.ends.len(), LEN.div_ceil(each));
    assert_eq!(party.tags.len(), LEN.div_ceil(each).div_ceil(5));
    assert_eq!(party.closed(), Some(&GroupClose::Normal));
}

/// Every fate by a number that is as good as drawn.
fn drawn(seed: u64, copy: &Copy) -> u64 {
    let mut number = (copy.copy as u64 + 1) ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        number = (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    number >> 33
}

/// All ways to collect, whole streams to all, with one copy in `lost` thousand lost and none.
fn all_are_whole(go_back_n: bool, lost: u64) {
    for (number, buckets) in [1, 2, 4, 8].into_iter().enumerate() {
        for (cycle, classic) in [
            (Cycle::Timer, false),
            (Cycle::Message, false),
            (Cycle::Timer, true),
            (Cycle::Message, true),
        ] {
            let seed = number as u64;
            let mut world = World::new(5, move |copy| match drawn(seed, copy) % 1_000 < lost {
                true => Fate::Lost,
                false => ARRIVES,
            });
            let how = BucketOptions {
                buckets,
                cycle,
                classic,
                go_back_n,
                ..BucketOptions::default()
            };
            let cast = world.cast(0, Target::Group(group(1)), options(4, how));
            let receivers = [1, 2, 3, 4].map(|host| (host, world.join(host, join())));
            write(&mut world, cast, 4_096);
            assert!(world.run(), "{how:?}");
            for (host, id) in receivers {
                assert_whole(&world, host, id, 4_096);
            }
            let members = world.members(0, cast);
            assert!(members.iter().all(is_done), "{how:?}: {members:?}");
        }
    }
}

#[test]
fn whole_without_loss() {
    all_are_whole(false, 0);
}

#[test]
fn whole_by_the_union_of_spans() {
    all_are_whole(false, 30);
}

#[test]
fn whole_by_going_back() {
    all_are_whole(true, 10);
}

/// Status packets that hosts 1 to 4 sent while all of the stream left.
fn status_packets(slotting: bool, damping: bool) -> usize {
    let mut world = World::new(5, |_| ARRIVES);
    let how = BucketOptions {
        slotting,
        damping,
        ..BucketOptions::default()
    };
    let cast = world.cast(0, Target::Group(group(1)), options(4, how));
    let receivers = [1, 2, 3, 4].map(|host| (host, world.join(host, join())));
    write(&mut world, cast, 4_096);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id, 4_096);
    }
    let of = |host| {
        world
            .counts
            .get(&(host, Format::Xcntl as u8))
            .copied()
            .unwrap_or(0)
    };
    (1..=4).map(of).sum()
}

#[test]
fn slotting_and_damping_save_answers() {
    let (neither, both) = (status_packets(false, false), status_packets(true, true));
    assert!(both * 100 <= neither * 85, "{both} of {neither}");
    let alone = [status_packets(true, false), status_packets(false, true)];
    assert!(
        alone.iter().all(|some| some * 20 >= neither * 19),
        "{alone:?} of {neither}"
    );
}

/// The longest time for which nothing new left before everything had, without loss.
fn longest_pause(classic: bool) -> Duration {
    let mut world = World::new(5, |_| ARRIVES);
    let how = BucketOptions {
        cycle: Cycle::Message,
        classic,
        ..BucketOptions::default()
    };
    let cast = world.cast(0, Target::Group(group(1)), options(4, how));
    for host in 1..=4 {
        world.join(host, join());
    }
    write(&mut world, cast, 16_384);
    let (mut position, mut since, mut longest) = (0, world.now, Duration::ZERO);
    while position < LEN as u64 {
        world.run_for(SAMPLE);
        let now = world.now;
        let stats = world.engine(0).cast_stats(now, cast).unwrap();
        if stats.position != position {
            if position > 0 {
                longest = longest.max(now.since(since));
            }
            (position, since) = (stats.position, now);
        }
    }
    longest
}

const SAMPLE: Duration = Duration::from_micros(250);

/// Answers are spread over 2 ms, and a round trip takes two delays.
#[test]
fn no_pause_is_longer_than_a_spread_and_two_round_trips() {
    let bound = Duration::from_millis(2) + 4 * DELAY + SAMPLE;
    let ripe = longest_pause(false);
    assert!(ripe <= bound, "{ripe:?}");
    let classic = longest_pause(true);
    assert!(
        classic >= Duration::from_millis(110),
        "three buckets in front: {classic:?}"
    );
}

/// One falls silent in the middle: nobody waits for it before the end, and then as long as the patience says.
#[test]
fn one_that_dies_holds_nobody_up() {
    let cut = Cell::new(false);
    let mut world = World::new(5, |copy: &Copy| {
        match cut.get() && (copy.to == 3 || copy.from == 3) {
            true => Fate::Lost,
            false => ARRIVES,
        }
    });
    let how = BucketOptions::default();
    let cast = world.cast(0, Target::Group(group(1)), options(4, how));
    let receivers = [1, 2, 3, 4].map(|host| (host, world.join(host, join())));
    write(&mut world, cast, 4_096);
    world.run_for(Duration::from_millis(80));
    cut.set(true);
    world.run_for(Duration::from_millis(320));
    for (host, id) in receivers.into_iter().filter(|(host, _)| *host != 3) {
        assert_whole(&world, host, id, 4_096);
    }
    world.run();
    let members = world.members(0, cast);
    let out = members.iter().filter(|member| !is_done(member));
    let out: Vec<_> = out.map(|member| (member.address, member.state)).collect();
    assert_eq!(out, [(address(3), MemberState::Dropped(DropReason::Silent))]);
}

/// What one says to the group is never heard: the window moves without it, and in the end it is whole all the same.
#[test]
fn one_that_nobody_hears_is_whole_in_the_end() {
    for slow in [Slow::Wait, Slow::CatchUp] {
        let mut world = World::new(5, |copy: &Copy| {
            let unheard = copy.from == 3 && copy.multicast;
            let holes = copy.to == 3 && copy.format == Format::Data && copy.packet.is_multiple_of(10);
            match unheard || holes && copy.packet < 400 {
                true => Fate::Lost,
                false => ARRIVES,
            }
        });
        let mut how = options(4, BucketOptions::default());
        how.slow = slow;
        let cast = world.cast(0, Target::Group(group(1)), how);
        let receivers = [1, 2, 3, 4].map(|host| (host, world.join(host, join())));
        write(&mut world, cast, 4_096);
        assert!(world.run());
        for (host, id) in receivers {
            assert_whole(&world, host, id, 4_096);
        }
    }
}

/// Two receivers of one host have the same address: neither speaks for the other.
#[test]
fn two_on_one_host() {
    let mut world = World::new(3, |copy: &Copy| {
        match copy.to == 1 && copy.copy.is_multiple_of(17) {
            true => Fate::Lost,
            false => ARRIVES,
        }
    });
    let cast = world.cast(0, Target::Group(group(1)), options(3, BucketOptions::default()));
    let receivers = [(1, "one"), (1, "other"), (2, "third")].map(|(host, name)| {
        let mut join = join();
        join.name = name.to_owned();
        (host, world.join(host, join))
    });
    write(&mut world, cast, 4_096);
    assert!(world.run());
    for (host, id) in receivers {
        assert_whole(&world, host, id, 4_096);
    }
}

#[test]
fn what_can_not_be_collected_is_refused() {
    let mut engine = Engine::new(EngineConfig::new([1; 32])).unwrap();
    let now = Time::from_nanos(1);
    let how = |buckets| BucketOptions {
        buckets,
        ..BucketOptions::default()
    };
    let specific = std::net::SocketAddr::from(([232, 1, 1, 1], 36_036));
    let mut nobody = options(1, how(4));
    nobody.require = Require::Nobody;
    for (target, options) in [
        (Target::Group(group(1)), options(1, how(0))),
        (Target::Group(group(1)), options(1, how(65))),
        (Target::Each(vec![address(1)]), options(1, how(4))),
        (Target::Group(specific), options(1, how(4))),
        (Target::Group(group(1)), nobody),
    ] {
        let refused = engine.cast(now, target.clone(), options);
        assert!(
            matches!(refused, Err(xtp_engine::Error::InvalidOption(_))),
            "{target:?}"
        );
    }
}

/// All that was sent is acknowledged when another one comes: no question is asked, and it is helped all the same.
#[test]
fn who_comes_when_all_is_acknowledged_is_helped_by_name() {
    let mut world = World::new(3, |_| ARRIVES);
    let cast = world.cast(0, Target::Group(group(1)), options(1, BucketOptions::default()));
    let first = world.join(1, join());
    world.write(0, cast, &message()[..5_000], true);
    world.run_for(Duration::from_secs(1));
    let second = world.join(2, join());
    world.run_for(Duration::from_secs(5));
    for (host, id) in [(1, first), (2, second)] {
        assert!(
            world.party(host, id).octets == message()[..5_000],
            "the octets of host {host}"
        );
    }
}

/// Many ways to collect, sizes of groups, losses and delays; everything is kept, so all are whole, and it is known.
#[test]
fn whole_whatever_is_lost() {
    for seed in 0..60_u64 {
        let how = BucketOptions {
            buckets: [1, 2, 4, 8][(seed / 4 % 4) as usize],
            cycle: match seed.is_multiple_of(3) {
                true => Cycle::Message,
                false => Cycle::Timer,
            },
            classic: seed.is_multiple_of(5),
            slotting: !seed.is_multiple_of(7),
            damping: !seed.is_multiple_of(11),
            go_back_n: seed.is_multiple_of(13),
        };
        let (count, lost) = (2 + (seed % 5) as usize, [5, 20, 60, 120][(seed % 4) as usize]);
        let mut world = World::new(count + 1, move |copy: &Copy| {
            let number = drawn(seed, copy);
            match number % 1_000 < lost {
                true => Fate::Lost,
                false => Fate::After(Duration::from_micros(300 + number / 1_000 % 2_000)),
            }
        });
        let mut options = options(count as u32, how);
        options.slow = match seed.is_multiple_of(2) {
            true => Slow::Wait,
            false => Slow::CatchUp,
        };
        options.keep = u64::MAX;
        let cast = world.cast(0, Target::Group(group(1)), options);
        let receivers: Vec<_> = (1..=count).map(|host| (host, world.join(host, join()))).collect();
        write(&mut world, cast, 4_096);
        let began = world.now;
        assert!(world.run(), "seed {seed}: {how:?}");
        assert!(
            world.now.since(began) < Duration::from_secs(5),
            "seed {seed}: {how:?}"
        );
        for (host, id) in receivers {
            assert_whole(&world, host, id, 4_096);
        }
        let members = world.members(0, cast);
        assert!(members.iter().all(is_done), "seed {seed}: {members:?}");
    }
}
