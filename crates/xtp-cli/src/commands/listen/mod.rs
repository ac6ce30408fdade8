//! `xtp listen`: what arrives goes to standard output, in the order in which it began to arrive.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use xtp::{Endpoint, Error, ListenOptions, Listener, PollSet, ports, service};

use crate::args::ListenArgs;
use crate::common::{Address, Common, Failure, Outcome, Status, peer_text, span_text};

mod arrival;
mod sink;

use arrival::{Arrival, Step};
use sink::{Entry, Sink};

/// Associations served at the same time whose addresses are proved, and so many others; more wait at the protocol's door.
const AT_ONCE: usize = 256;
/// Accepted in one go, so that those who are served already are not kept waiting.
const TURN: usize = 64;
/// Longest wait without looking around.
const LOOK: Duration = Duration::from_secs(3_600);
/// Longest wait while something is under way.
const GLANCE: Duration = Duration::from_secs(1);
/// What the listener is called among the arrivals.
const LISTENER: u64 = u64::MAX;

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
    /// Whatever has something.
    set: PollSet,
    /// By their numbers, from the oldest on.
    arrivals: BTreeMap<u64, Arrival>,
    next: u64,
    /// Those not looked at, because others hold too much.
    held_back: Vec<u64>,
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
        set: endpoint.poll_set(),
        arrivals: BTreeMap::new(),
        next: 0,
        held_back: Vec::new(),
        sink,
    };
    let outcome = hall.serve(&address);
    hall.conclude(outcome)
}

impl Hall<'_> {
    fn serve(&mut self, address: &Address) -> Outcome {
        self.watch_listener()?;
        let (mut quiet_since, mut ready) = (Instant::now(), Vec::new());
        loop {
            self.common.signals.check()?;
            self.wait(address, quiet_since, &mut ready)?;
            // The oldest first.
            ready.sort_unstable();
            for key in ready.drain(..) {
                let moved = match key {
                    LISTENER => self.accept()?,
                    key => self.step(key)?,
                };
                if moved {
                    quiet_since = Instant::now();
                }
                if self.args.once && self.sink.finished() > 0 {
                    return self.sink.first_outcome();
                }
            }
            self.end_late()?;
        }
    }

    /// Whether no more who proved their addresses are served.
    fn is_full(&self) -> bool {
        self.arrivals.values().filter(|arrival| arrival.proved).count() >= AT_ONCE
    }

    fn accept(&mut self) -> Result<bool, Failure> {
        let mut accepted = false;
        for _ in 0..TURN {
            if self.is_full() {
                self.set.remove_listener(&self.listener);
                break;
            }
            match self.listener.try_accept() {
                Ok(incoming) => {
                    self.common
                        .out
                        .detail(format_args!("from {}: begins", peer_text(incoming.peer())));
                    let (arrival, key) = (Arrival::new(incoming), self.next);
                    self.watch(&arrival, key)?;
                    self.next += 1;
                    self.arrivals.insert(key, arrival);
                    accepted = true;
                    // What is complete goes at once, and is in nobody's way.
                    self.step(key)?;
                    self.make_room()?;
                    if self.args.once && self.sink.finished() > 0 {
                        return Ok(true);
                    }
                }
                Err(Error::WouldBlock) => return Ok(accepted),
                Err(error) => return Err(Failure::of("cannot accept", &error)),
            }
        }
        Ok(accepted)
    }

    /// Where too many are served whose addresses are not proved, the oldest goes that is not proved now.
    fn make_room(&mut self) -> Outcome {
        let strangers = self.arrivals.values().filter(|arrival| !arrival.proved).count();
        if strangers <= AT_ONCE {
            return Ok(());
        }
        let mut others = self.arrivals.iter_mut().filter(|(_, arrival)| !arrival.proved);
        let Some(key) = others.find_map(|(key, arrival)| (!arrival.is_proved_now()).then_some(*key)) else {
            return Ok(());
        };
        self.give_up(key, Arrival::displaced)
    }

    /// Takes what is there of one.
    fn step(&mut self, key: u64) -> Result<bool, Failure> {
        let limit = self.args.max_size;
        let held: usize = self.arrivals.values().map(Arrival::held).sum();
        let oldest = self.arrivals.iter().find(|(_, arrival)| arrival.held() > 0);
        let is_oldest = oldest.is_none_or(|(oldest, _)| *oldest >= key);
        let Some(arrival) = self.arrivals.get_mut(&key) else {
            return Ok(false);
        };
        // Whole messages wait in memory. Beyond a limit only the oldest goes on, and what is complete; the others are
        // slowed down.
        if held > limit && !is_oldest && !arrival.is_complete() {
            arrival.unwatch(&self.set);
            self.held_back.push(key);
            return Ok(false);
        }
        let before = arrival.held();
        let step = arrival.step(&mut self.sink, limit)?;
        if arrival.held() < before {
            self.let_go_on()?;
        }
        match step {
            Step::Nothing => Ok(false),
            Step::Moved => Ok(true),
            Step::Ended(failure) => {
                if let Some(arrival) = self.take_out(key)? {
                    self.ended(arrival, failure);
                }
                Ok(true)
            }
        }
    }

    /// Takes one out of those that are served.
    fn take_out(&mut self, key: u64) -> Result<Option<Arrival>, Failure> {
        let full = self.is_full();
        let Some(arrival) = self.arrivals.remove(&key) else {
            return Ok(None);
        };
        arrival.unwatch(&self.set);
        if full && !self.is_full() {
            self.watch_listener()?;
        }
        self.let_go_on()?;
        Ok(Some(arrival))
    }

    /// Lets go of one that is not complete. It is never the only one of `--once`.
    fn give_up(&mut self, key: u64, why: impl FnOnce(&Arrival) -> Failure) -> Outcome {
        let Some(arrival) = self.take_out(key)? else {
            return Ok(());
        };
        let failure = why(&arrival);
        if !self.args.once {
            self.ended(arrival, Some(failure));
            return Ok(());
        }
        self.common.out.note(&failure.message);
        arrival.leave(false);
        Ok(())
    }

    /// Those held back are looked at again.
    fn let_go_on(&mut self) -> Outcome {
        for key in std::mem::take(&mut self.held_back) {
            if let Some(arrival) = self.arrivals.get(&key) {
                self.watch(arrival, key)?;
            }
        }
        Ok(())
    }

    fn watch(&self, arrival: &Arrival, key: u64) -> Outcome {
        arrival
            .watch(&self.set, key)
            .map_err(|error| Failure::of("cannot accept", &error))
    }

    fn watch_listener(&self) -> Outcome {
        self.set
            .add_listener(&self.listener, LISTENER)
            .map_err(|error| Failure::of("cannot listen", &error))
    }

    /// Gives up messages that take too long.
    fn end_late(&mut self) -> Outcome {
        let patience = self.endpoint.config().message_timeout;
        let late = self
            .arrivals
            .iter()
            .filter(|(_, arrival)| arrival.is_late(patience));
        let late: Vec<u64> = late.map(|(key, _)| *key).collect();
        for key in late {
            self.give_up(key, |arrival| arrival.late(patience))?;
        }
        Ok(())
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

    /// Waits for what is ready.
    fn wait(&self, address: &Address, quiet_since: Instant, ready: &mut Vec<u64>) -> Outcome {
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
        let left = match self.arrivals.is_empty() {
            true => left,
            false => left.min(GLANCE),
        };
        match self.set.wait(ready, Some(left.max(Duration::from_millis(1)))) {
            Ok(()) => Ok(()),
            Err(error) if error.is_timeout() => Ok(()),
            Err(error) => Err(Failure::of(&format!("cannot listen on {address}"), &error)),
        }
    }

    fn conclude(mut self, mut outcome: Outcome) -> Outcome {
        if !self.args.once {
            outcome = self.common.end_of_server(outcome);
        }
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
