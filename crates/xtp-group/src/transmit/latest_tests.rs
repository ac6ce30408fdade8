//! Tests of how many rows follow a block unasked.

use super::*;

const KNOWN: Duration = Duration::from_millis(200);

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// One block each 10 ms, of which so many rows were needed; what followed each unasked.
fn play(needs: impl Iterator<Item = u16>) -> Vec<u8> {
    let mut latest = Latest::default();
    let (mut asked, mut followed) = (Vec::new(), Vec::new());
    for (number, need) in (0..).zip(needs) {
        let now = at(10 * u64::from(number));
        let unasked = latest.least(64, KNOWN, now);
        latest.finished(number, unasked, now);
        asked.push(need.saturating_sub(unasked.into()));
        followed.push(unasked);
        // Needs are told 100 ms later.
        if let Some(block) = number.checked_sub(10) {
            latest.asked(block, asked[block as usize]);
        }
    }
    followed
}

#[test]
fn as_many_as_each_of_the_latest_needed() {
    let followed = play([6, 4, 7, 5].into_iter().cycle().take(100));
    assert!(
        followed[..27].iter().all(|rows| *rows == 0),
        "nothing is known yet"
    );
    // Where four follow nobody asks for more of the block that needs four: perhaps three would do.
    let settled = &followed[40..];
    assert!(settled.iter().all(|rows| (3..=4).contains(rows)), "{followed:?}");
}

#[test]
fn one_that_needed_nothing_ends_it_and_so_does_less_need() {
    let followed = play((0..100).map(|number| if number % 8 == 0 { 0 } else { 5 }));
    assert!(followed.iter().all(|rows| *rows == 0), "{followed:?}");
    let followed = play((0..400).map(|number| if number < 100 { 5 } else { 0 }));
    assert!((4..=5).contains(&followed[99]), "{followed:?}");
    assert_eq!(followed[399], 0, "{followed:?}");
}

#[test]
fn whoever_needs_very_many_asks() {
    let followed = play((0..100).map(|_| 30));
    assert_eq!(followed[99], 8, "{followed:?}");
}
