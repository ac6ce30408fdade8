//! What is kept for each transmitter and receiver of a group beside the engine's own state.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Waker;

use smallvec::SmallVec;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId};

use super::partial::{Collects, PartialMessage};
use crate::carrier::{Fault, Membership};
use crate::history::Historian;

/// Events kept for a user who does not take them; beyond, the oldest are forgotten.
const MOST_EVENTS: usize = 1 << 16;

/// What has to be given back when a party of a group goes.
#[derive(Debug)]
pub(crate) enum Holds {
    /// A transmitter to a group: the socket's way of sending there.
    Sending,
    /// A receiver of a group: its socket.
    Membership(Membership),
    /// Who receives from a group and sends to it: both.
    Both(Membership),
    /// Neither: packets to and from single addresses.
    Nothing,
}

/// One transmitter or receiver of a group.
#[derive(Debug)]
pub(crate) struct GroupSlot {
    pub(super) holds: Holds,
    /// Data may leave: all who are expected are there.
    pub(super) started: bool,
    /// The transmitter, once it was heard.
    pub(super) found: Option<SocketAddr>,
    /// The stream is complete.
    pub(super) complete: bool,
    /// Who gives back what is no longer kept.
    pub(crate) history: Option<Historian>,
    pub(super) closed: Option<GroupClose>,
    /// Where all its packets go, if that is one address, and what keeps them here.
    pub(crate) target: Option<SocketAddr>,
    pub(super) fault: Option<Fault>,
    pub(super) events: VecDeque<GroupEvent>,
    /// Of a listener: the receivers that were not accepted yet.
    pub(super) arrived: VecDeque<GroupId>,
    partial: PartialMessage,
    pub(super) wakers: SmallVec<[Waker; 2]>,
}

impl GroupSlot {
    pub(crate) fn new(holds: Holds) -> Self {
        Self {
            holds,
            started: false,
            found: None,
            complete: false,
            history: None,
            closed: None,
            target: None,
            fault: None,
            events: VecDeque::new(),
            arrived: VecDeque::new(),
            partial: PartialMessage::default(),
            wakers: SmallVec::new(),
        }
    }

    /// The group's address, or that of the only receiver.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match &self.holds {
            Holds::Membership(membership) | Holds::Both(membership) => Some(membership.group),
            Holds::Sending | Holds::Nothing => self.target,
        }
    }

    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn is_over(&self) -> bool {
        self.closed.is_some()
    }

    /// An event of the engine.
    pub(super) fn heard(&mut self, event: GroupEvent) {
        match &event {
            GroupEvent::Started => self.started = true,
            GroupEvent::Found(transmitter) => self.found = Some(*transmitter),
            GroupEvent::Complete => self.complete = true,
            GroupEvent::Closed(reason) => self.closed = Some(reason.clone()),
            GroupEvent::Heard(receiver) => return self.arrived.push_back(*receiver),
            GroupEvent::Readable | GroupEvent::Writable => return,
            _ => {}
        }
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Remembers a task; one task is remembered once.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        super::slot::remember(&mut self.wakers, waker);
    }
}

impl Collects for GroupSlot {
    fn partial(&mut self) -> &mut PartialMessage {
        &mut self.partial
    }

    fn if_partial(&mut self) -> Option<&mut PartialMessage> {
        Some(&mut self.partial)
    }
}
