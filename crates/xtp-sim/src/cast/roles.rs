//! Groups of the class `roles`: what a seed of groups draws, and parts that its members do not play there.
//!
//! They have a class of their own, and streams of their own, so that seeds of groups stay what they were.

use std::time::Duration;

use xtp_engine::group::{Require, Slow};

use super::plan::CastPlan;
use crate::rng::Rng;

/// The stream that all of it is drawn from.
const ROLES: u64 = 57;

/// A part that is played in such a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A member lies.
    Liar,
}

impl Role {
    const ALL: [Self; 1] = [Self::Liar];
}

impl CastPlan {
    /// The group of `seed` in which one or two such parts are played.
    pub fn of_roles(seed: u64) -> Self {
        let mut plan = Self::draw(seed);
        let rng = &mut Rng::new(seed, ROLES);
        let first = rng.pick(&Role::ALL);
        plan.play(first, rng);
        if rng.percent(30) {
            let second = rng.pick(&Role::ALL);
            if second != first {
                plan.play(second, rng);
            }
        }
        plan.draw_comparison_of_roles(rng);
        plan
    }

    fn play(&mut self, role: Role, rng: &mut Rng) {
        match role {
            Role::Liar if self.admits_liars() => self.draw_liar(rng),
            Role::Liar => {}
        }
    }

    /// In some of them nothing else goes wrong, and they are compared with the same group without these parts.
    fn draw_comparison_of_roles(&mut self, rng: &mut Rng) {
        let fits = self.options.slow == Slow::CatchUp
            && self.options.require == Require::All
            && !self.is_datagram
            // Who goes back finds its rate too slowly again after a window that was closed (seed 3139 of these).
            && !self.goes_back()
            && self.is_played();
        self.is_compared &= fits;
        if !fits || rng.percent(40) {
            return;
        }
        self.troubles.clear();
        for member in &mut self.members {
            member.at = Duration::ZERO;
        }
        self.twin = None;
        self.is_compared = true;
        self.quieten();
        if rng.percent(40) {
            self.widen(rng);
        }
    }

    /// Whether any part is played.
    fn is_played(&self) -> bool {
        self.liar.is_some()
    }
}
