//! Who gets a context and who must first show that it exists (specification 20.5, "Pressure").

use core::net::IpAddr;

use super::lru::Lru;
use crate::hash::{KeyedState, address_octets};
use crate::time::Time;

/// Sources whose rate is watched at once. A flood from more of them runs into the half-open limit instead.
const SOURCES: usize = 8_192;
/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// What to do with a FIRST.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Make a context.
    Accept,
    /// Answer COOKIE, keep no state.
    Cookie,
    /// Make a context if another one whose initiator is not validated gives way.
    Displace,
    /// DIAG(1,9): certainly not executed.
    Refuse,
}

/// What a FIRST says for itself.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Credentials {
    /// Carries a token that fits (either kind).
    pub(crate) token: bool,
    /// Its address is on the list of validated addresses.
    pub(crate) listed: bool,
    /// Its specifier has tformat 0x80 and offers COOKIE.
    pub(crate) takes_cookie: bool,
}

/// Half-open contexts of the host and FIRSTs of each source.
pub(crate) struct Pressure {
    max_half_open: usize,
    half_open: usize,
    per_second: u64,
    /// Moment up to which a source has used its rate, nanoseconds; a second ahead of now is the limit.
    used: Lru<[u8; 16], u64>,
}

impl Pressure {
    /// Limits: `max_half_open` not validated contexts, `source_rate` FIRSTs a second from a source not listed.
    pub(crate) fn new(max_half_open: usize, source_rate: u32, hash_key: [u8; 16]) -> Self {
        Self {
            max_half_open,
            half_open: 0,
            per_second: u64::from(source_rate),
            used: Lru::new(SOURCES, KeyedState::new(hash_key)),
        }
    }

    /// A context was made whose initiator is not validated.
    pub(crate) const fn half_open_begins(&mut self) {
        self.half_open += 1;
    }

    /// Such a context was validated or ended.
    pub(crate) const fn half_open_ends(&mut self) {
        self.half_open = self.half_open.saturating_sub(1);
    }

    /// Contexts not validated.
    pub(crate) const fn half_open(&self) -> usize {
        self.half_open
    }

    /// Judges a FIRST that would make a context. A token is worth everything; an address on the list (which can be
    /// forged) only saves from being counted.
    pub(crate) fn decide(&mut self, now: Time, source: IpAddr, first: Credentials) -> Decision {
        if first.token {
            return Decision::Accept;
        }
        let crowded = self.half_open > self.max_half_open;
        let hasty = !first.listed && !self.within_rate(now, source);
        match (crowded || hasty, first.takes_cookie) {
            (false, _) => Decision::Accept,
            (true, true) => Decision::Cookie,
            (true, false) if hasty => Decision::Refuse,
            (true, false) => Decision::Displace,
        }
    }

    /// Counts a FIRST of `source` unless its rate is used up.
    fn within_rate(&mut self, now: Time, source: IpAddr) -> bool {
        if self.per_second == 0 {
            return false;
        }
        let now = now.as_nanos();
        let source = address_octets(source);
        let before = self.used.get(&source).copied().unwrap_or(now).max(now);
        let after = before.saturating_add(SECOND / self.per_second);
        let fits = after <= now.saturating_add(SECOND);
        if fits {
            self.used.insert(source, after);
        }
        fits
    }
}

#[cfg(test)]
#[path = "pressure_tests.rs"]
mod tests;
