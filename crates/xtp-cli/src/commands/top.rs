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
    AssociationLine, Common, EndpointLine, Failure, GroupLine, Outcome, PartyLine, ReceiverLine, Snapshot,
    Status, TransmitterLine, size_text, span_text, status_directory,
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
            for line in &endpoint.groups {
                let key = (process.pid, format!("{} group", endpoint.address), line.number);
                let octets = group_octets(line);
                let rate = rate(
                    octets,
                    before.get(&key).map(|(octets, _, at)| (*octets, *at)),
                    process.seconds,
                );
                lines.push(group_line(line, &rate));
                now.insert(key, (octets, 0, process.seconds));
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

/// Octets a second since the last look; known from the second one on.
fn rate(octets: u64, last: Option<(u64, f64)>, now: f64) -> String {
    last.map_or_else(
        || "-".to_owned(),
        |(before, since)| {
            let rate = octets.saturating_sub(before) as f64 / (now - since).max(1e-3);
            format!("{}/s", size_text(rate as u64))
        },
    )
}

fn round_trip(milliseconds: Option<f64>) -> String {
    milliseconds.map_or_else(
        || "-".to_owned(),
        |span| span_text(Duration::try_from_secs_f64(span * 1e-3).unwrap_or_default()),
    )
}

/// Octets of the stream of a group so far, at this end.
fn group_octets(line: &GroupLine) -> u64 {
    match &line.party {
        PartyLine::Transmitter(line) => line.octets,
        PartyLine::Receiver(line) => line.octets,
        PartyLine::Listener => 0,
    }
}

fn group_line(line: &GroupLine, rate: &str) -> String {
    let group = line
        .address
        .as_deref()
        .map_or_else(String::new, |address| format!(" {address}"));
    let text = match &line.party {
        PartyLine::Transmitter(line) => format!("to group{group}: {}", transmitter_text(line, rate)),
        PartyLine::Receiver(line) => format!("from group{group}: {}", receiver_text(line, rate)),
        PartyLine::Listener => format!("listens to group{group}"),
    };
    format!("  {text}; waits for {}", line.waits_for)
}

fn transmitter_text(line: &TransmitterLine, rate: &str) -> String {
    let mut text = format!("{} receivers, {} done", line.receivers, line.done);
    for (count, what) in [(line.behind, "behind"), (line.out, "out")] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if let Some(slowest) = &line.slowest {
        let lacks = line.octets.saturating_sub(slowest.octets);
        let name = match slowest.name.as_str() {
            "" => String::new(),
            name => format!(" ({})", crate::files::names::shown(name.as_bytes())),
        };
        text.push_str(&format!(
            ", slowest {}{name} lacks {}",
            slowest.address,
            size_text(lacks)
        ));
    }
    let allowed = line
        .rate
        .map_or_else(String::new, |rate| format!(" of {}/s", size_text(rate)));
    format!(
        "{text}; {} out, {rate}{allowed}, {} packets and {} of repair, round trip {}",
        size_text(line.octets),
        line.data_packets,
        line.repair_packets,
        round_trip(line.round_trip_ms)
    )
}

fn receiver_text(line: &ReceiverLine, rate: &str) -> String {
    let from = line.from.as_deref().unwrap_or("no transmitter yet");
    let behind = if line.is_behind { ", behind" } else { "" };
    format!(
        "{from}{behind}; {} in, {rate}, {} packets, {} repaired",
        size_text(line.octets),
        line.packets,
        size_text(line.repaired)
    )
}

/// Rates are known from the second look on.
fn association_line(line: &AssociationLine, last: Option<(u64, u64, f64)>, now: f64) -> String {
    let out = rate(line.octets_sent, last.map(|(sent, _, since)| (sent, since)), now);
    let into = rate(
        line.octets_received,
        last.map(|(_, received, since)| (received, since)),
        now,
    );
    let round_trip = round_trip(line.round_trip_ms);
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
