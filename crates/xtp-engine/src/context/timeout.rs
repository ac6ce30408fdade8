//! What happens when a timer expires (§3.7, §3.7.1).

use super::control::THRESHOLD;
use super::decide::Ask;
use super::plan::Planned;
use super::timers::Timer;
use super::writer::{Blocked, WriterBlock};
use super::{Context, Env, Opening, Role, State, Transition};
use crate::error::{CloseReason, DiagReason};
use crate::options::Confirm;
use core::time::Duration;
use xtp_congestion::Controller;
use xtp_core::time::Time;
use xtp_core::time::sleep::{READING, slept};
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{DiagValue, Options};

/// FIRST repeats carry the same data twice, then a prefix that fits every path (§2.4.2).
const FULL_REPEATS: u16 = 3;
/// A peer that is merely slow or stopped for a moment is not taken for a legacy one (§2.7, D-68). The fourth FIRST to a peer of which
/// nothing is known leaves after 4.5 to 5 s.
const SILENCE_OF_A_LEGACY_PEER: Duration = Duration::from_millis(4_500);
const SMALLEST_PATH_DATA: usize = 1_168;
/// FIRSTs leave for so long: a responder remembers for 60 s what it executed (§2.4.2, §6.9).
const FIRSTS_LEAVE: Duration = Duration::from_secs(20);

impl Context {
    /// Fires what is due, CTIMEOUT before everything else.
    pub(super) fn run_timers(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let now = env.now;
        if self.state == State::Inactive {
            if self.timers.take_due(Timer::Zombie, now) {
                self.transition(Transition::Forgotten);
            }
            return;
        }
        self.note_sleep(now);
        if let Some(span) = self.timers.next().and_then(|due| slept(due, || Some(due), now)) {
            self.excuse(span, now);
        }
        if !self.state.is_live() || self.timed_out(env) {
            return;
        }
        if self.timers.take_due(Timer::Zombie, now) {
            self.drop_assembly(env);
        }
        if self.timers.take_due(Timer::Loss, now) {
            self.judge_again(now);
        }
        if self.timers.take_due(Timer::LazyStatus, now) {
            self.stats.lstimer_expiries += 1;
            self.emit_status(Options::SREQ, super::status::Cause::Own, env, out);
        }
        if self.timers.take_due(Timer::Wait, now) {
            self.wtimer_expired(env, out);
        }
        if self.state.is_live() && self.timers.get(Timer::Context).is_some_and(|at| at <= now) {
            self.ctimer_expired(env, out);
        }
        self.run_doubt(env, out);
        if self.timers.take_due(Timer::Path, now) {
            self.path_timer_expired(env);
        }
    }

    /// The driver was stopped for `span`, until `now`: that was no silence of the peer, whose words may lie unread. An
    /// unanswered FIRST is not repeated for it.
    fn excuse(&mut self, span: Duration, now: Time) {
        let timeout = self.tuning.timeout;
        let timers = &mut self.timers;
        timers.excuse_unanswered(span, now + READING - timeout, now);
        if let Some(due) = timers.get(Timer::Doubt) {
            timers.set(Timer::Doubt, (due + span).max(now + READING));
            self.doubt.slept(span, now);
        }
        if self.only_listens() {
            let silence = self.keepalive();
            let timers = &mut self.timers;
            timers.excuse_silence(span, now + READING - silence, now);
            timers.set(Timer::Context, timers.silent_since() + silence);
        }
    }

    /// A hint that the peer is gone is decided by a handshake within three WTIMERs (§3.7.2).
    fn run_doubt(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let due = self.timers.take_due(Timer::Doubt, env.now);
        if due && self.doubt.is_confirmed(self.rtt.wtimer_base(), env.now) {
            let reason = match self.timeout_reason() {
                CloseReason::Unreachable => CloseReason::Lost,
                known => known,
            };
            self.finish(reason, env);
        }
        if self.state.heard()
            && self.state.is_live()
            && let Some(hint) = self.doubt.ask()
        {
            self.open_handshake(env, out);
            self.timers
                .set(Timer::Doubt, env.now + hint.patience(self.rtt.wtimer_base()));
        }
    }

    /// When the silence has lasted as long as it may (CTIMEOUT, §6.7); `None` while nothing is unanswered.
    pub(super) fn gives_up_at(&self) -> Option<Time> {
        match self.state {
            State::Opening => Some(self.timers.created() + self.tuning.connect_timeout),
            _ => {
                let since = self.timers.unanswered_since()?;
                Some(since + self.tuning.timeout)
            }
        }
    }

    /// CTIMEOUT (§6.7): evaluated first, so that a process that slept does not repeat old FIRSTs.
    fn timed_out(&mut self, env: &mut Env<'_>) -> bool {
        let due = self.gives_up_at().is_some_and(|at| at <= env.now);
        if due {
            let reason = self.timeout_reason();
            self.finish(reason, env);
        }
        due
    }

    fn ctimer_expired(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let now = env.now;
        if self.only_listens() {
            let reason = self.timeout_reason();
            self.finish(reason, env);
            return;
        }
        if self.timers.unanswered_since().is_none() && self.state != State::Opening {
            self.timers.asked(now);
            self.emit_status(Options::SREQ, super::status::Cause::Own, env, out);
        }
        // The next silence is counted from here; WTIMER takes over meanwhile.
        self.timers.silence_noted(now);
    }

    /// WTIMER: the first line of §3.7.1 that applies.
    fn wtimer_expired(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.pattern.one_way || self.state == State::Quiescent {
            return;
        }
        if self.repeats_data() && self.wait_for_tokens(env.now) {
            return;
        }
        self.stats.wtimer_expiries += 1;
        self.timers.asked(env.now);
        if self.state == State::Opening || self.reader.state.end_is_pending() {
            self.timers.first_wait_expired();
            if self.falls_back(env.now)
                && let Some(opening) = &mut self.opening
            {
                opening.fell_back = true;
            }
            self.repeat_first(env, out);
            return;
        }
        // Where nothing may be asked, that is counted which says how long the next period is.
        let tight = !self.peer.validated && !self.peer.allows_control(self.status_size());
        if tight && self.role == Role::Responder {
            match self.writer.blocked() {
                Some(_) => self.timers.blocked_wait_expired(),
                None => self.timers.wait_expired(),
            }
            return;
        }
        let writer = &self.writer;
        if writer.inflight.has_lost() && self.repeats_leave_soon(env) {
            // What was lost goes now or waits for tokens, and will ask by itself; a probe would take the tokens
            // from it for ever.
            return;
        }
        if let Some(WriterBlock { why, .. }) = writer.blocked() {
            self.timers.blocked_wait_expired();
            self.poll_while_blocked(why, env, out);
        } else if writer.inflight.is_empty() && !writer.state.is_told() {
            self.timers.wait_expired();
            self.poll(env, out);
        } else if self.timers.waits() == 0 && !writer.inflight.is_empty() && self.tail_fits() {
            self.timers.wait_expired();
            self.tail_probe(env, out);
        } else {
            self.timers.wait_expired();
            self.open_handshake(env, out);
        }
    }

    /// What WTIMER would do now is a repetition of data: FIRST or the tail probe.
    fn repeats_data(&self) -> bool {
        let first = self.state == State::Opening || self.reader.state.end_is_pending();
        let probe = self.writer.blocked().is_none() && self.timers.waits() == 0;
        first || (probe && !self.writer.inflight.is_empty())
    }

    /// A repetition waits for tokens like any other data (§5.2): WTIMER is put off until there are some.
    fn wait_for_tokens(&mut self, now: Time) -> bool {
        let rates = &self.writer.rates;
        if rates.are_stopped() || rates.may_send() {
            return false;
        }
        let Some(at) = rates.ready_at(now) else {
            return false;
        };
        self.timers.set(Timer::Wait, at);
        true
    }

    /// Whether what was lost leaves in this turn, or as soon as rate and pacer allow.
    fn repeats_leave_soon(&self, env: &Env<'_>) -> bool {
        let plan = self.plan(env.now, 1, env.config);
        !plan.segments.is_empty() || plan.stop.until().is_some()
    }

    /// §2.7: three FIRSTs of a lasting association met silence; a legacy peer may drop tformat 0x80 that way. Those that
    /// follow state the legacy format, under the same key: whoever took one before knows them for its repetitions.
    fn falls_back(&self, now: Time) -> bool {
        let may = |opening: &Opening| {
            !opening.fell_back && !opening.turned_back && !opening.repeated && opening.token.is_none()
        };
        self.state == State::Opening
            && self.opening.as_ref().is_some_and(may)
            && self.timers.firsts() >= 3
            && now >= self.timers.created() + SILENCE_OF_A_LEGACY_PEER
            && self.pattern.lasting
            && self.writer.state.is_open()
            && !self.offered.is_empty()
            // A round trip known from before: the peer has answered this format, it is only slow or gone.
            && self.rtt.srtt().is_none()
    }

    /// Line 3, blocked: ask again, or send what credit allows although it is silly (§5.1.1).
    fn poll_while_blocked(&mut self, why: Blocked, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let credit = self.writer.credit.alloc;
        let nxt = self.writer.nxt;
        if why == Blocked::Credit
            && credit > nxt
            && nxt < self.writer.queue.end()
            && self.state == State::Active
        {
            let room = ((credit - nxt) as usize).min(self.segment_size());
            if let Some(cut) = self.writer.queue.cut(nxt, room)
                && cut.len as u64 <= credit - nxt
            {
                let segment = Planned::of(nxt, cut, false);
                let ask = Ask {
                    sreq: true,
                    dreq: true,
                    ..Ask::default()
                };
                self.emit_data(false, segment, ask, env, out);
                return;
            }
        }
        let options = match why {
            Blocked::Budget => Options::SREQ,
            _ => Options::SREQ | Options::DREQ,
        };
        self.emit_status(options, super::status::Cause::Own, env, out);
    }

    /// Line 3, nothing unacknowledged.
    fn poll(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.renegotiation.is_open() {
            self.emit_tcntl(Options::SREQ, env, out);
            return;
        }
        let options = match self.writer.requests.dreq() {
            // Whoever asked for credit alone, and has sent everything, wants to know nothing more of the user.
            Some(dreq) if dreq.for_delivery || !self.writer.all_sent() => {
                self.timers.user_polled();
                Options::SREQ | Options::DREQ
            }
            _ => Options::SREQ,
        };
        self.emit_status(options, super::status::Cause::Own, env, out);
    }

    fn tail_fits(&self) -> bool {
        match (self.peer.data_budget(), self.writer.inflight.last()) {
            (Some(budget), Some((_, len))) => u64::from(len) + 56 <= budget,
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }

    /// Line 4: the last segment again, with SREQ.
    fn tail_probe(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let Some((seq, len)) = self.writer.inflight.last() else {
            return;
        };
        let size = self.segment_size().min(len as usize);
        // After a shrink of the path the tail is longer than a packet: probe with its end.
        let seq = self.writer.queue.tag_floor(seq + (len as usize - size) as u64);
        self.resend(seq, size, env, out);
    }

    /// One segment again as DATA {SREQ}.
    pub(super) fn resend(&mut self, seq: u64, size: usize, env: &mut Env<'_>, out: &mut TransmitBatch) {
        let Some(cut) = self.writer.queue.cut(seq, size) else {
            return;
        };
        let segment = Planned::of(seq, cut, true);
        let ask = Ask {
            sreq: true,
            dreq: self.carried_dreq(seq + cut.len as u64),
            ..Ask::default()
        };
        self.emit_data(false, segment, ask, env, out);
    }

    /// The segment that ends here carried a DREQ that is unanswered: without it the peer would not know that its
    /// user is waited for.
    pub(super) fn carried_dreq(&self, end: u64) -> bool {
        let dreq = self.writer.requests.dreq_for_delivery();
        dreq.is_some_and(|dreq| dreq.seq == end)
    }

    /// Line 5: the synchronising handshake.
    pub(super) fn open_handshake(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.timers.waits() >= 3 {
            self.writer.control.on_timeout();
        }
        self.emit_status(Options::SREQ, super::status::Cause::Own, env, out);
        self.writer.handshake = Some(self.writer.sync_out);
        self.transition(Transition::Handshake);
    }

    /// Line 2: FIRST again: same key, same seq, same time, new sync (§2.4.2); also §6.5.
    fn repeat_first(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.is_too_late_for_first(env.now) {
            return;
        }
        let request = match self.confirm {
            crate::Confirm::Delivered => Options::SREQ | Options::DREQ,
            crate::Confirm::Received => Options::SREQ,
        };
        if let Some(opening) = &mut self.opening {
            opening.refused = false;
        }
        let segment = self.first_segment();
        if self.timers.firsts() >= FULL_REPEATS
            && let Some(segment) = segment
        {
            if self
                .opening
                .as_ref()
                .is_some_and(|opening| segment.len < opening.first_len as usize)
            {
                self.peer.mtu.on_silence();
            }
            let end = segment.seq + segment.len as u64;
            self.writer.inflight.mark_all_lost_from(end);
        }
        self.emit_first(segment, request, env, out);
    }

    /// Whatever asks for another FIRST, a refusal or COOKIE that lay unread while this end slept among them: none leaves any more.
    pub(super) fn is_too_late_for_first(&self, now: Time) -> bool {
        now >= self.timers.created() + FIRSTS_LEAVE
    }

    /// What the next FIRST carries of the data the first one carried.
    pub(super) fn first_segment(&self) -> Option<Planned> {
        let start = 0;
        let mut want = self
            .opening
            .as_ref()
            .map_or(0, |opening| opening.first_len as usize);
        if self.timers.firsts() >= FULL_REPEATS {
            want = want.min(SMALLEST_PATH_DATA.saturating_sub(self.first_overhead()).max(16));
        }
        if want == 0 {
            return None;
        }
        let cut = self.writer.queue.cut(start, want)?;
        Some(Planned::of(start, cut, true))
    }

    /// COOKIE: FIRST again with the token, once per token (§1.10).
    pub(crate) fn answer_cookie(
        &mut self,
        token: xtp_wire::Token,
        env: &mut Env<'_>,
        out: &mut TransmitBatch,
    ) {
        let late = self.is_too_late_for_first(env.now);
        let Some(opening) = &mut self.opening else { return };
        if self.state != State::Opening || opening.token == Some(token) || late {
            return;
        }
        opening.token = Some(token);
        // This packet leaves outside a turn: what has flowed in so far belongs to the past.
        self.writer.rates.refill(env.now);
        if self.wait_for_tokens(env.now) {
            // WTIMER repeats FIRST as soon as the rate allows, now with the token.
            return;
        }
        let segment = self.first_segment();
        let request = self.first_request(segment.as_ref().map_or(0, Planned::end));
        self.emit_first(segment, request, env, out);
        self.settle_timers(env.now);
    }

    /// What a FIRST asks that is the first one its responder takes, and whose data ends at `end`. Data that left behind an earlier one
    /// was not taken, nor was what it asked.
    fn first_request(&self, end: u64) -> Options {
        let (writer, pattern) = (&self.writer, &self.pattern);
        let closes = writer.state.closes_at(end);
        let asked = writer.requests.dreq().filter(|dreq| dreq.seq == end);
        if closes && self.confirm == Confirm::Delivered || asked.is_some_and(|dreq| dreq.for_delivery) {
            return Options::DREQ;
        }
        if asked.is_some() {
            return Options::SREQ | Options::DREQ;
        }
        let asks = match closes {
            true => !pattern.response_expected,
            false => pattern.lasting || writer.nxt > end && !pattern.no_feedback,
        };
        match asks || pattern.status_on_first {
            true => Options::SREQ,
            false => Options::empty(),
        }
    }

    /// LTIMER: what was too young to be lost may be lost now (§4.3).
    fn judge_again(&mut self, now: Time) {
        if let Some((echo, packets, within)) = self.writer.evidence {
            let threshold = if packets { THRESHOLD } else { 0 };
            self.judge(echo, threshold, within, now);
        }
    }

    /// How a silent association ends (§6.7).
    fn timeout_reason(&self) -> CloseReason {
        if !self.state.heard() {
            return match &self.opening {
                Some(opening) if opening.refused => {
                    CloseReason::Refused(DiagReason(DiagValue::NoResource.to_wire()))
                }
                _ => CloseReason::Unreachable,
            };
        }
        let unconfirmed = self.writer.queue.end().saturating_sub(self.writer.una);
        let reader_over = !self.reader.state.is_open();
        if reader_over && unconfirmed == 0 && !self.writer.state.is_open() {
            CloseReason::Normal
        } else if reader_over {
            CloseReason::Unconfirmed { octets: unconfirmed }
        } else {
            CloseReason::Unreachable
        }
    }
}
