//! Memory for contexts, before one begins in it.

use super::marks::Marks;
use super::modes::Pattern;
use super::path::PathQueue;
use super::peer::Peer;
use super::reader::{NakRecord, Owed, PeerModes, Reader, ReaderState, Refusal};
use super::renew::NOTHING;
use super::timers::Timers;
use super::writer::{Requests, Writer, WriterState};
use super::{Context, Doubt, Renegotiation, Role, State};
use crate::congestion::Control;
use crate::ecn::{EcnCounter, EcnSender};
use crate::event::ContextId;
use crate::flow::{ReaderCredit, WriterCredit};
use crate::growth::Growth;
use crate::mtu::MtuSearch;
use crate::options::{Confirm, CongestionKind, ErrorControl, Rate, Tuning};
use crate::pacer::Pacer;
use crate::rate::TokenBucket;
use crate::recv::Reassembly;
use crate::rtt::Rtt;
use crate::send::{Inflight, SendQueue, SentRing};
use crate::stats::ContextStats;
use crate::time::Time;
use core::net::SocketAddr;
use xtp_wire::Caps;

impl Context {
    /// Memory for contexts. Nothing in it means anything before it was renewed: what is added here is added there.
    pub(crate) fn memory() -> Box<Self> {
        let tuning = Tuning::default();
        let nowhere = SocketAddr::from(([0; 4], 0));
        let mtu = MtuSearch::new(0, 0, 0, true, false, Time::ZERO);
        Box::new(Self {
            id: ContextId(0),
            role: Role::Initiator,
            state: State::Gone,
            key: 0,
            peer_key: None,
            peer_has_key: false,
            listener: None,
            place: None,
            pattern: Pattern::new(NOTHING),
            confirm: Confirm::Received,
            peer: Peer::new(nowhere, None, mtu, 0),
            offered: Caps::empty(),
            in_force: Caps::empty(),
            opening: None,
            writer: writer(),
            reader: reader(),
            rtt: Rtt::new(None),
            timers: Timers::new(Time::ZERO),
            marks: Marks::default(),
            stats: ContextStats::default(),
            closed: None,
            released: false,
            cached: None,
            end_received: false,
            dirty: false,
            half_open: false,
            extended_first: false,
            retired: false,
            serial: None,
            renegotiation: Renegotiation::default(),
            path_queue: PathQueue::default(),
            probe_nonce: None,
            source_token: None,
            learned_token: None,
            learned_refusal: None,
            doubt: Doubt::No,
            unreachable_since: None,
            abort_pending: false,
            restart: None,
            moved: None,
            initial: 0,
            touched: Time::ZERO,
            regular: false,
            answerable: 0,
            expected_answer: 0,
            tuning,
        })
    }
}

fn writer() -> Writer {
    Writer {
        queue: SendQueue::new(0),
        inflight: Inflight::new(),
        ring: SentRing::new(),
        una: 0,
        nxt: 0,
        credit: WriterCredit::new(0, 0),
        final_seq: None,
        state: WriterState::Open,
        wclose_sent: false,
        refused: false,
        not_taken: 0,
        sync_out: 0,
        first_sync: 0,
        echo_max: 0,
        requests: Requests::default(),
        gap: super::writer::ReplyGap::default(),
        blocked: None,
        blocked_alloc: None,
        peer_bucket: TokenBucket::new(Rate::default(), Time::ZERO),
        own_bucket: TokenBucket::new(Rate::default(), Time::ZERO),
        control: Control::new(CongestionKind::Fixed, 0),
        pacer: Pacer::new(),
        wanted: super::writer::Wanted::default(),
        delivered: 0,
        unmapped_packets: 0,
        handshake: None,
        forced_judgement: false,
        evidence: None,
        reordering: None,
        max_data: u32::MAX,
        wants_room: false,
        is_answered: false,
        ecn: EcnSender::new(false),
        handshakes_alone: 0,
        oldest_lost: (0, 0),
    }
}

fn reader() -> Reader {
    Reader {
        store: Reassembly::new(0),
        assembly: None,
        held: None,
        credit: ReaderCredit::new(0, 0),
        growth: Growth::new(0, Time::ZERO),
        window: None,
        alloc: 0,
        widest: 0,
        start: 0,
        stopped_at: u64::MAX,
        final_seq: None,
        state: ReaderState::Open,
        refusal: Refusal::No,
        sync_in: None,
        sync_in_at: Time::ZERO,
        follows: false,
        edge_last: false,
        edge_sync: 0,
        dreq: None,
        owed: Owed::Nothing,
        told: super::reader::UNTOLD,
        update_due: false,
        asks_round_trip: false,
        modes: PeerModes::default(),
        error_control: ErrorControl::Selective,
        wanted_error_control: ErrorControl::Selective,
        nak: NakRecord::default(),
        hole_is_new: false,
        ecn: EcnCounter::default(),
        announced: false,
        end_pending: false,
        max_spans: 0,
        newest_next: false,
        refusal_told: false,
    }
}
