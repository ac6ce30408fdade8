//! A context: all state of one endpoint of an association, as parts that know little of each other.
//!
//! Only `receive`, `decide` and `emit` see all parts. `receive` takes a packet, `decide` says what is worth
//! sending next and changes nothing, `emit` turns that into octets and book-keeping.
//!
//! `state` is the state machine, `reader` and `writer` are the halves as data, `receiver_state` and `sender_state` say how far each of
//! them is closed, `newest` what came last, `peer` is where the peer is. Beginning: `new`, `setup`, `stated`, `modes`, `restart`. Looks: `plan`, `permit` (the
//! gates), `rates`, `decide`; writes: `emit`, `status`, `packets`, `data`, `run`. What came: `control`, `arrivals`, `delivery`, `matched`, `fast_nak`.
//! Clockwork: `turn`, `timers`, `timeout`. The fast path: `express`, `express_train`, `exchange`, `departures`. At rest: `rest`,
//! `parked`. The end: `close`, `time_wait`.

mod arrivals;
mod backlog;
mod black_hole;
mod charge;
mod close;
mod control;
mod data;
mod decide;
pub(crate) mod delivery;
mod departures;
mod doubt;
mod emit;
mod error_control;
mod exchange;
mod express;
mod express_train;
mod fast_nak;
mod input;
mod marks;
pub(crate) mod matched;
mod modes;
mod near;
mod new;
mod newest;
mod packets;
mod parked;
mod path;
mod peer;
mod permit;
mod plan;
mod rates;
mod reader;
mod receive;
mod receiver_state;
mod renegotiation;
mod reply_gap;
mod requests;
mod rest;
mod restart;
mod round_trip;
mod run;
mod sender_state;
mod setup;
pub(crate) mod share;
mod state;
mod stated;
mod status;
mod time_wait;
mod timeout;
mod timers;
mod turn;
mod user;
mod window;
mod writer;

use crate::admit::AgeRefusal;
use crate::config::EngineConfig;
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use crate::options::{Confirm, Tuning};
use crate::stats::ContextStats;
pub(crate) use backlog::{BacklogEntry, Backlogged};
pub(crate) use close::{LINGER, afterlife};
pub(crate) use data::{Transmission, write_packet};
pub(crate) use departures::Departure;
use doubt::Doubt;
pub use exchange::TaggedMessage;
pub(crate) use exchange::{Awaited, Taken};
pub(crate) use express::{Exchange, PredictedArrival};
pub(crate) use express_train::{LONGEST_TRAIN, LaterArrival};
use marks::Marks;
use modes::Pattern;
pub(crate) use modes::mode_bits;
pub(crate) use packets::{COPY_LIMIT, FIRST_ROOM, max_data_to_state};
pub(crate) use parked::{Parked, Tunings};
use peer::Peer;
use permit::Permit;
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;
use reader::ReceiverHalf;
use renegotiation::Renegotiation;
pub(crate) use rest::Rest;
use rest::Usage;
pub(crate) use setup::{
    Acceptance, Identity, Opening, allowance, begins_as_usual, begun_max_data, first_datagram,
    largest_datagram,
};
pub(crate) use state::{State, Transition};
pub(crate) use stated::Stated;
use std::collections::VecDeque;
pub(crate) use time_wait::TimeWaitEnd;
use timers::Timers;
use writer::SenderHalf;
use xtp_core::path::rtt::Rtt;
use xtp_core::time::Time;
use xtp_wire::{Caps, Token};

pub(crate) use arrivals::ALONE;
pub(crate) use input::Input;

/// Which end this is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Sent FIRST.
    Initiator,
    /// Was listening.
    Responder,
}

/// What a context may use of its engine while it is being called.
pub(crate) struct Env<'a> {
    pub(crate) now: Time,
    pub(crate) config: &'a EngineConfig,
    pub(crate) events: &'a mut VecDeque<(ContextId, Event)>,
    /// The engine's, drawn from only where a number is needed.
    pub(crate) rng: &'a mut ChaCha20Rng,
}

impl Env<'_> {
    /// A fresh random number.
    fn nonce(&mut self) -> u64 {
        self.rng.next_u64()
    }
}

/// All state of one endpoint of an association.
pub(crate) struct Context {
    pub(crate) id: ContextId,
    role: Role,
    pub(crate) state: State,
    /// Own key, 63 bits.
    pub(crate) key: u64,
    /// Key the peer wants to be addressed with; `None` at an initiator that has not learned it.
    pub(crate) peer_key: Option<u64>,
    /// Responder: a packet with our own key came in.
    peer_has_key: bool,
    /// Where it was accepted, if it was.
    pub(crate) backlog: Option<Backlogged>,
    pub(crate) pattern: Pattern,
    pub(crate) tuning: Tuning,
    pub(crate) confirm: Confirm,
    pub(crate) peer: Peer,
    /// Capabilities we offer, and those in force [D-54].
    pub(crate) offered: Caps,
    in_force: Caps,
    pub(crate) opening: Option<Opening>,
    writer: SenderHalf,
    reader: ReceiverHalf,
    rtt: Rtt,
    timers: Timers,
    marks: Marks,
    pub(crate) stats: ContextStats,
    pub(crate) closed: Option<CloseReason>,
    /// The user gave the context back.
    pub(crate) released: bool,
    /// The unconfirmed response of §6.5, kept for replay: header and payload as sent.
    cached: Option<bytes::Bytes>,
    /// END came from the peer (shortens the tombstone's life).
    pub(crate) end_received: bool,
    /// Already on the engine's list of contexts to flush.
    pub(crate) dirty: bool,
    /// Counted as half-open until validated or over (§7.3).
    pub(crate) half_open: bool,
    /// The formats in which FIRST came.
    pub(crate) first: FirstFormat,
    /// Whether the engine has put the association away (tombstone, tables).
    pub(crate) retired: bool,
    /// Serial number of the association at this client (TLV 11), while it may be repeated.
    pub(crate) serial: Option<u64>,
    renegotiation: Renegotiation,
    path_queue: path::PathQueue,
    /// Nonce of the size probe that is out.
    probe_nonce: Option<u64>,
    /// Token the peer may use for later FIRSTs (responder).
    pub(crate) source_token: Option<Token>,
    /// Token and clock the peer told us, for the engine's memory of peers.
    pub(crate) learned_token: Option<Token>,
    pub(crate) learned_refusal: Option<Box<AgeRefusal>>,
    doubt: Doubt,
    /// A forced close that has not been sent.
    abort_pending: bool,
    /// Begin again under a new key (§2.7, §6.9).
    pub(crate) restart: Option<Restart>,
    /// Octets the user expects back: FIRST is padded accordingly (§7.3).
    pub(crate) expected_answer: u32,
    /// The peer moved from one address to another: for the engine's index.
    pub(crate) moved: Option<Box<(core::net::SocketAddr, core::net::SocketAddr)>>,
    /// The allowance of §2.4.
    initial: u64,
    /// When it had its last turn.
    touched: Time,
    usage: Usage,
    /// After its last turn it was regular (`express`), and nothing went the long way since.
    pub(crate) regular: bool,
    /// What may leave before its next turn, as long as it is regular.
    permit: Permit,
}

/// The formats in which FIRST came to a responder (§2.7).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum FirstFormat {
    /// tformat 1: it is identified by its source and key.
    Legacy,
    /// tformat 0x80: its key alone identifies it (§6.9).
    Extended,
    /// tformat 0x80, and a copy in the legacy format, which names no client.
    FellBack,
}

impl FirstFormat {
    const ALL: [Self; 3] = [Self::Legacy, Self::Extended, Self::FellBack];

    /// Whether the first one had tformat 0x80.
    pub(crate) fn is_extended(self) -> bool {
        self != Self::Legacy
    }
}

/// Why an association begins again under a new key.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// With traffic format 1 and no capabilities (§2.7).
    Legacy,
    /// The same once more, with the peer's clock (§6.9).
    Repeat,
    /// With everything we offer again: silence was taken for a legacy peer, and an answer came after all.
    Extended,
}

impl Context {
    /// Applies a transition of the table; an illegal one changes nothing.
    pub(crate) fn transition(&mut self, event: Transition) -> bool {
        match self.state.after(event) {
            Some(next) => {
                self.state = next;
                true
            }
            None => false,
        }
    }

    pub(crate) fn event(&self, env: &mut Env<'_>, event: Event) {
        if !self.released {
            env.events.push_back((self.id, event));
        }
    }

    pub(crate) fn has(&self, caps: Caps) -> bool {
        self.in_force.contains(caps)
    }

    /// It waits in its listener's backlog no longer.
    pub(crate) fn leave_backlog(&mut self) -> Option<BacklogEntry> {
        let source = self.peer.source()?;
        self.backlog.as_mut()?.leave(source)
    }

    /// Key field of the packets we send.
    pub(crate) fn wire_key(&self) -> xtp_wire::Key {
        match (self.role, self.peer_key) {
            (_, Some(key)) => xtp_wire::Key::returned(key),
            (_, None) => xtp_wire::Key::own(self.key),
        }
    }
}
