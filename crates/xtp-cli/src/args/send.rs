//! `xtp send`.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  echo hello | xtp send 127.0.0.1             one reliable message (three packets)
  xtp send -m hello --acknowledged server     in two packets
  xtp send -m hello --datagram server         in one, and nobody knows whether it arrived
  tar c . | xtp send --stream server:4000     a stream of octets as long as you like
  tail -f log | xtp send --lines server       each line a message

The other side is `xtp listen`.";

/// Send standard input to `xtp listen` as a message, as messages, or as a stream
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    /// Whom to send to: host[:udpport][/service]
    #[arg(value_name = "ADDR", value_hint = clap::ValueHint::Hostname)]
    pub(crate) address: String,

    /// Send this text instead of standard input
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,

    /// As a stream of octets
    #[arg(long, group = "paradigm", conflicts_with = "message")]
    pub(crate) stream: bool,

    /// As one datagram without acknowledgement: whole or not at all, 1 MiB at most
    #[arg(long, group = "paradigm")]
    pub(crate) datagram: bool,

    /// ADDR is an address of broadcast: every host of its network gets the datagram
    #[arg(long, requires = "datagram")]
    pub(crate) broadcast: bool,

    /// As one acknowledged datagram: two packets instead of three
    #[arg(long, group = "paradigm")]
    pub(crate) acknowledged: bool,

    /// Every line as a message of its own, over one association
    #[arg(long, group = "paradigm")]
    pub(crate) lines: bool,

    /// Done only when the receiving program has taken it, not when its host has it
    #[arg(long, conflicts_with = "datagram")]
    pub(crate) delivered: bool,

    /// Keep trying while nobody listens there; a listener that is restarted meanwhile may get it twice
    #[arg(long, conflicts_with = "datagram")]
    pub(crate) wait_for_listener: bool,
}
