//! Seeds repeat, and together they reach everything.

use xtp_sim::scenario::{Class, Scenario};
use xtp_sim::{Summary, replay, run_seed};

#[test]
fn a_seed_repeats_exactly() {
    for seed in [1, 2, 3, 77] {
        let trace = |seed| {
            let mut out = Vec::new();
            replay(seed, &mut out).expect("writing to memory");
            String::from_utf8(out).expect("text")
        };
        let (one, two) = (trace(seed), trace(seed));
        assert!(one == two, "seed {seed} runs differently the second time");
        assert!(one.contains("FIRST"));
        let report = run_seed(seed);
        assert_eq!(
            report.packets as usize,
            one.lines().filter(|line| line.contains(" sync=")).count()
        );
    }
}

/// Seeds that showed a fault once; the file says which.
#[test]
fn seeds_that_failed_once_pass() {
    let list = include_str!("../../seeds/mended.txt");
    let lines = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or("").trim());
    let mut count = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        let (class, seed) = match line.split_once(' ') {
            Some((class, seed)) => (class.parse().expect("a class of seeds"), seed),
            None => (Class::Plain, line),
        };
        let report = Scenario::new(seed.parse().expect("a seed"), class).run();
        assert!(report.passed, "seed {line}: {:?}", report.failure);
        count += 1;
    }
    assert!(count >= 8, "{count} seeds only");
}

#[test]
fn seeds_pass_and_reach_every_fault_paradigm_and_option() {
    let mut summary = Summary::default();
    for seed in 1..=300 {
        summary.add(&run_seed(seed));
    }
    let text = summary.to_string();
    assert!(summary.failures.is_empty(), "{text}\n{:#?}", summary.failures);
    for (name, share) in summary
        .fault_rates()
        .into_iter()
        .chain(summary.paradigm_rates())
        .chain(summary.option_rates())
    {
        assert!(
            share >= 0.05,
            "{name} in {:.1} % of seeds only\n{text}",
            share * 100.0
        );
    }
    assert!(summary.excused_share() < 0.17, "{text}");
    assert!(summary.packets / summary.seeds >= 200, "{text}");
    assert!(summary.octets_checked / summary.seeds >= 64 << 10, "{text}");
    assert!(text.ends_with("passed 300 of 300"), "{text}");
}
