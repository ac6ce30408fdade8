//! `xtp top`: what running processes have open, look by look.

use std::collections::HashMap;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::args::TopArgs;
use crate::common::{
    AssociationLine, Common, EndpointLine, Failure, Outcome, Snapshot, Status, size_text, span_text,
    status_directory,
};

/// A process that takes longer to answer is passed over.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest answer.
const LONGEST: u64 = 16 << 20;
/// How often an interruption is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Clears a terminal and begins at its top.
const CLEAR: &str = "\x1b[H\x1b[J";

/// The object of `--json`, one a look.
#[derive(Serialize)]
struct Report<'a> {
    processes: &'a [Snapshot],
}

/// Octets out and in, and the moment, of each association at the last look: by process, endpoint and number.
type Before = HashMap<(u32, String, u64), (u64, u64, f64)>;

/// Looks, and shows.
pub(crate) fn run(args: &TopArgs, common: &Common) -> Outcome {
    let clears = !args.once && !common.out.is_json() && io::stdout().is_terminal();
    let mut before = Before::new();
    loop {
        let processes = processes(args.pid, common)?;
        if processes.is_empty() && (args.once || args.pid.is_some()) {
            let text = match args.pid {
                Some(pid) => format!("process {pid} shows nothing; start it with --status"),
                None => "no xtp process of yours was started with --status".to_owned(),
            };
            return Err(Failure::new(Status::Unreachable, text));
        }
        match common.out.is_json() {
            true => common.out.object_line(&Report {
                processes: &processes,
            })?,
            false => {
                let text = screen(&processes, &mut before);
                common
                    .out
                    .line(if clears { format!("{CLEAR}{text}") } else { text })?;
            }
        }
        if args.once {
            return Ok(());
        }
        let until = Instant::now() + args.interval;
        while Instant::now() < until {
            common.check()?;
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        common.check()?;
    }
}

/// All processes that answer, by their numbers.
fn processes(pid: Option<u32>, common: &Common) -> Result<Vec<Snapshot>, Failure> {
    let directory = status_directory();
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Failure::io(
                format_args!("cannot read {}", directory.display()),
                &error,
            ));
        }
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        common.check()?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".status"));
        let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) else {
            continue;
        };
        if pid.is_some_and(|pid| pid != number) {
            continue;
        }
        match ask(&entry.path()) {
            Ok(snapshot) => found.push(snapshot),
            // It was killed, and left its socket.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let _ = fs::remove_file(entry.path());
            }
            Err(error) => common.out.detail(format_args!("process {number}: {error}")),
        }
    }
    found.sort_by_key(|snapshot| snapshot.pid);
    Ok(found)
}

fn ask(path: &Path) -> io::Result<Snapshot> {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = Vec::new();
    (&stream).take(LONGEST).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// What a look shows.
fn screen(processes: &[Snapshot], before: &mut Before) -> String {
    let mut lines = Vec::new();
    let mut now = Before::new();
    if processes.is_empty() {
        lines.push("no xtp process of yours was started with --status".to_owned());
    }
    for process in processes {
        lines.push(format!("{} {}", process.pid, process.command));
        for endpoint in &process.endpoints {
            lines.push(endpoint_line(endpoint));
            if !endpoint.associations.is_empty() {
                lines.push(format!(
                    "  {:<24} {:>10} {:>13} {:>13} {:>11} {:>11} {:>13}  {}",
                    "peer", "round trip", "out", "in", "in flight", "queued", "lost", "waits for"
                ));
            }
            for line in &endpoint.associations {
                let key = (process.pid, endpoint.address.clone(), line.number);
                let last = before.get(&key).copied();
                lines.push(association_line(line, last, process.seconds));
                now.insert(key, (line.octets_sent, line.octets_received, process.seconds));
            }
        }
    }
    *before = now;
    lines.join("\n")
}

fn endpoint_line(endpoint: &EndpointLine) -> String {
    let shown = endpoint.associations.len();
    let rest = match endpoint.count > shown {
        true => format!(", {shown} of them shown"),
        false => String::new(),
    };
    format!(
        " at {}: {} associations{rest}, {} packets out, {} in",
        endpoint.address, endpoint.count, endpoint.packets_sent, endpoint.packets_received
    )
}

/// Rates are known from the second look on.
fn association_line(line: &AssociationLine, last: Option<(u64, u64, f64)>, now: f64) -> String {
    let rate = |octets: u64, before: u64, since: f64| {
        let rate = octets.saturating_sub(before) as f64 / (now - since).max(1e-3);
        format!("{}/s", size_text(rate as u64))
    };
    let [out, into] = match last {
        Some((sent, received, since)) => [
            rate(line.octets_sent, sent, since),
            rate(line.octets_received, received, since),
        ],
        None => ["-".to_owned(), "-".to_owned()],
    };
    let round_trip = line.round_trip_ms.map_or_else(
        || "-".to_owned(),
        |span| span_text(Duration::try_from_secs_f64(span * 1e-3).unwrap_or_default()),
    );
    format!(
        "  {:<24} {round_trip:>10} {out:>13} {into:>13} {:>11} {:>11} {:>13}  {}",
        line.peer,
        size_text(line.in_flight),
        size_text(line.queued),
        format!("{} of {}", line.packets_lost, line.packets_sent),
        line.waits_for
    )
}

#[cfg(test)]
#[path = "top_tests.rs"]
mod tests;
