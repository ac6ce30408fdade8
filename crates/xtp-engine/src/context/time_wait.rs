//! What is left of an end that is over: enough to say END again (§6.8).

use super::close::{ANSWER_SPACING, LINGER};
use super::timers::Timer;
use super::{Context, FirstFormat, Role, State};
use crate::admit::Tombstone;
use crate::error::CloseReason;
use crate::time_wait::TimeWait;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use xtp_core::time::Time;
use xtp_wire::{Key, Options, Packet};

/// An end that answers stragglers and does nothing else.
#[derive(PartialEq)]
pub(crate) struct TimeWaitEnd {
    pub(crate) wait: TimeWait,
    pub(crate) peer: SocketAddr,
    /// Our address the peer's packets were sent to.
    pub(crate) local: Option<IpAddr>,
    pub(crate) until: Time,
    pub(crate) life: Duration,
    pub(crate) answered: Option<Time>,
    /// For the memory of peers, when it is over.
    pub(crate) srtt: Option<Duration>,
}

impl TimeWaitEnd {
    /// A packet came: whether it is to be answered. Restarts its time then.
    pub(crate) fn straggler(&mut self, packet: &Packet<'_>, now: Time) -> bool {
        let header = &packet.header;
        if header.options.contains(Options::END)
            || !self.wait.allow(packet)
            || self.answered.is_some_and(|at| now.since(at) < ANSWER_SPACING)
        {
            return false;
        }
        self.until = self.until.max(now + self.life);
        self.answered = Some(now);
        self.wait.answer(header.sync);
        true
    }
}

impl Context {
    /// The numbers as of now.
    pub(crate) fn time_wait(&self) -> TimeWait {
        let rseq = self.reader.store.next();
        TimeWait {
            key: self.wire_key(),
            own: self.key,
            options: Options::END | self.closing_bits(),
            sort: 0,
            rseq,
            alloc: self.reader.alloc.max(rseq),
            seq: self.writer.nxt,
            echo: self.reader.newest.sync(),
            sync: self.writer.sync_out,
        }
    }

    /// What stays of a responder's association (§6.8); initiators and pure datagrams leave none.
    pub(crate) fn tombstone(&self) -> Option<Tombstone> {
        let (src, key) = self.peer.foreign?;
        (!self.pattern.one_way).then(|| Tombstone {
            src,
            wait: TimeWait {
                key: Key::returned(key),
                ..self.time_wait()
            },
            extended: self.first.is_extended(),
            fell_back: self.first == FirstFormat::FellBack,
            peer_ended: self.end_received,
            untaken: self.has_untaken(),
            lasting: self.pattern.lasting,
            validated: self.peer.validated,
            received: self.peer.received,
            sent: self.peer.sent,
            cached: self.cached.clone(),
        })
    }

    /// What answers an initiator's stragglers from now on, if nothing but that is left to do, whether its user has let go of
    /// it or not.
    pub(crate) fn time_wait_end(&mut self) -> Option<TimeWaitEnd> {
        let over = self.state == State::Inactive && self.role == Role::Initiator;
        // An address that is not validated limits what may be sent to it (§7.3), and that takes a context.
        if !over || !self.peer.validated || !self.is_over_for_good() {
            return None;
        }
        let zombie = self.timers.get(Timer::Zombie)?;
        // It stays for the rest where there is room.
        let (until, life) = match self.timers.get(Timer::Context) {
            Some(until) => (until, self.afterlife(State::Active)),
            None => (zombie, LINGER),
        };
        let alloc = self.advance_alloc();
        let mut wait = self.time_wait();
        wait.options = match self.closed {
            Some(CloseReason::LocalAbort | CloseReason::Protocol(_)) => Options::END,
            _ => wait.options | self.writer.bits(&self.tuning),
        };
        Some(TimeWaitEnd {
            wait: TimeWait {
                alloc,
                sort: self.tuning.sort.unwrap_or(0),
                ..wait
            },
            peer: self.peer.addr,
            local: self.peer.local,
            until,
            life,
            answered: self.timers.last_answer(),
            srtt: self.rtt.srtt().filter(|_| life < LINGER),
        })
    }

    /// The round trip of this one, which is over, once: of an initiator that sent END when its peer would have asked by now.
    pub(crate) fn take_measured(&mut self, now: Time) -> Option<Duration> {
        let due = self.timers.take_due(Timer::Context, now);
        self.rtt.srtt().filter(|_| due && !self.retired)
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
