//! `xtp call`.

use crate::args::CallArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &CallArgs, _common: &Common) -> Outcome {
    Ok(())
}
