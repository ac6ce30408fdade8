//! Suite `cast`: `xtp cast` from one host to several on a bridge, by real processes.
//!
//! Files go to three hosts, and to ten receivers on one of them, over IPv4, IPv6, a source-specific group and by copies; while
//! packets to the group are lost at every receiver; and while one receiver is killed, or stopped for a while. What arrives is compared with what was
//! sent, and what the sender says of each receiver with what is there.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::host::{Host, output};
use super::namespace::{Namespace, Process};

const SENDER: &str = "10.36.5.1";
const OCTETS: usize = 3_000_000;
/// Longest wait for a process that should end by itself.
const LONG: Duration = Duration::from_secs(60);
/// Packets to the group lost at each receiver, of a hundred.
const LOSS: &str = "3";

struct World {
    sender: Namespace,
    receivers: Vec<Namespace>,
    _switch: Namespace,
    program: PathBuf,
    folder: PathBuf,
    data: Vec<u8>,
}

/// One receiver that runs.
struct Receiving {
    process: Process,
    place: PathBuf,
}

pub(super) fn run(host: &Host) -> Result<String, String> {
    let world = World::new(host)?;
    let lossy = output("nft", &["--version"]).is_ok();
    let each = ["10.36.5.2:5000", "10.36.5.3:5000", "10.36.5.4:5000"];
    world.step("multicast", "239.36.5.1", &[], &[], |_| ())?;
    world.step("IPv6", "ff15::36:5%to-switch", &[], &[], |_| ())?;
    let source = ["--source", SENDER];
    world.step("one source", "232.36.5.1", &source, &source, |_| ())?;
    world.copies(&each)?;
    world.many()?;
    world.killed()?;
    world.stopped()?;
    let mut shown =
        "multicast, IPv6, source-specific, copies, ten on a host, one killed, one stopped".to_owned();
    if lossy {
        world.lose()?;
        let mut repairs = 0;
        world.step("loss", "239.36.5.4", &[], &[], |report| {
            repairs = number(report, "repair_packets")
        })?;
        if repairs == 0 {
            return Err("with loss: nothing was repaired".to_owned());
        }
        shown.push_str(&format!(", {LOSS} % loss at each receiver"));
    } else {
        shown.push_str(" (no loss: nft is not installed)");
    }
    Ok(shown)
}

impl World {
    fn new(host: &Host) -> Result<Self, String> {
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
            let port = format!("port{number}");
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
        let receivers = (2..5)
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
            _switch: switch,
            program: host.program("xtp-cli", "xtp")?,
            folder,
            data,
        })
    }

    fn receive(&self, number: usize, name: &str, group: &str, options: &[&str]) -> Result<Receiving, String> {
        let place = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).map_err(|error| error.to_string())?;
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

    fn send(&self, group: &str, options: &[&str]) -> Result<Process, String> {
        let program = self.program.to_string_lossy();
        let file = self.folder.join("file");
        let file = file.to_string_lossy();
        let mut words = vec!["cast", "send", file.as_ref(), group, "--json", "--quiet"];
        words.extend(options);
        Process::start(self.sender.command(&program, &words))
    }

    /// A receiver on each host, and the sender: everybody must have everything.
    fn step(
        &self,
        what: &str,
        group: &str,
        sending: &[&str],
        receiving: &[&str],
        look: impl FnOnce(&str),
    ) -> Result<(), String> {
        let failed = |error: String| format!("{what}: {error}");
        let mut receivers = Vec::new();
        for number in 0..self.receivers.len() {
            receivers.push(
                self.receive(number, &format!("r{number}"), group, receiving)
                    .map_err(failed)?,
            );
        }
        self.everybody(group, sending, receivers, look).map_err(failed)
    }

    fn everybody(
        &self,
        group: &str,
        sending: &[&str],
        receivers: Vec<Receiving>,
        look: impl FnOnce(&str),
    ) -> Result<(), String> {
        let count = receivers.len();
        let expect = count.to_string();
        let sender = self.send(group, &[&["--expect", &expect], sending].concat())?;
        let report = end(sender, 0)?;
        look(&report);
        let complete = report.matches("\"state\":\"complete\"").count()
            + report.matches("\"state\":\"caught-up\"").count();
        if complete != count {
            return Err(format!("{complete} of {count} are complete: {report}"));
        }
        for receiver in receivers {
            self.check(receiver)?;
        }
        Ok(())
    }

    fn check(&self, receiver: Receiving) -> Result<(), String> {
        end(receiver.process, 0)?;
        let file = receiver.place.join("file");
        match std::fs::read(&file) {
            Ok(got) if got == self.data => Ok(()),
            Ok(got) => Err(format!("{} differs ({} octets)", file.display(), got.len())),
            Err(error) => Err(format!("{}: {error}", file.display())),
        }
    }

    fn copies(&self, each: &[&str]) -> Result<(), String> {
        let mut receivers = Vec::new();
        for (number, own) in each.iter().enumerate() {
            receivers.push(self.receive(number, &format!("r{number}"), own, &[])?);
        }
        self.everybody(&each.join(","), &[], receivers, |_| ())
            .map_err(|error| format!("copies: {error}"))
    }

    /// Ten receivers on one host.
    fn many(&self) -> Result<(), String> {
        let group = "239.36.5.2";
        let receivers = (0..10)
            .map(|number| self.receive(0, &format!("m{number}"), group, &[]))
            .collect::<Result<_, _>>()?;
        self.everybody(group, &[], receivers, |_| ())
            .map_err(|error| format!("ten on a host: {error}"))
    }

    /// One is killed while the others receive: they are whole, and the sender names it.
    fn killed(&self) -> Result<(), String> {
        let group = "239.36.5.3";
        let mut receivers = Vec::new();
        for (number, name) in ["one", "other", "victim"].into_iter().enumerate() {
            receivers.push(self.receive(number, name, group, &[])?);
        }
        // Some two seconds, so that there is time for the accident.
        let limit = ["--expect", "3", "--limit", "1500KB"];
        let sender = self.send(group, &limit)?;
        let victim = receivers.pop().ok_or("no victim")?;
        std::thread::sleep(Duration::from_millis(700));
        drop(victim.process);
        let failed = |error| format!("one killed: {error}");
        let report = end(sender, 1).map_err(failed)?;
        let dropped = report.matches("\"state\":\"dropped\"").count();
        if dropped != 1 || !report.contains("victim") {
            return Err(failed(report));
        }
        receivers
            .into_iter()
            .try_for_each(|receiver| self.check(receiver))
            .map_err(failed)
    }

    /// One is stopped until the others have everything, and continued: it catches up.
    fn stopped(&self) -> Result<(), String> {
        let group = "239.36.5.5";
        let mut receivers = Vec::new();
        for (number, name) in ["one", "other", "sleeper"].into_iter().enumerate() {
            receivers.push(self.receive(number, name, group, &[])?);
        }
        let sender = self.send(group, &["--expect", "3", "--limit", "1500KB"])?;
        let mut sleeper = receivers.pop().ok_or("no sleeper")?;
        let process = sleeper.process.child().id().to_string();
        let failed = |error| format!("one stopped: {error}");
        std::thread::sleep(Duration::from_millis(700));
        output("kill", &["-STOP", &process])?;
        // The others are done after some two seconds, whatever becomes of it.
        std::thread::sleep(Duration::from_secs(4));
        output("kill", &["-CONT", &process])?;
        let report = end(sender, 0).map_err(failed)?;
        if report.matches("\"state\":\"caught-up\"").count() != 1 {
            return Err(failed(report));
        }
        receivers.push(sleeper);
        receivers
            .into_iter()
            .try_for_each(|receiver| self.check(receiver))
            .map_err(failed)
    }

    /// From now on packets to groups are lost at every receiver.
    fn lose(&self) -> Result<(), String> {
        for receiver in &self.receivers {
            receiver.shell(&format!(
                "nft 'add table ip lossy; add chain ip lossy in {{ type filter hook input priority 0; }}; \
                 add rule ip lossy in ip daddr 224.0.0.0/4 numgen random mod 100 < {LOSS} drop'"
            ))?;
        }
        Ok(())
    }
}

/// Waits for a process; the last line of its output. It must end with `status`.
fn end(mut process: Process, status: i32) -> Result<String, String> {
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

/// A number of a report.
fn number(report: &str, field: &str) -> u64 {
    let rest = report
        .split_once(&format!("\"{field}\":"))
        .map_or("", |(_, rest)| rest);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
