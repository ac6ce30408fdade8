//! Silence: of the transmitter, and of this receiver's own driver (§9.14).

use super::{Receiver, Stage};
use crate::engine::group::GroupEnv;
use crate::time::Time;
use core::time::Duration;

/// A receiver whose driver did not come for so long was stopped.
const ASLEEP: Duration = Duration::from_millis(500);
/// The driver is to come so often, that this is noticed.
const HEARTBEAT: Duration = Duration::from_millis(250);
/// After so long without a word of the transmitter but announcements it is asked whether it lives, and knows this member.
const SILENT: Duration = Duration::from_secs(10);
/// The first pause between two such questions; it doubles.
const PROBE: Duration = Duration::from_secs(1);
/// After so long a silence it is lost.
const LOST: Duration = Duration::from_secs(25);
/// A complete receiver that was not let go says so again after so long.
const LINGER: Duration = Duration::from_secs(1);
/// So often it does while nothing comes to the group; then it is over.
const LINGERS: u8 = 4;

#[derive(Debug)]
pub(super) struct Watch {
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
    lingered: u8,
}

impl Watch {
    pub(super) fn new(now: Time) -> Self {
        Self {
            heard: now,
            to_members: now,
            group: now,
            spoke: now,
            called: now,
            probe: None,
            lingered: 0,
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.heard = now;
        self.to_members = now;
        self.probe = None;
    }

    /// Something came to the group, for its members or an announcement.
    pub(super) fn heard_group(&mut self, is_announcement: bool, now: Time) {
        match is_announcement {
            true => self.heard = now,
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
    pub(super) fn called(&mut self, env: &GroupEnv<'_>) {
        if self.stage == Stage::Member && env.now.since(self.watch.called) > ASLEEP {
            // Whoever slept is behind, or counted as silent: it says so, and asks where it stands.
            self.outbox.status = true;
            self.outbox.asks = true;
        }
        self.watch.called = env.now;
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
            _ if self.close.said => Some(self.linger_at()),
            Stage::Member => Some(match self.watch.probe {
                Some((at, _)) => at.min(self.watch.heard + LOST),
                None => (self.watch.to_members + self.silent_for()).min(self.watch.heard + LOST),
            }),
            _ => Some(self.watch.heard + LOST),
        };
        heartbeat.into_iter().chain(silence).min()
    }

    pub(super) fn watch_due(&mut self, env: &mut GroupEnv<'_>) {
        let silent = env.now.since(self.watch.heard);
        match self.stage {
            Stage::Listening | Stage::Over => {}
            _ if self.close.said => self.linger(env),
            _ if silent >= LOST => self.lost(env),
            Stage::Member if env.now.since(self.watch.to_members) >= self.silent_for() => {
                let (at, wait) = self.watch.probe.unwrap_or((env.now, PROBE));
                if at <= env.now {
                    self.outbox.join = true;
                    self.outbox.probes = true;
                    self.watch.probe = Some((env.now + wait, 2 * wait));
                } else {
                    self.watch.probe = Some((at, wait));
                }
            }
            _ => {}
        }
    }

    /// When a complete receiver says so again. A member is let go by an answer to its word, so one that hears the group but no
    /// answer repeats it, too; of a large group no faster than the transmitter takes it (§9.14).
    fn linger_at(&self) -> Time {
        match self.stage {
            Stage::Confirming => self.watch.group + LINGER,
            _ => self.watch.spoke + LINGER.max(2 * self.feedback.spread(1)),
        }
    }

    /// END was lost, or nobody heard that everything is here.
    fn linger(&mut self, env: &mut GroupEnv<'_>) {
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
