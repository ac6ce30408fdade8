//! One turn of a context: due timers, then decide and emit until nothing is left, then timers again (§3.5, §3.7).

use super::decide::Intent;
use super::peer::Proof;
use super::timers::Timer;
use super::writer::WriterBlock;
use super::{Context, Env, Role, State};
use crate::config::EngineConfig;
use core::time::Duration;
use xtp_congestion::Controller;
use xtp_core::Rate;
use xtp_core::hash::scramble;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{Caps, size};

/// Size of a padded FIRST (§7.3).
const PADDED_FIRST: usize = 1_200;
/// Intents carried out in one turn; more than any legal sequence needs, so that a mistake cannot hang.
const MAX_INTENTS: usize = 32;

impl Context {
    /// Ends a batch or a turn of the user.
    pub(crate) fn flush(&mut self, env: &mut Env<'_>, out: &mut TransmitBatch) {
        if self.is_quiet_for_good(env.now) {
            self.note_turn(env);
            return;
        }
        if std::mem::take(&mut self.abort_pending) {
            self.emit_abort(env, out);
        }
        self.before_turn(env);
        self.pad_first();
        self.run_timers(env, out);
        if self.restart.is_some() {
            if self.state.is_live() && !self.is_too_late_for_first(env.now) {
                self.note_turn(env);
                return;
            }
            self.restart = None;
        }
        for _ in 0..MAX_INTENTS {
            let intent = self.decide(env.now, env.config);
            let train = matches!(&intent, Intent::Train(plan) if plan.stop == super::plan::Stop::Train);
            if !self.emit(intent, env, out) {
                break;
            }
            if train {
                // The rest in another turn: no context may hold the carrier for long.
                self.timers.set(Timer::Rate, env.now);
                break;
            }
        }
        self.release_unrepeatable(env);
        if self.state.is_live() {
            self.probe_paths(env, out);
        }
        self.end_turn(env);
    }

    /// Its turn, if nothing leaves in it; if something does, nothing was done that its turn would not do.
    pub(crate) fn turn_quietly(&mut self, env: &Env<'_>) -> bool {
        let quiet = self.state == State::Active
            && self.closed.is_none()
            && !self.pattern.no_feedback
            && self.writer.all_sent()
            && self.is_untroubled()
            && !self.probing_pays()
            && self.timers.next().is_none_or(|at| at > env.now);
        if !quiet {
            return false;
        }
        self.before_turn(env);
        if !matches!(self.decide(env.now, env.config), Intent::Nothing) {
            return false;
        }
        self.dirty = false;
        self.schedule_path_timer();
        self.end_turn(env);
        true
    }

    /// Timers as the turn left things, and what may leave before the next one.
    pub(super) fn end_turn(&mut self, env: &Env<'_>) {
        if self.state.is_live() {
            self.settle_timers(env.now);
        }
        self.reader.nak.told();
        self.writer.is_answered = self.expects_data();
        debug_assert!(self.is_watched(), "no timer runs for {}", self.what_waits());
        self.note_turn(env);
        self.regular = env.config.overrides.express && self.is_regular();
        if self.regular {
            self.permit = self.permit(env.config.max_train);
        }
    }

    /// Whoever waits for something has a timer beside that of silence: none waits for a packet alone.
    fn is_watched(&self) -> bool {
        let waits = [
            Timer::Wait,
            Timer::LazyStatus,
            Timer::Loss,
            Timer::Rate,
            Timer::Doubt,
        ];
        !self.state.is_live() || !self.waits() || waits.into_iter().any(|timer| self.timers.runs(timer))
    }

    /// Something is queued, sent and not acknowledged, or asked and not answered.
    fn waits(&self) -> bool {
        let writer = &self.writer;
        if self.state == State::Quiescent || self.pattern.no_feedback || self.pattern.one_way {
            // It has not begun, or never hears anything.
            return false;
        }
        // A tag alone cannot leave before its octet is written.
        let unsent = !writer.all_sent() && writer.queue.cut(writer.nxt, self.segment_size()).is_some();
        unsent
            || (self.is_unacknowledged() && !writer.state.is_closed())
            || !writer.requests.is_empty()
            || writer.requests.dreq().is_some()
            || writer.handshake.is_some()
            || writer.state.is_closing()
            || self.renegotiation.is_open()
            || self.reader.state.end_is_pending()
    }

    /// Octets were sent of which nothing tells that they came. Only a peer that contradicts itself acknowledges all of
    /// them in ranges and not the place where they begin.
    pub(super) fn is_unacknowledged(&self) -> bool {
        let writer = &self.writer;
        writer.una < writer.nxt && (self.tuning.no_error || !writer.inflight.is_empty())
    }

    /// For the message of a failed assertion.
    fn what_waits(&self) -> String {
        let writer = &self.writer;
        format!(
            "{:?} {:?}: {:?}, una {} nxt {} of {}, blocked {:?}, requests {:?}, {:?}, timers {:?}",
            self.role,
            self.state,
            writer.state,
            writer.una,
            writer.nxt,
            writer.queue.end(),
            writer.block,
            writer.requests,
            self.pattern,
            self.timers,
        )
    }

    /// It is over, and its turn would change nothing: every short association has one or two of these.
    pub(crate) fn is_quiet_for_good(&self, now: Time) -> bool {
        !self.state.is_live()
            && self.closed.is_some()
            && !self.abort_pending
            && self.restart.is_none()
            && self.deadline().is_none_or(|at| at > now)
    }

    /// Everything written left at least once.
    pub(crate) fn has_sent_all(&self) -> bool {
        self.writer.all_sent()
    }

    /// Nothing would leave in a turn now, no timer is due, and nothing waits for a turn but timers.
    pub(crate) fn has_nothing_to_say(&self, now: Time, config: &EngineConfig) -> bool {
        self.state == State::Active
            && !self.abort_pending
            && self.restart.is_none()
            && self.closed.is_none()
            && self.path_queue.is_empty()
            && self.timers.next().is_none_or(|at| at > now)
            && matches!(self.decide(now, config), Intent::Nothing)
    }

    pub(super) fn before_turn(&mut self, env: &Env<'_>) {
        let largest = size::packet(self.writer.max_data as usize) as u64;
        let packet = largest.min(self.peer.largest_datagram as u64);
        self.writer.rates.expect(packet);
        self.writer.rates.refill(env.now);
        let rtt = self.rtt.srtt();
        let rate = self.writer.control.pacing_rate(rtt);
        self.writer
            .pacer
            .set(rate, 10 * size::packet(self.segment_size()) as u64, rtt);
        self.writer.pacer.budget(env.now);
        if self.timers.get(Timer::Rate).is_some_and(|at| at <= env.now) {
            self.timers.stop(Timer::Rate);
        }
        let reader = &mut self.reader;
        reader.error_control.settle(reader.store.has_holes());
        self.idle_decay(env.now);
    }

    /// A writer that never hears what arrived keeps nothing it has sent, or its queue would fill up for good.
    fn release_unrepeatable(&mut self, env: &mut Env<'_>) {
        if self.pattern.no_feedback && self.state.heard() && self.writer.una < self.writer.nxt {
            self.writer.una = self.writer.nxt;
            self.release_acknowledged(env);
        }
    }

    /// §7.3: FIRST is padded inside its specifier when more than three times the request is expected back.
    fn pad_first(&mut self) {
        let request = self.writer.queue.end() as usize;
        let expected = self.expected_answer as usize;
        if self.state == State::Quiescent
            && expected > 3 * request
            && !self.offered.is_empty()
            && let Some(opening) = &mut self.opening
        {
            opening.pad_to =
                PADDED_FIRST.saturating_sub(size::packet(opening.address.encoded_len() + request));
        }
    }

    /// §5.3: half the window for every WTIMER period of idleness.
    fn idle_decay(&mut self, now: Time) {
        if !self.writer.inflight.is_empty() || self.writer.all_sent() {
            return;
        }
        let idle = now.since(self.timers.idle_since());
        let period = self.rtt.wtimer_base();
        let periods = (idle.as_nanos() / period.as_nanos().max(1)).min(64) as u32;
        if periods > 0 {
            self.writer.control.on_idle(periods);
            self.timers.decayed(now);
        }
    }

    /// Starts and stops WTIMER and LSTIMER: at most one of them runs, WTIMER has priority (§3.5).
    pub(super) fn settle_timers(&mut self, now: Time) {
        if self.wtimer_is_needed() {
            self.timers.stop(Timer::LazyStatus);
            if !self.timers.runs(Timer::Wait) {
                let period = self.wtimer_period(now);
                self.timers.set(Timer::Wait, now + period);
            }
        } else {
            self.timers.stop(Timer::Wait);
            self.settle_lazy_status(now);
        }
        let silence = self.keepalive();
        self.timers
            .set(Timer::Context, self.timers.silent_since() + silence);
        if self.state == State::Quiescent {
            self.timers.stop(Timer::Context);
        }
    }

    fn settle_lazy_status(&mut self, now: Time) {
        let writer = &self.writer;
        let reliable = !writer.inflight.is_empty();
        // An answer may settle every request and still leave octets open: those that left before a FIRST that was refused.
        let unmapped = self.tuning.no_error && !self.pattern.no_feedback && writer.una < writer.nxt;
        // What was lost and does not leave by itself waits for room in the window, which may need an answer.
        let leaves = writer.inflight.has_lost() && self.timers.runs(Timer::Rate);
        let idle = !leaves && !self.timers.runs(Timer::Loss);
        if (reliable || unmapped) && idle {
            if !self.timers.runs(Timer::LazyStatus) {
                let period = self.lstimer_period();
                self.timers.set(Timer::LazyStatus, now + period);
            }
        } else {
            self.timers.stop(Timer::LazyStatus);
        }
    }

    pub(super) fn keepalive(&self) -> Duration {
        self.tuning.keepalive.unwrap_or(match self.role {
            Role::Initiator => Duration::from_secs(25),
            Role::Responder => Duration::from_secs(40),
        })
    }

    /// The reasons for WTIMER to run (§3.7).
    pub(super) fn wtimer_is_needed(&self) -> bool {
        let writer = &self.writer;
        let requests = &writer.requests;
        if self.state == State::Quiescent || self.pattern.one_way {
            return false;
        }
        let lone_dreq = requests.dreq().is_some() && writer.inflight.is_empty();
        !requests.is_empty()
            || lone_dreq
            || (writer.blocked().is_some() && !self.pattern.no_feedback)
            || writer.handshake.is_some()
            || writer.state.is_told()
            || self.state == State::Opening
            || self.renegotiation.is_open()
            || self.reader.state.end_is_pending()
            || self.polls()
    }

    /// The waiting initiator of §3.7.3.
    pub(super) fn polls(&self) -> bool {
        self.role == Role::Initiator
            && self.state.heard()
            && self.peer.proof != Proof::Arrived
            && self.reader.state.is_open()
            && self.writer.inflight.is_empty()
    }

    /// Period of WTIMER (§3.6), never beyond the end of the silence that is waited for (CTIMEOUT): nobody may learn of
    /// it a doubled period late.
    pub(super) fn wtimer_period(&self, now: Time) -> Duration {
        let period = self.wtimer_backed_off(now);
        match self.gives_up_at() {
            Some(at) => period.min(at.since(now)),
            None => period,
        }
    }

    /// Period of WTIMER with its back-off (§3.7).
    fn wtimer_backed_off(&self, now: Time) -> Duration {
        let base = self.rtt.wtimer_base();
        let base = match self.polls() {
            true => base.max(Duration::from_secs(1)),
            false => base,
        };
        let (expiries, ceiling) = self.back_off(now);
        let doubled = base.saturating_mul(1 << expiries.min(12));
        spread(doubled.min(Duration::from_secs(ceiling)), self.key, expiries)
    }

    /// The expiries of WTIMER that double its period, and the seconds that the period never exceeds.
    fn back_off(&self, now: Time) -> (u32, u64) {
        if !self.state.heard() {
            return (self.timers.waits(), 2);
        }
        if let Some(WriterBlock { since, .. }) = self.writer.blocked() {
            let patient = self.writer.inflight.is_empty() && now.since(since) >= Duration::from_secs(60);
            return (self.timers.blocked_waits(), if patient { 10 } else { 1 });
        }
        let for_the_user = self.writer.requests.dreq().is_some()
            && self.writer.inflight.is_empty()
            && self.writer.handshake.is_none();
        let waits = match for_the_user {
            true => self.timers.waits_for_user(),
            false => self.timers.waits(),
        };
        (waits, 10)
    }

    /// Period of LSTIMER (§3.6).
    pub(super) fn lstimer_period(&self) -> Duration {
        let floor = Duration::from_micros(200);
        let base = match self.rtt.srtt() {
            None => Duration::from_millis(25),
            Some(srtt) if self.has(Caps::XDATA) => (2 * srtt).clamp(floor, Duration::from_millis(250)),
            Some(srtt) => srtt.clamp(floor, Duration::from_millis(1)),
        };
        let gap = 2 * self.writer.gap.learned();
        base.max(gap)
            .max(self.eight_packet_times())
            .min(Duration::from_secs(1))
    }

    fn eight_packet_times(&self) -> Duration {
        let packet = size::packet(self.segment_size()) as u64;
        let time = |rate: Rate| match rate.octets_per_second {
            0 => Duration::ZERO,
            rate => Duration::from_nanos((8 * packet).saturating_mul(1_000_000_000) / rate),
        };
        time(self.tuning.out_rate).max(time(self.writer.rates.peer()))
    }

    /// Whether what it waits for until then is the pace of its own sending.
    pub(crate) fn is_paced_until(&self, at: Time) -> bool {
        self.timers.get(Timer::Rate) == Some(at)
    }

    /// When this context wants its next turn, as long as somebody sleeps: the question after a moment of silence (LSTIMER) is
    /// no reason to wake.
    pub(crate) fn patient_deadline(&self) -> Option<Time> {
        match self.state.is_live() {
            true => self.timers.next_but(Timer::LazyStatus),
            false => self.deadline(),
        }
    }

    /// When this context wants its next turn.
    pub(crate) fn deadline(&self) -> Option<Time> {
        // Only what `run_timers` looks at: a report of the network may set others when all is over.
        match self.state {
            // The former is never later, and stopped first.
            State::Inactive => self.timers.get(Timer::Context).or(self.timers.get(Timer::Zombie)),
            state if state.is_live() => self.timers.next(),
            _ => None,
        }
    }
}

/// The doubled `period` less up to an eighth, by a hash of key and `expiries`. Timers of many associations expire at the same moment
/// after a sleep or an outage: without a spread the same ones would find the queue of a narrow link full in every period. A period that
/// is not doubled follows the round trip and stays as it is.
fn spread(period: Duration, key: u64, expiries: u32) -> Duration {
    if expiries == 0 {
        return period;
    }
    let share = scramble(key.wrapping_add(expiries.into())) >> 56;
    period - period / 2_048 * share as u32
}
