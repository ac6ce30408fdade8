//! Reports that earlier runs wrote.

use std::fs;
use std::path::PathBuf;

use xtp_bench::Report;

use crate::common::Failure;

/// Reads `files` in order into one report.
pub(super) fn read(files: &[PathBuf]) -> Result<Report, Failure> {
    let mut all = Report::default();
    for file in files {
        let name = file.display();
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::io(format_args!("cannot read {name}"), &error))?;
        let report = Report::parse(&text).map_err(|error| Failure::failed(format!("{name}: {error}")))?;
        all.add(report);
    }
    Ok(all)
}
