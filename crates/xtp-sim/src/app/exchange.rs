//! Users of whole messages: what they are handed as it comes, how they send and answer at once, and how they go.

use bytes::Bytes;
use xtp_engine::{CloseReason, Expectation, Parting, Read, Unit};

use super::script::{Pace, Step};
use super::task::{Outcome, Task, Turn};
use crate::check::stream::{Ledger, Promise};
use crate::content;

impl Task {
    /// Its first message and the end of its stream were handed over with its opening; `accepted` octets of it fit.
    pub(crate) fn has_begun(&mut self, accepted: usize, mine: &mut Ledger) {
        let Some(octets) = self.script.message() else {
            return;
        };
        let all = accepted == octets;
        mine.data(0, accepted as u64, all);
        self.written = accepted as u64;
        self.begun = true;
        match all {
            true => {
                mine.closed = true;
                self.step = 2;
            }
            false => self.sending = accepted as u32,
        }
    }

    /// Whether nothing came of it yet, so that there is nothing to ask the engine about it.
    pub(super) fn is_unheard(&self) -> bool {
        self.begun && !self.heard && self.outcome == Outcome::Running
    }

    /// Whether this user does not look for what came.
    pub(super) fn leaves_unread(&self) -> bool {
        let awaits = matches!(self.script.steps.get(self.step), Some(&Step::AwaitMessages(count)) if self.reader.messages < count);
        let idle = self.script.reader.on_demand && self.outcome == Outcome::Running && !awaits;
        idle || self.is_unheard()
    }

    /// What this user waits for, if that may be handed over as it comes; `plain`: its peer writes octets without messages.
    pub(crate) fn wants(&self, limit: usize, plain: bool) -> Option<Expectation> {
        let reader = &self.script.reader;
        let ready = self.outcome == Outcome::Running
            && self.may_read
            && (self.whole || plain)
            && reader.pace == Pace::Fast
            && reader.post.is_none()
            && !reader.matched
            && self.reader.promise() == Promise::Reliable;
        if !ready {
            return None;
        }
        let id = self.id;
        if self.begun && self.step >= 2 && self.reader.next == 0 {
            return Some(Expectation::Answer { id, limit });
        }
        if plain && !reader.on_demand && !self.begun {
            let (unit, limit) = (Unit::Octets, reader.piece);
            return Some(Expectation::Next { id, unit, limit });
        }
        let waits = matches!(self.script.steps.get(self.step), Some(&Step::AwaitMessages(count)) if self.reader.messages < count);
        let (unit, limit) = (Unit::Message, usize::MAX);
        (waits && !self.begun).then_some(Expectation::Next { id, unit, limit })
    }

    /// The user is given what it waited for.
    pub(crate) fn is_given(
        &mut self,
        offset: u64,
        octets: &Bytes,
        unit: Unit,
        theirs: &Ledger,
    ) -> Result<(), String> {
        let (bytes, eom) = (octets.clone(), unit == Unit::Message);
        self.reads(&Read::Data { offset, bytes, eom }, theirs)
    }

    /// The user reads an item.
    pub(crate) fn reads(&mut self, item: &Read, theirs: &Ledger) -> Result<(), String> {
        self.heard = true;
        self.reader.item(item, theirs)?;
        if let Read::Data { eom, .. } = item {
            self.whole = *eom;
        }
        Ok(())
    }

    /// The answer that was waited for came, and it was the end.
    pub(crate) fn is_answered(&mut self, world: u64, theirs: &Ledger) -> Result<(), String> {
        self.reads(&Read::End, theirs)?;
        self.outcome = Outcome::Closed(CloseReason::Normal);
        self.finished_at = world;
        Ok(())
    }

    /// Sends a message, or octets that end none, at once, if nothing else has to be done; false, and nothing done, if not.
    pub(super) fn send_at_once(&mut self, turn: &mut Turn<'_>, octets: u32, unit: Unit) -> bool {
        if !turn.habits.direct || self.sending > 0 || self.script.frames.is_some() || self.is_unheard() {
            return false;
        }
        let mut data = content::make(turn.mine.key, self.written, octets as usize);
        let sent = turn
            .engine
            .hand_out(turn.now, self.id, (None, &mut data), unit, turn.outbox);
        if sent {
            turn.mine.data(self.written, octets.into(), unit == Unit::Message);
            self.written += u64::from(octets);
            self.sending = octets;
        }
        sent
    }

    /// Answers a request and closes the writer: at once, or step by step.
    pub(super) fn respond(&mut self, turn: &mut Turn<'_>, octets: u32, unconfirmed: bool) {
        let mut data = content::make(turn.mine.key, self.written, octets as usize);
        let (now, id, engine) = (turn.now, self.id, &mut turn.engine);
        if turn.habits.direct && engine.respond_at_once(now, id, &mut data, unconfirmed, turn.outbox) {
            turn.mine.data(self.written, octets.into(), true);
            turn.mine.closed = true;
            self.written += u64::from(octets);
            return;
        }
        // Whoever answers so returns when the answer has had its turn.
        let mut steps = vec![
            Step::Send { octets, eom: true },
            Step::CloseWriter,
            Step::NextTurn,
        ];
        if unconfirmed {
            steps.insert(0, Step::UnconfirmedResponse);
        }
        let next = self.step + 1;
        self.script.steps.splice(next..next, steps);
    }

    /// The user goes although the association lives; what it sent is confirmed without it.
    pub(super) fn close(&mut self, turn: &mut Turn<'_>) {
        let (now, id) = (turn.now, self.id);
        let _ = turn.engine.command().discard(now, id, 0);
        match turn.engine.close(now, id, self.written) {
            Parting::Released => {}
            Parting::Leaving => drop(turn.orphans.insert(id, None)),
            Parting::Awaits(mark) => drop(turn.orphans.insert(id, mark)),
        }
        turn.mine.closed = true;
        self.may_read = false;
        self.outcome = Outcome::Released;
        self.finished_at = turn.world;
    }

    /// The user of an association that is over goes.
    pub(super) fn detach_ended(&mut self, turn: &mut Turn<'_>) {
        if !std::mem::replace(&mut self.detached, true) {
            let _ = turn.engine.final_stats(self.id);
            turn.engine.detach_ended(self.id);
        }
    }
}
