//! Silence: of the transmitter, and of this receiver's own driver (§9.14).

use super::{Receiver, Stage};
use crate::engine::group::GroupEnv;
use crate::time::Time;
use core::time::Duration;

/// A receiver whose driver did not come for so long was stopped.
const ASLEEP: Duration = Duration::from_millis(500);
/// The driver is to come so often, that this is noticed.
const HEARTBEAT: Duration = Duration::from_millis(250);
/// After so long a silence the transmitter is asked whether it lives.
const SILENT: Duration = Duration::from_secs(10);
/// The first pause between two such questions; it doubles.
const PROBE: Duration = Duration::from_secs(1);
/// After so long a silence it is lost.
const LOST: Duration = Duration::from_secs(25);
/// A complete receiver says so again when the group has been silent for so long.
const LINGER: Duration = Duration::from_secs(1);
/// How often it does.
const LINGERS: u8 = 4;

#[derive(Debug)]
pub(super) struct Watch {
    /// When the transmitter was heard.
    heard: Time,
    /// When something came to the group, or the last status left.
    group: Time,
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
            group: now,
            called: now,
            probe: None,
            lingered: 0,
        }
    }

    pub(super) fn heard(&mut self, now: Time) {
        self.heard = now;
        self.probe = None;
    }

    pub(super) fn heard_group(&mut self, now: Time) {
        self.heard(now);
        self.group = now;
        self.lingered = 0;
    }

    /// A status left.
    pub(super) fn spoke(&mut self, now: Time) {
        self.group = self.group.max(now);
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

    /// When silence is to be looked at.
    pub(super) fn watch_at(&self) -> Option<Time> {
        let heartbeat = (self.stage == Stage::Member).then(|| self.watch.called + HEARTBEAT);
        let silence = match self.stage {
            Stage::Listening | Stage::Over => None,
            _ if self.close.said => Some(self.watch.group + LINGER),
            Stage::Member => Some(match self.watch.probe {
                Some((at, _)) => at.min(self.watch.heard + LOST),
                None => self.watch.heard + SILENT,
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
            Stage::Member if silent >= SILENT => {
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

    /// END was lost, or nobody heard that everything is here.
    fn linger(&mut self, env: &mut GroupEnv<'_>) {
        if env.now < self.watch.group + LINGER {
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
    }
}
