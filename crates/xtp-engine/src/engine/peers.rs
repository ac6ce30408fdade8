//! What is remembered of peers between associations (§2.7, §3.7, §6.9, §7.4), ten minutes at most.

use core::net::IpAddr;
use core::num::NonZeroU64;
use core::time::Duration;
use xtp_core::hash::{KeyedMap, KeyedState};
use xtp_core::time::Time;
use xtp_wire::Token;

/// How long it is believed.
const LIFE: Duration = Duration::from_secs(600);
/// Peers remembered; beyond it everything older than a minute goes, then everything.
pub(super) const MAX_PEERS: usize = 4_096;

/// Knowledge about one address.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Knowledge {
    at: Time,
    /// Round trip of the last association.
    pub(super) rtt: Option<Duration>,
    /// It understands traffic format 1 only.
    pub(super) legacy: bool,
    /// Source token for the next FIRST.
    pub(super) token: Option<Token>,
    /// The name of the instance that answers there, and until when FIRSTs have to state it.
    pub(super) instance: Option<(NonZeroU64, Time)>,
    /// Its UTC minus ours, milliseconds.
    pub(super) clock_ms: i64,
    /// Most octets of a datagram on the way there, as the carrier knows it ([`Engine::note_path_mtu`](super::Engine::note_path_mtu)),
    /// where they are fewer than a path is taken to carry.
    pub(super) path_limit: Option<u16>,
}

/// The memory.
pub(super) struct Peers {
    known: KeyedMap<IpAddr, Knowledge>,
}

impl Peers {
    pub(super) fn new(hash_key: [u8; 16]) -> Self {
        Self {
            known: KeyedMap::with_hasher(KeyedState::new(hash_key)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn get(&self, ip: IpAddr, now: Time) -> Knowledge {
        match self.known.get(&ip) {
            Some(known) if now.since(known.at) < LIFE => *known,
            _ => Knowledge::default(),
        }
    }

    pub(super) fn note(&mut self, ip: IpAddr, now: Time, change: impl FnOnce(&mut Knowledge)) {
        if self.known.len() >= MAX_PEERS && !self.known.contains_key(&ip) {
            self.known.retain(|_, known| now.since(known.at) < LIFE / 10);
            if self.known.len() >= MAX_PEERS {
                self.known.clear();
            }
        }
        let known = self.known.entry(ip).or_default();
        if now.since(known.at) >= LIFE {
            *known = Knowledge::default();
        }
        change(known);
        known.at = now;
    }
}
