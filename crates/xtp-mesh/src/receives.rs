//! Where a message meets its receive.

use crate::memory::Memory;
use crate::message::{ClaimId, From, Label, PeerNumber, ReceiveId};
use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use xtp_core::matching::{MessageOrigin, Posted, Tags, Turn, Waiting};

/// Octets as packets brought them.
pub(crate) type Parts = SmallVec<[Bytes; 1]>;

/// Memory that waits for a message, and its program's name for it.
#[derive(Debug)]
pub(crate) struct Wanted<M> {
    pub(crate) memory: M,
    pub(crate) token: u64,
}

/// A message, as far as it is here.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// All of it.
    Whole(Parts),
    /// Nothing: it can be pulled by this number.
    Announced(u64),
}

/// A message without a receive.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) label: Label,
    /// Which of the sessions with its peer it came in.
    pub(crate) epoch: u64,
    pub(crate) body: Body,
}

impl Message {
    /// Octets of it that are here.
    pub(crate) fn held(&self) -> u64 {
        match &self.body {
            Body::Whole(_) => self.label.length,
            Body::Announced(_) => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sender(PeerNumber);

impl MessageOrigin for Sender {
    type Source = From;

    fn sources(&self) -> impl Iterator<Item = From> {
        [From::Peer(self.0), From::Any].into_iter()
    }
}

/// Receives without a message, messages without a receive, and those that are claimed.
#[derive(Debug)]
pub(crate) struct Receives<M> {
    posted: Posted<From, ReceiveId, Wanted<M>>,
    waiting: Waiting<Sender, Message>,
    claimed: BTreeMap<ClaimId, Message>,
    /// Receives and claims so far.
    count: u64,
    /// Octets of messages that wait or are claimed.
    held: u64,
}

impl<M: Memory> Receives<M> {
    pub(crate) fn new() -> Self {
        Self {
            posted: Posted::default(),
            waiting: Waiting::default(),
            claimed: BTreeMap::new(),
            count: 0,
            held: 0,
        }
    }

    /// Receives without a message.
    pub(crate) fn posted(&self) -> usize {
        self.posted.len()
    }

    /// Messages without a receive.
    pub(crate) fn unexpected(&self) -> usize {
        self.waiting.len() + self.claimed.len()
    }

    /// Octets of these that are here.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Posts a receive: the message that came first of those for it, if there is one, or its name.
    pub(crate) fn post(
        &mut self,
        from: From,
        tags: Tags,
        wanted: Wanted<M>,
    ) -> Result<ReceiveId, (Message, Wanted<M>)> {
        match self.waiting.find(from, tags).and_then(|turn| self.take(turn)) {
            Some(message) => Err((message, wanted)),
            None => {
                self.count += 1;
                let id = ReceiveId(self.count);
                self.posted.insert(id, from, tags, wanted);
                Ok(id)
            }
        }
    }

    /// Takes a receive back.
    pub(crate) fn cancel(&mut self, id: ReceiveId) -> Option<Wanted<M>> {
        self.posted.remove(id)
    }

    /// A message came: the receive posted first of those for it takes it, or it waits.
    pub(crate) fn arrive(&mut self, message: Message) -> Option<(Message, Wanted<M>)> {
        let from = Sender(message.label.peer);
        if let Some((_, wanted)) = self.posted.take(&from, Some(message.label.tag)) {
            return Some((message, wanted));
        }
        self.held += message.held();
        self.waiting.push(from, Some(message.label.tag), message);
        None
    }

    /// The message that a receive would get now.
    pub(crate) fn peek(&self, from: From, tags: Tags) -> Option<Label> {
        let turn = self.waiting.find(from, tags)?;
        self.waiting.get(turn).map(|(_, _, message)| message.label)
    }

    /// Sets that message aside for its finder.
    pub(crate) fn claim(&mut self, from: From, tags: Tags) -> Option<(ClaimId, Label)> {
        let turn = self.waiting.find(from, tags)?;
        let (_, message) = self.waiting.take(turn)?;
        self.count += 1;
        let (id, label) = (ClaimId(self.count), message.label);
        self.claimed.insert(id, message);
        Some((id, label))
    }

    /// A claimed message is received, or discarded.
    pub(crate) fn redeem(&mut self, id: ClaimId) -> Option<Message> {
        let message = self.claimed.remove(&id)?;
        self.held -= message.held();
        Some(message)
    }

    /// A peer is lost: its announced messages cannot be had any more. How many there were.
    pub(crate) fn forget_announced(&mut self, peer: PeerNumber) -> u64 {
        self.forget(peer, |message| matches!(message.body, Body::Announced(_)))
    }

    /// Forgets all messages of a peer.
    pub(crate) fn forget_all(&mut self, peer: PeerNumber) {
        let _ = self.forget(peer, |_| true);
    }

    fn forget(&mut self, peer: PeerNumber, which: impl Fn(&Message) -> bool) -> u64 {
        let before = self.unexpected();
        let turns: Vec<Turn> = self
            .waiting
            .all(From::Peer(peer))
            .filter(|turn| {
                let found = self.waiting.get(*turn);
                found.is_some_and(|(_, _, message)| which(message))
            })
            .collect();
        for turn in turns {
            self.take(turn);
        }
        let held = &mut self.held;
        self.claimed.retain(|_, message| {
            let gone = message.label.peer == peer && which(message);
            *held -= if gone { message.held() } else { 0 };
            !gone
        });
        (before - self.unexpected()) as u64
    }

    /// The next receive that is for this peer and no other, taken back.
    pub(crate) fn cancel_one_for(&mut self, peer: PeerNumber) -> Option<Wanted<M>> {
        let id = self.posted.first_at(From::Peer(peer))?;
        self.posted.remove(id)
    }

    /// Whether a receive waits for this peer and no other.
    pub(crate) fn waits_for(&self, peer: PeerNumber) -> bool {
        self.posted.first_at(From::Peer(peer)).is_some()
    }

    fn take(&mut self, turn: Turn) -> Option<Message> {
        let (_, message) = self.waiting.take(turn)?;
        self.held -= message.held();
        Some(message)
    }
}

#[cfg(test)]
#[path = "receives_tests.rs"]
mod tests;
