//! `xtp man`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp man ~/.local/share/man/man1 && man xtp-cp";

/// Write the manual pages into a directory
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// The directory; made if it does not exist
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: PathBuf,
}
