//! What the system tells about itself, on Linux in files. What is not told is left out.

use std::path::Path;
use std::time::{Duration, Instant};

use xtp::UDP_PORT;

use super::Finding;
use crate::common::{host_name, system_text as text};

/// Figures of this host.
pub(super) struct Host {
    /// Name and kernel.
    pub(super) name: String,
    pub(super) cores: usize,
    pub(super) rmem_max: Option<u64>,
    pub(super) wmem_max: Option<u64>,
    pub(super) netdev_max_backlog: Option<u64>,
    pub(super) loopback_mtu: Option<u64>,
    /// Soft and hard limit.
    pub(super) open_files: Option<(u64, u64)>,
    /// What the kernel reads the time from.
    pub(super) clock: Option<String>,
    /// How long reading it takes.
    pub(super) clock_read: Duration,
}

impl Host {
    /// Looks.
    pub(super) fn look() -> Self {
        Self {
            name: host_name(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            rmem_max: number("/proc/sys/net/core/rmem_max"),
            wmem_max: number("/proc/sys/net/core/wmem_max"),
            netdev_max_backlog: number("/proc/sys/net/core/netdev_max_backlog"),
            loopback_mtu: number("/sys/class/net/lo/mtu"),
            open_files: text("/proc/self/limits").as_deref().and_then(open_files),
            clock: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_read: clock_read(),
        }
    }
}

fn number(path: &str) -> Option<u64> {
    text(path)?.parse().ok()
}

/// Soft and hard limit out of `/proc/self/limits`.
fn open_files(limits: &str) -> Option<(u64, u64)> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    let mut fields = line.split_whitespace().map(|field| match field {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    });
    Some((fields.next()??, fields.next()??))
}

fn clock_read() -> Duration {
    const READS: u32 = 1_000;
    let begin = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(Instant::now());
    }
    begin.elapsed() / READS
}

/// What filters packets here, as far as anybody may know, and how to let xtp pass.
pub(super) fn firewall() -> Option<Finding> {
    if !cfg!(target_os = "linux") {
        let advice = format!("let UDP port {UDP_PORT} in if programs on other hosts are to reach this one");
        return Some(Finding::noted(
            "firewall",
            "not looked at on this system",
            Some(advice),
        ));
    }
    let ufw =
        text("/etc/ufw/ufw.conf").is_some_and(|conf| conf.lines().any(|line| line.trim() == "ENABLED=yes"));
    let (value, advice) = if ufw {
        (
            "ufw is enabled",
            Some(format!("for other hosts: ufw allow {UDP_PORT}/udp")),
        )
    } else if Path::new("/run/firewalld").exists() {
        let advice = format!("for other hosts: firewall-cmd --add-port={UDP_PORT}/udp");
        ("firewalld runs", Some(advice))
    } else if Path::new("/sys/module/nf_tables").exists() || Path::new("/sys/module/ip_tables").exists() {
        let advice = format!(
            "if other hosts do not get in, look at `nft list ruleset` and let UDP port {UDP_PORT} pass"
        );
        (
            "packet filters are loaded, with which rules only root can tell",
            Some(advice),
        )
    } else {
        ("none seen", None)
    };
    Some(Finding::noted("firewall", value, advice))
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
