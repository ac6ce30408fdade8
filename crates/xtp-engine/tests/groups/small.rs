//! Messages much smaller than a packet: more of them end in a symbol than its descriptor has room for (§9.10).

use crate::slow::join;
use crate::world::{ARRIVES, Copy, Fate, World, group, is_done};
use xtp_engine::Rate;
use xtp_engine::group::{BucketOptions, CastStats, Fec, Mode, Slow, Target, TransmitterOptions};

/// Octets of a stream, and of its messages.
const LEN: usize = 200_000;
const SMALL: usize = 100;

/// Every packet of the transmitter is lost to each receiver with this probability, one in so many.
fn one_in(part: u32, lost: &mut u64) -> impl FnMut(&Copy) -> Fate + '_ {
    let mut state = 12_345_u32;
    move |copy| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match copy.from == 0 && (state >> 8).is_multiple_of(part) {
            true => {
                *lost += 1;
                Fate::Lost
            }
            false => ARRIVES,
        }
    }
}

/// Messages of these sizes in turn to four receivers, and all of them arrive; what the transmitter counted.
#[track_caller]
fn four_receivers(
    judge: impl FnMut(&Copy) -> Fate,
    change: impl Fn(&mut TransmitterOptions),
    sizes: &[usize],
) -> CastStats {
    let mut world = World::new(5, judge);
    let mut options = TransmitterOptions::default();
    options.expect = Some(4);
    options.rate = Rate {
        octets_per_second: 1_000_000,
        burst: 16 << 10,
    };
    change(&mut options);
    let cast = world.cast(0, Target::Group(group(1)), options);
    let receivers = [1, 2, 3, 4].map(|host| (host, world.join(host, join())));
    let (mut octets, mut ends) = (Vec::new(), Vec::new());
    for size in sizes.iter().cycle() {
        let message: Vec<u8> = (0..*size).map(|place| (place ^ ends.len()) as u8).collect();
        world.write(0, cast, &message, true);
        octets.extend(message);
        ends.push(octets.len());
        if octets.len() >= LEN {
            break;
        }
    }
    let now = world.now;
    world.engine(0).group_finish(now, cast).unwrap();
    assert!(world.run(), "it is over");
    assert!(world.members(0, cast).iter().all(is_done));
    for (host, id) in receivers {
        let party = world.party(host, id);
        assert!(party.octets == octets && party.ends == ends, "host {host}");
    }
    world.engine(0).cast_stats(now, cast).unwrap()
}

#[test]
fn of_small_messages_what_was_lost_is_sent_again_and_not_their_block() {
    for (part, size) in [(50, SMALL), (20, SMALL), (50, 300), (20, 400)] {
        let mut lost = 0;
        let stats = four_receivers(one_in(part, &mut lost), |_| {}, &[size]);
        assert!(
            stats.repair_packets <= lost,
            "{} for {lost} of messages of {size}",
            stats.repair_packets
        );
    }
}

/// A member that lacks one packet in twelve asks for a twelfth, however many packets a symbol takes.
#[test]
fn one_that_loses_a_twelfth_of_small_messages_is_not_lossy() {
    for mode in [Mode::Unicast, Mode::Bucket(BucketOptions::default())] {
        let mut lost = 0;
        let mut some = one_in(12, &mut lost);
        let judge = |copy: &Copy| if copy.to == 4 { some(copy) } else { ARRIVES };
        let options = |options: &mut TransmitterOptions| {
            options.mode = mode;
            options.slow = Slow::Drop;
        };
        four_receivers(judge, options, &[SMALL]);
    }
}

#[test]
fn what_a_block_of_small_and_large_messages_lost_comes_again() {
    let mut lost = 0;
    let sizes = [20, 20, 20, 20, 20, 9_000];
    let stats = four_receivers(one_in(20, &mut lost), |_| {}, &sizes);
    assert!(
        stats.repair_packets <= lost,
        "{} for {lost}",
        stats.repair_packets
    );
}

#[test]
fn no_row_follows_a_block_that_rows_do_not_restore() {
    let unasked = |options: &mut TransmitterOptions| {
        options.fec = Some(Fec {
            proactive: 4,
            ..Fec::default()
        });
    };
    let of = |size| four_receivers(|_| ARRIVES, unasked, &[size]).repair_packets;
    assert_eq!(of(SMALL), 0);
    assert!(of(1_400) >= 8, "two blocks and a part");
}
