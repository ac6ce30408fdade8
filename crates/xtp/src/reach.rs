//! Messages and requests to a peer with several addresses: which address they go to, and whether another one is tried.
//!
//! One of the addresses gets the message: one that answered lately, or the winner of a [race](crate::race) of probes. Another one
//! gets it only when it certainly was not executed there.

use std::fmt::Debug;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use xtp_engine::{OpenOptions, Time};

use crate::canonical;
use crate::core::Core;
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::race::{Race, is_an_answer};
use crate::resolve::Destinations;
use crate::shared::Handle;

/// The addresses that a message or request may still go to, and the time it has.
pub(crate) struct Attempts {
    left: Vec<SocketAddr>,
    /// When its time is over, and how much it had.
    until: Option<(Time, Duration)>,
}

impl Attempts {
    pub(crate) fn new(left: Vec<SocketAddr>, now: Time, timeout: Option<Duration>) -> Self {
        let until = timeout.map(|timeout| (now + timeout, timeout));
        Self { left, until }
    }

    pub(crate) fn left(&self) -> Vec<SocketAddr> {
        self.left.clone()
    }

    /// The time that is left.
    pub(crate) fn time(&self, now: Time) -> Option<Duration> {
        self.until.map(|(until, _)| until.since(now))
    }

    /// The address that needs no probe: the last one, or one that answered lately.
    pub(crate) fn known(&self, core: &Core, now: Time) -> Option<SocketAddr> {
        match self.left[..] {
            [only] => Some(only),
            _ => self
                .left
                .iter()
                .copied()
                .find(|address| core.reached.has_answered(now, *address)),
        }
    }

    /// Notes what became of the attempt at `peer`. The outcome if it is that of the call; `None` if another address is tried.
    pub(crate) fn judge<T>(
        &mut self,
        core: &mut Core,
        now: Time,
        peer: SocketAddr,
        outcome: Result<T>,
    ) -> Option<Result<T>> {
        match outcome {
            Ok(answer) => {
                core.reached.note(now, peer, true);
                Some(Ok(answer))
            }
            Err(error) if error.is_certainly_not_executed() => {
                core.reached.note(now, peer, false);
                self.left.retain(|address| *address != peer);
                self.left.is_empty().then_some(Err(error))
            }
            Err(error) => {
                if is_an_answer(&error) {
                    core.reached.note(now, peer, true);
                } else if error.is_timeout() || error.is_unreachable() {
                    // It may have answered a probe and nothing else: the next race begins with the others.
                    core.reached.note(now, peer, false);
                }
                Some(Err(self.told(error)))
            }
        }
    }

    /// A timeout as the caller set it, not what was left of it.
    pub(crate) fn told(&self, error: Error) -> Error {
        match (error, self.until) {
            (Error::Timeout { what, .. }, Some((_, after))) => Error::Timeout { what, after },
            (error, _) => error,
        }
    }
}

/// As [`Endpoint::nearest`].
pub(crate) fn nearest(shared: &Handle, name: &(impl ToSocketAddrs + Debug)) -> Result<SocketAddr> {
    match Destinations::of_name(name, canonical::scope_of(shared.socket.local_addr()))? {
        Destinations::One(peer) => Ok(peer),
        Destinations::Several(mut peers) => {
            shared.look(|core| core.reached.sort(core.now(), &mut peers));
            Ok(peers[0])
        }
    }
}

impl Endpoint {
    /// Where something goes that nothing waits for: to an address of the name that answered lately, else to the first.
    pub(crate) fn nearest(&self, name: &(impl ToSocketAddrs + Debug)) -> Result<SocketAddr> {
        nearest(&self.shared, name)
    }

    /// The interface of link-local peers that name none.
    pub(crate) fn scope(&self) -> u32 {
        canonical::scope_of(self.local_addr())
    }

    /// Sends to the address of the name that can be reached. A name with one address costs nothing extra.
    pub(crate) fn reach<T>(
        &self,
        name: &(impl ToSocketAddrs + Debug),
        (what, timeout): (&'static str, Option<Duration>),
        options: impl Fn() -> OpenOptions,
        mut attempt: impl FnMut(SocketAddr, Option<Duration>) -> Result<T>,
    ) -> Result<T> {
        let left = match Destinations::of_name(name, self.scope())? {
            Destinations::One(peer) => return attempt(peer, timeout),
            Destinations::Several(left) => left,
        };
        let now = || self.shared.look(|core| core.now());
        let mut attempts = Attempts::new(left, now(), timeout);
        loop {
            let known = self.shared.look(|core| attempts.known(core, core.now()));
            let peer = match known {
                Some(peer) => peer,
                None => {
                    let mut race = Race::for_answer(&self.shared, attempts.left(), &options());
                    let winner = race.run(what, attempts.time(now()));
                    winner.map_err(|error| attempts.told(error))?.peer
                }
            };
            let outcome = attempt(peer, attempts.time(now()));
            let judged = self.shared.look(|core| {
                let now = core.now();
                attempts.judge(core, now, peer, outcome)
            });
            if let Some(outcome) = judged {
                return outcome;
            }
        }
    }
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
