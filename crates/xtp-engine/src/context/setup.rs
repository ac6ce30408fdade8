//! How a context begins: opened by the user, or made of a FIRST (§2.4).

use super::backlog::Backlogged;
use super::modes::{Beginning, Pattern};
use super::{Context, Env, Role};
use crate::config::EngineConfig;
use crate::event::{ContextId, ListenerId};
use crate::options::{OpenOptions, Tuning};
use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroU64;
use core::time::Duration;
use xtp_congestion::CongestionKind;
use xtp_core::control::flow::{ReaderCredit, WriterCredit};
use xtp_core::path::LEAST_DATAGRAM;
use xtp_core::path::mtu::MtuSearch;
use xtp_core::time::Time;
use xtp_wire::{Address, Caps, ClientId, First, GroupPoint, Header, Options, Token, Traffic};

/// maxdata where none is stated (§1.7).
pub(super) const UNKNOWN_MAX_DATA: u32 = 1_168;
/// Spans of a control packet without TLV 10 (§1.5).
pub(super) const DEFAULT_SPANS: usize = 32;
/// Datagram sizes searched for on paths that are not local.
const LARGEST_REMOTE: usize = 8_972;
/// What loopback's 65 536 octets leave behind IPv6 and UDP headers; IPv4 ends before them.
const LARGEST_LOCAL_V6: usize = 65_488;

/// What an initiator needs to send and repeat FIRST.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) address: Address,
    /// UTC milliseconds of the creation, low 32 bits, never 0.
    pub(crate) time: u32,
    pub(crate) client: Option<ClientId>,
    pub(crate) token: Option<Token>,
    /// The instance of the responder it is meant for, if that has to be said.
    pub(crate) instance: Option<NonZeroU64>,
    /// As whom it fetches what a group's member lacks (§9.7).
    pub(crate) point: Option<Box<GroupPoint>>,
    pub(crate) connect_now: bool,
    pub(crate) wait_for_listener: bool,
    pub(crate) repeatable: bool,
    /// It states the legacy format, after silence or since it was told to (§2.7).
    pub(crate) fell_back: bool,
    /// It did, met pressure, and states the others again under the same key.
    pub(crate) turned_back: bool,
    /// "No resource" came since the last FIRST left, and it went on asking (§2.7).
    pub(crate) refused: bool,
    /// It was repeated after DIAG(1,12) already.
    pub(crate) repeated: bool,
    /// Wished length of the specifier (§7.3, padding).
    pub(crate) pad_to: usize,
    /// Sequence octets in the first FIRST: repeats carry the same (§2.4.2).
    pub(crate) first_len: u32,
}

/// Identity of a context in the making.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) id: ContextId,
    pub(crate) key: u64,
    /// sync_out before the first packet (§3.1).
    pub(crate) sync: u32,
    pub(crate) is_local: bool,
    pub(crate) initial_rtt: Option<Duration>,
    /// Most octets of a datagram that this host's own interface or route to the peer carries, where that is less than a
    /// path is taken to carry.
    pub(crate) path_limit: Option<usize>,
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
    /// Token for the peer's later FIRSTs (§7.4).
    pub(crate) source_token: Option<Token>,
}

/// The allowance of §2.4 for a stated maxdata.
pub(crate) fn allowance(max_data: u32) -> u64 {
    let m = u64::from(if max_data == 0 { UNKNOWN_MAX_DATA } else { max_data });
    (10 * m).min((2 * m).max(14_600))
}

/// What a writer may send in one segment where the peer states `theirs` (0: nothing) and this end `ours` (§1.7).
pub(super) fn agreed_max_data(theirs: u32, ours: u32) -> u32 {
    let theirs = if theirs == 0 { UNKNOWN_MAX_DATA } else { theirs };
    theirs.min(ours).max(16)
}

/// What a responder's writer begins with, before it knows what is agreed.
pub(crate) fn begun_max_data(theirs: u32) -> u32 {
    theirs.max(UNKNOWN_MAX_DATA)
}

/// Whether a context made of a FIRST that states `theirs` and carries `data` octets from its beginning takes all of them,
/// and tells nothing of a largest segment; `ours`: what it would state.
pub(crate) fn begins_as_usual(theirs: u32, data: usize, ours: u32) -> bool {
    agreed_max_data(theirs, ours) == begun_max_data(theirs) && data as u64 <= allowance(theirs)
}

/// The longest datagram to `addr`.
pub(crate) fn largest_datagram(is_local: bool, addr: SocketAddr, config: &EngineConfig) -> usize {
    match is_local {
        true if addr.is_ipv6() => config.max_datagram.min(LARGEST_LOCAL_V6),
        true => config.max_datagram,
        false => config.max_datagram.min(LARGEST_REMOTE),
    }
}

/// Everything both beginnings share.
pub(super) struct Parts {
    pub(super) identity: Identity,
    pub(super) role: Role,
    pub(super) addr: SocketAddr,
    pub(super) local: Option<IpAddr>,
    pub(super) tuning: Tuning,
    pub(super) pattern: Pattern,
    pub(super) offered: Caps,
    pub(super) reader_start: u64,
}

impl Context {
    /// Becomes a context the user opens towards `addr`.
    pub(crate) fn begin_initiator(
        &mut self,
        identity: Identity,
        addr: SocketAddr,
        options: &OpenOptions,
        opening: Opening,
        env: &Env<'_>,
    ) {
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
        let offered = match env.config.overrides.legacy || pattern.one_way {
            true => Caps::empty(),
            false => env.config.overrides.caps,
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
        self.assemble_parts(parts, env);
        self.confirm = options.confirm;
        self.opening = Some(opening);
        self.peer.validated = true;
        if options.refuse_return {
            self.reader.state.refuse(true);
        }
        let stated = self.stated_max_data();
        self.grant_initially(allowance(stated));
    }

    /// Becomes the context of a FIRST. The packet itself is then received like any other.
    pub(crate) fn begin_responder(
        &mut self,
        identity: Identity,
        acceptance: &Acceptance<'_>,
        env: &mut Env<'_>,
    ) {
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
        let offered = match (traffic, env.config.overrides.legacy) {
            (Traffic::Extended(_), false) => env.config.overrides.caps,
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
        self.assemble_parts(parts, env);
        self.backlog = Some(Backlogged::at(acceptance.listener));
        self.peer_key = Some(acceptance.header.key.value());
        self.peer.foreign = Some((acceptance.src, acceptance.header.key.value()));
        self.peer.validated = acceptance.validated;
        self.source_token = acceptance.source_token;
        let max_data = match traffic {
            Traffic::Extended(terms) => terms.maxdata,
            Traffic::Basic(terms) => terms.maxdata,
            _ => 0,
        };
        self.grant_initially(allowance(max_data));
        self.writer.max_data = self.writer.max_data.min(begun_max_data(max_data));
        self.take_limits(traffic, env);
        if self.only_listens() {
            // As if its initiator had said RCLOSE: there is nobody to take anything.
            self.writer.state.refuse(0, 0);
        }
    }

    fn assemble_parts(&mut self, mut parts: Parts, env: &Env<'_>) {
        parts.tuning.bound(env.config.memory_limit / 8);
        let path = path_search(&parts.identity, parts.addr, env.config, env.now);
        let kind = match parts.tuning.congestion {
            CongestionKind::Auto if parts.identity.is_local => CongestionKind::Fixed,
            CongestionKind::Auto => CongestionKind::Model,
            chosen => chosen,
        };
        self.begin(parts, path, kind, env.now);
    }

    /// Both readers and writers start with the allowance of §2.4.
    fn grant_initially(&mut self, allowance: u64) {
        let start = self.reader.start;
        let granted = match self.role {
            // The specifier of FIRST states the credit for the return stream (§2.4).
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
    pub(crate) fn initial_allowance(&self) -> u64 {
        self.initial
    }

    pub(super) fn peer_token(&self) -> Option<Token> {
        self.source_token
    }
}

/// What a packet may take on the way to `addr` as it begins, and the largest datagram that is searched for.
pub(crate) fn first_datagram(identity: &Identity, addr: SocketAddr, config: &EngineConfig) -> (usize, usize) {
    let largest = largest_datagram(identity.is_local, addr, config);
    let largest = largest.min(identity.path_limit.unwrap_or(largest));
    let start = match identity.is_local {
        true => config.local_datagram.max(LEAST_DATAGRAM).min(largest),
        false => config.base_datagram.min(largest),
    };
    (start, largest)
}

fn path_search(
    identity: &Identity,
    addr: SocketAddr,
    config: &EngineConfig,
    now: Time,
) -> (MtuSearch, usize) {
    let (start, largest) = first_datagram(identity, addr, config);
    let base = config.base_datagram.min(start);
    (
        MtuSearch::new(base, start, largest, identity.is_local, addr.is_ipv6(), now),
        largest,
    )
}
