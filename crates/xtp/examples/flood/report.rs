//! Every kind of flood, one after the other, each against a server of its own, and what honest ones see of it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::honest::{Times, What, repeat};
use crate::{Outcome, resident};

const KINDS: [&str; 4] = ["garbage", "first", "whole", "datagram"];
const SOURCES: [u32; 2] = [1, 256];
/// How long a flood lasts: longer than what is timed beside it.
const FLOOD: Duration = Duration::from_secs(9);
/// What is timed, of each of the two.
const TIMED: Duration = Duration::from_secs(3);
const COUNT: usize = 1_000;
/// The flood has begun by then.
const SETTLE: Duration = Duration::from_millis(500);
/// What is remembered of ended associations is forgotten by then (§6.9 of `docs/protocol`: 70 s).
const FORGOTTEN: Duration = Duration::from_secs(75);

/// A process that ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// This program with other words.
    fn start(words: &[&str]) -> std::io::Result<(Self, BufReader<ChildStdout>)> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().expect("piped");
        Ok((Self(child), BufReader::new(output)))
    }

    fn resident(&self) -> u64 {
        resident(&self.0.id().to_string())
    }
}

struct Server {
    process: Process,
    address: SocketAddr,
    /// What is timed.
    honest: &'static [What],
    flood: String,
    before: u64,
}

impl Server {
    /// `program`: what serves.
    fn start(
        program: &str,
        honest: &'static [What],
        flood: String,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let (process, mut output) = Process::start(&[program, "127.0.0.1:0"])?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        // It goes on telling, and nobody reads it: whoever does not would stop it when the pipe is full.
        std::thread::spawn(move || output.lines().all(|line| line.is_ok()));
        Ok(Self {
            address: line.trim().parse()?,
            process,
            honest,
            flood,
            before: 0,
        })
    }
}

pub(crate) fn run() -> Outcome {
    println!("times: median, mean, longest; as many times that of the quiet one: by median, by mean");
    let mut servers = Vec::new();
    for sources in SOURCES {
        // What is thrown away unread may be anything.
        let server = Server::start("plain", &[What::Echo], format!("bare UDP {sources}"))?;
        servers.push(one(server, "garbage", sources)?);
    }
    for kind in KINDS {
        for sources in SOURCES {
            let server = Server::start("serve", &[What::Send, What::Call], format!("{kind} {sources}"))?;
            servers.push(one(server, kind, sources)?);
        }
    }
    println!("\nkB in memory before, after the flood, and {FORGOTTEN:?} after the last one");
    let after: Vec<u64> = servers.iter().map(|server| server.process.resident()).collect();
    std::thread::sleep(FORGOTTEN);
    for (server, after) in servers.iter().zip(after) {
        let (before, forgotten) = (server.before, server.process.resident());
        println!(
            "{:<14} {before:>8} {after:>8} {forgotten:>8}, {:+} kB",
            server.flood,
            forgotten as i64 - before as i64
        );
    }
    Ok(())
}

/// One kind of flood; the server goes on.
fn one(mut server: Server, kind: &str, sources: u32) -> Result<Server, Box<dyn std::error::Error>> {
    let address = server.address;
    let time = || {
        server
            .honest
            .iter()
            .map(|what| repeat(*what, address, COUNT, TIMED))
    };
    let quiet: Vec<Times> = time().collect::<Result<_, _>>()?;
    server.before = server.process.resident();
    let (text, seconds) = (address.to_string(), FLOOD.as_secs().to_string());
    let (mut flood, mut output) = Process::start(&[kind, &text, &sources.to_string(), &seconds])?;
    std::thread::sleep(SETTLE);
    let beside: Vec<Times> = time().collect::<Result<_, _>>()?;
    let mut sent = String::new();
    output.read_line(&mut sent)?;
    flood.0.wait()?;
    let packets: u64 = sent.split(' ').next().unwrap_or_default().parse().unwrap_or(0);
    println!(
        "{:<14} {} packets a second, {:.1} % dropped by the system",
        server.flood,
        packets / FLOOD.as_secs(),
        dropped(address) as f64 * 100.0 / packets.max(1) as f64
    );
    for (what, (quiet, beside)) in server.honest.iter().zip(quiet.iter().zip(&beside)) {
        compare(*what, quiet, beside);
    }
    Ok(server)
}

fn compare(what: What, quiet: &Times, beside: &Times) {
    let micros = |times: &Times| {
        let three = [times.below(50), times.mean(), times.below(100)];
        three
            .map(|time| format!("{:>8.0}", time.as_secs_f64() * 1e6))
            .concat()
    };
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!(
        "  {what:?}: quiet{} us, beside{} us ({} times): {:.1}, {:.1}",
        micros(quiet),
        micros(beside),
        beside.count(),
        ratio(beside.below(50), quiet.below(50)),
        ratio(beside.mean(), quiet.mean())
    );
}

/// What the system dropped because the socket was full.
fn dropped(server: SocketAddr) -> u64 {
    let port = format!(":{:04X}", server.port());
    let tables =
        ["/proc/net/udp", "/proc/net/udp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines());
    let of_port = lines.filter(|line| {
        line.split_whitespace()
            .nth(1)
            .is_some_and(|local| local.ends_with(&port))
    });
    of_port
        .filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok())
        .sum()
}
