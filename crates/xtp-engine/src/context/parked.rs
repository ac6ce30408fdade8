//! A context at rest, packed into a few hundred octets, and back.
//!
//! Most associations of a busy host say nothing most of the time. While nothing is queued, in flight, unread or owed,
//! what a context is made of are numbers, nearly all of them small: [`Parked`] keeps those and drops the memory of
//! the empty queues. Parking must not be noticed: a context that was parked sends the same packets as one that was
//! not.

use super::backlog::Backlogged;
use super::modes::{AutoClose, Pattern};
use super::new::piece_limit;
use super::peer::{Peer, Proof};
use super::rates::RateLimits;
use super::reader::{PeerModes, ReceiverHalf, UNTOLD};
use super::rest::Usage;
use super::share::Share;
use super::writer::SenderHalf;
use super::{Context, FirstFormat, Opening, Role, State};
use crate::event::{ContextId, ListenerId};
use crate::options::{Confirm, Tuning};
use crate::stats::ContextStats;
use std::sync::Arc;
use xtp_congestion::{CongestionControl, Controller};
use xtp_core::control::pacer::Pacer;
use xtp_core::fields::{FieldReader, FieldWriter, Fields};
use xtp_core::path::migration::PathValidation;
use xtp_core::recv::ReceiverWindow;
use xtp_wire::{Caps, Token};

/// A context at rest.
#[derive(Clone)]
pub(crate) struct Parked {
    octets: Box<[u8]>,
    tuning: Arc<Tuning>,
    /// An initiator's, while it lives.
    opening: Option<Box<Opening>>,
    /// A window, and the pacer that goes with it; without one the controller has no state.
    pace: Option<Box<(CongestionControl, Pacer)>>,
    rare: Option<Box<Rare>>,
}

/// What few contexts have.
#[derive(Clone)]
struct Rare {
    rates: RateLimits,
    paths: PathValidation,
    window: Option<Box<ReceiverWindow>>,
    share: Option<Box<Share>>,
}

/// Equal tunings are kept once: programs use few.
#[derive(Default)]
pub(crate) struct Tunings(Vec<Arc<Tuning>>);

/// More different ones are kept by whoever has them.
const MAX_TUNINGS: usize = 8;

impl Tunings {
    fn intern(&mut self, tuning: &Tuning) -> Arc<Tuning> {
        if let Some(known) = self.0.iter().find(|known| ***known == *tuning) {
            return Arc::clone(known);
        }
        let fresh = Arc::new(tuning.clone());
        if self.0.len() >= MAX_TUNINGS {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(&fresh));
        fresh
    }
}

impl Parked {
    /// Packs a context whose [`rest`](Context::rest) is complete. `room` is memory for the walk, used again and again.
    pub(crate) fn pack(context: &mut Context, tunings: &mut Tunings, room: &mut Vec<u8>) -> Self {
        context.writer.ring.forget_before(context.writer.echo_max);
        context.writer.control.rest();
        let mut fields = FieldWriter::new(std::mem::take(room));
        context.walk(&mut fields);
        *room = fields.into_octets();
        let rates_off = context.writer.rates.are_off();
        let no_more = context.reader.window.is_none() && context.writer.share.is_none();
        let plain = rates_off && no_more && context.peer.paths.is_as_new(context.peer.addr);
        let rare = |context: &mut Context| {
            Box::new(Rare {
                rates: context.writer.rates.clone(),
                paths: context.peer.paths.clone(),
                window: context.reader.window.take(),
                share: context.writer.share.take(),
            })
        };
        Self {
            octets: room.as_slice().into(),
            tuning: tunings.intern(&context.tuning),
            opening: context.opening.take().map(Box::new),
            rare: (!plain).then(|| rare(context)),
            pace: match context.writer.control {
                CongestionControl::Fixed(_) => None,
                _ => Some(Box::new((
                    context.writer.control.clone(),
                    context.writer.pacer.clone(),
                ))),
            },
        }
    }

    /// The context as it was.
    pub(crate) fn unpack_into(self, context: &mut Context) {
        context.begin_blank(Tuning::clone(&self.tuning));
        context.state = State::Active;
        context.walk(&mut FieldReader::new(&self.octets));
        context.usage = Usage::at_rest(&context.stats);
        context.opening = self.opening.map(|opening| *opening);
        context.peer.paths = PathValidation::new(context.peer.addr);
        if let Some(pace) = self.pace {
            (context.writer.control, context.writer.pacer) = *pace;
        }
        if let Some(rare) = self.rare {
            context.writer.rates = rare.rates;
            context.peer.paths = rare.paths;
            context.reader.window = rare.window;
            context.writer.share = rare.share;
        }
    }

    /// Whether its messages are matched with receives.
    pub(crate) fn is_matched(&self) -> bool {
        self.tuning.matched
    }

    /// Whether this is the key of its peer. Many are asked, so only the beginning is read.
    pub(crate) fn lives_under(&self, key: u64) -> bool {
        let mut peer_key = None;
        FieldReader::new(&self.octets).option(&mut peer_key, Fields::number);
        peer_key == Some(key)
    }
}

impl Context {
    /// Every field that rest leaves open, in a fixed order. What is not walked is what a blank context has.
    ///
    /// There is no `..` here and in the walks below: whoever adds a field decides what becomes of it at rest.
    fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            id: ContextId(id),
            role,
            // Nobody rests in another state.
            state: _,
            key,
            peer_key,
            peer_has_key,
            backlog,
            pattern,
            tuning: _,
            confirm,
            peer,
            offered,
            in_force,
            opening: _,
            writer,
            reader,
            rtt,
            timers,
            marks: _,
            stats,
            closed: _,
            released,
            cached: _,
            end_received,
            dirty: _,
            half_open: _,
            first,
            retired,
            serial,
            renegotiation: _,
            path_queue: _,
            probe_nonce,
            source_token,
            learned_token: _,
            learned_refusal: _,
            doubt: _,
            abort_pending: _,
            restart: _,
            expected_answer,
            moved: _,
            initial,
            touched,
            usage: _,
            regular: _,
            permit: _,
        } = self;
        fields.option(peer_key, Fields::number);
        fields.number(key);
        fields.number(id);
        fields.choice(role, &[Role::Initiator, Role::Responder]);
        fields.choice(confirm, &[Confirm::Received, Confirm::Delivered]);
        fields.flags(&mut [peer_has_key, released, end_received, retired]);
        fields.choice(first, &FirstFormat::ALL);
        fields.option_or(backlog, Backlogged::at(ListenerId(0)), |fields, backlog| {
            backlog.walk(fields)
        });
        walk_caps(fields, offered);
        walk_caps(fields, in_force);
        fields.option(serial, Fields::number);
        fields.option(probe_nonce, Fields::number);
        fields.option_or(source_token, NO_TOKEN, walk_token);
        fields.small(expected_answer);
        fields.number(initial);
        timers.walk(fields);
        fields.time(touched);
        walk_pattern(fields, pattern);
        peer.walk(fields);
        rtt.walk(fields);
        writer.walk(fields);
        reader.walk(fields);
        walk_stats(fields, stats);
    }
}

const NO_TOKEN: Token = Token {
    epoch: 0,
    kind: 0,
    time: 0,
    mac: [0; 16],
};

fn walk_caps(fields: &mut impl Fields, caps: &mut Caps) {
    let mut bits = caps.bits();
    fields.small(&mut bits);
    *caps = Caps::from_bits_retain(bits);
}

fn walk_token(fields: &mut impl Fields, token: &mut Token) {
    let mut head = u64::from(token.epoch) | u64::from(token.kind) << 8 | u64::from(token.time) << 16;
    fields.number(&mut head);
    (token.epoch, token.kind, token.time) = (head as u8, (head >> 8) as u8, (head >> 16) as u32);
    let whole = u128::from_le_bytes(token.mac);
    let (mut low, mut high) = (whole as u64, (whole >> 64) as u64);
    fields.number(&mut low);
    fields.number(&mut high);
    token.mac = (u128::from(high) << 64 | u128::from(low)).to_le_bytes();
}

fn walk_pattern(fields: &mut impl Fields, pattern: &mut Pattern) {
    let Pattern {
        service,
        lasting,
        one_way,
        return_refused,
        response_expected,
        auto_close,
        status_on_first,
        unconfirmed_response,
        no_feedback,
    } = pattern;
    let mut number = u32::from(*service);
    fields.small(&mut number);
    *service = number as u8;
    fields.flags(&mut [
        lasting,
        one_way,
        return_refused,
        response_expected,
        status_on_first,
        unconfirmed_response,
        no_feedback,
    ]);
    let all = [
        AutoClose::Never,
        AutoClose::WhenReceived,
        AutoClose::AfterResponse,
    ];
    fields.choice(auto_close, &all);
}

fn walk_stats(fields: &mut impl Fields, stats: &mut ContextStats) {
    let ContextStats {
        packets_sent,
        control_sent,
        packets_received,
        octets_sent,
        octets_retransmitted,
        octets_acknowledged,
        octets_received,
        octets_delivered,
        packets_lost,
        // Filled in when somebody asks.
        rtt: _,
        rtt_samples: _,
        congestion_window: _,
        max_data: _,
        wtimer_expiries,
        lstimer_expiries,
        implausible,
        overrun,
        ce_reported,
        octets_copied,
    } = stats;
    for count in [
        packets_sent,
        control_sent,
        packets_received,
        octets_sent,
        octets_retransmitted,
        octets_acknowledged,
        octets_received,
        octets_delivered,
        packets_lost,
        wtimer_expiries,
        lstimer_expiries,
        implausible,
        overrun,
        ce_reported,
        octets_copied,
    ] {
        fields.number(count);
    }
}

impl Peer {
    fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            addr,
            local,
            foreign,
            validated,
            received,
            sent,
            proof,
            proving,
            paths: _,
            mtu,
            largest_datagram,
        } = self;
        fields.address(addr);
        let nowhere = core::net::IpAddr::V4(core::net::Ipv4Addr::UNSPECIFIED);
        let mut known = local.is_some();
        fields.flag(&mut known);
        if known {
            fields.ip(local.get_or_insert(nowhere));
        }
        // Nearly always where FIRST came from is where the peer still is.
        let mut moved = foreign.is_some_and(|(from, _)| from != *addr);
        let mut known = foreign.is_some();
        fields.flags(&mut [validated, &mut moved, &mut known]);
        if known {
            let (from, key) = foreign.get_or_insert((*addr, 0));
            fields.number(key);
            if moved {
                fields.address(from);
            }
        }
        // Whoever rests has asked until it knew.
        fields.choice(proof, &[Proof::Arrived, Proof::Unsent, Proof::Echo, Proof::Key]);
        fields.small(proving);
        fields.number(received);
        fields.number(sent);
        mtu.walk(fields);
        fields.size(largest_datagram);
    }
}

impl SenderHalf {
    fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            queue,
            inflight: _,
            ring,
            una,
            nxt,
            credit,
            state,
            sync_out,
            first_sync,
            echo_max,
            requests,
            gap,
            block: _,
            rates,
            control: _,
            pacer: _,
            // Kept as it is.
            share: _,
            wanted: _,
            delivered,
            unmapped_packets,
            handshake: _,
            forced_judgement,
            // Read by LTIMER alone, which does not run.
            evidence: _,
            reordering,
            max_data,
            wants_room,
            is_answered,
            ecn,
            stuck,
        } = self;
        queue.walk_empty(fields);
        ring.walk(fields);
        credit.walk(fields);
        state.walk(fields);
        fields.flags(&mut [forced_judgement, wants_room, is_answered]);
        for number in [una, nxt, delivered] {
            fields.number(number);
        }
        for number in [sync_out, first_sync, echo_max, unmapped_packets, max_data] {
            fields.small(number);
        }
        fields.option(reordering, |fields, order| order.walk(fields));
        requests.walk(fields);
        gap.walk(fields);
        rates.walk_off(fields);
        stuck.walk(fields);
        ecn.walk(fields);
    }
}

impl ReceiverHalf {
    fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            store,
            assembly: _,
            held: _,
            credit,
            growth,
            // Kept as it is.
            window: _,
            alloc,
            widest,
            start,
            state,
            newest,
            dreq: _,
            owed: _,
            told,
            update_due: _,
            modes,
            error_control,
            nak,
            ecn,
            announced,
            max_spans,
            // Nothing is held, so all of it will fit.
            newest_next: _,
            asks_round_trip,
        } = self;
        store.walk_empty(fields);
        credit.walk(fields);
        growth.walk(credit.capacity(), fields);
        store.set_piece_limit(piece_limit(growth.limit()));
        for number in [alloc, widest, start] {
            fields.number(number);
        }
        state.walk(fields);
        newest.walk(fields);
        fields.flags(&mut [announced, asks_round_trip]);
        let mut known = (*told != UNTOLD).then_some(*told);
        fields.option(&mut known, |fields, (rseq, alloc)| {
            fields.number(rseq);
            fields.number(alloc);
        });
        *told = known.unwrap_or(UNTOLD);
        walk_modes(fields, modes);
        error_control.walk(fields);
        nak.walk(fields);
        ecn.walk(fields);
        fields.size(max_spans);
    }
}

fn walk_modes(fields: &mut impl Fields, modes: &mut PeerModes) {
    let PeerModes {
        no_error,
        no_flow,
        fast_nak,
        reserve,
        sort,
    } = modes;
    fields.flags(&mut [no_error, no_flow, fast_nak, reserve]);
    fields.option(sort, |fields, sort| {
        let mut wide = u32::from(*sort);
        fields.small(&mut wide);
        *sort = wide as u16;
    });
}

#[cfg(test)]
#[path = "parked_tests.rs"]
mod tests;
