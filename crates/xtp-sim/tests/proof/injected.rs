//! Somebody who injects packets has no effect (§7.1), at every kind of exchange.

use std::collections::BTreeMap;

use xtp_sim::hostile::Strike;
use xtp_sim::paradigm::Paradigm;
use xtp_sim::scenario::{Class, Drawn, Scenario};
use xtp_sim::{Summary, run_hostile_seed};

#[test]
fn hostile_seeds_pass_and_everything_is_injected_into_every_paradigm() {
    let mut summary = Summary::default();
    let mut struck: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for seed in 1..=400 {
        let report = run_hostile_seed(seed);
        for (pair, count) in &report.struck {
            *struck.entry(*pair).or_default() += count;
        }
        summary.add(&report);
    }
    assert!(summary.failures.is_empty(), "{:#?}", summary.failures);
    for strike in Strike::ALL {
        let count = summary.strikes.get(strike.name()).copied().unwrap_or(0);
        assert!(count >= 20, "{} only {count} times\n{summary}", strike.name());
    }
    for paradigm in Paradigm::ALL {
        let of_it = struck.iter().filter(|((_, name), _)| *name == paradigm.name());
        let (kinds, count) = of_it.fold((0, 0), |(kinds, sum), (_, count)| (kinds + 1, sum + count));
        // Datagrams are not answered, and nothing of theirs is remembered.
        let least = if matches!(paradigm, Paradigm::Datagram | Paradigm::LongDatagram) {
            3
        } else {
            10
        };
        assert!(
            kinds >= least && count >= 50,
            "{}: {kinds} kinds, {count}",
            paradigm.name()
        );
    }
}

#[test]
fn a_hostile_seed_repeats_exactly_and_shows_what_is_injected() {
    for seed in [1, 2, 3] {
        let scenario = Scenario::new(seed, Class::Hostile);
        let trace = || {
            let mut out = Vec::new();
            scenario.replay(&mut out).expect("writing to memory");
            String::from_utf8(out).expect("text")
        };
        let (one, two) = (trace(), trace());
        assert!(one == two, "seed {seed} runs differently the second time");
        let shown = one
            .lines()
            .filter(|line| line.contains("INJECTED into host"))
            .count() as u64;
        assert_eq!(shown, run_hostile_seed(seed).strikes.values().sum::<u64>());
    }
}

/// The injector draws from streams of its own: what a seed plans without it, it plans with it.
#[test]
fn the_plan_of_a_seed_does_not_depend_on_the_injector() {
    let mut quiet = 0;
    for seed in 1..=20 {
        let [plain, hostile] = [Class::Plain, Class::Hostile].map(|class| {
            let Ok(Drawn::Flows(plan, _)) = Scenario::new(seed, class).plan() else {
                panic!("no plan of flows");
            };
            (format!("{:?}{:?}", plan.hosts, plan.flows), format!("{plan:?}"))
        });
        assert_eq!(plain.0, hostile.0, "seed {seed}");
        quiet += usize::from(plain.1 != hostile.1);
    }
    assert!(
        (5..=15).contains(&quiet),
        "{quiet} of 20 are without other faults"
    );
}
