//! What the host decides once for an engine: identity, carrier, limits.

use core::net::IpAddr;
use core::time::Duration;
use xtp_core::path::BASE_DATAGRAM;
use xtp_core::time::Time;
use xtp_wire::{Caps, Protection};

/// A moment after which no earlier instance served this port, by both clocks of the host.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// UTC in milliseconds.
    pub utc_ms: u64,
    /// The monotonic clock.
    pub at: Time,
}

/// Everything an [`Engine`](crate::Engine) needs from its host, which is the only one who can know it. Build one with
/// [`EngineConfig::new`] and change fields. A facade fills in entropy, clocks, addresses and what its socket holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineConfig {
    /// Seed of every random choice (keys, first sync, client identity, nonces, hash keys, token secrets).
    /// Production: 32 octets of the operating system's generator. Simulation: anything, for exact repetition.
    pub entropy: [u8; 32],
    /// UTC in milliseconds minus the monotonic clock in milliseconds. Default 0 (then FIRST states times near 0).
    pub utc_offset_ms: i64,
    /// When this instance was started (§6.9 `start`): FIRSTs created before are refused. `None` = no earlier instance
    /// served this port during the last 50 s. Default `None`.
    pub started: Option<Started>,
    /// Addresses of this host; a peer among them (or any loopback address) is on a local path [D-56]. Default empty.
    pub own_addresses: Vec<IpAddr>,
    /// Cover payloads by the XTP checksum, for carriers without a UDP checksum. Default `false` [D-07].
    pub checksum_payload: bool,
    /// Largest datagram the carrier takes, octets of UDP payload, 548..=65 507. Default 65 507. On all paths but local ones
    /// 1 200 octets are assumed before they were probed, or this if it is less.
    pub max_datagram: usize,
    /// Datagram size to begin with on local paths, where the host may know better (Linux loopback: 65 507), octets, taken as
    /// 548..=`max_datagram`. Default 1 200.
    pub local_datagram: usize,
    /// Contexts alive at once, at most one for each 4 KiB of `memory_limit`; a FIRST beyond it gets DIAG(1,9). Default 1 048 576.
    pub max_contexts: usize,
    /// Octets all associations together may keep or promise to keep: granted and not yet taken, parts of datagrams,
    /// queued by their users, and 1 KiB each. Held by granting less from half of it on, by dropping what came unasked,
    /// and at last by refusing associations (DIAG(1,9)); users may still queue 64 KiB on each. One gets an eighth of it
    /// at most. At least 65 536. Default 1 GiB.
    pub memory_limit: u64,
    /// Receives that are posted and have no message ([`Engine::post_receive`](crate::Engine::post_receive)). Default 65 536.
    pub max_posted: usize,
    /// Whole messages of one association that wait for a receive; those behind them stay in the stream, where no receive finds them, until
    /// one of these was received. Default 4 096.
    pub max_waiting: usize,
    /// Octets that the carrier of a near peer holds before it throws away, counted as its system counts them: memory of whole
    /// datagrams. A peer is near on this host, or with a round trip below a millisecond (§5.1). Default 6 MiB.
    pub near_room: u64,
    /// What proofs change.
    #[doc(hidden)]
    pub overrides: EngineOverrides,
    /// Datagram size assumed before a path was probed, octets.
    pub(crate) base_datagram: usize,
    /// Packets one context may hand over in one flush.
    pub(crate) max_train: usize,
    /// How long an idle zombie answers (§6.8, ZTIMER) at a responder.
    pub(crate) tombstone_life: Duration,
}

/// What no host changes: how much is kept of what strangers can make grow, and which of its ways an engine goes. Proofs do
/// (simulator, fuzzers, tests), to come to a limit soon, to compare two ways, and to be a peer that can do less.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineOverrides {
    /// Capabilities offered. Default XCNTL, PATH, COOKIE, PAD, XDATA.
    pub caps: Caps,
    /// Offer nothing and send traffic format 1 only. Default `false`.
    pub legacy: bool,
    /// Contexts kept whole when they rest (some 5 KiB each); of what is alive beyond it, those at rest are parked in a few hundred
    /// octets, soon if they were used once, after seconds if they are used again and again and memory has room for them. Changes no packet. `usize::MAX`: every one stays whole, finished ones too. Default 1 024.
    pub max_whole: usize,
    /// How long a context has been quiet before it is parked; one that is used again and again, 400 times as long. Default 10 ms.
    pub park_after: Duration,
    /// Let the packet of an exchange of single small messages leave before the bookkeeping. Changes no packet.
    /// Default `true`.
    pub express: bool,
    /// Initiators that are over and answer stragglers for 1 to 10 s (some 250 octets each); the oldest go first.
    /// Default 1 048 576.
    pub max_time_waits: usize,
    /// Half-open (not validated) contexts before cookies are demanded (§7.4), of addresses on the list of validated ones twice as
    /// many. Default 1 024.
    pub max_half_open: usize,
    /// FIRSTs a second from one source that is not on the validated list before cookies are demanded. Default 256.
    pub source_rate: u32,
    /// Tombstones kept (§6.9). Default 1 048 576.
    pub max_tombstones: usize,
    /// Client records kept (§6.9). Default 65 536.
    pub max_clients: usize,
    /// Validated addresses remembered (§7.4). Default 65 536.
    pub max_validated: usize,
    /// Octets of incomplete multi-packet datagrams held for one peer (§4.8). Default 1 MiB.
    pub assembly_limit: usize,
}

impl Default for EngineOverrides {
    fn default() -> Self {
        Self {
            caps: Caps::XCNTL | Caps::PATH | Caps::COOKIE | Caps::PAD | Caps::XDATA,
            legacy: false,
            max_whole: 1_024,
            park_after: Duration::from_millis(10),
            express: true,
            max_time_waits: 1 << 20,
            max_half_open: 1_024,
            source_rate: 256,
            max_tombstones: 1 << 20,
            max_clients: 65_536,
            max_validated: 65_536,
            assembly_limit: 1 << 20,
        }
    }
}

impl EngineConfig {
    /// The defaults with the given entropy.
    pub fn new(entropy: [u8; 32]) -> Self {
        Self {
            entropy,
            utc_offset_ms: 0,
            started: None,
            own_addresses: Vec::new(),
            checksum_payload: false,
            max_datagram: 65_507,
            local_datagram: BASE_DATAGRAM,
            max_contexts: 1 << 20,
            memory_limit: 1 << 30,
            max_posted: 1 << 16,
            max_waiting: 4_096,
            near_room: 6 << 20,
            overrides: EngineOverrides::default(),
            base_datagram: BASE_DATAGRAM,
            max_train: 256,
            tombstone_life: Duration::from_secs(60),
        }
    }

    /// What protects packets that carry octets of a user.
    #[inline]
    pub(crate) const fn protection(&self) -> Protection {
        Protection::covering(self.checksum_payload)
    }
}
