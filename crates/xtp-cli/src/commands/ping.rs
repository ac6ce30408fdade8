//! `xtp ping`: messages to the echo service over one association, each timed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;
use xtp::{Endpoint, Stream, paradigm, service_numbers};

use crate::args::PingArgs;
use crate::common::{Address, Common, Failure, Outcome, Samples, Spread, Status, peer_text};

/// How long an answer is waited for unless `--timeout` says otherwise.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest ping: what an endpoint puts together by default.
const LONGEST: usize = 64 << 20;

/// The result for programs.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    address: String,
    peer: String,
    size: usize,
    sent: u64,
    received: u64,
    lost_percent: f64,
    rtt_us: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The pings under way and what came of them.
struct Pinger<'a> {
    common: &'a Common,
    args: &'a PingArgs,
    patience: Duration,
    peer: String,
    stream: Stream,
    sent: u64,
    /// Answers come in the order of the pings.
    received: u64,
    begun: VecDeque<Instant>,
    samples: Samples,
}

/// Pings and sums up.
pub(crate) fn run(args: &PingArgs, common: &Common) -> Outcome {
    if args.size == 0 || args.size > LONGEST {
        return Err(Failure::usage(
            "a ping has between 1 octet and 64 MiB; choose another --size",
        ));
    }
    let address = Address::peer(&args.address, service_numbers::ECHO)?;
    let patience = common.timeout().unwrap_or(PATIENCE);
    let endpoint = common.client()?;
    common
        .out
        .line(format_args!("PING {address}: {} octets", args.size))?;
    let stream = open(&endpoint, &address, patience, common)?;
    let peer = stream.peer_addr().map(peer_text).unwrap_or_default();
    stream.set_read_timeout(Some(patience));
    stream.set_write_timeout(Some(patience));
    let begin = Instant::now();
    let mut pinger = Pinger {
        common,
        args,
        patience,
        peer,
        stream,
        sent: 0,
        received: 0,
        begun: VecDeque::new(),
        samples: Samples::default(),
    };
    let outcome = pinger.all(&endpoint, begin);
    let outcome = pinger.judge(outcome);
    pinger.report(&address, begin.elapsed(), &outcome)?;
    outcome
}

fn open(
    endpoint: &Endpoint,
    address: &Address,
    patience: Duration,
    common: &Common,
) -> Result<Stream, Failure> {
    let mut options = paradigm::stream(address.service);
    common.tune(&mut options.tuning);
    endpoint
        .connect(&address.resolve()?[..], &options, Some(patience))
        .map_err(|error| Failure::of(&format!("no echo from {address}"), &error))
}

impl Pinger<'_> {
    fn all(&mut self, endpoint: &Endpoint, begin: Instant) -> Outcome {
        let payload: Bytes = (0..self.args.size).map(|place| place as u8).collect();
        let mut due = begin;
        while self.args.count == 0 || self.sent < self.args.count {
            self.rest(endpoint, due)?;
            self.one(&payload)?;
            due += self.args.interval;
        }
        Ok(())
    }

    /// Waits until the next ping is due; the endpoint goes on meanwhile.
    fn rest(&self, endpoint: &Endpoint, due: Instant) -> Outcome {
        loop {
            self.common.signals.check()?;
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            endpoint
                .progress_timeout(left)
                .map_err(|error| self.failed(&error))?;
        }
    }

    fn one(&mut self, payload: &Bytes) -> Outcome {
        let begin = Instant::now();
        self.begun.push_back(begin);
        self.stream
            .send_message(payload.clone())
            .map_err(|error| self.failed(&error))?;
        self.sent += 1;
        while self.received < self.sent {
            let answer = match self.stream.recv_message() {
                Err(error) if error.is_timeout() => {
                    self.say(format_args!(
                        "no answer to seq={} within {:?}",
                        self.sent, self.patience
                    ))?;
                    return Ok(());
                }
                Err(error) => return Err(self.failed(&error)),
                Ok(None) => {
                    return Err(Failure::failed(format!(
                        "{} ended the echo; look at its messages",
                        self.peer
                    )));
                }
                Ok(Some(answer)) => answer,
            };
            self.take(&answer, payload)?;
        }
        Ok(())
    }

    fn take(&mut self, answer: &Bytes, payload: &Bytes) -> Outcome {
        let span = self
            .begun
            .pop_front()
            .map_or(Duration::ZERO, |begin| begin.elapsed());
        self.received += 1;
        if answer != payload {
            return Err(Failure::new(
                Status::Verification,
                format!(
                    "{} answered seq={} with other octets; it is no echo service",
                    self.peer, self.received
                ),
            ));
        }
        self.samples.add(span);
        self.say(format_args!(
            "{} octets from {}: seq={} time={:.3} ms",
            answer.len(),
            self.peer,
            self.received,
            span.as_secs_f64() * 1e3
        ))
    }

    /// A line a ping, unless `--quiet`.
    fn say(&self, text: std::fmt::Arguments<'_>) -> Outcome {
        if self.common.out.is_quiet() {
            Ok(())
        } else {
            self.common.out.line(text)
        }
    }

    fn failed(&self, error: &xtp::Error) -> Failure {
        Failure::of(&format!("no echo from {}", self.peer), error)
    }

    /// Nothing answered: status 3, whatever else happened.
    fn judge(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Ok(()) if self.received == 0 => Err(Failure::new(
                Status::Unreachable,
                format!(
                    "{} answered none of {} pings; wait longer with --timeout",
                    self.peer, self.sent
                ),
            )),
            other => other,
        }
    }

    fn report(&self, address: &Address, span: Duration, outcome: &Outcome) -> Outcome {
        let lost_percent = 100.0 * (self.sent - self.received) as f64 / self.sent.max(1) as f64;
        let spread = self.samples.spread();
        if self.common.out.is_json() {
            return self.common.out.object(&Report {
                ok: outcome.is_ok(),
                address: address.to_string(),
                peer: self.peer.clone(),
                size: self.args.size,
                sent: self.sent,
                received: self.received,
                lost_percent,
                rtt_us: spread,
                error: outcome.as_ref().err().map(|failure| failure.message.as_str()),
            });
        }
        self.common.out.line(format_args!(
            "--- {address} ping statistics ---\n{} sent, {} received, {lost_percent:.0}% lost, time {:.0} ms",
            self.sent,
            self.received,
            span.as_secs_f64() * 1e3
        ))?;
        let Some(spread) = spread else { return Ok(()) };
        let ms = |micros: f64| format!("{:.3}", micros / 1e3);
        self.common.out.line(format_args!(
            "rtt min/avg/max = {}/{}/{} ms, p50/p90/p99 = {}/{}/{} ms",
            ms(spread.min),
            ms(spread.avg),
            ms(spread.max),
            ms(spread.p50),
            ms(spread.p90),
            ms(spread.p99)
        ))
    }
}
