//! Network namespaces that vanish with their owner.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::device::Device;
use super::held::HeldNetwork;
use super::run::run;
use crate::error::Error;
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// The interface inside each namespace.
const INTERFACE: &str = "wan";
const PREFIX: &str = "xtp-linkem-";
/// Where `ip netns` keeps names.
const NAMES: &str = "/run/netns";
/// Packets the kernel keeps for the emulator to read. Not a queue of the link: the emulator empties it at once.
const DEVICE_QUEUE: &str = "16384";
/// Time for the processes of a namespace to end when asked to.
const GRACE: Duration = Duration::from_secs(2);

/// One side of an emulated link: a network namespace with one interface, `wan`, and loopback.
///
/// It is removed with its [`Emulator`](crate::Emulator).
#[derive(Debug)]
pub struct Namespace {
    /// The namespace's name, as `ip netns` shows it.
    pub name: String,
    /// Its IPv4 address on the link.
    pub address: Ipv4Addr,
    /// Its IPv6 address on the link.
    pub address_v6: Ipv6Addr,
    /// The other side's IPv4 address.
    pub peer: Ipv4Addr,
    /// The other side's IPv6 address.
    pub peer_v6: Ipv6Addr,
    held: HeldNetwork,
}

/// Which of the two.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    fn addresses(self) -> (Ipv4Addr, Ipv6Addr) {
        let last = match self {
            Self::Left => 1,
            Self::Right => 2,
        };
        // The namespaces know nothing else, so any address will do and can be the same for every emulator.
        (
            Ipv4Addr::new(10, 36, 0, last),
            Ipv6Addr::new(0xfd36, 0, 0, 0, 0, 0, 0, last.into()),
        )
    }

    fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl Namespace {
    /// A new, empty namespace for one side of this process's emulator `number`.
    pub(super) fn create(side: Side, number: u32) -> Result<Self, Error> {
        let (address, address_v6) = side.addresses();
        let (peer, peer_v6) = side.other().addresses();
        let held = HeldNetwork::new()?;
        let namespace = Self {
            name: format!("{PREFIX}{}-{number}-{}", std::process::id(), side.word()),
            address,
            address_v6,
            peer,
            peer_v6,
            held,
        };
        match namespace.held.name(&namespace.name) {
            Ok(()) => Ok(namespace),
            // It has no name to remove: that is tried in vain.
            Err(Error::Command { said, .. }) if !geteuid().is_root() || said.contains("not permitted") => {
                Err(Error::NotPermitted {
                    what: "make a network namespace",
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Moves a device here, names it [`INTERFACE`] and brings it up with its addresses.
    pub(super) fn adopt(&self, device: &Device, mtu: u16) -> Result<(), Error> {
        let name = device.name();
        run(
            "ip",
            &["link", "set", name, "netns", &self.name, "name", INTERFACE],
        )?;
        let (v4, v6) = (format!("{}/30", self.address), format!("{}/64", self.address_v6));
        self.ip(&["link", "set", INTERFACE, "mtu", &mtu.to_string()])?;
        self.ip(&["link", "set", INTERFACE, "txqueuelen", DEVICE_QUEUE])?;
        // No link-local address: its solicitations would be traffic nobody asked for.
        self.ip(&["link", "set", INTERFACE, "addrgenmode", "none"])?;
        // The queue is the model's. Where there is no `tc` the usual one stays, and is empty because a TUN device
        // always takes what it is given.
        let _ = run(
            "tc",
            &[
                "-n", &self.name, "qdisc", "replace", "dev", INTERFACE, "root", "noqueue",
            ],
        );
        self.ip(&["address", "add", &v4, "dev", INTERFACE])?;
        // A kernel without IPv6 still has IPv4.
        let _ = self.ip(&["address", "add", &v6, "dev", INTERFACE, "nodad"]);
        self.ip(&["link", "set", INTERFACE, "up"])?;
        Ok(())
    }

    fn ip(&self, words: &[&str]) -> Result<String, Error> {
        run("ip", &[&["-n", self.name.as_str()], words].concat())
    }

    /// Packets the kernel dropped because the device's own queue was full.
    pub(super) fn overruns(&self) -> Result<u64, Error> {
        let path = format!("/sys/class/net/{INTERFACE}/statistics/tx_dropped");
        let text = run("ip", &["netns", "exec", &self.name, "cat", &path])?;
        text.trim().parse().map_err(|_| Error::Command {
            line: format!("cat {path}"),
            said: text,
        })
    }

    /// `program` inside the namespace, not yet started. It finds its own address and the other side's in
    /// `XTP_LINKEM_SELF`, `XTP_LINKEM_PEER`, `XTP_LINKEM_SELF_V6` and `XTP_LINKEM_PEER_V6`. The process started is
    /// the program itself, once `ip netns exec` has made room for it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.name, program])
            .env("XTP_LINKEM_SELF", self.address.to_string())
            .env("XTP_LINKEM_PEER", self.peer.to_string())
            .env("XTP_LINKEM_SELF_V6", self.address_v6.to_string())
            .env("XTP_LINKEM_PEER_V6", self.peer_v6.to_string());
        command
    }

    /// Asks every process in the namespace to end (SIGTERM), waits for it at most two seconds, and then ends it
    /// (SIGKILL).
    pub fn end_processes(&self) {
        self.signal(Signal::TERM);
        let begin = Instant::now();
        while !self.processes().is_empty() {
            if begin.elapsed() > GRACE {
                self.signal(Signal::KILL);
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn signal(&self, signal: Signal) {
        for process in self.processes() {
            // It may have ended by itself since it was listed.
            let _ = kill_process(process, signal);
        }
    }

    /// The processes in this namespace, this one and the one that holds it left out.
    fn processes(&self) -> Vec<Pid> {
        let text = run("ip", &["netns", "pids", &self.name]).unwrap_or_default();
        let ours = [std::process::id(), self.held.process()].map(u32::cast_signed);
        text.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .filter(|process: &i32| !ours.contains(process) && !is_dead(*process))
            .filter_map(Pid::from_raw)
            .collect()
    }
}

/// Whether a process has ended, be it that its parent has not noticed yet.
fn is_dead(process: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status.rsplit_once(") ").map(|(_, rest)| rest.as_bytes().first());
    state.is_none_or(|state| state == Some(&b'Z'))
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Nothing can be done about a failure while unwinding; the next emulator tries again.
        let _ = run("ip", &["netns", "del", &self.name]);
    }
}

/// Removes namespaces of processes that were killed before they could.
pub(super) fn sweep() {
    let Ok(names) = fs::read_dir(NAMES) else { return };
    for name in names.flatten() {
        let name = name.file_name();
        let Some(name) = name.to_str() else { continue };
        if owner(name).is_some_and(is_dead) {
            // Another emulator may be sweeping too.
            let _ = run("ip", &["netns", "del", name]);
        }
    }
}

/// The process that made a namespace of this name; `None` if it is not one of ours.
fn owner(name: &str) -> Option<i32> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let owner = parts.next()?.parse().ok()?;
    parts.next()?.parse::<u32>().ok()?;
    matches!(parts.next()?, "left" | "right").then_some(owner)
}

#[cfg(test)]
#[path = "namespace_tests.rs"]
mod tests;
