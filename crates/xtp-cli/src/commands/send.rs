//! `xtp send`.

use crate::args::SendArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &SendArgs, _common: &Common) -> Outcome {
    Ok(())
}
