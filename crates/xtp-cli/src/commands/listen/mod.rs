//! `xtp listen`: what arrives goes to standard output, one message or stream after the other.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use xtp::{Endpoint, Error, ListenOptions, Listener, PollSet, service, service_numbers};

use crate::args::ListenArgs;
use crate::common::{
    Address, Common, Failure, Outcome, REJECTED, Status, descriptors, may_enter, peer_text, span_text,
    survive_size_limits,
};

mod arrival;
mod sink;
mod target;

use arrival::{Arrival, Step};
use sink::{Entry, Sink};

/// Associations served at the same time whose addresses are proved, and so many others; more wait at the protocol's door.
const AT_ONCE: usize = 256;
/// Descriptors for everything but the files of those.
const SPARE: usize = 32;
/// Accepted in one go, so that those who are served already are not kept waiting.
const TURN: usize = 64;
/// Longest wait without looking around.
const LOOK: Duration = Duration::from_secs(3_600);
/// Longest wait while something is under way.
const GLANCE: Duration = Duration::from_secs(1);
/// How long whoever keeps others waiting has to prove its address.
const PROOF: Duration = Duration::from_secs(1);
/// Longest time for what this host holds when it is told to end; a sender without an end would keep it for ever.
const FAREWELL: Duration = Duration::from_secs(1);
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
    endpoint: Endpoint,
    listener: Listener,
    /// Whatever has something.
    set: PollSet,
    /// Served at the same time, of either kind.
    places: usize,
    /// By their numbers, from the oldest on.
    arrivals: BTreeMap<u64, Arrival>,
    next: u64,
    /// Those not looked at, because others hold too much.
    held_back: Vec<u64>,
    looked: Instant,
    sink: Sink<'a>,
}

/// Listens until told to end.
pub(crate) fn run(args: &ListenArgs, common: &Common) -> Outcome {
    let address = Address::parse(&args.address, service_numbers::MESSAGE)?;
    let mut hall = Hall::open(args, common, &address)?;
    let service = (address.service != service_numbers::MESSAGE).then_some(address.service);
    common.announce(&hall.endpoint, service);
    let outcome = hall.serve(&address);
    hall.conclude(outcome)
}

impl<'a> Hall<'a> {
    fn open(args: &'a ListenArgs, common: &'a Common, address: &Address) -> Result<Self, Failure> {
        let endpoint = common.server(common.config(Some(address.bind()?)))?;
        let mut options = ListenOptions::new(address.service).serving(&[
            service::UNSPECIFIED,
            service::DATAGRAM,
            service::ACKNOWLEDGED,
            service::STREAM,
        ]);
        options.backlog = AT_ONCE;
        common.tune(&mut options.tuning);
        let listener = endpoint.listen_with(options).map_err(|error| {
            Failure::of(&format!("cannot listen for service {}", address.service), &error)
        })?;
        survive_size_limits()?;
        let sink = Sink::open(args, common)?;
        // One that has a file of its own takes a descriptor: what an address may hold is its share of those.
        let places = match sink.has_files() {
            true => (descriptors().saturating_sub(SPARE) / 2).clamp(2, AT_ONCE),
            false => AT_ONCE,
        };
        Ok(Self {
            args,
            common,
            listener,
            set: endpoint.poll_set(),
            endpoint,
            places,
            arrivals: BTreeMap::new(),
            next: 0,
            held_back: Vec::new(),
            looked: Instant::now(),
            sink,
        })
    }
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
                self.let_others_begin()?;
                if self.args.once && self.sink.finished() > 0 {
                    return self.sink.first_outcome();
                }
            }
            self.end_late()?;
            self.look()?;
            self.displace_stranger()?;
            self.let_others_begin()?;
        }
    }

    /// Whoever keeps others waiting has to prove its address: otherwise anybody could keep all of them waiting in anybody's
    /// name.
    fn displace_stranger(&mut self) -> Outcome {
        let Some((key, asked)) = self.sink.wanted() else {
            return Ok(());
        };
        let Some(arrival) = self.arrivals.get_mut(&key) else {
            return Ok(());
        };
        match asked {
            _ if arrival.is_proved_now() => match arrival.is_idle() {
                Some(_) => self.give_up(key, Arrival::idle),
                None => Ok(()),
            },
            None => {
                *asked = Some(Instant::now());
                arrival.ask_for_proof(self.common);
                Ok(())
            }
            Some(since) if since.elapsed() < PROOF => Ok(()),
            Some(_) => self.give_up(key, Arrival::displaced),
        }
    }

    /// Looks how streams get on, if that is due. Where all places are taken and one of them is idle, others may come for it.
    fn look(&mut self) -> Outcome {
        let now = Instant::now();
        if now.saturating_duration_since(self.looked) < GLANCE {
            return Ok(());
        }
        self.looked = now;
        for (key, arrival) in &mut self.arrivals {
            arrival.look(self.held_back.contains(key), now);
        }
        match self.is_full() && !self.sink.is_full() && self.idlest().is_some() {
            true => self.watch_listener(),
            false => Ok(()),
        }
    }

    /// The arrival of a proved address that has been idle for the longest.
    fn idlest(&self) -> Option<u64> {
        let proved = self.arrivals.iter().filter(|(_, arrival)| arrival.proved);
        let idle = proved.filter_map(|(key, arrival)| arrival.is_idle().map(|span| (span, *key)));
        idle.max().map(|(_, key)| key)
    }

    /// Whether there is a place for `incoming`, as far as others of its address have not taken too many: what is complete needs none.
    fn has_place(&self, incoming: &xtp::Incoming) -> bool {
        let (source, proved) = (incoming.peer().ip().to_canonical(), incoming.is_proved());
        let alike = self.arrivals.values().filter(|arrival| arrival.proved == proved);
        let its = self.arrivals.values().filter(|arrival| arrival.source == source);
        // Where all are taken one gives way, which is another rule.
        let taken = alike.count().min(self.places - 1);
        incoming.is_complete() || may_enter(self.places, taken, its.count())
    }

    /// Whether no more who proved their addresses are served.
    fn is_full(&self) -> bool {
        self.sink.is_full() || self.arrivals.values().filter(|arrival| arrival.proved).count() >= self.places
    }

    fn accept(&mut self) -> Result<bool, Failure> {
        let mut accepted = false;
        for _ in 0..TURN {
            if self.is_full() {
                match self.idlest().filter(|_| !self.sink.is_full()) {
                    Some(key) => self.give_up(key, Arrival::idle)?,
                    None => {
                        self.set.remove_listener(&self.listener);
                        break;
                    }
                }
            }
            match self.listener.try_accept() {
                Ok(incoming) if !self.has_place(&incoming) => {
                    incoming.reject(REJECTED, "too many come from this address; try again later");
                    accepted = true;
                }
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
        if strangers <= self.places {
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
        let held: usize = self.arrivals.values().map(Arrival::held).sum::<usize>() + self.sink.queued();
        let must_wait = self.sink.must_wait(key);
        let oldest = self.arrivals.iter().find(|(_, arrival)| arrival.held() > 0);
        let is_oldest = oldest.is_none_or(|(oldest, _)| *oldest >= key);
        let Some(arrival) = self.arrivals.get_mut(&key) else {
            return Ok(false);
        };
        // Whole messages wait in memory. Beyond a limit only the oldest goes on, and what is complete; the others are
        // slowed down.
        let too_much = held > limit && !is_oldest && !arrival.is_complete();
        // The only one of `--once` is the one that is being written. Who is being written is never in anybody's way.
        let is_late = must_wait && (self.args.once || self.sink.is_full());
        let has_floor = self.sink.has_floor(key);
        if (too_much && !has_floor) || is_late {
            self.hold_back(key);
            return Ok(false);
        }
        let before = arrival.held();
        let step = arrival.step(key, &mut self.sink, limit)?;
        let step = match self.sink.failure(key, &arrival.peer) {
            Some(failure) => Step::Ended(Some(failure)),
            None => step,
        };
        if arrival.held() < before {
            self.let_go_on()?;
        }
        match step {
            Step::Nothing => Ok(false),
            Step::Moved => Ok(true),
            Step::Waits => {
                self.hold_back(key);
                Ok(true)
            }
            Step::Ended(failure) => {
                if let Some(arrival) = self.take_out(key)? {
                    self.ended(key, arrival, failure)?;
                }
                Ok(true)
            }
        }
    }

    /// Looks at one no more until there is room.
    fn hold_back(&mut self, key: u64) {
        if let Some(arrival) = self.arrivals.get(&key) {
            arrival.unwatch(&self.set);
            self.held_back.push(key);
            self.sink.want();
        }
    }

    /// What was being written is complete: the oldest that waited is next, and with it those that take turns.
    fn let_others_begin(&mut self) -> Outcome {
        while self.sink.was_freed() {
            self.let_go_on()?;
            if !self.is_full() {
                self.watch_listener()?;
            }
            let begun = self.arrivals.iter().filter(|(_, arrival)| arrival.held() > 0);
            let mut begun: Vec<(bool, u64)> = begun.map(|(key, arrival)| (!arrival.proved, *key)).collect();
            begun.sort_unstable();
            for (_, key) in begun {
                self.step(key)?;
            }
        }
        Ok(())
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
            return self.ended(key, arrival, Some(failure));
        }
        self.common.out.note(&failure.message);
        arrival.leave(Some(&failure.message));
        self.sink.yield_floor(key)
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

    fn ended(&mut self, key: u64, arrival: Arrival, failure: Option<Failure>) -> Outcome {
        let failure = self.sink.finish(key, &arrival, failure)?;
        // The failure of the only one is how the command ends.
        if let Some(failure) = failure.as_ref().filter(|_| !self.args.once) {
            self.common.out.note(&failure.message);
        }
        self.common
            .out
            .detail(format_args!("from {}: {} octets", arrival.peer, arrival.octets));
        arrival.leave(failure.as_ref().map(|failure| failure.message.as_str()));
        Ok(())
    }

    /// Waits for what is ready.
    fn wait(&mut self, address: &Address, quiet_since: Instant, ready: &mut Vec<u64>) -> Outcome {
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
            false if self.sink.wanted().is_some() => left.min(PROOF / 10),
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
        // Nothing more comes: what waited is written behind what was begun, as far as it is there.
        self.sink.flush()?;
        let until = Instant::now() + FAREWELL;
        // As many as its backlog holds, not one turn of them.
        while !self.args.once && Instant::now() < until && self.accept()? {}
        for (key, arrival) in std::mem::take(&mut self.arrivals) {
            self.conclude_one(key, arrival, until)?;
        }
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

    /// Takes what this host has of one arrival: its sender may have been told that all of it was received.
    fn conclude_one(&mut self, key: u64, mut arrival: Arrival, until: Instant) -> Outcome {
        // A part that came from an address that is not proved may be forged.
        if arrival.is_complete() || arrival.is_proved_now() {
            loop {
                match arrival.step(key, &mut self.sink, self.args.max_size)? {
                    Step::Moved if Instant::now() < until => {}
                    Step::Ended(failure) => return self.ended(key, arrival, failure),
                    _ => break,
                }
            }
            if !arrival.whole {
                arrival.finish(key, &mut self.sink)?;
            }
        }
        self.sink.cut(key, &arrival);
        Ok(())
    }
}

#[cfg(test)]
#[path = "listen_tests.rs"]
mod tests;
