//! Both directions of a link.

use crate::config::{ConfigError, LinkConfig};
use crate::link::{Arrival, Link, Outcome};
use crate::script::Script;

/// A direction of a [`Duplex`] between its ends A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From A to B.
    AToB,
    /// From B to A.
    BToA,
}

impl Direction {
    /// The other one.
    pub fn reversed(self) -> Self {
        match self {
            Self::AToB => Self::BToA,
            Self::BToA => Self::AToB,
        }
    }

    fn index(self) -> usize {
        match self {
            Self::AToB => 0,
            Self::BToA => 1,
        }
    }
}

/// Two links, one a direction, each with its own chances.
#[derive(Clone, Debug)]
pub struct Duplex<T> {
    links: [Link<T>; 2],
    /// Counts the packets of both directions in the order they were sent.
    script: Script,
    sent: u64,
}

impl<T> Duplex<T> {
    /// A link between A and B; `seed` decides all that is left to chance, differently in each direction.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(a_to_b: LinkConfig, b_to_a: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        // Any fixed change of the seed will do: the generator turns neighbouring seeds into unrelated streams.
        let links = [Link::new(a_to_b, seed)?, Link::new(b_to_a, !seed)?];
        Ok(Self {
            links,
            script: Script::default(),
            sent: 0,
        })
    }

    /// A link with the same configuration in both directions.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn symmetric(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        Self::new(config.clone(), config, seed)
    }

    /// Drops what `script` names beside what the configuration loses. Indices count the packets of both
    /// directions together, in the order they are sent, from the first one ever.
    pub fn set_script(&mut self, script: Script) {
        self.script = script;
    }

    /// Switches both directions down or up; see [`Link::set_up`].
    pub fn set_up(&mut self, up: bool) {
        for link in &mut self.links {
            link.set_up(up);
        }
    }

    /// One direction.
    pub fn link(&self, direction: Direction) -> &Link<T> {
        &self.links[direction.index()]
    }

    /// One direction, to change its configuration or switch it down alone.
    pub fn link_mut(&mut self, direction: Direction) -> &mut Link<T> {
        &mut self.links[direction.index()]
    }

    /// Packets handed to either direction so far.
    pub fn sent_packets(&self) -> u64 {
        self.sent
    }

    /// When the next packet arrives at either end, nanoseconds.
    pub fn next_arrival(&self) -> Option<u64> {
        let [forward, back] = &self.links;
        match (forward.next_arrival(), back.next_arrival()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The next packet that has arrived by `now_ns` at either end, the earlier first, A to B first at a tie.
    pub fn receive(&mut self, now_ns: u64) -> Option<(Direction, Arrival<T>)> {
        let [forward, back] = &self.links;
        let direction = match (forward.next_arrival(), back.next_arrival()) {
            (Some(one), Some(other)) if other < one => Direction::BToA,
            (None, _) => Direction::BToA,
            _ => Direction::AToB,
        };
        let arrival = self.link_mut(direction).receive(now_ns)?;
        Some((direction, arrival))
    }
}

impl<T: Clone> Duplex<T> {
    /// Hands a packet to one direction; see [`Link::send`].
    pub fn send(&mut self, direction: Direction, now_ns: u64, packet: T, octets: usize) -> Outcome {
        let scripted = self.script.drops(self.sent);
        self.sent += 1;
        let link = self.link_mut(direction);
        let scripted = scripted || link.script_drops_next();
        link.send_scripted(now_ns, packet, octets, scripted)
    }
}

#[cfg(test)]
#[path = "duplex_tests.rs"]
mod tests;
