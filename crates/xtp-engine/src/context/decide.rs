//! What to send next: a pure function of all parts (§3.2, §4.3, §5.1, §6.4), and what to ask on it (§3.5).

use super::plan::{Plan, Planned, Stop};
use super::reader::Owed;
use super::writer::Blocked;
use super::{Context, Role, State};
use crate::config::EngineConfig;
use crate::options::Confirm;
use xtp_congestion::Controller;
use xtp_core::time::Time;
use xtp_wire::{Caps, Options};

/// Uncovered packets that never ask, however small the window (§3.5(b)).
const LEAST_QUOTA: u32 = 4;
/// Uncovered packets of a message that its answer will acknowledge (§3.5(b)).
const ANSWERED: u32 = 64;

/// The next thing worth doing.
#[derive(Clone, Debug)]
pub(super) enum Intent {
    /// Nothing until something happens.
    Nothing,
    /// Data packets, and why no more of them.
    Train(Plan),
    /// FIRST without data.
    First,
    /// The plan is empty for this reason; ask for what is missing if `ask`.
    Stopped { stop: Stop, ask: bool },
    /// CNTL with a request: WCLOSE after all data, or the user waits.
    Request(Options),
    /// Both halves are over (§6.4).
    End,
    /// Status that is owed.
    Answer,
    /// The answer to the peer's DREQ.
    AnswerDreq,
    /// TCNTL with new limits.
    Renegotiate,
    /// Status nobody asked for: window update, FASTNAK.
    Inform,
}

/// What one data packet asks for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ask {
    pub(super) sreq: bool,
    pub(super) dreq: bool,
    pub(super) flip: bool,
    pub(super) end: bool,
}

impl Ask {
    /// The same as option bits; EDGE says the rest.
    #[inline]
    pub(super) fn options(self) -> Options {
        let mut options = Options::empty();
        options.set(Options::SREQ, self.sreq);
        options.set(Options::DREQ, self.dreq);
        options.set(Options::END, self.end);
        options
    }
}

impl Context {
    /// Looks at all parts and names the next thing worth sending. Changes nothing.
    pub(super) fn decide(&self, now: Time, config: &EngineConfig) -> Intent {
        if !self.state.is_live() || self.closed.is_some() || self.only_listens() {
            return Intent::Nothing;
        }
        let plan = self.plan(now, config.max_train, config);
        if !plan.segments.is_empty() {
            return Intent::Train(plan);
        }
        if self.state == State::Quiescent {
            return match self.first_is_due() {
                true => Intent::First,
                false => Intent::Nothing,
            };
        }
        self.decide_stop(&plan)
            .or_else(|| self.decide_request(now))
            .or_else(|| self.decide_end())
            .or_else(|| self.decide_status(now))
            .unwrap_or(Intent::Nothing)
    }

    /// FIRST without data: the user connects, or closes an empty stream.
    fn first_is_due(&self) -> bool {
        let Some(opening) = &self.opening else {
            return false;
        };
        let closes_empty = !self.writer.state.is_open() && self.writer.all_sent();
        opening.connect_now || closes_empty
    }

    /// A newly blocked writer asks once, and again only if the credit moved and did not suffice (§5.1.1).
    fn decide_stop(&self, plan: &Plan) -> Option<Intent> {
        let why = match plan.stop {
            Stop::Blocked(why) => Some(why),
            _ => None,
        };
        let noted = self.writer.blocked().map(|block| block.why);
        let timer_noted = match plan.stop.until() {
            Some(at) => self.timers.get(super::timers::Timer::Rate) == Some(at),
            None => true,
        };
        let asks = |why| {
            let asked = self.writer.block_for(why);
            asked.is_none_or(|block| (block.why, block.alloc) != (why, self.writer.credit.alloc))
        };
        let ask = why.is_some_and(asks);
        if why != noted || ask {
            Some(Intent::Stopped { stop: plan.stop, ask })
        } else if !timer_noted {
            Some(Intent::Stopped {
                stop: plan.stop,
                ask: false,
            })
        } else {
            None
        }
    }

    /// WCLOSE after all data was sent without it, and requests of a waiting user.
    fn decide_request(&self, now: Time) -> Option<Intent> {
        let writer = &self.writer;
        if self.state == State::InHandshake {
            return None;
        }
        // Before the peer was heard there is nothing to echo, and without an echo it believes END alone (§2.9): what is
        // asked waits for the answer to FIRST, which is repeated until it comes (§2.4.2, L4).
        if self.role == Role::Initiator && !self.state.heard() && !self.pattern.no_feedback {
            return None;
        }
        if self.close_is_untold() {
            let ask = match self.confirm {
                Confirm::Delivered => Options::DREQ,
                Confirm::Received => Options::SREQ,
            };
            return Some(Intent::Request(ask));
        }
        // What was taken is said before the refusal, which ends the question.
        let answers = |dreq| self.dreq_is_satisfied(dreq);
        let refuses = self.reader.state.refusal_is_untold();
        if refuses && !self.reader.dreq.is_some_and(answers) {
            return Some(Intent::Request(Options::SREQ));
        }
        if !writer.all_sent() || self.pattern.no_feedback {
            return None;
        }
        let mut ask = writer.wanted_by(writer.nxt);
        if self.waits_for_room(now) && self.control_fits() {
            ask |= Options::SREQ;
        }
        if ask.is_empty() {
            return None;
        }
        Some(Intent::Request(ask))
    }

    /// The user has more than there is room for, and nothing that was sent asks for the acknowledgement that makes room
    /// (§3.5(f)). Without it the peer, where it waits for what the user has not written yet, says nothing.
    fn waits_for_room(&self, now: Time) -> bool {
        let requests = &self.writer.requests;
        let asked = !requests.is_empty() || requests.edge_is_open();
        self.writer.wants_room && !asked && self.uncovered(now).0 > 0
    }

    /// The END rule (§6.4).
    pub(super) fn decide_end(&self) -> Option<Intent> {
        let own_dreq = self.writer.requests.dreq_for_delivery().is_some();
        let over = !self.reader.state.is_open() && self.writer.state.is_closed();
        (over && self.reader.dreq.is_none() && !own_dreq).then_some(Intent::End)
    }

    fn decide_status(&self, now: Time) -> Option<Intent> {
        let reader = &self.reader;
        if reader.dreq.is_some_and(|dreq| self.dreq_is_satisfied(dreq)) {
            return Some(Intent::AnswerDreq);
        }
        if reader.owed > Owed::Nothing {
            return self.control_fits().then_some(Intent::Answer);
        }
        if self.renegotiation.is_due() && self.state != State::Opening {
            return Some(Intent::Renegotiate);
        }
        if reader.update_due || reader.nak_is_due(now) {
            return self.control_fits().then_some(Intent::Inform);
        }
        None
    }

    pub(super) fn control_fits(&self) -> bool {
        self.role == Role::Initiator || self.peer.allows_control(self.status_size())
    }

    /// What the last packet of the segments at `index` of `plan` asks for (§3.5): the first case that applies. The packets
    /// before it in a run ask for nothing.
    pub(super) fn ask(&self, plan: &Plan, index: usize, now: Time) -> Ask {
        let segment = &plan.segments[index];
        let end = segment.end();
        let writer = &self.writer;
        let closes = writer.state.closes_at(end);
        let mut ask = Ask::default();
        if self.pattern.one_way {
            ask.end = closes;
            return ask;
        }
        if closes && plan.packets == 1 && !segment.again && self.ends_with_response(segment.seq, end) {
            ask.end = true;
            return ask;
        }
        let next_is_new = plan.segments.get(index + 1).is_none_or(|next| !next.again);
        ask.sreq = segment.again && next_is_new;
        ask.dreq = segment.again && self.carried_dreq(end);
        if closes && writer.state.is_untold() {
            match self.confirm {
                Confirm::Delivered => ask.dreq = true,
                Confirm::Received => ask.sreq |= !self.pattern.response_expected,
            }
        }
        if plan.first && index == 0 && !ask.dreq {
            let asks = self.pattern.lasting && !self.is_answered_by_data();
            ask.sreq |= asks || self.pattern.status_on_first;
        }
        if index + 1 == plan.segments.len() && !self.pattern.no_feedback {
            self.ask_at_the_end(plan, &mut ask, now);
        }
        ask
    }

    /// The peer of an association that is about to open is known, and its user will answer: FIRST need not ask. With the
    /// round trip unknown it does, for then WTIMER would ask late.
    fn is_answered_by_data(&self) -> bool {
        self.expected_answer > 0
            && self.rtt.initial().is_some()
            && self
                .opening
                .as_ref()
                .is_some_and(|opening| opening.token.is_some())
            && self.timers.firsts() == 0
    }

    /// Requests that ride on the last packet of a train.
    fn ask_at_the_end(&self, plan: &Plan, ask: &mut Ask, now: Time) {
        let writer = &self.writer;
        match plan.stop {
            Stop::Blocked(Blocked::Credit | Blocked::Stopped) => {
                ask.sreq = true;
                ask.dreq = true;
                return;
            }
            Stop::Blocked(Blocked::Budget) => ask.sreq = true,
            _ => {}
        }
        let train_end = plan.segments.last().map_or(0, Planned::end);
        let wanted = writer.wanted_by(train_end);
        ask.sreq |= wanted.contains(Options::SREQ);
        ask.dreq |= wanted.contains(Options::DREQ);
        // A pace follows the round trip, and the round trip follows from answers: one question is open while the pacer waits.
        let paced = matches!(plan.stop, Stop::Pace(_));
        let drained = plan.stop == Stop::Drained && writer.wants_room;
        ask.sreq |= (paced || drained) && writer.requests.is_empty() && !writer.requests.edge_is_open();
        if ask.sreq || ask.dreq {
            return;
        }
        let (all, young) = self.uncovered(now);
        // A short message after which nothing follows: the packets before this one are in the map by now, so that
        // counting the train again would ask for a report of each.
        if plan.stop == Stop::Drained && all + 1 < self.unasked() {
            return;
        }
        // Counted again they make longer trains ask a little early, which opens windows faster.
        let more = plan.packets as u32;
        let (all, young) = (all + more, young + more);
        let quota = self.quota();
        if plan.stop == Stop::Window && (writer.requests.is_empty() || all >= quota / 2) {
            ask.sreq = true;
        } else if young >= quota || all >= quota.max(32) {
            match writer.requests.edge_is_open() || plan.first {
                false => ask.flip = true,
                true => ask.sreq = true,
            }
        }
    }

    /// Uncovered packets that ask when nothing is left to send.
    pub(super) fn unasked(&self) -> u32 {
        match self.writer.is_answered {
            true => ANSWERED,
            false => LEAST_QUOTA,
        }
    }

    /// The peer has answered with data before, which acknowledges, and is so near that LSTIMER asks soon where it does
    /// not. Further away a loss would cost more than a question does.
    pub(super) fn expects_data(&self) -> bool {
        !self.writer.gap.learned().is_zero() && self.has(Caps::XDATA) && self.is_near()
    }

    /// Uncovered packets: all, and the young ones (1).
    fn uncovered(&self, now: Time) -> (u32, u32) {
        if self.tuning.no_error {
            return (self.writer.unmapped_packets, self.writer.unmapped_packets);
        }
        self.writer
            .inflight
            .uncovered(self.writer.requests.newest(), self.young_since(now))
    }

    /// Q of §3.5(b), in packets.
    fn quota(&self) -> u32 {
        let writer = &self.writer;
        let credit = match self.tuning.no_flow {
            true => u64::MAX,
            false => writer.credit.alloc.saturating_sub(writer.una),
        };
        let window = writer.control.window().min(credit);
        let wanted = writer.control.report_after().unwrap_or(512 * 1024);
        let packets = (window / 4).min(wanted) / self.segment_size() as u64;
        (packets as u32).max(LEAST_QUOTA)
    }
}
