//! `xtp answer`.

use crate::args::AnswerArgs;
use crate::common::{Common, Outcome};

/// Runs it.
pub(crate) fn run(_args: &AnswerArgs, _common: &Common) -> Outcome {
    Ok(())
}
