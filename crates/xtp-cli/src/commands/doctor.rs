//! `xtp doctor`.

use crate::args::DoctorArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &DoctorArgs, _common: &Common) -> Outcome {
    Ok(())
}
