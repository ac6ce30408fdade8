//! The receiver's side of KDD's flow control (§5.3.1): slow start and congestion avoidance by whoever sees
//! what arrives, for the writer to obey.
//!
//! The window grows with what arrives in order, by as much in slow start, by one segment a window afterwards. A hole
//! that three more packets have not filled is a loss: the window is halved until everything that was there is
//! repaired, then slow start begins again, up to that half. Losses of what the writer may have sent before it could
//! know of the smaller window belong to the same loss.
//!
//! It grows only while the path carries it: if clearly less than a window arrives in a round trip, the rest of it is
//! in a queue, or the user has no more to send, and in neither case would more help.

use core::time::Duration;

use crate::Time;
use xtp_wire::serial_gt;

/// Packets in the first window and in that after a repair.
const INITIAL_PACKETS: u64 = 10;
/// Packets in the smallest window.
const LEAST_PACKETS: u64 = 2;
/// Segment assumed as long as none was larger: maxdata of a path of which nothing is known.
const ASSUMED_SEGMENT: u64 = 1_168;
/// Packets after a hole that show it to be a loss and not reordering.
const THRESHOLD: u32 = 3;

/// Packets after which a writer with a small window asks for status: that much of it lies idle.
const UNREPORTED: u128 = 4;

/// What a packet with data did.
#[derive(Copy, Clone, Debug)]
pub struct ReceivedSegment {
    /// When it came.
    pub now: Time,
    /// Its number.
    pub sync: u32,
    /// Its first octet.
    pub seq: u64,
    /// One past its last octet.
    pub end: u64,
    /// One past the last octet in order before it came.
    pub before: u64,
    /// One past the last octet in order now.
    pub next: u64,
    /// What is missing never comes: the writer repeats nothing.
    pub no_error: bool,
    /// Nothing behind a hole is kept.
    pub go_back_n: bool,
    /// It was marked on its way.
    pub marked: bool,
    /// A round trip as far as a reader can tell.
    pub rtt: Option<Duration>,
    /// Octets this reader buffers: no window needs to be larger.
    pub capacity: u64,
}

/// What arrives in a round trip, compared with the window that was open then.
#[derive(Copy, Clone, Debug)]
struct WindowRound {
    since: Time,
    octets: u64,
    window: u64,
    /// The last whole one filled its window.
    filled: bool,
}

/// The window of one reader's peer.
#[derive(Clone, Debug)]
pub struct ReceiverWindow {
    segment: u64,
    window: u64,
    /// Where slow start ends.
    threshold: u64,
    /// Congestion avoidance: octets that count towards the next segment.
    counted: u64,
    /// One past the greatest octet that came, kept or not.
    highest: u64,
    /// The packet that showed the hole there is.
    hole: Option<u32>,
    /// Repair ends when everything below has come.
    repair: Option<u64>,
    /// Losses below belong to the last one that counted.
    guard: u64,
    /// How far the writer may have gone by what it was told.
    edge: u64,
    /// The window as last told.
    told: Option<u64>,
    rtt: Option<Duration>,
    round: Option<WindowRound>,
}

/// For a stream of which nothing has come.
impl Default for ReceiverWindow {
    fn default() -> Self {
        Self {
            segment: ASSUMED_SEGMENT,
            window: INITIAL_PACKETS * ASSUMED_SEGMENT,
            threshold: u64::MAX,
            counted: 0,
            highest: 0,
            hole: None,
            repair: None,
            guard: 0,
            edge: 0,
            told: None,
            rtt: None,
            round: None,
        }
    }
}

impl ReceiverWindow {
    /// The window, octets; `None` as long as nothing has come that could tell.
    pub fn window(&self) -> Option<u64> {
        self.round.map(|_| self.window)
    }

    /// The window is other than the peer was told.
    pub fn is_untold(&self) -> bool {
        self.window() != self.told
    }

    /// A packet tells it to the peer, together with this rseq.
    pub fn tell(&mut self, rseq: u64) -> Option<u64> {
        let window = self.window()?;
        self.edge = self.edge.max(rseq.saturating_add(window));
        self.told = Some(window);
        Some(window)
    }

    /// The peer is somewhere else: its path is another one.
    pub fn on_path_change(&mut self) {
        *self = Self {
            highest: self.highest,
            edge: self.edge,
            guard: self.edge.max(self.highest),
            ..Self::default()
        };
    }

    /// A packet with data came.
    pub fn arrived(&mut self, arrival: &ReceivedSegment) {
        let len = arrival.end.saturating_sub(arrival.seq);
        if len > self.segment {
            self.segment = len;
            let fresh = self.threshold == u64::MAX && self.told.is_none();
            let packets = if fresh { INITIAL_PACKETS } else { LEAST_PACKETS };
            self.window = self.window.max(packets * len);
        }
        self.highest = self.highest.max(arrival.end);
        if let Some(rtt) = arrival.rtt {
            self.rtt = Some(self.rtt.map_or(rtt, |known| known.min(rtt)));
        }
        self.note_loss(arrival);
        if arrival.marked {
            self.shrink(arrival.next);
        }
        let advanced = arrival.next.saturating_sub(arrival.before);
        self.note_round(arrival.now, advanced);
        if self.repair.is_some() {
            self.finish_repair(arrival);
        } else {
            self.grow(advanced);
        }
        self.window = self.window.min(arrival.capacity).max(self.least());
    }

    fn least(&self) -> u64 {
        LEAST_PACKETS * self.segment
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Looks for a hole that reordering does not explain.
    fn note_loss(&mut self, arrival: &ReceivedSegment) {
        if arrival.no_error {
            if arrival.seq > arrival.before && self.shrink(arrival.before) {
                self.repair = Some(arrival.next);
            }
            return;
        }
        if arrival.next >= self.highest {
            self.hole = None;
            return;
        }
        let shown = *self.hole.get_or_insert(arrival.sync);
        let lost = !serial_gt(shown.wrapping_add(THRESHOLD), arrival.sync);
        if lost && self.repair.is_none() && self.shrink(arrival.next) {
            // Going back, what follows the missing packet is a stream like any other.
            self.repair = Some(match arrival.go_back_n {
                true => arrival.next + 1,
                false => self.highest,
            });
        }
    }

    /// Half the window, once for everything that was sent before the writer could know; whether it was this time.
    fn shrink(&mut self, at: u64) -> bool {
        if at < self.guard {
            return false;
        }
        self.threshold = (self.window / 2).max(self.least());
        self.window = self.threshold;
        self.counted = 0;
        self.guard = self.edge.max(self.highest);
        true
    }

    /// Slow start from the beginning when everything is there.
    fn finish_repair(&mut self, arrival: &ReceivedSegment) {
        if self.repair.is_some_and(|until| arrival.next >= until) {
            self.repair = None;
            self.window = self.threshold.min(INITIAL_PACKETS * self.segment);
            // It takes a round trip until something comes of the new window.
            self.begin_round(arrival.now + self.rtt.unwrap_or_default());
        }
    }

    fn grow(&mut self, advanced: u64) {
        if !self.round.is_some_and(|round| round.filled) {
            return;
        }
        if self.in_slow_start() {
            // What a filled hole releases at once has been counted when it came.
            let step = advanced.min(INITIAL_PACKETS * self.segment);
            self.window = self.window.saturating_add(step).min(self.threshold);
            return;
        }
        self.counted = self.counted.saturating_add(advanced);
        if self.counted >= self.window {
            self.counted -= self.window;
            self.window = self.window.saturating_add(self.segment);
        }
    }

    fn begin_round(&mut self, now: Time) {
        self.round = Some(WindowRound {
            since: now,
            octets: 0,
            window: self.window,
            filled: true,
        });
    }

    /// In slow start the window has doubled since what arrives now was sent, so half of it is as much as can come.
    fn note_round(&mut self, now: Time, advanced: u64) {
        let slow_start = self.in_slow_start();
        let Some(round) = &mut self.round else {
            return self.begin_round(now);
        };
        round.octets = round.octets.saturating_add(advanced);
        let (Some(rtt), span) = (self.rtt, now.since(round.since)) else {
            return;
        };
        if span < rtt || span.is_zero() {
            return;
        }
        let came = u128::from(round.octets) * rtt.as_nanos() / span.as_nanos();
        let window = u128::from(round.window);
        let segment = u128::from(self.segment);
        round.filled = match slow_start {
            true => 2 * (came + UNREPORTED * segment) >= window,
            false => 4 * (came + 2 * UNREPORTED * segment) >= 3 * window,
        };
        round.since = now;
        round.octets = 0;
        round.window = self.window;
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
