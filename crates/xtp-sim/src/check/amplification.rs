//! An address that has not shown that it receives gets at most three times what came from there (§7.3).

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

/// Octets of the longest question that asks for the end.
const QUESTION: u64 = 96;

/// What one address sent to a responder for one association, and got.
#[derive(Clone, Debug, Default)]
struct Place {
    received: u64,
    /// Of these, what its responder may not have counted: before the first FIRST it had no association to count for, and what is
    /// forged it may not have taken.
    uncounted: u64,
    sent: u64,
    validated: bool,
    /// It had a token, which its responder may not know.
    claimed: bool,
    /// Numbers of the packets that went there: an echo of one of them shows that it arrived.
    syncs: BTreeSet<u32>,
}

impl Place {
    fn is_spent(&self) -> bool {
        !self.validated && self.sent + QUESTION > 3 * (self.received - self.uncounted)
    }
}

/// All places, by association and address.
#[derive(Clone, Debug, Default)]
pub struct AmplificationCheck {
    places: BTreeMap<(usize, SocketAddr), Place>,
}

/// A packet of the initiator as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Where it came from.
    pub from: SocketAddr,
    /// Octets of UDP payload.
    pub octets: u64,
    /// It came before the first FIRST of its association.
    pub early: bool,
    /// It uses the responder's key, or answers a challenge.
    pub proves: bool,
    /// It carries a token. One that was made for another address proves nothing.
    pub claims: bool,
    /// The packet it says has arrived.
    pub echo: Option<u32>,
}

impl AmplificationCheck {
    /// A packet of the initiator reaches the responder of association `number`.
    pub fn arrived(&mut self, number: usize, packet: Arrived) {
        let place = self.places.entry((number, packet.from)).or_default();
        place.received += packet.octets;
        place.uncounted += if packet.early { packet.octets } else { 0 };
        let echoed = packet.echo.is_some_and(|echo| place.syncs.contains(&echo));
        place.claimed |= packet.claims;
        if packet.proves || echoed {
            place.validated = true;
            place.syncs.clear();
        }
    }

    /// A packet somebody forged reaches the responder of association `number` as if it came from `from`: it proves nothing.
    pub fn forged(&mut self, number: usize, from: SocketAddr, octets: u64) {
        let place = self.places.entry((number, from)).or_default();
        place.received += octets;
        place.uncounted += octets;
    }

    /// Whether the responder of association `number` may ask for the last word: an address of its initiator has shown that it receives,
    /// or has claimed so and has not got all that an address may get that proves nothing.
    pub fn may_ask(&self, number: usize) -> bool {
        self.places_of(number)
            .any(|place| place.validated || place.claimed && !place.is_spent())
    }

    /// Whether the responder of association `number` may not ask an address any more that has not shown that it receives.
    pub fn is_spent(&self, number: usize) -> bool {
        self.places_of(number).any(Place::is_spent)
    }

    fn places_of(&self, number: usize) -> impl Iterator<Item = &Place> {
        let lowest = SocketAddr::from(([0, 0, 0, 0], 0));
        let places = self.places.range((number, lowest)..);
        places
            .take_while(move |((of, _), _)| *of == number)
            .map(|(_, place)| place)
    }

    /// The responder of association `number` sends a packet.
    ///
    /// # Errors
    /// The address got more than three times what came from there.
    pub fn sent(&mut self, number: usize, to: SocketAddr, octets: u64, sync: u32) -> Result<(), String> {
        let place = self.places.entry((number, to)).or_default();
        if place.validated {
            return Ok(());
        }
        place.sent += octets;
        place.syncs.insert(sync);
        if place.claimed || place.sent <= 3 * place.received {
            return Ok(());
        }
        let (sent, received) = (place.sent, place.received);
        Err(format!(
            "{sent} octets to {to}, which has not shown that it receives and sent {received}"
        ))
    }
}

#[cfg(test)]
#[path = "amplification_tests.rs"]
mod tests;
