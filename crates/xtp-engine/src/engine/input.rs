//! Datagrams in: parse once, find the context or the rule for packets without one (§2.2).

use super::Engine;
use crate::admit::IncomingPacket;
use crate::context::delivery::asks_for_delivery;
use crate::context::{ALONE, Env, Input, State};
use core::net::SocketAddr;
use xtp_core::path::LEAST_DATAGRAM;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Failure};
use xtp_wire::{Body, DiagCode, DiagValue, Format, Header, Options, Packet, Run, WireError};

impl Engine {
    /// Takes one datagram of a receive batch. Nothing is sent before [`flush`](Self::flush).
    pub fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        self.stats.received += 1;
        let parsed = Packet::parse(datagram.data);
        let packet = match &parsed {
            Ok(packet) => packet,
            Err(error) => {
                self.advance(now);
                return self.take_malformed(*error, &datagram);
            }
        };
        if self.deferred.is_some() {
            if self.follow(now, packet, &datagram) {
                return;
            }
            self.stop_waiting();
        }
        self.advance(now);
        let header = packet.header;
        if header.key.value() == 0 {
            self.stats.malformed += 1;
            return;
        }
        match self.lookup(&header, datagram.src) {
            Some(slot) if self.arrive_parsed(slot, packet, &datagram) => {}
            Some(slot) if self.take_for_pending(slot, packet, &datagram) => {}
            Some(slot) => self.deliver(slot, packet, &datagram),
            None => self.take_unmatched(packet, &datagram),
        }
    }

    /// Takes datagrams that came joined, one every `stride` octets of `datagram.data`, as far as they continue a stream
    /// in order and ask for nothing; says how many. The next one is for [`receive`](Self::receive).
    pub(crate) fn receive_run(&mut self, now: Time, datagram: &Datagram<'_>, stride: usize) -> usize {
        self.advance(now);
        // What is rationed is looked at one by one.
        if self.memory.is_rationed() {
            return 0;
        }
        let Ok(header) = Header::parse(datagram.data) else {
            return 0;
        };
        let slot = self.lookup(&header, datagram.src);
        let Some((slot, context)) = slot.and_then(|slot| Some((slot, self.contexts.at(slot)?))) else {
            return 0;
        };
        // What has to be taken one by one is known before all of it was looked at.
        if !context.is_in_stride(&header, datagram) {
            return 0;
        }
        let Some(run) = Run::parse(datagram.data, stride, ALONE) else {
            return 0;
        };
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        context.regular = false;
        let count = context.receive_run(&mut env, &run, datagram);
        let matched = context.is_matched();
        if count > 0 {
            self.heard = slot;
            self.stats.received += count as u64;
            if matched {
                self.match_arrived(slot);
            }
            self.mark_dirty(slot);
        }
        count
    }

    pub(super) fn lookup(&self, header: &Header, src: SocketAddr) -> Option<u32> {
        match header.key.is_returned() {
            true => self.demux.own(header.key.value()),
            false => self.demux.foreign(src, header.key.value()),
        }
    }

    pub(super) fn deliver(&mut self, slot: u32, packet: &Packet<'_>, datagram: &Datagram<'_>) {
        if self.answer_straggler(slot, packet) {
            return;
        }
        let rationed = self.memory.is_rationed();
        if rationed {
            self.ration(slot, datagram.data.len());
        }
        let input = Input {
            src: datagram.src,
            dst: datagram.dst,
            ecn: datagram.ecn,
            octets: datagram.data.len(),
            // A reference keeps a whole buffer of the carrier's.
            backing: datagram.backing.filter(|_| !rationed),
            packet,
        };
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        context.regular = false;
        self.heard = slot;
        match (&packet.body, context.state) {
            (Body::Cookie(token), _) => context.answer_cookie(*token, &mut env, &mut self.replies),
            (_, State::Inactive | State::Gone) => context.straggler(packet, &mut env, &mut self.replies),
            _ => context.receive(&mut env, &input),
        }
        let matched = context.is_matched();
        if context.held_incomplete() > 0 || context.moved.is_some() {
            self.after_input(slot, datagram.src);
        }
        if matched {
            self.match_arrived(slot);
        }
        if rationed {
            self.account(slot);
        }
        self.mark_dirty(slot);
    }

    fn after_input(&mut self, slot: u32, src: SocketAddr) {
        let Some(context) = self.contexts.awake(slot) else {
            return;
        };
        if context.held_incomplete() > 0 {
            for evicted in self.assembling.note(src.ip(), slot, &self.contexts) {
                self.with(evicted, |context, env| context.drop_assembly(env));
                self.mark_dirty(evicted);
            }
        }
        if let Some((from, to)) = self
            .contexts
            .at(slot)
            .and_then(|context| context.moved.take())
            .map(|moved| *moved)
        {
            self.demux.remove_peer(from, slot);
            self.demux.insert_peer(to, slot);
        }
    }

    /// A malformed FIRST may deserve a DIAG (§2.3); everything else is dropped in silence [D-06].
    fn take_malformed(&mut self, error: WireError, datagram: &Datagram<'_>) {
        match error {
            WireError::BadChecksum => self.stats.bad_checksum += 1,
            _ => self.stats.malformed += 1,
        }
        let Some(value) = error.diag_value() else { return };
        if let Ok(header) = Header::parse(datagram.data)
            && header.format == Format::First
            && !header.key.is_returned()
            && header.key.value() != 0
        {
            self.refuse(&header, value, datagram);
        }
    }

    fn take_unmatched(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) {
        if self.take_group(packet, datagram) {
            return;
        }
        let header = &packet.header;
        if let Body::First(first) = &packet.body
            && !header.key.is_returned()
        {
            if let Err(error) = first.check_formats() {
                let value = error.diag_value().unwrap_or(DiagValue::Unspecified);
                return self.refuse(header, value, datagram);
            }
            return self.take_first(packet, first, datagram);
        }
        let key = header.key.value();
        let tombstone = match header.key.is_returned() {
            true => self.at_most_once.find_own(self.now, datagram.src, key),
            false => self.at_most_once.find(self.now, datagram.src, key),
        };
        if let Some(at) = tombstone {
            if !self.at_most_once.allows(at, packet) {
                self.stats.unmatched += 1;
            } else if header.options.contains(Options::END) {
                self.at_most_once.end_received(self.now, at);
            } else if packet.body.control().is_some() || packet.body.data().is_some() {
                let incoming = IncomingPacket {
                    first: None,
                    asks_delivery: asks_for_delivery(header.options),
                    sync: header.sync,
                    octets: datagram.data.len(),
                };
                let answer = self.at_most_once.answer(self.now, at, incoming);
                self.send_answer(answer, datagram);
            }
            return;
        }
        if let Body::Diag(diag) = &packet.body
            && DiagCode::try_from(diag.code) == Ok(DiagCode::InvalidContext)
            && self.deliver_disowned(packet, datagram)
        {
            return;
        }
        self.stats.unmatched += 1;
        // What a receiver of a group sends does not ask for an answer each time, and one that is not known must learn it.
        let asks = header.options.intersects(Options::SREQ | Options::MULTI);
        if header.key.is_returned() && asks {
            self.disown(header, datagram);
        }
    }

    /// DIAG 3 names the key its sender does not know, which is the peer's key of the context it is about (§7.5).
    fn deliver_disowned(&mut self, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let key = packet.header.key;
        // Among the contexts of its peer there is no record.
        if let Some(slot) = self.demux.foreign(datagram.src, key.value()) {
            self.promote(slot);
        }
        let mut slots = self.demux.by_peer(datagram.src);
        let found = slots.find(|slot| self.contexts.goes_by(*slot, key.value()));
        drop(slots);
        let Some(slot) = found else { return false };
        self.deliver(slot, packet, datagram);
        true
    }

    /// The carrier says what became of a datagram that was sent to `peer`. Whether an association or a
    /// group concerns it.
    pub fn failed(&mut self, now: Time, peer: SocketAddr, failure: Failure) -> bool {
        self.advance(now);
        let slots = self.slots_of(peer);
        let mut any = !slots.is_empty();
        for slot in slots {
            self.with(slot, |context, env| match failure {
                Failure::PortUnreachable => context.port_unreachable(env),
                Failure::NotSent => context.repeat_first_soon(env.now),
                Failure::TooBig { octets } => context.too_big(octets, env),
            });
            self.mark_dirty(slot);
        }
        match failure {
            Failure::PortUnreachable => self.group_port_unreachable(peer),
            Failure::TooBig { octets: Some(octets) } => any |= self.group_too_big(peer, octets),
            Failure::NotSent | Failure::TooBig { octets: None } => {}
        }
        any
    }

    /// The carrier knows that datagrams of `octets` (UDP payload) leave this host towards `peer`: the MTU of its own
    /// interface, or of the route. Associations that begin later state and send no more, where that is less than a path
    /// is taken to carry; at least [`LEAST_DATAGRAM`](crate::LEAST_DATAGRAM) is taken.
    pub fn note_path_mtu(&mut self, now: Time, peer: SocketAddr, octets: usize) {
        self.advance(now);
        let assumed = match self.is_local(peer) {
            true => self.config.local_datagram,
            false => self.config.base_datagram,
        };
        let limit = Some(octets.max(LEAST_DATAGRAM))
            .filter(|octets| *octets < assumed)
            .and_then(|octets| u16::try_from(octets).ok());
        let now = self.now;
        if self.peers.get(peer.ip(), now).path_limit != limit {
            self.peers.note(peer.ip(), now, |known| known.path_limit = limit);
        }
    }

    /// Contexts of `peer` that the carrier reports something of, in an order that does not depend on how they were found.
    fn slots_of(&mut self, peer: SocketAddr) -> Vec<u32> {
        self.promote_all_of(peer);
        let mut slots: Vec<u32> = self.demux.by_peer(peer).collect();
        slots.sort_unstable();
        slots
    }

    /// Gives the context a turn in the next flush.
    pub(super) fn mark_dirty(&mut self, slot: u32) {
        let now = self.now;
        if let Some(context) = self.contexts.at(slot)
            && !context.dirty
        {
            context.dirty = true;
            self.scheduler.push(slot, context.urgency(), now);
        }
    }
}
