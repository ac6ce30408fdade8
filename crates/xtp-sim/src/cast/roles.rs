//! Groups of the class `roles`: what a seed of groups draws, and parts that its members do not play there.
//!
//! They have a class of their own, and streams of their own, so that seeds of groups stay what they were.

use std::time::Duration;

use xtp_engine::group::{Require, Slow};

use super::plan::{CastPlan, Disturbance, Trouble};
use crate::rng::Rng;

/// The stream that all of it is drawn from.
const ROLES: u64 = 57;
/// Which liars answer early.
const EARLY: u64 = 58;

/// So many members are served at a time that fetch what they lack (§9.15).
pub(super) const SERVED: usize = 8;

/// A part that is played in such a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A member lies.
    Liar,
    /// The way to a member carries no large packets, from the beginning or from a moment on.
    Deaf,
    /// Members are behind one address, and one of them is not scheduled for a while.
    Neighbours,
    /// Hosts sleep, as long as may be.
    Sleepers,
    /// Carriers take a part of what is sent at once.
    Carriers,
    /// More members are behind than are served at a time, and some of them leave.
    Crowd,
}

impl Role {
    const ALL: [Self; 6] = [
        Self::Liar,
        Self::Deaf,
        Self::Neighbours,
        Self::Sleepers,
        Self::Carriers,
        Self::Crowd,
    ];
}

impl CastPlan {
    /// The group of `seed` in which one or two such parts are played.
    pub fn of_roles(seed: u64) -> Self {
        let mut plan = Self::draw(seed);
        let rng = &mut Rng::new(seed, ROLES);
        let before = plan.troubles.len();
        let first = rng.pick(&Role::ALL);
        plan.play(first, rng);
        if rng.percent(30) {
            let second = rng.pick(&Role::ALL);
            if second != first {
                plan.play(second, rng);
            }
        }
        if rng.percent(30) {
            let batch = rng.pick(&[2, 16, 64]);
            plan.members.iter_mut().for_each(|member| member.batch = batch);
        }
        plan.draw_comparison_of_roles(before, rng);
        plan.draw_early_liar(&mut Rng::new(seed, EARLY));
        plan
    }

    fn play(&mut self, role: Role, rng: &mut Rng) {
        match role {
            Role::Liar if self.admits_liars() => self.draw_liar(rng),
            Role::Deaf => self.draw_deaf(rng),
            Role::Neighbours if self.members.len() > 1 => self.draw_neighbours(rng),
            Role::Sleepers => self.draw_sleepers(rng),
            Role::Carriers => self.draw_carriers(rng),
            Role::Crowd if self.members.len() > SERVED => self.draw_crowd(rng),
            Role::Liar | Role::Neighbours | Role::Crowd => {}
        }
    }

    /// A moment at which the group is busy.
    fn draw_moment(&self, rng: &mut Rng) -> Duration {
        let busy = self.sending_time() + Duration::from_millis(100);
        busy * rng.range(0, 1_000) as u32 / 1_000
    }

    fn any_member(&self, rng: &mut Rng) -> usize {
        rng.range(0, self.members.len() as u64 - 1) as usize
    }

    fn draw_deaf(&mut self, rng: &mut Rng) {
        let member = self.any_member(rng);
        let largest = self.options.datagram;
        let octets = rng.pick(&[100, 300, largest / 2, largest - 1]);
        // Announcements are as long as data: a member that is deaf from the beginning never hears of the group.
        let at = if rng.percent(25) {
            Duration::ZERO
        } else {
            self.draw_moment(rng)
        };
        let patience = self.options.patience;
        let span = rng.pick(&[patience / 10, patience / 3, 4 * patience]);
        let what = Disturbance::Deaf { member, octets, span };
        self.troubles.push(Trouble { at, what });
    }

    fn draw_neighbours(&mut self, rng: &mut Rng) {
        let host = self.any_member(rng);
        let count = self.members.len();
        let nameless = rng.percent(40) && !matches!(self.options.require, Require::List(_));
        let most = rng.range(1, 3) as usize;
        let others: Vec<_> = (1..=most.min(count - 1))
            .map(|step| (host + step) % count)
            .collect();
        for &member in &others {
            self.members[member].beside = Some(host);
        }
        if nameless {
            for &member in others.iter().chain([&host]) {
                self.members[member].join.name.clear();
            }
            self.twin = None;
        }
        let member = rng.pick(&[host, others[0]]);
        let span = Duration::from_millis(rng.range(500, 3_000));
        let what = Disturbance::Pause { member, span };
        self.troubles.push(Trouble {
            at: self.draw_moment(rng),
            what,
        });
    }

    fn draw_sleepers(&mut self, rng: &mut Rng) {
        for _ in 0..rng.pick(&[1, 1, 2, 3]) {
            let span =
                Duration::from_millis(rng.pick(&[10, 100, 300, 1_000, 3_000, 6_000]) * rng.range(1, 10));
            let what = match rng.percent(50) {
                true => Disturbance::TransmitterPause { span },
                false => Disturbance::Pause {
                    member: self.any_member(rng),
                    span,
                },
            };
            self.troubles.push(Trouble {
                at: self.draw_moment(rng),
                what,
            });
        }
    }

    fn draw_carriers(&mut self, rng: &mut Rng) {
        for _ in 0..rng.range(1, 2) {
            let span = Duration::from_millis(rng.pick(&[5, 50, 500]) * rng.range(1, 3));
            let what = match rng.percent(60) {
                true => Disturbance::TransmitterRefused { span },
                false => Disturbance::Refused {
                    member: self.any_member(rng),
                    span,
                },
            };
            self.troubles.push(Trouble {
                at: self.draw_moment(rng),
                what,
            });
        }
    }

    fn draw_crowd(&mut self, rng: &mut Rng) {
        self.options.slow = Slow::CatchUp;
        let count = rng.range(SERVED as u64, self.members.len() as u64 - 1) as usize;
        let at = self.draw_moment(rng);
        let span = Duration::from_millis(rng.range(300, 1_500));
        for member in 0..count {
            let what = Disturbance::Cut { member, span };
            self.troubles.push(Trouble { at, what });
        }
        for _ in 0..rng.range(1, 3) {
            let member = rng.range(0, count as u64 - 1) as usize;
            let at = at + span + Duration::from_millis(rng.range(0, 600));
            let what = Disturbance::Leave { member };
            self.troubles.push(Trouble { at, what });
        }
    }

    /// In some of them nothing else goes wrong, and they are compared with the same group without these parts. So many troubles are
    /// of no part.
    fn draw_comparison_of_roles(&mut self, before: usize, rng: &mut Rng) {
        let troubles = &self.troubles[before..];
        let of_members = troubles.iter().all(|trouble| trouble.what.member().is_some());
        let healthy = |member: usize| {
            troubles
                .iter()
                .all(|trouble| trouble.what.member() != Some(member))
        };
        let fits = self.options.slow == Slow::CatchUp
            && self.options.require == Require::All
            && !self.is_datagram
            // Who goes back finds its rate too slowly again after a window that was closed (seed 3139 of these).
            && !self.goes_back()
            && (self.liar.is_some() || !troubles.is_empty())
            && of_members
            && (0..self.members.len()).any(healthy);
        self.is_compared &= fits;
        if !fits || rng.percent(40) {
            return;
        }
        self.troubles.drain(..before);
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
}

#[cfg(test)]
#[path = "roles_tests.rs"]
mod tests;
