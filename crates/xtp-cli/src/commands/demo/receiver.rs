//! The other process.

use crate::args::DemoReceiverArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &DemoReceiverArgs, _common: &Common) -> Outcome {
    Ok(())
}
