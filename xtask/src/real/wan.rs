//! Suite `wan`: `xtp bench wan` over a small lossy link, with all that it reports.
//!
//! Receivers of the benchmark compare every octet, so that a row is a correct transfer. What is looked at is that
//! there is a row for each transport, with figures of the link, and that no namespace is left behind; no figure is
//! judged.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::host::{Host, output};

struct World {
    program: PathBuf,
    rows: PathBuf,
}

/// Options of a run, what `rows` must have how often, and which figures: how many rows have each, and between what
/// they lie. Go-back-N on a slow machine sends more than everything again, so that has no upper bound.
struct Case {
    options: &'static [&'static str],
    expected: &'static [(&'static str, usize)],
    figures: &'static [(&'static str, usize, RangeInclusive<f64>)],
}

const CASES: [Case; 3] = [
    Case {
        options: &["--cells", "20mbit-10ms-1%", "--rivals", "tcp"],
        expected: &[
            ("\"experiment\": \"wan\"", 2),
            ("\"path\": \"20mbit-10ms-1%\"", 2),
            ("\"transport\": \"xtp\"", 1),
            ("\"transport\": \"tcp\"", 1),
        ],
        figures: &[
            ("gbit_s", 2, 1e-5..=0.020),
            ("queue_mean_ms", 2, 0.0..=f64::MAX),
            ("ratio_to_xtp", 2, 0.0..=f64::MAX),
            ("retransmitted", 1, 0.0..=f64::MAX),
        ],
    },
    Case {
        options: &["--part", "gbn", "--rtt", "10ms", "--option", "ber=1e-6"],
        expected: &[
            ("\"path\": \"36.864mbit-10ms-0%-ber1e-6\"", 4),
            ("\"transport\": \"xtp-gbn\"", 1),
        ],
        figures: &[
            ("gbit_s", 4, 1e-5..=0.036_864),
            ("retransmitted", 4, 0.0..=f64::MAX),
        ],
    },
    Case {
        options: &["--part", "buffers", "--rtt", "10ms", "--rivals", "none"],
        expected: &[
            ("\"transport\": \"xtp-1-buffer\"", 1),
            ("\"transport\": \"xtp-8-buffers\"", 1),
        ],
        figures: &[("gbit_s", 5, 1e-5..=0.036_864)],
    },
];

pub(super) fn run(host: &Host) -> Result<String, String> {
    let world = World {
        program: host.program("xtp-cli", "xtp")?,
        rows: host.scratch("wan")?.join("rows.json"),
    };
    for case in &CASES {
        let json = world.bench(case.options)?;
        for (text, times) in case.expected {
            if json.matches(text).count() != *times {
                return Err(format!("{:?}: not {times} times {text} in {json}", case.options));
            }
        }
        for (name, times, possible) in case.figures {
            let found =
                figures(&json, name).map_err(|error| format!("{:?}: {error} in {json}", case.options))?;
            let right = found.iter().filter(|figure| possible.contains(*figure)).count();
            if found.len() != *times || right != *times {
                let options = case.options;
                return Err(format!(
                    "{options:?}: {name} not {times} times in {possible:?} in {json}"
                ));
            }
        }
    }
    Ok(format!(
        "{} experiments over emulated links, every octet compared",
        CASES.len()
    ))
}

impl World {
    /// Runs it; what it wrote.
    fn bench(&self, options: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(["-q", "bench", "wan", "--runs", "1", "--seconds", "0.6", "--json"]);
        command.arg(&self.rows).args(options).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| format!("xtp: {error}"))?;
        let prefix = format!("xtp-linkem-{}-", child.id());
        let done = child.wait_with_output().map_err(|error| error.to_string())?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{options:?}: {}: {said}", done.status));
        }
        if output("ip", &["netns", "list"])?.contains(&prefix) {
            return Err(format!("{options:?} left a namespace behind"));
        }
        read(&self.rows)
    }
}

/// The numbers that members of this name have.
fn figures(json: &str, name: &str) -> Result<Vec<f64>, String> {
    let member = format!("\"{name}\": ");
    let values = json.split(&member).skip(1);
    values
        .map(|rest| {
            let value = rest.split([',', '\n', '}']).next().unwrap_or_default().trim();
            value.parse().map_err(|_| format!("{name} is `{value}`"))
        })
        .collect()
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
#[path = "wan_tests.rs"]
mod tests;
