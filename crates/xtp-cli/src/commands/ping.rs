//! `xtp ping`.

use crate::args::PingArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &PingArgs, _common: &Common) -> Outcome {
    Ok(())
}
