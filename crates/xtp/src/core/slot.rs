//! What is kept for each association and each listener beside the engine's own state.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::task::Waker;

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;
use xtp_engine::{CloseReason, ContextId, MarkId};

/// Who looks after an association.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A handle of the user.
    User,
    /// Nobody: it ends by itself once everything written is confirmed.
    Orphan(Option<MarkId>),
    /// The built-in echo service.
    Echo,
}

/// One association as its user sees it.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) peer: SocketAddr,
    pub(crate) used_by: Use,
    /// The peer was heard.
    pub(crate) heard: bool,
    /// Something was queued here, so packets may exist.
    pub(crate) started: bool,
    /// The writer was closed by its user.
    pub(crate) writer_closed: bool,
    /// No route leads to the peer.
    pub(crate) unroutable: Option<io::ErrorKind>,
    /// How it ended.
    pub(crate) closed: Option<CloseReason>,
    /// Octets accepted by the engine, which is the offset of the next one.
    pub(crate) written: u64,
    /// Pieces of a message whose end has not come.
    pub(crate) partial: SmallVec<[Bytes; 2]>,
    pub(crate) partial_octets: usize,
    /// A gap lies in the message being read: what is left of it is passed over.
    pub(crate) mutilated: bool,
    /// On the list of what the echo service has to look at.
    pub(crate) echo_due: bool,
    /// `io::Write` collects until its buffer is full.
    pub(crate) corked: bool,
    /// Memory of `io::Write`; what is in it has not been handed on.
    pub(crate) buffer: BytesMut,
    /// Octets taken over that found no room yet, and whether they end a message.
    pub(crate) held: Option<(Bytes, bool)>,
    /// Marks and whether they were reached.
    pub(crate) marks: SmallVec<[(MarkId, bool); 2]>,
    /// Tasks to wake when anything happens here.
    pub(crate) wakers: SmallVec<[Waker; 2]>,
}

impl Slot {
    pub(crate) fn new(peer: SocketAddr) -> Self {
        Self {
            peer,
            used_by: Use::User,
            heard: false,
            started: false,
            writer_closed: false,
            unroutable: None,
            closed: None,
            written: 0,
            partial: SmallVec::new(),
            partial_octets: 0,
            mutilated: false,
            echo_due: false,
            corked: false,
            buffer: BytesMut::new(),
            held: None,
            marks: SmallVec::new(),
            wakers: SmallVec::new(),
        }
    }

    /// Wakes every task that waits for this association.
    pub(crate) fn wake(&mut self) {
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }

    /// Remembers a task; one task is remembered once.
    #[cfg(feature = "tokio")]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        remember(&mut self.wakers, waker);
    }

    /// Joins the pieces of the message collected so far and forgets them. One piece costs no copy.
    pub(crate) fn take_message(&mut self) -> Bytes {
        self.partial_octets = 0;
        if self.partial.len() <= 1 {
            return self.partial.pop().unwrap_or_default();
        }
        let octets = self.partial.iter().map(Bytes::len).sum();
        let mut whole = BytesMut::with_capacity(octets);
        for piece in self.partial.drain(..) {
            whole.extend_from_slice(&piece);
        }
        whole.freeze()
    }
}

/// An association a listener took, not yet handed to the user.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) id: ContextId,
    pub(crate) peer: SocketAddr,
    pub(crate) service: u8,
    pub(crate) port: u16,
}

/// Associations waiting at one listener.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) waiting: VecDeque<Accepted>,
    pub(crate) wakers: SmallVec<[Waker; 2]>,
}

impl Queue {
    pub(crate) fn wake(&mut self) {
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn remember(&mut self, waker: &Waker) {
        remember(&mut self.wakers, waker);
    }
}

#[cfg(feature = "tokio")]
fn remember(wakers: &mut SmallVec<[Waker; 2]>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

#[cfg(test)]
#[path = "slot_tests.rs"]
mod tests;
