//! Numbers that can not be (§2.9): what of them depends on nothing else, and all of them where an association is over and
//! only its last numbers are known.

use crate::time_wait::TimeWait;
use xtp_wire::{Body, Control, Options, Packet, serial_gt};

/// Upper bound for writers that ignore credit, and for whoever forgot how wide its window was.
pub(crate) const WIDE: u64 = 1 << 32;
/// Largest window a control segment may open (§1.5).
pub(crate) const MAX_GRANT: u64 = 1 << 40;
/// An echo older than this is not believed.
pub(crate) const ECHO_AGE: u32 = 1 << 30;

/// Whether rseq, alloc and spans of a status are possible for whoever has sent up to `sent`.
#[inline]
pub(crate) fn status_is_possible(body: &Body<'_>, control: Control, sent: u64) -> bool {
    let last = match body {
        Body::Ecntl { spans, .. } => spans.iter().last(),
        Body::Xcntl(status) => status.spans.iter().last(),
        _ => None,
    };
    control.alloc >= control.rseq
        && control.alloc - control.rseq <= MAX_GRANT
        && control.rseq <= sent
        && last.is_none_or(|(_, right)| right <= sent)
}

/// Whether the sync of this packet is its sender's: DIAG and COOKIE are about an association and no part of it, so nothing
/// echoes them, and an end that is over does not answer them (§6.8).
pub(crate) const fn is_part_of_it(body: &Body<'_>) -> bool {
    !matches!(body, Body::Diag(_) | Body::Cookie(_))
}

impl TimeWait {
    /// Whether this packet can be one of the association's.
    pub(crate) fn allow(&self, packet: &Packet<'_>) -> bool {
        let (header, body) = (&packet.header, &packet.body);
        let len = body.data().map(|data| data.sequence_len() as u64);
        let Some(end) = header.seq.checked_add(len.unwrap_or(0)) else {
            return false;
        };
        if !is_part_of_it(body) {
            return false;
        }
        let control = body.control();
        let too_far = end > self.rseq.saturating_add(WIDE);
        let too_old = len.is_some() && end < self.rseq.saturating_sub(WIDE);
        if (len.is_some() || control.is_some()) && (too_far || too_old) {
            return false;
        }
        control.is_none_or(|control| {
            let nothing = control.echo == 0 && header.options.contains(Options::END);
            // Sync 0 was hardly ever sent, and what is said of it once can be lost.
            let known = control.echo != 0
                && !serial_gt(control.echo, self.sync)
                && self.sync.wrapping_sub(control.echo) < ECHO_AGE;
            status_is_possible(body, *control, self.seq) && (nothing || known)
        })
    }
}

#[cfg(test)]
#[path = "plausible_tests.rs"]
mod tests;
