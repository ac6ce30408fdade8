//! `xtp sim`: seeds of the simulator on all cores.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use xtp_sim::scenario::{Class, Scenario};
use xtp_sim::shrink::shrink;
use xtp_sim::{SeedReport, Summary};

use crate::args::SimArgs;
use crate::common::{Common, Failure, Outcome, ProgressUnit, progress_bar, standard_output};

/// How often a signal is looked for while seeds run.
const LOOK: Duration = Duration::from_millis(100);

/// The result for programs.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    class: &'static str,
    seed: u64,
    seeds: u64,
    passed: u64,
    packets: u64,
    octets_checked: u64,
    associations: u64,
    clean: u64,
    excused_share: f64,
    excuses: &'a BTreeMap<&'static str, u64>,
    simulated_seconds: f64,
    seconds: f64,
    seeds_a_second: f64,
    fault_classes: serde_json::Value,
    paradigms: serde_json::Value,
    option_bits: serde_json::Value,
    injected: &'a BTreeMap<&'static str, u64>,
    failures: Vec<FailedSeed<'a>>,
}

#[derive(Serialize)]
struct FailedSeed<'a> {
    seed: u64,
    failure: &'a str,
    replay: String,
}

/// Runs seeds, or shows or shrinks one.
pub(crate) fn run(args: &SimArgs, common: &Common) -> Outcome {
    let scenario = |seed| Scenario {
        seed,
        class: args.class,
        keep: args.keep.clone(),
    };
    match (args.replay, args.shrink) {
        (Some(seed), _) => show(&scenario(seed), common),
        (None, Some(seed)) => make_smaller(&scenario(seed), common),
        (None, None) => many(args, common),
    }
}

/// Shrinks a failing seed; prints what is left of its plan, and how to replay that.
fn make_smaller(scenario: &Scenario, common: &Common) -> Outcome {
    let seed = scenario.seed;
    let mut runs = 0_u64;
    let shrunk = shrink(scenario, |part| {
        runs += 1;
        if runs.is_multiple_of(100) {
            common.out.detail(format_args!("{runs} parts were run"));
        }
        common.check().ok()?;
        guarded(part).failure
    });
    common.check()?;
    let Some(shrunk) = shrunk else {
        return Err(Failure::failed(format!(
            "seed {seed} does not fail: there is nothing to shrink"
        )));
    };
    let mut plan = Vec::new();
    shrunk
        .scenario
        .describe(&mut plan)
        .map_err(|error| Failure::io("cannot write down the plan", &error))?;
    let plan = String::from_utf8_lossy(&plan);
    if common.out.is_json() {
        common.out.object(&serde_json::json!({
            "ok": true,
            "seed": seed,
            "class": scenario.class.name(),
            "failure": shrunk.failure,
            "runs": shrunk.runs,
            "keep": shrunk.scenario.keep.as_ref().map(ToString::to_string),
            "replay": shrunk.scenario.command(),
            "plan": plan.lines().collect::<Vec<_>>(),
        }))?;
        return Ok(());
    }
    common.out.line(plan.trim_end())?;
    common.out.line(format_args!(
        "fails after {} runs: {}\n{}",
        shrunk.runs,
        shrunk.failure,
        shrunk.scenario.command()
    ))?;
    Ok(())
}

fn show(scenario: &Scenario, common: &Common) -> Outcome {
    let seed = scenario.seed;
    if let Err(wrong) = scenario.plan() {
        return Err(Failure::usage(wrong));
    }
    let written = if common.out.is_json() {
        scenario.replay(&mut io::sink())
    } else {
        standard_output().and_then(|stdout| scenario.replay(&mut io::BufWriter::new(stdout)))
    };
    let report = written.map_err(|error| Failure::io("cannot write to standard output", &error))?;
    if common.out.is_json() {
        common.out.object(&serde_json::json!({
            "ok": report.passed,
            "seed": report.seed,
            "failure": report.failure,
            "packets": report.packets,
            "octets_checked": report.octets_checked,
            "simulated_seconds": report.simulated.as_secs_f64(),
            "faults": report.faults,
            "paradigms": report.paradigms,
            "option_bits": report.options,
            "injected": report.strikes,
        }))?;
    }
    match report.failure {
        None => Ok(()),
        Some(failure) => Err(Failure::failed(format!("seed {seed} failed: {failure}"))),
    }
}

fn many(args: &SimArgs, common: &Common) -> Outcome {
    let threads = args.threads.map_or_else(
        || thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let next = AtomicU64::new(0);
    let begin = Instant::now();
    let summary = thread::scope(|scope| {
        let (sender, reports) = channel();
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // Once a signal stops the count nobody listens any more.
                    let scenario = Scenario::new(args.seed.wrapping_add(number), args.class);
                    if number >= args.count || sender.send(guarded(&scenario)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let collected = collect(args, common, &reports);
        if collected.is_err() {
            next.store(args.count, Ordering::Relaxed);
        }
        collected
    })?;
    report(args, common, &summary, begin.elapsed())
}

/// Runs a seed; a panic is that seed's failure, not the end of all others.
fn guarded(scenario: &Scenario) -> SeedReport {
    std::panic::catch_unwind(|| scenario.run()).unwrap_or_else(|_| SeedReport {
        seed: scenario.seed,
        failure: Some("the program panicked; the message is on standard error".to_owned()),
        ..SeedReport::default()
    })
}

/// Takes the reports as they come; a failure is told at once.
fn collect(args: &SimArgs, common: &Common, reports: &Receiver<SeedReport>) -> Result<Summary, Failure> {
    let bar = progress_bar(&common.out, ProgressUnit::Items, args.count, "seeds");
    let mut summary = Summary::default();
    let mut digests = BTreeMap::new();
    loop {
        common.check()?;
        match reports.recv_timeout(LOOK) {
            Ok(report) => {
                summary.add(&report);
                if args.digest.is_some() {
                    digests.insert(report.seed, report.digest);
                }
                if let Some(failure) = &report.failure {
                    let seed = report.seed;
                    bar.suspend(|| {
                        common
                            .out
                            .line(format_args!("{}\n  {failure}", replay_line(seed, args.class)))
                    })?;
                }
                bar.inc(1);
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    bar.finish_and_clear();
    summary.failures.sort();
    if let Some(path) = &args.digest {
        let lines = digests
            .iter()
            .map(|(seed, digest)| format!("{seed} {digest:016x}\n"));
        std::fs::write(path, lines.collect::<String>())
            .map_err(|error| Failure::io("cannot write the digests", &error))?;
    }
    Ok(summary)
}

fn replay_line(seed: u64, class: Class) -> String {
    Scenario::new(seed, class).command()
}

fn report(args: &SimArgs, common: &Common, summary: &Summary, span: Duration) -> Outcome {
    let failed = summary.seeds - summary.passed;
    if common.out.is_json() {
        let shares = |rates: Vec<(&'static str, f64)>| -> serde_json::Value {
            rates
                .into_iter()
                .map(|(name, share)| (name.to_owned(), serde_json::Value::from(share)))
                .collect()
        };
        common.out.object(&Report {
            ok: failed == 0,
            class: args.class.name(),
            seed: args.seed,
            seeds: summary.seeds,
            passed: summary.passed,
            packets: summary.packets,
            octets_checked: summary.octets_checked,
            associations: summary.flows,
            clean: summary.clean,
            excused_share: summary.excused_share(),
            excuses: &summary.excuses,
            simulated_seconds: summary.simulated.as_secs_f64(),
            seconds: span.as_secs_f64(),
            seeds_a_second: summary.seeds as f64 / span.as_secs_f64().max(1e-9),
            fault_classes: shares(summary.fault_rates()),
            paradigms: shares(summary.paradigm_rates()),
            option_bits: shares(summary.option_rates()),
            injected: &summary.strikes,
            failures: summary
                .failures
                .iter()
                .map(|(seed, failure)| FailedSeed {
                    seed: *seed,
                    failure,
                    replay: replay_line(*seed, args.class),
                })
                .collect(),
        })?;
    } else {
        common.out.detail(format_args!(
            "{:.0} seeds a second",
            summary.seeds as f64 / span.as_secs_f64().max(1e-9)
        ));
        common.out.line(summary)?;
    }
    match summary.failures.first() {
        None => Ok(()),
        Some((seed, _)) => Err(Failure::failed(format!(
            "{failed} of {} seeds failed; see the first with `{}`",
            summary.seeds,
            replay_line(*seed, args.class)
        ))),
    }
}
