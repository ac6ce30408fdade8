//! Requests of the writer that are not answered yet: SREQ by sync, EDGE by level, DREQ by place (§3.2, §3.5).

use smallvec::SmallVec;
use xtp_core::fields::Fields;
use xtp_wire::serial_gt;

/// A DREQ of ours that was not answered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenDreq {
    pub(crate) sync: u32,
    /// Sync of the first packet that asked the same.
    pub(crate) since: u32,
    /// Everything below is to be consumed.
    pub(crate) seq: u64,
    /// The user waits for delivery; otherwise only credit is wanted.
    pub(crate) for_delivery: bool,
    /// No SREQ went with it and none was open: a plain CNTL that echoes it can answer nothing else (§3.2).
    pub(crate) alone: bool,
}

/// Requests sent and not answered.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// Syncs of unanswered requests, ascending. Bounded: only the oldest and the newest few matter.
    open: SmallVec<[u32; 8]>,
    /// Sync of the newest request ever sent (`req_sync`).
    newest: Option<u32>,
    edge: bool,
    /// Sync of the packet that flipped EDGE, until it is answered.
    edge_open: Option<u32>,
    dreq: Option<OpenDreq>,
}

/// More unanswered requests than this are not told apart.
const MAX_OPEN: usize = 64;

impl Requests {
    /// None was sent.
    pub(super) fn renew(&mut self) {
        let Self {
            open,
            newest,
            edge,
            edge_open,
            dreq,
        } = self;
        open.clear();
        (*newest, *edge, *edge_open, *dreq) = (None, false, None, None);
    }

    /// A request leaves with this sync.
    pub(super) fn sent(&mut self, sync: u32) {
        if self.open.len() >= MAX_OPEN {
            self.open.remove(MAX_OPEN / 2);
        }
        self.open.push(sync);
        self.newest = Some(sync);
    }

    /// Notes an echo; true if it answered the oldest open request.
    pub(super) fn answered(&mut self, echo: u32) -> bool {
        if self.edge_open.is_some_and(|sync| !serial_gt(sync, echo)) {
            self.edge_open = None;
        }
        let before = self.open.len();
        self.open.retain(|sync| serial_gt(*sync, echo));
        self.open.len() < before
    }

    /// No answer is awaited, but that to a DREQ.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }

    /// No SREQ or EDGE is unanswered, whichever packets they went with.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The sync of the newest that is unanswered.
    pub(super) fn newest_open(&self) -> Option<u32> {
        self.open.last().copied()
    }

    /// The sync of the newest ever sent.
    pub(super) fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// Whether the one with this sync is unanswered.
    pub(super) fn contains(&self, sync: u32) -> bool {
        self.open.contains(&sync)
    }

    /// Whether one is unanswered that left after the packet `sync`.
    pub(super) fn any_after(&self, sync: u32) -> bool {
        self.open.iter().any(|open| serial_gt(*open, sync))
    }

    /// Whether one is unanswered that left after the packet `old`, and is answered by `echo`.
    pub(super) fn any_within(&self, old: u32, echo: u32) -> bool {
        let within = |sync: &u32| serial_gt(*sync, old) && !serial_gt(*sync, echo);
        self.open.iter().any(within)
    }

    /// The level of EDGE.
    #[inline]
    pub(super) fn edge(&self) -> bool {
        self.edge
    }

    /// The next packet has the other level.
    #[inline]
    pub(super) fn flip_edge(&mut self) {
        self.edge = !self.edge;
    }

    /// The packet that has it leaves.
    pub(super) fn edge_left(&mut self, sync: u32) {
        self.edge_open = Some(sync);
    }

    /// A flip is unanswered.
    #[inline]
    pub(super) fn edge_is_open(&self) -> bool {
        self.edge_open.is_some()
    }

    /// The DREQ that is unanswered.
    #[inline]
    pub(super) fn dreq(&self) -> Option<OpenDreq> {
        self.dreq
    }

    /// The same, if its user waits for delivery.
    pub(super) fn dreq_for_delivery(&self) -> Option<OpenDreq> {
        self.dreq.filter(|dreq| dreq.for_delivery)
    }

    /// A DREQ leaves, in place of the one before.
    pub(super) fn dreq_left(&mut self, dreq: OpenDreq) {
        self.dreq = Some(dreq);
    }

    /// The DREQ is answered, or is never to be.
    pub(super) fn take_dreq(&mut self) -> Option<OpenDreq> {
        self.dreq.take()
    }

    /// As part of the walk over a context at rest, for which nothing is unanswered.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            open: _,
            newest,
            edge,
            edge_open,
            dreq: _,
        } = self;
        fields.flag(edge);
        fields.option(newest, Fields::small);
        fields.option(edge_open, Fields::small);
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
