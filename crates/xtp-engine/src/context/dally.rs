//! What is left of an initiator that is over and whose user has gone: enough to say END again (§6.8).

use super::close::ANSWER_SPACING;
use super::timers::Timer;
use super::{Context, Role, State};
use crate::error::CloseReason;
use crate::plausible::LastNumbers;
use crate::time::Time;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use xtp_wire::{Control, Key, Options, Packet, serial_gt};

/// An end that answers stragglers and does nothing else.
#[derive(Clone)]
pub(crate) struct Dally {
    /// Key of what it sends, and its own, under which it is found.
    pub(crate) wire_key: Key,
    pub(crate) key: u64,
    pub(crate) peer: SocketAddr,
    /// Our address the peer's packets were sent to.
    pub(crate) local: Option<IpAddr>,
    /// END, and what else is true.
    pub(crate) options: Options,
    pub(crate) sort: u16,
    pub(crate) seq: u64,
    pub(crate) sync: u32,
    rseq: u64,
    alloc: u64,
    pub(crate) echo: Option<u32>,
    pub(crate) until: Time,
    pub(crate) life: Duration,
    answered: Option<Time>,
    /// For the memory of peers, when it is over.
    pub(crate) srtt: Option<Duration>,
}

impl Dally {
    /// A packet came: what to answer, if anything. Restarts the dally.
    pub(crate) fn straggler(&mut self, packet: &Packet<'_>, now: Time) -> Option<Control> {
        let header = &packet.header;
        let last = LastNumbers {
            sent: self.seq,
            received: self.rseq,
            newest: self.sync,
        };
        if header.options.contains(Options::END)
            || !last.allow(packet)
            || self.answered.is_some_and(|at| now.since(at) < ANSWER_SPACING)
        {
            return None;
        }
        self.until = self.until.max(now + self.life);
        if self.echo.is_none_or(|newest| serial_gt(header.sync, newest)) {
            self.echo = Some(header.sync);
        }
        self.answered = Some(now);
        self.sync = self.sync.wrapping_add(1);
        Some(Control {
            rseq: self.rseq,
            alloc: self.alloc,
            echo: self.echo.unwrap_or(0),
        })
    }
}

impl Context {
    /// What answers stragglers from now on, if nothing but that is left to do.
    pub(crate) fn dally(&mut self) -> Option<Dally> {
        self.remains().filter(|_| self.released)
    }

    /// The same for one whose user has not let go, and the round trip it began with.
    pub(crate) fn relic(&mut self) -> Option<(Dally, Option<Duration>)> {
        let initial = self.rtt.initial();
        self.remains().map(|dally| (dally, initial))
    }

    fn remains(&mut self) -> Option<Dally> {
        let over = self.state == State::Inactive && self.role == Role::Initiator;
        // An address that is not validated limits what may be sent to it (§7.3), and that takes a context.
        if !over || !self.peer.validated || !self.is_over_for_good() {
            return None;
        }
        let options = match self.closed {
            Some(CloseReason::LocalAbort | CloseReason::Protocol(_)) => Options::END,
            _ => self.writer.bits(&self.tuning) | Options::END | self.closing_bits(),
        };
        let control = self.control_segment(None);
        Some(Dally {
            wire_key: self.wire_key(),
            key: self.key,
            peer: self.peer.addr,
            local: self.peer.local,
            options,
            sort: self.tuning.sort.unwrap_or(0),
            seq: self.writer.nxt,
            sync: self.writer.sync_out,
            rseq: control.rseq,
            alloc: control.alloc,
            echo: self.reader.sync_in,
            until: self.timers.get(Timer::Zombie)?,
            life: self.afterlife(State::Active),
            answered: self.timers.last_answer,
            srtt: self.rtt.srtt(),
        })
    }

    /// Nothing is kept that the engine or a straggler may ask for; what was asked and owed is of no interest any more.
    fn is_over_for_good(&self) -> bool {
        self.writer.queue.is_empty()
            && self.writer.inflight.is_empty()
            && self.reader.store.is_empty()
            && !self.dirty
            && !self.half_open
            && !self.abort_pending
            && self.restart.is_none()
            && self.moved.is_none()
            && self.learned_token.is_none()
            && self.learned_refusal.is_none()
    }
}
