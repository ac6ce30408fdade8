//! What is sent: the moment it was sent, and octets whose place tells their value.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Octets of the moment.
const MOMENT: usize = 8;

/// Nanoseconds since 1970; both processes read the same clock.
fn now() -> u64 {
    let span = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn octet(place: usize) -> u8 {
    (place % 251) as u8
}

/// `size` octets (8 at least) that say that they are sent now.
pub(super) fn make(size: usize) -> Vec<u8> {
    let mut octets: Vec<u8> = now().to_le_bytes().to_vec();
    octets.extend((MOMENT..size).map(octet));
    octets
}

/// How long ago it was sent; `None` if it is not what was sent.
pub(super) fn age(octets: &[u8], size: usize) -> Option<Duration> {
    let (moment, rest) = octets.split_first_chunk::<MOMENT>()?;
    let right = octets.len() == size
        && rest
            .iter()
            .zip(MOMENT..)
            .all(|(found, place)| *found == octet(place));
    right.then(|| Duration::from_nanos(now().saturating_sub(u64::from_le_bytes(*moment))))
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
