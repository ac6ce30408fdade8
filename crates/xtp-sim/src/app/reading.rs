//! How a scripted user reads: at its pace, into posted buffers, and all of it checked.

use std::time::Duration;

use xtp_engine::{Error, Read};

use super::script::{Pace, Stretch};
use super::task::{Outcome, Task, Turn, nanos};
use crate::check::stream::Promise;

impl Task {
    /// It is closed, and not everything was read.
    pub(super) fn wants_to_read(&self) -> bool {
        matches!(self.outcome, Outcome::Closed(_))
            && self.may_read
            && !self.gave_up_reading
            && !self.reader.ended
    }

    pub(super) fn read(&mut self, turn: &mut Turn<'_>) -> Result<(), String> {
        // A message that a posted receive got is delivered, even if the user closes its reader before it looks.
        self.take_all_received(turn)?;
        if self.reader.ended || self.gave_up_reading || !self.may_read || self.leaves_unread() {
            return Ok(());
        }
        if self.script.reader.matched {
            return self.receive(turn);
        }
        self.post_at_first(turn)?;
        let closed = self.outcome != Outcome::Running;
        let mut budget = match self.script.reader.pace {
            _ if closed => u64::MAX,
            Pace::Fast => u64::MAX,
            Pace::Never => return Ok(()),
            Pace::StoppedUntil(until) if turn.world < nanos(until) => {
                self.sleep_until(nanos(until));
                return Ok(());
            }
            Pace::StoppedUntil(_) => u64::MAX,
            Pace::Slow { .. } | Pace::Bursty { .. } if turn.world < self.next_read => {
                self.sleep_until(self.next_read);
                return Ok(());
            }
            Pace::Slow { octets, every } => self.pause_after(turn.world, every, u64::from(octets)),
            Pace::Bursty { every } => self.pause_after(turn.world, every, u64::MAX),
        };
        let all = budget == u64::MAX && self.reader.promise() == Promise::Reliable;
        let whole = all
            && turn
                .engine
                .view()
                .context(self.id)
                .is_ok_and(|context| context.holds_message());
        let before = self.reader.messages;
        while budget > 0 {
            let max = (self.script.reader.piece as u64).min(budget) as usize;
            match self.take_item(turn, max)? {
                Some(octets) => budget = budget.saturating_sub(octets),
                None => break,
            }
        }
        if whole && self.reader.messages == before && !self.reader.ended {
            return Err("a whole message, or the end, was said to be here, and was not read".to_owned());
        }
        if let Pace::Slow { .. } | Pace::Bursty { .. } = self.script.reader.pace
            && !closed
            && !self.reader.ended
            && turn
                .engine
                .view()
                .context(self.id)
                .is_ok_and(|context| context.readable() > 0)
        {
            self.sleep_until(self.next_read);
        }
        Ok(())
    }

    fn pause_after(&mut self, world: u64, every: Duration, octets: u64) -> u64 {
        self.next_read = world + nanos(every);
        octets
    }

    fn post_at_first(&mut self, turn: &mut Turn<'_>) -> Result<(), String> {
        let Some(octets) = self.script.reader.post.filter(|_| !self.posted) else {
            return Ok(());
        };
        self.posted = true;
        self.command(turn, |engine, now, id| engine.post(now, id, octets))
    }

    /// Reads one item; how many octets it took, `None` when there is nothing more for now.
    fn take_item(&mut self, turn: &mut Turn<'_>, max: usize) -> Result<Option<u64>, String> {
        let stretch = self.script.reader.stretch;
        if stretch == Some(Stretch::Parts) {
            let octets = self.take_stretch(turn, Stretch::Parts, max as u64)?;
            if octets > 0 {
                self.post_again(turn, octets)?;
                return Ok(Some(octets));
            }
        }
        let item = match turn.engine.command().read(turn.now, self.id, max) {
            Ok(item) => item,
            Err(Error::Closed(_) | Error::NoContext) if self.outcome != Outcome::Running => {
                self.gave_up_reading = true;
                return Ok(None);
            }
            Err(Error::Closed(_)) => return Ok(None),
            Err(error) => return Err(format!("read failed: {error}")),
        };
        let before = self.reader.next;
        self.reader.item(&item, turn.theirs)?;
        if let Read::Data { eom, .. } = item {
            self.whole = eom;
            let left = max as u64 - (self.reader.next - before);
            if let (Some(stretch), false) = (stretch, eom || left == 0) {
                self.take_stretch(turn, stretch, left)?;
            }
        }
        match item {
            Read::Pending if self.outcome != Outcome::Running => {
                self.gave_up_reading = true;
                Ok(None)
            }
            Read::Pending | Read::End => Ok(None),
            _ => {
                let octets = self.reader.next - before;
                self.post_again(turn, octets)?;
                Ok(Some(octets))
            }
        }
    }

    /// What was read is free for what comes.
    fn post_again(&mut self, turn: &mut Turn<'_>, octets: u64) -> Result<(), String> {
        if self.script.reader.post.is_none() || self.outcome != Outcome::Running {
            return Ok(());
        }
        self.command(turn, |engine, now, id| engine.post(now, id, octets))
    }
}
