//! What the demo found, for people and for programs, and whether it is as it should be.

use std::io::IsTerminal;

use serde::Serialize;

use super::copy::FileReport;
use super::load::DemoLoad;
use crate::common::{Common, Failure, Outcome, Status, host_name, rate_text, size_text};

/// One paradigm.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ParadigmReport {
    pub(super) name: &'static str,
    pub(super) packets: u64,
    pub(super) packets_max: u64,
    pub(super) expected_packets: u64,
    pub(super) control_packets: u64,
    pub(super) p50_us: f64,
    pub(super) tcp_p50_us: Option<f64>,
    pub(super) udp_p50_us: Option<f64>,
}

/// Everything.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    ok: bool,
    version: &'static str,
    host: String,
    paradigms: Vec<ParadigmReport>,
    file: FileReport,
    load: DemoLoad,
    #[serde(skip)]
    damaged: u64,
}

/// Colours, if standard output shows them.
struct Paint {
    on: bool,
}

impl Paint {
    fn new() -> Self {
        Self {
            on: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    fn with(&self, code: &str, text: &str) -> String {
        if self.on {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    fn good(&self, text: &str) -> String {
        self.with("32", text)
    }

    fn bad(&self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    fn judged(&self, good: bool, text: &str) -> String {
        if good { self.good(text) } else { self.bad(text) }
    }
}

impl Report {
    /// `damaged` exchanges arrived with other octets than were sent.
    pub(super) fn new(paradigms: Vec<ParadigmReport>, file: FileReport, damaged: u64) -> Self {
        let right = paradigms.iter().all(ParadigmReport::is_right);
        Self {
            ok: right && file.hash_equal && damaged == 0,
            version: env!("CARGO_PKG_VERSION"),
            host: host_name(),
            paradigms,
            file,
            load: DemoLoad::default(),
            damaged,
        }
    }

    /// What was found while the host did this.
    pub(super) fn under(self, load: DemoLoad) -> Self {
        Self { load, ..self }
    }

    /// Prints it.
    ///
    /// # Errors
    /// If standard output is closed.
    pub(super) fn show(&self, common: &Common) -> Outcome {
        if common.out.is_json() {
            return common.out.object(self);
        }
        let paint = Paint::new();
        common
            .out
            .line(format_args!("xtp {} on {}\n", self.version, self.host))?;
        common.out.line(paint.bold(&format!(
            "{:<24}{:>8}{:>9}{:>9}{:>6}   {:>10}{:>10}{:>10}",
            "paradigm", "packets", "expected", "control", "max", "xtp us", "tcp us", "udp us"
        )))?;
        for paradigm in &self.paradigms {
            common.out.line(paradigm.row(&paint))?;
        }
        common.out.line(
            "\nMedian times, in microseconds. Packets of both directions, the most frequent count; `max` may be higher when a \
             timer\nran out on a busy host. TCP and UDP do the same job where they can: TCP connects, sends and closes.",
        )?;
        common.out.line(self.file.text(&paint))?;
        if let Some(load) = &self.load.text {
            common.out.line(if self.load.spoilt {
                paint.bad(load)
            } else {
                load.clone()
            })?;
        }
        common.out.line(match self.ok {
            true => paint.good("everything is as it should be"),
            false => paint.bad("not everything is as it should be"),
        })
    }

    /// Fails with what is wrong first.
    ///
    /// # Errors
    /// Exactly then.
    pub(super) fn judge(&self) -> Outcome {
        if let Some(wrong) = self.paradigms.iter().find(|paradigm| !paradigm.is_right()) {
            return Err(Failure::failed(format!(
                "{} took {} packets instead of {}; see what they are with --trace FILE",
                wrong.name, wrong.packets, wrong.expected_packets
            )));
        }
        if self.damaged > 0 {
            return Err(Failure::failed(format!(
                "{} exchanges arrived with other octets than were sent; please report this",
                self.damaged
            )));
        }
        if !self.file.hash_equal {
            let what = "the copied file differs from the original; please report this";
            return Err(Failure::new(Status::Failed, what));
        }
        Ok(())
    }
}

impl ParadigmReport {
    fn is_right(&self) -> bool {
        self.packets == self.expected_packets
    }

    fn row(&self, paint: &Paint) -> String {
        let time =
            |micros: Option<f64>| micros.map_or_else(|| "-".to_owned(), |micros| format!("{micros:.1}"));
        let fastest = [self.tcp_p50_us, self.udp_p50_us]
            .into_iter()
            .flatten()
            .all(|other| self.p50_us <= other);
        let own = format!("{:>10}", time(Some(self.p50_us)));
        format!(
            "{:<24}{}{:>9}{:>9}{:>6}   {}{:>10}{:>10}",
            self.name,
            paint.judged(self.is_right(), &format!("{:>8}", self.packets)),
            self.expected_packets,
            self.control_packets,
            self.packets_max,
            if fastest { paint.good(&own) } else { own },
            time(self.tcp_p50_us),
            time(self.udp_p50_us)
        )
    }
}

impl FileReport {
    fn text(&self, paint: &Paint) -> String {
        let rate = |seconds: f64| rate_text(self.bytes, std::time::Duration::from_secs_f64(seconds.max(0.0)));
        format!(
            "\nfile of {}: xtp {:.3} s ({}), tcp {:.3} s ({}), {}",
            size_text(self.bytes),
            self.seconds,
            rate(self.seconds),
            self.tcp_seconds,
            rate(self.tcp_seconds),
            paint.judged(
                self.hash_equal,
                if self.hash_equal {
                    "copies verified (BLAKE3)"
                } else {
                    "COPIES DIFFER"
                }
            )
        )
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
