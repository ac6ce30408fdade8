//! Exact counts of system calls and datagrams.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a socket did since it was bound: a snapshot.
///
/// Every system call counts, also one that moved nothing or failed. The counts of sending are exact if one thread
/// sends at a time, those of receiving if one receives; others may run a little low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// System calls that send.
    pub send_calls: u64,
    /// System calls that receive (error queue apart).
    pub recv_calls: u64,
    /// System calls that wait.
    pub poll_calls: u64,
    /// System calls that read the error queue.
    pub error_calls: u64,
    /// Datagrams the kernel took.
    pub datagrams_out: u64,
    /// Trains whose memory the kernel took by reference.
    pub lent: u64,
    /// Datagrams handed to the caller.
    pub datagrams_in: u64,
    /// Payload octets of the datagrams the kernel took.
    pub octets_out: u64,
    /// Payload octets of the datagrams handed to the caller.
    pub octets_in: u64,
    /// Messages thrown away because they did not fit their slab.
    pub truncated: u64,
    /// Datagrams the kernel threw away because the receive buffer was full (Linux).
    pub overflows: u64,
}

/// The live counts. Relaxed: they order nothing.
#[derive(Debug, Default)]
pub(crate) struct LiveCounters {
    pub(crate) send_calls: AtomicU64,
    pub(crate) recv_calls: AtomicU64,
    pub(crate) poll_calls: AtomicU64,
    pub(crate) error_calls: AtomicU64,
    pub(crate) datagrams_out: AtomicU64,
    pub(crate) lent: AtomicU64,
    pub(crate) datagrams_in: AtomicU64,
    pub(crate) octets_out: AtomicU64,
    pub(crate) octets_in: AtomicU64,
    pub(crate) truncated: AtomicU64,
}

/// Adds `amount` to a count that threads change one at a time; of two that do so at once one may be lost. A locked
/// instruction waits for everything before it, and half a dozen of them a packet are felt.
pub(crate) fn add(count: &AtomicU64, amount: u64) {
    count.store(
        count.load(Ordering::Relaxed).wrapping_add(amount),
        Ordering::Relaxed,
    );
}

impl LiveCounters {
    /// A copy of all counts, each read once; what the kernel counts is not among them.
    pub(crate) fn snapshot(&self) -> Counters {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters {
            send_calls: read(&self.send_calls),
            recv_calls: read(&self.recv_calls),
            poll_calls: read(&self.poll_calls),
            error_calls: read(&self.error_calls),
            datagrams_out: read(&self.datagrams_out),
            lent: read(&self.lent),
            datagrams_in: read(&self.datagrams_in),
            octets_out: read(&self.octets_out),
            octets_in: read(&self.octets_in),
            truncated: read(&self.truncated),
            overflows: 0,
        }
    }
}
