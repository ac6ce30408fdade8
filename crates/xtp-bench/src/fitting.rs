//! Overhead and cost of an octet from timings at several sizes, as the papers did: each timing is taken of 50
//! operations. The papers divided their sum; here a timing is their median, because on a shared host single
//! operations are interrupted for a thousand times their length.

use std::collections::BTreeMap;

use crate::plan::{Experiment, Path, WaitPolicy};
use crate::report::Fit;
use crate::sizes::ITERATIONS;
use crate::stats::{fit, median};

/// Samples by transport, for curves over sizes.
type BySize = BTreeMap<String, Vec<(f64, f64)>>;

/// Timings by transport.
#[derive(Debug, Default)]
pub(crate) struct Timings {
    points: BySize,
}

impl Timings {
    /// Adds the operations of one round.
    pub(crate) fn add(&mut self, transport: &str, size: u64, samples_ns: &[u64]) {
        let points = self.points.entry(transport.to_owned()).or_default();
        for timing in samples_ns.chunks_exact(ITERATIONS) {
            let micros: Vec<f64> = timing.iter().map(|&ns| ns as f64 / 1e3).collect();
            points.extend(median(&micros).map(|middle| (size as f64, middle)));
        }
    }

    /// A line for each transport that was measured at more than one size.
    pub(crate) fn fits(&self, experiment: Experiment, path: Path, wait: WaitPolicy) -> Vec<Fit> {
        let lines = self
            .points
            .iter()
            .filter_map(|(name, points)| Some((name, points, fit(points)?)));
        lines
            .map(|(name, points, line)| Fit {
                experiment: experiment.name().to_owned(),
                transport: name.clone(),
                path: path.name().to_owned(),
                wait: wait.name().to_owned(),
                timings: points.len(),
                overhead_us: line.intercept,
                overhead_ci95: line.intercept_ci95,
                per_octet_us: line.slope,
                per_octet_ci95: line.slope_ci95,
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "fitting_tests.rs"]
mod tests;
