//! The last answers, one a client: those of several clients that ask in turn serve each for its own.

use super::answer::Answer;
use super::known::Likeness;
use core::net::SocketAddr;
use std::sync::Arc;

/// Clients whose last answer is remembered.
const CLIENTS: usize = 16;

/// The last answer to a client.
pub(super) struct Last {
    pub(super) answer: Arc<Answer>,
    /// Known from the second of its kind on, if it can be told from others.
    pub(super) likeness: Option<Likeness>,
    pub(super) compared: bool,
}

/// The last answers.
#[derive(Default)]
pub(super) struct Answers {
    all: Vec<Last>,
    /// The one asked for last.
    last: usize,
    /// The one that makes room for a new one, when there are as many as there may be.
    oldest: usize,
}

impl Answers {
    /// The last answer to this client.
    #[inline]
    pub(super) fn to(&mut self, src: SocketAddr) -> Option<&mut Last> {
        if self.all.get(self.last)?.answer.peer() != src {
            self.last = self.place_of(src)?;
        }
        self.all.get_mut(self.last)
    }

    #[inline(never)]
    fn place_of(&self, src: SocketAddr) -> Option<usize> {
        self.all.iter().position(|last| last.answer.peer() == src)
    }

    /// Remembers a new one.
    pub(super) fn put(&mut self, answer: Answer) {
        let last = Last {
            answer: Arc::new(answer),
            likeness: None,
            compared: false,
        };
        if let Some(place) = self.to(last.answer.peer()) {
            *place = last;
        } else if self.all.len() < CLIENTS {
            self.all.push(last);
        } else {
            self.all[self.oldest] = last;
            self.oldest = (self.oldest + 1) % CLIENTS;
        }
    }
}
