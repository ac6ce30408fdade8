//! Stalls of associations: what ends one, and what it counts from.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_peer_keeps_its_place_by_taking_enough() {
    let mut stalls = Stalls::default();
    let id = 7;
    let at = |seconds: u32| Time::ZERO + seconds * SECOND;
    assert_eq!(stalls.note(at(1), id, 0), Duration::ZERO);
    // A kilobyte a second is less than it may be...
    assert_eq!(stalls.note(at(11), id, 10 << 10), 10 * SECOND);
    // ...and counts together.
    assert_eq!(stalls.note(at(19), id, LEAST), Duration::ZERO);
    assert_eq!(stalls.note(at(30), id, LEAST + 1), 11 * SECOND);
    stalls.end_look();
    assert_eq!(stalls.note(at(31), id, LEAST + 1), 12 * SECOND);
    // Once it was not among those that lack something, it begins anew.
    stalls.end_look();
    stalls.end_look();
    assert_eq!(stalls.note(at(60), id, LEAST + 1), Duration::ZERO);
}
