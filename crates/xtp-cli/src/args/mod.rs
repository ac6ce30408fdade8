//! What can be written behind `xtp`: the one definition that help, completions and manual pages come from.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

mod answer;
#[cfg(target_os = "linux")]
mod bench;
mod call;
mod cast;
mod common;
mod completions;
mod cp;
mod demo;
mod doctor;
mod linkem;
mod listen;
mod ls;
mod man;
mod ping;
mod send;
mod serve;
mod sim;
#[cfg(unix)]
mod top;
pub(crate) mod units;

pub(crate) use answer::AnswerArgs;
#[cfg(target_os = "linux")]
pub(crate) use bench::{BenchArgs, BenchWorkerArgs, FlowArgs};
pub(crate) use call::CallArgs;
pub(crate) use cast::{
    CastArgs, CastCommon, CastRecvArgs, CastSendArgs, CastWay, CycleArg, ModeArg, SlowArg,
};
pub(crate) use common::{CommonArgs, TraceFormat, WaitArg};
pub(crate) use completions::CompletionsArgs;
pub(crate) use cp::{CpArgs, LinksArg};
pub(crate) use demo::{DemoArgs, DemoReceiverArgs};
pub(crate) use doctor::DoctorArgs;
pub(crate) use linkem::{LinkemArgs, Pair, Until, Way};
pub(crate) use listen::ListenArgs;
pub(crate) use ls::LsArgs;
pub(crate) use man::ManArgs;
pub(crate) use ping::PingArgs;
pub(crate) use send::SendArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use sim::SimArgs;
#[cfg(unix)]
pub(crate) use top::TopArgs;

const EXAMPLES: &str = "\
Examples:
  xtp demo                           every paradigm at work on this machine, beside TCP and UDP
  xtp serve ~/public                 offer a directory on 127.0.0.1
  xtp cp xtp://127.0.0.1/big.iso .   fetch a file from it, verified, resumable
  xtp cast send big.iso 239.1.2.3    send it to everybody who runs xtp cast recv 239.1.2.3
  xtp listen                         print what arrives ...
  echo hello | xtp send 127.0.0.1    ... when somebody sends it

ADDR is host[:udpport][/service]; IPv6 addresses stand in brackets: [::1]:36036, a link-local
one with its interface: [fe80::1%eth0]:36036. The UDP port is 36036 unless given, the service
is the command's own: echo 7, message 9, call 10, files 21. Of a name with several addresses
the first that answers gets everything; each has 0.25 s before the next is tried, 8 at most.

Exit status: 0 done, 1 failed, 2 usage, 3 unreachable or timed out, 4 refused by the peer,
5 verification failed, 130 interrupted, 141 what reads the output has ended. A server that
SIGTERM or, unless it was ignored, SIGHUP ends is done.";

/// Messages, transactions, streams and files over the Xpress Transport Protocol (XTP 4 on UDP).
#[derive(Debug, Parser)]
#[command(name = "xtp", version, propagate_version = true, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Serve(ServeArgs),
    Cp(CpArgs),
    Ls(LsArgs),
    Cast(CastArgs),
    Ping(PingArgs),
    Send(SendArgs),
    Listen(ListenArgs),
    Call(CallArgs),
    Answer(AnswerArgs),
    Doctor(DoctorArgs),
    #[cfg(unix)]
    Top(TopArgs),
    Sim(SimArgs),
    #[cfg(target_os = "linux")]
    Bench(Box<BenchArgs>),
    Linkem(Box<LinkemArgs>),
    Completions(CompletionsArgs),
    Man(ManArgs),
    #[command(name = "demo-receiver", hide = true)]
    DemoReceiver(DemoReceiverArgs),
    #[cfg(target_os = "linux")]
    #[command(name = "bench-worker", hide = true)]
    BenchWorker(BenchWorkerArgs),
}

/// Options that mean nothing to a command that only writes a text.
const NO_ASSOCIATION: &[&str] = &[
    "verbose",
    "timeout",
    "limit",
    "status",
    "trace",
    "trace_format",
    "wait",
];

/// Commands for which some of the common options mean nothing: their help does not list them.
const WITHOUT: &[(&str, &[&str])] = &[
    ("completions", NO_ASSOCIATION),
    ("man", NO_ASSOCIATION),
    ("sim", &["limit", "status", "trace", "trace_format", "wait"]),
    ("linkem", &["limit", "status", "trace", "trace_format", "wait"]),
    #[cfg(unix)]
    (
        "top",
        &["verbose", "limit", "status", "trace", "trace_format", "wait"],
    ),
    ("bench", &["limit", "status", "trace", "trace_format"]),
];

/// The definition: for the parser, help, completions and manual pages.
pub(crate) fn definition() -> clap::Command {
    let mut definition = Cli::command();
    let common: Vec<clap::Arg> = definition.get_arguments().cloned().collect();
    for &(name, options) in WITHOUT {
        if definition.find_subcommand(name).is_some() {
            let hidden = common
                .iter()
                .filter(|option| options.contains(&option.get_id().as_str()))
                .map(|option| option.clone().hide(true));
            // What a command has itself it does not get from the common ones.
            definition = definition.mut_subcommand(name, |command| command.args(hidden));
        }
    }
    definition.build();
    definition
}

/// Understands a command line.
///
/// # Errors
/// What is wrong with it, or the help that it asks for.
pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut definition = definition();
    let mut matches = definition.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut definition))
}
