//! Hosts on a bridge, and `xtp cast` on them.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::real::host::Host;
use crate::real::namespace::{Namespace, Process};

/// Address of the transmitter.
pub(super) const SENDER: &str = "10.36.5.1";
/// Hosts of receivers.
pub(super) const HOSTS: usize = 10;
/// Number of the first of them.
const FIRST: usize = 2;
const OCTETS: usize = 3_000_000;
/// Longest wait for a process that should end by itself.
const LONG: Duration = Duration::from_secs(60);

pub(super) struct World {
    pub(super) sender: Namespace,
    pub(super) receivers: Vec<Namespace>,
    switch: Namespace,
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) data: Vec<u8>,
}

/// One receiver that runs.
pub(super) struct Receiving {
    pub(super) process: Process,
    pub(super) place: PathBuf,
}

/// Octets of a file that are enough to tell that it comes.
const SOME: u64 = 200_000;

impl Receiving {
    /// Waits until some of a file lies there, whatever its name is as long as it is not whole.
    pub(super) fn wait_for_octets(&self) -> Result<(), String> {
        let begin = Instant::now();
        while begin.elapsed() < LONG {
            let files = std::fs::read_dir(&self.place).map_err(|error| error.to_string())?;
            // Of a file that is made in its length only what was written counts.
            let written = |file: &std::fs::DirEntry| file.metadata().map_or(0, |data| data.blocks() * 512);
            if files.flatten().any(|file| written(&file) >= SOME) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err("nothing came".to_owned())
    }
}

impl World {
    pub(super) fn new(host: &Host) -> Result<Self, String> {
        let switch = Namespace::new("switch")?;
        switch.ip(&["link", "add", "bridge", "type", "bridge", "mcast_snooping", "0"])?;
        switch.ip(&["link", "set", "bridge", "up"])?;
        let plug = |role: &str, number: usize| -> Result<Namespace, String> {
            let namespace = Namespace::new(role)?;
            namespace.ip(&[
                "link",
                "add",
                "to-switch",
                "type",
                "veth",
                "peer",
                "name",
                "to-host",
            ])?;
            let port = port(number);
            namespace.ip(&["link", "set", "to-host", "name", &port, "netns", switch.name()])?;
            switch.ip(&["link", "set", &port, "master", "bridge", "up"])?;
            let four = format!("10.36.5.{number}/24");
            let six = format!("fd36:5::{number}/64");
            namespace.ip(&["address", "add", &four, "dev", "to-switch"])?;
            namespace.ip(&["address", "add", &six, "dev", "to-switch", "nodad"])?;
            namespace.ip(&["link", "set", "to-switch", "up"])?;
            namespace.ip(&["route", "add", "224.0.0.0/4", "dev", "to-switch"])?;
            Ok(namespace)
        };
        let sender = plug("sender", 1)?;
        let receivers = (FIRST..FIRST + HOSTS)
            .map(|number| plug(&format!("receiver{number}"), number))
            .collect::<Result<_, _>>()?;
        let folder = host.scratch("cast")?;
        // Octets that do not repeat within a block.
        let data: Vec<u8> = (0..OCTETS as u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        std::fs::write(folder.join("file"), &data).map_err(|error| error.to_string())?;
        Ok(Self {
            sender,
            receivers,
            switch,
            program: host.program("xtp-cli", "xtp")?,
            folder,
            data,
        })
    }

    /// A receiver of this name on that host, which has nothing.
    pub(super) fn receive(
        &self,
        number: usize,
        name: &str,
        group: &str,
        options: &[&str],
    ) -> Result<Receiving, String> {
        let place = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).map_err(|error| error.to_string())?;
        self.receive_again(number, name, group, options)
    }

    /// A receiver that has what it had before.
    pub(super) fn receive_again(
        &self,
        number: usize,
        name: &str,
        group: &str,
        options: &[&str],
    ) -> Result<Receiving, String> {
        let place = self.folder.join(name);
        let program = self.program.to_string_lossy();
        let into = place.to_string_lossy();
        let mut words = vec!["cast", "recv", group, into.as_ref(), "--name", name, "--json"];
        words.extend(options);
        let mut process = Process::start(self.receivers[number].command(&program, &words))?;
        let errors = process.child().stderr.take().ok_or("no errors")?;
        let mut errors = BufReader::new(errors);
        let mut line = String::new();
        errors.read_line(&mut line).map_err(|error| error.to_string())?;
        if !line.starts_with("waiting for a sender") {
            return Err(format!("{name} said {line}"));
        }
        // Nobody may find the pipe full or closed.
        std::thread::spawn(move || errors.read_to_string(&mut String::new()));
        Ok(Receiving { process, place })
    }

    pub(super) fn send(&self, group: &str, options: &[&str]) -> Result<Process, String> {
        let program = self.program.to_string_lossy();
        let file = self.folder.join("file");
        let file = file.to_string_lossy();
        let mut words = vec!["cast", "send", file.as_ref(), group, "--json", "--quiet"];
        words.extend(options);
        Process::start(self.sender.command(&program, &words))
    }

    /// A receiver on each of so many hosts, and the sender: everybody must have everything.
    pub(super) fn step(
        &self,
        what: &str,
        group: &str,
        hosts: usize,
        sending: &[&str],
        receiving: &[&str],
    ) -> Result<String, String> {
        let failed = |error: String| format!("{what}: {error}");
        let mut receivers = Vec::new();
        for number in 0..hosts.min(self.receivers.len()) {
            let receiver = self.receive(number, &format!("r{number}"), group, receiving);
            receivers.push(receiver.map_err(failed)?);
        }
        self.everybody(group, sending, receivers).map_err(failed)
    }

    pub(super) fn everybody(
        &self,
        group: &str,
        sending: &[&str],
        receivers: Vec<Receiving>,
    ) -> Result<String, String> {
        let count = receivers.len();
        let expect = count.to_string();
        let sender = self.send(group, &[&["--expect", &expect], sending].concat())?;
        let report = end(sender, 0)?;
        let complete = report.matches("\"state\":\"complete\"").count()
            + report.matches("\"state\":\"caught-up\"").count();
        if complete != count {
            return Err(format!("{complete} of {count} are complete: {report}"));
        }
        for receiver in receivers {
            self.check(receiver)?;
        }
        Ok(report)
    }

    pub(super) fn check(&self, receiver: Receiving) -> Result<(), String> {
        end(receiver.process, 0)?;
        let file = receiver.place.join("file");
        match std::fs::read(&file) {
            Ok(got) if got == self.data => Ok(()),
            Ok(got) => Err(format!("{} differs ({} octets)", file.display(), got.len())),
            Err(error) => Err(format!("{}: {error}", file.display())),
        }
    }

    /// From now on so many of a hundred packets to groups are lost at every receiver.
    pub(super) fn lose(&self, percent: u32) -> Result<(), String> {
        for receiver in &self.receivers {
            receiver.shell(&format!(
                "nft 'add table inet lossy; delete table inet lossy; add table inet lossy; \
                 add chain inet lossy in {{ type filter hook input priority 0; }}; \
                 add rule inet lossy in ip daddr 224.0.0.0/4 meta l4proto udp numgen random mod 100 < {percent} drop; \
                 add rule inet lossy in ip6 daddr ff00::/8 meta l4proto udp numgen random mod 100 < {percent} drop'"
            ))?;
        }
        Ok(())
    }

    /// From now on segments leave the sender one by one. A train is one packet to who loses some: there are so few of them that
    /// none of a file may be lost.
    pub(super) fn part_trains(&self) -> Result<(), String> {
        let line = "ethtool -K to-switch tso off gso off tx-udp-segmentation off";
        self.sender.shell(line).map(drop)
    }

    /// Takes the host of a receiver off the bridge without a word to anybody, or puts it back.
    pub(super) fn connect(&self, number: usize, connected: bool) -> Result<(), String> {
        let port = port(number + FIRST);
        // 3 forwards, 0 is disabled; the link itself stays up.
        let state = if connected { 3 } else { 0 };
        let line = format!("bridge link set dev {port} state {state}");
        self.switch.shell(&line).map(drop)
    }
}

fn port(number: usize) -> String {
    format!("port{number}")
}

/// Waits for a process; the last line of its output. It must end with `status`.
pub(super) fn end(mut process: Process, status: i32) -> Result<String, String> {
    let began = Instant::now();
    let child = process.child();
    let ended = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(ended) => break ended,
            None if began.elapsed() > LONG => return Err("a process does not end".to_owned()),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let (mut said, mut errors) = (String::new(), String::new());
    if let Some(mut stream) = child.stdout.take() {
        stream
            .read_to_string(&mut said)
            .map_err(|error| error.to_string())?;
    }
    if let Some(mut stream) = child.stderr.take() {
        stream
            .read_to_string(&mut errors)
            .map_err(|error| error.to_string())?;
    }
    if ended.code() != Some(status) {
        return Err(format!("{ended}, not {status}: {said}{errors}"));
    }
    Ok(said.lines().last().unwrap_or_default().to_owned())
}

/// A number of a report; the first of that name.
pub(super) fn number(report: &str, field: &str) -> u64 {
    let rest = report
        .split_once(&format!("\"{field}\":"))
        .map_or("", |(_, rest)| rest);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
