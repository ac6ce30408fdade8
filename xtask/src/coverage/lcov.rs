//! What `llvm-cov export -format=lcov` says: for each file, how often each of its lines ran.

use std::collections::BTreeMap;

/// One file's lines that hold code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileLines {
    /// Its path in the repository.
    pub(super) path: String,
    /// How often each line ran, by its number.
    pub(super) lines: BTreeMap<u32, u64>,
}

impl FileLines {
    /// How many lines ran.
    pub(super) fn covered(&self) -> usize {
        self.lines.values().filter(|count| **count > 0).count()
    }

    /// The share of lines that ran.
    pub(super) fn percent(&self) -> f64 {
        percent(self.covered(), self.lines.len())
    }

    /// The lines that did not run, `12-14 20`. Lines without code between two of them join them.
    pub(super) fn missed(&self) -> String {
        let mut stretches: Vec<(u32, u32)> = Vec::new();
        let mut joins = false;
        for (line, count) in &self.lines {
            match stretches.last_mut() {
                Some((_, last)) if *count == 0 && joins => *last = *line,
                _ if *count == 0 => stretches.push((*line, *line)),
                _ => {}
            }
            joins = *count == 0;
        }
        let shown = stretches.into_iter().map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }
}

/// A share in percent; of nothing, everything ran.
pub(super) fn percent(covered: usize, lines: usize) -> f64 {
    match lines {
        0 => 100.0,
        lines => covered as f64 * 100.0 / lines as f64,
    }
}

/// The files whose path contains `folder`, in order of their paths.
pub(super) fn parse(text: &str, folder: &str) -> Result<Vec<FileLines>, String> {
    let mut files: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            current = path.find(folder).map(|place| path[place..].to_owned());
            if let Some(path) = &current {
                files.entry(path.clone()).or_default();
            }
        } else if line == "end_of_record" {
            current = None;
        } else if let (Some(counts), Some(path)) = (line.strip_prefix("DA:"), &current) {
            let parsed = counts
                .split_once(',')
                .and_then(|(line, count)| Some((line.parse().ok()?, count.parse::<u64>().ok()?)));
            let (number, count) = parsed.ok_or_else(|| format!("llvm-cov said `{line}`"))?;
            if let Some(lines) = files.get_mut(path) {
                *lines.entry(number).or_default() += count;
            }
        }
    }
    if files.is_empty() {
        return Err(format!("llvm-cov names no file of {folder}"));
    }
    let files = files.into_iter().map(|(path, lines)| FileLines { path, lines });
    Ok(files.collect())
}

#[cfg(test)]
#[path = "lcov_tests.rs"]
mod tests;
