//! The relay's clients, links and counters, shared between its thread and its handle.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::{RelayConfig, RelayStats};
use crate::config::{ConfigError, LinkConfig};
use crate::duplex::{Direction, Duplex};

/// From a client to the server.
pub(super) const TO_SERVER: Direction = Direction::AToB;
/// From the server to a client.
pub(super) const TO_CLIENT: Direction = Direction::BToA;

/// A packet on an emulated link.
pub(super) type Octets = Vec<u8>;

#[derive(Debug)]
struct Client {
    addr: SocketAddr,
    duplex: Duplex<Octets>,
    last_active: u64,
}

/// Everything but the sockets.
#[derive(Debug)]
pub(super) struct State {
    to_server: LinkConfig,
    to_client: LinkConfig,
    seed: u64,
    max_clients: usize,
    max_in_flight: usize,
    up: bool,
    clients: Vec<Client>,
    slots: HashMap<SocketAddr, usize>,
    /// Counters of the relay itself and of the links of evicted clients.
    past: RelayStats,
}

impl State {
    pub(super) fn new(config: &RelayConfig) -> Self {
        Self {
            to_server: config.to_server.clone(),
            to_client: config.to_client.clone(),
            seed: config.seed,
            max_clients: config.max_clients,
            max_in_flight: config.max_in_flight,
            up: true,
            clients: Vec::new(),
            slots: HashMap::new(),
            past: RelayStats::default(),
        }
    }

    pub(super) fn stats(&self) -> RelayStats {
        let mut total = self.past.clone();
        for client in &self.clients {
            add_links(&mut total, &client.duplex);
        }
        total
    }

    pub(super) fn set_up(&mut self, up: bool) {
        self.up = up;
        for client in &mut self.clients {
            client.duplex.set_up(up);
        }
    }

    pub(super) fn set_links(
        &mut self,
        to_server: LinkConfig,
        to_client: LinkConfig,
    ) -> Result<(), ConfigError> {
        to_server.validate()?;
        to_client.validate()?;
        for client in &mut self.clients {
            client.duplex.link_mut(TO_SERVER).set_config(to_server.clone())?;
            client.duplex.link_mut(TO_CLIENT).set_config(to_client.clone())?;
        }
        self.to_server = to_server;
        self.to_client = to_client;
        Ok(())
    }

    pub(super) fn count_send_error(&mut self) {
        self.past.send_errors += 1;
    }

    /// The slot of the client at `addr`, if it is known.
    pub(super) fn slot(&self, addr: SocketAddr) -> Option<usize> {
        self.slots.get(&addr).copied()
    }

    /// A slot for a new client, that of the client silent longest if all are taken.
    pub(super) fn admit(&mut self, addr: SocketAddr, now: u64) -> Result<usize, ConfigError> {
        let seed = self.seed.wrapping_add(self.past.clients);
        let mut duplex = Duplex::new(self.to_server.clone(), self.to_client.clone(), seed)?;
        duplex.set_up(self.up);
        let client = Client {
            addr,
            duplex,
            last_active: now,
        };
        self.past.clients += 1;
        let slot = match self.oldest() {
            Some(slot) if self.clients.len() >= self.max_clients => {
                let evicted = std::mem::replace(&mut self.clients[slot], client);
                self.slots.remove(&evicted.addr);
                self.past.evicted += 1;
                add_links(&mut self.past, &evicted.duplex);
                slot
            }
            _ => {
                self.clients.push(client);
                self.clients.len() - 1
            }
        };
        self.slots.insert(addr, slot);
        Ok(slot)
    }

    fn oldest(&self) -> Option<usize> {
        let ages = self.clients.iter().enumerate();
        ages.min_by_key(|(_, client)| client.last_active)
            .map(|(slot, _)| slot)
    }

    /// Puts a packet on the link of the client in `slot`.
    pub(super) fn send(&mut self, slot: usize, direction: Direction, now: u64, octets: &[u8]) {
        let client = &mut self.clients[slot];
        client.last_active = now;
        if client.duplex.link(direction).in_flight() >= self.max_in_flight {
            self.past.overflow += 1;
            return;
        }
        client.duplex.send(direction, now, octets.to_vec(), octets.len());
    }

    /// When the next packet is due.
    pub(super) fn next_arrival(&self) -> Option<u64> {
        self.clients
            .iter()
            .filter_map(|client| client.duplex.next_arrival())
            .min()
    }

    /// Hands every packet due by `now` to `deliver` with its slot, direction and client.
    pub(super) fn deliver_due(
        &mut self,
        now: u64,
        mut deliver: impl FnMut(usize, Direction, SocketAddr, &[u8]) -> bool,
    ) {
        for (slot, client) in self.clients.iter_mut().enumerate() {
            while let Some((direction, mut arrival)) = client.duplex.receive(now) {
                crate::link::flip_bits(&mut arrival.packet, &arrival.corrupted_bits);
                if !deliver(slot, direction, client.addr, &arrival.packet) {
                    self.past.send_errors += 1;
                }
            }
        }
    }
}

fn add_links(total: &mut RelayStats, duplex: &Duplex<Octets>) {
    total.to_server.add(duplex.link(TO_SERVER).stats());
    total.to_client.add(duplex.link(TO_CLIENT).stats());
}
