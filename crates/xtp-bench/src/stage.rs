//! Where the parties stand: one host, or two network namespaces joined by a pair of virtual interfaces.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};

use xtp_linkem::HeldNetwork;

use crate::error::Error;
use crate::plan::Path;

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
    _held: Vec<HeldNetwork>,
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
        let namespace = network()?;
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
        let (left, right) = (network()?, network()?);
        let place = |namespace: &HeldNetwork, last| Place {
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

/// A network namespace with the host's socket buffer limits.
///
/// # Errors
/// [`Error::Io`] if none can be made.
pub(crate) fn network() -> Result<HeldNetwork, Error> {
    let made = HeldNetwork::new().map_err(io::Error::other);
    let network = made.map_err(|error| Error::io("make a network namespace", error))?;
    let place = Place {
        enter: network.enter(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        interface: "lo".to_owned(),
    };
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
    Ok(network)
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
