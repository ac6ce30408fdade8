//! `xtp ls`.

use std::ffi::OsString;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp ls xtp://127.0.0.1/                what the server offers
  xtp ls -l xtp://server/logs            with rights, owners, sizes and times (UTC)
  xtp ls 'xtp://server/logs/*.gz'        what a pattern stands for: * ? [a-z]
  xtp ls -d xtp://server/logs --json     the directory itself, as JSON";

/// List what `xtp serve` offers
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LsArgs {
    /// Rights, owner, size and time as well
    #[arg(short, long)]
    pub(crate) long: bool,

    /// Directories themselves, not what is in them
    #[arg(short, long)]
    pub(crate) directory: bool,

    /// Names as they are, each ended by a zero octet; without it a newline, what is no text, and backslashes are escaped
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,

    /// xtp://host[:port]/path, all on one server
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<OsString>,
}
