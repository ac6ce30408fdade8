//! How a context begins: opened by the user, or made of a FIRST (8.1, 8.2).

use super::marks::Marks;
use super::modes::{Beginning, Pattern};
use super::path::PathQueue;
use super::peer::Peer;
use super::reader::{NakRecord, Owed, PeerModes, Reader, ReaderState, Refusal};
use super::timers::Timers;
use super::writer::{Requests, Writer, WriterState};
use super::{Context, Env, Renegotiation, Role, State};
use crate::config::EngineConfig;
use crate::congestion::Control;
use crate::ecn::{EcnCounter, EcnSender};
use crate::event::{ContextId, ListenerId};
use crate::flow::{ReaderCredit, WriterCredit};
use crate::growth::Growth;
use crate::mtu::MtuSearch;
use crate::options::{CongestionKind, OpenOptions, Rate, Tuning};
use crate::pacer::Pacer;
use crate::rate::TokenBucket;
use crate::recv::Reassembly;
use crate::rtt::Rtt;
use crate::send::{Inflight, SendQueue, SentRing};
use crate::stats::ContextStats;
use crate::time::Time;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use xtp_wire::{Address, Caps, ClientId, First, HEADER_LEN, Header, Options, Token, Traffic};

/// maxdata where none is stated (3.2).
pub(super) const UNKNOWN_MAX_DATA: u32 = 1_168;
/// Spans of a control packet without TLV 10 (3.3).
pub(super) const DEFAULT_SPANS: usize = 32;
/// Datagram sizes searched for on paths that are not local.
const LARGEST_REMOTE: usize = 8_972;

/// What an initiator needs to send and repeat FIRST.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) address: Address,
    /// UTC milliseconds of the creation, low 32 bits, never 0.
    pub(crate) time: u32,
    pub(crate) client: Option<ClientId>,
    pub(crate) token: Option<Token>,
    pub(crate) connect_now: bool,
    pub(crate) wait_for_listener: bool,
    pub(crate) repeatable: bool,
    /// It fell back to legacy formats after silence (8.8).
    pub(crate) fell_back: bool,
    /// It was repeated after DIAG(1,12) already.
    pub(crate) repeated: bool,
    /// Wished length of the specifier (20.5, padding).
    pub(crate) pad_to: usize,
    /// Sequence octets in the first FIRST, and its requests: repeats carry the same (8.3).
    pub(crate) first_len: u32,
    pub(crate) first_ask: Options,
}

/// Identity of a context in the making.
pub(crate) struct Identity {
    pub(crate) id: ContextId,
    pub(crate) key: u64,
    /// sync_out before the first packet (7.2).
    pub(crate) sync: u32,
    pub(crate) is_local: bool,
    pub(crate) initial_rtt: Option<Duration>,
}

/// What the engine found out about a FIRST it accepts.
pub(crate) struct Acceptance<'a> {
    pub(crate) header: &'a Header,
    pub(crate) first: &'a First<'a>,
    pub(crate) src: SocketAddr,
    pub(crate) dst: Option<IpAddr>,
    pub(crate) listener: ListenerId,
    pub(crate) tuning: Tuning,
    pub(crate) unconfirmed_response: bool,
    pub(crate) validated: bool,
    /// Token for the peer's later FIRSTs (20.5).
    pub(crate) source_token: Option<Token>,
}

/// The allowance of 8.1 for a stated maxdata.
pub(super) fn allowance(max_data: u32) -> u64 {
    let m = u64::from(if max_data == 0 { UNKNOWN_MAX_DATA } else { max_data });
    (10 * m).min((2 * m).max(14_600))
}

/// Everything both beginnings share.
struct Parts {
    identity: Identity,
    role: Role,
    addr: SocketAddr,
    local: Option<IpAddr>,
    tuning: Tuning,
    pattern: Pattern,
    offered: Caps,
    reader_start: u64,
}

impl Context {
    /// A context the user opens towards `addr`.
    pub(crate) fn initiator(
        identity: Identity,
        addr: SocketAddr,
        options: &OpenOptions,
        opening: Opening,
        env: &Env<'_>,
    ) -> Self {
        let tuning = options.tuning.clone();
        let mut pattern = Pattern::new(Beginning {
            service: options.service,
            initiator: true,
            no_error: tuning.no_error,
            no_flow: tuning.no_flow,
            return_refused: options.refuse_return,
            whole: false,
            one_way: options.one_way,
        });
        pattern.status_on_first = options.status_on_first;
        let offered = match env.config.legacy || pattern.one_way {
            true => Caps::empty(),
            false => env.config.caps,
        };
        let parts = Parts {
            identity,
            role: Role::Initiator,
            addr,
            local: None,
            tuning,
            pattern,
            offered,
            reader_start: 0,
        };
        let mut context = Self::assemble_parts(parts, env);
        context.confirm = options.confirm;
        context.opening = Some(opening);
        context.peer.validated = true;
        if options.refuse_return {
            context.reader.refusal = Refusal::OnFirst;
            context.reader.state = ReaderState::Done;
        }
        let stated = context.stated_max_data();
        context.grant_initially(allowance(stated));
        context
    }

    /// A context made of a FIRST. The packet itself is then received like any other.
    pub(crate) fn responder(identity: Identity, acceptance: &Acceptance<'_>, env: &mut Env<'_>) -> Self {
        let options = acceptance.header.options;
        let traffic = &acceptance.first.traffic;
        let mut pattern = Pattern::new(Beginning {
            service: traffic.service(),
            initiator: false,
            no_error: options.contains(Options::NOERR),
            no_flow: options.contains(Options::NOFLOW),
            return_refused: options.contains(Options::RCLOSE),
            whole: options.contains(Options::WCLOSE),
            one_way: false,
        });
        pattern.no_feedback = acceptance.tuning.no_error && acceptance.tuning.no_flow;
        pattern.unconfirmed_response = acceptance.unconfirmed_response;
        let offered = match (traffic, env.config.legacy) {
            (Traffic::Extended(_), false) => env.config.caps,
            _ => Caps::empty(),
        };
        let parts = Parts {
            identity,
            role: Role::Responder,
            addr: acceptance.src,
            local: acceptance.dst,
            tuning: acceptance.tuning.clone(),
            pattern,
            offered,
            reader_start: acceptance.header.seq,
        };
        let mut context = Self::assemble_parts(parts, env);
        context.listener = Some(acceptance.listener);
        context.peer_key = Some(acceptance.header.key.value());
        context.peer.foreign = Some((acceptance.src, acceptance.header.key.value()));
        context.peer.validated = acceptance.validated;
        context.source_token = acceptance.source_token;
        let max_data = match traffic {
            Traffic::Extended(terms) => terms.maxdata,
            Traffic::Basic(terms) => terms.maxdata,
            _ => 0,
        };
        context.grant_initially(allowance(max_data));
        context.writer.max_data = context.writer.max_data.min(max_data.max(UNKNOWN_MAX_DATA));
        context.take_limits(traffic, env);
        context
    }

    fn assemble_parts(parts: Parts, env: &Env<'_>) -> Self {
        let (mtu, largest) = path_search(&parts.identity, parts.addr, env.config, env.now);
        let kind = match parts.tuning.congestion {
            CongestionKind::Auto if parts.identity.is_local || env.config.trusted_links => {
                CongestionKind::Fixed
            }
            CongestionKind::Auto => CongestionKind::Model,
            chosen => chosen,
        };
        Self::of_parts(parts, mtu, largest, kind, env.now)
    }

    /// A context in which nothing is known yet, for a parked one to be unpacked into.
    pub(super) fn blank(tuning: Tuning) -> Self {
        let addr = SocketAddr::from(([0; 4], 0));
        let parts = Parts {
            identity: Identity {
                id: ContextId(0),
                key: 0,
                sync: 0,
                is_local: true,
                initial_rtt: None,
            },
            role: Role::Initiator,
            addr,
            local: None,
            pattern: Pattern::new(Beginning {
                service: 0,
                initiator: true,
                no_error: false,
                no_flow: false,
                return_refused: false,
                whole: false,
                one_way: false,
            }),
            tuning,
            offered: Caps::empty(),
            reader_start: 0,
        };
        let mtu = MtuSearch::new(0, 0, true, false, Time::ZERO);
        Self::of_parts(parts, mtu, 0, CongestionKind::Fixed, Time::ZERO)
    }

    fn of_parts(
        parts: Parts,
        mtu: MtuSearch,
        largest_datagram: usize,
        kind: CongestionKind,
        now: Time,
    ) -> Self {
        let Parts {
            identity,
            role,
            addr,
            local,
            tuning,
            pattern,
            offered,
            reader_start,
        } = parts;
        let segment = (mtu.current().saturating_sub(HEADER_LEN)) as u32;
        let writer = new_writer(&identity, &tuning, &pattern, kind, segment, now);
        let most = match identity.is_local {
            true => tuning.recv_capacity,
            false => tuning.recv_limit(),
        };
        let reader = new_reader(&tuning, most, reader_start, now);
        Self {
            id: identity.id,
            role,
            state: match role {
                Role::Initiator => State::Quiescent,
                Role::Responder => State::Listening,
            },
            key: identity.key,
            peer_key: None,
            peer_has_key: false,
            listener: None,
            pattern,
            confirm: crate::Confirm::Received,
            peer: Peer::new(addr, local, mtu, largest_datagram),
            offered,
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
            extended_first: false,
            retired: false,
            serial: None,
            renegotiation: Renegotiation::default(),
            path_queue: PathQueue::default(),
            probe_nonce: None,
            source_token: None,
            learned_token: None,
            learned_utc: None,
            doubt: super::Doubt::No,
            unreachable_since: None,
            abort_pending: false,
            restart: None,
            moved: None,
            initial: 0,
            touched: now,
            expected_answer: 0,
            tuning,
        }
    }

    /// Both readers and writers start with the allowance of 8.1.
    fn grant_initially(&mut self, allowance: u64) {
        let start = self.reader.start;
        let granted = match self.role {
            // The specifier of FIRST states the credit for the return stream (11.5).
            Role::Initiator if !self.offered.is_empty() && !self.tuning.reserve => {
                start + allowance.max(self.tuning.recv_capacity)
            }
            _ => start + allowance,
        };
        self.reader.credit = ReaderCredit::new(self.tuning.recv_capacity, granted);
        self.reader.alloc = granted;
        self.reader.widest = granted - start;
        self.writer.credit = WriterCredit::new(0, allowance);
        self.initial = allowance;
    }

    /// The allowance both ends started with.
    pub(super) fn initial_allowance(&self) -> u64 {
        self.initial
    }

    pub(super) fn peer_token(&self) -> Option<Token> {
        self.source_token
    }
}

fn path_search(
    identity: &Identity,
    addr: SocketAddr,
    config: &EngineConfig,
    now: Time,
) -> (MtuSearch, usize) {
    let largest = match identity.is_local {
        true => config.max_datagram,
        false => config.max_datagram.min(LARGEST_REMOTE),
    };
    let base = match identity.is_local {
        true => config.local_datagram.clamp(576, largest),
        false => config.base_datagram,
    };
    (
        MtuSearch::new(base, largest, identity.is_local, addr.is_ipv6(), now),
        largest,
    )
}

/// Writers without feedback have no window: one initial window in 100 ms where nothing is stated (12.8).
fn own_rate(tuning: &Tuning, pattern: &Pattern, is_fixed: bool, segment: u32) -> Rate {
    if tuning.out_rate.octets_per_second == 0 && pattern.no_feedback && !is_fixed {
        let window = 10 * (segment + HEADER_LEN as u32);
        return Rate {
            octets_per_second: u64::from(window) * 10,
            burst: window,
        };
    }
    tuning.out_rate
}

fn new_writer(
    identity: &Identity,
    tuning: &Tuning,
    pattern: &Pattern,
    kind: CongestionKind,
    segment: u32,
    now: Time,
) -> Writer {
    let is_fixed = kind == CongestionKind::Fixed;
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
        sync_out: identity.sync,
        first_sync: identity.sync.wrapping_add(1),
        echo_max: identity.sync,
        requests: Requests::default(),
        gap: super::writer::ReplyGap::default(),
        blocked: None,
        blocked_alloc: None,
        peer_bucket: TokenBucket::new(Rate::default(), now),
        own_bucket: TokenBucket::new(own_rate(tuning, pattern, is_fixed, segment), now),
        control: Control::new(kind, segment),
        pacer: Pacer::new(),
        wanted: super::writer::Wanted::default(),
        delivered: 0,
        unmapped_packets: 0,
        handshake: None,
        forced_judgement: false,
        evidence: None,
        max_data: u32::MAX,
        wants_room: false,
        ecn: EcnSender::new(tuning.ecn),
        full_size_losses: 0,
        oldest_lost: (0, 0),
    }
}

/// Pieces that may wait behind holes at a reader of so many octets.
pub(super) fn piece_limit(most: u64) -> usize {
    (most / 256) as usize + 1_024
}

fn new_reader(tuning: &Tuning, most: u64, start: u64, now: Time) -> Reader {
    let mut store = Reassembly::new(start);
    store.set_piece_limit(piece_limit(most));
    Reader {
        store,
        assembly: None,
        credit: ReaderCredit::new(tuning.recv_capacity, start),
        growth: Growth::new(most, now),
        window: None,
        alloc: start,
        widest: 0,
        start,
        final_seq: None,
        state: ReaderState::Open,
        refusal: Refusal::No,
        sync_in: None,
        sync_in_at: now,
        edge_last: false,
        edge_sync: 0,
        dreq: None,
        owed: Owed::Nothing,
        told: None,
        update_due: false,
        modes: PeerModes::default(),
        error_control: tuning.error_control,
        wanted_error_control: tuning.error_control,
        nak: NakRecord::default(),
        hole_is_new: false,
        ecn: EcnCounter::default(),
        announced: false,
        end_pending: false,
        max_spans: DEFAULT_SPANS,
        newest_next: false,
        refusal_told: false,
    }
}
