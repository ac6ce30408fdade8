//! `xtp bench`: a plan from the arguments, and the report as text, JSON and HTML.

mod flow;
mod page;
mod saved;
mod serve;

use std::fs;
use std::path::Path as File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use xtp_bench::{Error, Experiment, Launcher, Path, Plan, Progress, Remarks, Report, WaitPolicy};

use crate::args::{BenchArgs, BenchWorkerArgs, WaitArg};
use crate::common::{Address, Common, Failure, Outcome, Output, ProgressUnit, progress_bar};

/// What takes less is over before a bar would be read.
const UNSEEN: Duration = Duration::from_secs(1);

/// Measures and reports.
pub(crate) fn run(args: &BenchArgs, common: &Common) -> Outcome {
    if !args.from.is_empty() {
        let report = saved::read(&args.from)?;
        writable(args)?;
        return write(args, common, &report);
    }
    if args.experiment.as_deref() != Some("flow") {
        flow::refuse(&args.flow)?;
    }
    let launcher = Launcher {
        program: std::env::current_exe().map_err(|error| Failure::io("cannot find this program", &error))?,
        args: vec!["bench-worker".to_owned()],
        interrupted: Arc::new(AtomicBool::new(false)),
        remarks: remarks(&common.out),
    };
    let interrupted = Arc::clone(&launcher.interrupted);
    common
        .signals
        .on_caught(move || interrupted.store(true, Ordering::Relaxed));
    if args.experiment.as_deref() == Some("serve") {
        return serve::run(args, common, &launcher);
    }
    if args.listen.is_some() {
        return Err(Failure::usage("--listen is an option of `xtp bench serve`"));
    }
    if args.experiment.as_deref() == Some("flow") {
        return flow::run(args, common, &launcher);
    }
    let plan = plan(args, common)?;
    writable(args)?;
    let begin = Instant::now();
    let bar = progress_bar(&common.out, ProgressUnit::Items, 0, "measuring");
    let mut show = |progress: &Progress| {
        if begin.elapsed() > UNSEEN {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            bar.set_message(progress.doing.clone());
        }
        if common.check().is_err() {
            launcher.interrupted.store(true, Ordering::Relaxed);
        }
    };
    let report = xtp_bench::run(&plan, &launcher, &mut show);
    bar.finish_and_clear();
    let report = report.map_err(|error| failure(&error, common))?;
    write(args, common, &report)?;
    if report.interrupted {
        return Err(failure(&Error::Interrupted, common));
    }
    match report.failures.first() {
        None => Ok(()),
        Some(first) => Err(Failure::failed(format!(
            "{} measurements of xtp failed, the first: {first}",
            report.failures.len()
        ))),
    }
}

/// What is of use while something is measured, as any remark.
fn remarks(out: &Output) -> Remarks {
    let out = Output::new(out.is_json(), out.is_quiet(), 0);
    Remarks::to(move |text| out.note(text))
}

/// A party of a measurement: everything about it comes in and goes out as JSON.
pub(crate) fn worker(_: &BenchWorkerArgs) -> Outcome {
    if xtp_bench::worker() {
        return Ok(());
    }
    // The coordinator was told why.
    Err(Failure::failed(""))
}

fn plan(args: &BenchArgs, common: &Common) -> Result<Plan, Failure> {
    let usage = |error: Error| Failure::usage(error.to_string());
    if common.args.trace.is_some() || common.args.limit.is_some() {
        return Err(Failure::usage(
            "a measurement has neither --trace nor --limit; leave them out",
        ));
    }
    let mut plan = Plan::new(Experiment::Pingpong);
    plan.experiments = match args.experiment.as_deref().unwrap_or("all") {
        "all" => Experiment::ALL.to_vec(),
        name => vec![name.parse().map_err(usage)?],
    };
    if let Some(sizes) = &args.size {
        plan.set_sizes(sizes).map_err(usage)?;
    }
    if let Some(length) = args.length {
        plan.sizes = vec![length as u64];
    }
    let ttcp = args.length.is_some() || args.count.is_some() || args.source_sink;
    if ttcp && plan.experiments != [Experiment::Bulk] {
        return Err(Failure::usage("-l, -n and -s are options of `xtp bench bulk`"));
    }
    let paths = args.path.split(',').map(|path| path.trim().parse());
    plan.paths = paths.collect::<Result<Vec<Path>, Error>>().map_err(usage)?;
    if let Some(server) = &args.to {
        let address = Address::peer_at(server, xtp_bench::REMOTE_SERVICE, xtp_bench::REMOTE_PORT)?;
        plan.to = address.resolve()?.first().copied();
    }
    if let Some(controller) = &args.controller {
        plan.options.insert("controller".to_owned(), controller.clone());
    }
    plan.rivals = args.rivals.parse().map_err(usage)?;
    plan.runs = args.runs;
    plan.quick = args.quick;
    plan.wait = wait(common);
    for option in &args.options {
        let Some((name, value)) = option.split_once('=') else {
            return Err(Failure::usage(format!("'{option}' should be NAME=VALUE")));
        };
        plan.options.insert(name.to_owned(), value.to_owned());
    }
    if let Some(ranks) = &args.ranks {
        plan.options.insert("ranks".to_owned(), ranks.clone());
    }
    let numbers = [
        ("count", args.count),
        ("associations", args.associations),
        ("in_flight", args.in_flight),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            plan.options.insert(name.to_owned(), number.to_string());
        }
    }
    let wan = &args.wan;
    let wan = [
        ("part", &wan.part),
        ("cells", &wan.cells),
        ("rate", &wan.rate),
        ("rtt", &wan.rtt),
        ("loss", &wan.loss),
        ("seconds", &wan.seconds),
    ];
    for (name, value) in wan {
        if let Some(value) = value {
            plan.options.insert(name.to_owned(), value.clone());
        }
    }
    plan.command = std::env::args().collect::<Vec<_>>().join(" ");
    plan.check().map_err(usage)?;
    Ok(plan)
}

fn wait(common: &Common) -> WaitPolicy {
    match common.args.wait {
        WaitArg::Block => WaitPolicy::Block,
        WaitArg::Spin => WaitPolicy::Spin,
        WaitArg::Adaptive | WaitArg::For(_) => WaitPolicy::Adaptive,
    }
}

/// Says before measuring, not after, that the result cannot be written.
fn writable(args: &BenchArgs) -> Outcome {
    let files = [&args.json, &args.html, &args.report].into_iter().flatten();
    for file in files.filter(|file| *file != File::new("-")) {
        let opened = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .map(drop);
        opened.map_err(|error| Failure::io(format_args!("cannot write {}", file.display()), &error))?;
    }
    Ok(())
}

fn write(args: &BenchArgs, common: &Common, report: &Report) -> Outcome {
    common.out.line(xtp_bench::table(report).trim_end())?;
    match args.json.as_deref() {
        None => {}
        Some(file) if file == File::new("-") => common.out.object(&report.rows)?,
        Some(file) => {
            let text = serde_json::to_string_pretty(&report.rows)
                .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
            put(file, &format!("{text}\n"))?;
        }
    }
    if let Some(file) = &args.report {
        put(file, &format!("{}\n", report.json()))?;
    }
    if let Some(file) = &args.html {
        put(file, &xtp_bench::render_html(report))?;
    }
    match &args.page {
        None => Ok(()),
        Some(file) => page::put(file, report),
    }
}

fn put(file: &File, text: &str) -> Outcome {
    fs::write(file, text)
        .map_err(|error| Failure::io(format_args!("cannot write {}", file.display()), &error))
}

fn failure(error: &Error, common: &Common) -> Failure {
    match error {
        Error::Interrupted => match common.check() {
            Err(failure) => failure,
            Ok(()) => Failure::interrupted(),
        },
        Error::Plan(_) | Error::UnknownTransport { .. } => Failure::usage(error.to_string()),
        other => Failure::failed(other.to_string()),
    }
}
