//! What flows, when it came, and whether it is right.

use rustix::time::{ClockId, clock_gettime};

use crate::error::{Problem, Worked};
use crate::job::Outcome;

/// Octets after which the content repeats: not a multiple of any packet size, so that what comes at a wrong place
/// is noticed.
const PERIOD: usize = 1_000_003;
/// Octets handed over in one call.
pub(crate) const PIECE: usize = 256 << 10;
/// Least time between two points of a curve.
const POINT_NS: u64 = 2_000_000;

/// Name of a receiver's curve.
pub(crate) const RECEIVED: &str = "received";
/// Name of the moment a sender began, in `extra`.
pub(crate) const BEGIN: &str = "begin_s";

/// The clock that processes of one host share, nanoseconds.
pub(crate) fn clock_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
}

/// The same, seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The octets that flow: those at offset `o` are those at `o % PERIOD`.
pub(crate) fn content() -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let octets = (0..PERIOD + PIECE).map(|index| {
        if index % PERIOD == 0 {
            state = 0x2545_f491_4f6c_dd1d;
        }
        // xorshift: the same at both ends, and no two places alike.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    octets.collect()
}

/// Where in [`content`] the octets at `offset` begin.
pub(crate) fn place(offset: u64) -> usize {
    (offset % PERIOD as u64) as usize
}

/// A receiver's record.
pub(crate) struct Record {
    content: Vec<u8>,
    octets: u64,
    points: Vec<(f64, f64)>,
    /// Of the last point.
    point_ns: u64,
    /// Of the last octet.
    last_ns: u64,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            content: content(),
            octets: 0,
            points: Vec::new(),
            point_ns: 0,
            last_ns: 0,
        }
    }

    /// These octets came next.
    ///
    /// # Errors
    /// If they are not those that were sent.
    pub(crate) fn came(&mut self, octets: &[u8]) -> Worked<()> {
        let now = clock_ns();
        for piece in octets.chunks(PIECE) {
            let at = place(self.octets);
            if self.content[at..at + piece.len()] != *piece {
                return Err(Problem::new(format!(
                    "octets near {} are not those sent",
                    self.octets
                )));
            }
            self.octets += piece.len() as u64;
        }
        self.last_ns = now;
        if now - self.point_ns >= POINT_NS {
            self.point();
        }
        Ok(())
    }

    fn point(&mut self) {
        self.point_ns = self.last_ns;
        self.points.push((seconds(self.last_ns), self.octets as f64));
    }

    pub(crate) fn octets(&self) -> u64 {
        self.octets
    }

    /// Sums up.
    pub(crate) fn outcome(mut self) -> Outcome {
        if self.points.last().is_some_and(|last| last.1 < self.octets as f64) {
            self.point();
        }
        let mut outcome = Outcome {
            octets: self.octets,
            ..Outcome::default()
        };
        outcome.curves.insert(RECEIVED.to_owned(), self.points);
        outcome
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
