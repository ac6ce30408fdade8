//! What is started for each transport: command lines, and how it is known that a receiver has everything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cell::Event;
use super::disk::NAME;
use super::party::{Line, is_installed};
use super::run::Run;
use super::{GROUP, PORT};
use crate::error::Error;
use crate::job::{Job, Role};
use crate::launch::Launcher;
use crate::plan::{Experiment, WaitPolicy};
use crate::stage::Place;

/// Groups of uftp: where it announces, and where it sends.
const UFTP_GROUPS: [&str; 2] = ["239.36.36.37", "239.36.36.38"];
/// What uftp is told of an uplink, as it counts less than crosses it: share of the uplink's rate.
const UFTP_SHARE: f64 = 0.985;
/// Octets of a block: its packets are as long as the others.
const UFTP_BLOCK: usize = 1_400;
/// The group of NORM, with its port.
const NORM_GROUP: &str = "239.36.36.39/6003";
/// Symbols of a block of NORM, and parity symbols it may repair with: it has none unless it is told to. These send fewest octets.
const NORM_FEC: &str = "block 128 parity 64";
/// Octets of a symbol of NORM: with its headers a packet is as long as the others' (1 497 octets without the link's).
const NORM_SEGMENT: usize = 1_440;
/// What NORM is told of an uplink; it counts its messages, not the 42 octets before them.
const NORM_SHARE: f64 = 0.97;
/// What a receiver of NORM says when it has a file.
const NORM_DONE: &str = "completed reception of";
/// Buffers of sockets asked for, octets: what xtp asks for.
const BUFFER: usize = 4 << 20;

/// What is started for a receiver, and what it leaves.
pub(super) struct Receiving {
    pub(super) line: Line,
    /// The file it makes of what it receives, if it keeps it.
    pub(super) file: Option<PathBuf>,
    /// How it is known that it has everything, where the program serves on.
    pub(super) mark: Option<Mark>,
}

/// What a program that serves on leaves when it has everything.
#[derive(Debug, PartialEq)]
pub(super) enum Mark {
    /// A file that appears.
    Appears(PathBuf),
    /// A word in what it prints into this file.
    Says(PathBuf, &'static str),
}

impl Mark {
    /// When that was; `None` as long as it is not so.
    pub(super) fn left(&self) -> Option<SystemTime> {
        let file = match self {
            Self::Appears(file) => file,
            Self::Says(file, word) => {
                let said = fs::read(file).ok()?;
                String::from_utf8_lossy(&said).contains(word).then_some(file)?
            }
        };
        fs::metadata(file).ok()?.modified().ok()
    }
}

/// Why a transport cannot be measured.
pub(super) fn obstacle(transport: &str) -> Option<String> {
    let (program, package) = match transport {
        "uftp" => ("uftpd", "uftp"),
        "udpcast" => ("udp-sender", "udpcast"),
        "norm" => ("normCast", "the source of norm, among its examples"),
        _ => return None,
    };
    (!is_installed(program)).then(|| format!("'{program}' is not installed (Debian has it in {package})"))
}

/// Octets of the transport's own header in a packet of the sender: XTP's, of which TCP has 24 beyond UDP's 8.
pub(super) fn header(transport: &str) -> u64 {
    match transport {
        "raw" => 0,
        "tcp" => 24,
        _ => 32,
    }
}

/// The receiver of this index.
///
/// # Errors
/// [`Error::Io`] if its directory cannot be made.
pub(super) fn receiver(run: &Run<'_>, index: usize) -> Result<Receiving, Error> {
    let place = &run.network.receivers[index];
    let folder = run.disk.receiver(index)?;
    let file = folder.join(NAME);
    let (folder_text, file_text) = (folder.display(), file.display());
    let address = place.address;
    let mut mark = None;
    let line = match run.transport {
        "xtp" => Line::new(
            &run.launcher.program,
            &format!("cast recv {GROUP} {folder_text} --interface {address} --name receiver-{index}"),
        ),
        "uftp" => {
            let whole = folder.with_extension("whole");
            let script = folder.with_extension("sh");
            announce(&script, &whole)?;
            let [announced, _] = UFTP_GROUPS;
            let line = Line::new(
                "uftpd",
                &format!(
                    "-d -x 2 -M {announced} -I {} -D {folder_text} -B {BUFFER} -s {}",
                    place.interface,
                    script.display()
                ),
            );
            mark = Some(Mark::Appears(whole));
            line
        }
        "norm" => {
            mark = Some(Mark::Says(run.disk.log(&receiver_name(index)), NORM_DONE));
            Line::new(
                "normCast",
                &format!(
                    "id {} addr {NORM_GROUP} interface {} rxsockbuffer {BUFFER} recv {folder_text}",
                    norm_number(index),
                    place.interface
                ),
            )
        }
        "udpcast" => Line::new(
            "udp-receiver",
            &format!(
                "--nokbd --no-progress --exit-wait 0 --interface {} --rcvbuf {BUFFER} --file {file_text}",
                place.interface
            ),
        ),
        transport => worker(
            run.launcher,
            &job(
                transport,
                place,
                Role::Server,
                &[("file", file.display().to_string())],
            ),
        )?,
    };
    let file = (run.transport != "raw").then_some(file);
    Ok(Receiving { line, file, mark })
}

/// A script that leaves a mark.
fn announce(script: &Path, mark: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |error| Error::io("write the script of a receiver", error);
    // There is none of an earlier run most of the time.
    let _ = fs::remove_file(mark);
    fs::write(script, format!("#!/bin/sh\n: > {}\n", mark.display())).map_err(failed)?;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).map_err(failed)
}

/// The sender.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn sender(run: &Run<'_>) -> Result<Line, Error> {
    let place = &run.network.sender;
    let file = run.disk.sent();
    let file_text = file.display();
    let (address, interface) = (place.address, &place.interface);
    // Who comes late is not waited for.
    let expected = run.cell.receivers - usize::from(run.cell.event == Event::Late);
    Ok(match run.transport {
        "xtp" => {
            let more = run.option("cast").unwrap_or_default();
            Line::new(
                &run.launcher.program,
                &format!(
                    "--json cast send {file_text} {GROUP} --interface {address} --expect {expected} {more}"
                ),
            )
        }
        "uftp" => {
            let [announced, private] = UFTP_GROUPS;
            let rate = run
                .cell
                .rate
                .map_or(-1, |rate| (rate as f64 * UFTP_SHARE / 1e3) as i64);
            let hosts: Vec<String> = run.network.receivers.iter().map(identity).collect();
            Line::new(
                "uftp",
                &format!(
                    "-x 2 -R {rate} -b {UFTP_BLOCK} -B {BUFFER} -M {announced} -P {private} -I {interface} -H {} {file_text}",
                    hosts[..expected].join(",")
                ),
            )
        }
        "udpcast" => Line::new(
            "udp-sender",
            &format!(
                "--nokbd --no-progress --full-duplex --rexmit-hello-interval 100 --interface {interface} \
                 --min-receivers {expected} --file {file_text}"
            ),
        ),
        "norm" => {
            // A rate where the uplink's is known, and its congestion control where nobody can know.
            let pace = match run.cell.rate {
                Some(rate) => format!("rate {:.0}", rate as f64 * NORM_SHARE),
                None => "cc".to_owned(),
            };
            let numbers: Vec<String> = (0..expected)
                .map(|index| norm_number(index).to_string())
                .collect();
            let more = run.option("norm").unwrap_or_default();
            Line::new(
                "normCast",
                &format!(
                    "id 1 addr {NORM_GROUP} interface {interface} segment {NORM_SEGMENT} {NORM_FEC} {pace} \
                     txsockbuffer {BUFFER} {more} ack {} send {file_text}",
                    numbers.join(",")
                ),
            )
        }
        transport => {
            let peers = run.network.receivers.iter();
            let peers: Vec<String> = peers.map(|peer| format!("{}:{PORT}", peer.address)).collect();
            let options = [
                ("file", file.display().to_string()),
                ("octets", run.cell.octets.to_string()),
                ("peers", peers.join(",")),
            ];
            worker(run.launcher, &job(transport, place, Role::Client, &options))?
        }
    })
}

/// By which name the notes of a receiver are kept.
pub(super) fn receiver_name(index: usize) -> String {
    format!("receiver-{index}")
}

/// The number NORM knows a receiver by; the sender's is 1.
fn norm_number(index: usize) -> usize {
    index + 2
}

/// The name uftp gives a host: its address in hexadecimal digits.
fn identity(place: &Place) -> String {
    match place.address {
        std::net::IpAddr::V4(address) => format!("0x{:08X}", u32::from(address)),
        std::net::IpAddr::V6(address) => format!("0x{:08X}", u128::from(address) as u32),
    }
}

/// A party of our own.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn worker(launcher: &Launcher, job: &Job) -> Result<Line, Error> {
    let input = serde_json::to_string(job).map_err(|error| Error::io("write a job", error.into()))?;
    Ok(Line {
        program: launcher.program.clone(),
        args: launcher.args.clone(),
        input: input + "\n",
    })
}

/// What a party of our own is told.
pub(super) fn job(transport: &str, place: &Place, role: Role, options: &[(&str, String)]) -> Job {
    let options: BTreeMap<String, String> = options
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    Job {
        role,
        experiment: Experiment::Multicast,
        transport: transport.to_owned(),
        wait: WaitPolicy::Block,
        size: 0,
        least: None,
        warmup: 0,
        operations: 1,
        seconds: 0.0,
        core: None,
        bind: place.address,
        interface: place.interface.clone(),
        peer: String::new(),
        rank: 0,
        ranks: 0,
        options,
        flow: None,
    }
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
