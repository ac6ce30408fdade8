//! What lets data leave: the gates, stated once in the order that docs/protocol/05 gives, and what they permit before the next turn.
//!
//! A plan walks through the gates as they are. What leaves before any bookkeeping (`departures`) goes by a [`Permit`] that
//! the turn before left: no gate closes of itself.

use super::express::NOT_IDLE;
use super::express_train::LONGEST_TRAIN;
use super::plan::Stop;
use super::writer::Blocked;
use super::{Context, Env, Role};
use core::time::Duration;
use xtp_congestion::{CongestionControl, Controller};
use xtp_core::time::Time;
use xtp_wire::{XDATA_LEN, heads_len};

/// What is left of each gate while packets are planned. Credit is not among them: what it allows depends on where a segment ends.
pub(super) struct Gates {
    window: u64,
    flight: u64,
    /// End of what may be sent for the first time.
    pub(super) edge: u64,
    /// Of both rates.
    tokens: u64,
    pacer: u64,
    /// Of what all send to one host. The last gate: an association that waits for credit asks for it.
    others: u64,
    pub(super) budget: Option<u64>,
}

/// What may leave before the next turn and [before the writer counts as idle](Context::idle_from) where all that was sent is
/// acknowledged: octets of new data, none of them a question.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Permit {
    /// Octets of sequence space in one packet.
    pub(super) lone: u16,
    /// Octets of sequence space in a train.
    pub(super) train: u32,
    /// Packets of a train.
    pub(super) packets: u16,
}

impl Permit {
    /// Nothing may.
    pub(super) const NONE: Self = Self {
        lone: 0,
        train: 0,
        packets: 0,
    };
}

impl Context {
    /// The gates as they are.
    pub(super) fn gates(&self, now: Time) -> Gates {
        let mut gates = self.gates_beyond(self.writer.una);
        if gates.window != u64::MAX && !self.pattern.no_feedback {
            gates.flight = self.in_flight(now);
        }
        gates
    }

    /// The gates where everything below `una` is acknowledged, and nothing else was sent.
    #[inline(always)]
    fn gates_beyond(&self, una: u64) -> Gates {
        let writer = &self.writer;
        let (span, pacer) = match self.pattern.no_feedback {
            true => (None, u64::MAX),
            false => (writer.control.span(), writer.pacer.available()),
        };
        Gates {
            window: writer.control.window(),
            flight: 0,
            edge: span.map_or(u64::MAX, |span| una.saturating_add(span)),
            tokens: writer.rates.octets_now(),
            pacer,
            // The first packet does not wait: rules about what it may say ask whether it is the first.
            others: match &writer.share {
                Some(share) if !self.pattern.no_feedback && self.stats.packets_sent > 0 => share.available(),
                _ => u64::MAX,
            },
            budget: match self.role {
                Role::Initiator => None,
                Role::Responder => self.peer.data_budget(),
            },
        }
    }

    /// The first gate that is closed, in their order (credit and budget need the segment).
    pub(super) fn closed_gate(&self, gates: &Gates, now: Time) -> Option<Stop> {
        if gates.are_open() {
            return None;
        }
        let writer = &self.writer;
        let soon = now + Duration::from_micros(1);
        if writer.rates.are_stopped() {
            return Some(Stop::Blocked(Blocked::Stopped));
        }
        if gates.tokens == 0 {
            return Some(Stop::Rate(writer.rates.ready_at(now).unwrap_or(soon)));
        }
        if gates.flight >= gates.window {
            return Some(Stop::Window);
        }
        let at = writer.pacer.ready_at(now, self.rtt.srtt());
        Some(Stop::Pace(at.unwrap_or(soon)))
    }

    /// The gate behind all others: whether only [other associations](super::share) keep more from leaving.
    pub(super) fn held_by_others(&self, gates: &Gates, now: Time) -> Option<Stop> {
        let soon = now + Duration::from_micros(1);
        let until = self.writer.share.as_ref().and_then(|share| share.until());
        (gates.others == 0).then_some(Stop::Pace(until.unwrap_or(soon)))
    }

    /// From when on the writer counts as idle.
    #[inline]
    fn idle_from(&self) -> Time {
        // Asked for every packet: a sum of durations takes three times as long.
        let since = self.timers.idle_since().as_nanos();
        Time::from_nanos(since.saturating_add(const { NOT_IDLE.as_nanos() as u64 }))
    }

    /// A regular context is about to send again: where no window decays by idleness, as much as before may leave.
    #[inline]
    pub(crate) fn end_idleness(&mut self, env: &Env<'_>) {
        if self.regular
            && env.now >= self.idle_from()
            && matches!(self.writer.control, CongestionControl::Fixed(_))
        {
            self.timers.decayed(env.now);
            self.permit = self.permit(env.config.max_train);
        }
    }

    /// What may leave as the turn left things, in trains of at most `max` packets; less where it is not certain.
    pub(super) fn permit(&self, max: usize) -> Permit {
        let writer = &self.writer;
        let until = self.idle_from();
        let (gates, size) = (self.gates_beyond(writer.nxt), self.segment_size());
        if size <= XDATA_LEN || !gates.are_open() || gates.others != u64::MAX {
            return Permit::NONE;
        }
        let unprobed = match self.could_probe(until) {
            true => self.before_probing(),
            false => u64::MAX,
        };
        let credit = writer.credit.alloc.saturating_sub(writer.nxt);
        // One more might ask for a report.
        let packets = (self.unasked() as usize - 1).min(LONGEST_TRAIN).min(max);
        // With a segment to spare no rule about credit has an effect.
        let train = credit
            .saturating_sub(size as u64)
            .min(unprobed)
            .min(gates.octets(writer.nxt, packets))
            .min((packets * size).saturating_sub(XDATA_LEN) as u64);
        Permit {
            lone: credit.min(unprobed).min((size - XDATA_LEN) as u64) as u16,
            train: train as u32,
            packets: packets as u16,
        }
    }

    /// Whether anything may leave before the next turn, as far as the [`Permit`] goes, and nothing else has to.
    /// `acknowledged`: an arrival that is not accounted for yet acknowledges all that was sent.
    ///
    /// No timer is due: the engine has asked for all contexts at once.
    #[inline]
    pub(super) fn may_leave(&self, env: &Env<'_>, acknowledged: bool) -> bool {
        let may = self.regular
            && env.now < self.idle_from()
            && (acknowledged || self.writer.inflight.is_empty() && self.has_news());
        debug_assert!(!may || self.timers.next().is_none_or(|at| at > env.now));
        debug_assert!(!may || self.permit == self.permit(env.config.max_train));
        may
    }
}

impl Gates {
    /// A packet may start, whatever its size.
    #[inline]
    fn are_open(&self) -> bool {
        self.tokens > 0 && self.flight < self.window && self.pacer > 0
    }

    /// Packets of so many octets, with so much data each, leave.
    pub(super) fn take(&mut self, packet: u64, data: u64, count: u64) {
        self.flight += data * count;
        let octets = packet * count;
        for tokens in [&mut self.tokens, &mut self.pacer, &mut self.others] {
            if *tokens != u64::MAX {
                *tokens = tokens.saturating_sub(octets);
            }
        }
        if let Some(budget) = &mut self.budget {
            *budget = budget.saturating_sub(octets);
        }
    }

    /// How many packets of this size may start: one may while a gate is open by an octet.
    pub(super) fn packets(&self, packet: u64, data: u64) -> u64 {
        let starts = |octets: u64, each: u64| octets.div_ceil(each);
        starts(self.tokens.min(self.pacer).min(self.others), packet)
            .min(starts(self.window.saturating_sub(self.flight), data))
            .min(self.budget.map_or(u64::MAX, |budget| budget / packet))
    }

    /// Octets of data from `seq` on that may leave in so many packets, the first of which is XDATA, all of them.
    #[inline]
    fn octets(&self, seq: u64, packets: usize) -> u64 {
        let heads = (XDATA_LEN + heads_len(packets)) as u64;
        let octets = self.tokens.min(self.pacer).min(self.budget.unwrap_or(u64::MAX));
        octets
            .saturating_sub(heads)
            .min(self.window.saturating_sub(self.flight))
            .min(self.edge.saturating_sub(seq))
    }
}

#[cfg(test)]
#[path = "permit_tests.rs"]
mod tests;
