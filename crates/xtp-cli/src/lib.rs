//! The `xtp` command: arguments in, one outcome out. A library only so that its parsers can be fuzzed.
#![forbid(unsafe_code)]

use std::process::ExitCode;

mod args;
mod commands;
mod common;
mod files;
#[doc(hidden)]
pub mod fuzzing;

use args::Command;
use common::{Common, Outcome, Output};

/// Runs the command line this process was started with.
#[must_use]
pub fn main() -> ExitCode {
    let mut cli = match args::read(std::env::args_os()) {
        Ok(cli) => cli,
        // Usage errors end in here with status 2.
        Err(error) if error.use_stderr() => error.exit(),
        Err(help) => {
            let printed = Output::new(false, false, 0).help(&help);
            return printed.map_or_else(|failure| failure.report_bare(), |()| ExitCode::SUCCESS);
        }
    };
    if let Command::Cp(args) = &cli.command
        && let Some(rate) = args.bwlimit.filter(|rate| *rate < u64::MAX)
    {
        cli.common.limit.get_or_insert(rate);
    }
    let common = match Common::new(cli.common) {
        Ok(common) => common,
        Err(failure) => return failure.report_bare(),
    };
    let outcome = run(&cli.command, &common);
    common.conclude(outcome)
}

fn run(command: &Command, common: &Common) -> Outcome {
    match command {
        Command::Demo(args) => commands::demo::run(args, common),
        Command::Serve(args) => files::serve(args, common),
        Command::Cp(args) => files::cp(args, common),
        Command::Ls(args) => files::ls(args, common),
        Command::Cast(args) => files::cast(args, common),
        Command::Ping(args) => commands::ping::run(args, common),
        Command::Send(args) => commands::send::run(args, common),
        Command::Listen(args) => commands::listen::run(args, common),
        Command::Call(args) => commands::call::run(args, common),
        Command::Answer(args) => commands::answer::run(args, common),
        Command::Doctor(args) => commands::doctor::run(args, common),
        #[cfg(unix)]
        Command::Top(args) => commands::top::run(args, common),
        Command::Linkem(args) => commands::linkem::run(args, common),
        Command::Sim(args) => commands::sim::run(args, common),
        Command::Completions(args) => commands::completions::run(args, common),
        Command::Man(args) => commands::man::run(args, common),
        Command::DemoReceiver(args) => commands::demo::receiver::run(args, common),
        #[cfg(target_os = "linux")]
        Command::Bench(args) => commands::bench::run(args, common),
        #[cfg(target_os = "linux")]
        Command::BenchWorker(args) => commands::bench::worker(args),
    }
}
