//! `xtp doctor`.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  xtp doctor           what this machine offers, and what to change
  xtp doctor --json    the same for programs";

/// Tell what this machine offers to xtp, and what to change
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {}
