//! `xtp sim`.

use crate::args::SimArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &SimArgs, _common: &Common) -> Outcome {
    Ok(())
}
