//! Seeds of short exchanges show what they showed when their digests were recorded: the same datagrams, octet for octet, and
//! the same events, at the same moments.
//!
//! It holds changes that are to make the engine simpler or faster and nothing else. Who changes what is sent on purpose
//! records anew, with `UPDATE_EXPECT=1`, and says so; where a hundred differs that should not, `xtp sim --class exchange
//! --digest FILE` of both builds says which seed, and `--replay` of both shows what.

use std::fmt::Write as _;

use expect_test::expect_file;
use xtp_sim::digest::Digest;
use xtp_sim::scenario::{Class, Scenario};

/// Seeds of one line.
const HUNDRED: u64 = 100;
/// Lines.
const LINES: u64 = 20;

#[test]
fn short_exchanges_are_the_ones_recorded() {
    let mut text = String::new();
    for line in 0..LINES {
        let (first, last) = (line * HUNDRED + 1, (line + 1) * HUNDRED);
        let mut all = Digest::default();
        for seed in first..=last {
            let report = Scenario::new(seed, Class::Exchange).run();
            assert!(report.passed, "seed {seed}: {:?}", report.failure);
            all.add(report.digest);
        }
        let _ = writeln!(text, "{first}-{last} {:016x}", all.value());
    }
    expect_file!["../../seeds/exchange-digests.txt"].assert_eq(&text);
}
