//! More who begin than there are places for (§7.4), and more than a thousand one after the other.

use core::time::Duration;

use xtp_wire::Caps;

use crate::paradigm::Paradigm;
use crate::rng::Rng;
use crate::seed::Plan;
use crate::series::exchange;
use crate::trouble::FaultClass;
use crate::whims::is_kept_from_before;

/// The stream that all of it is drawn from.
const CROWD: u64 = 72;
/// One seed in so many has a burst of messages.
const BURSTS: u64 = 400;
/// How many messages that is: more than a chunk of the host's records.
const BURST: (u64, u64) = (1_100, 1_300);

impl Plan {
    /// Draws hosts with few places, and many who want one.
    pub(crate) fn draw_crowd(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, CROWD);
        if is_kept_from_before(seed) {
            return;
        }
        // A queue that holds five packets does not hold what a crowd sends at once.
        if rng.percent(11) && !self.has(FaultClass::QueueOverflow) {
            self.classes.insert(FaultClass::FewPlaces);
            self.draw_few_places(rng);
        }
        if rng.range(0, BURSTS - 1) == 0 {
            self.draw_burst(rng);
        }
    }

    /// One host has few places, and others begin messages of several packets there at once.
    fn draw_few_places(&mut self, rng: &mut Rng) {
        let host = rng.range(0, self.hosts.len() as u64 - 1) as usize;
        let own = &mut self.hosts[host];
        own.collects = rng.percent(80);
        own.engine.max_contexts = rng.pick(&[3, 12, 1 << 20]);
        own.engine.overrides.max_half_open = rng.pick(&[0, 1, 4, 1_024]);
        own.engine.overrides.source_rate = rng.pick(&[2, 256, 256]);
        let backlog = rng.pick(&[1, 2, 4, 16]);
        for _ in 0..rng.range(1, 3) {
            let from = (host + rng.range(1, self.hosts.len() as u64 - 1) as usize) % self.hosts.len();
            if rng.percent(40) {
                self.hosts[from].engine.overrides.caps -= Caps::COOKIE;
            }
            // What its own users queue does not keep to the limit of all.
            if self.hosts[from].engine.memory_limit <= 1 << 20 {
                continue;
            }
            let kind = rng.pick(&[
                Paradigm::OneShot,
                Paradigm::AcknowledgedDelivered,
                Paradigm::Transaction,
            ]);
            let start = Duration::from_millis(rng.range(0, 1_500));
            let pause = Duration::from_micros(rng.pick(&[0, 0, 200, 5_000]));
            let first = self.flows.len();
            for number in 0..rng.range(4, 12) as usize {
                let octets = rng.pick(&[40, 2_000, 9_000, 40_000]) + rng.range(0, 500) as u32;
                let mut spec = exchange(kind, octets, 100, Duration::ZERO, rng.percent(50));
                (spec.initiator, spec.responder) = (from, host);
                spec.start = start + pause * number as u32;
                spec.series = Some(first);
                self.flows.push((kind, spec));
            }
        }
        for (_, flow) in &mut self.flows {
            if flow.responder == host {
                flow.listen.backlog = backlog;
            }
        }
    }

    /// One host sends another more short messages than it keeps records of in one piece of memory.
    fn draw_burst(&mut self, rng: &mut Rng) {
        let hosts = self.hosts.len() as u64;
        let from = rng.range(0, hosts - 1) as usize;
        let to = (from + rng.range(1, hosts - 1) as usize) % self.hosts.len();
        // Memory for a dozen associations is none for a burst.
        let scarce = |host: usize| self.hosts[host].engine.memory_limit <= 1 << 20;
        if scarce(from) || scarce(to) {
            return;
        }
        self.hosts[to].engine.overrides.source_rate = 1 << 20;
        let kind = Paradigm::OneShot;
        let first = self.flows.len();
        let start = Duration::from_millis(rng.range(0, 1_500));
        for number in 0..rng.range(BURST.0, BURST.1) as usize {
            let octets = rng.range(16, 60) as u32;
            let mut spec = exchange(kind, octets, 0, Duration::ZERO, true);
            (spec.initiator, spec.responder) = (from, to);
            spec.start = start;
            spec.series = Some(first);
            spec.after = number.checked_sub(64).map(|before| first + before);
            self.flows.push((kind, spec));
        }
    }
}

#[cfg(test)]
#[path = "crowd_tests.rs"]
mod tests;
