//! What a rank waits for in a step, and what came before it waited.

use crate::error::{Problem, Worked};
use crate::patterns::message::{Link, Message};

/// Messages of later steps that are kept: far more than any pattern lets neighbours run ahead.
const EARLY: usize = 65_536;

/// The messages of one rank.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    rank: usize,
    step: u32,
    expected: Vec<(Link, bool)>,
    missing: usize,
    early: Vec<Message>,
}

impl Inbox {
    /// The inbox of a rank.
    pub(crate) fn new(rank: usize) -> Self {
        Self {
            rank,
            ..Self::default()
        }
    }

    /// Begins a step in which one message comes on each of `links`.
    ///
    /// # Errors
    /// If one that came early does not belong.
    pub(crate) fn begin(&mut self, step: u32, links: &[Link]) -> Worked<()> {
        self.step = step;
        self.expected.clear();
        self.expected.extend(links.iter().map(|link| (*link, false)));
        self.missing = links.len();
        for message in std::mem::take(&mut self.early) {
            self.take(message)?;
        }
        Ok(())
    }

    /// Whether everything of this step has come.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// A message came.
    ///
    /// # Errors
    /// If it is for somebody else, came twice, or nobody should have sent it.
    pub(crate) fn take(&mut self, message: Message) -> Worked<()> {
        let wrong = |what: &str| Err(Problem::new(format!("rank {}: {what}: {message:?}", self.rank)));
        if usize::from(message.to) != self.rank {
            return wrong("a message for somebody else");
        }
        if message.step < self.step {
            return wrong("a message of a step that is over");
        }
        if message.step > self.step {
            if self.early.len() == EARLY {
                return wrong("too many messages of later steps");
            }
            self.early.push(message);
            return Ok(());
        }
        match self.expected.iter_mut().find(|(link, _)| *link == message.link()) {
            None => wrong("a message nobody should have sent"),
            Some((_, true)) => wrong("a message that came already"),
            Some((_, came)) => {
                *came = true;
                self.missing -= 1;
                Ok(())
            }
        }
    }

    /// Says who waits for whom.
    pub(crate) fn stuck(&self, seconds: f64, trouble: &str) -> Problem {
        let missing = self.expected.iter().filter(|(_, came)| !came);
        let missing: Vec<String> = missing
            .map(|(link, _)| format!("rank {} (channel {})", link.rank, link.channel))
            .collect();
        Problem::new(format!(
            "rank {} waited {seconds:.0} s in step {} for {}{trouble}",
            self.rank,
            self.step,
            missing.join(", ")
        ))
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
