//! `xtp answer`.

use std::ffi::OsString;

use clap::Args;

use super::units;

const EXAMPLES: &str = "\
Examples:
  xtp answer -- date                         whoever calls is told the date
  xtp answer -- tr a-z A-Z                   the request is the program's standard input
  xtp answer 0.0.0.0:4000 --jobs 8 -- ./app  from the network, up to eight at a time

The program's standard output is the answer; it knows who asks from XTP_PEER, address and port,
and XTP_SERVICE, the service number. What it wrote when it ends is the answer, even if a child
that it left writes on. If it ends with another status than 0, the
caller is told so. A program that runs longer than --timeout is
stopped. Prints `listening on ADDR` on standard error when ready. The other side is `xtp
call`.";

/// Answer transactions with the output of a program
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AnswerArgs {
    /// Where to listen: host[:udpport][/service]
    #[arg(value_name = "ADDR", default_value = "127.0.0.1")]
    pub(crate) address: String,

    /// Programs that run at the same time; further requests wait
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,

    /// Longest request accepted
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = units::size)]
    pub(crate) max_request: usize,

    /// Longest answer; a program that writes more is stopped
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = units::size)]
    pub(crate) max_response: usize,

    /// Two packets instead of three where the answer fits one: its receipt is not confirmed
    #[arg(long)]
    pub(crate) unconfirmed: bool,

    /// End after the first request
    #[arg(long)]
    pub(crate) once: bool,

    /// Give the program this of the environment, too: NAME, or NAME=VALUE. It has PATH, HOME, USER, LOGNAME, SHELL, TMPDIR, TZ, TERM and
    /// the language, and nothing else
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<OsString>,

    /// Give the program the whole environment, secrets too
    #[arg(long)]
    pub(crate) keep_env: bool,

    /// The program and its arguments
    #[arg(value_name = "CMD", last = true, required = true, value_hint = clap::ValueHint::CommandWithArguments)]
    pub(crate) program: Vec<OsString>,
}
