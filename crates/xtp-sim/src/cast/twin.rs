//! Somebody outside of a group who joins under the name of a member, from an address at which nobody listens (§9.18).

use std::time::Duration;

use xtp_wire::Packet;

use super::forged::{Join, datagram, outside};
use super::network::Travelling;
use super::plan::CastPlan;
use super::world::transmitter_address;
use crate::app::nanos;
use crate::rng::Rng;

/// Under whose name, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwinPlan {
    /// The member.
    pub member: usize,
    /// When it begins.
    pub at: Duration,
    /// Time between two joins.
    pub every: Duration,
    /// How many joins.
    pub joins: u32,
    /// Each under a key of its own.
    pub is_new: bool,
}

impl CastPlan {
    /// One in eight groups has such a neighbour.
    pub(super) fn draw_twin(&mut self, rng: &mut Rng) {
        if !rng.percent(12) {
            return;
        }
        let last = self.members.len() as u64 - 1;
        let member = rng.range(0, last) as usize;
        self.twin = Some(TwinPlan {
            member,
            at: Duration::from_millis(rng.range(0, 3_000)),
            every: Duration::from_millis(rng.pick(&[20, 100, 300])),
            joins: rng.range(1, 60) as u32,
            is_new: rng.percent(50),
        })
        .filter(|_| !self.members[member].join.name.is_empty());
    }
}

/// The neighbour.
pub(super) struct Twin {
    plan: TwinPlan,
    name: String,
    service_number: u16,
    /// K, once an announcement told it.
    key: Option<u64>,
    made: u32,
}

impl Twin {
    pub(super) fn of(plan: &CastPlan) -> Option<Self> {
        let twin = plan.twin?;
        Some(Self {
            name: plan.members.get(twin.member)?.join.name.clone(),
            service_number: plan.options.service_number,
            plan: twin,
            key: None,
            made: 0,
        })
    }

    /// A packet of the transmitter passed by: the first is for the group.
    pub(super) fn overhear(&mut self, octets: &[u8]) {
        if self.key.is_none() {
            let packet = Packet::parse(octets).ok();
            self.key = packet.map(|packet| packet.header.key.value());
        }
    }

    /// When it joins next.
    pub(super) fn next(&self) -> Option<u64> {
        let is_left = self.key.is_some() && self.made < self.plan.joins;
        is_left.then(|| nanos(self.plan.at + self.plan.every * self.made))
    }

    /// The join that is due, if one is.
    pub(super) fn pose(&mut self, now: u64) -> Option<Travelling> {
        self.next().filter(|at| *at <= now)?;
        self.made += 1;
        let join = Join {
            name: &self.name,
            xkey: if self.plan.is_new { self.made.into() } else { 1 },
            service_number: self.service_number,
            room: 1 << 30,
        };
        let data = join.octets(self.key?, self.made)?;
        Some(datagram(outside(1), transmitter_address(), data))
    }
}
