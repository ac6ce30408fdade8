//! Suite `linkem`: programs on both sides of `xtp linkem`, whose report must agree with what arrived.
//!
//! Numbered datagrams cross a link that loses, duplicates and damages. The report's counters are compared with what
//! the sender sent and the receiver got, and with those of a second run from the same seed. Statuses are handed on,
//! and no namespace is left behind, not even by a killed emulator once the next one has started.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::host::{Host, output};
use super::namespace::Process;

const PACKETS: u32 = 3_000;
const PORT: u16 = 7_007;
/// With its headers of 28 octets a packet is a kilobit or so.
const OCTETS: usize = 100;
/// A receiver that hears nothing for so long has heard everything.
const SILENCE: Duration = Duration::from_secs(1);
/// How long a sender waits for its receiver's socket.
const PATIENCE: Duration = Duration::from_secs(10);

struct World {
    program: PathBuf,
    folder: PathBuf,
}

pub(super) fn run(host: &Host) -> Result<String, String> {
    let world = World {
        program: host.program("xtp-cli", "xtp")?,
        folder: host.scratch("linkem")?,
    };
    let lossy = [
        "--loss",
        "10%",
        "--duplicate",
        "5%",
        "--rtt",
        "10ms",
        "--seed",
        "7",
    ];
    let first = world.cross(&lossy)?;
    if [first.lost, first.duplicated].contains(&0) {
        return Err(format!("a lossy link that lost or duplicated nothing: {first:?}"));
    }
    let second = world.cross(&lossy)?;
    if first != second {
        return Err(format!("one seed, two fates: {first:?} and {second:?}"));
    }
    let errors = ["--ber", "1e-5", "--seed", "7"];
    let dropped = world.cross(&errors)?;
    let delivered = world.cross(&[&errors[..], &["--deliver-damaged"]].concat())?;
    if dropped.bit_error == 0 || dropped.bit_error != delivered.damaged + delivered.refused {
        return Err(format!(
            "damage differs: {dropped:?} dropped, {delivered:?} delivered"
        ));
    }
    world.status()?;
    world.leftovers()?;
    Ok(format!(
        "{PACKETS} datagrams: {} lost, {} twice, all accounted for; {} damaged, none of them accepted",
        first.lost, first.duplicated, dropped.bit_error
    ))
}

/// What a report says about the way to the right.
#[derive(Debug, PartialEq)]
struct Counters {
    delivered: u64,
    lost: u64,
    bit_error: u64,
    damaged: u64,
    refused: u64,
    duplicated: u64,
}

impl World {
    fn linkem(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("linkem").args(words);
        command
    }

    /// Sends all datagrams over a link; its counters, after they were compared with what arrived.
    fn cross(&self, link: &[&str]) -> Result<Counters, String> {
        let this = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
        let (this, report) = (this.to_string_lossy(), self.folder.join("report.json"));
        let ready = self.folder.join("ready");
        // Of the run before.
        let _ = std::fs::remove_file(&ready);
        let ready = ready.to_string_lossy();
        let end = ["real-end", "linkem"];
        let mut command = self.linkem(link);
        command.args(["--until", "both", "--json"]).arg(&report);
        command
            .args(["--", "left", &*this])
            .args(end)
            .args(["send", "{peer}", &*ready]);
        command
            .args(["--", "right", &*this])
            .args(end)
            .args(["receive", &*ready]);
        let done = command.output().map_err(|error| format!("xtp: {error}"))?;
        let said = String::from_utf8_lossy(&done.stderr);
        if !done.status.success() {
            return Err(format!("{}: {said}", done.status));
        }
        let arrived = String::from_utf8_lossy(&done.stdout);
        let arrived: u64 = arrived
            .trim()
            .parse()
            .map_err(|_| format!("the receiver said {arrived}, and {said}"))?;
        agree(&report, arrived)
    }

    /// The status is that of the command waited for.
    fn status(&self) -> Result<(), String> {
        let words = [
            "-q", "--", "left", "sh", "-c", "exit 7", "--", "right", "sleep", "1000",
        ];
        let status = self.linkem(&words).status().map_err(|error| error.to_string())?;
        if status.code() == Some(7) {
            Ok(())
        } else {
            Err(format!("a command's status 7 became {status}"))
        }
    }

    /// Interrupted, it removes its namespaces; killed, the next one does.
    fn leftovers(&self) -> Result<(), String> {
        for (signal, next) in [("-INT", false), ("-KILL", true)] {
            let mut command = self.linkem(&[]);
            command.stderr(Stdio::piped());
            let mut process = Process::start(command)?;
            let errors = process.child().stderr.take().ok_or("no output")?;
            let mut line = String::new();
            BufReader::new(errors)
                .read_line(&mut line)
                .map_err(|error| error.to_string())?;
            let id = process.child().id().to_string();
            let prefix = format!("xtp-linkem-{id}-");
            if !output("ip", &["netns", "list"])?.contains(&prefix) {
                return Err(format!("no namespace of {id}, which said {line}"));
            }
            output("kill", &[signal, &id])?;
            process.child().wait().map_err(|error| error.to_string())?;
            if next {
                self.linkem(&["-q", "--", "left", "true"])
                    .status()
                    .map_err(|error| error.to_string())?;
            }
            if output("ip", &["netns", "list"])?.contains(&prefix) {
                return Err(format!("kill {signal} left a namespace behind"));
            }
        }
        Ok(())
    }
}

/// Compares a report with what arrived.
fn agree(report: &Path, arrived: u64) -> Result<Counters, String> {
    let json = std::fs::read_to_string(report).map_err(|error| format!("{}: {error}", report.display()))?;
    let count = |name: &str| counter(&json, "left_to_right", name);
    let counters = Counters {
        delivered: count("delivered")?,
        lost: count("lost")?,
        bit_error: count("bit_error")?,
        damaged: count("damaged")?,
        refused: count("refused")?,
        duplicated: count("duplicated")?,
    };
    let Counters {
        delivered,
        lost,
        bit_error,
        damaged,
        refused,
        duplicated,
    } = counters;
    if count("sent")? != u64::from(PACKETS)
        || u64::from(PACKETS) + duplicated != delivered + lost + bit_error + refused
        || arrived != delivered - damaged
    {
        return Err(format!("{arrived} of {PACKETS} datagrams arrived, but: {json}"));
    }
    Ok(counters)
}

/// A counter of one direction.
fn counter(json: &str, direction: &str, name: &str) -> Result<u64, String> {
    let found = json
        .split_once(&format!("\"{direction}\":"))
        .and_then(|(_, rest)| rest.split_once(&format!("\"{name}\": ")));
    let digits = found.map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits
        .flatten()
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| format!("no {name} of {direction} in {json}"))
}

/// The sender or the receiver, inside its namespace.
pub(super) fn run_end(words: &[&str]) -> Result<(), String> {
    let done = match words {
        ["send", peer, ready] => send(peer, Path::new(ready)),
        ["receive", ready] => receive(Path::new(ready)),
        _ => return Err(format!("no such end: {}", words.join(" "))),
    };
    done.map_err(|error| error.to_string())
}

/// Sends when the receiver has made the file `ready`.
fn send(peer: &str, ready: &Path) -> std::io::Result<()> {
    let began = Instant::now();
    while !ready.exists() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((peer, PORT))?;
    for number in 0..PACKETS {
        socket.send(&[number as u8; OCTETS])?;
        // The receiver's buffer must not be what loses packets.
        if number % 10 == 9 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

/// Counts what arrives until nothing does; makes the file `ready` when its socket is there.
fn receive(ready: &Path) -> std::io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    std::fs::write(ready, "")?;
    let mut buffer = [0; 2 * OCTETS];
    let mut count = 0;
    socket.recv(&mut buffer)?;
    socket.set_read_timeout(Some(SILENCE))?;
    loop {
        count += 1;
        if socket.recv(&mut buffer).is_err() {
            println!("{count}");
            return Ok(());
        }
    }
}
