//! What a caller can choose for one association or listener, one option at a time.

use core::time::Duration;
use xtp_congestion::CongestionKind;
use xtp_core::Rate;
pub use xtp_core::user::Confirm;
use xtp_wire::service;

/// How a reader treats packets beyond a hole (§4.4).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum ErrorControl {
    /// Keep them and report spans; only what was lost is sent again.
    #[default]
    Selective,
    /// Discard them; everything from the hole is sent again.
    GoBackN,
}

/// An option of an association that lives, to be [changed](crate::Engine::set).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// How this reader treats holes; go-back-N holds once nothing is stored beyond one (§4.4).
    ErrorControl(ErrorControl),
    /// What the peer's writer must not exceed: it is told (TCNTL) until it confirms it (§1.7).
    InRate(Rate),
    /// What this writer must not exceed.
    OutRate(Rate),
    /// Priority of this writer's packets, smaller is more urgent; `None` is least urgent (§5.4).
    Sort(Option<u16>),
    /// Whether a response that fits one packet is the end of the association, and is not confirmed (L6). For a responder,
    /// before it writes.
    UnconfirmedResponse(bool),
}

/// Options that either end of an association sets for its own half.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tuning {
    /// Octets this reader buffers for its user at first (C of §5.1). 1..=2^40. Default 4 MiB.
    pub recv_capacity: u64,
    /// What `recv_capacity` may grow to on a long fast path with a user who keeps up; `None`: 64 MiB where
    /// `recv_capacity` is the default, no growth where it was chosen. Local paths need no growth and get none.
    pub recv_capacity_max: Option<u64>,
    /// Octets this writer retains, unsent and unacknowledged, before `send` accepts no more. Default 4 MiB.
    pub send_capacity: u64,
    /// What `send_capacity` may grow to with the congestion window, as `recv_capacity_max`.
    pub send_capacity_max: Option<u64>,
    /// How this reader treats holes. Default selective.
    pub error_control: ErrorControl,
    /// This writer's congestion controller. Default automatic.
    pub congestion: CongestionKind,
    /// What this writer would like to send at most. Default no limit.
    pub out_rate: Rate,
    /// What the peer's writer must not exceed. Default no limit.
    pub in_rate: Rate,
    /// Priority of this writer's packets, smaller is more urgent; `None` is least urgent (§5.4). Default `None`.
    pub sort: Option<u16>,
    /// Ask the peer's reader to report gaps at once (FASTNAK). Default `false`.
    pub fast_nak: bool,
    /// Ask the peer's reader to advertise posted buffers only (RES). Default `false`. A peer whose user posts none
    /// ([`posts`](Self::posts)) refuses it.
    pub reserve: bool,
    /// This end's user posts buffers ([`Engine::post`](crate::Engine::post)): the peer may reserve them (RES). Default
    /// `false`: a FIRST with RES is refused with DIAG(1,2), and an association whose peer asks for it later is aborted.
    pub posts: bool,
    /// Messages that come go to the receives that are posted for them ([`Engine::post_receive`](crate::Engine::post_receive)), whichever
    /// order these are in; the stream is not read. What nobody has received counts against `recv_capacity`. A tag that no message follows is
    /// not told. Default `false`. Said by how an association is opened or listened for, not by its options.
    #[doc(hidden)]
    pub matched: bool,
    /// Ignore the peer's alloc (NOFLOW). Default `false`; set by the datagram paradigm.
    pub no_flow: bool,
    /// Do not retransmit; the peer's reader skips gaps (NOERR). Default `false`; set by unreliable paradigms.
    pub no_error: bool,
    /// CTIMER: silence after which the association is probed. Default `None`: 25 s initiator, 40 s responder.
    pub keepalive: Option<Duration>,
    /// CTIMEOUT after the peer was heard. Default 60 s.
    pub timeout: Duration,
    /// CTIMEOUT before the peer was heard. At most 20 s (§2.4.2). Default 20 s.
    pub connect_timeout: Duration,
    /// What proofs change.
    #[doc(hidden)]
    pub overrides: TuningOverrides,
}

/// What no user changes of an association. Proofs do (simulator, fuzzers, tests), to have packets of a known size and to be a
/// peer that can do less.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TuningOverrides {
    /// Largest data segment, octets; 0 = whatever the path carries. Default 0.
    pub max_data: u32,
    /// Search for a larger path MTU with PATH probes (§5.5). Default `true`.
    pub probe_mtu: bool,
    /// Use ECN where XCNTL is in force (§5.3.2). Default `true`.
    pub ecn: bool,
}

impl Default for TuningOverrides {
    fn default() -> Self {
        Self {
            max_data: 0,
            probe_mtu: true,
            ecn: true,
        }
    }
}

/// The name space of service numbers that this engine knows (domain of an address segment, §1.6).
pub(crate) const NATIVE_DOMAIN: u8 = 0;

/// What either end buffers at first, and what that may grow to.
const DEFAULT_CAPACITY: u64 = 4 << 20;
const DEFAULT_CAPACITY_MAX: u64 = 64 << 20;

/// What a capacity may grow to.
fn largest(capacity: u64, most: Option<u64>) -> u64 {
    let automatic = match capacity {
        DEFAULT_CAPACITY => DEFAULT_CAPACITY_MAX,
        chosen => chosen,
    };
    most.unwrap_or(automatic).max(capacity)
}

impl Tuning {
    /// Octets this reader may come to buffer.
    pub fn recv_limit(&self) -> u64 {
        largest(self.recv_capacity, self.recv_capacity_max)
    }

    /// No half may come to keep more than `most` octets.
    pub(crate) fn bound(&mut self, most: u64) {
        if self.recv_limit() > most {
            self.recv_capacity = self.bounded_capacity(most);
            self.recv_capacity_max = Some(most);
        }
        if self.send_limit() > most {
            self.send_capacity = self.send_capacity.min(most);
            self.send_capacity_max = Some(most);
        }
    }

    /// Octets this reader buffers at first where no half may come to keep more than `most`.
    pub(crate) fn bounded_capacity(&self, most: u64) -> u64 {
        self.recv_capacity.min(most)
    }

    /// Octets this writer may come to retain.
    pub fn send_limit(&self) -> u64 {
        largest(self.send_capacity, self.send_capacity_max)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            recv_capacity: DEFAULT_CAPACITY,
            recv_capacity_max: None,
            send_capacity: DEFAULT_CAPACITY,
            send_capacity_max: None,
            error_control: ErrorControl::Selective,
            congestion: CongestionKind::Auto,
            out_rate: Rate::default(),
            in_rate: Rate::default(),
            sort: None,
            fast_nak: false,
            reserve: false,
            posts: false,
            matched: false,
            no_flow: false,
            no_error: false,
            keepalive: None,
            timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(20),
            overrides: TuningOverrides::default(),
        }
    }
}

/// How an initiator opens an association. The constructors in [`paradigm`](crate::paradigm) fill one in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// XTP service number at the peer (dstport of the address segment).
    pub service_number: u16,
    /// Service octet: a hint for matching and automatic closing [D-10].
    pub service: u8,
    /// Put a DREQ instead of a SREQ on what waits for confirmation.
    pub confirm: Confirm,
    /// Ask for status on FIRST even where a response would acknowledge it (L7).
    pub status_on_first: bool,
    /// Octets expected back; above three times the request FIRST is padded (§7.3). Default 0.
    ///
    /// On a lasting association it also says that the peer's user answers what FIRST carries: if the peer is known, FIRST
    /// then asks for no status, and the answer acknowledges it. What does not come in time is asked for, so that a
    /// confirmation or a close may wait for 5 ms or a round trip where the answer fails to come.
    pub expected_answer: u32,
    /// May run twice: the engine repeats by itself after DIAG(1,12). Default `false`.
    pub repeatable: bool,
    /// Keep trying although the peer's host says that nobody listens (§2.6). Default `false`.
    pub wait_for_listener: bool,
    /// Refuse the return stream on FIRST (RCLOSE): nothing is wanted back.
    pub(crate) refuse_return: bool,
    /// Say END with the last octet and expect nothing back (pure datagram). Needs `no_error` and `no_flow`, as services 1
    /// and 5 need `no_flow`: neither acknowledgements nor credit would ever come (§4.8).
    pub(crate) one_way: bool,
    /// It fetches what a member of a group lacks (§9.7).
    pub(crate) catch_up: Option<Box<xtp_wire::GroupPoint>>,
    /// Options of this end.
    pub tuning: Tuning,
}

impl OpenOptions {
    /// A lasting association to `service_number` with default tuning.
    pub fn new(service_number: u16) -> Self {
        Self {
            service_number,
            service: service::STREAM,
            confirm: Confirm::Received,
            status_on_first: false,
            expected_answer: 0,
            repeatable: false,
            wait_for_listener: false,
            refuse_return: false,
            one_way: false,
            catch_up: None,
            tuning: Tuning::default(),
        }
    }
}

/// What a listener accepts and how its contexts begin (§2.3).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListenOptions {
    /// Service number; `None` is a wildcard, which also takes address segments without one.
    pub service_number: Option<u16>,
    /// Services accepted, bit n = service n; a FIRST for another one is refused with DIAG(1,8). Default
    /// [`MESSAGES`](Self::MESSAGES), of [`streams`](Self::streams) [`STREAMS`](Self::STREAMS), of
    /// [`wildcard`](Self::wildcard) all.
    pub services: u32,
    /// Option bits a FIRST must carry (DIAG(1,2) otherwise). Default none.
    pub required: xtp_wire::Options,
    /// Option bits a FIRST must not carry. Default none.
    pub refused: xtp_wire::Options,
    /// Associations accepted but not yet touched by the user, at least 1; a FIRST beyond it gets DIAG(1,9). So many from
    /// addresses that were proved, of whose second half one may have as many as it leaves free, and so many others beside
    /// them: of these one source may have a quarter, and where there is no place for another, it is asked to prove its address
    /// (COOKIE) or the oldest whose message is not complete gives way.
    /// Default 4 096.
    pub backlog: usize,
    /// Send a response that fits one packet with END and keep it for replay (L6). Default `false`.
    pub unconfirmed_response: bool,
    /// Options of the accepted ends.
    pub tuning: Tuning,
}

impl ListenOptions {
    /// Datagrams, acknowledged datagrams, one-shot messages (services 1 and 2) and transactions (3): one message each.
    pub const MESSAGES: u32 =
        only(service::DATAGRAM) | only(service::ACKNOWLEDGED) | only(service::TRANSACTION);
    /// Associations that last (services 0 and 4): streams of octets or of messages.
    pub const STREAMS: u32 = only(service::UNSPECIFIED) | only(service::STREAM);

    /// A listener for [`MESSAGES`](Self::MESSAGES) to `service_number`.
    pub fn new(service_number: u16) -> Self {
        Self {
            service_number: Some(service_number),
            services: Self::MESSAGES,
            ..Self::wildcard()
        }
    }

    /// A listener for [`STREAMS`](Self::STREAMS) to `service_number`.
    pub fn streams(service_number: u16) -> Self {
        Self::new(service_number).serving(&[service::UNSPECIFIED, service::STREAM])
    }

    /// A listener for every service to `service_number`, of a program that looks which one it is.
    pub fn every_service(service_number: u16) -> Self {
        Self {
            service_number: Some(service_number),
            ..Self::wildcard()
        }
    }

    /// A listener for every service, and every service number no other listener takes.
    pub fn wildcard() -> Self {
        Self {
            service_number: None,
            services: u32::MAX,
            required: xtp_wire::Options::empty(),
            refused: xtp_wire::Options::empty(),
            backlog: 4_096,
            unconfirmed_response: false,
            tuning: Tuning::default(),
        }
    }

    /// The same for these services (see [`xtp_wire::service`]) and no others. Those above 31 have no bit of their own.
    #[must_use]
    pub fn serving(mut self, services: &[u8]) -> Self {
        self.services = services.iter().fold(0, |all, service| all | only(*service));
        self
    }
}

/// The bit of one service.
const fn only(service: u8) -> u32 {
    match 1_u32.checked_shl(service as u32) {
        Some(bit) => bit,
        None => 0,
    }
}
/// The priority of an association of which both ends may say one (§5.4).
pub(crate) fn most_urgent(own: Option<u16>, theirs: Option<u16>) -> Option<u16> {
    match (own, theirs) {
        (Some(own), Some(theirs)) => Some(own.min(theirs)),
        (own, theirs) => own.or(theirs),
    }
}
