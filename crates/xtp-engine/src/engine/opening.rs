//! Opening an association: addresses, serial numbers, creation time, what is known of the peer (§2.4, §6.9, §7.4).

use super::Engine;
use crate::context::{Context, Env, Identity, Opening, Restart};
use crate::error::Error;
use crate::event::ContextId;
use crate::options::{NATIVE_DOMAIN, OpenOptions};
use core::net::{IpAddr, SocketAddr};
use xtp_core::time::Time;
use xtp_wire::{Address, Caps, ClientId, service};

/// Largest capacity that can be granted (§1.5).
const MAX_CAPACITY: u64 = 1 << 40;

/// What is known of an association before it is made.
pub(super) struct Prepared {
    pub(super) identity: Identity,
    pub(super) opening: Opening,
    /// The peer understands traffic format 1 only.
    pub(super) legacy: bool,
}

impl Prepared {
    /// `context` becomes the association's.
    pub(super) fn begin(
        &self,
        context: &mut Context,
        peer: SocketAddr,
        options: &OpenOptions,
        env: &Env<'_>,
    ) {
        context.begin_initiator(self.identity, peer, options, self.opening.clone(), env);
        if self.legacy {
            context.offered = Caps::empty();
        }
        context.expected_answer = options.expected_answer;
        context.serial = self.opening.client.map(|client| client.n);
    }
}

impl Engine {
    /// Opens an association to `peer`. No packet leaves before data is sent, the writer is closed, or
    /// [`connect`](Self::connect) is called; a service-1 datagram leaves when its writer is closed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] for values outside their range; [`Error::Limit`] at `max_contexts`.
    pub fn open(&mut self, now: Time, peer: SocketAddr, options: OpenOptions) -> Result<ContextId, Error> {
        self.advance(now);
        let prepared = self.prepare(peer, &options)?;
        Ok(self.open_prepared(&prepared, peer, &options))
    }

    /// The same of what is prepared.
    pub(super) fn open_prepared(
        &mut self,
        prepared: &Prepared,
        peer: SocketAddr,
        options: &OpenOptions,
    ) -> ContextId {
        let slot = self.contexts.insert();
        self.place(slot, prepared, peer, options);
        self.ration_opening(slot);
        prepared.identity.id
    }

    /// What an association to `peer` begins with, drawn and counted.
    pub(super) fn prepare(&mut self, peer: SocketAddr, options: &OpenOptions) -> Result<Prepared, Error> {
        check(options)?;
        if self.contexts.alive() >= self.config.max_contexts {
            return Err(Error::Limit(
                "max_contexts associations are open; close some or raise the limit",
            ));
        }
        let known = self.peers.get(peer.ip(), self.now);
        let legacy = self.config.overrides.legacy || known.legacy;
        let silent = options.one_way || legacy;
        let client = (!silent).then(|| self.next_serial());
        let opening = Opening {
            address: address_of(peer, options),
            time: self.creation_time_by(known.clock_ms),
            client,
            token: known.token.filter(|_| !silent),
            instance: known
                .instance
                .filter(|(_, until)| !silent && self.now < *until)
                .map(|(name, _)| name),
            point: options.catch_up.clone(),
            connect_now: false,
            wait_for_listener: options.wait_for_listener,
            repeatable: options.repeatable,
            repeated: false,
            fell_back: false,
            turned_back: false,
            refused: false,
            pad_to: 0,
            first_len: 0,
        };
        let identity = self.identity_knowing(peer, &known);
        Ok(Prepared {
            identity,
            opening,
            legacy,
        })
    }

    /// Makes the association.
    pub(super) fn place(&mut self, slot: u32, prepared: &Prepared, peer: SocketAddr, options: &OpenOptions) {
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        let env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        prepared.begin(context, peer, options, &env);
        self.demux.insert_own(prepared.identity.key, slot);
        self.demux.insert_peer(peer, slot);
    }

    /// A new key for an association that begins again (§2.7, §6.9).
    pub(super) fn restart(&mut self, slot: u32, how: Restart) {
        let Some(context) = self.contexts.awake(slot) else {
            return;
        };
        let (id, peer, refusal) = (context.id, context.peer.addr, context.learned_refusal.clone());
        self.demux.remove_own(context.key);
        self.learn(peer.ip(), None, refusal);
        let known = self.peers.get(peer.ip(), self.now);
        let time = self.creation_time_by(known.clock_ms);
        let identity = self.identity_of(id, peer, &known);
        self.with(slot, |context, env| {
            context.begin_again(how, &identity, time, env)
        });
        self.demux.insert_own(identity.key, slot);
        self.mark_dirty(slot);
    }

    /// FIRST has not left yet: where memory is rationed it states less credit.
    pub(super) fn ration_opening(&mut self, slot: u32) {
        if self.memory.is_rationed() {
            self.ration(slot, 0);
            if let Some(context) = self.contexts.at(slot) {
                context.state_less_credit();
            }
        }
    }

    /// TLV 11: the next serial number, and the lowest that may still be repeated.
    fn next_serial(&mut self) -> ClientId {
        let n = self.next_n;
        self.next_n += 1;
        self.open_n.insert(n);
        let low = self.open_n.first().unwrap_or(n);
        ClientId {
            client: self.client,
            n,
            low,
        }
    }

    /// UTC milliseconds as the peer counts them, low 32 bits; a true 0 is stated as 1 (§1.7.1).
    fn creation_time_by(&self, clock_ms: i64) -> u32 {
        let theirs = (self.utc_ms() as i64).saturating_add(clock_ms);
        (theirs as u32).max(1)
    }
}

fn address_of(peer: SocketAddr, options: &OpenOptions) -> Address {
    // Own service numbers are informative (§1.6), and nobody here has one.
    let (domain, dst_port, src_port) = (NATIVE_DOMAIN, options.service_number, 0);
    match peer.ip() {
        IpAddr::V4(ip) => Address::Ipv4 {
            domain,
            dst: ip.octets(),
            src: [0; 4],
            dst_port,
            src_port,
        },
        IpAddr::V6(ip) => Address::Ipv6 {
            domain,
            dst: ip.octets(),
            src: [0; 16],
            dst_port,
            src_port,
        },
    }
}

fn check(options: &OpenOptions) -> Result<(), Error> {
    let tuning = &options.tuning;
    if options.service > 7 {
        return Err(Error::InvalidOption("service must lie in 0..=7"));
    }
    if tuning.recv_capacity == 0 || tuning.recv_limit() > MAX_CAPACITY {
        return Err(Error::InvalidOption("recv_capacity must lie in 1..=2^40"));
    }
    if tuning.send_capacity == 0 {
        return Err(Error::InvalidOption("send_capacity must be at least 1"));
    }
    if options.one_way && !tuning.no_error {
        return Err(Error::InvalidOption(
            "one_way needs no_error: nothing would be acknowledged",
        ));
    }
    let unanswered = [service::DATAGRAM, service::MULTICAST_UNACKNOWLEDGED].contains(&options.service);
    if (options.one_way || unanswered) && !tuning.no_flow {
        return Err(Error::InvalidOption(
            "one_way and services 1 and 5 need no_flow: no credit would ever come",
        ));
    }
    Ok(())
}
