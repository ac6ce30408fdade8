//! Network namespaces that vanish with their owner.

use std::process::{Child, Command, Stdio};

use super::host::output;

/// A network namespace, deleted when dropped, with everything in it.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
}

impl Namespace {
    /// A new namespace with its loopback interface up. The name is made unique.
    pub(super) fn new(role: &str) -> Result<Self, String> {
        let namespace = Self {
            name: format!("xtask-{}-{role}", std::process::id()),
        };
        output("ip", &["netns", "add", &namespace.name])?;
        namespace.ip(&["link", "set", "lo", "up"])?;
        // An address under detection of duplicates is no source: packets of the first two seconds would leave from
        // another one than those after them.
        for interfaces in ["all", "default"] {
            namespace.shell(&format!(
                "echo 0 > /proc/sys/net/ipv6/conf/{interfaces}/accept_dad"
            ))?;
        }
        Ok(namespace)
    }

    /// By which `ip` knows it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `ip` inside the namespace.
    pub(super) fn ip(&self, arguments: &[&str]) -> Result<String, String> {
        output("ip", &[&["-n", self.name.as_str()], arguments].concat())
    }

    /// A line of shell inside the namespace.
    pub(super) fn shell(&self, line: &str) -> Result<String, String> {
        output("ip", &["netns", "exec", &self.name, "sh", "-c", line])
    }

    /// A program inside the namespace, not yet started: its streams are piped.
    pub(super) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.name, program])
            .args(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Nothing can be done about a failure while unwinding; the next run uses another name.
        let _ = output("ip", &["netns", "del", &self.name]);
    }
}

/// Joins two namespaces with a pair of interfaces, each named after the other end, with these addresses
/// (`10.0.0.1/24`).
pub(super) fn join(
    one: &Namespace,
    other: &Namespace,
    interfaces: [&str; 2],
    addrs: [&str; 2],
) -> Result<(), String> {
    let [first, second] = interfaces;
    one.ip(&[
        "link",
        "add",
        first,
        "type",
        "veth",
        "peer",
        "name",
        second,
        "netns",
        &other.name,
    ])?;
    for (namespace, interface, addr) in [(one, first, addrs[0]), (other, second, addrs[1])] {
        namespace.ip(&["address", "add", addr, "dev", interface])?;
        namespace.ip(&["link", "set", interface, "up"])?;
    }
    Ok(())
}

/// A process that is killed when dropped.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    pub(super) fn start(mut command: Command) -> Result<Self, String> {
        command
            .spawn()
            .map(Self)
            .map_err(|error| format!("{command:?}: {error}"))
    }

    /// The running child, to take its streams.
    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
