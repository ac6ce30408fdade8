//! Where the parties stand: one host, or two network namespaces joined by a pair of virtual interfaces.
//!
//! A namespace belongs to a process that only waits for its standard input to end: it vanishes with whoever made it,
//! however that one ends, and leaves no name behind.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::plan::Path;

/// How long a new process may take to be in its namespace.
const PATIENCE: Duration = Duration::from_secs(10);
const INTERFACE: &str = "veth0";

/// Where one party stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// A command that runs what follows it in the place; empty: here.
    pub(crate) enter: Vec<String>,
    /// The address there.
    pub(crate) address: IpAddr,
    /// The interface its packets cross.
    pub(crate) interface: String,
}

impl Place {
    /// A command to run in the place.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        match self.enter.split_first() {
            None => Command::new(program),
            Some((enter, rest)) => {
                let mut command = Command::new(enter);
                command.args(rest).arg(program);
                command
            }
        }
    }

    /// Runs a program in the place to its end and returns what it printed.
    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Result<String, Error> {
        let mut command = self.command(program);
        command.args(args);
        output(command)
    }
}

/// Two places that reach each other. What it made vanishes when it is dropped.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Where clients are.
    pub(crate) left: Place,
    /// Where servers are.
    pub(crate) right: Place,
    /// What was made differently than wanted.
    pub(crate) notes: Vec<String>,
    _held: Vec<Namespace>,
}

impl Stage {
    /// Makes the path.
    ///
    /// # Errors
    /// [`Error::NotRoot`] for namespaces without the right to make them, [`Error::Tool`] if `ip` or `ethtool`
    /// fails.
    pub(crate) fn new(path: Path) -> Result<Self, Error> {
        match path {
            Path::Loopback => Self::loopback(),
            Path::Veth => Self::veth(false),
            Path::VethNooffload => Self::veth(true),
        }
    }

    /// A namespace of its own keeps other traffic of the host out of the interface's counters. Without the right
    /// to make one the host's loopback does.
    fn loopback() -> Result<Self, Error> {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let here = |enter| Place {
            enter,
            address,
            interface: "lo".to_owned(),
        };
        if !is_root() {
            let note =
                "not root: the host's own loopback is used, whose packet counts include other programs'";
            return Ok(Self {
                left: here(Vec::new()),
                right: here(Vec::new()),
                notes: vec![note.to_owned()],
                _held: Vec::new(),
            });
        }
        let namespace = Namespace::new()?;
        let place = here(namespace.enter());
        Ok(Self {
            left: place.clone(),
            right: place,
            notes: Vec::new(),
            _held: vec![namespace],
        })
    }

    fn veth(plain: bool) -> Result<Self, Error> {
        if !is_root() {
            let what = "a path between network namespaces".to_owned();
            return Err(Error::NotRoot { what });
        }
        let (left, right) = (Namespace::new()?, Namespace::new()?);
        let place = |namespace: &Namespace, last| Place {
            enter: namespace.enter(),
            address: IpAddr::V4(Ipv4Addr::new(10, 36, 0, last)),
            interface: INTERFACE.to_owned(),
        };
        let (one, other) = (place(&left, 1), place(&right, 2));
        let peer = right.process().to_string();
        let pair = ["type", "veth", "peer", "name", INTERFACE, "netns", &peer];
        one.run("ip", &[&["link", "add", INTERFACE], &pair[..]].concat())?;
        for place in [&one, &other] {
            let address = format!("{}/24", place.address);
            place.run("ip", &["address", "add", &address, "dev", INTERFACE])?;
            place.run("ip", &["link", "set", INTERFACE, "mtu", "1500", "up"])?;
            if plain {
                let off = [
                    "tso",
                    "off",
                    "gso",
                    "off",
                    "gro",
                    "off",
                    "tx-udp-segmentation",
                    "off",
                ];
                place.run("ethtool", &[&["-K", INTERFACE], &off[..]].concat())?;
            }
        }
        // The first packets would wait for the answer of ARP.
        one.run("ping", &["-c", "1", "-W", "2", &other.address.to_string()])
            .ok();
        Ok(Self {
            left: one,
            right: other,
            notes: Vec::new(),
            _held: vec![left, right],
        })
    }

    /// Sets a `net.` parameter in both namespaces. On the host itself nothing is changed.
    ///
    /// # Errors
    /// [`Error::NotRoot`] on the host itself, [`Error::Tool`] if the kernel refuses the value.
    pub(crate) fn sysctl(&self, name: &str, value: &str) -> Result<(), Error> {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        for place in [&self.left, &self.right] {
            if place.enter.is_empty() {
                let what = format!("setting {name}");
                return Err(Error::NotRoot { what });
            }
            place.run("sh", &["-c", "echo \"$0\" > \"$1\"", value, &file])?;
        }
        Ok(())
    }

    /// The value of a `net.` parameter where clients are.
    pub(crate) fn sysctl_value(&self, name: &str) -> Option<String> {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        let text = self.left.run("cat", &[&file]).ok()?;
        Some(text.trim().to_owned())
    }
}

/// Whether this process may make namespaces.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A network namespace with its loopback interface up and the host's socket buffer limits.
#[derive(Debug)]
pub(crate) struct Namespace {
    holder: Child,
}

impl Namespace {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut command = Command::new("unshare");
        command
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let holder = command
            .spawn()
            .map_err(|error| Error::io("start 'unshare'", error))?;
        let mut namespace = Self { holder };
        namespace.wait()?;
        let place = Place {
            enter: namespace.enter(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            interface: "lo".to_owned(),
        };
        place.run("ip", &["link", "set", "lo", "up"])?;
        let cubic = "echo cubic > /proc/sys/net/ipv4/tcp_congestion_control";
        // What most hosts use; where the kernel lacks it, sockets say what they want.
        place.run("sh", &["-c", cubic]).ok();
        for name in ["rmem_max", "wmem_max"] {
            let file = format!("/proc/sys/net/core/{name}");
            if let Ok(value) = std::fs::read_to_string(&file) {
                // Where the limits are not the namespace's own they are the host's already.
                place
                    .run("sh", &["-c", "echo \"$0\" > \"$1\"", value.trim(), &file])
                    .ok();
            }
        }
        Ok(namespace)
    }

    /// The process that holds it.
    pub(crate) fn process(&self) -> u32 {
        self.holder.id()
    }

    /// The command that runs what follows it in the namespace.
    pub(crate) fn enter(&self) -> Vec<String> {
        let file = format!("--net=/proc/{}/ns/net", self.holder.id());
        vec!["nsenter".to_owned(), file, "--".to_owned()]
    }

    /// Waits until the holder is in a namespace of its own.
    fn wait(&mut self) -> Result<(), Error> {
        let own = std::fs::read_link("/proc/self/ns/net")
            .map_err(|error| Error::io("look at namespaces", error))?;
        let theirs = format!("/proc/{}/ns/net", self.holder.id());
        let begin = Instant::now();
        loop {
            match std::fs::read_link(&theirs) {
                Ok(link) if link != own => return Ok(()),
                _ => {}
            }
            let ended = self.holder.try_wait().is_ok_and(|status| status.is_some());
            if ended || begin.elapsed() > PATIENCE {
                let source = io::Error::from(io::ErrorKind::PermissionDenied);
                return Err(Error::io("make a network namespace", source));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn output(mut command: Command) -> Result<String, Error> {
    let shown = || {
        let name = command.get_program().to_string_lossy().into_owned();
        let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
        std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
    };
    let shown = shown();
    let done = command.stdin(Stdio::null()).output();
    let done = done.map_err(|error| Error::io(format_args!("run '{shown}'"), error))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(Error::Tool {
        command: shown,
        said: String::from_utf8_lossy(&done.stderr).trim().to_owned(),
    })
}

#[cfg(test)]
#[path = "stage_tests.rs"]
mod tests;
