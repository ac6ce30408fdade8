//! Suite `strace`: what the kernel counts of a program's system calls, beside what the socket layer counts itself.
//!
//! `xtp ping` against `xtp listen`, blocking, once with N and once with 2 N pings; the difference is what N round trips
//! cost, free of what starting up costs. A round trip is one message each way over an established association.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::host::Host;

/// Round trips of the shorter run.
const PINGS: u64 = 400;
/// Measurements before it counts as too many: where others have the cores a timer adds a call to some of them.
const TRIES: usize = 5;
/// Where the far end listens; nothing else of this repository does.
const ADDRESS: &str = "127.0.0.1:36191";

/// A look whether the kernel has errors to report comes with time, not with round trips: on a slow machine with many.
const LOOK_FOR_ERRORS: &str = "MSG_ERRQUEUE";

/// System calls by name (one of them), and the most of them a hundred round trips may take. They may only go down.
const CEILINGS: [(&str, &[&str], u64); 3] = [
    ("send", &["sendmsg", "sendmmsg", "sendto"], 101),
    ("receive", &["recvmsg", "recvmmsg", "recvfrom"], 103),
    (
        "wait",
        &["poll", "ppoll", "epoll_wait", "epoll_pwait", "futex"],
        102,
    ),
];

pub(super) fn run(host: &Host) -> Result<String, String> {
    let program = host.program("xtp-cli", "xtp")?;
    let folder = host.scratch("strace")?;
    let mut server = Server::start(&program)?;
    let mut outcome = Err("nothing was counted".to_owned());
    for _ in 0..TRIES {
        let short = count(&program, &folder.join("short"), PINGS);
        let long = count(&program, &folder.join("long"), 2 * PINGS);
        outcome = short.and_then(|short| compare(&short, &long?));
        if outcome.is_ok() {
            break;
        }
    }
    server.end();
    outcome
}

/// What the round trips of which `long` has more than `short` took, if that is within the ceilings.
fn compare(short: &[(String, u64)], long: &[(String, u64)]) -> Result<String, String> {
    let mut shown = Vec::new();
    for (what, names, ceiling) in CEILINGS {
        let calls = sum(long, names).saturating_sub(sum(short, names));
        if calls * 100 > ceiling * PINGS {
            return Err(format!(
                "{PINGS} round trips took {calls} calls that {what}; a hundred may take {ceiling}"
            ));
        }
        shown.push(format!("{:.2} {what}", calls as f64 / PINGS as f64));
    }
    Ok(format!("a blocking round trip: {} calls", shown.join(", ")))
}

/// The far end, which is stopped whatever happens.
struct Server(Child);

impl Server {
    fn start(program: &Path) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.args(["listen", ADDRESS, "--wait", "block"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut server = Self(child.map_err(|error| format!("xtp listen: {error}"))?);
        let said = server.0.stderr.take().map(BufReader::new);
        // Its first line says that it listens.
        match said.and_then(|said| said.lines().next()) {
            Some(Ok(_)) => Ok(server),
            _ => Err(format!("xtp listen {ADDRESS} says nothing")),
        }
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs so many pings under strace; the calls by name, without looks for errors.
fn count(program: &Path, table: &PathBuf, pings: u64) -> Result<Vec<(String, u64)>, String> {
    let mut command = Command::new("strace");
    let calls = CEILINGS.iter().flat_map(|(_, names, _)| names.iter().copied());
    let calls = format!("trace={}", calls.collect::<Vec<_>>().join(","));
    command.args(["-f", "-s", "0", "-e", &calls, "-o"]);
    command.arg(table).arg(program);
    command.args([
        "-q",
        "ping",
        "-i",
        "0",
        "--wait",
        "block",
        "-c",
        &pings.to_string(),
        ADDRESS,
    ]);
    let done = command.stdout(Stdio::null()).output();
    let done = done.map_err(|error| format!("strace: {error}"))?;
    if !done.status.success() {
        return Err(format!("xtp ping: {}", String::from_utf8_lossy(&done.stderr)));
    }
    let text = std::fs::read_to_string(table).map_err(|error| format!("{}: {error}", table.display()))?;
    Ok(parse(&text))
}

/// How often each call was made, by the lines of `strace -f`: the process, the call. One that was interrupted has a
/// second line, which begins with `<`.
fn parse(text: &str) -> Vec<(String, u64)> {
    let mut counted: Vec<(String, u64)> = Vec::new();
    for line in text.lines().filter(|line| !line.contains(LOOK_FOR_ERRORS)) {
        let call = line
            .split_once(' ')
            .and_then(|(_, call)| call.trim_start().split_once('('));
        let Some((name, _)) = call.filter(|(name, _)| name.bytes().all(is_of_name)) else {
            continue;
        };
        match counted.iter_mut().find(|(known, _)| known == name) {
            Some((_, calls)) => *calls += 1,
            None => counted.push((name.to_owned(), 1)),
        }
    }
    counted
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

fn sum(calls: &[(String, u64)], names: &[&str]) -> u64 {
    let wanted = calls.iter().filter(|(name, _)| names.contains(&name.as_str()));
    wanted.map(|(_, calls)| calls).sum()
}

#[cfg(test)]
#[path = "strace_tests.rs"]
mod tests;
