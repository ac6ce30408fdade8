//! The paradigms of one message: datagrams, acknowledged datagrams, one-shots and transactions.

use std::cell::RefCell;
use std::fmt::Debug;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{Confirm, ContextId, ContextStats, Expectation, OpenOptions, Time, Tuning, paradigm};

use crate::core::{Core, ops};
use crate::endpoint::Endpoint;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// How a transaction is made. [`CallOptions::default`] fits short answers of fast servers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Longest time for the whole call. Default `None`: as long as the server's host answers.
    pub timeout: Option<Duration>,
    /// Longest answer taken, octets. Default: [`Config::message_limit`](crate::Config::message_limit).
    pub limit: Option<usize>,
    /// Octets expected back. Stating an answer of more than three times the request pads the request, so that a
    /// server that does not know this address yet may answer in full at once. Default 0: unknown.
    pub expected_answer: u32,
    /// The server may take longer than a round trip: it acknowledges the request first (one packet more, and no
    /// repetition of the request). Default `false`.
    pub slow_server: bool,
    /// The request may run twice, so the engine repeats it by itself when the server cannot tell whether it ran.
    /// Default `false`.
    pub repeatable: bool,
    /// Keep trying although nobody listens at the server's UDP port yet. Default `false`.
    pub wait_for_listener: bool,
    /// Everything else.
    pub tuning: Tuning,
}

impl CallOptions {
    /// Default options with a time limit.
    pub fn within(timeout: Duration) -> Self {
        Self {
            timeout: Some(timeout),
            ..Self::default()
        }
    }

    pub(crate) fn open(&self, service_number: u16) -> OpenOptions {
        let mut options = paradigm::transaction(service_number);
        options.expected_answer = self.expected_answer;
        options.status_on_first = self.slow_server;
        options.repeatable = self.repeatable;
        options.wait_for_listener = self.wait_for_listener;
        options.tuning = self.tuning.clone();
        options
    }
}

/// The answer of a transaction and what it cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The response.
    pub response: Bytes,
    /// The server that answered.
    pub peer: SocketAddr,
    /// Counters of the association.
    pub stats: ContextStats,
}

impl Endpoint {
    /// Sends one unacknowledged datagram (one packet if it fits). It arrives whole or not at all; nobody is told
    /// which. At most 1 MiB.
    ///
    /// Of a name with several addresses one that answered within the last ten minutes is used, else the first.
    ///
    /// # Errors
    /// [`Error::Resolve`], [`Error::Address`], [`Error::Command`] if it is too long, [`Error::NoRoute`].
    pub fn send_datagram(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        data: impl Into<Bytes>,
    ) -> Result<()> {
        let peer = self.nearest(&peer)?;
        let stream = self.queue(peer, paradigm::datagram(service_number), data.into())?;
        match stream.failure() {
            Some(error @ (Error::NoRoute { .. } | Error::Narrow { .. } | Error::NotPermitted { .. })) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Sends one acknowledged datagram (two packets) and waits until the peer's host has it, or its program has
    /// taken it.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver).
    pub fn send_acknowledged(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        data: impl Into<Bytes>,
        confirm: Confirm,
    ) -> Result<()> {
        let mut options = paradigm::acknowledged_datagram(service_number);
        options.confirm = confirm;
        self.deliver(peer, options, data, None).map(drop)
    }

    /// Sends one message reliably (three packets) and waits until the peer has it. The peer learns that this end
    /// knows.
    ///
    /// # Errors
    /// As [`deliver`](Self::deliver).
    pub fn send_message(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        data: impl Into<Bytes>,
    ) -> Result<()> {
        self.deliver(peer, paradigm::one_shot(service_number), data, None)
            .map(drop)
    }

    /// Sends one message with options of your choice and waits for its confirmation; returns what it cost.
    ///
    /// A name with several addresses is probed first: the message goes to the first address that answers, each having 0.25 s for
    /// itself before the next one is tried beside it, 8 at most. That one is remembered for ten minutes, so that messages behind
    /// cost no more than those to one address. Another address gets the message only when it certainly was not taken at the one
    /// before. Datagrams without acknowledgement go where [`send_datagram`](Self::send_datagram) sends them.
    ///
    /// # Errors
    /// [`Error::Closed`] with the reason if it was not confirmed, [`Error::Timeout`] after `timeout` (the message
    /// may still arrive), [`Error::Resolve`], [`Error::Address`], [`Error::NoRoute`].
    pub fn deliver(
        &self,
        peer: impl ToSocketAddrs + Debug,
        options: OpenOptions,
        data: impl Into<Bytes>,
        timeout: Option<Duration>,
    ) -> Result<ContextStats> {
        let data = data.into();
        let attempt = |peer, timeout| {
            self.exchange(
                ("confirmation", timeout),
                peer,
                options.clone(),
                data.clone(),
                (0, drop),
                |core, _, id| ops::closed(core, id),
            )
            .map(|((), stats)| stats)
        };
        if is_unacknowledged(&options) {
            return attempt(self.nearest(&peer)?, timeout);
        }
        self.reach(&peer, ("confirmation", timeout), || options.clone(), attempt)
    }

    /// Makes a transaction: sends the request, waits for the response (three packets, one round trip). At most once:
    /// the request runs at the server once or not at all, whatever is lost. Of a server with several addresses one gets it, as
    /// [`deliver`](Self::deliver) says.
    ///
    /// # Errors
    /// As [`call_for_answer`](Self::call_for_answer).
    pub fn call(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        request: impl Into<Bytes>,
        options: &CallOptions,
    ) -> Result<Bytes> {
        self.call_for_answer(peer, service_number, request, options)
            .map(|answer| answer.response)
    }

    /// As [`call`](Self::call), and tells who answered and what it cost.
    ///
    /// # Errors
    /// [`Error::Closed`] with the reason: after [`Refused`](crate::CloseReason::Refused) and
    /// [`NobodyListens`](crate::CloseReason::NobodyListens) the request certainly did not run, after
    /// [`ExecutionUnknown`](crate::CloseReason::ExecutionUnknown) and
    /// [`Unreachable`](crate::CloseReason::Unreachable) it may have. [`Error::Timeout`] (then the call is aborted),
    /// [`Error::MessageTooLong`], [`Error::Resolve`], [`Error::Address`], [`Error::NoRoute`].
    pub fn call_for_answer(
        &self,
        peer: impl ToSocketAddrs + Debug,
        service_number: u16,
        request: impl Into<Bytes>,
        options: &CallOptions,
    ) -> Result<Answer> {
        let request = request.into();
        let limit = options.limit.unwrap_or(self.shared.config.message_limit);
        let open = || options.open(service_number);
        self.reach(&peer, ("the answer", options.timeout), open, |peer, timeout| {
            let whole = |core: &mut Core, now, id| ops::whole(core, now, id, limit);
            let request = request.clone();
            self.exchange(
                ("the answer", timeout),
                peer,
                open(),
                request,
                (limit, std::convert::identity),
                whole,
            )
            .map(|(response, stats)| Answer {
                response,
                peer,
                stats,
            })
        })
    }

    /// Begins what [`deliver`](Self::deliver) or [`call`](Self::call) do to their end: opens an association, and one
    /// message and the end of the stream leave together. Waits for room if the message is long, for nothing else.
    ///
    /// Of the returned stream the answer to a transaction can be read, confirmation awaited with
    /// [`Stream::close`]; dropping it leaves confirmation to the background. With a [`PollSet`](crate::PollSet) one
    /// thread has many of these under way at once. The address is chosen as for [`send_datagram`](Self::send_datagram).
    ///
    /// # Errors
    /// [`Error::Resolve`], [`Error::Address`], [`Error::Command`] for options out of range and at the limit of associations, [`Error::Closed`] if it ended
    /// before all of a long message had left.
    pub fn start(
        &self,
        peer: impl ToSocketAddrs + Debug,
        options: OpenOptions,
        data: impl Into<Bytes>,
    ) -> Result<Stream> {
        self.queue(self.nearest(&peer)?, options, data.into())
    }

    /// Opens an association, queues one message and the end of the stream, and lets them leave together.
    fn queue(&self, peer: SocketAddr, options: OpenOptions, data: Bytes) -> Result<Stream> {
        let (stream, mut rest) = self.begin(peer, options, data)?;
        if !rest.is_empty() {
            let id = stream.id();
            self.shared
                .wait("sending", None, |core, now| ops::finish(core, now, id, &mut rest))?;
        }
        Ok(stream)
    }

    /// As `queue`, without waiting: returns what found no room, which has to follow as the writer empties.
    pub(crate) fn begin(
        &self,
        peer: SocketAddr,
        options: OpenOptions,
        mut data: Bytes,
    ) -> Result<(Stream, Bytes)> {
        let opened = self
            .shared
            .command(|core, now| core.begin_message(now, peer, options, &mut data));
        Ok((Stream::new(Arc::clone(&self.shared), opened?), data))
    }

    /// An association of one message, from its opening to the answer to `question`, and what it cost. An answer of at most
    /// `limit` octets may come without the question: `answered` makes of it what that would have said.
    fn exchange<T>(
        &self,
        (what, timeout): (&'static str, Option<Duration>),
        peer: SocketAddr,
        options: OpenOptions,
        data: Bytes,
        (limit, answered): (usize, fn(Bytes) -> T),
        mut question: impl FnMut(&mut Core, Time, ContextId) -> Poll<Result<T>>,
    ) -> Result<(T, ContextStats)> {
        let rest = RefCell::new(data);
        let mut stats = None;
        let (id, outcome) = self.shared.exchange(
            (what, timeout),
            peer,
            |core, now| core.begin_message(now, peer, options, &mut rest.borrow_mut()),
            |id| match rest.borrow().is_empty() {
                true => Expectation::Answer { id, limit },
                false => Expectation::Anything,
            },
            |core, now, id| {
                if let Some(message) = core.answered(id) {
                    return Poll::Ready(Ok(answered(message)));
                }
                let mut rest = rest.borrow_mut();
                // A long message follows as room appears.
                if !rest.is_empty()
                    && let Poll::Ready(Err(error)) = ops::finish(core, now, id, &mut rest)
                {
                    return Poll::Ready(Err(error));
                }
                match rest.is_empty() && !core.is_unheard(id) {
                    true => question(core, now, id),
                    false => Poll::Pending,
                }
            },
            |core, now, id| {
                stats = core.engine.final_stats(id);
                core.detach(now, id)
            },
        )?;
        match outcome {
            Ok(answer) => Ok((answer, stats.unwrap_or_default())),
            Err(error) => {
                give_up(Stream::new(Arc::clone(&self.shared), id), &error);
                Err(error)
            }
        }
    }
}

/// Ends an association whose outcome nobody waits for any more.
fn give_up(stream: Stream, error: &Error) {
    match error {
        Error::Timeout { .. } | Error::Interrupted | Error::MessageTooLong { .. } => stream.abort(),
        _ => drop(stream),
    }
}

/// Whether no answer comes to a message with these options.
pub(crate) fn is_unacknowledged(options: &OpenOptions) -> bool {
    options.service == xtp_wire::service::DATAGRAM
}
