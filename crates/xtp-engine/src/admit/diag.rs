//! When a DIAG may be sent (§7.5): never as an amplifier, never as a storm.

use xtp_wire::{Format, Options, service};

use xtp_core::time::Time;

/// DIAG packets a second (§7.5).
pub(crate) const DIAGS_A_SECOND: u32 = 100;
/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// The token bucket all DIAGs of a host come from.
pub(crate) struct DiagLimiter {
    per_second: u64,
    /// Nanoseconds of credit times `per_second`; one DIAG costs [`SECOND`].
    credit: u64,
    refilled: Time,
}

impl DiagLimiter {
    /// `per_second` DIAGs a second, as many at once; 0 sends none ever.
    pub(crate) fn new(per_second: u32, now: Time) -> Self {
        let per_second = u64::from(per_second);
        Self {
            per_second,
            credit: per_second * SECOND,
            refilled: now,
        }
    }

    /// Whether a DIAG of `octets` may answer a datagram of `trigger` octets now; takes its token if so.
    pub(crate) fn permit(&mut self, now: Time, octets: usize, trigger: usize) -> bool {
        if octets > trigger.saturating_mul(3) {
            return false;
        }
        let full = self.per_second * SECOND;
        // A full bucket is all that a second or more of waiting gives.
        let waited = (now.since(self.refilled).as_nanos()).min(u128::from(SECOND)) as u64;
        self.refilled = self.refilled.max(now);
        self.credit = (self.credit + waited * self.per_second).min(full);
        let allowed = self.credit >= SECOND;
        if allowed {
            self.credit -= SECOND;
        }
        allowed
    }
}

/// Whether a FIRST is that of a pure datagram, of one packet (with END) or of several: nothing ever answers it [D-19].
pub(crate) fn is_pure_datagram(options: Options, service: u8) -> bool {
    options.contains(Options::NOERR) && (options.contains(Options::END) || service == service::DATAGRAM)
}

/// Whether a packet may be answered by a DIAG at all: not a DIAG, no END, not to a group.
pub(crate) fn may_be_answered(format: Format, options: Options) -> bool {
    format != Format::Diag && !options.intersects(Options::END | Options::MULTI)
}

#[cfg(test)]
#[path = "diag_tests.rs"]
mod tests;
