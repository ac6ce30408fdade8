//! Associations of one message each that nobody waits for one by one: what becomes of them is queued.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Poll;

use bytes::Bytes;
use xtp_engine::{CloseReason, ContextId, Event, OpenOptions, Time};

use super::completions::{Completion, CompletionRequests};
use super::{Core, SlotHolder, ops};
use crate::error::{Error, Result};

impl Core {
    /// A new queue; its number.
    pub(crate) fn open_requests(&mut self, limit: usize) -> u32 {
        self.next_requests = self.next_requests.wrapping_add(1);
        let requests = CompletionRequests {
            open: 0,
            done: VecDeque::new(),
            limit,
        };
        self.requests.insert(self.next_requests, requests);
        self.next_requests
    }

    /// The queue is gone: what is under way ends like an association whose handle was dropped.
    pub(crate) fn close_requests(&mut self, now: Time, queue: u32) {
        if self.requests.remove(&queue).is_none_or(|gone| gone.open == 0) {
            return;
        }
        self.drop_receives_of(queue);
        let mine =
            |used_by: SlotHolder| matches!(used_by, SlotHolder::Request { queue: its, .. } if its == queue);
        let slots = self.slots.iter().filter(|(_, slot)| mine(slot.used_by));
        let ids: Vec<ContextId> = slots.map(|(id, _)| *id).collect();
        for id in ids {
            self.orphan(now, id);
        }
    }

    /// A queue, if its handle exists.
    pub(crate) fn requests(&mut self, queue: u32) -> Option<&mut CompletionRequests> {
        self.requests.get_mut(&queue)
    }

    /// Opens an association, queues its message and its end. Nothing leaves before the next turn.
    pub(crate) fn submit(
        &mut self,
        now: Time,
        queue: u32,
        peer: SocketAddr,
        options: OpenOptions,
        mut data: Bytes,
        token: u64,
    ) -> Result<()> {
        let limit = usize::try_from(options.tuning.send_capacity).unwrap_or(usize::MAX);
        if data.len() > limit {
            return Err(Error::MessageTooLong { limit });
        }
        let answered = options.service == xtp_wire::service::TRANSACTION;
        let id = self.begin_message(now, peer, options, &mut data)?;
        let slot = self.slot(id)?;
        slot.used_by = SlotHolder::Request {
            queue,
            answered,
            token,
        };
        if let Some(requests) = self.requests.get_mut(&queue) {
            requests.open += 1;
        }
        Ok(())
    }

    /// Something happened to a request.
    pub(super) fn request_event(&mut self, now: Time, id: ContextId, used_by: SlotHolder, event: &Event) {
        let SlotHolder::Request { queue, answered, .. } = used_by else {
            return;
        };
        let closed = matches!(event, Event::Closed(_));
        if !(closed || answered && *event == Event::Readable) {
            return;
        }
        let limit = self.requests.get(&queue).map_or(0, |requests| requests.limit);
        let outcome = match answered {
            true => ops::whole(self, now, id, limit),
            false => match self.ended(id) {
                None | Some(Error::Closed(CloseReason::Normal)) => Poll::Ready(Ok(Bytes::new())),
                Some(error) => Poll::Ready(Err(error)),
            },
        };
        if let Poll::Ready(result) = outcome {
            self.complete(now, id, used_by, result);
        }
    }

    /// Hands the outcome over and lets go of the association.
    pub(super) fn complete(&mut self, now: Time, id: ContextId, used_by: SlotHolder, result: Result<Bytes>) {
        let SlotHolder::Request { queue, token, .. } = used_by else {
            return;
        };
        let failed = result.is_err();
        if let Ok(slot) = self.slot(id) {
            slot.used_by = SlotHolder::User;
            let peer = slot.peer;
            if let Some(requests) = self.requests.get_mut(&queue) {
                requests.open -= 1;
                requests.done.push_back(Completion {
                    token,
                    peer: Some(peer),
                    result,
                    tag: None,
                    stream: None,
                });
            }
        }
        if failed && self.close_reason(id).is_none() {
            let _ = self.engine.command().abort(now, id);
            self.release(now, id);
        } else {
            self.orphan(now, id);
        }
    }
}
