//! `xtp demo`.

use crate::args::DemoArgs;
use crate::common::{Common, Outcome};

pub(crate) mod receiver;

/// Runs it.
pub(crate) fn run(_args: &DemoArgs, _common: &Common) -> Outcome {
    Ok(())
}
