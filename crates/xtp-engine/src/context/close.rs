//! Ending: the user's closes, END, refusals, DIAG, and what is left behind (§6.4, §7.5).

use super::delivery::asks_for_delivery;
use super::doubt::CERTAINTY;
use super::timers::Timer;
use super::{Context, Env, Opening, Restart, Role, State, Transition};
use crate::admit::AgeRefusal;
use crate::error::{CloseReason, DiagReason};
use crate::event::Event;
use crate::plausible::is_part_of_it;
use core::time::Duration;
use xtp_congestion::Controller;
use xtp_core::path::hint::Hint;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{Caps, DiagCode, DiagValue, Header, Options, Packet, service};

/// An inactive context answers at most once in this time (§6.8).
pub(super) const ANSWER_SPACING: Duration = Duration::from_millis(5);

/// An initiator that sent END answers for so long where there is room, as a tombstone does: its peer may know no round trip, or be cut off,
/// and asks for as long (§6.7).
pub(crate) const LINGER: Duration = Duration::from_secs(60);

/// How long an initiator whose WTIMER is this long answers stragglers (§3.7).
pub(crate) fn afterlife(wtimer: Duration) -> Duration {
    let life = (20 * wtimer).clamp(Duration::from_secs(1), Duration::from_secs(10));
    // Whole seconds: few different lives, so those in time-wait expire in the order they came.
    Duration::from_secs(life.as_secs() + u64::from(life.subsec_nanos() > 0))
}

impl Context {
    /// The association is over for this end.
    pub(crate) fn finish(&mut self, reason: CloseReason, env: &mut Env<'_>) {
        if self.closed.is_some() {
            return;
        }
        let was = self.state;
        self.transition(Transition::Finished);
        let reason = match reason {
            CloseReason::Normal => self.good_end(),
            other => other,
        };
        self.timers.stop_all();
        let life = self.afterlife(was);
        self.timers.set(Timer::Context, env.now + life);
        if self.state == State::Inactive {
            match life {
                Duration::ZERO => {
                    self.transition(Transition::Forgotten);
                }
                _ => self.timers.set(Timer::Zombie, env.now + LINGER),
            }
        }
        if reason == CloseReason::Normal {
            self.writer.una = self.writer.una.max(self.writer.nxt);
        }
        self.reach_marks(env);
        self.writer.drop_all();
        self.reader.assembly = None;
        // Nothing that comes is stored any more, so what lies behind a hole is never read.
        self.reader.store.forget_pieces();
        self.closed = Some(reason.clone());
        if !self.reader.announced && self.reader.store.readable() > 0 {
            self.reader.announced = true;
            self.event(env, Event::Readable);
        }
        self.event(env, Event::Closed(reason));
    }

    /// ZTIMER (§3.7): how long stragglers are answered, whatever room there is.
    pub(super) fn afterlife(&self, was: State) -> Duration {
        let heard = was.heard();
        let received_at_initiator = self.end_received && self.role == Role::Initiator;
        if !heard || self.pattern.one_way || received_at_initiator {
            return Duration::ZERO;
        }
        match self.role {
            // The engine's tombstone answers for it.
            Role::Responder => Duration::ZERO,
            Role::Initiator => afterlife(self.rtt.wtimer_base()),
        }
    }

    /// A packet for an inactive context (§6.8).
    pub(crate) fn straggler(&mut self, packet: &Packet<'_>, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let header = &packet.header;
        if !is_part_of_it(&packet.body) || !self.is_plausible(header, &packet.body) {
            self.stats.implausible += 1;
            return;
        }
        if header.options.contains(Options::END) {
            if !self.end_received && self.role == Role::Responder {
                self.end_received = true;
                self.timers.set(Timer::Zombie, env.now + Duration::from_secs(30));
            }
            return;
        }
        if self
            .timers
            .last_answer()
            .is_some_and(|at| env.now.since(at) < ANSWER_SPACING)
        {
            return;
        }
        for (timer, life) in [
            (Timer::Context, self.afterlife(State::Active)),
            (Timer::Zombie, LINGER),
        ] {
            if let Some(at) = self.timers.get(timer) {
                self.timers.set(timer, at.max(env.now + life));
            }
        }
        self.reader.newest.note(header.sync, false, env.now);
        self.timers.straggler_answered(env.now);
        match self.closed {
            Some(CloseReason::LocalAbort | CloseReason::Protocol(_) | CloseReason::Rejected { .. }) => {
                self.emit_abort(env, out);
            }
            _ if self.has_untaken() && asks_for_delivery(header.options) => self.emit_abort(env, out),
            _ => self.emit_final(env, out),
        }
    }

    /// END from the peer (§6.7). Never answered.
    pub(super) fn take_end(&mut self, header: &Header, echo: Option<u32>, env: &mut Env<'_>) {
        self.end_received = true;
        let rclose = header.options.contains(Options::RCLOSE);
        if rclose && self.waits_for_delivery() && self.is_told_of_delivery(echo) {
            // END waited for the peer's user (§6.4). Otherwise it says nothing about that.
            self.writer.delivered = self.writer.delivered.max(self.writer.nxt);
        }
        let next = self.reader.store.next();
        let missing = match self.reader.state.final_seq() {
            _ if !self.reader.state.is_open() => 0,
            Some(_) if self.reader.modes.no_error => 0,
            Some(end) => end.saturating_sub(next).max(1),
            None => 1,
        };
        let unconfirmed = match rclose {
            true => self.unconfirmed(),
            // Not even what the peer has is known to be taken.
            false => self.unconfirmed().max(self.undelivered()),
        };
        let reason = if missing > 0 {
            CloseReason::Aborted { missing, unconfirmed }
        } else if unconfirmed > 0 && !rclose {
            CloseReason::Aborted {
                missing: 0,
                unconfirmed,
            }
        } else if unconfirmed > 0 {
            CloseReason::RefusedByReader {
                not_taken: unconfirmed,
            }
        } else {
            CloseReason::Normal
        };
        self.finish(reason, env);
    }

    /// The peer's stream is complete: automatic closing (§6.3.1). `echo`: of the packet that completed it.
    pub(super) fn reader_is_done(&mut self, echo: Option<u32>, env: &mut Env<'_>) {
        // One whose stream was refused with FIRST has said WCLOSE before anything was taken.
        let told = echo.is_some() && !self.pattern.return_refused && self.is_told_of_delivery(echo);
        if told
            && self.writer.state.is_closed()
            && self.pattern.service == service::ACKNOWLEDGED
            && self.role == Role::Initiator
            && let Some(dreq) = self.writer.requests.take_dreq()
        {
            // L3: the responder's automatic WCLOSE was withheld until its user had taken what was asked for.
            self.writer.delivered = self.writer.delivered.max(dreq.seq);
            self.reach_marks(env);
        }
        self.announce_readable(env);
    }

    /// Services 1 and 2 close the responder's writer as soon as the peer's stream was received; with a DREQ
    /// open the END rule waits for the user.
    pub(super) fn apply_auto_close(&mut self) {
        let due = self.pattern.auto_close == super::modes::AutoClose::WhenReceived
            && !self.reader.state.is_open()
            && self.writer.state.is_open()
            && self.reader.dreq.is_none();
        if due {
            self.begin_close();
        }
    }

    /// wst: OPEN -> CLOSING, with everything written so far as the stream.
    pub(super) fn begin_close(&mut self) {
        if self.writer.state.is_open() {
            self.writer.queue.close();
            self.writer.state.close(self.writer.queue.end());
        }
    }

    /// DIAG rules (§7.5): which is believed when.
    pub(super) fn take_diag(&mut self, code: u32, val: u32, text: &str, header: &Header, env: &mut Env<'_>) {
        if !header.key.is_returned() {
            return;
        }
        let opening = self.state == State::Opening;
        match DiagCode::try_from(code) {
            Ok(DiagCode::ContextRefused) if opening && val == DiagValue::ImproperState.to_wire() => {
                let refusal = AgeRefusal::read(text);
                if refusal.is_some_and(|refusal| self.is_of_unnamed_copy(refusal)) {
                    self.stats.implausible += 1;
                    return;
                }
                if let Some(refusal) = refusal.filter(|refusal| self.is_asked_otherwise(*refusal, env.now)) {
                    self.stats.implausible += 1;
                    self.state_name(refusal, env.now);
                    return;
                }
                let named = refusal.filter(|refusal| self.may_be_named(*refusal, env.now));
                self.learned_refusal = refusal.map(Box::new);
                if let Some(refusal) = named {
                    self.name_instance(refusal, env.now);
                } else if self.may_repeat() {
                    self.restart = Some(Restart::Repeat);
                } else {
                    let started = refusal.and_then(|refusal| refusal.by).map(|(_, age)| age);
                    self.finish(CloseReason::ExecutionUnknown { started }, env);
                }
            }
            Ok(DiagCode::ContextRefused)
                if opening && val == DiagValue::TrafficFormat.to_wire() && !self.offered.is_empty() =>
            {
                self.meets_legacy_peer();
            }
            Ok(DiagCode::ContextRefused) if opening && self.refuses_legacy_alone(val) => {
                self.stats.implausible += 1;
                if let Some(opening) = &mut self.opening {
                    opening.refused = true;
                }
            }
            Ok(DiagCode::ContextRefused) if opening && self.fell_back_in_error(val) => {
                self.turn_back(env.now)
            }
            Ok(DiagCode::ContextRefused) if opening => {
                self.finish(CloseReason::Refused(DiagReason(val)), env);
            }
            Ok(DiagCode::RequestRefused) if opening => {
                self.finish(CloseReason::Refused(DiagReason(val)), env);
            }
            Ok(DiagCode::ContextAbandoned) if header.options.contains(Options::END) => {
                self.end_received = true;
                self.finish(CloseReason::rejected(val, text), env);
            }
            Ok(DiagCode::InvalidContext) if !opening => self.raise_doubt(Hint::Peer),
            Ok(DiagCode::MaximumPacketSize) => {
                let usable = text.parse().ok().filter(|size| *size >= 536);
                self.peer.mtu.on_too_big(usable);
                self.writer.control.set_segment(self.segment_size() as u32);
            }
            _ => self.stats.implausible += 1,
        }
    }

    /// A hint that the peer does not know this association: ask at once (§7.5). The sender of a datagram answers nothing.
    fn raise_doubt(&mut self, hint: Hint) {
        if !self.pattern.one_way {
            self.doubt.raise(hint);
        }
    }

    /// DIAG(1,5): it takes legacy formats only, and has not executed what stated others. If those left under this key
    /// already, it may have taken them.
    fn meets_legacy_peer(&mut self) {
        match self.opening.as_ref().is_some_and(|opening| opening.fell_back) {
            true => self.offered = Caps::empty(),
            false => self.restart = Some(Restart::Legacy),
        }
    }

    /// What was refused is the legacy format alone: the peer has asked for a token, which proves that it knows the others,
    /// or others are asked for again already.
    fn refuses_legacy_alone(&self, val: u32) -> bool {
        let alone = |opening: &Opening| opening.fell_back && opening.token.is_some() || opening.turned_back;
        val == DiagValue::NoResource.to_wire() && self.opening.as_ref().is_some_and(alone)
    }

    /// §2.7 took silence for a legacy peer; one that is under pressure has no other answer for legacy formats (§7.4)
    /// than "no resource". Ask once more for what it can give: a cookie.
    fn fell_back_in_error(&self, val: u32) -> bool {
        val == DiagValue::NoResource.to_wire()
            && self
                .opening
                .as_ref()
                .is_some_and(|opening| opening.fell_back && !opening.repeated)
    }

    /// Asks in the other formats again, under the same key: another copy of what was refused may have been taken.
    fn turn_back(&mut self, now: Time) {
        if self.offered.is_empty() {
            // It knew what it refused: it is a legacy peer.
            self.restart = Some(Restart::Extended);
        } else if let Some(opening) = &mut self.opening {
            (opening.fell_back, opening.turned_back) = (false, true);
            self.timers.repeat_first_at(now);
        }
    }

    /// Nothing of the user's was sent, or the user said that it may run twice (§6.9).
    pub(super) fn may_repeat(&self) -> bool {
        let once = self.opening.as_ref().is_some_and(|opening| !opening.repeated);
        once && (self.writer.queue.end() == 0
            || self.opening.as_ref().is_some_and(|opening| opening.repeatable))
    }

    /// "Port unreachable" for the peer's port (§2.6).
    pub(crate) fn port_unreachable(&mut self, env: &mut Env<'_>) {
        if !self.state.is_live() || self.state == State::Quiescent {
            return;
        }
        if self.state == State::Opening {
            let patient = self
                .opening
                .as_ref()
                .is_some_and(|opening| opening.wait_for_listener);
            if patient {
                return;
            }
            match self.doubt.report_unheard(env.now) {
                None => {
                    // The second report comes of the next FIRST, so that must not be a whole WTIMER away.
                    let soon = env.now + CERTAINTY;
                    let due = self.timers.get(Timer::Wait);
                    self.timers
                        .set(Timer::Wait, due.map_or(soon, |due| due.min(soon)));
                }
                Some(since_first) if since_first >= CERTAINTY => {
                    self.finish(CloseReason::NobodyListens, env);
                }
                Some(_) => {}
            }
            return;
        }
        let confirmed = self.writer.state.is_closed()
            || (!self.writer.state.is_open() && self.writer.una >= self.writer.queue.end());
        if confirmed && !self.reader.state.is_open() {
            self.finish(CloseReason::Normal, env);
        } else {
            self.doubt.report(env.now);
            self.raise_doubt(Hint::Carrier);
        }
    }

    /// The user aborts, or discards a reader with an open DREQ (§6.6).
    pub(crate) fn abort(&mut self, env: &mut Env<'_>) {
        if !self.state.is_live() {
            return;
        }
        self.abort_pending = !self.only_listens() && (self.state.heard() || self.state == State::Opening);
        self.finish(CloseReason::LocalAbort, env);
    }

    /// The user rejects what a peer began, and says why (§6.6).
    pub(crate) fn reject(&mut self, code: u32, text: &str, env: &mut Env<'_>) {
        if !self.is_responder() || !self.state.is_live() {
            // Nobody would believe it of an initiator, whose key the peer has not asked for.
            self.abort(env);
            return;
        }
        self.abort_pending = !self.only_listens();
        self.finish(CloseReason::rejected(code, text), env);
    }

    /// It takes a pure datagram, which nothing ever answers, whatever its user asks for [D-19].
    pub(super) fn only_listens(&self) -> bool {
        self.pattern.one_way && self.is_responder()
    }

    /// Both closes of ours were said and are not answered.
    pub(super) fn asks_for_the_end(&self) -> bool {
        self.writer.state.is_told() && self.reader.state.is_told()
    }

    /// Both ends said RCLOSE and WCLOSE and asked for the same, and the packets crossed: this one of the peer tells us
    /// everything, and ours tells the peer as much. END would tell nobody anything, so none is sent (§6.4).
    pub(super) fn closes_cross(&self, header: &Header) -> bool {
        let all = Options::RCLOSE | Options::WCLOSE | Options::SREQ;
        header.options.contains(all)
            && !header.options.intersects(Options::DREQ | Options::END)
            && self.decide_end().is_some()
    }
}
