//! A context in which nothing has happened yet. Its queues are those of another, emptied: contexts are large, and short associations
//! many.

use super::black_hole::StuckSegment;
use super::doubt::Doubt;
use super::error_control::ReaderErrorControl;
use super::fast_nak::FastNak;
use super::marks::Marks;
use super::modes::{Beginning, Pattern};
use super::newest::NewestPacket;
use super::path::PathQueue;
use super::peer::Peer;
use super::permit::Permit;
use super::rates::RateLimits;
use super::reader::{Owed, PeerModes, ReceiverHalf, UNTOLD};
use super::receiver_state::ReceiverState;
use super::renegotiation::Renegotiation;
use super::reply_gap::ReplyGap;
use super::requests::Requests;
use super::rest::Usage;
use super::sender_state::SenderState;
use super::setup::{DEFAULT_SPANS, Identity, Parts};
use super::timers::Timers;
use super::writer::{SenderHalf, Wanted};
use super::{Context, FirstFormat, Role, State};
use crate::event::ContextId;
use crate::options::{Confirm, Tuning};
use crate::stats::ContextStats;
use core::net::SocketAddr;
use xtp_congestion::CongestionControl;
use xtp_congestion::CongestionKind;
use xtp_core::Rate;
use xtp_core::control::ecn::{EcnCounter, EcnSender};
use xtp_core::control::flow::{ReaderCredit, WriterCredit};
use xtp_core::control::growth::Growth;
use xtp_core::control::pacer::Pacer;
use xtp_core::path::mtu::MtuSearch;
use xtp_core::path::rtt::Rtt;
use xtp_core::recv::Reassembly;
use xtp_core::send::{Inflight, SendQueue, SentRing};
use xtp_core::time::Time;
use xtp_wire::{Caps, size};

/// What of a context the next one in its memory goes on with: short queues, empty.
#[derive(Default)]
struct Queues {
    writer: WriterQueues,
    store: Reassembly,
}

#[derive(Default)]
struct WriterQueues {
    queue: SendQueue,
    inflight: Inflight,
    ring: SentRing,
    requests: Requests,
}

impl Context {
    /// Memory for contexts, in which one is yet to begin.
    pub(crate) fn memory() -> Box<Self> {
        Box::new(Self::blank(Tuning::default(), Queues::default()))
    }

    /// A context in which nothing is known yet, for a parked one to be unpacked into.
    pub(super) fn begin_blank(&mut self, tuning: Tuning) {
        let queues = self.take_queues();
        *self = Self::blank(tuning, queues);
    }

    /// Lets go of all that takes memory of its own, but short queues. The rest means nothing until another begins in it, or is unpacked.
    pub(crate) fn strip(&mut self) {
        self.renew_queues();
        let Self {
            writer,
            reader,
            opening,
            cached,
            learned_refusal,
            moved,
            ..
        } = self;
        writer.control = CongestionControl::new(CongestionKind::Fixed, 0);
        writer.reordering = None;
        (reader.assembly, reader.held, reader.window) = (None, None, None);
        (*opening, *cached, *learned_refusal, *moved) = (None, None, None, None);
    }

    /// A context in which nothing has happened yet, in the memory of another.
    pub(super) fn begin(&mut self, parts: Parts, path: (MtuSearch, usize), kind: CongestionKind, now: Time) {
        let queues = self.take_queues();
        *self = Self::new(parts, path, kind, now, queues);
    }

    fn renew_queues(&mut self) {
        let (writer, reader) = (&mut self.writer, &mut self.reader);
        writer.queue.renew(0);
        writer.inflight.renew();
        writer.ring.renew();
        writer.requests.renew();
        reader.store.renew(0);
    }

    /// Those of this context, which are empty.
    fn take_queues(&mut self) -> Queues {
        self.renew_queues();
        let (writer, reader) = (&mut self.writer, &mut self.reader);
        let writer = WriterQueues {
            queue: std::mem::take(&mut writer.queue),
            inflight: std::mem::take(&mut writer.inflight),
            ring: std::mem::take(&mut writer.ring),
            requests: std::mem::take(&mut writer.requests),
        };
        Queues {
            writer,
            store: std::mem::take(&mut reader.store),
        }
    }

    fn blank(tuning: Tuning, queues: Queues) -> Self {
        let identity = Identity {
            id: ContextId(0),
            key: 0,
            sync: 0,
            is_local: true,
            initial_rtt: None,
            path_limit: None,
        };
        let parts = Parts {
            identity,
            role: Role::Initiator,
            addr: SocketAddr::from(([0; 4], 0)),
            local: None,
            pattern: Pattern::new(NOTHING),
            tuning,
            offered: Caps::empty(),
            reader_start: 0,
        };
        let mtu = MtuSearch::new(0, 0, 0, true, false, Time::ZERO);
        Self::new(parts, (mtu, 0), CongestionKind::Fixed, Time::ZERO, queues)
    }

    fn new(
        parts: Parts,
        (mtu, largest_datagram): (MtuSearch, usize),
        kind: CongestionKind,
        now: Time,
        queues: Queues,
    ) -> Self {
        let identity = parts.identity;
        let segment = size::payload(mtu.current()) as u32;
        let state = match parts.role {
            Role::Initiator => State::Quiescent,
            Role::Responder => State::Listening,
        };
        let reader = reader(&parts, now, queues.store);
        let writer = writer(&parts, kind, segment, now, queues.writer);
        Self {
            id: identity.id,
            role: parts.role,
            state,
            key: identity.key,
            peer_key: None,
            peer_has_key: false,
            backlog: None,
            pattern: parts.pattern,
            confirm: Confirm::Received,
            peer: Peer::new(parts.addr, parts.local, mtu, largest_datagram),
            offered: parts.offered,
            in_force: Caps::empty(),
            opening: None,
            writer,
            reader,
            rtt: Rtt::new(identity.initial_rtt),
            timers: Timers::new(now),
            marks: Marks::default(),
            stats: ContextStats::default(),
            closed: None,
            released: false,
            cached: None,
            end_received: false,
            dirty: false,
            half_open: false,
            first: FirstFormat::Legacy,
            retired: false,
            serial: None,
            renegotiation: Renegotiation::default(),
            path_queue: PathQueue::default(),
            probe_nonce: None,
            source_token: None,
            learned_token: None,
            learned_refusal: None,
            doubt: Doubt::default(),
            abort_pending: false,
            restart: None,
            moved: None,
            initial: 0,
            touched: now,
            usage: Usage::default(),
            regular: false,
            permit: Permit::NONE,
            expected_answer: 0,
            tuning: parts.tuning,
        }
    }
}

const NOTHING: Beginning = Beginning {
    service: 0,
    initiator: true,
    no_error: false,
    no_flow: false,
    return_refused: false,
    whole: false,
    one_way: false,
};

/// Writers without feedback have no window: one initial window in 100 ms where nothing is stated (§5.2.1).
fn own_rate(parts: &Parts, kind: CongestionKind, segment: u32) -> Rate {
    let (tuning, pattern, is_fixed) = (&parts.tuning, &parts.pattern, kind == CongestionKind::Fixed);
    if tuning.out_rate.octets_per_second == 0 && pattern.no_feedback && !is_fixed {
        let window = 10 * size::packet(segment as usize) as u32;
        return Rate {
            octets_per_second: u64::from(window) * 10,
            burst: window,
        };
    }
    tuning.out_rate
}

#[inline]
fn writer(parts: &Parts, kind: CongestionKind, segment: u32, now: Time, queues: WriterQueues) -> SenderHalf {
    let identity = parts.identity;
    SenderHalf {
        queue: queues.queue,
        inflight: queues.inflight,
        ring: queues.ring,
        una: 0,
        nxt: 0,
        credit: WriterCredit::new(0, 0),
        state: SenderState::OPEN,
        sync_out: identity.sync,
        first_sync: identity.sync.wrapping_add(1),
        echo_max: identity.sync,
        requests: queues.requests,
        gap: ReplyGap::default(),
        block: None,
        rates: RateLimits::new(own_rate(parts, kind, segment), now),
        control: CongestionControl::new(kind, segment),
        pacer: Pacer::default(),
        share: None,
        wanted: Wanted::default(),
        delivered: 0,
        unmapped_packets: 0,
        handshake: None,
        forced_judgement: false,
        evidence: None,
        reordering: None,
        max_data: u32::MAX,
        wants_room: false,
        is_answered: false,
        ecn: EcnSender::new(parts.tuning.overrides.ecn),
        stuck: StuckSegment::default(),
    }
}

/// Pieces that may wait behind holes at a reader of so many octets.
pub(super) fn piece_limit(most: u64) -> usize {
    (most / 256) as usize + 1_024
}

#[inline]
fn reader(parts: &Parts, now: Time, mut store: Reassembly) -> ReceiverHalf {
    let (tuning, first) = (&parts.tuning, parts.reader_start);
    let most = match parts.identity.is_local {
        true => tuning.recv_capacity,
        false => tuning.recv_limit(),
    };
    store.restart(first, piece_limit(most));
    ReceiverHalf {
        store,
        assembly: None,
        held: None,
        credit: ReaderCredit::new(tuning.recv_capacity, first),
        growth: Growth::new(most, now),
        window: None,
        alloc: first,
        widest: 0,
        start: first,
        state: ReceiverState::OPEN,
        newest: NewestPacket::none(now),
        dreq: None,
        owed: Owed::Nothing,
        told: UNTOLD,
        update_due: false,
        asks_round_trip: false,
        modes: PeerModes::default(),
        error_control: ReaderErrorControl::new(tuning.error_control),
        nak: FastNak::default(),
        ecn: EcnCounter::default(),
        // Whose messages are matched is told of them otherwise.
        announced: tuning.matched,
        max_spans: DEFAULT_SPANS,
        newest_next: false,
    }
}
