//! Throughput and control packets against the size of messages: by an association, and by a group whose members report by
//! name (mode U) or in buckets (mode B), from one to ten receivers.
//!
//! Every host is a process in a namespace. An uplink of 10 Mbit/s is the one of the thesis of 1991; without one the processors
//! are the limit.

mod party;

use std::time::{Duration, Instant};

use super::disk::Disk;
use super::network::Network;
use super::party::{Party, outcome, watch};
use super::{PORT, programs};
use crate::context::Context;
use crate::delivery::Delivery;
use crate::error::Error;
use crate::job::{Outcome, Role};
use crate::rounds::{Figures, Main, alternate, rows};
use crate::row::Row;

pub(super) use party::work;

/// The name of the rows.
const EXPERIMENT: &str = "messages";
/// Octets of a message, if the plan names none.
const SIZES: [u64; 7] = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10];
const FEW_SIZES: [u64; 3] = [64, 1 << 10, 16 << 10];
/// The uplink of the thesis.
const ETHERNET: u64 = 10_000_000;
/// Longest a run may take beyond what its uplink needs five times over.
const LIMIT: f64 = 30.0;

/// An association with one receiver.
const STREAM: &str = "xtp-stream";
/// Members report by name.
const NAMED: &str = "xtp";
/// Four buckets, slotting and damping.
const BUCKET: &str = "xtp-bucket";
/// The same without slotting and damping, and with one of them.
const PLAIN: &str = "xtp-bucket-plain";
const SLOTTING: &str = "xtp-bucket-slotting";
const DAMPING: &str = "xtp-bucket-damping";
/// Another number of buckets.
const TWO: &str = "xtp-bucket-2";
const EIGHT: &str = "xtp-bucket-8";

/// So many receivers, and who sends to them.
type Group = (usize, &'static [&'static str]);

const GROUPS: [Group; 5] = [
    (1, &[NAMED, BUCKET, STREAM]),
    (2, &[NAMED, BUCKET]),
    (4, &[NAMED, BUCKET, TWO, EIGHT, SLOTTING, DAMPING, PLAIN]),
    (6, &[NAMED, BUCKET]),
    (10, &[NAMED, BUCKET, PLAIN]),
];
/// The main ones.
const FEW_GROUPS: [Group; 3] = [
    (1, &[NAMED, STREAM]),
    (4, &[NAMED, BUCKET, PLAIN]),
    (10, &[NAMED, BUCKET, PLAIN]),
];

/// One size of messages over one uplink.
#[derive(Clone, Copy)]
struct Case {
    size: u64,
    /// Bits a second; `None`: what the hosts can do.
    uplink: Option<u64>,
}

impl Case {
    /// Octets of the stream: half a second of the slow uplink, or so many messages.
    fn octets(self) -> u64 {
        let (most, messages) = match self.uplink {
            Some(_) => (512 << 10, 8_192),
            None => (8 << 20, 65_536),
        };
        most.min(self.size * messages).max(self.size)
    }

    fn limit(self) -> Duration {
        let floor = self
            .uplink
            .map_or(0.0, |rate| self.octets() as f64 * 8.0 / rate as f64);
        Duration::from_secs_f64(LIMIT + 5.0 * floor)
    }
}

/// Measures them.
///
/// # Errors
/// As the experiment's.
pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let (groups, usual): (&[Group], &[u64]) = match context.plan.quick {
        true => (&FEW_GROUPS, &FEW_SIZES),
        false => (&GROUPS, &SIZES),
    };
    let sizes = match context.plan.sizes.is_empty() {
        true => usual.to_vec(),
        false => context.plan.sizes.clone(),
    };
    let uplinks: &[Option<u64>] = match context.plan.quick {
        true => &[Some(ETHERNET)],
        false => &[Some(ETHERNET), None],
    };
    let ways: usize = groups.iter().map(|(_, ways)| ways.len()).sum();
    let each = ways * sizes.len() * uplinks.len();
    context.expect(each as u64 * u64::from(context.plan.runs));
    for (receivers, ways) in groups {
        let network = Network::new(*receivers)?;
        for &uplink in uplinks {
            network.shape(uplink)?;
            for &size in &sizes {
                measure(context, &network, ways, Case { size, uplink })?;
            }
        }
    }
    Ok(())
}

fn measure(
    context: &mut Context<'_>,
    network: &Network,
    ways: &[&'static str],
    case: Case,
) -> Result<(), Error> {
    let disk = Disk::new(0)?;
    let path = path(network.receivers.len(), case.uplink);
    let what = format!("{EXPERIMENT} {path}, {} octets,", case.size);
    let rounds = alternate(context, &what, ways, |context, transport, _| {
        transfer(context, network, &disk, transport, case)
    })?;
    let template = Row {
        experiment: EXPERIMENT.to_owned(),
        path,
        size: Some(case.size),
        ..Row::default()
    };
    context
        .report
        .rows
        .extend(rows(&template, Main::Throughput, &rounds));
    Ok(())
}

fn path(receivers: usize, uplink: Option<u64>) -> String {
    let uplink = uplink.map_or("max".to_owned(), |rate| format!("{}mbit", rate as f64 / 1e6));
    format!("1-to-{receivers} {uplink}")
}

/// One stream to everybody.
fn transfer(
    context: &Context<'_>,
    network: &Network,
    disk: &Disk,
    transport: &str,
    case: Case,
) -> Result<Figures, Error> {
    let count = network.receivers.len();
    let options = [
        ("octets", case.octets().to_string()),
        ("receivers", count.to_string()),
        ("peer", format!("{}:{PORT}", network.receivers[0].address)),
    ];
    let start = |role, place, name: &str| {
        let mut job = programs::job(transport, place, role, &options);
        job.size = case.size;
        job.wait = context.plan.wait;
        let line = programs::worker(context.launcher, &job)?;
        Party::start(format!("{transport} {name}"), place, &line, disk.log(name))
    };
    let mut receivers = Vec::new();
    for (index, place) in network.receivers.iter().enumerate() {
        receivers.push(start(Role::Server, place, &programs::receiver_name(index))?);
    }
    for receiver in &mut receivers {
        receiver.listens(context.launcher)?;
    }
    let mut sender = start(Role::Client, &network.sender, "sender")?;
    let begin = Instant::now();
    loop {
        let parties = receivers.iter_mut().chain([&mut sender]);
        watch(context.launcher, parties, case.limit())?;
        let over = receivers
            .iter()
            .chain([&sender])
            .all(|party| party.ended.is_some());
        let failed = receivers.iter().chain([&sender]).find(|party| party.has_failed());
        match failed {
            Some(party) => return Err(party.failed("failed")),
            None if over => break,
            None if begin.elapsed() > case.limit() => return Err(sender.failed("takes too long")),
            None => {}
        }
    }
    let received = receivers.iter().map(|party| outcome(&party.said()));
    for (received, party) in received.zip(&receivers) {
        if received.is_none_or(|received| received.octets != case.octets()) {
            return Err(party.failed("has not got every octet"));
        }
    }
    let sent = outcome(&sender.said()).ok_or_else(|| sender.failed("said nothing"))?;
    Ok(figures(&sent, case))
}

fn figures(sent: &Outcome, case: Case) -> Figures {
    Figures {
        gbit_s: Some(case.octets() as f64 * 8.0 / sent.seconds.max(1e-9) / 1e9),
        delivery: Delivery {
            seconds: Some(sent.seconds),
            feedback_packets: sent.extra.get(party::CONTROL).copied(),
            ..Delivery::default()
        },
        ..Figures::default()
    }
}

#[cfg(test)]
#[path = "../messages_tests.rs"]
mod tests;
