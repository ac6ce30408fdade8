//! The host that serves.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use xtp::{Bytes, Endpoint, Listener};

use super::turns::Turns;
use super::{Answer, LONGEST_LINE, Request, SERVICE, VERSION, admit};
use crate::error::Error;
use crate::launch::{Launcher, PATIENCE, Worker};
use crate::stage::Place;

/// How often it looks whether a measurement is overdue, or it is told to end.
const LOOK: Duration = Duration::from_millis(100);
/// How long a token is good for: this long at least, twice as long at most.
const TOKEN_LIFE: Duration = Duration::from_secs(30);

/// A measurement under way.
struct Running {
    /// The client's address and port: two clients of one host are two.
    peer: SocketAddr,
    token: u64,
    worker: Worker,
    until: Instant,
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
    running: Option<Running>,
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
            running: None,
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
        if let Some(over) = self.running.take_if(|running| running.until < Instant::now()) {
            let peer = over.peer;
            let what = "a measurement took too long and was stopped".to_owned();
            return Ok(Some(Served { peer, what }));
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
                match self.start(peer, token, &wanted) {
                    Ok(Answer::Busy { seconds }) => (Answer::Busy { seconds }, None),
                    Ok(answer) => (answer, Some(what)),
                    Err(why) => refused(why),
                }
            }
            Ok(Request::End { token }) => match self.end(peer, token) {
                Ok(answer) => (answer, None),
                Err(why) => refused(why),
            },
            Err(error) => refused(format!("a request this server does not know ({error})")),
        }
    }

    /// Starts the party, for who has shown that answers reach it.
    fn start(&mut self, peer: SocketAddr, token: u64, wanted: &super::Wanted) -> Result<Answer, String> {
        let ip = peer.ip();
        let epoch = self.epoch();
        let known = |epoch| self.token(ip, epoch) == token;
        if !known(epoch) && !epoch.checked_sub(1).is_some_and(known) {
            return Err("an unknown token; greet first".to_owned());
        }
        let now = Instant::now();
        if let Some(other) = self.running.as_ref().filter(|running| running.peer != peer) {
            self.turns.came_too_early(peer, now);
            let seconds = other.until.saturating_duration_since(now).as_secs() + 1;
            return Ok(Answer::Busy { seconds });
        }
        // One that begins anew has given up what it had begun.
        self.running = None;
        if !self.turns.may_begin(peer, now) {
            return Ok(Answer::Busy { seconds: 1 });
        }
        let bind = self.endpoint.local_addr().ip();
        let job = admit(wanted, bind)?;
        let place = Place {
            enter: Vec::new(),
            address: bind,
            interface: String::new(),
        };
        let failed = |error: Error| format!("the server failed: {error}");
        let mut worker = Worker::start(self.launcher, &place, &job).map_err(failed)?;
        let address = worker.ready().map_err(failed)?;
        self.running = Some(Running {
            peer,
            token,
            worker,
            until: Instant::now() + Duration::from_secs_f64(job.seconds) + PATIENCE,
        });
        Ok(Answer::Ready { address })
    }

    fn end(&mut self, peer: SocketAddr, token: u64) -> Result<Answer, String> {
        let running = self
            .running
            .take_if(|running| running.peer == peer && running.token == token);
        let mut running = running.ok_or_else(|| "no measurement of yours is under way".to_owned())?;
        let outcome = running.worker.stop();
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
