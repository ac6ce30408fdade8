//! The end: when everything is here, when that is said, and what follows (§9.14).

use super::{Receiver, Stage, says_end};
use crate::groups::PartyEnv;
use crate::{GroupClose, GroupEvent};
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::user::Confirm;
use xtp_wire::{Diag, DiagCode, DiagValue, Header, serial_gt};

/// A poll that came with the last octets is answered first, and then this need not be said apart.
const AFTER_POLL: Duration = Duration::from_millis(5);
/// Octets of the text of a rejection.
const TEXT: usize = 255;

/// How far the end is.
#[derive(Debug, Default)]
pub(super) struct Close {
    /// Where the stream ends, once that is known.
    pub(super) end: Option<u64>,
    /// Everything is here.
    pub(super) complete: bool,
    /// The transmitter wants to know that the user has taken everything.
    pub(super) waits_for_user: bool,
    confirmed: bool,
    /// The transmitter was told that everything is here.
    pub(super) said: bool,
    /// In which packet it was told so first.
    pub(super) said_in: u32,
    /// When it is told so unasked.
    pub(super) at: Option<Time>,
    /// When it was told so first, and that the user knows that it is over.
    pub(super) said_at: Option<Time>,
    pub(super) told: bool,
    /// The rejection by the user: said again to a transmitter that asks.
    pub(super) rejected: Option<Farewell>,
}

/// The last packet of a receiver that ends before it has everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Farewell {
    /// The user closed the receiver.
    Left,
    /// The user rejected what came, with this text.
    Rejected(String),
}

impl Farewell {
    /// The DIAG with code 2 that tells the transmitter.
    pub(super) fn diag(&self) -> Diag<'_> {
        let (value, text) = match self {
            Self::Left => (DiagValue::HostGoingDown, ""),
            Self::Rejected(text) => (DiagValue::Unspecified, text.as_str()),
        };
        Diag::new(DiagCode::ContextAbandoned, value, text)
    }
}

impl Receiver {
    /// Whether the transmitter may be told that everything is here.
    pub(super) fn may_confirm(&self) -> bool {
        let read = self.close.end == Some(self.stream.delivered());
        let user = self.close.confirmed
            || self.options.confirm == Confirm::Received && (read || !self.close.waits_for_user);
        self.close.complete && user
    }

    /// Everything is here, or the user has taken or confirmed it.
    pub(super) fn completed(&mut self, env: &mut PartyEnv<'_>) {
        if self.stage == Stage::Following {
            return self.close_normally(env);
        }
        if !self.may_confirm() || self.close.said {
            return;
        }
        match self.stage {
            Stage::Member if self.close.at.is_none() => {
                let spread = self.feedback.once(env.random());
                self.close.at = Some(env.now + spread + AFTER_POLL);
            }
            Stage::Confirming => self.confirm_datagram(env),
            _ => {}
        }
    }

    /// The confirmation of a datagram is a join that says that everything is here.
    pub(super) fn confirm_datagram(&mut self, env: &mut PartyEnv<'_>) {
        if self.may_confirm() {
            self.ask_to_confirm(env);
        }
    }

    /// The user has read something.
    pub(super) fn taken(&mut self, env: &mut PartyEnv<'_>) {
        if self.close.complete {
            self.completed(env);
        }
    }

    pub(crate) fn confirm(&mut self, env: &mut PartyEnv<'_>) {
        self.close.confirmed = true;
        self.completed(env);
    }

    pub(crate) fn reject(&mut self, text: &str, env: &mut PartyEnv<'_>) {
        if self.stage != Stage::Over {
            let until = (0..=text.len().min(TEXT))
                .rev()
                .find(|at| text.is_char_boundary(*at));
            self.leave(Farewell::Rejected(text[..until.unwrap_or(0)].to_owned()));
            self.close.rejected = self.outbox.farewell.clone();
            self.finish(GroupClose::Local, env);
        }
    }

    pub(crate) fn release(&mut self, env: &mut PartyEnv<'_>) {
        let has_all = self.may_confirm();
        if self.stage == Stage::Member && has_all {
            self.outbox.status = !self.close.said || self.outbox.status;
        } else if self.stage == Stage::Confirming && has_all {
            self.close.confirmed = true;
            self.stream = super::new_stream(self.stream.next(), &self.options);
        } else if self.stage != Stage::Over && !self.close.said {
            self.leave(Farewell::Left);
        }
        if self.place.is_some() || has_all {
            // What still comes of it is none of another receiver.
            self.bury(env);
        }
        self.released = true;
    }

    /// Whether it stays when its user has let go: a datagram that was taken is confirmed until its transmitter knows, as long as that
    /// repeats it.
    pub(super) fn stays(&self) -> bool {
        self.stage == Stage::Confirming && self.may_confirm()
    }

    /// The user hears that it is over, once, if it has not let go.
    pub(super) fn tell_closed(&mut self, close: GroupClose, env: &mut PartyEnv<'_>) {
        if !core::mem::replace(&mut self.close.told, true) && !self.released {
            env.tell(GroupEvent::Closed(close));
        }
    }

    /// The transmitter is told that this receiver is out.
    fn leave(&mut self, farewell: Farewell) {
        if matches!(self.stage, Stage::Member | Stage::Confirming) {
            self.outbox.farewell = Some(farewell);
        }
    }

    /// CNTL {END} to the group.
    pub(super) fn group_ended(&mut self, header: &Header, env: &mut PartyEnv<'_>) {
        self.heard_poll(header, env.now);
        if self.close.said && self.stage == Stage::Member && says_end(header) {
            // Those who held the window are done; whether this one is known to be is what the answer to it alone says.
            let spread = self.feedback.once(env.random());
            self.close.at = self.close.at.or(Some(env.now + spread));
        } else {
            self.ended(header, env);
        }
    }

    /// CNTL {END} to this receiver alone, in answer to its packet `echo`.
    pub(super) fn alone_ended(&mut self, header: &Header, echo: u32, env: &mut PartyEnv<'_>) {
        if self.close.said && serial_gt(self.close.said_in, echo) {
            // It crossed the confirmation, which may be lost: that is repeated until it is answered.
            return;
        }
        self.ended(header, env);
    }

    /// The group is over. With WCLOSE its stream ended there; without it the transmitter gave up, and nothing follows.
    pub(super) fn ended(&mut self, header: &Header, env: &mut PartyEnv<'_>) {
        let end = header.seq;
        if self.close.said {
            return self.close_normally(env);
        }
        let gives_up = !says_end(header);
        if self.stage == Stage::Following && !gives_up {
            return self.follow_end(end, env);
        }
        if self.stage == Stage::Joining && !self.joining.again {
            // Nobody waits for this receiver, and it has nothing of that group.
            self.bury(env);
            return self.start_over();
        }
        if gives_up {
            let missing = self.octets_missing();
            self.bury(env);
            return self.finish(GroupClose::Incomplete { missing }, env);
        }
        self.learn_end(end, env);
        let is_news = !core::mem::replace(&mut self.behind.ended, true);
        if self.close.complete {
            self.outbox.status = self.may_confirm();
        } else if self.bound.as_ref().is_some_and(|bound| bound.supplies) && self.stage == Stage::Member {
            // Said once: the transmitter answers every status with END.
            self.outbox.status |= is_news;
        } else {
            let missing = self.octets_missing();
            self.bury(env);
            self.finish(GroupClose::Incomplete { missing }, env);
        }
    }

    pub(super) fn close_normally(&mut self, env: &mut PartyEnv<'_>) {
        self.bury(env);
        self.finish(GroupClose::Normal, env);
    }

    /// The transmitter is gone.
    pub(super) fn lost(&mut self, env: &mut PartyEnv<'_>) {
        if self.close.said {
            self.close_normally(env);
        } else if self.stage == Stage::Joining && !self.joining.again {
            self.start_over();
        } else if self.behind.ended && !self.close.complete {
            let missing = self.octets_missing();
            self.finish(GroupClose::Incomplete { missing }, env);
        } else {
            self.finish(GroupClose::TransmitterLost, env);
        }
    }

    /// What still comes of this group is not taken for another one.
    pub(super) fn bury(&mut self, env: &mut PartyEnv<'_>) {
        if let Some(bound) = &self.bound {
            env.bury(bound.address, bound.key);
        }
    }
}

#[cfg(test)]
#[path = "close_tests.rs"]
mod tests;
