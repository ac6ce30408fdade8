//! How long an end of a file association waits.

use std::time::Duration;

use super::tuning;

/// A receiver probes after a while, and gives up when no answer comes: both times together are the user's limit.
#[test]
fn the_wait_is_what_the_user_allows() {
    for patience in [100, 1_000, 5_000, 60_000, 600_000].map(Duration::from_millis) {
        let tuning = tuning(patience);
        let ask = tuning.keepalive.expect("it asks");
        assert_eq!(ask + tuning.timeout, patience);
        assert!(ask * 4 <= patience, "most of it is left for the answer");
    }
}
