//! Progress bars on standard error, if somebody looks at it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Output;

/// What a bar counts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgressUnit {
    /// Octets: shown with rate and time left.
    Octets,
    /// Things of one kind.
    Items,
}

/// A bar for `total` units, labelled `label`. It draws nothing with `--quiet` or if standard error is no terminal.
pub(crate) fn progress_bar(out: &Output, unit: ProgressUnit, total: u64, label: &str) -> ProgressBar {
    let target = if out.is_quiet() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let template = match unit {
        ProgressUnit::Octets => {
            "{msg:20!} {bar:30} {bytes:>11} of {total_bytes:<11} {binary_bytes_per_sec:>12} {eta:>4} left"
        }
        ProgressUnit::Items => "{msg:20!} {bar:30} {pos:>7} of {len:<7} {per_sec:>12} {eta:>4} left",
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(label.to_owned());
    bar
}
