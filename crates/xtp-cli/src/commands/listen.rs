//! `xtp listen`.

use crate::args::ListenArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &ListenArgs, _common: &Common) -> Outcome {
    Ok(())
}
