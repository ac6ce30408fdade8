//! Where something was measured.

use std::collections::BTreeMap;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::stage::output;

/// Parameters of the kernel that decide about the figures.
const PARAMETERS: &[&str] = &[
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fastopen",
];

/// The host, its kernel and settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Model of the processor.
    pub cpu: String,
    /// Processors this process may use.
    pub cores: usize,
    /// Memory, octets.
    pub memory: u64,
    /// Operating system and kernel.
    pub kernel: String,
    /// MTU of the loopback interface, octets.
    pub loopback_mtu: u32,
    /// Parameters of the kernel by name.
    pub parameters: BTreeMap<String, String>,
    /// Hardware counters: "instructions", or "not supported" with the reason.
    pub counters: String,
    /// When, UTC.
    pub date: String,
    /// Version of xtp measured.
    pub version: String,
}

impl Host {
    /// Whether both are one host, as it was on one day: figures of one series.
    pub(crate) fn is_at_that_time(&self, other: &Self) -> bool {
        let day = |host: &Self| host.date.get(..10).map(str::to_owned);
        let there = Self {
            date: self.date.clone(),
            ..other.clone()
        };
        day(self) == day(other) && there == *self
    }

    /// Looks. What cannot be found out is left empty.
    pub fn look() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let uname = rustix::system::uname();
        let kernel = [uname.sysname(), uname.release(), uname.machine()].map(|part| part.to_string_lossy());
        let value = |name: &&str| {
            let text = read(&format!("/proc/sys/{}", name.replace('.', "/")));
            (
                (*name).to_owned(),
                text.split_whitespace().collect::<Vec<_>>().join(" "),
            )
        };
        Self {
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: kilobytes(&read("/proc/meminfo"), "MemTotal") * 1_024,
            kernel: kernel.join(" "),
            loopback_mtu: read("/sys/class/net/lo/mtu").trim().parse().unwrap_or(0),
            parameters: PARAMETERS.iter().map(value).collect(),
            counters: counters(),
            date: output(date()).unwrap_or_default().trim().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

fn date() -> Command {
    let mut command = Command::new("date");
    command.args(["-u", "+%Y-%m-%d %H:%M UTC"]);
    command
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let values = text.lines().filter_map(|line| line.split_once(':'));
    let mut named = values.filter(|(key, _)| key.trim() == name);
    named.next().map(|(_, value)| value.trim().to_owned())
}

fn kilobytes(text: &str, name: &str) -> u64 {
    let value = field(text, name).unwrap_or_default();
    let number = value.split_ascii_whitespace().next().map(str::parse);
    number.and_then(Result::ok).unwrap_or(0)
}

/// Whether instructions are counted: many virtual machines do not.
fn counters() -> String {
    let mut command = Command::new("perf");
    command.args(["stat", "-x,", "-e", "instructions:u", "true"]);
    match command.output() {
        Ok(done) => counted(&String::from_utf8_lossy(&done.stderr)),
        Err(_) => "not supported (no 'perf' to ask)".to_owned(),
    }
}

fn counted(stat: &str) -> String {
    let line = stat.lines().find(|line| line.contains("instructions"));
    let count = line
        .and_then(|line| line.split(',').next())
        .map(str::parse::<u64>);
    match count {
        Some(Ok(_)) => "instructions".to_owned(),
        _ => "not supported".to_owned(),
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
