//! Tests of what is remembered of departures.

use super::*;
use core::time::Duration;

#[test]
fn the_latest_departures_are_known() {
    let mut log = SentLog::default();
    let start = u32::MAX - 2;
    for index in 0..MOST_REMEMBERED as u32 + 10 {
        let at = Time::ZERO + Duration::from_micros(index.into());
        log.note(start.wrapping_add(index), at, 100);
    }
    assert_eq!(log.octets(), (MOST_REMEMBERED as u64 + 10) * 100);
    assert_eq!(log.get(start.wrapping_add(9)), None, "forgotten");
    let oldest = log.get(start.wrapping_add(10)).expect("remembered");
    assert_eq!((oldest.octets, oldest.at.as_nanos()), (1_100, 10_000));
    let newest = start.wrapping_add(MOST_REMEMBERED as u32 + 9);
    assert_eq!(log.get(newest).map(|sent| sent.octets), Some(log.octets()));
    assert_eq!(log.get(newest.wrapping_add(1)), None, "not sent yet");
}
