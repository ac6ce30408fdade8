//! Whether anything of the stream comes to a member that answers (§9.11).
//!
//! A way may carry small packets only: then a member answers every question, and has nothing. That is no narrow way, to which a rate
//! could be fitted: whatever is too much for a queue, some of it passes.

use super::line::SendRecord;
use xtp_core::time::Time;

/// So many full packets may be lost before nothing is said to come.
const TRAIN: u64 = 16;
/// Nor does a member receive more than one octet in so many of what left: questions are small.
const QUESTIONS: u64 = 4;

/// What a report shows of what came, by its format: each of them changes when a packet of the stream comes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Octets beyond the first gap, and packets by their marks.
    Spans(u64),
    /// Symbols of blocks of which some are missing.
    Needs(u64),
}

/// What one member showed.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Hearing {
    rseq: u64,
    spans: Option<u64>,
    needs: Option<u64>,
    /// What had left when it last had something new, and when it said so.
    good: Option<(u64, Time)>,
    is_deaf: bool,
}

impl Hearing {
    /// A report that has seen what left as `after`, of a member that receives `rate` octets a second; a full packet has `packet`.
    pub(super) fn note(
        &mut self,
        (rseq, shown): (u64, Shown),
        rate: u64,
        after: SendRecord,
        packet: u64,
        now: Time,
    ) {
        let before = match shown {
            Shown::Spans(octets) => self.spans.replace(octets) == Some(octets),
            Shown::Needs(symbols) => self.needs.replace(symbols) == Some(symbols),
        };
        let same = before && rseq == self.rseq;
        self.rseq = rseq;
        let (left, since) = *self.good.get_or_insert((after.octets, now));
        let left = after.octets.saturating_sub(left);
        let came = u128::from(rate) * now.since(since).as_nanos() / 1_000_000_000;
        let little = came * u128::from(QUESTIONS) < u128::from(left);
        if !same || !little {
            self.good = Some((after.octets, now));
        }
        self.is_deaf = same && little && left >= TRAIN * packet;
    }

    /// Whether a train and more left since something of the stream came to it, by its latest report.
    pub(super) fn is_deaf(&self) -> bool {
        self.is_deaf
    }
}

#[cfg(test)]
#[path = "hearing_tests.rs"]
mod tests;
