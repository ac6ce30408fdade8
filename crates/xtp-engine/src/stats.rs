//! Counters a user can look at.

use core::time::Duration;

/// Counters and estimates of one association, as of the last call on it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ContextStats {
    /// Packets sent, of any format.
    pub packets_sent: u64,
    /// Of these, control packets (no user data).
    pub control_sent: u64,
    /// Packets accepted.
    pub packets_received: u64,
    /// User octets sent for the first time.
    pub octets_sent: u64,
    /// User octets sent again.
    pub octets_retransmitted: u64,
    /// User octets of ours acknowledged.
    pub octets_acknowledged: u64,
    /// User octets received in order (or skipped, NOERR).
    pub octets_received: u64,
    /// User octets taken by the local user.
    pub octets_delivered: u64,
    /// Packets of ours declared lost.
    pub packets_lost: u64,
    /// Smoothed round trip, if a sample was taken.
    pub rtt: Option<Duration>,
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// Congestion window, octets; `None` = no window (controller `fixed`).
    pub congestion_window: Option<u64>,
    /// Largest data segment in use, octets.
    pub max_data: u32,
    /// Expiries of WTIMER.
    pub wtimer_expiries: u64,
    /// Expiries of LSTIMER.
    pub lstimer_expiries: u64,
    /// Packets dropped because their numbers were not plausible (§2.9).
    pub implausible: u64,
    /// Octets dropped because there was no room for them.
    pub overrun: u64,
    /// CE marks the peer reported.
    pub ce_reported: u64,
    /// User octets copied by the engine, out and in: small payloads into packets, small writes joined, payloads kept
    /// that are not shared with the carrier's memory. What is lent and shared is not copied.
    pub octets_copied: u64,
}

/// Counters of a whole engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineStats {
    /// Datagrams handed in.
    pub received: u64,
    /// Datagrams handed out.
    pub sent: u64,
    /// Of these, answers that left before the bookkeeping (the short way of small messages).
    pub express: u64,
    /// Dropped: not a well-formed packet (by version, length, format, segments).
    pub malformed: u64,
    /// Dropped: checksum.
    pub bad_checksum: u64,
    /// Dropped: no context, and no answer due.
    pub unmatched: u64,
    /// DIAG packets sent.
    pub diags_sent: u64,
    /// COOKIE packets sent.
    pub cookies_sent: u64,
    /// FIRSTs answered from a tombstone.
    pub replays: u64,
    /// FIRSTs refused because of age (§6.9).
    pub refused_age: u64,
    /// Associations of addresses not proved that gave way to others before anybody was handed them (§7.4).
    pub displaced: u64,
    /// FIRSTs dropped in a flood: their source did not prove itself when it was asked, or they were datagrams, of whom nobody
    /// can be asked, too many or without a place (§7.4.1, §7.4.2).
    pub ignored: u64,
    /// Contexts alive.
    pub contexts: usize,
    /// Of these parked (those at rest beyond 1 024).
    pub parked: usize,
    /// Of these, associations of one message that need no context so far.
    pub pending: usize,
    /// Initiators that are over and only answer stragglers (§6.8); not among the contexts.
    pub time_waits: usize,
    /// How often a context was parked.
    pub parkings: u64,
    /// Of the contexts alive, half-open.
    pub half_open: usize,
    /// Tombstones kept.
    pub tombstones: usize,
    /// Datagrams kept in mind (service 1, §6.9): one that comes again is known.
    pub datagrams_known: usize,
    /// Receives that are posted and have no message.
    pub posted: usize,
    /// Octets all associations together keep or have promised to keep: at most
    /// [`EngineConfig::memory_limit`](crate::EngineConfig::memory_limit), but for what this end's own users queue. Exchanges
    /// of small messages are looked at now and then only.
    pub memory: u64,
}
