//! `xtp serve` and `xtp cp`.

use crate::args::{CpArgs, ServeArgs};
use crate::common::{Common, Failure, Outcome};

/// Offers a directory until interrupted.
pub(crate) fn serve(args: &ServeArgs, _common: &Common) -> Outcome {
    Err(Failure::failed(format!(
        "cannot serve {}: this build has no file service",
        args.directory.display()
    )))
}

/// Copies files.
pub(crate) fn cp(args: &CpArgs, _common: &Common) -> Outcome {
    Err(Failure::failed(format!(
        "cannot copy {} files: this build has no file service",
        args.paths.len()
    )))
}
