//! `xtp top`.

use std::time::Duration;

use clap::Args;

use super::units;

const EXAMPLES: &str = "\
Examples:
  xtp serve --status ~/public &    a process that lets itself be seen
  xtp top                          its associations, once a second, until Ctrl-C
  xtp top --once --json 4711       those of process 4711, once, one object on one line

Of each association: the peer, the smoothed round trip, octets a second out and in since the last
look, octets that left and are not acknowledged, octets written that have not left, packets lost of
those sent, and what it waits for. Of each group that is transmitted to: receivers, the one that lacks
most, the rate and how much of it is repair; of each that is received: from whom, the rate and what
parity repaired. Of a process with more than 1000 associations the first 1000 are shown, and their number.

A process listens for `xtp top` only with --status, on a socket of mode 0600 in the directory xtp
below XDG_RUNTIME_DIR (else /tmp/xtp-UID); nothing can be changed through it.

Exit status: 0 done, 1 failed, 2 usage, 3 no such process, 130 interrupted.";

/// Show the associations and groups of running xtp processes that were started with --status
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// Of this process only
    #[arg(value_name = "PID")]
    pub(crate) pid: Option<u32>,

    /// Look once and end
    #[arg(long)]
    pub(crate) once: bool,

    /// Time between two looks
    #[arg(short = 'i', long, value_name = "DURATION", default_value = "1s", value_parser = units::duration, conflicts_with = "once")]
    pub(crate) interval: Duration,
}
