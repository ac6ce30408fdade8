//! Clocks and counters around a measured loop.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Time since a moment, processor time, softirq time and packets since then.
pub(crate) struct Meter {
    begin: Instant,
    cpu_s: f64,
    softirq_s: f64,
    interface: String,
    packets: Option<u64>,
}

/// What a [`Meter`] read.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    pub(crate) seconds: f64,
    pub(crate) cpu_s: f64,
    pub(crate) softirq_s: f64,
    pub(crate) packets: Option<u64>,
}

impl Meter {
    /// Starts to count. The clocks are read last: reading files is not part of what is measured.
    pub(crate) fn start(interface: &str) -> Self {
        let softirq_s = softirq_seconds();
        let packets = interface_packets(interface);
        Self {
            interface: interface.to_owned(),
            softirq_s,
            packets,
            cpu_s: cpu_seconds(),
            begin: Instant::now(),
        }
    }

    /// What it counted until now. The clocks are read first.
    pub(crate) fn read(&self) -> Reading {
        let seconds = self.begin.elapsed().as_secs_f64();
        let cpu_s = cpu_seconds() - self.cpu_s;
        let now = interface_packets(&self.interface);
        Reading {
            seconds,
            cpu_s,
            softirq_s: softirq_seconds() - self.softirq_s,
            packets: now
                .zip(self.packets)
                .map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

/// User and system time of this process.
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Softirq time of the whole host, as exact as the kernel's ticks.
pub(crate) fn softirq_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    softirq_ticks(&text) as f64 / rustix::param::clock_ticks_per_second() as f64
}

fn softirq_ticks(stat: &str) -> u64 {
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    // user nice system idle iowait irq softirq
    let seventh = all.and_then(|line| line.split_ascii_whitespace().nth(6));
    seventh.and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// Packets that crossed an interface of this process's network namespace, both ways; on loopback, where each is
/// sent and received, once.
pub(crate) fn interface_packets(interface: &str) -> Option<u64> {
    packets_in(&std::fs::read_to_string("/proc/net/dev").ok()?, interface)
}

fn packets_in(table: &str, interface: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| {
        let (name, counts) = line.split_once(':')?;
        (name.trim() == interface).then_some(counts)
    })?;
    let field = |index| line.split_ascii_whitespace().nth(index)?.parse::<u64>().ok();
    let (received, sent) = (field(1)?, field(9)?);
    Some(if interface == "lo" { sent } else { received + sent })
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
