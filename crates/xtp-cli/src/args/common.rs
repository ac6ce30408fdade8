//! Options every command takes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::units;

/// Options every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Common options")]
pub(crate) struct CommonArgs {
    /// Say more on standard error: associations that open and end, twice losses and paths, three times waits and everything that
    /// happens; RUST_LOG picks, as in RUST_LOG=xtp::association=debug
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,

    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Print one JSON object on standard output and nothing else there
    // `xtp bench` has its own `--json`, which names a file; so this one has the same type.
    #[arg(long, global = true, num_args = 0, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,

    /// Give up after this long: 300ms, 5s, 2m, 1h (a bare number is seconds)
    #[arg(long, global = true, value_name = "DURATION", value_parser = units::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Send and accept at most this much a second: 10mbit (bits), 5MB or 512KiB (octets)
    #[arg(long, global = true, value_name = "RATE", value_parser = units::rate)]
    pub(crate) limit: Option<u64>,

    /// Let `xtp top` show the associations and groups of this process, by a socket that only this user can open
    #[cfg(unix)]
    #[arg(long, global = true)]
    pub(crate) status: bool,

    /// Write every packet sent and received to this file (pcap)
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,

    /// How packets look in the trace: ip36 (IP protocol 36, which dissectors know) or udp (as they are)
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t = TraceFormat::Ip36, hide_possible_values = true)]
    pub(crate) trace_format: TraceFormat,

    /// How to wait for the network: block (least processor time), spin (least latency) or adaptive
    // `xtp cast send` has its own `--wait`, which is a duration; so this one has the same type.
    #[arg(long, global = true, value_name = "HOW", value_parser = WaitArg::how(), default_value = "adaptive", hide_possible_values = true)]
    pub(crate) wait: WaitArg,
}

impl CommonArgs {
    /// Standard output is for JSON alone.
    pub(crate) fn prints_json(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }
}

/// Framing of a trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// As IP protocol 36, which dissectors know
    Ip36,
    /// As the UDP datagrams they are
    Udp,
}

/// What stands behind `--wait`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitArg {
    /// Sleep at once: least processor time
    Block,
    /// Never sleep: least latency, one core busy
    Spin,
    /// Poll for a moment, then sleep
    Adaptive,
    /// `xtp cast send`: so long for those who are expected
    For(Duration),
}

impl WaitArg {
    /// Understands how calls wait.
    fn how() -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(["block", "spin", "adaptive"])
            .map(|how| Self::called(&how).unwrap_or(Self::Adaptive))
    }

    fn called(how: &str) -> Option<Self> {
        Some(match how {
            "block" => Self::Block,
            "spin" => Self::Spin,
            "adaptive" => Self::Adaptive,
            _ => return None,
        })
    }

    /// Understands a duration, or how calls wait.
    ///
    /// # Errors
    /// A sentence that says what would be right.
    pub(crate) fn duration_or_how(text: &str) -> Result<Self, String> {
        Self::called(text).map_or_else(|| units::duration(text).map(Self::For), Ok)
    }
}
