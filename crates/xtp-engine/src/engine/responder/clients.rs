//! The last answers, one a client: those of several clients that ask in turn serve each for its own.

use super::answer::Answer;
use core::net::SocketAddr;

/// Clients whose last answer is remembered.
const CLIENTS: usize = 16;

/// The answer to the client that came last, and those to others.
#[derive(Default)]
pub(super) struct Answers {
    all: Vec<Answer>,
    last: usize,
    /// The one that makes room for a new one, when there are as many as there may be.
    oldest: usize,
}

impl Answers {
    /// The answer to the client that came last.
    #[inline]
    pub(super) fn last(&self) -> Option<&Answer> {
        self.all.get(self.last)
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Answer> {
        self.all.get_mut(self.last)
    }

    /// Whether the last one is another client's. What one that is not in the books leaves behind is told by the last one, so
    /// it may be [changed](Self::turn_to) only when there is none.
    #[inline]
    pub(super) fn is_for_another(&self, src: SocketAddr) -> bool {
        self.last().is_some_and(|last| last.kind.src != src)
    }

    /// Makes the one to this client the last one, if there is one.
    pub(super) fn turn_to(&mut self, src: SocketAddr) {
        let found = self.all.iter().position(|answer| answer.kind.src == src);
        self.last = found.unwrap_or(self.last);
    }

    /// Remembers a new one, which is the last.
    pub(super) fn put(&mut self, answer: Answer) {
        self.turn_to(answer.kind.src);
        if self.last().is_none_or(|last| last.kind.src != answer.kind.src) {
            self.last = self.all.len();
            if self.last >= CLIENTS {
                self.last = self.oldest;
                self.oldest = (self.oldest + 1) % CLIENTS;
            }
        }
        match self.all.get_mut(self.last) {
            Some(place) => *place = answer,
            None => self.all.push(answer),
        }
    }
}
