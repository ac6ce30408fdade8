//! One run over an emulated link, and whether the emulator kept up.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use xtp_linkem::{Emulator, LinkConfig, Namespace, Report};

use super::cell::Cell;
use super::flow::{BEGIN, RECEIVED};
use super::goodput::Curve;
use crate::context::Context;
use crate::distance::Distance;
use crate::error::Error;
use crate::job::{Job, Outcome, Role};
use crate::launch::pair;
use crate::plan::Experiment;
use crate::rounds::Figures;
use crate::stage::Place;

/// How often a run is repeated because the emulator was its bottleneck.
const REPEATS: u32 = 2;
/// Above this share of a processor the emulator has no time left.
const BUSY: f64 = 0.95;
/// A link that swings has each of its rates for so long.
const SWING: Duration = Duration::from_secs(2);
/// What one connection may hold in the kernel, each way; as much as xtp is given. The kernel keeps to it by itself.
const TCP_BUFFER: &str = "4096 131072 67108864";

/// An emulated link with its two places.
pub(crate) struct Link {
    // It stops before the emulator does.
    swing: Option<Swing>,
    emulator: Arc<Emulator>,
    pub(crate) left: Place,
    pub(crate) right: Place,
}

impl Link {
    /// Makes it. Equal seeds do the same to the same packets.
    pub(crate) fn new(cell: &Cell, seed: u64) -> Result<Self, Error> {
        if !crate::stage::is_root() {
            let what = "an emulated link".to_owned();
            return Err(Error::NotRoot { what });
        }
        let emulator = Arc::new(Emulator::start(cell.config(seed))?);
        let place = |namespace: &Namespace| Place {
            enter: ["ip", "netns", "exec", &namespace.name]
                .map(str::to_owned)
                .to_vec(),
            address: IpAddr::V4(namespace.address),
            interface: "wan".to_owned(),
        };
        let mut link = Self {
            swing: None,
            left: place(emulator.left()),
            right: place(emulator.right()),
            emulator,
        };
        for place in [&link.left, &link.right] {
            prepare(place)?;
        }
        link.emulator.reset_report()?;
        let swings = cell.swings(seed);
        link.swing = swings.map(|links| Swing::begin(Arc::clone(&link.emulator), links));
        Ok(link)
    }

    /// What it did until now.
    pub(crate) fn report(&self) -> Result<Report, Error> {
        Ok(self.emulator.report()?)
    }
}

/// Changes the rate of a link from time to time, until it is dropped.
struct Swing {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Swing {
    fn begin(emulator: Arc<Emulator>, links: [LinkConfig; 2]) -> Self {
        let (stop, stopped) = channel();
        let thread = thread::spawn(move || {
            let [full, other] = links;
            for link in [other, full].iter().cycle() {
                let waited = stopped.recv_timeout(SWING);
                let end = !matches!(waited, Err(RecvTimeoutError::Timeout));
                // An emulator that stopped is reported by whoever asks it next.
                if end || emulator.set_links(link.clone(), link.clone()).is_err() {
                    return;
                }
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Swing {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

/// Lets the kernel's TCP do its best, and each connection begin without what an earlier one found out.
fn prepare(place: &Place) -> Result<(), Error> {
    let set = [
        ("tcp_rmem", TCP_BUFFER),
        ("tcp_wmem", TCP_BUFFER),
        ("tcp_no_metrics_save", "1"),
    ];
    for (name, value) in set {
        let file = format!("/proc/sys/net/ipv4/{name}");
        place.run("sh", &["-c", "echo \"$0\" > \"$1\"", value, &file])?;
    }
    Ok(())
}

/// Why a run says more about the emulator than about the transport; `None` if it does not.
pub(crate) fn bottleneck(report: &Report) -> Option<String> {
    let busy = || format!("the emulator took {:.0} % of a processor", report.busy * 100.0);
    report
        .bottleneck
        .clone()
        .or_else(|| (report.busy > BUSY).then(busy))
}

/// One run of one sender to one receiver.
pub(crate) struct Transfer {
    pub(crate) figures: Figures,
    /// Received octets over the host's clock.
    pub(crate) curve: Curve,
    /// The run, by the same clock, seconds.
    pub(crate) begin: f64,
    pub(crate) end: f64,
    pub(crate) client: Outcome,
}

/// Measures one run over a new link, again if the emulator was the bottleneck. `what` names it in notes.
///
/// # Errors
/// As the parties' and the emulator's.
pub(crate) fn transfer(
    context: &mut Context<'_>,
    what: &str,
    (cell, seed): (&Cell, u64),
    job: &Job,
) -> Result<Transfer, Error> {
    let mut repeated = 0;
    loop {
        let link = Link::new(cell, seed)?;
        let pair = pair(context.launcher, &link.left, &link.right, job)?;
        let report = link.report()?;
        if !report.cores_awake {
            context.note("idle processors could not be kept awake: who wakes late, sends late");
        }
        drop(link);
        let mut transfer = sum(cell, job.seconds, pair.client, pair.server, &report);
        let Some(why) = bottleneck(&report) else {
            if repeated > 0 {
                context.note(format!(
                    "{what}: repeated {repeated} times, the emulator was the bottleneck"
                ));
            }
            return Ok(transfer);
        };
        if repeated == REPEATS {
            let note = format!(
                "the emulator was the bottleneck in {} runs, the last: {why}",
                repeated + 1
            );
            context.note(format!("{what}: {note}"));
            transfer.figures.note = Some(note);
            return Ok(transfer);
        }
        repeated += 1;
        context.launcher.check()?;
    }
}

fn sum(cell: &Cell, seconds: f64, client: Outcome, mut server: Outcome, report: &Report) -> Transfer {
    let curve = Curve(server.curves.remove(RECEIVED).unwrap_or_default());
    let begin = client.extra.get(BEGIN).copied().unwrap_or_default();
    let end = begin + seconds;
    let rtt = cell.rtt.as_secs_f64();
    let way = &report.left_to_right;
    let gigabytes = curve.at(end) / 1e9;
    let per_gigabyte = |seconds: f64| (gigabytes > 0.0).then(|| seconds / gigabytes);
    let figures = Figures {
        // Nothing at all received is a figure too.
        gbit_s: Some(curve.gbit_s(begin, end).unwrap_or_default()),
        cpu_s_per_gb: per_gigabyte(client.cpu_s + server.cpu_s),
        softirq_s_per_gb: per_gigabyte(client.softirq_s),
        queue_mean_ms: Some(way.queue_mean_ms),
        distance: Distance {
            gbit_s_12th_rtt: curve.round_trip_12(rtt, end),
            gbit_s_settled: curve.settled(rtt, begin, end),
            queue_p95_ms: Some(way.queue_p95_ms),
            queue_drops: (way.sent > 0).then(|| way.queue_full as f64 / way.sent as f64),
            retransmitted: client.extra.get("retransmitted").copied(),
            share: None,
            jain: None,
        },
        note: server.note.take(),
        ..Figures::default()
    };
    Transfer {
        figures,
        curve,
        begin,
        end,
        client,
    }
}

/// A job for a party on the link.
pub(crate) fn job(context: &Context<'_>, transport: &str, seconds: f64) -> Job {
    // Of rows that compare whole variants ("xtp-gbn") the name is the transport's; options come on top.
    Job {
        role: Role::Client,
        experiment: Experiment::Wan,
        transport: transport.to_owned(),
        wait: context.plan.wait,
        size: 0,
        least: None,
        warmup: 0,
        operations: 1,
        seconds,
        core: None,
        bind: std::net::Ipv4Addr::UNSPECIFIED.into(),
        interface: String::new(),
        peer: String::new(),
        rank: 0,
        ranks: 0,
        options: context.plan.options.clone(),
        flow: None,
    }
}
