//! The mesh: what a program calls, and the order in which things are done.

mod input;
mod links;
mod output;
mod parting;

use crate::memory::Memory;
use crate::message::{
    ClaimId, From, Label, LossReason, MeshCompletion, MeshError, PeerNumber, Placed, ReceiveId,
};
use crate::options::MeshOptions;
use crate::peer::{Outbound, Peer, Pull};
use crate::receives::{Body, Message, Receives, Wanted};
use crate::record::{LONGEST, Lane, Record};
use bytes::Bytes;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use links::Association;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use xtp_core::Time;
use xtp_core::hash::scramble;
use xtp_core::matching::Tags;
use xtp_engine::{ContextId, Driver, Event, ListenOptions, ListenerId, MarkId};

/// Messages among peers. `M` is the memory that receives name.
///
/// Calls, again and again: [`event`](Self::event) for each event of the engine, [`turn`](Self::turn) before each turn of the driver and at
/// [`deadline`](Self::deadline), [`poll`](Self::poll) for what is over.
#[derive(Debug)]
pub struct Mesh<M> {
    options: MeshOptions,
    listener: ListenerId,
    /// What sessions are named by.
    seed: u64,
    sessions: u64,
    /// By number.
    peers: Vec<Peer<M>>,
    by_address: BTreeMap<SocketAddr, PeerNumber>,
    associations: BTreeMap<ContextId, Association>,
    receives: Receives<M>,
    done: VecDeque<MeshCompletion<M>>,
    /// Peers with records to lay out or to write.
    due: VecDeque<PeerNumber>,
    /// Associations with something to be read.
    readable: VecDeque<ContextId>,
    /// When associations are to be opened again.
    timers: BTreeSet<(Time, PeerNumber, Lane)>,
    /// Associations that end, and what tells that nothing of them is left to confirm.
    parting: BTreeMap<ContextId, MarkId>,
    is_leaving: bool,
}

impl<M: Memory> Mesh<M> {
    /// Begins a mesh on `driver`, which listens for it from now on. `seed` is drawn at random by the host: sessions are named by it, and two
    /// programs that use an address in turn must not have the same.
    ///
    /// # Errors
    ///
    /// [`MeshError::Engine`] if the service number is taken.
    pub fn new(driver: &mut Driver, options: MeshOptions, seed: u64) -> Result<Self, MeshError> {
        let listener = driver
            .command()
            .listen(ListenOptions::streams(options.service_number))?;
        let mut mesh = Self {
            options,
            listener,
            seed,
            sessions: 0,
            peers: Vec::new(),
            by_address: BTreeMap::new(),
            associations: BTreeMap::new(),
            receives: Receives::new(),
            done: VecDeque::new(),
            due: VecDeque::new(),
            readable: VecDeque::new(),
            timers: BTreeSet::new(),
            parting: BTreeMap::new(),
            is_leaving: false,
        };
        let own = mesh.session();
        // The program itself: never connected to.
        let nowhere = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        mesh.peers.push(Peer::new(nowhere, own));
        Ok(mesh)
    }

    /// The number of the peer at `address`; no packet leaves.
    ///
    /// # Errors
    ///
    /// [`MeshError::Limit`].
    pub fn peer(&mut self, address: SocketAddr) -> Result<PeerNumber, MeshError> {
        if let Some(known) = self.by_address.get(&address) {
            return Ok(*known);
        }
        let number = u32::try_from(self.peers.len()).ok();
        let number = number.filter(|_| self.peers.len() <= self.options.max_peers);
        let number =
            PeerNumber(number.ok_or(MeshError::Limit("max_peers peers are known; raise the limit"))?);
        let own = self.first_session(address);
        self.peers.push(Peer::new(address, own));
        self.by_address.insert(address, number);
        Ok(number)
    }

    /// Where a peer is; `None` if there is none of this number, and for the program itself.
    pub fn address(&self, peer: PeerNumber) -> Option<SocketAddr> {
        let known = self.peers.get(peer.0 as usize);
        known.filter(|_| peer != PeerNumber::OWN).map(|peer| peer.address)
    }

    /// Sends a message; never waits. [`MeshCompletion::Sent`] follows: of a short one as soon as the peer may be sent it, which says that it
    /// will be there unless [`MeshCompletion::Lost`] follows; of a long one when the peer's host has all that its receive wanted.
    ///
    /// # Errors
    ///
    /// [`MeshError::NoPeer`], [`MeshError::TooLong`].
    pub fn send(
        &mut self,
        peer: PeerNumber,
        tag: u64,
        word: u64,
        octets: Bytes,
        token: u64,
    ) -> Result<(), MeshError> {
        let length = octets.len() as u64;
        if length > LONGEST {
            return Err(MeshError::TooLong { length });
        }
        if peer == PeerNumber::OWN {
            let label = Label {
                peer,
                tag,
                word,
                length,
            };
            let body = Body::Whole([octets].into_iter().collect());
            self.done.push_back(MeshCompletion::Sent {
                token,
                outcome: Ok(()),
            });
            let epoch = 0;
            self.match_message(Message { label, epoch, body });
            return Ok(());
        }
        let known = self.peers.get_mut(peer.0 as usize).ok_or(MeshError::NoPeer)?;
        known.enqueue(Outbound {
            tag,
            word,
            octets,
            token,
        });
        self.fill(peer);
        self.look_at(peer);
        Ok(())
    }

    /// Posts a receive for one message. It gets the message that came first of those that match it and wait; if none does, the next
    /// one, behind the receives posted before for which it is, too. Of a message that is longer than `memory` it gets the beginning.
    /// [`MeshCompletion::Received`] follows.
    ///
    /// # Errors
    ///
    /// [`MeshError::NoPeer`], [`MeshError::Limit`] at [`MeshOptions::max_posted`]; `memory` comes back.
    pub fn receive(
        &mut self,
        from: impl Into<From>,
        tags: Tags,
        memory: M,
        token: u64,
    ) -> Result<Option<ReceiveId>, (MeshError, M)> {
        let from = from.into();
        if let From::Peer(peer) = from
            && self.peers.get(peer.0 as usize).is_none()
        {
            return Err((MeshError::NoPeer, memory));
        }
        if self.receives.posted() >= self.options.max_posted && self.receives.peek(from, tags).is_none() {
            let limit = MeshError::Limit("max_posted receives are posted; cancel some or raise the limit");
            return Err((limit, memory));
        }
        match self.receives.post(from, tags, Wanted { memory, token }) {
            Ok(id) => {
                // Only a peer that is connected to can tell that it is gone.
                if let From::Peer(peer) = from {
                    self.look_at(peer);
                }
                Ok(Some(id))
            }
            Err((message, wanted)) => {
                self.meet(message, wanted);
                Ok(None)
            }
        }
    }

    /// Takes a posted receive back; its memory if it has no message yet, and then no completion follows.
    pub fn cancel(&mut self, id: ReceiveId) -> Option<M> {
        self.receives.cancel(id).map(|wanted| wanted.memory)
    }

    /// The message that a receive for these would get if it were posted now.
    pub fn peek(&self, from: impl Into<From>, tags: Tags) -> Option<Label> {
        self.receives.peek(from.into(), tags)
    }

    /// Sets that message aside: no receive gets it but one that names the claim.
    pub fn claim(&mut self, from: impl Into<From>, tags: Tags) -> Option<(ClaimId, Label)> {
        self.receives.claim(from.into(), tags)
    }

    /// Receives a claimed message.
    ///
    /// # Errors
    ///
    /// [`MeshError::NoClaim`]; `memory` comes back.
    pub fn receive_claimed(&mut self, claim: ClaimId, memory: M, token: u64) -> Result<(), (MeshError, M)> {
        match self.receives.redeem(claim) {
            Some(message) => {
                self.meet(message, Wanted { memory, token });
                Ok(())
            }
            None => Err((MeshError::NoClaim, memory)),
        }
    }

    /// Throws a claimed message away; its sender is done with it.
    ///
    /// # Errors
    ///
    /// [`MeshError::NoClaim`].
    pub fn discard(&mut self, claim: ClaimId) -> Result<(), MeshError> {
        let message = self.receives.redeem(claim).ok_or(MeshError::NoClaim)?;
        let peer = message.label.peer;
        if let Body::Announced(id) = message.body {
            self.say(peer, Record::Pull { id, octets: 0 });
        }
        self.consume(&message);
        Ok(())
    }

    /// What is over, oldest first.
    pub fn poll(&mut self) -> Option<MeshCompletion<M>> {
        self.done.pop_front()
    }

    /// Whether something is over.
    pub fn has_completions(&self) -> bool {
        !self.done.is_empty()
    }

    /// Messages without a receive, and octets of them that lie here.
    pub fn unexpected(&self) -> (usize, u64) {
        (self.receives.unexpected(), self.receives.held())
    }

    /// Messages to a peer that it has not pulled or granted.
    pub fn unsent(&self, peer: PeerNumber) -> usize {
        self.peers.get(peer.0 as usize).map_or(0, Peer::unsent)
    }

    /// Takes an event of the engine; false if it is not one of the mesh's.
    pub fn event(&mut self, now: Time, driver: &mut Driver, id: ContextId, event: &Event) -> bool {
        if let Event::Accepted { listener, .. } = event {
            let ours = *listener == self.listener;
            if ours {
                self.accept(id);
            }
            return ours;
        }
        if self.part_event(now, driver, id, event) {
            return true;
        }
        if !self.associations.contains_key(&id) {
            return false;
        }
        match event {
            Event::Readable => self.readable.push_back(id),
            Event::Writable => self.unblock(id),
            Event::Marked(mark) => self.marked(now, driver, id, *mark),
            Event::Moved(address) => self.moved(id, *address),
            Event::Refused { .. } | Event::Closed(_) => self.ended(now, driver, id),
            _ => {}
        }
        true
    }

    /// Does what is to be done: before each turn of the driver, after its events, and at [`deadline`](Self::deadline).
    pub fn turn(&mut self, now: Time, driver: &mut Driver) {
        while let Some(&(at, peer, lane)) = self.timers.first()
            && at <= now
        {
            self.timers.pop_first();
            self.peers[peer.0 as usize].lane_mut(lane).retry_at = None;
            self.look_at(peer);
        }
        // What one association brings in a turn is bounded, so that a peer that sends without end does not delay the others.
        for id in core::mem::take(&mut self.readable) {
            self.read(now, driver, id);
        }
        while let Some(peer) = self.due.pop_front() {
            self.peers[peer.0 as usize].is_due = false;
            self.fill_and_write(now, driver, peer);
        }
        self.part(now, driver);
    }

    /// When the next turn is due although nothing happens.
    pub fn deadline(&self) -> Option<Time> {
        self.timers.first().map(|(at, ..)| *at)
    }

    /// Whether there is something to be done now.
    pub fn is_pressing(&self) -> bool {
        !self.readable.is_empty() || !self.due.is_empty()
    }

    /// A name for a session that no other has.
    fn session(&mut self) -> u64 {
        self.sessions += 1;
        scramble(self.seed.wrapping_add(scramble(self.sessions))).max(1)
    }

    /// What the first session with a peer is named. By its address: one that is not a peer yet may have been told.
    fn first_session(&self, address: SocketAddr) -> u64 {
        let octets = match address.ip() {
            IpAddr::V4(ip) => u128::from(ip.to_bits()),
            IpAddr::V6(ip) => ip.to_bits(),
        };
        let words = [octets as u64, (octets >> 64) as u64, address.port().into()];
        let fold = |sum: u64, word: u64| scramble(sum ^ word);
        words.into_iter().fold(scramble(!self.seed), fold).max(1)
    }

    /// A peer has records to write, or is to be connected to.
    fn look_at(&mut self, peer: PeerNumber) {
        let known = &mut self.peers[peer.0 as usize];
        if peer != PeerNumber::OWN && !core::mem::replace(&mut known.is_due, true) {
            self.due.push_back(peer);
        }
    }

    fn say(&mut self, peer: PeerNumber, record: Record) {
        if peer != PeerNumber::OWN {
            self.peers[peer.0 as usize].say(record);
            self.look_at(peer);
        }
    }

    /// Messages become records.
    fn fill(&mut self, peer: PeerNumber) {
        let sent = self.peers[peer.0 as usize].fill();
        let done = sent.into_iter().map(|token| MeshCompletion::Sent {
            token,
            outcome: Ok(()),
        });
        self.done.extend(done);
    }

    /// A message came: it gets its receive, or waits.
    fn match_message(&mut self, message: Message) {
        let peer = message.label.peer;
        match self.receives.arrive(message) {
            Some((message, wanted)) => self.meet(message, wanted),
            None if peer != PeerNumber::OWN => {
                let free = self
                    .options
                    .max_unexpected
                    .saturating_sub(self.receives.unexpected());
                self.peers[peer.0 as usize].grant.widen(free as u64);
                self.tell_credit(peer);
            }
            None => {}
        }
    }

    /// A message and its receive have met.
    fn meet(&mut self, message: Message, wanted: Wanted<M>) {
        self.consume(&message);
        let Message { label, body, .. } = message;
        let Wanted { mut memory, token } = wanted;
        let taken = label.length.min(memory.room() as u64);
        match body {
            Body::Whole(parts) => {
                let mut at = 0;
                for part in parts {
                    let room = taken as usize - at;
                    let part = &part[..part.len().min(room)];
                    memory.put(at, part);
                    at += part.len();
                }
            }
            Body::Announced(id) => {
                self.say(label.peer, Record::Pull { id, octets: taken });
                if taken > 0 {
                    let pull = Pull {
                        label,
                        memory,
                        token,
                        received: 0,
                        wanted: taken,
                    };
                    self.peers[label.peer.0 as usize].pulls.insert(id, pull);
                    return;
                }
            }
        }
        self.received(token, memory, Ok(Placed { label, taken }));
    }

    fn received(&mut self, token: u64, memory: M, outcome: Result<Placed, LossReason>) {
        self.done.push_back(MeshCompletion::Received {
            token,
            memory,
            outcome,
        });
    }

    /// A message waits no more: its sender may send others.
    fn consume(&mut self, message: &Message) {
        let peer = message.label.peer;
        if peer == PeerNumber::OWN {
            return;
        }
        if self.peers[peer.0 as usize].consume(message.epoch, message.held()) {
            self.tell_credit(peer);
        }
    }

    fn tell_credit(&mut self, peer: PeerNumber) {
        if let Some((octets, messages)) = self.peers[peer.0 as usize].grant.due() {
            self.say(peer, Record::Credit { octets, messages });
        }
    }

    /// All that was said to a peer and by it is over. Its associations are let go of by the caller.
    fn lose(&mut self, peer: PeerNumber, reason: LossReason) {
        let own = self.session();
        let lost = &mut self.peers[peer.0 as usize];
        let retries: Vec<(Time, Lane)> = Lane::ALL
            .into_iter()
            .filter_map(|lane| lost.lane(lane).retry_at.map(|at| (at, lane)))
            .collect();
        let (tokens, unconfirmed) = lost.reset(own);
        let pulls = core::mem::take(&mut lost.pulls);
        for (at, lane) in retries {
            self.timers.remove(&(at, peer, lane));
        }
        for token in tokens {
            let outcome = Err(reason);
            self.done.push_back(MeshCompletion::Sent { token, outcome });
        }
        for pull in pulls.into_values() {
            self.received(pull.token, pull.memory, Err(reason));
        }
        while let Some(wanted) = self.receives.cancel_one_for(peer) {
            self.received(wanted.token, wanted.memory, Err(reason));
        }
        let gone = self.receives.forget_announced(peer);
        self.peers[peer.0 as usize].forget_left_over(gone);
        self.done.push_back(MeshCompletion::Lost {
            peer,
            unconfirmed,
            reason,
        });
    }
}
