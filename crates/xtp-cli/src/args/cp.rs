//! `xtp cp`.

use std::ffi::OsString;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp cp xtp://127.0.0.1/big.iso .       fetch a file
  xtp cp photos xtp://server/backup      send a directory with everything in it
  xtp cp a b c xtp://[::1]:4000/         several sources, another UDP port
  xtp cp --limit 50mbit big.iso xtp://server/

Copies as `rsync -a` would: directories with their content, modes and times kept, symbolic
links as links if they stay inside. A file replaces another only after it was verified; an
unchanged one is skipped. Run it again after an interruption and it continues where it
stopped.";

/// Copy files and directories to or from `xtp serve`, verified and resumable
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CpArgs {
    /// Sources, then the target; either all sources or the target are xtp://host[:port]/path
    #[arg(value_names = ["SRC", "DST"], required = true, num_args = 2.., value_hint = clap::ValueHint::AnyPath)]
    pub(crate) paths: Vec<OsString>,
}
