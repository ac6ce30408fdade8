//! Silence: of the transmitter, and of this receiver's own driver (§9.14).

use super::{Receiver, Stage};
use crate::GroupClose;
use crate::groups::PartyEnv;
use core::time::Duration;
use xtp_core::path::hint::{HintOutcome, Reports};
use xtp_core::time::Time;
use xtp_core::time::sleep::READING;

/// The driver is to come so often, that its absence is noticed.
const HEARTBEAT: Duration = Duration::from_millis(250);
/// After so long without a word of the transmitter but announcements it is asked whether it lives, and knows this member.
const SILENT: Duration = Duration::from_secs(10);
/// The first pause between two such questions; it doubles.
const PROBE: Duration = Duration::from_secs(1);
/// The longest pause between questions while the carrier reports "port unreachable".
const PROBE_IN_DOUBT: Duration = Duration::from_millis(500);
/// After so long a silence it is lost.
const LOST: Duration = Duration::from_secs(25);
/// A complete receiver that was not let go says so again after so long.
const LINGER: Duration = Duration::from_secs(1);
/// So often it does while nothing comes to the group; then it is over.
const LINGERS: u8 = 4;

#[derive(Debug)]
pub(super) struct TransmitterWatch {
    /// When the transmitter was heard.
    heard: Time,
    /// When it was heard to say what is for its members: an announcement is for everybody, and comes without end to a receiver whose
    /// confirmation was lost.
    to_members: Time,
    /// When something came to the group, or the last status left.
    group: Time,
    /// When the last status left.
    spoke: Time,
    /// When the driver came.
    called: Time,
    /// When the transmitter is asked next whether it lives.
    probe: Option<(Time, Duration)>,
    /// What the carrier says about its port since it was heard.
    doubt: Option<Reports>,
    lingered: u8,
}

impl TransmitterWatch {
    pub(super) fn new(now: Time) -> Self {
        Self {
            heard: now,
            to_members: now,
            group: now,
            spoke: now,
            called: now,
            probe: None,
            doubt: None,
            lingered: 0,
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.heard = now;
        self.to_members = now;
        self.probe = None;
        self.doubt = None;
    }

    /// Something came to the group, for its members or an announcement.
    pub(super) fn heard_group(&mut self, is_announcement: bool, now: Time) {
        match is_announcement {
            true => (self.heard, self.doubt) = (now, None),
            false => self.heard(now),
        }
        self.group = now;
        self.lingered = 0;
    }

    /// A status left.
    pub(super) fn spoke(&mut self, now: Time) {
        self.group = self.group.max(now);
        self.spoke = now;
    }
}

impl Receiver {
    /// The driver is here.
    pub(super) fn called(&mut self, env: &PartyEnv<'_>) {
        self.watch.called = env.now;
    }

    /// The driver was stopped for `span`, until `now`: that is no silence of the transmitter, and what it said lies unread.
    pub(crate) fn excuse(&mut self, span: Duration, now: Time) {
        let watch = &mut self.watch;
        watch.heard = (watch.heard + span).min(now).max(now + READING - LOST);
        watch.to_members = (watch.to_members + span).min(now);
        watch.group = (watch.group + span).min(now);
        watch.spoke = (watch.spoke + span).min(now);
        (watch.doubt, watch.probe) = (None, None);
        if self.stage == Stage::Member {
            // Whoever slept is behind, or counted as silent: it says so, and asks where it stands.
            self.outbox.status = true;
            self.outbox.asks = true;
        }
    }

    /// After so long a silence towards members the transmitter is asked: of a large group no faster than it takes it.
    fn silent_for(&self) -> Duration {
        SILENT.max(2 * self.feedback.spread(1)).min(LOST)
    }

    /// When silence is to be looked at.
    pub(super) fn watch_at(&self) -> Option<Time> {
        let heartbeat = (self.stage == Stage::Member).then(|| self.watch.called + HEARTBEAT);
        let silence = match self.stage {
            Stage::Listening | Stage::Over => None,
            _ if self.close.said => Some(
                self.enough_at()
                    .map_or(self.linger_at(), |at| at.min(self.linger_at())),
            ),
            Stage::Member => {
                let silent = self.watch.to_members + self.silent_for();
                // A question that a hint began, which was void since, waits for the silence.
                let at = match (self.watch.probe, self.watch.doubt) {
                    (Some((at, _)), Some(_)) => at,
                    (Some((at, _)), None) => at.max(silent),
                    (None, _) => silent,
                };
                Some(at.min(self.watch.heard + LOST))
            }
            _ => Some(self.watch.heard + LOST),
        };
        let is_bound = !matches!(self.stage, Stage::Listening | Stage::Over);
        let doubt = self.watch.doubt.filter(|_| is_bound).map(|doubt| doubt.due());
        heartbeat.into_iter().chain(silence).chain(doubt).min()
    }

    pub(super) fn watch_due(&mut self, env: &mut PartyEnv<'_>) {
        let silent = env.now.since(self.watch.heard);
        match self
            .watch
            .doubt
            .map_or(HintOutcome::Open, |doubt| doubt.outcome(env.now))
        {
            HintOutcome::Open => {}
            HintOutcome::Void => (self.watch.doubt, self.watch.probe) = (None, None),
            HintOutcome::Gone => {
                self.watch.doubt = None;
                return self.lost(env);
            }
        }
        match self.stage {
            Stage::Listening | Stage::Over => {}
            _ if self.close.said => self.linger(env),
            _ if silent >= LOST => self.lost(env),
            Stage::Member
                if env.now.since(self.watch.to_members) >= self.silent_for()
                    || self.watch.doubt.is_some() =>
            {
                self.probe(env.now);
            }
            _ => {}
        }
    }

    /// Asks the transmitter whether it lives, if it is time.
    fn probe(&mut self, now: Time) {
        let (at, wait) = self.watch.probe.unwrap_or((now, PROBE));
        self.watch.probe = Some((at, wait));
        if at <= now {
            self.outbox.join = true;
            self.outbox.probes = true;
            let most = self.watch.doubt.map_or(wait, |_| PROBE_IN_DOUBT);
            self.watch.probe = Some((now + wait.min(most), 2 * wait));
        }
    }

    /// The carrier reports that no program listens at the transmitter's port, which a firewall on the way may say as well (§3.7.2): it is
    /// asked at once, and lost if that goes on. One that is never asked anything is no matter of the carrier's.
    pub(super) fn doubt_transmitter(&mut self, now: Time) {
        if matches!(self.stage, Stage::Listening | Stage::Following | Stage::Over) {
            return;
        }
        if self.watch.doubt.is_none() && self.stage == Stage::Member {
            self.watch.probe = Some((now, PROBE));
        }
        self.watch.doubt = Some(Reports::and(self.watch.doubt, 2 * self.feedback.round_trip, now));
    }

    /// When a complete receiver says so again. A member is let go by an answer to its word, so one that hears the group but no
    /// answer repeats it, too; of a large group no faster than the transmitter takes it (§9.14).
    fn linger_at(&self) -> Time {
        match self.stage {
            Stage::Confirming => self.watch.group + LINGER,
            _ => self.watch.spoke + LINGER.max(2 * self.feedback.spread(1)),
        }
    }

    /// When the user hears that a datagram is confirmed although no END came: its transmitter waits for others, and it may be this
    /// receiver's user for whom these wait.
    fn enough_at(&self) -> Option<Time> {
        let said = self.close.said_at.filter(|_| self.stage == Stage::Confirming)?;
        (!self.close.told).then(|| said + LINGER)
    }

    /// END was lost, or nobody heard that everything is here.
    fn linger(&mut self, env: &mut PartyEnv<'_>) {
        if self.enough_at().is_some_and(|at| at <= env.now) {
            self.tell_closed(GroupClose::Normal, env);
        }
        if env.now < self.linger_at() {
            return;
        }
        if self.watch.lingered == LINGERS {
            return self.close_normally(env);
        }
        self.watch.lingered += 1;
        match self.stage {
            Stage::Confirming => self.outbox.join = true,
            _ => self.outbox.status = true,
        }
        self.watch.group = env.now;
        self.watch.spoke = env.now;
    }
}
