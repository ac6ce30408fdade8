//! What an engine keeps, store by store, beside what it may keep (§7.7): for whoever watches that limits hold.

use super::Engine;
use crate::context::Context;

/// One store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// What is kept there; octets where it says so.
    pub name: &'static str,
    /// How much is kept.
    pub held: u64,
    /// How much may be kept.
    pub limit: u64,
}

/// The largest datagram there is (§4.8): one alone may exceed the limit of a peer's incomplete ones.
const LARGEST_DATAGRAM: usize = 1 << 20;

impl Engine {
    /// Every store that others can make grow. Looks at every listener and at every incomplete datagram: for tests and for
    /// operators, not for every packet.
    pub fn stores(&self) -> Vec<Store> {
        let config = &self.config;
        let store = |name, held: usize, limit: usize| Store {
            name,
            held: held as u64,
            limit: limit as u64,
        };
        let (listeners, memories) = (self.listeners.fullest(), self.at_most_once.stores());
        let incomplete = self.assembling.largest(&self.contexts);
        let [known, clients, datagrams, kept] = memories;
        // What this end's own users queue is theirs to limit.
        let own: u64 = self.contexts.all_awake().map(Context::queued_by_right).sum();
        let mut stores = vec![
            store("contexts", self.contexts.alive(), config.max_contexts),
            store(
                "finished initiators",
                self.time_waits.count(),
                config.overrides.max_time_waits,
            ),
            store("tombstones", known.0, known.1),
            store("clients", clients.0, clients.1),
            store("datagrams known", datagrams.0, datagrams.1),
            store("octets of kept responses", kept.0, kept.1),
            store(
                "validated addresses",
                self.validated.len(),
                config.overrides.max_validated,
            ),
            store("peers", self.peers.len(), super::peers::MAX_PEERS),
            store(
                "octets of incomplete datagrams of one peer",
                incomplete,
                config.overrides.assembly_limit.max(LARGEST_DATAGRAM),
            ),
            store(
                "messages of one association that nobody received",
                self.contexts
                    .all_awake()
                    .map(Context::held_messages)
                    .max()
                    .unwrap_or(0),
                config.max_waiting,
            ),
            Store {
                name: "octets of all associations",
                held: self.memory.charged(self.contexts.alive()).saturating_sub(own),
                limit: config.memory_limit,
            },
        ];
        stores.extend(listeners.map(|(held, limit)| store("places of one listener, unproved", held, limit)));
        stores
    }
}
