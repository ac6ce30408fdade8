//! A report put into a Markdown page, its plots beside it.

use std::fs;
use std::path::Path;

use xtp_bench::Report;

use crate::common::{Failure, Outcome};

/// Where the plots are, as seen from the page.
const PLOTS: &str = "plots";

/// Replaces the figures of `file`, and writes its plots.
pub(super) fn put(file: &Path, report: &Report) -> Outcome {
    let name = file.display();
    let text =
        fs::read_to_string(file).map_err(|error| Failure::io(format_args!("cannot read {name}"), &error))?;
    let page = xtp_bench::page(report, PLOTS);
    let Some(text) = page.put_into(&text) else {
        return Err(Failure::failed(format!(
            "{name} has no place for figures: a line that begins with {}, and {}",
            xtp_bench::PAGE_BEGIN,
            xtp_bench::PAGE_END
        )));
    };
    let folder = file.parent().unwrap_or(Path::new(".")).join(PLOTS);
    let failed = |error| Failure::io(format_args!("cannot write {}", folder.display()), &error);
    fs::create_dir_all(&folder).map_err(failed)?;
    for (name, svg) in &page.plots {
        fs::write(folder.join(name), svg).map_err(failed)?;
    }
    super::put(file, &text)
}
