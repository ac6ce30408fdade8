//! The bound on incomplete datagrams of one peer (§4.8): the oldest goes first.

use super::slab::Slab;
use crate::context::Context;
use core::net::IpAddr;
use std::collections::VecDeque;
use xtp_core::hash::{KeyedMap, KeyedState};

/// Contexts that hold parts of datagrams, by peer, oldest first.
pub(super) struct Assembling {
    by_peer: KeyedMap<IpAddr, VecDeque<u32>>,
    limit: usize,
}

impl Assembling {
    pub(super) fn new(hash_key: [u8; 16], limit: usize) -> Self {
        Self {
            by_peer: KeyedMap::with_hasher(KeyedState::new(hash_key)),
            limit,
        }
    }

    /// Notes that `slot` holds something; returns the slots that must let go to respect the limit.
    pub(super) fn note(&mut self, peer: IpAddr, slot: u32, contexts: &Slab) -> Vec<u32> {
        let held = |slot: u32| contexts.awake(slot).map_or(0, Context::held_incomplete);
        let queue = self.by_peer.entry(peer).or_default();
        if !queue.contains(&slot) {
            queue.retain(|slot| held(*slot) > 0);
            queue.push_back(slot);
        }
        let mut total: usize = queue.iter().map(|slot| held(*slot)).sum();
        let mut evicted = Vec::new();
        while total > self.limit
            && queue.len() > 1
            && let Some(oldest) = queue.pop_front()
        {
            total -= held(oldest);
            evicted.push(oldest);
        }
        evicted
    }

    /// The most octets of incomplete datagrams that one peer has here.
    pub(super) fn largest(&self, contexts: &Slab) -> usize {
        let held = |slot: &u32| contexts.awake(*slot).map_or(0, Context::held_incomplete);
        let all = self.by_peer.values().map(|queue| queue.iter().map(held).sum());
        all.max().unwrap_or(0)
    }

    pub(super) fn forget(&mut self, peer: IpAddr, slot: u32) {
        if let Some(queue) = self.by_peer.get_mut(&peer) {
            queue.retain(|other| *other != slot);
            if queue.is_empty() {
                self.by_peer.remove(&peer);
            }
        }
    }
}
