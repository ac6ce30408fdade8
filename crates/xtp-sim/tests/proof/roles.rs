//! Seeds of groups in which odd parts are played: what they draw.

use xtp_sim::Summary;
use xtp_sim::scenario::{Class, Scenario};

/// What happens in such groups, and the least share of seeds in which it does, in percent.
const HAPPENS: [(&str, f64); 11] = [
    ("group: a member lies", 5.0),
    ("group: a member that lies is out", 1.0),
    ("receiver deaf to large packets", 8.0),
    ("receivers behind one address", 8.0),
    ("receivers without names behind one address", 2.0),
    ("receiver paused for 10 s", 2.0),
    ("transmitter paused for 10 s", 1.5),
    ("receiver: carrier takes a part", 3.0),
    ("transmitter: carrier takes a part", 5.0),
    ("group: more are behind than are served", 0.3),
    ("group: compared", 8.0),
];

const SEEDS: u64 = 1_000;

#[test]
fn groups_of_roles_pass_and_play_every_part() {
    let mut summary = Summary::default();
    for seed in 1..=SEEDS {
        summary.add(&Scenario::new(seed, Class::Roles).run());
    }
    assert!(summary.failures.is_empty(), "{:#?}", summary.failures);
    let happened = summary.fault_rates();
    for (name, least) in HAPPENS {
        let found = happened.iter().find(|(known, _)| *known == name);
        let share = found.map_or(0.0, |(_, share)| share * 100.0);
        assert!(share >= least, "{name} in {share:.1} % of seeds only\n{summary}");
    }
}
