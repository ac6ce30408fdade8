//! The host that serves.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use xtp::{Bytes, Endpoint, Listener};

use super::presence::Presence;
use super::turns::Turns;
use super::{Answer, LONGEST_LINE, Request, SERVICE, VERSION, admit, admit_flows};
use crate::error::Error;
use crate::flow::FlowTerms;
use crate::job::{Job, Outcome};
use crate::launch::{Launcher, PATIENCE, Worker};
use crate::stage::Place;

/// How often it looks whether a measurement is overdue, or it is told to end.
const LOOK: Duration = Duration::from_millis(100);
/// How long a token is good for: this long at least, twice as long at most.
const TOKEN_LIFE: Duration = Duration::from_secs(30);

/// Clients whose flows run side by side.
const FLOWS_AT_ONCE: usize = 16;
/// How long the outcome of flows that have ended waits for its client.
const KEPT: Duration = Duration::from_secs(10);

/// A measurement under way, or flows that have ended.
struct Running {
    /// The client's address and port: two clients of one host are two.
    peer: SocketAddr,
    token: u64,
    worker: Worker,
    until: Instant,
    /// Others may run beside it.
    is_flows: bool,
    /// What flows that have ended came to.
    outcome: Option<Outcome>,
    presence: Presence,
}

/// What it did, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Served {
    /// Who asked for it.
    pub peer: SocketAddr,
    /// What was done, or refused and why.
    pub what: String,
}

/// A host that serves measurements of others.
pub struct Serve<'a> {
    endpoint: &'a Endpoint,
    launcher: &'a Launcher,
    listener: Listener,
    /// Known to this process only.
    secret: RandomState,
    begin: Instant,
    running: Vec<Running>,
    turns: Turns,
}

impl<'a> Serve<'a> {
    /// Listens on an endpoint, which should wait by sleeping.
    ///
    /// # Errors
    /// [`Error::Plan`] if somebody listens there for the same service already.
    pub fn new(endpoint: &'a Endpoint, launcher: &'a Launcher) -> Result<Self, Error> {
        let listener = endpoint
            .listen(SERVICE)
            .map_err(|error| Error::Plan(format!("cannot serve measurements: {error}")))?;
        Ok(Self {
            endpoint,
            launcher,
            listener,
            secret: RandomState::new(),
            begin: Instant::now(),
            running: Vec::new(),
            turns: Turns::default(),
        })
    }

    /// Serves one request, or looks around after a moment without any. Returns what was done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the launcher is told so, [`Error::Plan`] if the socket failed.
    pub fn step(&mut self) -> Result<Option<Served>, Error> {
        if self.launcher.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if let Some(served) = self.look() {
            return Ok(Some(served));
        }
        let (line, incoming) = match self.listener.recv_message_timeout(LOOK) {
            Ok(request) => request,
            Err(error) if error.is_timeout() => return Ok(None),
            Err(error) if error.is_interrupted() => return Err(Error::Interrupted),
            Err(error) => return Err(Error::Plan(format!("cannot serve measurements: {error}"))),
        };
        let peer = incoming.peer();
        let (answer, what) = self.answer(peer, &line);
        let what = match &answer {
            Answer::Refused(why) => Some(format!("refused: {why}")),
            _ => what,
        };
        let line = serde_json::to_vec(&answer).unwrap_or_default();
        // Who has gone begins anew.
        let _ = incoming.respond(line);
        Ok(what.map(|what| Served { peer, what }))
    }

    /// Looks for flows that have ended by themselves, clients that have gone while others wait, and measurements that are overdue.
    fn look(&mut self) -> Option<Served> {
        let now = Instant::now();
        let mut failed = None;
        for (index, running) in self.running.iter_mut().enumerate() {
            if !running.is_flows || running.outcome.is_some() {
                continue;
            }
            match running.worker.try_outcome() {
                None => {}
                Some(Ok(outcome)) => {
                    running.outcome = Some(outcome);
                    running.until = now + KEPT;
                }
                Some(Err(error)) => failed = Some((index, format!("flows failed: {error}"))),
            }
        }
        if let Some((index, what)) = failed {
            let peer = self.running.swap_remove(index).peer;
            return Some(Served { peer, what });
        }
        if self.turns.is_waited_for(now) {
            let endpoint = self.endpoint;
            let is_gone = |running: &mut Running| {
                running.outcome.is_none() && running.presence.is_gone(endpoint, running.peer, now)
            };
            if let Some(index) = self.running.iter_mut().position(is_gone) {
                return Some(Served {
                    peer: self.running.swap_remove(index).peer,
                    what: "the client is gone, and another one waits".to_owned(),
                });
            }
        }
        let index = self.running.iter().position(|running| running.until < now)?;
        let over = self.running.swap_remove(index);
        let what = match over.outcome {
            Some(_) => "the client of flows did not ask what they came to",
            None => "a measurement took too long and was stopped",
        };
        Some(Served {
            peer: over.peer,
            what: what.to_owned(),
        })
    }

    fn answer(&mut self, peer: SocketAddr, line: &Bytes) -> (Answer, Option<String>) {
        let refused = |why: String| (Answer::Refused(why), None);
        if line.len() > LONGEST_LINE {
            return refused("a request that is too long".to_owned());
        }
        match serde_json::from_slice(line) {
            Ok(Request::Hello { version: VERSION }) => {
                let token = self.token(peer.ip(), self.epoch());
                (Answer::Welcome { token }, None)
            }
            Ok(Request::Hello { version }) => refused(format!(
                "this server speaks version {VERSION} of the conversation, and not {version}; use the same xtp on both hosts"
            )),
            Ok(Request::Begin { token, wanted }) => {
                let what = format!(
                    "{} {}, {} octets",
                    wanted.experiment, wanted.transport, wanted.size
                );
                let started = self.compare(peer, token, &wanted);
                begun(started, what)
            }
            Ok(Request::Flows { token, terms }) => {
                let what = format!("flows for {} s", terms.seconds);
                let started = self.flow(peer, token, &terms);
                begun(started, what)
            }
            Ok(Request::End { token }) => match self.end(peer, token) {
                Ok(answer) => (answer, None),
                Err(why) => refused(why),
            },
            Err(error) => refused(format!("a request this server does not know ({error})")),
        }
    }

    /// Starts the party of a comparison, which is measured alone.
    fn compare(&mut self, peer: SocketAddr, token: u64, wanted: &super::Wanted) -> Result<Answer, String> {
        let now = self.greeted(peer, token)?;
        let others = self.running.iter().filter(|running| running.outcome.is_none());
        if let Some(until) = others.map(|running| running.until).max() {
            self.turns.came_too_early(peer, true, now);
            return Ok(busy_until(until, now));
        }
        if !self.turns.may_begin(peer, now) {
            return Ok(Answer::Busy { seconds: 1 });
        }
        let job = admit(wanted, self.endpoint.local_addr().ip())?;
        self.start(peer, token, &job, false)
    }

    /// Starts the process for a client's flows, beside those of others.
    fn flow(&mut self, peer: SocketAddr, token: u64, terms: &FlowTerms) -> Result<Answer, String> {
        let now = self.greeted(peer, token)?;
        let under_way = || self.running.iter().filter(|running| running.outcome.is_none());
        if let Some(other) = under_way().find(|running| !running.is_flows) {
            let busy = busy_until(other.until, now);
            self.turns.came_too_early(peer, false, now);
            return Ok(busy);
        }
        if under_way().count() >= FLOWS_AT_ONCE || !self.turns.may_join(peer, now) {
            return Ok(Answer::Busy { seconds: 1 });
        }
        let job = admit_flows(terms, self.endpoint.local_addr().ip())?;
        self.start(peer, token, &job, true)
    }

    /// The client has shown that answers reach it; one that begins anew has given up what it had begun.
    fn greeted(&mut self, peer: SocketAddr, token: u64) -> Result<Instant, String> {
        let (ip, epoch) = (peer.ip(), self.epoch());
        let known = |epoch| self.token(ip, epoch) == token;
        if !known(epoch) && !epoch.checked_sub(1).is_some_and(known) {
            return Err("an unknown token; greet first".to_owned());
        }
        self.running.retain(|running| running.peer != peer);
        Ok(Instant::now())
    }

    fn start(&mut self, peer: SocketAddr, token: u64, job: &Job, is_flows: bool) -> Result<Answer, String> {
        let place = Place {
            enter: Vec::new(),
            address: job.bind,
            interface: String::new(),
        };
        let failed = |error: Error| format!("the server failed: {error}");
        let mut worker = Worker::start(self.launcher, &place, job).map_err(failed)?;
        let address = worker.ready().map_err(failed)?;
        self.running.push(Running {
            peer,
            token,
            worker,
            until: Instant::now() + Duration::from_secs_f64(job.seconds) + PATIENCE,
            is_flows,
            outcome: None,
            presence: Presence::default(),
        });
        Ok(Answer::Ready { address })
    }

    fn end(&mut self, peer: SocketAddr, token: u64) -> Result<Answer, String> {
        let is_its = |running: &Running| running.peer == peer && running.token == token;
        let index = self.running.iter().position(is_its);
        let index = index.ok_or_else(|| "no measurement of yours is under way".to_owned())?;
        let mut running = self.running.swap_remove(index);
        let outcome = match running.outcome.take() {
            Some(outcome) => Ok(outcome),
            None => running.worker.stop(),
        };
        let outcome = outcome.map_err(|error| format!("the server failed: {error}"))?;
        Ok(Answer::Outcome(Box::new(outcome)))
    }

    fn epoch(&self) -> u64 {
        self.begin.elapsed().as_secs() / TOKEN_LIFE.as_secs()
    }

    /// What only somebody at this address can have heard.
    fn token(&self, peer: IpAddr, epoch: u64) -> u64 {
        self.secret.hash_one((peer, epoch))
    }
}

/// What is answered and told of a measurement that was to begin.
fn begun(started: Result<Answer, String>, what: String) -> (Answer, Option<String>) {
    match started {
        Ok(Answer::Busy { seconds }) => (Answer::Busy { seconds }, None),
        Ok(answer) => (answer, Some(what)),
        Err(why) => (Answer::Refused(why), None),
    }
}

fn busy_until(until: Instant, now: Instant) -> Answer {
    let seconds = until.saturating_duration_since(now).as_secs() + 1;
    Answer::Busy { seconds }
}
