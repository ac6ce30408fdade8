//! How a context becomes another one in the same memory: contexts are large, and short associations many.

use super::marks::Marks;
use super::modes::{Beginning, Pattern};
use super::path::PathQueue;
use super::peer::Peer;
use super::reader::{NakRecord, Owed, PeerModes, Reader, ReaderState, Refusal};
use super::setup::{DEFAULT_SPANS, Identity, Parts};
use super::timers::Timers;
use super::writer::{Writer, WriterState};
use super::{Context, Doubt, Renegotiation, Role, State};
use crate::congestion::Control;
use crate::ecn::{EcnCounter, EcnSender};
use crate::event::ContextId;
use crate::flow::{ReaderCredit, WriterCredit};
use crate::growth::Growth;
use crate::mtu::MtuSearch;
use crate::options::{Confirm, CongestionKind, Rate, Tuning};
use crate::pacer::Pacer;
use crate::rate::TokenBucket;
use crate::rtt::Rtt;
use crate::stats::ContextStats;
use crate::time::Time;
use core::net::SocketAddr;
use xtp_wire::{Caps, size};

impl Context {
    /// A context in which nothing is known yet, for a parked one to be unpacked into.
    pub(super) fn renew_blank(&mut self, tuning: Tuning) {
        let parts = Parts {
            identity: nobody(),
            role: Role::Initiator,
            addr: SocketAddr::from(([0; 4], 0)),
            local: None,
            pattern: Pattern::new(NOTHING),
            tuning,
            offered: Caps::empty(),
            reader_start: 0,
        };
        let mtu = MtuSearch::new(0, 0, 0, true, false, Time::ZERO);
        self.renew(parts, mtu, 0, CongestionKind::Fixed, Time::ZERO);
    }

    /// Lets go of everything but the memory of short queues.
    pub(crate) fn strip(&mut self) {
        self.writer.queue.renew(0);
        self.writer.inflight.renew();
        self.writer.ring.renew();
        self.writer.control = Control::new(CongestionKind::Fixed, 0);
        self.reader.store.renew(0);
        self.reader.assembly = None;
        self.reader.window = None;
        self.marks = Marks::default();
        self.closed = None;
        self.cached = None;
        (self.listener, self.place) = (None, None);
    }

    /// A context in which nothing has happened yet. It must have been stripped.
    pub(super) fn renew(
        &mut self,
        parts: Parts,
        mtu: MtuSearch,
        largest_datagram: usize,
        kind: CongestionKind,
        now: Time,
    ) {
        let identity = &parts.identity;
        let segment = size::payload(mtu.current()) as u32;
        let most = match identity.is_local {
            true => parts.tuning.recv_capacity,
            false => parts.tuning.recv_limit(),
        };
        self.id = identity.id;
        self.state = match parts.role {
            Role::Initiator => State::Quiescent,
            Role::Responder => State::Listening,
        };
        (self.role, self.key) = (parts.role, identity.key);
        self.peer = Peer::new(parts.addr, parts.local, mtu, largest_datagram);
        let (tuning, pattern) = (&parts.tuning, &parts.pattern);
        renew_writer(&mut self.writer, identity, tuning, pattern, kind, segment, now);
        renew_reader(&mut self.reader, tuning, most, parts.reader_start, now);
        self.rtt = Rtt::new(identity.initial_rtt);
        (self.pattern, self.tuning, self.offered) = (parts.pattern, parts.tuning, parts.offered);
        (self.timers, self.touched) = (Timers::new(now), now);
        self.forget_all();
    }

    /// What the context before had of events and of its peer.
    ///
    /// There is no `..` here: whoever adds a field decides what becomes of it.
    fn forget_all(&mut self) {
        let Self {
            id: _,
            role: _,
            state: _,
            key: _,
            pattern: _,
            tuning: _,
            peer: _,
            writer: _,
            reader: _,
            rtt: _,
            timers: _,
            offered: _,
            touched: _,
            marks: _,
            peer_key,
            peer_has_key,
            listener,
            place,
            confirm,
            in_force,
            opening,
            stats,
            closed,
            released,
            cached,
            end_received,
            dirty,
            half_open,
            extended_first,
            retired,
            serial,
            renegotiation,
            path_queue,
            probe_nonce,
            source_token,
            learned_token,
            learned_refusal,
            doubt,
            unreachable_since,
            abort_pending,
            restart,
            moved,
            initial,
            regular,
            answerable,
            expected_answer,
        } = self;
        (*peer_key, *peer_has_key, *in_force) = (None, false, Caps::empty());
        (*listener, *place, *confirm, *opening) = (None, None, Confirm::Received, None);
        (*closed, *cached, *serial) = (None, None, None);
        (*expected_answer, *initial, *regular) = (0, 0, false);
        *answerable = 0;
        (*released, *end_received, *dirty) = (false, false, false);
        (*half_open, *extended_first) = (false, false);
        (*retired, *abort_pending) = (false, false);
        *stats = ContextStats::default();
        (*renegotiation, *path_queue) = (Renegotiation::default(), PathQueue::default());
        (*probe_nonce, *source_token) = (None, None);
        (*learned_token, *learned_refusal) = (None, None);
        (*doubt, *unreachable_since) = (Doubt::No, None);
        (*restart, *moved) = (None, None);
    }
}

pub(super) const NOTHING: Beginning = Beginning {
    service: 0,
    initiator: true,
    no_error: false,
    no_flow: false,
    return_refused: false,
    whole: false,
    one_way: false,
};

fn nobody() -> Identity {
    Identity {
        id: ContextId(0),
        key: 0,
        sync: 0,
        is_local: true,
        initial_rtt: None,
    }
}

/// Writers without feedback have no window: one initial window in 100 ms where nothing is stated (§5.2.1).
fn own_rate(tuning: &Tuning, pattern: &Pattern, is_fixed: bool, segment: u32) -> Rate {
    if tuning.out_rate.octets_per_second == 0 && pattern.no_feedback && !is_fixed {
        let window = 10 * size::packet(segment as usize) as u32;
        return Rate {
            octets_per_second: u64::from(window) * 10,
            burst: window,
        };
    }
    tuning.out_rate
}

fn renew_writer(
    writer: &mut Writer,
    identity: &Identity,
    tuning: &Tuning,
    pattern: &Pattern,
    kind: CongestionKind,
    segment: u32,
    now: Time,
) {
    let is_fixed = kind == CongestionKind::Fixed;
    let Writer {
        queue: _,
        inflight: _,
        ring: _,
        una,
        nxt,
        credit,
        final_seq,
        state,
        wclose_sent,
        refused,
        not_taken,
        sync_out,
        first_sync,
        echo_max,
        requests,
        gap,
        blocked,
        blocked_alloc,
        peer_bucket,
        own_bucket,
        control,
        pacer,
        wanted,
        delivered,
        unmapped_packets,
        handshake,
        forced_judgement,
        evidence,
        reordering,
        max_data,
        wants_room,
        is_answered,
        ecn,
        handshakes_alone,
        oldest_lost,
    } = writer;
    requests.renew();
    (*una, *nxt, *delivered) = (0, 0, 0);
    *credit = WriterCredit::new(0, 0);
    (*final_seq, *state, *wclose_sent) = (None, WriterState::Open, false);
    (*refused, *not_taken, *wants_room) = (false, 0, false);
    *is_answered = false;
    *sync_out = identity.sync;
    *first_sync = identity.sync.wrapping_add(1);
    *echo_max = identity.sync;
    *gap = super::writer::ReplyGap::default();
    (*blocked, *blocked_alloc) = (None, None);
    *peer_bucket = TokenBucket::new(Rate::default(), now);
    *own_bucket = TokenBucket::new(own_rate(tuning, pattern, is_fixed, segment), now);
    *control = Control::new(kind, segment);
    *pacer = Pacer::new();
    *wanted = super::writer::Wanted::default();
    *unmapped_packets = 0;
    (*handshake, *forced_judgement) = (None, false);
    (*evidence, *reordering) = (None, None);
    *max_data = u32::MAX;
    *ecn = EcnSender::new(tuning.ecn);
    *handshakes_alone = 0;
    *oldest_lost = (0, 0);
}

/// Pieces that may wait behind holes at a reader of so many octets.
pub(super) fn piece_limit(most: u64) -> usize {
    (most / 256) as usize + 1_024
}

fn renew_reader(reader: &mut Reader, tuning: &Tuning, most: u64, first: u64, now: Time) {
    reader.store.restart(first, piece_limit(most));
    let Reader {
        store: _,
        assembly: _,
        held,
        credit,
        growth,
        window: _,
        alloc,
        widest,
        start,
        stopped_at,
        final_seq,
        state,
        refusal,
        sync_in,
        sync_in_at,
        follows,
        edge_last,
        edge_sync,
        dreq,
        owed,
        told,
        update_due,
        modes,
        error_control,
        wanted_error_control,
        nak,
        hole_is_new,
        ecn,
        announced,
        end_pending,
        max_spans,
        newest_next,
        asks_round_trip,
        refusal_told,
    } = reader;
    *credit = ReaderCredit::new(tuning.recv_capacity, first);
    *growth = Growth::new(most, now);
    *alloc = first;
    *widest = 0;
    *start = first;
    *stopped_at = u64::MAX;
    (*final_seq, *state, *refusal) = (None, ReaderState::Open, Refusal::No);
    (*sync_in, *sync_in_at, *follows) = (None, now, false);
    (*edge_last, *edge_sync) = (false, 0);
    (*dreq, *owed, *told, *update_due) = (None, Owed::Nothing, super::reader::UNTOLD, false);
    *modes = PeerModes::default();
    *error_control = tuning.error_control;
    *wanted_error_control = tuning.error_control;
    *nak = NakRecord::default();
    *hole_is_new = false;
    *ecn = EcnCounter::default();
    *held = None;
    // Whose messages are matched is told of them otherwise.
    *announced = tuning.matched;
    *end_pending = false;
    *max_spans = DEFAULT_SPANS;
    *newest_next = false;
    *asks_round_trip = false;
    *refusal_told = false;
}
