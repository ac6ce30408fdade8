//! Who gets a context and who must first show that it exists (§7.4, "Pressure").

use core::net::{IpAddr, SocketAddr};

use super::lru::Lru;
use xtp_core::hash::{KeyedState, UdpSource, address_octets};
use xtp_core::time::Time;

/// Sources whose rate is watched at once. A flood from more of them runs into the half-open limit instead.
const SOURCES: usize = 8_192;
/// A second in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;
/// Sources one call of `expire` forgets at most, of each kind.
const BATCH: usize = 64;
/// COOKIEs a second that any source may be sent, all together.
const COOKIES: u64 = 8_192;
/// COOKIEs a second for one source, address and port, beyond that.
const COOKIES_EACH: u64 = 32;

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
    /// The same for the COOKIEs all have been sent,
    asked: u64,
    /// and each.
    asked_each: Lru<UdpSource, u64>,
}

impl Pressure {
    /// Limits: `max_half_open` not validated contexts, `source_rate` FIRSTs a second from a source not listed.
    pub(crate) fn new(max_half_open: usize, source_rate: u32, hash_key: [u8; 16]) -> Self {
        Self {
            max_half_open,
            half_open: 0,
            per_second: u64::from(source_rate),
            used: Lru::new(SOURCES, KeyedState::new(hash_key)),
            asked: 0,
            asked_each: Lru::new(SOURCES, KeyedState::new(hash_key)),
        }
    }

    /// Whether `source` was asked to prove itself as often as it may be, in a flood: its FIRSTs without a token are dropped.
    pub(crate) fn ignores(&self, now: Time, source: SocketAddr) -> bool {
        let now = now.as_nanos();
        within(self.asked, now, COOKIES).is_none()
            && self
                .asked_each
                .get(&source.into())
                .is_some_and(|asked| within(*asked, now, COOKIES_EACH).is_none())
    }

    /// Forgets sources that came long ago, a bounded number a call.
    pub(crate) fn expire(&mut self, now: Time) {
        let now = now.as_nanos();
        for _ in 0..BATCH {
            if self.used.oldest().is_some_and(|(_, until)| *until <= now) {
                self.used.pop_oldest();
            }
            if self.asked_each.oldest().is_some_and(|(_, until)| *until <= now) {
                self.asked_each.pop_oldest();
            }
        }
    }

    /// A COOKIE is sent to `source`.
    pub(crate) fn asks(&mut self, now: Time, source: SocketAddr) {
        let now = now.as_nanos();
        self.asked = within(self.asked, now, COOKIES).unwrap_or(self.asked);
        let each = self.asked_each.get(&source.into()).copied().unwrap_or(0);
        if let Some(after) = within(each, now, COOKIES_EACH) {
            self.asked_each.insert(source.into(), after);
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
    /// forged) only saves from being counted, and from being asked as long as no more than twice as many are half-open.
    pub(crate) fn decide(&mut self, now: Time, source: IpAddr, first: Credentials) -> Decision {
        if first.token {
            return Decision::Accept;
        }
        // Known addresses are not asked for what strangers did; forged ones gain as many places, and no more.
        let most = if first.listed {
            self.max_half_open.saturating_mul(2)
        } else {
            self.max_half_open
        };
        let crowded = self.half_open > most;
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
        let source = address_octets(source);
        let used = self.used.get(&source).copied().unwrap_or(0);
        let after = within(used, now.as_nanos(), self.per_second);
        if let Some(after) = after {
            self.used.insert(source, after);
        }
        after.is_some()
    }
}

/// The moment up to which a rate of so many a second is used after one more; `None` if it is used up.
fn within(used: u64, now: u64, per_second: u64) -> Option<u64> {
    within_ahead(used, now, per_second, SECOND)
}

/// The same where that may be so far `ahead` of now.
pub(super) fn within_ahead(used: u64, now: u64, per_second: u64, ahead: u64) -> Option<u64> {
    let after = used.max(now).saturating_add(SECOND / per_second);
    (after <= now.saturating_add(ahead)).then_some(after)
}

#[cfg(test)]
#[path = "pressure_tests.rs"]
mod tests;
