//! Reports kept in files: whole ones, or their rows alone; several become one.

use crate::error::Error;
use crate::report::{Fit, Report};
use crate::row::Row;

impl Report {
    /// Reads what a run wrote: a whole report (an object), or its rows alone (a list).
    ///
    /// # Errors
    /// [`Error::NotAReport`] with the place or the reason.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |error: serde_json::Error| Error::NotAReport(error.to_string());
        let report = if text.trim_start().starts_with('[') {
            Self {
                rows: serde_json::from_str::<Vec<Row>>(text).map_err(wrong)?,
                ..Self::default()
            }
        } else {
            serde_json::from_str(text).map_err(wrong)?
        };
        let nameless = |row: &Row| row.experiment.is_empty() || row.transport.is_empty();
        if let Some(place) = report.rows.iter().position(nameless) {
            let why = format!("row {} names no experiment and transport", place + 1);
            return Err(Error::NotAReport(why));
        }
        if report.rows.is_empty() && report.series.is_empty() && report.command.is_empty() {
            return Err(Error::NotAReport("there is nothing in it".to_owned()));
        }
        Ok(report)
    }

    /// The whole report as JSON, readable by [`Report::parse`].
    pub fn json(&self) -> String {
        // Numbers, texts and maps with texts as keys: none of it can fail to be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Adds a later run: where both measured the same, the later figures stay, and a remark says so.
    pub fn add(&mut self, later: Self) {
        if self.host == Default::default() {
            self.host = later.host;
        } else if later.host != Default::default() && !self.host.is_at_that_time(&later.host) {
            self.notes.push(format!(
                "figures of several hosts or times: {} ({}) and {} ({})",
                self.host.cpu, self.host.date, later.host.cpu, later.host.date
            ));
        }
        self.load = self.load.with(&later.load);
        if self.command.is_empty() {
            self.command = later.command;
        } else if !later.command.is_empty() {
            self.command = format!("{}; {}", self.command, later.command);
        }
        let before = self.rows.len();
        self.rows
            .retain(|old| !later.rows.iter().any(|new| same_case(old, new)));
        let replaced = before - self.rows.len();
        if replaced > 0 {
            self.notes.push(format!(
                "{replaced} figures were measured again; the later ones stand here"
            ));
        }
        self.rows.extend(later.rows);
        self.fits
            .retain(|old| !later.fits.iter().any(|new| same_fit(old, new)));
        self.fits.extend(later.fits);
        self.series.retain(|old| {
            !later
                .series
                .iter()
                .any(|new| (&new.plot, &new.transport) == (&old.plot, &old.transport))
        });
        self.series.extend(later.series);
        self.notes.extend(later.notes);
        self.failures.extend(later.failures);
        self.interrupted |= later.interrupted;
    }
}

fn same_case(a: &Row, b: &Row) -> bool {
    (&a.experiment, &a.transport, &a.path, (a.size, a.least), &a.wait)
        == (&b.experiment, &b.transport, &b.path, (b.size, b.least), &b.wait)
}

fn same_fit(a: &Fit, b: &Fit) -> bool {
    (&a.experiment, &a.transport, &a.path, &a.wait) == (&b.experiment, &b.transport, &b.path, &b.wait)
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
