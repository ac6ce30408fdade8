//! Positions against a list of all packets; quiet blocks step by step and in any order.

use proptest::prelude::*;

use super::*;

const QUIET: Duration = Duration::from_millis(40);

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn a_packet_counts_when_three_later_ones_left() {
    let mut progress = Progress::default();
    assert_eq!((progress.past(), progress.newest()), (0, None));
    progress.packet(10, 1000);
    progress.packet(12, 3000);
    assert_eq!(progress.past(), 0, "two later");
    progress.packet(11, 2000);
    progress.packet(13, 4000);
    assert_eq!(
        (progress.past(), progress.newest()),
        (1000, Some(13)),
        "three later"
    );
    progress.poll(14, 4000);
    assert_eq!(progress.past(), 4000, "a poll counts at once");
    progress.packet(9, 500);
    assert_eq!(
        (progress.past(), progress.newest()),
        (4000, Some(14)),
        "nothing goes back"
    );
}

#[test]
fn positions_across_the_wrap_of_syncs() {
    let mut progress = Progress::default();
    for (sync, position) in [(u32::MAX - 1, 10), (u32::MAX, 20), (0, 30), (1, 40)] {
        progress.packet(sync, position);
    }
    assert_eq!((progress.past(), progress.newest()), (10, Some(1)));
}

#[test]
fn a_report_keeps_quiet_until_it_is_answered_or_long_ago() {
    let mut quiet = QuietBlocks::default();
    assert!(quiet.may_speak(3, 1, at(0)));
    quiet.reported(3, at(0), QUIET);
    assert!(!quiet.may_speak(3, 9, at(39)), "whatever the need");
    assert!(quiet.may_speak(4, 1, at(39)), "another block");
    assert!(quiet.may_speak(3, 1, at(40)), "a lost report is said again");
    assert_eq!(quiet.deadline(), Some(at(40)));
    quiet.row(3, false, at(10), QUIET);
    assert_eq!(
        quiet.deadline(),
        Some(at(40)),
        "a row of somebody else's repair changes nothing"
    );
    quiet.announced(3, 2, at(20), QUIET);
    assert!(
        !quiet.may_speak(3, 2, at(59)) && quiet.may_speak(3, 3, at(20)),
        "three are more than two"
    );
    quiet.row(3, false, at(30), QUIET);
    assert!(
        !quiet.may_speak(3, 1, at(69)) && quiet.may_speak(3, 2, at(30)),
        "one is to come"
    );
    quiet.row(3, true, at(31), QUIET);
    assert!(
        quiet.may_speak(3, 1, at(31)) && quiet.is_empty(),
        "the last came: what is missing now is lost"
    );
}

#[test]
fn what_is_over_is_forgotten() {
    let mut quiet = QuietBlocks::default();
    for block in 0..10 {
        quiet.reported(block, at(u64::from(block)), QUIET);
    }
    quiet.release(3, at(45));
    assert_eq!(
        (quiet.len(), quiet.deadline()),
        (4, Some(at(46))),
        "0 to 2 are below, 3 to 5 over"
    );
}

#[test]
fn a_transmitter_that_announces_everything_fills_nothing() {
    let mut quiet = QuietBlocks::default();
    for block in (0..5000).rev() {
        quiet.announced(block, u16::MAX, at(0), QUIET);
    }
    assert_eq!(quiet.len(), MOST_BLOCKS);
    assert!(!quiet.may_speak(0, 1, at(1)), "the lowest are kept");
}

proptest! {
    /// In any order, with any of them twice: past is the farthest position of all that are three older than the newest.
    #[test]
    fn as_a_list_of_all_packets(
        start in any::<u32>(),
        packets in prop::collection::vec((0_u32..60, any::<bool>()), 0..80),
    ) {
        let (mut progress, mut seen, mut polled) = (Progress::default(), Vec::new(), 0);
        for (index, (offset, poll)) in packets.into_iter().enumerate() {
            // Packets come about in order.
            let number = (index as u32 / 2) + offset % 5;
            let (sync, position) = (start.wrapping_add(number), u64::from(number) * 10);
            if poll && offset > 50 {
                progress.poll(sync, position);
                polled = polled.max(position);
            } else {
                progress.packet(sync, position);
            }
            seen.push(number);
            let newest = seen.iter().copied().max().unwrap_or(0);
            let sure = seen.iter().filter(|number| **number + 3 <= newest).max();
            let expected = sure.map_or(0, |number| u64::from(*number) * 10).max(polled);
            prop_assert_eq!(progress.past(), expected);
            prop_assert_eq!(progress.newest(), Some(start.wrapping_add(newest)));
            prop_assert!(progress.recent.len() <= 3);
        }
    }
}
