//! What an association may send of what all associations send to one host (§5.4).

use super::Context;
use super::plan::Stop;
use crate::config::EngineConfig;
use xtp_congestion::{CongestionControl, Controller};
use xtp_core::control::route::HostRoute;
use xtp_core::time::Time;

/// Its part of a [`HostRoute`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    /// Octets that may leave in this turn; `None` where there is no pace.
    left: Option<u64>,
    /// Octets that left in this turn.
    used: u64,
    /// It waits for its turn, until then at most.
    waits: Option<Time>,
    /// Its turn has come.
    called: bool,
    /// Octets acknowledged and round trips sampled that its route knows of.
    acknowledged: u64,
    samples: u64,
}

impl Share {
    /// Octets that may start now.
    pub(super) fn available(&self) -> u64 {
        self.left.unwrap_or(u64::MAX)
    }

    /// Packets left.
    pub(super) fn take(&mut self, octets: u64) {
        self.used += octets;
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(octets);
        }
    }

    /// When it goes on, if it is the others that keep it from sending.
    pub(super) fn until(&self) -> Option<Time> {
        self.waits.filter(|_| self.left == Some(0))
    }
}

impl Context {
    /// Data is to leave, or on its way.
    pub(crate) fn has_data_to_share(&self) -> bool {
        let unsent = self.writer.inflight.has_lost() || !self.writer.all_sent();
        unsent || self.is_unacknowledged()
    }

    /// A turn begins: tells what came since the last one, and learns what may leave.
    pub(crate) fn enter_route(&mut self, route: &mut HostRoute, now: Time) {
        let (acknowledged, samples) = (self.stats.octets_acknowledged, self.rtt.samples());
        if self.has_data_to_share() {
            route.used(self.urgency(), now);
        }
        let share = match &mut self.writer.share {
            Some(share) => share,
            none => {
                if let CongestionControl::Model(model) = &self.writer.control
                    && let Some(least) = model.least_round_trip()
                {
                    route.note_least(least, now);
                }
                // What came before the route was known is not of its round.
                let older = self.timers.created() < route.since();
                none.insert(Box::new(Share {
                    acknowledged: if older { acknowledged } else { 0 },
                    samples: if older { samples } else { 0 },
                    ..Share::default()
                }))
            }
        };
        let rtt = self.rtt.latest().filter(|_| samples > share.samples);
        route.came(acknowledged.saturating_sub(share.acknowledged), rtt, now);
        (share.acknowledged, share.samples) = (acknowledged, samples);
        share.used = 0;
        if !route.is_paced(now) {
            (share.left, share.waits, share.called) = (None, None, false);
            return;
        }
        let called = core::mem::take(&mut share.called) || share.waits.is_some_and(|until| until <= now);
        share.left = Some(if called { route.quantum() } else { 0 });
        if called || share.waits.is_none() {
            // How long it is going to wait if it has more to send.
            share.waits = Some(route.patience(now));
        }
    }

    /// The turn is over: says what left, and waits for another if there is more.
    pub(crate) fn leave_route(&mut self, route: &mut HostRoute, slot: u32, now: Time, config: &EngineConfig) {
        let sort = self.urgency();
        let held = self.is_held_by_others(now, config);
        let Some(share) = &mut self.writer.share else {
            return;
        };
        route.take(core::mem::take(&mut share.used));
        share.left = None;
        // Each of its packets is to be counted, and what may leave before the next turn is not known.
        self.regular = false;
        match held {
            true => {
                let flight = self.in_flight(now);
                if self.writer.control.is_model() && flight < self.writer.control.window() {
                    self.writer.control.on_app_limited(flight);
                }
                route.wait(slot, sort, now);
            }
            false => share.waits = None,
        }
    }

    /// No other association holds it back.
    pub(crate) fn leave_all_routes(&mut self) {
        self.writer.share = None;
    }

    /// Whether it waits for others to send.
    pub(crate) fn waits_for_route(&self) -> bool {
        self.writer
            .share
            .as_ref()
            .is_some_and(|share| share.waits.is_some())
    }

    /// Its turn has come.
    pub(crate) fn has_its_turn(&mut self) {
        if let Some(share) = &mut self.writer.share {
            share.called = true;
        }
    }

    /// Whether it is only others that keep it from sending.
    fn is_held_by_others(&self, now: Time, config: &EngineConfig) -> bool {
        let until = self.writer.share.as_ref().and_then(|share| share.until());
        until.is_some_and(|until| self.plan(now, 1, config).stop == Stop::Pace(until))
    }
}
