//! `xtp demo`: two processes on this machine show every paradigm, beside the kernel's TCP and UDP.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;
use xtp::{Config, Endpoint, Trace};

use crate::args::DemoArgs;
use crate::common::{Common, Failure, Outcome, ProgressUnit, Samples, progress_bar};

mod arrivals;
mod capture;
mod copy;
mod exchange;
mod kernel;
mod kernel_server;
mod load;
mod paradigms;
mod payload;
mod pipe;
pub(crate) mod receiver;
mod report;

use capture::Capture;
use exchange::Sender;
use paradigms::{Kind, PACKET, PARADIGMS, Paradigm};
use pipe::Receiver;
use report::{ParadigmReport, Report};

/// Exchanges that are captured to tell control packets from others.
const CAPTURED: u32 = 30;
/// Exchanges before the measured ones, so that both processes are warm and the receiver knows the sender's address.
const WARM_UP: u32 = 5;

/// A directory of its own, removed in the end.
struct Workshop {
    path: PathBuf,
}

impl Workshop {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("xtp-demo-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| {
            Failure::io(
                format_args!("cannot make the directory {}", path.display()),
                &error,
            )
        })?;
        Ok(Self { path })
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "could not be removed");
        }
    }
}

/// Everything the demo works with.
struct Demo<'a> {
    args: &'a DemoArgs,
    common: &'a Common,
    endpoint: Endpoint,
    receiver: Receiver,
    udp: UdpSocket,
    bar: ProgressBar,
}

/// Shows everything and judges it.
pub(crate) fn run(args: &DemoArgs, common: &Common) -> Outcome {
    let load = load::watch();
    let workshop = Workshop::new()?;
    let receiver = Receiver::start(&workshop.path, common)?;
    let udp =
        kernel::udp_socket(receiver.places.udp).map_err(|error| Failure::io("cannot use UDP", &error))?;
    let steps = PARADIGMS.len() as u64 + 2;
    let mut demo = Demo {
        args,
        common,
        endpoint: common.endpoint(config(common))?,
        receiver,
        udp,
        bar: progress_bar(&common.out, ProgressUnit::Items, steps, "demo"),
    };
    let report = demo.all(&workshop.path).map(|report| report.under(load()));
    demo.bar.finish_and_clear();
    // A signal ends the receiver too; that it has gone is not the news then.
    common.signals.check()?;
    let report = report?;
    report.show(common)?;
    report.judge()
}

impl Demo<'_> {
    fn all(&mut self, directory: &Path) -> Result<Report, Failure> {
        self.bar.set_message("counting");
        let control = self.control_packets(&directory.join("control.pcap"))?;
        self.bar.inc(1);
        let mut paradigms = Vec::new();
        for (paradigm, control_packets) in PARADIGMS.iter().zip(control) {
            self.bar.set_message(paradigm.name);
            paradigms.push(self.paradigm(paradigm, control_packets)?);
            self.bar.inc(1);
        }
        self.bar.set_message("file");
        let size = self.args.file_size;
        let file = copy::run(directory, size, &mut self.receiver, self.common)?;
        let damaged = self.receiver.ask()?.damaged;
        Ok(Report::new(paradigms, file, damaged))
    }

    /// Exchanges with a capture: the most frequent number of packets without user data, for each paradigm. Apart from
    /// the measured exchanges, because capturing costs time.
    fn control_packets(&mut self, path: &Path) -> Result<Vec<u64>, Failure> {
        let failed = |error: xtp::Error| Failure::of("cannot capture packets", &error);
        let trace = Trace::create(path, xtp::Framing::Udp).map_err(failed)?;
        let mut config = config(self.common);
        config.trace = Some(trace.clone());
        let endpoint = self.common.endpoint(config)?;
        let mut capture = Capture::open(path, trace)?;
        let mut counts = Vec::new();
        for paradigm in &PARADIGMS {
            let mut frequencies = Frequencies::default();
            for _ in 0..CAPTURED {
                exchange(&endpoint, &mut self.receiver, self.common, paradigm)?;
                frequencies.add(capture.control_packets()?);
            }
            counts.push(frequencies.most_frequent());
        }
        Ok(counts)
    }

    fn paradigm(&mut self, paradigm: &Paradigm, control_packets: u64) -> Result<ParadigmReport, Failure> {
        let mut packets = Frequencies::default();
        let mut samples = Samples::default();
        for run in 0..WARM_UP + self.args.runs {
            self.common.check()?;
            let before = self.endpoint.stats().packets_sent() + self.receiver.ask()?.packets_out;
            let (span, answer) = exchange(&self.endpoint, &mut self.receiver, self.common, paradigm)?;
            if run >= WARM_UP {
                packets.add(self.endpoint.stats().packets_sent() + answer.packets_out - before);
                samples.add(span);
            }
        }
        Ok(ParadigmReport {
            name: paradigm.name,
            packets: packets.most_frequent(),
            packets_max: packets.greatest(),
            expected_packets: paradigm.expected_packets,
            control_packets,
            p50_us: samples.spread().map_or(0.0, |spread| spread.p50),
            tcp_p50_us: self.tcp(paradigm)?,
            udp_p50_us: self.udp(paradigm)?,
        })
    }

    fn tcp(&mut self, paradigm: &Paradigm) -> Result<Option<f64>, Failure> {
        let Some(job) = paradigm.tcp else { return Ok(None) };
        let place = self.receiver.places.tcp;
        self.kernel("TCP", job, || kernel::tcp_job(place, job, paradigm.size))
    }

    fn udp(&mut self, paradigm: &Paradigm) -> Result<Option<f64>, Failure> {
        let Some(job) = paradigm.udp else { return Ok(None) };
        let socket = self
            .udp
            .try_clone()
            .map_err(|error| Failure::io("cannot use UDP", &error))?;
        self.kernel("UDP", job, || kernel::udp_job(&socket, job, paradigm.size))
    }

    fn kernel(
        &mut self,
        name: &str,
        job: paradigms::Job,
        mut run: impl FnMut() -> std::io::Result<Duration>,
    ) -> Result<Option<f64>, Failure> {
        let mut samples = Samples::default();
        for number in 0..WARM_UP + self.args.runs {
            self.common.check()?;
            let span = run().map_err(|error| Failure::io(format_args!("cannot use {name}"), &error))?;
            let answer = self.receiver.after_arrival()?;
            if number >= WARM_UP {
                samples.add(match job {
                    paradigms::Job::OneWay => Duration::from_nanos(answer.one_way_ns),
                    _ => span,
                });
            }
        }
        Ok(samples.spread().map(|spread| spread.p50))
    }
}

/// For the exchanges: packets as on a path nothing is known of.
fn config(common: &Common) -> Config {
    let mut config = common.config(None);
    config.engine.local_datagram = PACKET;
    config
}

/// One exchange, and what the receiver knows after it. Of what is not confirmed the time until it arrived counts.
fn exchange(
    endpoint: &Endpoint,
    receiver: &mut Receiver,
    common: &Common,
    paradigm: &Paradigm,
) -> Result<(Duration, pipe::Answer), Failure> {
    let sender = Sender {
        endpoint,
        peer: receiver.places.xtp,
        common,
    };
    let span = sender
        .exchange(paradigm)
        .map_err(|error| Failure::of(&format!("the paradigm {} failed", paradigm.name), &error))?;
    let answer = receiver.after_arrival()?;
    match paradigm.kind {
        Kind::Datagram => Ok((Duration::from_nanos(answer.one_way_ns), answer)),
        _ => Ok((span, answer)),
    }
}

/// How often each number occurred.
#[derive(Debug, Default)]
struct Frequencies {
    counts: BTreeMap<u64, u32>,
}

impl Frequencies {
    fn add(&mut self, number: u64) {
        *self.counts.entry(number).or_default() += 1;
    }

    /// Of two that are equally frequent, the smaller.
    fn most_frequent(&self) -> u64 {
        let most = self.counts.values().max();
        self.counts
            .iter()
            .find(|(_, count)| Some(*count) == most)
            .map_or(0, |(number, _)| *number)
    }

    fn greatest(&self) -> u64 {
        self.counts.keys().next_back().copied().unwrap_or(0)
    }
}

#[cfg(test)]
#[path = "demo_tests.rs"]
mod tests;
