//! Credit of both halves: what the reader grants, what the writer may use (§5.1).

use crate::fields::Fields;

/// Most octets a grant may reach beyond what was received: peers drop more as implausible (§1.5, §2.9).
const MAX_ROOM: u64 = 1 << 40;
/// End of what is posted where the peer reserves nothing.
const UNRESERVED: u64 = u64::MAX;

/// The reader's credit: how far the peer's writer may go.
#[derive(Clone, Debug)]
pub struct ReaderCredit {
    capacity: u64,
    advertised: u64,
    /// End of the buffers the user has posted (RES), absolute; or [`UNRESERVED`].
    posted: u64,
    /// What is granted at most while the memory of all is rationed; it is told anew before anything is granted.
    share: u64,
}

/// What an open DREQ makes the reader send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DreqReport {
    /// Everything it refers to was consumed: answer it.
    Answer,
    /// Half the capacity was consumed since it came: report the credit, unsolicited, and keep it open.
    Credit,
}

impl ReaderCredit {
    /// A reader of so many octets of capacity whose peer was granted everything below `granted_initial`
    /// (absolute) without a control packet (§2.4).
    pub fn new(capacity: u64, granted_initial: u64) -> Self {
        Self {
            capacity: capacity.clamp(1, MAX_ROOM),
            advertised: granted_initial,
            posted: UNRESERVED,
            share: u64::MAX,
        }
    }

    /// The reader buffers so many octets from now on, if that is more than before.
    pub fn grow(&mut self, capacity: u64) {
        self.capacity = self.capacity.max(capacity.min(MAX_ROOM));
    }

    /// Only posted buffers count from now on (RES, §5.1); the stream begins at `start`.
    pub fn reserve(&mut self, start: u64) {
        if !self.is_reserved() {
            self.posted = start;
        }
    }

    /// The user posted buffers for so many more octets. Without RES it changes nothing.
    pub fn post(&mut self, octets: u64) {
        if self.is_reserved() {
            self.posted = self.posted.saturating_add(octets).min(UNRESERVED - 1);
        }
    }

    fn is_reserved(&self) -> bool {
        self.posted != UNRESERVED
    }

    /// Every field (see [`Fields`]).
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            capacity,
            advertised,
            posted,
            share: _,
        } = self;
        fields.number(capacity);
        fields.number(advertised);
        let mut reserved = (*posted != UNRESERVED).then_some(*posted);
        fields.option(&mut reserved, Fields::number);
        *posted = reserved.unwrap_or(UNRESERVED);
    }

    /// The alloc a control packet would carry now. Never falls.
    pub fn alloc(&self, delivered: u64) -> u64 {
        let room = self.room(delivered, self.share);
        self.advertised.max(room.min(delivered.saturating_add(MAX_ROOM)))
    }

    /// How far the peer may go where so many octets are granted at most: what is posted is no reason to keep more than the memory of
    /// all has room for.
    fn room(&self, delivered: u64, share: u64) -> u64 {
        match self.is_reserved() {
            true => self.posted.min(delivered.saturating_add(share)),
            false => delivered.saturating_add(self.capacity.min(share)),
        }
    }

    /// The alloc of a control packet that leaves now.
    pub fn advertise(&mut self, delivered: u64) -> u64 {
        self.advertised = self.alloc(delivered);
        self.advertised
    }

    /// The last alloc the peer was told.
    #[cfg(test)]
    pub fn advertised(&self) -> u64 {
        self.advertised
    }

    /// Capacity in octets.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// So many octets are granted at most from now on; `u64::MAX`: as many as the capacity says.
    pub fn set_share(&mut self, share: u64) {
        self.share = share;
    }

    /// What it was told last.
    pub fn share(&self) -> u64 {
        self.share
    }

    /// The capacity as far as the memory of all allows it.
    pub fn granted_at_most(&self) -> u64 {
        self.capacity.min(self.share)
    }

    /// The peer has little left and would be granted more but for the share.
    pub fn is_short(&self, next: u64, delivered: u64, maxdata: u32) -> bool {
        let low = (2 * u64::from(maxdata)).min(self.capacity / 2).max(1);
        let wanted = self.room(delivered, u64::MAX);
        let left = self.advertised.saturating_sub(next);
        let gain = wanted.saturating_sub(self.advertised);
        self.room(delivered, self.share) < wanted
            && left < low
            && (gain >= low || self.is_reserved() && gain > 0 && left == 0)
            && !self.needs_update(next, delivered, maxdata)
    }

    /// Whether an unsolicited window update is worth a packet (§5.1). `next` = rcv_nxt.
    pub fn needs_update(&self, next: u64, delivered: u64, maxdata: u32) -> bool {
        let capacity = self.granted_at_most();
        let low = (2 * u64::from(maxdata)).min(capacity / 2).max(1);
        let left = self.advertised.saturating_sub(next);
        let gain = self.alloc(delivered) - self.advertised;
        if left >= low {
            return false;
        }
        if self.is_reserved() {
            // The user posts buffers of any size; a writer without any credit may be waiting for a small one.
            return gain >= low || (gain > 0 && left == 0);
        }
        gain >= low.max(capacity / 4)
    }

    /// What an open DREQ up to `end` that came when `delivered_then` octets were consumed is due now (§3.2).
    pub fn dreq_report(&self, end: u64, delivered_then: u64, delivered: u64) -> Option<DreqReport> {
        if delivered >= end {
            return Some(DreqReport::Answer);
        }
        let half = (self.granted_at_most() / 2).max(1);
        let freed = delivered.saturating_sub(delivered_then) >= half;
        (freed && self.alloc(delivered) > self.advertised).then_some(DreqReport::Credit)
    }
}

/// The writer's credit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WriterCredit {
    /// Octets below this position may be sent.
    pub alloc: u64,
    /// Largest credit seen, octets; by half less with each word that the reader's whole window is smaller.
    pub max_seen: u64,
}

/// Verdict of [`WriterCredit::allows`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// So many octets may be sent (at least one).
    Full(u64),
    /// There is credit, but too little to be worth a packet (§5.1.1).
    Silly,
    /// There is no credit.
    None,
}

impl WriterCredit {
    /// A writer at `start` that may send everything below `alloc` (§2.4).
    pub fn new(start: u64, alloc: u64) -> Self {
        Self {
            alloc,
            max_seen: alloc.saturating_sub(start),
        }
    }

    /// Every field (see [`Fields`]).
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self { alloc, max_seen } = self;
        fields.number(alloc);
        fields.number(max_seen);
    }

    /// The peer's reader said `alloc` while it had received everything below `rseq`. Whether that is news.
    pub fn raise(&mut self, alloc: u64, rseq: u64) -> bool {
        if alloc <= self.alloc {
            return false;
        }
        self.alloc = alloc;
        self.max_seen = self.max_seen.max(alloc.saturating_sub(rseq));
        true
    }

    /// Everything below `next` left, and the reader's user has consumed it: what is granted beyond is all that the reader grants at present. A
    /// reader that is short of memory for a moment grants more soon, so one word halves what was known at most.
    pub fn is_all(&mut self, next: u64) {
        self.max_seen = self.alloc.saturating_sub(next).max(self.max_seen / 2);
    }

    /// How much of a segment of `want` octets at `next` may leave. `ends`: these octets end a message or empty
    /// the queue, which excuses a small packet.
    pub fn allows(&self, next: u64, want: u64, maxdata: u32, ends: bool) -> Allowed {
        let credit = self.alloc.saturating_sub(next);
        let octets = want.min(credit);
        if octets == 0 {
            return Allowed::None;
        }
        let excused = ends && octets == want;
        if credit < u64::from(maxdata).min(self.max_seen / 2) && !excused {
            return Allowed::Silly;
        }
        Allowed::Full(octets)
    }

    /// How many segments of `size` octets, which is the largest size, may leave from `next` on.
    pub fn whole_segments(&self, next: u64, size: u64) -> u64 {
        self.alloc.saturating_sub(next) / size.max(1)
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
