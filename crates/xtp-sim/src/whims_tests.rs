//! What is drawn beside the scripts leaves seeds that are kept alone.

use super::{MEMORY, USERS};
use crate::rng::Rng;

#[test]
fn seeds_that_are_kept_stay_what_they_were() {
    for line in include_str!("../seeds/mended.txt").lines() {
        let words = line.split('#').next().unwrap_or_default().trim();
        let Ok(seed) = words.parse::<u64>() else {
            continue;
        };
        for (stream, percent) in [(USERS, 12), (MEMORY, 8)] {
            assert!(
                !Rng::new(seed, stream).percent(percent),
                "seed {seed}, stream {stream}"
            );
        }
    }
}
