//! Seeds of the class `rough`: what a plain seed draws, and carriers and hosts that are rougher. They have a class of their own, and a
//! stream of random numbers of their own, so that plain seeds stay what they were.

use core::time::Duration;

use xtp_link::LinkConfig;

use crate::fault::{Fault, SendError};
use crate::rng::Rng;
use crate::seed::Plan;
use crate::trouble::FaultClass;

/// The stream that all of it is drawn from.
const ROUGH: u64 = 90;
/// Subnets of addresses that no plain seed moves a host to.
const SUBNET: u8 = 100;

impl Plan {
    /// What plain seed `seed` draws, and two to four rough things more.
    pub(crate) fn of_rough(seed: u64) -> Self {
        let mut plan = Self::draw(seed);
        let rng = &mut Rng::new(seed, ROUGH);
        for number in 0..rng.range(2, 4) as u8 {
            match rng.range(0, 9) {
                0..=3 => plan.draw_trains(rng),
                4..=6 => plan.draw_sleep(rng),
                7 => plan.draw_jump_and_move(SUBNET + number, rng),
                8 => plan.draw_overtaken_move(SUBNET + number, rng),
                _ => plan.draw_batches(rng),
            }
        }
        plan
    }

    /// A host of a flow, its peer, and a moment soon after the flow began, milliseconds.
    fn draw_victim(&self, rng: &mut Rng) -> (usize, usize, u64) {
        let flow = &self.flows[rng.range(0, self.flows.len() as u64 - 1) as usize].1;
        let ends = match rng.percent(50) {
            true => (flow.initiator, flow.responder),
            false => (flow.responder, flow.initiator),
        };
        let latest = rng.pick(&[20, 200, 1_500]);
        (
            ends.0,
            ends.1,
            flow.start.as_millis() as u64 + rng.range(0, latest),
        )
    }

    /// The carrier of a host takes the first packets of a train and no more, for a while.
    fn draw_trains(&mut self, rng: &mut Rng) {
        self.classes.insert(FaultClass::SendErrors);
        let (host, _, at) = self.draw_victim(rng);
        let error = rng.pick(&[SendError::AgainWithin, SendError::NoBuffersWithin]);
        let every = rng.pick(&[1, 5, 50]);
        let times = rng.range(1, 30);
        // What is kept leaves at the next call, or when the socket says that it has room.
        let mut faults: Vec<_> = (0..times)
            .map(|number| {
                (
                    at + number * every,
                    Fault::SendErrors {
                        host,
                        error: Some(error),
                    },
                )
            })
            .collect();
        faults.push((at + times * every, Fault::SendErrors { host, error: None }));
        self.plan(FaultClass::SendErrors, faults);
    }

    /// A host sleeps for as long as may be: its peers time out, and records of both become old meanwhile.
    fn draw_sleep(&mut self, rng: &mut Rng) {
        self.classes.insert(FaultClass::PausedReader);
        let (host, _, at) = self.draw_victim(rng);
        let span = rng.pick(&[50, 500, 3_000, 10_000, 13_000]) * rng.range(1, 10);
        self.pause(host, at, span);
    }

    /// A host learns another time and another address at once, as after a sleep elsewhere.
    fn draw_jump_and_move(&mut self, subnet: u8, rng: &mut Rng) {
        self.classes
            .extend([FaultClass::ClockJump, FaultClass::AddressChange]);
        let (host, _, at) = self.draw_victim(rng);
        let by_ms = rng.pick(&[500, 30_000, 3_600_000]) * rng.pick(&[1, -1]);
        self.plan(
            FaultClass::ClockJump,
            vec![(at, Fault::ClockJump { host, by_ms })],
        );
        self.move_host(host, at, subnet, rng.pick(&[xtp_wire::UDP_PORT, 50_000]));
    }

    /// A host moves while packets of a train overtake each other.
    fn draw_overtaken_move(&mut self, subnet: u8, rng: &mut Rng) {
        self.classes
            .extend([FaultClass::Reordering, FaultClass::AddressChange]);
        let (host, other, at) = self.draw_victim(rng);
        let configure = |config: LinkConfig| Fault::Configure {
            one: host,
            two: other,
            config: Box::new(config),
        };
        let disorder = configure(LinkConfig {
            reorder: 0.5,
            reorder_delay: Duration::from_millis(rng.pick(&[1, 10, 60])),
            ..self.link.clone()
        });
        let begins = at.saturating_sub(rng.range(1, 100));
        let order = configure(self.link.clone());
        self.plan(
            FaultClass::Reordering,
            vec![(begins, disorder), (at + 200, order)],
        );
        self.move_host(host, at, subnet, xtp_wire::UDP_PORT);
    }

    /// Hosts take what comes in joined trains that end anywhere, from sockets that throw away what does not fit.
    fn draw_batches(&mut self, rng: &mut Rng) {
        let small = self.link.mtu.is_some_and(|mtu| mtu < 2_000);
        for host in &mut self.hosts {
            host.habits.batch = rng.pick(&[3, 5, 7, 33]);
            host.habits.joins = true;
            if small && !host.trusts && rng.percent(50) {
                host.socket_buffer = 16 << 10;
            }
        }
    }
}

#[cfg(test)]
#[path = "rough_tests.rs"]
mod tests;
