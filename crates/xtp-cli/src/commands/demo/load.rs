//! What else this host did during the demo: times of a busy host say little.

use serde::Serialize;

/// The host's load, as far as the system tells.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct DemoLoad {
    /// Threads that ran or wanted to run, mean of the minute before.
    pub(super) before: Option<f64>,
    /// Time that other processes had of all processors meanwhile, percent.
    pub(super) others_percent: Option<f64>,
    /// That was enough to spoil the times.
    pub(super) spoilt: bool,
    /// In words.
    #[serde(skip)]
    pub(super) text: Option<String>,
}

/// Watches it from now on.
#[cfg(target_os = "linux")]
pub(super) fn watch() -> impl FnOnce() -> DemoLoad {
    let (mut load, meter) = (xtp_bench::HostLoad::look(), xtp_bench::LoadMeter::start());
    move || {
        let spoilt = load.add(meter.others());
        DemoLoad {
            before: load.before,
            others_percent: load.others_percent,
            spoilt,
            text: load.text(),
        }
    }
}

/// Elsewhere nothing is told.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch() -> impl FnOnce() -> DemoLoad {
    DemoLoad::default
}
