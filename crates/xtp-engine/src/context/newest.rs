//! The newest packet of the peer, by its sync: what this end echoes, and the level of EDGE it was left at (§1.5, §3.2).

use xtp_core::fields::Fields;
use xtp_core::time::Time;
use xtp_wire::serial_gt;

/// The newest packet accepted, and the newest that said something of EDGE.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewestPacket {
    /// `None` before the first packet.
    sync: Option<u32>,
    /// When it came.
    at: Time,
    /// The packet taken last has the sync after that of the newest before it: nothing its sender said before it is missing.
    follows: bool,
    edge: bool,
    edge_sync: u32,
}

impl NewestPacket {
    /// Nothing came before `now`.
    pub(super) fn none(now: Time) -> Self {
        Self {
            sync: None,
            at: now,
            follows: false,
            edge: false,
            edge_sync: 0,
        }
    }

    /// Takes note of a packet; true if it is the newest so far. EDGE of all but the first one is judged apart ([`Self::flips`]).
    #[inline]
    pub(super) fn note(&mut self, sync: u32, edge: bool, now: Time) -> bool {
        self.follows = self.sync.is_none_or(|newest| sync == newest.wrapping_add(1));
        match self.sync {
            None => {
                (self.sync, self.at) = (Some(sync), now);
                (self.edge, self.edge_sync) = (edge, sync);
                true
            }
            Some(newest) if serial_gt(sync, newest) => {
                (self.sync, self.at) = (Some(sync), now);
                true
            }
            Some(_) => false,
        }
    }

    /// The same of a run of packets that leave EDGE as it is, by the last of them.
    pub(super) fn note_run(&mut self, sync: u32, now: Time) {
        self.note(sync, self.edge, now);
        self.edge_sync = sync;
    }

    /// A packet that says something of EDGE: whether it is another level than that of the newest before.
    pub(super) fn flips(&mut self, sync: u32, edge: bool) -> bool {
        if !serial_gt(sync, self.edge_sync) {
            return false;
        }
        let flips = edge != self.edge;
        (self.edge, self.edge_sync) = (edge, sync);
        flips
    }

    /// The sync of the newest packet, if one came.
    #[inline]
    pub(super) fn sync(&self) -> Option<u32> {
        self.sync
    }

    /// What a packet that leaves now echoes.
    #[inline]
    pub(super) fn echo(&self) -> u32 {
        self.sync.unwrap_or(0)
    }

    /// When the newest packet came.
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// Something came, and a packet with this sync left after all of it.
    #[inline]
    pub(super) fn is_before(&self, sync: u32) -> bool {
        self.sync.is_some_and(|newest| serial_gt(sync, newest))
    }

    /// Nothing that was said before the packet taken last is missing.
    pub(super) fn is_gapless(&self) -> bool {
        self.follows
    }

    /// The level of EDGE.
    #[inline]
    pub(super) fn edge(&self) -> bool {
        self.edge
    }

    /// What came was of an association that begins again.
    pub(super) fn forget(&mut self) {
        self.sync = None;
    }

    /// As part of the walk over a context at rest; whether a packet follows is said by each anew.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        fields.option(&mut self.sync, Fields::small);
        fields.time(&mut self.at);
        fields.flag(&mut self.edge);
        fields.small(&mut self.edge_sync);
    }
}

#[cfg(test)]
#[path = "newest_tests.rs"]
mod tests;
