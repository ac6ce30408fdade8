//! Migration of a peer to another address, and the way back (§7.6 [D-63]).

use core::net::SocketAddr;
use core::time::Duration;

use crate::Time;
use xtp_wire::{PATH_LEN, size};

/// Challenges sent to one candidate.
const TRIES: u8 = 3;
/// The old path is challenged for so many round trips after a switch.
const WAY_BACK: u32 = 3;
/// Least and most time between two challenges: a round trip may have been a pause of this host.
const LEAST_PERIOD: Duration = Duration::from_millis(20);
const MOST_PERIOD: Duration = Duration::from_secs(3);
/// A path that had to be left again is no candidate for this long.
const DISTRUST: Duration = Duration::from_secs(60);

/// Octets of the datagram of a challenge without padding.
pub const CHALLENGE_OCTETS: u64 = size::packet(PATH_LEN) as u64;

/// What to send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Ignore,
    /// A PATH challenge.
    Challenge {
        /// Where to.
        to: SocketAddr,
        /// Its nonce.
        nonce: u64,
    },
}

#[derive(Copy, Clone, Debug)]
struct CandidatePath {
    address: SocketAddr,
    nonce: u64,
    tries: u8,
    period: Duration,
    deadline: Time,
}

#[derive(Copy, Clone, Debug)]
struct Former {
    address: SocketAddr,
    /// Drawn after the switch, so that whoever answers it is there now.
    nonce: Option<u64>,
    period: Duration,
    deadline: Time,
    until: Time,
}

/// Which address is the peer's, and which one may become it.
#[derive(Clone, Debug)]
pub struct PathValidation {
    peer: SocketAddr,
    candidate: Option<CandidatePath>,
    former: Option<Former>,
    distrusted: Option<(SocketAddr, Time)>,
}

impl PathValidation {
    /// The peer as first heard.
    pub fn new(peer: SocketAddr) -> Self {
        Self {
            peer,
            candidate: None,
            former: None,
            distrusted: None,
        }
    }

    /// The peer's address.
    #[cfg(test)]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// A packet with a valid own key and valid numbers came from `src`. `sync_newer`: its sync was newer than all
    /// before. `rtt` times the repeats; `nonce` is a fresh random number, used if the answer is a challenge.
    pub fn on_packet_from(
        &mut self,
        src: SocketAddr,
        sync_newer: bool,
        now: Time,
        rtt: Duration,
        nonce: u64,
    ) -> Action {
        let distrusted = self
            .distrusted
            .is_some_and(|(address, until)| address == src && now < until);
        if src == self.peer || self.candidate.is_some() || !sync_newer || distrusted {
            return Action::Ignore;
        }
        if self.former.is_some_and(|former| former.address == src) {
            // Its challenge is under way already; only the answer counts.
            return Action::Ignore;
        }
        let period = rtt.clamp(LEAST_PERIOD, MOST_PERIOD);
        let deadline = now + period * 2;
        self.candidate = Some(CandidatePath {
            address: src,
            nonce,
            tries: 1,
            period,
            deadline,
        });
        Action::Challenge { to: src, nonce }
    }

    /// A PATH response came from `src`. The peer's new address, if that decides it: the candidate, or the former
    /// address if somebody answers there still. The caller then resets window, rtt and datagram size.
    pub fn on_response(&mut self, src: SocketAddr, nonce: u64, now: Time) -> Option<SocketAddr> {
        if let Some(candidate) = self.candidate
            && candidate.address == src
            && candidate.nonce == nonce
        {
            let period = candidate.period;
            let until = now + period * WAY_BACK;
            self.former = Some(Former {
                address: self.peer,
                nonce: None,
                period,
                deadline: now,
                until,
            });
            self.candidate = None;
            self.peer = src;
            return Some(src);
        }
        if let Some(former) = self.former
            && former.address == src
            && former.nonce == Some(nonce)
        {
            self.distrusted = Some((self.peer, now + DISTRUST));
            self.former = None;
            self.candidate = None;
            self.peer = src;
            return Some(src);
        }
        None
    }

    /// The address that was left was never validated: no more than `octets` may still go there (§7.3).
    pub fn limit_former(&mut self, octets: u64) {
        let challenges = (octets / CHALLENGE_OCTETS).min(u64::from(WAY_BACK)) as u32;
        if challenges == 0 {
            self.former = None;
        } else if let Some(former) = &mut self.former {
            former.until = former.deadline + former.period * challenges;
        }
    }

    /// What is due at `now`; call it until it says [`Action::Ignore`]. `nonce` as above.
    pub fn on_timeout(&mut self, now: Time, nonce: u64) -> Action {
        if let Some(candidate) = &mut self.candidate
            && candidate.deadline <= now
        {
            if candidate.tries < TRIES {
                candidate.tries += 1;
                candidate.deadline = now + candidate.period * 2;
                return Action::Challenge {
                    to: candidate.address,
                    nonce: candidate.nonce,
                };
            }
            self.candidate = None;
        }
        if let Some(former) = &mut self.former
            && former.deadline <= now
        {
            if former.nonce.is_none() || now < former.until {
                // One nonce for all repeats: an answer to any of them is good.
                let nonce = *former.nonce.get_or_insert(nonce);
                former.deadline = now + former.period;
                return Action::Challenge {
                    to: former.address,
                    nonce,
                };
            }
            self.former = None;
        }
        Action::Ignore
    }

    /// When [`PathValidation::on_timeout`] is due.
    pub fn deadline(&self) -> Option<Time> {
        let candidate = self.candidate.map(|candidate| candidate.deadline);
        let former = self.former.map(|former| former.deadline);
        candidate.into_iter().chain(former).min()
    }

    /// As at the beginning, but for the peer's address, which is `peer`.
    pub fn is_as_new(&self, peer: SocketAddr) -> bool {
        let Self {
            peer: known,
            candidate,
            former,
            distrusted,
        } = self;
        *known == peer && candidate.is_none() && former.is_none() && distrusted.is_none()
    }

    /// Without PATH in force only the port may change, on a newer sync whose echo acknowledges a packet of the last
    /// three round trips (`echo_recent`). The new address, if that is so.
    pub fn on_port_change(
        &mut self,
        src: SocketAddr,
        sync_newer: bool,
        echo_recent: bool,
    ) -> Option<SocketAddr> {
        if src == self.peer || src.ip() != self.peer.ip() || !sync_newer || !echo_recent {
            return None;
        }
        self.peer = src;
        Some(src)
    }
}

#[cfg(test)]
#[path = "migration_tests.rs"]
mod tests;
