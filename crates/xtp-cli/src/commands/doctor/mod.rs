//! `xtp doctor`: what this host offers, and what to change.

use serde::Serialize;
use xtp::{Capabilities, Config, UDP_PORT};

use crate::args::DoctorArgs;
use crate::common::{Common, Failure, Outcome, span_text};

mod host;
mod probe;

use host::Host;

/// Files (and sockets) a program may have open, below which a server of many may run out.
const OPEN_FILES: u64 = 4_096;
/// Datagrams the kernel queues between loopback and sockets, below which trains to many receivers get lost.
const BACKLOG: u64 = 1_000;

/// One thing looked at.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    name: &'static str,
    value: String,
    /// Good, or good enough.
    ok: bool,
    /// What it means and what to do about it, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Finding {
    pub(super) fn good(name: &'static str, value: impl Into<String>) -> Self {
        Self {
            name,
            value: value.into(),
            ok: true,
            advice: None,
        }
    }

    pub(super) fn judged(name: &'static str, value: impl Into<String>, ok: bool, advice: &str) -> Self {
        Self {
            name,
            value: value.into(),
            ok,
            advice: (!ok).then(|| advice.to_owned()),
        }
    }

    /// Good, with something worth knowing.
    pub(super) fn noted(name: &'static str, value: impl Into<String>, advice: Option<String>) -> Self {
        Self {
            name,
            value: value.into(),
            ok: true,
            advice,
        }
    }
}

/// The result for programs.
#[derive(Serialize)]
struct Report {
    ok: bool,
    version: &'static str,
    host: String,
    findings: Vec<Finding>,
}

/// Looks at everything; fails only if xtp cannot work here at all.
pub(crate) fn run(_args: &DoctorArgs, common: &Common) -> Outcome {
    let host = Host::look();
    let endpoint = common.client()?;
    let mut findings = socket(endpoint.capabilities(), endpoint.config(), &host);
    findings.extend(system(&host));
    let (works, found) = probe::run(common);
    findings.extend(found);
    findings.extend(host::firewall());
    report(common, &host, works, findings)
}

/// Name of a feature, whether it is in force, and what its lack means.
type Feature = (&'static str, fn(&Capabilities) -> bool, &'static str);

const FEATURES: [Feature; 10] = [
    (
        "send offload (GSO)",
        |offered| offered.gso,
        "each datagram costs a system call's work; Linux 4.18 or newer has it",
    ),
    (
        "receive offload (GRO)",
        |offered| offered.gro,
        "arriving datagrams are handed over one by one; Linux 5.0 or newer has it",
    ),
    (
        "sendmmsg",
        |offered| offered.sendmmsg,
        "small messages cost a system call each; use Linux",
    ),
    (
        "recvmmsg",
        |offered| offered.recvmmsg,
        "each arriving datagram costs a system call; use Linux",
    ),
    (
        "congestion marks (ECN)",
        |offered| offered.ecn,
        "routers cannot warn before they drop; allow IP_RECVTOS",
    ),
    (
        "packet information",
        |offered| offered.pktinfo,
        "a host with several addresses may answer from the wrong one",
    ),
    (
        "don't fragment",
        |offered| offered.dont_fragment,
        "the largest packet of a path cannot be found; datagrams stay small",
    ),
    (
        "error reports",
        |offered| offered.error_queue,
        "a peer that is not there is noticed by timeout only",
    ),
    (
        "overflow counter",
        |offered| offered.rxq_overflow,
        "datagrams lost in this host are not told from those lost outside",
    ),
    (
        "IPv6 beside IPv4",
        |offered| offered.dual_stack,
        "peers with IPv6 only cannot be reached; enable IPv6",
    ),
];

fn socket(offered: &Capabilities, config: &Config, host: &Host) -> Vec<Finding> {
    let mut findings = vec![Finding::good("socket layer", offered.backend)];
    for (name, is_on, advice) in FEATURES {
        let on = is_on(offered);
        findings.push(Finding::judged(name, if on { "yes" } else { "no" }, on, advice));
    }
    findings.push(Finding::good(
        "datagrams a send call",
        offered.max_segments.to_string(),
    ));
    let buffer = |name, given: usize, asked: usize, key: &str, limit: Option<u64>| {
        let value = match limit {
            Some(limit) => format!("{given} octets of {asked} asked, {key} is {limit}"),
            None => format!("{given} octets of {asked} asked"),
        };
        let advice = format!("bursts may be lost in this host; sysctl -w {key}={asked}");
        Finding::judged(name, value, given >= asked, &advice)
    };
    let asked = &config.socket;
    findings.push(buffer(
        "receive buffer",
        offered.recv_buffer,
        asked.recv_buffer,
        "net.core.rmem_max",
        host.rmem_max,
    ));
    findings.push(buffer(
        "send buffer",
        offered.send_buffer,
        asked.send_buffer,
        "net.core.wmem_max",
        host.wmem_max,
    ));
    findings
}

fn system(host: &Host) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(backlog) = host.netdev_max_backlog {
        findings.push(Finding::judged(
            "queue before sockets",
            format!("{backlog} packets"),
            backlog >= BACKLOG,
            "trains to several receivers may be lost in this host; sysctl -w net.core.netdev_max_backlog=10000",
        ));
    }
    if let Some(mtu) = host.loopback_mtu {
        findings.push(Finding::judged(
            "loopback MTU",
            format!("{mtu} octets"),
            mtu >= 65_536,
            "packets between programs of this host are small; ip link set lo mtu 65536",
        ));
    }
    if let Some((soft, hard)) = host.open_files {
        let text = |limit: u64| {
            if limit == u64::MAX {
                "unlimited".to_owned()
            } else {
                limit.to_string()
            }
        };
        findings.push(Finding::judged(
            "open files",
            format!("{} ({} at most)", text(soft), text(hard)),
            soft >= OPEN_FILES,
            "enough for xtp, which needs one socket for any number of peers; a server of many files wants ulimit -n 65536",
        ));
    }
    let cores = host.cores;
    findings.push(Finding::judged(
        "cores",
        cores.to_string(),
        cores > 1,
        "waiting by polling would take time from the peer on the same host; --wait block",
    ));
    if let Some(source) = &host.clock {
        let fast = !matches!(
            source.as_str(),
            "acpi_pm" | "hpet" | "jiffies" | "refined-jiffies"
        );
        findings.push(Finding::judged(
            "clock",
            format!("{source}, read in {}", span_text(host.clock_read)),
            fast,
            "reading the clock is a slow system call; boot with clocksource=tsc if the processor allows",
        ));
    }
    findings
}

fn report(common: &Common, host: &Host, works: bool, findings: Vec<Finding>) -> Outcome {
    if common.out.is_json() {
        common.out.object(&Report {
            ok: works,
            version: env!("CARGO_PKG_VERSION"),
            host: host.name.clone(),
            findings,
        })?;
    } else {
        common
            .out
            .line(format_args!("xtp {} on {}", env!("CARGO_PKG_VERSION"), host.name))?;
        let mut open = 0;
        for finding in &findings {
            let mark = if finding.ok { "ok" } else { "--" };
            common
                .out
                .line(format_args!("{mark}  {:<24} {}", finding.name, finding.value))?;
            if let Some(advice) = &finding.advice {
                common.out.line(format_args!("      {advice}"))?;
            }
            open += usize::from(!finding.ok);
        }
        common.out.line(match open {
            0 => "everything xtp wants is here".to_owned(),
            1 => "one thing could be better".to_owned(),
            open => format!("{open} things could be better"),
        })?;
    }
    if works {
        Ok(())
    } else {
        Err(Failure::failed(format!(
            "xtp does not work on this host's loopback; see above, and let UDP port {UDP_PORT} pass its firewall"
        )))
    }
}
