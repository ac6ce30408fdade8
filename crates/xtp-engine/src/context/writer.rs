//! The sender half: what was written, what was sent, what is known to have arrived, and what was asked.

use super::black_hole::StuckSegment;
use super::modes::mode_bits;
use super::rates::RateLimits;
use super::reply_gap::ReplyGap;
use super::requests::Requests;
use super::sender_state::SenderState;
use crate::options::{Confirm, Tuning};
use xtp_congestion::CongestionControl;
use xtp_core::control::flow::WriterCredit;
use xtp_core::control::pacer::Pacer;
use xtp_core::send::{Inflight, Reordering, SendQueue, SentRing};
use xtp_core::time::Time;
use xtp_wire::Options;

/// Why nothing more can be sent although there is something (§5.1.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blocked {
    /// No credit, or the silly-window rule.
    Credit,
    /// Burst 0.
    Stopped,
    /// The 3x budget of §7.3.
    Budget,
}

/// A block of the writer, and what was asked for it (§5.1.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriterBlock {
    pub(crate) why: Blocked,
    pub(crate) since: Time,
    /// Credit and position at which the request was made.
    pub(crate) alloc: u64,
    pub(crate) nxt: u64,
    /// No gate before it is closed. The window closes with every request, which covers what was forgotten, and opens with
    /// the answer: the block is the same one then, and is not asked for again.
    pub(crate) is_seen: bool,
}

/// Positions a status says something about: below are not its concern, nor what lies beyond (§1.5, §4.3).
#[derive(Copy, Clone, Debug)]
pub(crate) struct Within {
    pub(crate) above: u64,
    pub(crate) below: u64,
}

/// The sender half of a context.
pub(super) struct SenderHalf {
    pub(super) queue: SendQueue,
    pub(super) inflight: Inflight,
    pub(super) ring: SentRing,
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) credit: WriterCredit,
    pub(super) state: SenderState,
    pub(super) sync_out: u32,
    pub(super) first_sync: u32,
    pub(super) echo_max: u32,
    pub(super) requests: Requests,
    pub(super) gap: ReplyGap,
    /// The block of now, or the last one.
    pub(super) block: Option<WriterBlock>,
    pub(super) rates: RateLimits,
    pub(super) control: CongestionControl,
    pub(super) pacer: Pacer,
    /// What it may send of what all send to its peer's host, where some are more urgent than others.
    pub(super) share: Option<Box<super::share::Share>>,
    /// The user waits for everything below (§3.5(f)).
    pub(super) wanted: Wanted,
    /// Delivered to the peer's user, as far as we know.
    pub(super) delivered: u64,
    /// NOERR writers keep no map: packets and octets since the last request.
    pub(super) unmapped_packets: u32,
    /// Open synchronising handshake: its sync (`hs`).
    pub(super) handshake: Option<u32>,
    /// The next judgement has threshold 0 (a handshake was completed).
    pub(super) forced_judgement: bool,
    /// Evidence of the last judgement, for LTIMER: echo, whether a packet threshold was to be reached, limit.
    pub(super) evidence: Option<(u32, bool, Within)>,
    /// How far packets overtake each other, once something was lost or overtaken.
    pub(super) reordering: Option<Box<Reordering>>,
    /// Largest data segment the peer takes.
    pub(super) max_data: u32,
    /// `send` accepted less than offered.
    pub(super) wants_room: bool,
    /// An answer of the peer is as good as a report, by what was known when the last turn ended.
    pub(super) is_answered: bool,
    pub(super) ecn: xtp_core::control::ecn::EcnSender,
    /// Whether the oldest segment gets through (black hole, §5.5).
    pub(super) stuck: StuckSegment,
}

/// What the user waits for and was not asked for yet: everything below, received or delivered. One of each, because
/// a later wait for the one does not end an earlier wait for the other.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Wanted {
    received: Option<u64>,
    delivered: Option<u64>,
}

impl Wanted {
    pub(crate) fn add(&mut self, seq: u64, what: Confirm) {
        let slot = match what {
            Confirm::Received => &mut self.received,
            Confirm::Delivered => &mut self.delivered,
        };
        *slot = Some(slot.map_or(seq, |old| old.max(seq)));
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.received.is_none() && self.delivered.is_none()
    }

    /// SREQ and DREQ as far as everything waited for lies below `end`.
    fn due(&self, end: u64, una: u64, delivered: u64) -> Options {
        let within = |slot: Option<u64>, reached: u64| slot.is_some_and(|seq| seq <= end && reached < seq);
        let mut due = Options::empty();
        due.set(Options::SREQ, within(self.received, una.max(delivered)));
        due.set(Options::DREQ, within(self.delivered, delivered));
        due
    }

    /// A packet with these options left: SREQ asks for everything below `nxt`, DREQ only for what lies below the
    /// packet's own end.
    pub(crate) fn asked(&mut self, nxt: u64, end: u64, options: Options) {
        let open = |slot: Option<u64>, bit: Options, reach: u64| {
            slot.filter(|&seq| seq > reach || !options.contains(bit))
        };
        self.received = open(self.received, Options::SREQ, nxt);
        self.delivered = open(self.delivered, Options::DREQ, end);
    }
}

impl SenderHalf {
    /// What to ask for on a packet that ends at `end`, because the user waits (§3.5(f)).
    pub(crate) fn wanted_by(&self, end: u64) -> Options {
        self.wanted.due(end, self.una, self.delivered)
    }

    #[inline]
    pub(crate) fn bits(&self, tuning: &Tuning) -> Options {
        let mut bits = mode_bits(tuning);
        bits.set(Options::EDGE, self.requests.edge());
        if tuning.sort.is_some() {
            bits |= Options::SORT;
        }
        bits
    }

    /// Up to where everything written is confirmed in this sense.
    pub(crate) fn confirmed(&self, what: Confirm) -> u64 {
        match what {
            Confirm::Received => self.una.max(self.delivered),
            Confirm::Delivered => self.delivered,
        }
    }

    /// The block of now.
    #[inline]
    pub(super) fn blocked(&self) -> Option<WriterBlock> {
        self.block.filter(|block| block.is_seen)
    }

    /// The block of now, or the one that `why` would go on with: neither data has left since nor credit come.
    pub(super) fn block_for(&self, why: Blocked) -> Option<WriterBlock> {
        let same = |block: &WriterBlock| {
            block.is_seen || (block.why, block.alloc, block.nxt) == (why, self.credit.alloc, self.nxt)
        };
        self.block.filter(same)
    }

    /// Everything written was sent at least once.
    #[inline]
    pub(crate) fn all_sent(&self) -> bool {
        self.nxt >= self.queue.end()
    }

    /// Nothing of the stream can be asked for again.
    pub(crate) fn drop_all(&mut self) {
        self.inflight.clear();
        self.queue.truncate(self.nxt);
        self.queue.abandon();
        self.queue.release(self.nxt);
        self.handshake = None;
        self.requests.forget();
        self.evidence = None;
        self.block = None;
        self.wanted = Wanted::default();
    }
}
