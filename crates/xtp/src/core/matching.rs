//! Receives that are posted for messages of many associations, and what becomes of them, kept for whoever holds one.

use std::task::{Poll, Waker};

use smallvec::SmallVec;
use xtp_engine::{
    CloseReason, ContextId, Envelope, Match, PostedId, ReceiveError, Received, Source, Tags, Time,
};

use super::pending_receive::{PendingReceive, ReceiveOutcome};
use super::{Completion, Core};
use crate::error::{Error, Result};
use crate::matched::Matched;

impl Core {
    /// Posts a receive.
    pub(crate) fn post_receive(&mut self, now: Time, wanted: Match) -> Result<PostedId> {
        self.check_carrier()?;
        let posted = self.engine.command().post_receive(now, wanted)?;
        let awaited = PendingReceive {
            limit: wanted.length,
            outcome: None,
            told_by: None,
            wakers: SmallVec::new(),
        };
        self.awaited.insert(posted, awaited);
        // It may have its message already.
        self.dispatch_received();
        Ok(posted)
    }

    /// What became of receives goes to whoever holds them.
    #[inline]
    pub(super) fn dispatch_received(&mut self) {
        while let Some(received) = self.engine.command().poll_received() {
            self.note_received(received);
        }
    }

    fn note_received(&mut self, received: Received) {
        self.news += 1;
        let Some(awaited) = self.awaited.get_mut(&received.posted) else {
            return;
        };
        let outcome = match received.outcome {
            Ok(message) => Ok(Some(Matched::of(message))),
            Err(ReceiveError::Ended) => Ok(None),
            Err(ReceiveError::TooLong { .. }) => Err(Error::MessageTooLong { limit: awaited.limit }),
            Err(ReceiveError::Incomplete { octets }) => Err(Error::Incomplete {
                octets: octets as u64,
            }),
            Err(ReceiveError::Closed(reason)) => Err(Error::Closed(reason)),
            Err(_) => Ok(None),
        };
        match awaited.told_by {
            Some(queue) => {
                self.awaited.remove(&received.posted);
                self.complete_receive(queue, outcome);
            }
            None => {
                awaited.outcome = Some(outcome);
                awaited.wakers.drain(..).for_each(Waker::wake);
            }
        }
    }

    /// What becomes of a receive is told by a completion queue from now on, with `token`.
    pub(crate) fn queue_receive(&mut self, posted: PostedId, queue: u32, token: u64) {
        let Some((awaited, requests)) = self.awaited.get_mut(&posted).zip(self.requests.get_mut(&queue))
        else {
            return;
        };
        requests.open += 1;
        match awaited.outcome.take() {
            Some(outcome) => {
                self.awaited.remove(&posted);
                self.complete_receive((queue, token), outcome);
            }
            None => awaited.told_by = Some((queue, token)),
        }
    }

    fn complete_receive(&mut self, (queue, token): (u32, u64), outcome: ReceiveOutcome) {
        let message = outcome.as_ref().ok().and_then(Option::as_ref);
        let (tag, association) = (
            message.and_then(|message| message.tag),
            message.map(Matched::association),
        );
        let peer = association.and_then(|id| Some(self.engine.view().context(id).ok()?.peer()));
        let Some(requests) = self.requests.get_mut(&queue) else {
            return;
        };
        requests.open -= 1;
        requests.done.push_back(Completion {
            token,
            peer,
            result: match outcome {
                Ok(Some(message)) => Ok(message.into_bytes()),
                Ok(None) => Err(Error::Closed(CloseReason::Normal)),
                Err(error) => Err(error),
            },
            tag,
            stream: association.map(ContextId::as_u64),
        });
    }

    /// A completion queue is gone, and with it the receives that it tells of.
    pub(super) fn drop_receives_of(&mut self, queue: u32) {
        let mine = |awaited: &PendingReceive| awaited.told_by.is_some_and(|(its, _)| its == queue);
        let all = self.awaited.iter().filter(|(_, awaited)| mine(awaited));
        let posted: Vec<PostedId> = all.map(|(posted, _)| *posted).collect();
        for posted in posted {
            self.drop_receive(posted);
        }
    }

    /// What became of a receive, once.
    pub(crate) fn take_received(&mut self, posted: PostedId) -> Poll<ReceiveOutcome> {
        let Some(awaited) = self.awaited.get_mut(&posted) else {
            return Poll::Ready(Err(Error::Command(xtp_engine::Error::NoContext)));
        };
        match awaited.outcome.take() {
            Some(outcome) => {
                self.awaited.remove(&posted);
                Poll::Ready(outcome)
            }
            None => match self.check_carrier() {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            },
        }
    }

    /// Takes a receive back; false if it has its message, or the beginning of it, or was ended.
    pub(crate) fn cancel_receive(&mut self, posted: PostedId) -> bool {
        let cancelled = self.engine.command().cancel_receive(posted);
        if cancelled {
            self.awaited.remove(&posted);
        }
        cancelled
    }

    /// Nobody holds a receive any more.
    pub(crate) fn drop_receive(&mut self, posted: PostedId) {
        self.engine.command().cancel_receive(posted);
        self.awaited.remove(&posted);
    }

    /// The message that a receive would get; none, if no more come.
    pub(crate) fn peek(&mut self, source: Source, tags: Tags) -> Poll<Result<Option<Envelope>>> {
        if let Some(envelope) = self.engine.view().peek(source, tags) {
            return Poll::Ready(Ok(Some(envelope)));
        }
        if let Err(error) = self.check_carrier() {
            return Poll::Ready(Err(error));
        }
        let Source::Association(id) = source else {
            return Poll::Pending;
        };
        match self
            .engine
            .view()
            .context(id)
            .and_then(|context| context.no_more_messages())
        {
            Ok(None) => Poll::Pending,
            Ok(Some(ReceiveError::Closed(reason))) => Poll::Ready(Err(Error::Closed(reason))),
            Ok(Some(_)) => Poll::Ready(Ok(None)),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }

    /// Remembers a task that waits for a receive; one task is remembered once.
    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn remember_receiver(&mut self, posted: PostedId, waker: &Waker) {
        if let Some(awaited) = self.awaited.get_mut(&posted)
            && !awaited.wakers.iter().any(|known| known.will_wake(waker))
        {
            awaited.wakers.push(waker.clone());
        }
    }
}
