//! The first of several addresses of a peer that answers: each is tried beside those before it after a head start (RFC 8305).
//!
//! A lasting association is raced itself. A message or a request must not run twice, so what is raced for it is a probe: an
//! association for the echo service that carries nothing. Whatever a host says to that, it is there; the message goes to that host alone.

use std::fmt::Debug;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use xtp_engine::{CloseReason, ContextId, OpenOptions, Time, paradigm};
use xtp_wire::service_numbers;

use crate::core::{Core, ops};
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::resolve::Destinations;
use crate::shared::Handle;
use crate::stream::Stream;

/// How long an address has for itself before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);

/// What an address has to do to win.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Goal {
    /// Accept the association.
    Accept,
    /// Answer anything.
    Answer,
}

/// An association that was begun, and its peer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionAttempt {
    pub(crate) id: ContextId,
    pub(crate) peer: SocketAddr,
}

/// Associations to addresses of one peer. Those that have not won are aborted when it is dropped.
pub(crate) struct Race {
    shared: Arc<Handle>,
    goal: Goal,
    options: OpenOptions,
    /// Not tried yet, the next one last.
    left: Vec<SocketAddr>,
    /// Under way, the first one first.
    under_way: Vec<ConnectionAttempt>,
    /// Why the last address that failed did.
    failure: Option<Error>,
    /// There is a choice, so that it is worth remembering which address answered.
    several: bool,
    /// When the next address is tried.
    next_at: Option<Time>,
}

impl Race {
    /// A race for an association.
    pub(crate) fn for_association(
        shared: &Arc<Handle>,
        addresses: Vec<SocketAddr>,
        options: &OpenOptions,
    ) -> Self {
        Self::new(shared, addresses, Goal::Accept, options.clone())
    }

    /// A race for the host that answers, on behalf of a message or request with `options`.
    pub(crate) fn for_answer(
        shared: &Arc<Handle>,
        addresses: Vec<SocketAddr>,
        options: &OpenOptions,
    ) -> Self {
        let mut probe = paradigm::stream(service_numbers::ECHO);
        probe.wait_for_listener = options.wait_for_listener;
        probe.tuning.connect_timeout = options.tuning.connect_timeout;
        Self::new(shared, addresses, Goal::Answer, probe)
    }

    fn new(shared: &Arc<Handle>, mut addresses: Vec<SocketAddr>, goal: Goal, options: OpenOptions) -> Self {
        shared.look(|core| core.reached.sort(core.now(), &mut addresses));
        addresses.reverse();
        Self {
            shared: Arc::clone(shared),
            goal,
            options,
            several: addresses.len() > 1,
            left: addresses,
            under_way: Vec::new(),
            failure: None,
            next_at: None,
        }
    }

    /// Ready with the winner, whose association is the caller's if that is what was raced for, or with the reason of the last
    /// address that failed.
    pub(crate) fn poll(&mut self, core: &mut Core, now: Time) -> Poll<Result<ConnectionAttempt>> {
        loop {
            if let Some(winner) = self.look(core, now) {
                self.note(core, now, winner.peer, true);
                return Poll::Ready(Ok(winner));
            }
            let waits = !self.under_way.is_empty() && self.next_at.is_some_and(|at| now < at);
            match self.left.pop_if(|_| !waits) {
                Some(peer) => self.enter(core, now, peer),
                None if self.under_way.is_empty() => {
                    let unreachable = || Error::Closed(CloseReason::Unreachable);
                    return Poll::Ready(Err(self.failure.take().unwrap_or_else(unreachable)));
                }
                None => return Poll::Pending,
            }
        }
    }

    /// How long to wait at most before asking again; `None`: until something happens.
    pub(crate) fn patience(&self, now: Time) -> Option<Duration> {
        let waits = self.next_at.map_or(Duration::ZERO, |at| at.since(now));
        (!self.left.is_empty()).then_some(waits)
    }

    /// The winner, if there is one. Those that failed are out, and the next one need not wait.
    fn look(&mut self, core: &mut Core, now: Time) -> Option<ConnectionAttempt> {
        let mut at = 0;
        while let Some(&candidate) = self.under_way.get(at) {
            match ops::heard(core, candidate.id) {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(())) => {
                    if self.goal == Goal::Accept {
                        self.under_way.remove(at);
                    }
                    return Some(candidate);
                }
                Poll::Ready(Err(error)) => {
                    self.under_way.remove(at);
                    core.release(now, candidate.id);
                    if self.goal == Goal::Answer && is_an_answer(&error) {
                        return Some(candidate);
                    }
                    self.note(core, now, candidate.peer, is_an_answer(&error));
                    self.failure = Some(error);
                    self.next_at = None;
                }
            }
        }
        None
    }

    fn note(&self, core: &mut Core, now: Time, peer: SocketAddr, answered: bool) {
        if self.several {
            core.reached.note(now, peer, answered);
        }
    }

    fn enter(&mut self, core: &mut Core, now: Time, peer: SocketAddr) {
        self.next_at = Some(now + HEAD_START);
        let begun = core.open(now, peer, self.options.clone()).and_then(|id| {
            let begun = core.connect(now, id);
            if begun.is_err() {
                core.release(now, id);
            }
            begun.map(|()| id)
        });
        match begun {
            Ok(id) => self.under_way.push(ConnectionAttempt { id, peer }),
            Err(error) => self.failure = Some(error),
        }
    }

    /// Remembers the task that polls.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn remember(&self, core: &mut Core, waker: &std::task::Waker) {
        for candidate in &self.under_way {
            if let Ok(slot) = core.slot(candidate.id) {
                slot.remember(waker);
            }
        }
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    /// Waits for the winner, at most `timeout`.
    ///
    /// # Errors
    /// [`Error::Timeout`], [`Error::Interrupted`], and the reason of the last address that failed.
    pub(crate) fn run(&mut self, what: &'static str, timeout: Option<Duration>) -> Result<ConnectionAttempt> {
        let shared = Arc::clone(&self.shared);
        let until = shared.look(|core| timeout.map(|timeout| core.now() + timeout));
        loop {
            let now = shared.look(|core| core.now());
            let left = until.map(|until| until.since(now));
            let patience = self.patience(now).into_iter().chain(left).min();
            match shared.wait(what, patience, |core, now| self.poll(core, now)) {
                Err(Error::Timeout { .. }) if left.is_none_or(|left| patience < Some(left)) => {}
                Err(Error::Timeout { what, after }) => {
                    let after = timeout.unwrap_or(after);
                    return Err(Error::Timeout { what, after });
                }
                outcome => return outcome,
            }
        }
    }
}

impl Endpoint {
    /// Opens a lasting association to the first address of a name, or of a list, that answers, and waits for that answer: the
    /// next address is tried after 0.25 s, or at once when the one before fails; the first one is one that answered within the last
    /// ten minutes, if there is such. Of each family in turn, 8 are tried. For names with addresses of both families.
    ///
    /// # Errors
    /// [`Error::Closed`] with the reason of the last address that failed, [`Error::NoRoute`], [`Error::Timeout`],
    /// [`Error::Resolve`] for an empty list and a name without addresses, [`Error::Address`] if nothing can be sent to any.
    pub fn connect(
        &self,
        peer: impl ToSocketAddrs + Debug,
        options: &OpenOptions,
        timeout: Option<Duration>,
    ) -> Result<Stream> {
        let winner = self.race_for(&peer, options)?.run("connecting", timeout)?;
        Ok(Stream::new(Arc::clone(&self.shared), winner.id))
    }

    /// The race that [`connect`](Self::connect) is.
    pub(crate) fn race_for(
        &self,
        peer: &(impl ToSocketAddrs + Debug),
        options: &OpenOptions,
    ) -> Result<Race> {
        let addresses = match Destinations::of_name(peer, self.scope())? {
            Destinations::One(peer) => vec![peer],
            Destinations::Several(peers) => peers,
        };
        Ok(Race::for_association(&self.shared, addresses, options))
    }
}

/// Whether the error is one that the peer's endpoint told.
pub(crate) fn is_an_answer(error: &Error) -> bool {
    matches!(error, Error::Closed(_)) && !error.is_unreachable()
}

impl Drop for Race {
    fn drop(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        self.shared.command(|core, now| {
            for candidate in self.under_way.drain(..) {
                // One that is over has ended already.
                let _ = core.engine.command().abort(now, candidate.id);
                core.release(now, candidate.id);
            }
        });
    }
}
