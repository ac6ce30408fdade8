//! One end of an association with its user: takes the steps of a script, reads, and checks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use xtp_engine::{
    CloseReason, Confirm, ContextId, Driver, Engine, Error, Event, MarkAt, MarkId, PostedId, Received,
    Setting, Time, Unit,
};

use crate::app::frames;
use crate::app::script::{Script, Step};
use crate::check::matched::MatchedCheck;
use crate::check::stream::{Ledger, Promise, StreamCheck};
use crate::content;
use crate::habits::Habits;
use crate::host::Outbox;
use crate::trace::Side;

/// Octets offered to the engine at once where nothing asks for more.
const PIECE: u32 = 1 << 16;

/// How a task ended, or has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Running,
    /// The engine said so.
    Closed(CloseReason),
    /// The user forgot it.
    Released,
    /// The host went down.
    Crashed,
}

/// A position whose confirmation a user waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub id: MarkId,
    /// The position.
    pub at: u64,
    /// What confirmation means.
    pub what: Confirm,
    /// When it was reached, world time.
    pub reached: Option<u64>,
}

/// What a turn of the user works with.
pub struct Turn<'a> {
    /// The engine of the user's host.
    pub engine: &'a mut Driver,
    /// Where packets go that leave at once.
    pub outbox: &'a mut Outbox,
    /// Associations whose users have gone.
    pub orphans: &'a mut BTreeMap<ContextId, Option<MarkId>>,
    /// How the host is driven.
    pub habits: Habits,
    /// Time of that host.
    pub now: Time,
    /// Time of the world, nanoseconds.
    pub world: u64,
    /// What this end has written.
    pub mine: &'a mut Ledger,
    /// What the peer has written.
    pub theirs: &'a Ledger,
}

/// One end of one association.
#[derive(Clone, Debug)]
pub struct Task {
    /// Which flow it belongs to.
    pub flow: usize,
    /// Which end it is.
    pub side: Side,
    /// Its host.
    pub host: usize,
    /// Its context.
    pub id: ContextId,
    /// How it ended.
    pub outcome: Outcome,
    /// What it has read.
    pub reader: StreamCheck,
    /// Position up to which it has written.
    pub written: u64,
    /// Octets of a tag behind which it has not written: it leaves with the octet that follows.
    pub(super) bound: u64,
    /// When it last wrote while everything before was acknowledged, world time.
    pub(crate) open_since: u64,
    /// The peer's reader takes no more.
    pub refused: Option<u64>,
    /// Marks set.
    pub marks: Vec<Mark>,
    /// When it was last told something, world time.
    pub finished_at: u64,
    /// The peer was heard.
    pub heard: bool,
    pub(crate) script: Script,
    pub(super) step: usize,
    pub(super) sending: u32,
    /// Its message was handed over with its opening.
    pub(super) begun: bool,
    /// No part of a message was read without its end.
    pub(super) whole: bool,
    /// It is over, and its user has gone.
    pub(super) detached: bool,
    /// It counts as waiting at its listener.
    pub(crate) waits: bool,
    wake: Option<u64>,
    pub(super) next_read: u64,
    next_step_at: u64,
    pub(super) posted: bool,
    pub(super) gave_up_reading: bool,
    /// What it received of messages that are matched.
    pub(super) matched: MatchedCheck,
    /// Receives it has posted, and of these the one for whatever comes.
    pub(super) posted_receives: BTreeSet<PostedId>,
    pub(super) posted_any: Option<PostedId>,
    /// What became of some, and it has not looked at.
    pub(crate) received: Vec<Received>,
    pub(super) may_read: bool,
}

impl Task {
    /// A task whose association was just opened or accepted.
    pub fn new(
        flow: usize,
        side: Side,
        host: usize,
        id: ContextId,
        script: Script,
        promise: Promise,
    ) -> Self {
        Self {
            flow,
            side,
            host,
            id,
            outcome: Outcome::Running,
            reader: StreamCheck::new(promise),
            written: 0,
            bound: 0,
            open_since: 0,
            refused: None,
            marks: Vec::new(),
            finished_at: 0,
            heard: false,
            script,
            step: 0,
            sending: 0,
            begun: false,
            whole: true,
            detached: false,
            waits: false,
            wake: None,
            next_read: 0,
            next_step_at: 0,
            posted: false,
            gave_up_reading: false,
            matched: MatchedCheck::default(),
            posted_receives: BTreeSet::new(),
            posted_any: None,
            received: Vec::new(),
            may_read: true,
        }
    }

    /// When the user wants a turn without being told anything; world time.
    pub fn wake(&self) -> Option<u64> {
        if self.outcome == Outcome::Running || self.wants_to_read() {
            self.wake
        } else {
            None
        }
    }

    /// Whether nothing more will happen here.
    pub fn is_over(&self) -> bool {
        self.outcome != Outcome::Running && !self.wants_to_read()
    }

    /// Number of steps taken and of steps there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.step, self.script.steps.len())
    }

    /// The engine said something about this end.
    ///
    /// # Errors
    /// What the engine should not have said.
    pub fn event(&mut self, event: &Event, world: u64) -> Result<(), String> {
        if matches!(self.outcome, Outcome::Closed(_)) {
            return Err(format!("{event:?} after Closed"));
        }
        match event {
            Event::Heard => self.heard = true,
            Event::Marked(mark) => {
                let known = self
                    .marks
                    .iter_mut()
                    .find(|known| known.id == *mark && known.reached.is_none());
                match known {
                    Some(known) => known.reached = Some(world),
                    None => return Err(format!("{mark:?} reached twice, or never set")),
                }
            }
            Event::Refused { not_taken } => self.refused = Some(*not_taken),
            Event::Closed(reason) => {
                self.outcome = Outcome::Closed(reason.clone());
                self.finished_at = world;
            }
            _ => {}
        }
        Ok(())
    }

    /// The user's turn: reads and takes as many steps as it can.
    ///
    /// # Errors
    /// What was read and never written, or an error no correct engine gives.
    pub fn turn(&mut self, mut turn: Turn<'_>) -> Result<(), String> {
        match self.outcome {
            Outcome::Crashed => return Ok(()),
            Outcome::Released => return self.take_all_received(&mut turn),
            Outcome::Running | Outcome::Closed(_) => {}
        }
        if self.wake.is_some_and(|wake| wake <= turn.world) {
            self.wake = None;
        }
        self.read(&mut turn)?;
        if self.outcome == Outcome::Running {
            while self.take_step(&mut turn)? {}
        }
        // Steps may have changed the pace of reading.
        self.read(&mut turn)?;
        if matches!(self.outcome, Outcome::Closed(_)) && !self.wants_to_read() {
            if turn.habits.begins {
                self.may_read = false;
                self.detach_ended(&mut turn);
                return Ok(());
            }
            match turn.engine.command().release(turn.now, self.id) {
                Ok(()) | Err(Error::NoContext) => {}
                Err(error) => return Err(format!("release failed: {error}")),
            }
            self.may_read = false;
        }
        Ok(())
    }

    /// Position up to which what it has written may leave.
    pub(crate) fn ready(&self) -> u64 {
        self.written - self.bound
    }

    /// The user's turn is over, before which what it had written might leave up to `before`.
    pub(crate) fn note_open(&mut self, before: u64, engine: &Driver, world: u64) {
        if self.ready() > before && self.unacknowledged(engine) <= self.ready() - before {
            self.open_since = world;
        }
    }

    /// Octets that may leave and are not acknowledged.
    pub(crate) fn unacknowledged(&self, engine: &Driver) -> u64 {
        let context = engine.view().context(self.id);
        let acknowledged = context.map(|context| context.stats().octets_acknowledged);
        let ready = self.ready();
        ready.saturating_sub(acknowledged.unwrap_or(ready))
    }

    pub(super) fn sleep_until(&mut self, world: u64) {
        self.wake = Some(self.wake.map_or(world, |wake| wake.min(world)));
    }

    /// Gives a command; that the association has ended, or the peer reads no more, is no fault.
    pub(super) fn command<T>(
        &mut self,
        turn: &mut Turn<'_>,
        give: impl FnOnce(&mut Engine, Time, xtp_engine::ContextId) -> Result<T, Error>,
    ) -> Result<(), String> {
        self.ask(turn, give).map(|_| ())
    }

    fn ask<T>(
        &mut self,
        turn: &mut Turn<'_>,
        give: impl FnOnce(&mut Engine, Time, xtp_engine::ContextId) -> Result<T, Error>,
    ) -> Result<Option<T>, String> {
        match give(turn.engine.command(), turn.now, self.id) {
            Ok(value) => Ok(Some(value)),
            Err(Error::Closed(_)) => Ok(None),
            Err(Error::RefusedByPeer) => {
                self.refused.get_or_insert(0);
                Ok(None)
            }
            Err(error) => {
                let step = self.script.steps.get(self.step);
                // A writer the engine closed by itself (§6.3.1), or whose reader refused, can be closed again.
                let closing = matches!(step, Some(Step::CloseWriter));
                if error == Error::WriterClosed && (closing || self.refused.is_some()) {
                    return Ok(None);
                }
                Err(format!("step {} ({step:?}) failed: {error}", self.step))
            }
        }
    }

    /// Takes the next step if it can be taken now.
    fn take_step(&mut self, turn: &mut Turn<'_>) -> Result<bool, String> {
        let Some(step) = self.script.steps.get(self.step).cloned() else {
            return Ok(false);
        };
        if !self.may_go_on(&step) {
            return Ok(false);
        }
        let done = match step {
            Step::Send { octets, eom } => self.send(turn, octets, eom)?,
            Step::Tag(tag) => self.send_tag(turn, tag)?,
            Step::Wait(span) => {
                // The moment is fixed when the step begins; `sending` says that it has begun.
                if self.sending == 0 {
                    self.sending = 1;
                    self.next_step_at = turn.world + nanos(span);
                }
                self.wait_for(turn.world, self.next_step_at)
            }
            Step::Until(moment) => self.wait_for(turn.world, nanos(moment)),
            Step::Mark(what) => {
                let id = self.ask(turn, |engine, now, id| engine.mark(now, id, MarkAt::Queued, what))?;
                self.remember(id, what)
            }
            Step::MarkQuietly(what) => {
                let at = MarkAt::Offset(self.written);
                let id = self.ask(turn, |engine, now, id| engine.mark(now, id, at, what))?;
                self.remember(id, what)
            }
            Step::CloseWriter => {
                turn.mine.closed = true;
                self.bound = 0;
                self.command(turn, |engine, now, id| engine.close_writer(now, id))?;
                true
            }
            Step::CloseReader => {
                self.may_read = false;
                self.command(turn, |engine, now, id| engine.close_reader(now, id))?;
                true
            }
            Step::Read(pace) => {
                self.script.reader.pace = pace;
                true
            }
            Step::Respond { octets, unconfirmed } => {
                self.respond(turn, octets, unconfirmed);
                true
            }
            Step::NextTurn => {
                let had = std::mem::replace(&mut self.sending, 1) == 1;
                if !had {
                    self.sleep_until(turn.world);
                }
                had
            }
            Step::LetGo => {
                self.close(turn);
                false
            }
            Step::Release => {
                self.command(turn, |engine, now, id| engine.release(now, id))?;
                turn.mine.closed = true;
                self.may_read = false;
                self.outcome = Outcome::Released;
                self.finished_at = turn.world;
                false
            }
            Step::AwaitMessages(_)
            | Step::AwaitOctets(_)
            | Step::AwaitEnd
            | Step::AwaitHeard
            | Step::AwaitMarks
            | Step::AwaitMarksLeft(_) => true,
            other => self.control(turn, &other)?,
        };
        if done {
            self.step += 1;
            self.sending = 0;
        }
        Ok(done && self.outcome == Outcome::Running)
    }

    fn remember(&mut self, id: Option<MarkId>, what: Confirm) -> bool {
        self.marks.extend(id.map(|id| Mark {
            id,
            at: self.written,
            what,
            reached: None,
        }));
        true
    }

    fn may_go_on(&self, step: &Step) -> bool {
        // Who takes no more, or has everything there is, waits for nothing to read.
        let taken = !self.may_read || self.reader.ended;
        match *step {
            Step::AwaitMessages(count) => taken || self.reader.messages >= count,
            Step::AwaitOctets(octets) => taken || self.reader.next >= octets,
            Step::AwaitEnd => taken,
            Step::AwaitHeard => self.heard,
            Step::AwaitMarks => self.open_marks() == 0,
            Step::AwaitMarksLeft(most) => self.open_marks() <= most as usize,
            _ => true,
        }
    }

    fn open_marks(&self) -> usize {
        self.marks.iter().filter(|mark| mark.reached.is_none()).count()
    }

    fn control(&mut self, turn: &mut Turn<'_>, step: &Step) -> Result<bool, String> {
        self.command(turn, |engine, now, id| match *step {
            Step::Connect => engine.connect(now, id),
            Step::Abort => engine.abort(now, id),
            Step::ErrorControl(kind) => engine.set(now, id, Setting::ErrorControl(kind)),
            Step::InRate(rate) => engine.set(now, id, Setting::InRate(rate)),
            Step::OutRate(rate) => engine.set(now, id, Setting::OutRate(rate)),
            Step::Sort(sort) => engine.set(now, id, Setting::Sort(sort)),
            Step::Post(octets) => engine.post(now, id, octets),
            Step::UnconfirmedResponse => engine.set(now, id, Setting::UnconfirmedResponse(true)),
            _ => Ok(()),
        })?;
        Ok(true)
    }

    fn wait_for(&mut self, world: u64, moment: u64) -> bool {
        if world >= moment {
            return true;
        }
        self.sleep_until(moment);
        false
    }

    fn send(&mut self, turn: &mut Turn<'_>, octets: u32, eom: bool) -> Result<bool, String> {
        if self.refused.is_some() {
            return Ok(true);
        }
        let unit = if eom { Unit::Message } else { Unit::Octets };
        if self.send_at_once(turn, octets, unit) {
            self.bound = 0;
            return Ok(true);
        }
        while self.sending < octets {
            let left = octets - self.sending;
            // A message goes in one piece: a datagram is taken whole or not at all.
            let piece = if eom { left } else { left.min(PIECE) };
            let data = content::make(turn.mine.key, self.written, piece as usize);
            let last = eom && piece == left;
            let framed = self.script.frames.map(|payload| frames::of(&data, payload));
            let taken = self.ask(turn, |engine, now, id| match framed {
                Some(mut framed) => engine.send_framed(now, id, &mut framed, last),
                None => engine.send_from(now, id, &mut { data }, last),
            })?;
            let Some(taken) = taken else {
                return Ok(true);
            };
            if taken as u64 > u64::from(piece) {
                return Err(format!("send took {taken} of {piece} octets"));
            }
            let whole = taken as u32 == piece;
            turn.mine.data(self.written, taken as u64, last && whole);
            self.written += taken as u64;
            self.sending += taken as u32;
            self.bound = if taken > 0 { 0 } else { self.bound };
            if !whole {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn send_tag(&mut self, turn: &mut Turn<'_>, tag: u64) -> Result<bool, String> {
        // No room: `Writable` follows when there is.
        if turn
            .engine
            .view()
            .context(self.id)
            .is_ok_and(|context| context.writable() < 8)
            && self.refused.is_none()
        {
            return match turn.engine.command().send_tag(turn.now, self.id, tag) {
                Err(Error::Limit(_)) => Ok(false),
                Err(Error::Closed(_) | Error::WriterClosed | Error::RefusedByPeer) => Ok(true),
                other => Err(format!("a tag without room: {other:?}")),
            };
        }
        if self
            .ask(turn, |engine, now, id| engine.send_tag(now, id, tag))?
            .is_some()
        {
            turn.mine.tag(self.written, tag);
            self.written += 8;
            self.bound = 8;
        }
        Ok(true)
    }
}

/// A span as nanoseconds.
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
