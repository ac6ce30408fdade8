//! Seeds of groups: what they draw, and those that failed once.

use xtp_sim::Summary;
use xtp_sim::scenario::{Class, Scenario};

/// Everything that may happen to a group, and the least share of seeds in which it does, in percent.
const HAPPENS: [(&str, f64); 24] = [
    ("group: shared loss", 5.0),
    ("group: compared", 3.0),
    ("group: a tag in two symbols", 1.5),
    ("transmitter: its user gave the past", 1.2),
    ("receiver loses by itself", 30.0),
    ("receiver's answers lost", 20.0),
    ("receiver: reordering", 20.0),
    ("receiver: duplication", 20.0),
    ("receiver: jitter", 20.0),
    ("receiver: slow link", 3.0),
    ("receiver reads slowly", 20.0),
    ("receiver joins late", 2.5),
    ("receiver rejects", 5.0),
    ("receiver is behind", 4.0),
    ("receiver paused", 8.0),
    ("receiver killed", 5.0),
    ("receiver switched off", 3.0),
    ("receiver restarted", 3.0),
    ("receiver cut off", 5.0),
    ("receiver leaves", 1.5),
    ("transmitter killed", 1.5),
    ("transmitter switched off", 1.5),
    ("transmitter paused", 3.0),
    ("receiver: queue full", 0.1),
];

/// Manners of groups, and the least share of seeds.
const MANNERS: [(&str, f64); 8] = [
    ("group, all, parity", 15.0),
    ("group, all, no parity", 8.0),
    ("group, a list", 2.0),
    ("group, any of", 3.0),
    ("group, nobody required", 4.0),
    ("group, buckets", 12.0),
    ("group, datagram answered", 5.0),
    ("group, datagram nobody answers", 0.5),
];

const SEEDS: u64 = 1_000;

#[test]
fn seeds_of_groups_pass_and_draw_everything() {
    let mut summary = Summary::default();
    for seed in 1..=SEEDS {
        summary.add(&Scenario::new(seed, Class::Cast).run());
    }
    assert!(summary.failures.is_empty(), "{:#?}", summary.failures);
    let happened = summary.fault_rates();
    let manners = summary.paradigm_rates();
    let share = |rates: &[(&'static str, f64)], name: &str| {
        let found = rates.iter().find(|(known, _)| *known == name);
        found.map_or(0.0, |(_, share)| share * 100.0)
    };
    for (name, least) in HAPPENS {
        let share = share(&happened, name);
        assert!(share >= least, "{name} in {share:.1} % of seeds only\n{summary}");
    }
    for (name, least) in MANNERS {
        let share = share(&manners, name);
        assert!(share >= least, "{name} in {share:.1} % of seeds only\n{summary}");
    }
    // In nine groups of ten nobody feels anything of what happens to others: not a twentieth of its time. Of 20 000 seeds 8 % of
    // those compared are held up; of so few as here two standard deviations more may be.
    let count = |name| share(&happened, name) / 100.0 * SEEDS as f64;
    let (compared, held_up) = (count("group: compared"), count("group: held up"));
    let most = compared / 10.0 + 2.0 * (compared * 0.1 * 0.9).sqrt();
    assert!(
        held_up <= most,
        "{held_up:.0} of {compared:.0} were held up, at most {most:.1} may be"
    );
}

/// The first number is the seed, the text what was wrong with the engine.
const MENDED: [(u64, &str); 5] = [
    (
        173,
        "a tag between two symbols with many marks left twice in one repair",
    ),
    (
        9_099,
        "buckets: who came when all was acknowledged was never helped",
    ),
    (
        3_750,
        "who came late where a tag lay across the beginning of what was kept read the rest of it as data",
    ),
    (
        3_970,
        "who came late where what was kept began within a packet never got the rest of it",
    ),
    (16_886, "buckets: nobody found out that all hosts were gone"),
];

#[test]
fn seeds_of_groups_that_failed_once_pass() {
    for (seed, what) in MENDED {
        let report = Scenario::new(seed, Class::Cast).run();
        assert!(report.passed, "seed {seed} ({what}): {:?}", report.failure);
    }
}
