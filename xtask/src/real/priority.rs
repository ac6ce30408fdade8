//! Suite `priority`: urgent calls beside eight streams over a narrow link, with and without a priority.
//!
//! What is looked at is where packets wait: with a priority the queue of the link is nearly empty, for what is not urgent waits at the
//! sender. The DSCP of urgent packets is counted where they leave. What a call took is said, and not judged.

use std::path::PathBuf;
use std::process::Command;

use super::host::{Host, output};

const LINK: [&str; 6] = ["--rate", "20mbit", "--rtt", "20ms", "--queue", "300kB"];
const CALLS: &str = "60";
/// Counts packets with the DSCP of the example's urgent calls.
const COUNT: &str = "nft 'add table ip counted; \
                     add chain ip counted out { type filter hook output priority 0; }; \
                     add rule ip counted out ip dscp 46 counter'";

struct World {
    linkem: PathBuf,
    example: PathBuf,
    report: PathBuf,
}

/// What came of one run.
struct Seen {
    /// What the calls took, as the example says it.
    calls: String,
    /// How long a packet waited in the link's queue, on the mean, milliseconds.
    queue: f64,
    /// Packets with the DSCP; `None` if none were counted.
    marked: Option<u64>,
}

pub(super) fn run(host: &Host) -> Result<String, String> {
    let world = World {
        linkem: host.program("xtp-cli", "xtp")?,
        example: host.example("urgent")?,
        report: host.scratch("priority")?.join("report.json"),
    };
    let (alike, first) = (world.call("alike")?, world.call("first")?);
    if first.queue * 2.0 > alike.queue {
        return Err(format!(
            "packets wait {:.2} ms in the link with a priority, {:.2} ms without",
            first.queue, alike.queue
        ));
    }
    // A call has a packet with its request, and one that ends it; only urgent ones have the mark.
    let calls: u64 = CALLS.parse().map_err(|error| format!("{CALLS}: {error}"))?;
    if first.marked.is_some_and(|marked| marked < calls) || alike.marked.is_some_and(|marked| marked > 0) {
        let (first, alike) = (first.marked, alike.marked);
        return Err(format!(
            "{first:?} packets marked of {calls} urgent calls, {alike:?} of as many others"
        ));
    }
    Ok(format!(
        "without a priority {}, with one {}; {:.1} and {:.1} ms in the link's queue{}",
        alike.calls,
        first.calls,
        alike.queue,
        first.queue,
        if first.marked.is_none() {
            " (no marks counted: nft is not installed)"
        } else {
            ""
        },
    ))
}

impl World {
    fn call(&self, how: &str) -> Result<Seen, String> {
        let counts = output("nft", &["--version"]).is_ok();
        let example = self.example.display();
        let call = format!("{example} call \"$XTP_LINKEM_PEER:36036\" {how} {CALLS}");
        let client = match counts {
            true => format!("{COUNT} && {call} && nft list table ip counted"),
            false => call,
        };
        let mut command = Command::new(&self.linkem);
        command
            .args(["-q", "linkem"])
            .args(LINK)
            .arg("--json")
            .arg(&self.report);
        command.args(["--", "left", "sh", "-c", &client]);
        command
            .args(["--", "right"])
            .arg(&self.example)
            .args(["serve", "0.0.0.0:36036"]);
        let done = command.output().map_err(|error| format!("xtp: {error}"))?;
        let said = String::from_utf8_lossy(&done.stdout);
        if !done.status.success() {
            let errors = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{how}: {}: {said} {errors}", done.status));
        }
        let json = std::fs::read_to_string(&self.report).map_err(|error| error.to_string())?;
        let found = || {
            let calls = between(&said, "calls: ", "\n")?.to_owned();
            let queue = between(&json, "\"queue_mean_ms\": ", ",")?.parse().ok()?;
            let marked = match counts {
                true => Some(between(&said, "counter packets ", " ")?.parse().ok()?),
                false => None,
            };
            Some(Seen { calls, queue, marked })
        };
        found().ok_or_else(|| format!("{how}: {said} {json}"))
    }
}

/// What is between the first `before` and the next `behind`.
fn between<'a>(text: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(behind).map(|(found, _)| found)
}
