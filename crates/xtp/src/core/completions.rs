//! A completion queue: what became of its submissions and receives.

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;

use crate::error::Result;

/// What became of one submission, or of one posted receive.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion {
    /// The number given with it.
    pub token: u64,
    /// Whom a submission was sent to, or whose message a receive got: `None` if it got none.
    pub peer: Option<SocketAddr>,
    /// The answer of a transaction, empty for other paradigms; or why there is none. The errors are those of
    /// [`Endpoint::call_for_answer`](crate::Endpoint::call_for_answer) and [`Endpoint::deliver`](crate::Endpoint::deliver), but for the time limit.
    ///
    /// Of a receive its message, or why there will be none: the errors of [`PostedReceive::wait`](crate::PostedReceive::wait), and
    /// [`Error::Closed`](crate::Error::Closed) with [`CloseReason::Normal`](crate::CloseReason::Normal) where no more messages come.
    pub result: Result<Bytes>,
    /// The tag of a receive's message.
    pub tag: Option<u64>,
    /// [`Stream::number`](crate::Stream::number) of the association that a receive's message came by.
    pub stream: Option<u64>,
}

/// The requests of one completion queue.
#[derive(Debug)]
pub(crate) struct CompletionRequests {
    /// Submitted and not ended.
    pub(crate) open: usize,
    pub(crate) done: VecDeque<Completion>,
    /// Longest answer taken, octets.
    pub(super) limit: usize,
}
