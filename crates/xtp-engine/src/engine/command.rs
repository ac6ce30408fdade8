//! Commands of the user, one context each.

use super::{Engine, Read};
use crate::context::{Context, Env};
use crate::error::Error;
use crate::event::{ContextId, ListenerId, MarkAt, MarkId};
use crate::options::{Confirm, ListenOptions, Setting};
use bytes::{Buf, Bytes};
use xtp_core::frames::Framed;
use xtp_core::recv::octets::Octets;
use xtp_core::time::Time;

/// Octets from which on a stretch is read in one go.
const LONG: u64 = 8 << 10;

impl Engine {
    /// Runs a command on a context and gives it a turn in the next flush.
    fn command<R>(
        &mut self,
        now: Time,
        id: ContextId,
        act: impl FnOnce(&mut Context, &mut Env<'_>) -> R,
    ) -> Result<R, Error> {
        self.advance(now);
        let slot = self.slot_of_context(id)?;
        self.run_command(slot, act)
    }

    pub(super) fn run_command<R>(
        &mut self,
        slot: u32,
        act: impl FnOnce(&mut Context, &mut Env<'_>) -> R,
    ) -> Result<R, Error> {
        let rationed = self.memory.is_rationed();
        if rationed {
            self.ration(slot, 0);
        }
        let result = self.with(slot, act).ok_or(Error::NoContext)?;
        if rationed {
            self.account(slot);
        }
        self.mark_dirty(slot);
        Ok(result)
    }

    /// Starts listening.
    ///
    /// # Errors
    ///
    /// [`Error::PortInUse`] if another listener has this service number.
    pub fn listen(&mut self, options: ListenOptions) -> Result<ListenerId, Error> {
        // Who was let in before was let in by those who listened then.
        self.catch_up();
        self.listeners.add(options)
    }

    /// Stops listening; accepted contexts live on.
    ///
    /// # Errors
    ///
    /// [`Error::NoListener`].
    pub fn unlisten(&mut self, listener: ListenerId) -> Result<(), Error> {
        self.catch_up();
        self.listeners.remove(listener).map(|_| ())
    }

    /// The user took an accepted association from the listener's backlog.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn accepted(&mut self, id: ContextId) -> Result<(), Error> {
        let slot = self.slot(id)?;
        self.leave_backlog(slot);
        Ok(())
    }

    /// Sends FIRST with the next flush although there is no data yet: for a lasting association whose initiator
    /// reads first.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn connect(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        self.command(now, id, |context, _| context.connect())
    }

    /// Queues octets by reference; returns how many were accepted, fewer than offered if `send_capacity` is
    /// reached ([`Event::Writable`](crate::Event::Writable) follows). `eom` marks the last octet as the end of a
    /// message if all were accepted. A service-1 datagram is accepted whole or not at all.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`], [`Error::WriterClosed`], [`Error::RefusedByPeer`], [`Error::Closed`],
    /// [`Error::TooLong`].
    pub fn send(&mut self, now: Time, id: ContextId, mut data: Bytes, eom: bool) -> Result<usize, Error> {
        let len = data.len();
        if self.send_response(now, id, &mut data, eom) {
            return Ok(len);
        }
        if let Some(sent) = self.send_express(now, id, &mut data, eom) {
            return sent;
        }
        self.command(now, id, |context, _| context.send(data, eom))?
    }

    /// As [`send`](Self::send); what was accepted is gone from `data`.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_from(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        eom: bool,
    ) -> Result<usize, Error> {
        let len = data.len();
        if self.send_response(now, id, data, eom) {
            return Ok(len);
        }
        let accepted = self.send(now, id, data.clone(), eom)?;
        data.advance(accepted.min(len));
        Ok(accepted)
    }

    /// As [`send_from`](Self::send_from), for memory laid out as packets ([`Frames`](crate::Frames)): where a packet can
    /// carry a frame, the frames leave from where they lie.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_framed(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Framed,
        eom: bool,
    ) -> Result<usize, Error> {
        let accepted = self.command(now, id, |context, _| context.send_framed(data, eom))??;
        data.advance(accepted);
        Ok(accepted)
    }

    /// Binds an out-of-band tag to the next octet sent. It takes eight octets of the stream's sequence space.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send); [`Error::Limit`] while there is no room.
    pub fn send_tag(&mut self, now: Time, id: ContextId, tag: u64) -> Result<(), Error> {
        if let Some(sent) = self.send_tag_express(now, id, tag) {
            return sent;
        }
        self.command(now, id, |context, _| context.send_tag(tag))?
    }

    /// Says that the user waits for room: [`Event::Writable`](crate::Event::Writable) follows when octets were acknowledged.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn wait_for_room(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        self.command(now, id, |context, _| context.wait_for_room())
    }

    /// A tag at the end of what was written leaves without its octet, which may never be written here (§9.7).
    pub(crate) fn let_tag_leave(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        self.command(now, id, |context, _| context.let_tag_leave())
    }

    /// Takes the next item of the peer's stream, at most `max` octets of data (at least 1).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn read(&mut self, now: Time, id: ContextId, max: usize) -> Result<Read, Error> {
        if let Some(read) = self.read_pending(now, id, max) {
            return Ok(read);
        }
        if let Some(read) = self.read_express(now, id, max) {
            return read;
        }
        self.advance(now);
        let slot = self.slot_of_context(id)?;
        self.run_command(slot, |context, _| context.read(max))?
    }

    /// Reads on where a long stretch of plain octets waits: whole pieces, at most `max` octets together, each handed to
    /// `take` with its place in the stream. What is short, or ends a message, is left to [`Engine::read`].
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn read_plain(
        &mut self,
        now: Time,
        id: ContextId,
        max: usize,
        take: impl FnMut(u64, Octets),
    ) -> Result<(), Error> {
        if self.context(id)?.readable() < LONG {
            return Ok(());
        }
        self.command(now, id, |context, _| context.read_plain(max, take))
    }

    /// The user posted receive buffers for this many more octets; only these are advertised from now on (RES, §5.1).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`], [`Error::InvalidOption`] without [`Tuning::posts`](crate::Tuning::posts).
    pub fn post(&mut self, now: Time, id: ContextId, octets: u64) -> Result<(), Error> {
        self.command(now, id, |context, _| context.post(octets))?
    }

    /// Nothing follows from here: graceful half close (§6.1). Idempotent.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`], [`Error::Closed`].
    pub fn close_writer(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        if self.close_pending(now, id) {
            return Ok(());
        }
        self.command(now, id, |context, _| context.close_writer())?
    }

    /// Nothing more is wanted: early reader close, the peer is told (§6.2). Unread octets are discarded.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn close_reader(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        self.command(now, id, |context, env| context.refuse_reader(env))
    }

    /// The user takes no more of what comes, and the peer may finish: what can be read is thrown away, and so are the last
    /// `untaken` octets that were read for the user. None of it counts as delivered; whoever asks whether it was is
    /// told by an abort when all of the stream is here (§6.6).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn discard(&mut self, now: Time, id: ContextId, untaken: u64) -> Result<(), Error> {
        if untaken == 0 && self.discard_pending(now, id) {
            return Ok(());
        }
        self.command(now, id, |context, env| context.discard(untaken, env))
    }

    /// As [`close_reader`](Self::close_reader) for a user who has gone: only where the peer was heard, does not wait for
    /// delivery, and has not been asked for an answer.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub(crate) fn forgo_reader(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        if self.forgo_request(now, id) {
            return Ok(());
        }
        self.command(now, id, |context, env| context.forgo_reader(env))
    }

    /// Forced close: everything queued is discarded, the peer is told once (§6.6).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn abort(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        self.command(now, id, |context, env| context.abort(env))
    }

    /// As [`abort`](Self::abort) of an association the peer began, and the peer's user is told why:
    /// [`CloseReason::Rejected`](crate::CloseReason::Rejected). Of `text` it gets
    /// [`LONGEST_REASON`](crate::LONGEST_REASON) octets at most, and less while its address is not proved. One that this end
    /// began is aborted and no more.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn reject(&mut self, now: Time, id: ContextId, code: u32, text: &str) -> Result<(), Error> {
        self.command(now, id, |context, env| context.reject(code, text, env))
    }

    /// The user forgets the context; `id` means nothing afterwards. A live one is closed in the background: its
    /// writer gracefully, its reader by refusal.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn release(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        if self.release_at_once(now, id) || self.release_response(now, id) {
            return Ok(());
        }
        self.advance(now);
        let slot = self.slot_of_context(id)?;
        let at = self.now;
        let over = |context: &mut Context, env: &mut Env<'_>| {
            context.release(env);
            !context.dirty && context.is_quiet_for_good(at)
        };
        match self.with(slot, over).ok_or(Error::NoContext)? {
            // Nothing would leave in a turn: what is left of it is put away at once.
            true => self.settle(slot),
            false => self.mark_dirty(slot),
        }
        Ok(())
    }

    /// Notes a place in what is written: one [`Event::Marked`](crate::Event::Marked) follows when everything up to there was
    /// acknowledged, or delivered, as `what` says.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`], [`Error::Closed`], [`Error::Limit`] beyond 65 536 open marks, [`Error::RefusedByPeer`] if the
    /// peer's reader takes no more and cannot confirm it.
    pub fn mark(&mut self, now: Time, id: ContextId, at: MarkAt, what: Confirm) -> Result<MarkId, Error> {
        let mark = self.fresh_mark();
        if let MarkAt::Offset(offset) = at
            && self.mark_pending(now, id, mark, offset, what)
        {
            return Ok(mark);
        }
        self.command(now, id, |context, env| match at {
            MarkAt::Queued => {
                let end = context.written_end();
                context.mark(mark, end, what, true, env)
            }
            MarkAt::Offset(offset) => context.mark(mark, offset, what, false, env),
        })??;
        Ok(mark)
    }

    fn fresh_mark(&mut self) -> MarkId {
        self.next_mark += 1;
        MarkId(self.next_mark)
    }

    /// Changes one option of an association, from now on.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn set(&mut self, now: Time, id: ContextId, setting: Setting) -> Result<(), Error> {
        if let Setting::UnconfirmedResponse(on) = setting
            && self.confirm_response(now, id, on)
        {
            return Ok(());
        }
        self.command(now, id, |context, env| match setting {
            Setting::ErrorControl(kind) => context.set_error_control(kind),
            Setting::InRate(rate) => context.set_in_rate(rate),
            Setting::OutRate(rate) => context.set_out_rate(rate, env),
            Setting::Sort(sort) => context.tuning.sort = sort,
            Setting::UnconfirmedResponse(on) => context.pattern.unconfirmed_response = on,
        })
    }
}
