//! Memory with room for headers while an association sends it.
//!
//! Where trains are long, the system is not given copies but goes on referring to the memory ("lent"): until the peer has
//! acknowledged it, the room of these frames is not written again. Three things keep that safe.
//!
//! * What is sent more than once is lent for ever, for a late copy of it may be anywhere: once acknowledged, the frames go
//!   on in other pages. What an association left unacknowledged stays lent, and whoever reclaims it gets other pages.
//! * A peer that acknowledges what it did not read sees what is written there afterwards. Memory that was lent is therefore
//!   lent to no other association, and its headers are written for no other.
//! * The pages belong to no allocator: given back, they go to nobody else as long as the system refers to them.

use std::any::Any;
use std::fmt;
use std::sync::{PoisonError, Weak};

use xtp_engine::{ContextId, Frames};
use xtp_io::FrameMemory;

use crate::sync::{Arc, AtomicBool, AtomicUsize, Mutex, OnceLock, Ordering};

/// An association, by its endpoint, whatever that is here, and its name there. As long as it is named, its endpoint's
/// place in memory is no other's.
#[derive(Clone)]
pub(crate) struct Owner {
    endpoint: Weak<dyn Any + Send + Sync>,
    id: ContextId,
}

impl Owner {
    pub(crate) fn new(endpoint: &std::sync::Arc<impl Any + Send + Sync>, id: ContextId) -> Self {
        let endpoint = std::sync::Arc::downgrade(endpoint);
        Self { endpoint, id }
    }
}

impl Owner {
    /// Of memory that never leaves its endpoint.
    pub(crate) fn within(id: ContextId) -> Self {
        Self {
            endpoint: Weak::<()>::new(),
            id,
        }
    }
}

impl PartialEq for Owner {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.endpoint.ptr_eq(&other.endpoint)
    }
}

/// The socket layer's memory, and to whom it was lent first.
pub(crate) struct SharedFrames {
    pub(crate) memory: FrameMemory,
    pub(crate) owner: OnceLock<Owner>,
}

impl SharedFrames {
    pub(super) fn new(memory: FrameMemory) -> Self {
        Self {
            memory,
            owner: OnceLock::new(),
        }
    }
}

impl fmt::Debug for SharedFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.memory.fmt(f)
    }
}

/// Frames as the engine sees them, sent once.
#[derive(Debug)]
pub(super) struct Sending {
    memory: Arc<SharedFrames>,
    owner: Owner,
    /// Octets not yet acknowledged.
    left: AtomicUsize,
    /// Something of it was sent once more.
    again: AtomicBool,
    /// What is lent: the first frame, and how many.
    loans: Mutex<Vec<(usize, usize)>>,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl Sending {
    /// The first `octets` octets of `memory`, sent by `owner`.
    pub(super) fn new(memory: Arc<SharedFrames>, owner: Owner, octets: usize) -> Self {
        Self {
            memory,
            owner,
            left: AtomicUsize::new(octets),
            again: AtomicBool::new(false),
            loans: Mutex::default(),
        }
    }

    fn memory(&self) -> &FrameMemory {
        &self.memory.memory
    }

    /// Whether nobody else has a claim to the memory.
    fn may_write(&self) -> bool {
        self.memory.owner.get().is_none_or(|owner| *owner == self.owner)
    }
}

impl Frames for Sending {
    fn octets(&self) -> usize {
        self.memory().octets()
    }

    fn payload(&self) -> usize {
        self.memory().payload()
    }

    fn room(&self) -> usize {
        self.memory().room()
    }

    fn frame(&self, index: usize) -> &[u8] {
        self.memory().frame(index)
    }

    fn together(&self, index: usize) -> usize {
        self.memory().together(index)
    }

    fn lends(&self) -> bool {
        self.memory().lends()
            && !self.again.load(Ordering::Relaxed)
            && *self.memory.owner.get_or_init(|| self.owner.clone()) == self.owner
    }

    fn with_heads(&self, first: usize, heads: &[u8], visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        // Asked while nobody else can be lent it: whoever was first meanwhile has a claim to it.
        let allowed = || self.may_write();
        self.memory().with_heads_if(allowed, first, heads, &mut |octets| {
            let kept = visit(octets);
            if kept {
                let count = heads.len() / self.room();
                let mut loans = self.loans.lock().unwrap_or_else(PoisonError::into_inner);
                loans.push((first, count));
            }
            kept
        })
    }

    fn acknowledged(&self, octets: usize) {
        let left = self.left.fetch_sub(octets, Ordering::Relaxed);
        if left > octets {
            return;
        }
        let again = self.again.load(Ordering::Relaxed);
        let mut loans = self.loans.lock().unwrap_or_else(PoisonError::into_inner);
        for (first, count) in loans.drain(..) {
            match again {
                true => self.memory().abandon(first, count),
                false => self.memory().give_back(first, count),
            }
        }
    }

    fn sent_again(&self) {
        self.again.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, xtp_loom))]
#[path = "sending_model_tests.rs"]
mod model_tests;
#[cfg(test)]
#[path = "sending_testing.rs"]
pub(crate) mod testing;
#[cfg(test)]
#[path = "sending_tests.rs"]
mod tests;
