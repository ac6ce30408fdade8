//! Commands of the user, one context each.

use super::{Engine, Read};
use crate::context::{Context, Env};
use crate::error::Error;
use crate::event::{ContextId, ListenerId, MarkId};
use crate::frames::Framed;
use crate::options::{Confirm, ErrorControl, ListenOptions, Rate};
use crate::recv::octets::Octets;
use crate::stats::ContextStats;
use crate::time::Time;
use bytes::{Buf, Bytes};
use core::net::SocketAddr;

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
        self.initiators.expect_nothing_usual_of(slot);
        self.run_command(slot, act)
    }

    fn run_command<R>(
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

    fn look<R>(&self, id: ContextId, see: impl FnOnce(&Context) -> R) -> Result<R, Error> {
        let slot = self.slot(id)?;
        self.see(slot, see).ok_or(Error::NoContext)
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

    /// Octets of user data a full packet of this association carries at present: the path's longest datagram, or what the
    /// peer accepts, less the header. It may change with the path.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn packet_payload(&self, id: ContextId) -> Result<usize, Error> {
        self.look(id, Context::segment_size)
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

    /// Room left for [`send`](Self::send), octets.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn writable(&self, id: ContextId) -> Result<u64, Error> {
        self.look(id, Context::room)
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
        if self.readable(id)? < LONG {
            return Ok(());
        }
        self.command(now, id, |context, _| context.read_plain(max, take))
    }

    /// Octets that can be read at once.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn readable(&self, id: ContextId) -> Result<u64, Error> {
        let slot = self.slot(id)?;
        match self.contexts.pending(slot) {
            Some(record) => Ok(record.readable()),
            None => self.look(id, Context::readable),
        }
    }

    /// Whether a whole message, or all of the peer's stream that will come, can be read at once.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn holds_message(&self, id: ContextId) -> Result<bool, Error> {
        match self.contexts.responder(self.slot(id)?) {
            // It came whole.
            Some(_) => Ok(true),
            None => self.look(id, Context::holds_message),
        }
    }

    /// Whether the peer has shown that it receives what is sent to its address (§7.3); one that was asked to begin by this end
    /// need not show it.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn is_proved(&self, id: ContextId) -> Result<bool, Error> {
        match self.contexts.responder(self.slot(id)?) {
            Some(record) => Ok(record.is_proved()),
            None => self.look(id, |context| !context.is_responder() || context.peer.validated),
        }
    }

    /// The user posted receive buffers for this many more octets; only these are advertised from now on (RES, 11.2).
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
    pub fn forgo_reader(&mut self, now: Time, id: ContextId) -> Result<(), Error> {
        if self.forgo_request(now, id) {
            return Ok(());
        }
        self.command(now, id, |context, env| context.forgo_reader(env))
    }

    /// Whether the peer waits for its octets to be read, so that releasing the association now would abort it.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn owes_delivery(&self, id: ContextId) -> Result<bool, Error> {
        match self.contexts.responder(self.slot(id)?) {
            Some(record) => Ok(record.owes_delivery()),
            None => self.look(id, Context::owes_delivery),
        }
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
        self.learn_before_release(slot);
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

    /// Asks for confirmation of everything queued so far (§3.5(f)): one
    /// [`Event::Marked`](crate::Event::Marked) when it is acknowledged or delivered.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`], [`Error::Closed`], [`Error::Limit`] beyond 65 536 open marks, [`Error::RefusedByPeer`] if the
    /// peer's reader takes no more and cannot confirm it.
    pub fn mark(&mut self, now: Time, id: ContextId, what: Confirm) -> Result<MarkId, Error> {
        let mark = self.fresh_mark();
        self.command(now, id, |context, env| {
            let end = context.writer.queue.end();
            context.mark(mark, end, what, true, env)
        })??;
        Ok(mark)
    }

    /// A mark at a stream offset (as [`send`](Self::send) counts) that asks for nothing: one event when everything
    /// below was acknowledged or delivered, whenever status brings that to light.
    ///
    /// # Errors
    ///
    /// As [`mark`](Self::mark).
    pub fn mark_at(&mut self, now: Time, id: ContextId, offset: u64, what: Confirm) -> Result<MarkId, Error> {
        let mark = self.fresh_mark();
        if self.mark_pending(now, id, mark, offset, what) {
            return Ok(mark);
        }
        self.command(now, id, |context, env| {
            context.mark(mark, offset, what, false, env)
        })??;
        Ok(mark)
    }

    fn fresh_mark(&mut self) -> MarkId {
        self.next_mark += 1;
        MarkId(self.next_mark)
    }

    /// Switches this reader between selective repeat and go-back-N; to go-back-N only when nothing is stored
    /// beyond a hole (§4.4).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn set_error_control(&mut self, now: Time, id: ContextId, kind: ErrorControl) -> Result<(), Error> {
        self.command(now, id, |context, _| context.set_error_control(kind))
    }

    /// Limits the peer's writer from now on (TCNTL, repeated until confirmed).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn set_in_rate(&mut self, now: Time, id: ContextId, rate: Rate) -> Result<(), Error> {
        self.command(now, id, |context, _| context.set_in_rate(rate))
    }

    /// Limits this writer from now on.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn set_out_rate(&mut self, now: Time, id: ContextId, rate: Rate) -> Result<(), Error> {
        self.command(now, id, |context, env| context.set_out_rate(rate, env))
    }

    /// Priority of this writer's packets (§5.4).
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn set_sort(&mut self, now: Time, id: ContextId, sort: Option<u16>) -> Result<(), Error> {
        self.command(now, id, |context, _| context.tuning.sort = sort)
    }

    /// Answer with END if the response fits one packet (L6). For a responder, before it writes.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn set_unconfirmed_response(&mut self, now: Time, id: ContextId, on: bool) -> Result<(), Error> {
        if self.confirm_response(now, id, on) {
            return Ok(());
        }
        self.command(now, id, |context, _| context.pattern.unconfirmed_response = on)
    }

    /// The peer's address.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn peer(&self, id: ContextId) -> Result<SocketAddr, Error> {
        if let Some(record) = self.contexts.pending(self.slot(id)?) {
            return Ok(record.peer());
        }
        self.look(id, |context| context.peer.addr)
    }

    /// Counters of one context.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn context_stats(&self, id: ContextId) -> Result<ContextStats, Error> {
        self.look(id, Context::stats_now)
    }
}
