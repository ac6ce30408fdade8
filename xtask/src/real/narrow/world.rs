//! Two hosts and two routers between them, what is sent, and what has to arrive.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::super::host::Host;
use super::super::namespace::{Namespace, Process, join};
use super::super::namespaces::{self, Progress};

const SERVER: &str = "10.37.3.1";
/// Where a group is reached: on the client's own link.
const GROUP: &str = "239.36.37.1";
const OCTETS: usize = 60_000;
/// Of a message that leaves slowly.
const SHORT: usize = 20_000;
/// Of the exchange that goes on while its interface shrinks: some three seconds.
const LONG: &str = "3000000";
const RATE: &str = "1000000";
/// Longest wait for what should end by itself.
const LIMIT: Duration = Duration::from_secs(20);

/// Which link is narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrow {
    /// The client's end of its link, and not the other one.
    Interface,
    /// Both ends of it.
    Link,
    /// The one between the routers, which say so.
    Router,
    /// The one between the routers, which say nothing; the hosts' routes have its MTU.
    Route,
}

impl Narrow {
    pub(super) const ALL: [Self; 4] = [Self::Interface, Self::Link, Self::Router, Self::Route];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interface => "an own interface",
            Self::Link => "an own link",
            Self::Router => "a router's link",
            Self::Route => "a route",
        }
    }

    pub(super) fn carries(self, step: &str) -> bool {
        step != "a cast to a group" || matches!(self, Self::Interface | Self::Link)
    }
}

/// A way to send.
type Step = fn(&World) -> Result<(), String>;

pub(super) const STEPS: &[(&str, Step)] = &[
    ("a message", |world| world.message("file", &[])),
    ("a stream", |world| world.message("file", &["--stream"])),
    ("an acknowledged datagram", |world| {
        world.message("file", &["--acknowledged"])
    }),
    // Its writer hears nothing, and lets a packet out every 10 ms.
    ("a datagram", |world| world.message("short", &["--datagram"])),
    ("a transaction", World::transaction),
    ("a copy there", World::copy_there),
    ("a copy back", World::copy_back),
    ("a cast to a list", |world| world.cast(&world.server, SERVER)),
    ("a cast to a group", |world| world.cast(&world.first, GROUP)),
];

pub(super) struct World {
    client: Namespace,
    /// The routers, of which the first also has a receiver of the group.
    first: Namespace,
    second: Namespace,
    pub(super) server: Namespace,
    program: PathBuf,
    probe: PathBuf,
    folder: PathBuf,
    data: Vec<u8>,
    _services: Vec<Process>,
}

impl World {
    pub(super) fn new(host: &Host) -> Result<Self, String> {
        let (client, first, second, server) = (
            Namespace::new("narrow-client")?,
            Namespace::new("narrow-first")?,
            Namespace::new("narrow-second")?,
            Namespace::new("narrow-server")?,
        );
        for (one, other, names, net) in [
            (&client, &first, ["out", "in"], 1),
            (&first, &second, ["out", "in"], 2),
            (&second, &server, ["out", "in"], 3),
        ] {
            let addr = |host: u8| format!("10.37.{net}.{host}/24");
            // The server is host 1 of its network, as the client is of its own.
            let hosts = if net == 3 { [2, 1] } else { [1, 2] };
            join(one, other, names, [&addr(hosts[0]), &addr(hosts[1])])?;
        }
        for (namespace, to, via) in [
            (&client, "default", "10.37.1.2"),
            (&first, "10.37.3.0/24", "10.37.2.2"),
            (&second, "10.37.1.0/24", "10.37.2.1"),
            (&server, "default", "10.37.3.2"),
        ] {
            namespace.ip(&["route", "add", to, "via", via])?;
        }
        client.ip(&["route", "add", "224.0.0.0/4", "dev", "out"])?;
        first.ip(&["route", "add", "224.0.0.0/4", "dev", "in"])?;
        for router in [&first, &second] {
            router.shell("echo 1 > /proc/sys/net/ipv4/ip_forward")?;
            // Every datagram that is too long is to be answered, not one a second.
            router.shell("echo 0 > /proc/sys/net/ipv4/icmp_ratelimit")?;
        }
        let folder = host.scratch("narrow")?;
        let data: Vec<u8> = (0..OCTETS as u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let mut world = Self {
            client,
            first,
            second,
            server,
            program: host.program("xtp-cli", "xtp")?,
            probe: host.example("exchange_probe")?,
            folder,
            data,
            _services: Vec::new(),
        };
        for (name, octets) in [("file", OCTETS), ("short", SHORT)] {
            std::fs::write(world.path(name), &world.data[..octets]).map_err(|error| error.to_string())?;
        }
        std::fs::create_dir(world.path("served")).map_err(|error| error.to_string())?;
        let served = world.path("served").to_string_lossy().into_owned();
        world._services = vec![
            world.serve(&["answer", &format!("{SERVER}:4001"), "--", "cat"])?,
            world.serve(&["serve", "--listen", &format!("{SERVER}:4002"), &served])?,
        ];
        Ok(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Every link of 1 500 octets but this one.
    pub(super) fn narrow(&mut self, place: Narrow, mtu: u32) -> Result<(), String> {
        let mtu_of = |narrow: bool| {
            if narrow {
                mtu.to_string()
            } else {
                "1500".to_owned()
            }
        };
        let (own, between) = (
            matches!(place, Narrow::Interface | Narrow::Link),
            matches!(place, Narrow::Router | Narrow::Route),
        );
        for (namespace, interface, narrow) in [
            (&self.client, "out", own),
            (&self.first, "in", place == Narrow::Link),
            (&self.first, "out", between),
            (&self.second, "in", between),
        ] {
            namespace.ip(&["link", "set", interface, "mtu", &mtu_of(narrow)])?;
        }
        for router in [&self.first, &self.second] {
            let silent = ["pref", "10", "iif", "lo", "prohibit"];
            // It may not be there.
            let _ = router.ip(&[&["rule", "del"], &silent[..]].concat());
            if place == Narrow::Route {
                router.ip(&[&["rule", "add"], &silent[..]].concat())?;
            }
        }
        let of_route = mtu_of(place == Narrow::Route);
        for (host, via) in [(&self.client, "10.37.1.2"), (&self.server, "10.37.3.2")] {
            host.ip(&["route", "replace", "default", "via", via, "mtu", &of_route])?;
            // What routers said about the link before it changed.
            host.ip(&["route", "flush", "cache"])?;
        }
        Ok(())
    }

    /// Both ends of the client's link.
    pub(super) fn shrink(&self, mtu: u32) -> Result<(), String> {
        let mtu = mtu.to_string();
        self.first.ip(&["link", "set", "in", "mtu", &mtu])?;
        self.client.ip(&["link", "set", "out", "mtu", &mtu]).map(drop)
    }

    /// A program on the server that says when it is ready.
    fn serve(&self, words: &[&str]) -> Result<Process, String> {
        let mut command = self.server.command(&self.program.to_string_lossy(), words);
        command.stdout(Stdio::null());
        ready(Process::start(command)?)
    }

    /// `xtp` on the client with this file as its input; what it said on standard output. It must end with `status`.
    fn client(&self, words: &[&str], input: &str, status: i32) -> Result<(Vec<u8>, String), String> {
        let mut command = self.client.command(&self.program.to_string_lossy(), words);
        let file = File::open(self.path(input)).map_err(|error| error.to_string())?;
        let out = File::create(self.path("said")).map_err(|error| error.to_string())?;
        command.stdin(file).stdout(out);
        let mut process = Process::start(command)?;
        let errors = end(&mut process, status)?;
        let said = std::fs::read(self.path("said")).map_err(|error| error.to_string())?;
        Ok((said, errors))
    }

    fn compare(&self, got: &[u8]) -> Result<(), String> {
        same(got, &self.data)
    }

    fn message(&self, input: &str, options: &[&str]) -> Result<(), String> {
        let (inbox, address) = (self.path("inbox"), format!("{SERVER}:4000"));
        let into = inbox.to_string_lossy();
        let words = ["listen", &address, "--once", "-o", into.as_ref()];
        let mut listener = self.serve(&words)?;
        self.client(
            &[&["send", &address, "--timeout", "10s"], options].concat(),
            input,
            0,
        )?;
        end(&mut listener, 0)?;
        let sent = std::fs::read(self.path(input)).map_err(|error| error.to_string())?;
        same(&std::fs::read(&inbox).map_err(|error| error.to_string())?, &sent)
    }

    fn transaction(&self) -> Result<(), String> {
        let expected = OCTETS.to_string();
        let address = format!("{SERVER}:4001");
        let words = ["call", &address, "--expect", &expected, "--timeout", "10s"];
        self.compare(&self.client(&words, "file", 0)?.0)
    }

    fn copy_there(&self) -> Result<(), String> {
        let _ = std::fs::remove_file(self.path("served/there"));
        let file = self.path("file");
        let there = format!("xtp://{SERVER}:4002/there");
        self.client(&["cp", "--no-sync", &file.to_string_lossy(), &there], "file", 0)?;
        self.compare(&std::fs::read(self.path("served/there")).map_err(|error| error.to_string())?)
    }

    fn copy_back(&self) -> Result<(), String> {
        let back = self.path("back");
        let _ = std::fs::remove_file(&back);
        std::fs::write(self.path("served/back"), &self.data).map_err(|error| error.to_string())?;
        let there = format!("xtp://{SERVER}:4002/back");
        self.client(&["cp", "--no-sync", &there, &back.to_string_lossy()], "file", 0)?;
        self.compare(&std::fs::read(&back).map_err(|error| error.to_string())?)
    }

    fn cast(&self, receiver: &Namespace, group: &str) -> Result<(), String> {
        let place = self.path("cast");
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).map_err(|error| error.to_string())?;
        let program = self.program.to_string_lossy();
        let mut command = receiver.command(&program, &["cast", "recv", group, &place.to_string_lossy()]);
        command.stdout(Stdio::null());
        let mut receiver = ready(Process::start(command)?)?;
        let file = self.path("file");
        let words = [
            "cast",
            "send",
            &file.to_string_lossy(),
            group,
            "--expect",
            "1",
            "--wait",
            "5s",
        ];
        self.client(&words, "file", 0)?;
        end(&mut receiver, 0)?;
        self.compare(&std::fs::read(place.join("file")).map_err(|error| error.to_string())?)
    }

    /// What does not fit the least datagram fails at once, and says both sizes; what does, arrives.
    pub(super) fn refuse(&self, mtu: u32) -> Result<(), String> {
        let address = format!("{SERVER}:4001");
        let (said, _) = self.client(&["call", &address, "-m", "small"], "file", 0)?;
        if said != b"small" {
            return Err(format!("a small transaction at {mtu} octets: {said:?}"));
        }
        let began = Instant::now();
        let (_, errors) = self.client(&["call", &address, "--timeout", "10s"], "file", 3)?;
        let numbers = [(mtu - 28).to_string(), "548".to_owned(), "576".to_owned()];
        match numbers.iter().all(|number| errors.contains(number)) {
            true => Ok(()),
            false => Err(format!(
                "an interface of {mtu} octets said after {:?}: {errors}",
                began.elapsed()
            )),
        }
    }

    /// Octets that go to the server and come back for some seconds.
    pub(super) fn exchange(&self) -> Result<(Process, Process, Progress), String> {
        let probe = self.probe.to_string_lossy();
        let mut echo = Process::start(self.server.command(&probe, &["echo", &format!("{SERVER}:4003")]))?;
        namespaces::lines(&mut echo)?.next_line()?;
        let words = ["exchange", SERVER, "4003", LONG, RATE];
        let mut client = Process::start(self.client.command(&probe, &words))?;
        let progress = namespaces::lines(&mut client)?;
        Ok((echo, client, progress))
    }
}

fn same(got: &[u8], sent: &[u8]) -> Result<(), String> {
    match got == sent {
        true => Ok(()),
        false => Err(format!(
            "{} octets, not the {} that were sent",
            got.len(),
            sent.len()
        )),
    }
}

/// Waits for the line with which a program says that it is ready.
fn ready(mut process: Process) -> Result<Process, String> {
    let errors = process.child().stderr.take().ok_or("no errors")?;
    let mut errors = BufReader::new(errors);
    let mut line = String::new();
    errors.read_line(&mut line).map_err(|error| error.to_string())?;
    if !(line.starts_with("listening on") || line.starts_with("waiting for a sender")) {
        return Err(format!("a server said {line}"));
    }
    // Its pipe is never full, nor closed.
    std::thread::spawn(move || errors.read_to_string(&mut String::new()));
    Ok(process)
}

/// Waits for a process; what it said on standard error. It must end with `status`.
fn end(process: &mut Process, status: i32) -> Result<String, String> {
    let child = process.child();
    let began = Instant::now();
    let ended = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(ended) => break ended,
            None if began.elapsed() > LIMIT => return Err("a process does not end".to_owned()),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let mut errors = String::new();
    if let Some(mut stream) = child.stderr.take() {
        stream
            .read_to_string(&mut errors)
            .map_err(|error| error.to_string())?;
    }
    match ended.code() == Some(status) {
        true => Ok(errors),
        false => Err(format!("{ended}, not {status}: {errors}")),
    }
}
