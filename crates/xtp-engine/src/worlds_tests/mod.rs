//! Two worlds that differ in nothing but how their engines are driven, by the general calls or by the facade's sequences
//! with shortcuts, run in step: octets sent, events, return values and counters are the same, whatever the network does to
//! the packets. Now and then it changes one field of one of them.
//!
//! `WORLDS_SEED=7` runs one seed and shows the fewest actions that make the worlds go apart; `WORLDS_SEEDS=0..50000` runs
//! others than the usual ones.

mod action;
mod arrival;
mod calls;
mod compare;
mod dice;
mod generate;
mod host;
mod mutate;
mod near;
mod profile;
mod regressions;
mod shrink;
mod world;

use compare::{Taken, run_seed};
use host::Shortcut;
use profile::Profile;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seeds of a usual run.
const SEEDS: u64 = 1_000;

/// Runs seeds on as many threads as there are processors; how often each shortcut was taken, and the first seed that
/// failed, with what it said.
fn run_all(seeds: Range<u64>) -> (Taken, Vec<(u64, String)>) {
    let next = AtomicU64::new(seeds.start);
    let worker = || {
        let (mut taken, mut failed) = ([0; Shortcut::COUNT], Vec::new());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return (taken, failed);
            }
            match run_seed(seed) {
                Ok(more) => taken.iter_mut().zip(more).for_each(|(sum, more)| *sum += more),
                Err(found) => {
                    // At once: who looks for one that fails need not wait for all.
                    let what = format!("action {}: {}", found.step, found.what);
                    println!("WORLDS_SEED={seed} cargo test -p xtp-engine --lib worlds  # {what}");
                    failed.push((seed, what));
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let (mut taken, mut failed) = ([0; Shortcut::COUNT], Vec::new());
        for worker in workers {
            let (more, others) = worker.join().unwrap();
            taken
                .iter_mut()
                .zip(more)
                .for_each(|(sum, more): (&mut u64, u64)| *sum += more);
            failed.extend(others);
        }
        failed.sort();
        (taken, failed)
    })
}

/// The fewest actions that make the worlds go apart.
fn show(seed: u64) {
    let profile = Profile::new(seed);
    let actions = generate::actions(seed, &profile);
    let Err(found) = compare::run(&profile, &actions) else {
        println!("seed {seed}: both worlds are the same");
        return;
    };
    let (actions, found) = shrink::shrink(&profile, actions, found);
    println!("{profile:#?}");
    actions.iter().for_each(|action| println!("{action:?}"));
    panic!("seed {seed}: {}", found.what);
}

#[test]
fn shortcuts_and_general_calls_are_one_engine() {
    if let Some(seed) = number("WORLDS_SEED") {
        return show(seed);
    }
    let seeds = std::env::var("WORLDS_SEEDS").ok().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let usual = seeds.is_none();
    let (taken, failed) = run_all(seeds.unwrap_or(0..SEEDS));
    assert!(
        failed.is_empty(),
        "{} seeds failed: {:?}",
        failed.len(),
        failed.iter().map(|(seed, _)| *seed).collect::<Vec<_>>()
    );
    println!("shortcuts taken: {taken:?}");
    assert!(
        !usual || taken.iter().all(|times| *times > SEEDS / 4),
        "some shortcut was hardly taken: {taken:?}"
    );
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
