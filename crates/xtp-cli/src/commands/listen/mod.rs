//! `xtp listen`: what arrives goes to standard output, in the order in which it began to arrive.

use std::time::{Duration, Instant};

use serde::Serialize;
use xtp::{Endpoint, Error, ListenOptions, Listener, ports, service};

use crate::args::ListenArgs;
use crate::common::{Address, Common, Failure, Outcome, Status, peer_text, span_text};

mod arrival;
mod sink;

use arrival::{Arrival, Step};
use sink::{Entry, Sink};

/// Associations served at the same time; others wait at the protocol's door.
const AT_ONCE: usize = 256;
/// Longest wait without looking around.
const LOOK: Duration = Duration::from_secs(3_600);

/// The result for programs.
#[derive(Serialize)]
struct Report {
    ok: bool,
    listening_on: String,
    arrivals: u64,
    octets: u64,
    incomplete: u64,
    /// The first of them, with what was in them unless it went to a file.
    items: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Everything under way.
struct Hall<'a> {
    args: &'a ListenArgs,
    common: &'a Common,
    endpoint: &'a Endpoint,
    listener: Listener,
    arrivals: Vec<Arrival>,
    sink: Sink<'a>,
}

/// Listens until told to end.
pub(crate) fn run(args: &ListenArgs, common: &Common) -> Outcome {
    let address = Address::parse(&args.address, ports::MESSAGE)?;
    let endpoint = common.server(common.config(Some(address.bind()?)))?;
    let mut options = ListenOptions::new(address.service).serving(&[
        service::UNSPECIFIED,
        service::DATAGRAM,
        service::ACKNOWLEDGED,
        service::STREAM,
    ]);
    options.backlog = AT_ONCE;
    common.tune(&mut options.tuning);
    let listener = endpoint
        .listen_with(options)
        .map_err(|error| Failure::of(&format!("cannot listen for service {}", address.service), &error))?;
    let sink = Sink::open(args, common)?;
    let service = (address.service != ports::MESSAGE).then_some(address.service);
    common.announce(&endpoint, service);
    let mut hall = Hall {
        args,
        common,
        endpoint: &endpoint,
        listener,
        arrivals: Vec::new(),
        sink,
    };
    let outcome = hall.serve(&address);
    hall.conclude(outcome)
}

impl Hall<'_> {
    fn serve(&mut self, address: &Address) -> Outcome {
        let mut quiet_since = Instant::now();
        loop {
            self.common.signals.check()?;
            let taken = self.endpoint.stats().packets_received();
            let accepted = self.accept()?;
            let moved = self.round()?;
            if self.args.once && self.sink.finished() > 0 {
                return self.sink.first_outcome();
            }
            if accepted || moved {
                quiet_since = Instant::now();
                continue;
            }
            // Looking at one association may have brought packets for another.
            if self.endpoint.stats().packets_received() != taken {
                continue;
            }
            self.wait(address, quiet_since)?;
        }
    }

    fn accept(&mut self) -> Result<bool, Failure> {
        let mut accepted = false;
        while self.arrivals.len() < AT_ONCE {
            match self.listener.try_accept() {
                Ok(incoming) => {
                    self.common
                        .out
                        .detail(format_args!("from {}: begins", peer_text(incoming.peer())));
                    self.arrivals.push(Arrival::new(incoming));
                    accepted = true;
                }
                Err(Error::WouldBlock) => break,
                Err(error) => return Err(Failure::of("cannot accept", &error)),
            }
        }
        Ok(accepted)
    }

    /// Takes what is there, of each association in turn.
    fn round(&mut self) -> Result<bool, Failure> {
        let mut moved = false;
        let mut place = 0;
        while place < self.arrivals.len() {
            let held: usize = self.arrivals.iter().map(Arrival::held).sum();
            // Whole messages wait in memory. Beyond a limit only the oldest goes on; the others are slowed down.
            if place > 0 && held > self.args.max_size {
                break;
            }
            let Some(arrival) = self.arrivals.get_mut(place) else {
                break;
            };
            match arrival.step(&mut self.sink, self.args.max_size)? {
                Step::Nothing => place += 1,
                Step::Moved => {
                    moved = true;
                    place += 1;
                }
                Step::Ended(failure) => {
                    moved = true;
                    let arrival = self.arrivals.remove(place);
                    self.ended(arrival, failure);
                    if self.args.once {
                        break;
                    }
                }
            }
        }
        Ok(moved)
    }

    fn ended(&mut self, arrival: Arrival, failure: Option<Failure>) {
        // The failure of the only one is how the command ends.
        if let Some(failure) = failure.as_ref().filter(|_| !self.args.once) {
            self.common.out.note(&failure.message);
        }
        self.common
            .out
            .detail(format_args!("from {}: {} octets", arrival.peer, arrival.octets));
        let complete = failure.is_none();
        self.sink.finish(&arrival, failure);
        arrival.leave(complete);
    }

    fn wait(&self, address: &Address, quiet_since: Instant) -> Outcome {
        let patience = self.common.timeout().unwrap_or(LOOK);
        let left = patience.saturating_sub(quiet_since.elapsed());
        if left.is_zero() && self.common.timeout().is_some() {
            return Err(Failure::new(
                Status::Unreachable,
                format!(
                    "nothing arrived at {address} within {}; check the sender or wait longer",
                    span_text(patience)
                ),
            ));
        }
        match self.endpoint.progress_for(left.max(Duration::from_millis(1))) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::of(&format!("cannot listen on {address}"), &error)),
        }
    }

    fn conclude(mut self, outcome: Outcome) -> Outcome {
        self.sink.flush()?;
        if self.common.out.is_json() {
            self.common.out.object(&Report {
                ok: outcome.is_ok(),
                listening_on: peer_text(self.endpoint.local_addr()),
                arrivals: self.sink.finished(),
                octets: self.sink.octets(),
                incomplete: self.sink.incomplete(),
                items: self.sink.entries(),
                error: outcome.as_ref().err().map(|failure| failure.message.clone()),
            })?;
        }
        outcome
    }
}
