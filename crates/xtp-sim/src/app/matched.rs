//! A user who posts receives for messages instead of reading a stream.

use xtp_engine::{Error, Match, PostedId, ReceiveError, Received, Source, Tags};

use super::script::Pace;
use super::task::{Outcome, Task, Turn, nanos};

/// Longer than any message.
const LENGTH: usize = 1 << 24;
/// Receives of one user that are open at once.
const OPEN: usize = 4;

impl Task {
    /// The user posts more receives.
    pub(super) fn receive(&mut self, turn: &mut Turn<'_>) -> Result<(), String> {
        let closed = self.outcome != Outcome::Running;
        match self.script.reader.pace {
            _ if self.posted_receives.len() == OPEN => return Ok(()),
            Pace::Fast => {}
            _ if closed => {}
            Pace::Never => return Ok(()),
            Pace::StoppedUntil(until) if turn.world < nanos(until) => {
                self.sleep_until(nanos(until));
                return Ok(());
            }
            Pace::Slow { .. } | Pace::Bursty { .. } if turn.world < self.next_read => {
                self.sleep_until(self.next_read);
                return Ok(());
            }
            Pace::Slow { every, .. } | Pace::Bursty { every } => {
                self.next_read = turn.world + nanos(every);
            }
            Pace::StoppedUntil(_) => {}
        }
        self.post_more(turn)
    }

    /// What a receive got stays with the user, which may have released the association since.
    pub(super) fn take_all_received(&mut self, turn: &mut Turn<'_>) -> Result<(), String> {
        for received in std::mem::take(&mut self.received) {
            self.take_received(received, turn)?;
        }
        Ok(())
    }

    /// Whether this is a receive of this user's.
    pub(crate) fn has_posted(&self, posted: PostedId) -> bool {
        self.posted_receives.contains(&posted)
    }

    /// Its host crashed, and numbers its receives from the beginning again.
    pub(crate) fn forget_receives(&mut self) {
        self.posted_receives.clear();
    }

    /// Some receives for messages that may never come, and behind them one for whatever comes.
    fn post_more(&mut self, turn: &mut Turn<'_>) -> Result<(), String> {
        while self.posted_receives.len() < OPEN && !self.reader.ended && !self.gave_up_reading {
            let next = u64::from(self.reader.messages + self.posted_receives.len() as u32);
            let last = self.posted_receives.len() + 1 == OPEN;
            let tags = match next % 4 {
                _ if last && self.posted_any.is_none() => Tags::Any,
                0 => Tags::Like { tag: next, mask: 1 },
                1 => Tags::Without,
                2 => Tags::Like {
                    tag: next + 2,
                    mask: 0xff,
                },
                _ => Tags::Like { tag: 0, mask: 0 },
            };
            let wanted = Match {
                source: Source::Association(self.id),
                tags,
                length: LENGTH,
            };
            match turn.engine.command().post_receive(turn.now, wanted) {
                Ok(posted) => {
                    if tags == Tags::Any {
                        self.posted_any = Some(posted);
                    }
                    self.posted_receives.insert(posted);
                }
                Err(Error::NoContext) if self.outcome != Outcome::Running => self.gave_up_reading = true,
                Err(error) => return Err(format!("a receive was not posted: {error}")),
            }
        }
        Ok(())
    }

    fn take_received(&mut self, received: Received, turn: &mut Turn<'_>) -> Result<(), String> {
        if !self.posted_receives.remove(&received.posted) {
            return Err(format!(
                "{received:?} of a receive that was not posted, or has ended"
            ));
        }
        let any = self
            .posted_any
            .take_if(|posted| *posted == received.posted)
            .is_some();
        match received.outcome {
            Ok(message) if message.association != self.id => {
                Err(format!("{message:?} of another association"))
            }
            Ok(message) => {
                self.heard = true;
                self.matched.message(&message, turn.theirs, &mut self.reader)
            }
            // Of the others nobody knows whether what waits is for them.
            Err(ReceiveError::Ended) if any && self.may_read => {
                self.matched.end(turn.theirs, &mut self.reader)
            }
            Err(ReceiveError::Ended) => Ok(()),
            Err(ReceiveError::Closed(_) | ReceiveError::Incomplete { .. }) => {
                self.gave_up_reading = true;
                Ok(())
            }
            Err(error) => Err(format!("a receive failed: {error}")),
        }
    }
}
