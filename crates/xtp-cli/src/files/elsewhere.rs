//! Systems without directories that can be held open and resolved beneath: nothing is offered there rather than
//! something paths lead out of.

use crate::args::{CastArgs, CpArgs, LsArgs, ServeArgs};
use crate::common::{Common, Failure, Outcome};

/// Refuses.
pub(crate) fn serve(_args: &ServeArgs, _common: &Common) -> Outcome {
    Err(Failure::failed(
        "xtp serve needs a Unix system; use it on Linux or macOS",
    ))
}

/// Refuses.
pub(crate) fn cp(_args: &CpArgs, _common: &Common) -> Outcome {
    Err(Failure::failed(
        "xtp cp needs a Unix system; use it on Linux or macOS",
    ))
}

/// Refuses.
pub(crate) fn ls(_args: &LsArgs, _common: &Common) -> Outcome {
    Err(Failure::failed(
        "xtp ls needs a Unix system; use it on Linux or macOS",
    ))
}

/// Refuses.
pub(crate) fn cast(_args: &CastArgs, _common: &Common) -> Outcome {
    Err(Failure::failed("xtp cast needs Linux; use it there"))
}
