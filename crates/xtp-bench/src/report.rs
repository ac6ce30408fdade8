//! Everything a run found.

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::load::HostLoad;
use crate::row::Row;

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Where it was measured.
    pub host: Host,
    /// What else the host did.
    pub load: HostLoad,
    /// The command line.
    pub command: String,
    /// The figures.
    pub rows: Vec<Row>,
    /// Costs by linear fit.
    pub fits: Vec<Fit>,
    /// Curves that are no rows.
    pub series: Vec<Series>,
    /// What a reader has to know: rivals left out and why, rounds repeated.
    pub notes: Vec<String>,
    /// Measurements of xtp itself that failed: the run did not do what it was asked to.
    pub failures: Vec<String>,
    /// Somebody ended the run before everything was measured.
    pub interrupted: bool,
}

/// Time of an operation as overhead + cost of an octet x size, by least squares over the sizes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fit {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the transport.
    pub transport: String,
    /// The path between the parties.
    pub path: String,
    /// How the parties waited.
    pub wait: String,
    /// Timings fitted; each is the median of 50 operations.
    pub timings: usize,
    /// Overhead of an operation, microseconds.
    pub overhead_us: f64,
    /// Half width of its 95 % confidence interval, microseconds.
    pub overhead_ci95: f64,
    /// Cost of an octet, microseconds.
    pub per_octet_us: f64,
    /// Half width of its 95 % confidence interval, microseconds.
    pub per_octet_ci95: f64,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    /// The plot it belongs to: curves of one plot are drawn into one.
    pub plot: String,
    /// Name of the transport, with what distinguishes the curve.
    pub transport: String,
    /// What is right, with unit.
    pub x_label: String,
    /// What is up, with unit.
    pub y_label: String,
    /// Its points, by rising x.
    pub points: Vec<(f64, f64)>,
}
