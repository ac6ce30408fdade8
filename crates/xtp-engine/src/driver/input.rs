//! Datagrams in: the one somebody waits for, those that came joined, and all others.

use super::Driver;
use super::expectation::Awaited;
use crate::context::TaggedMessage;
use crate::engine::{Engine, Expectation, Wanted};
use crate::event::ContextId;
use core::net::SocketAddr;
use xtp_core::time::Time;
use xtp_core::transmit::Datagram;

/// What a receive call brought, in the order it arrived.
pub trait Arrivals<'a> {
    /// The datagram that came, if it came alone and was not joined from several.
    fn only(&self) -> Option<Datagram<'a>>;

    /// The next datagram.
    fn next(&mut self) -> Option<Arrived<'a>>;

    /// Passes over so many datagrams, which were joined to the last one and have been taken with it.
    fn skip_joined(&mut self, count: usize);
}

/// A datagram, and those that came joined to it.
#[derive(Copy, Clone, Debug)]
pub struct Arrived<'a> {
    /// It and what is left of its train: one datagram begins every `stride` octets, the last may be shorter.
    pub joined: Datagram<'a>,
    /// Octets of the datagram itself.
    pub stride: usize,
}

impl Driver {
    /// Takes what came: what meets the expectation, or all of it; but [one by
    /// one](crate::Expectation::OneByOne) it stops behind an association that its user may answer at once, and the rest
    /// of `arrivals` is for the next call. True if the expectation was met. Nothing is sent before
    /// [`reply`](Self::reply).
    pub fn receive<'a>(&mut self, now: Time, arrivals: &mut impl Arrivals<'a>) -> bool {
        if let Some(expected) = self.awaited.open()
            && !self.is_stalled()
            && let Some(datagram) = arrivals.only()
        {
            arrivals.next();
            return self.meets(now, expected, datagram);
        }
        let one_by_one = matches!(self.awaited, Awaited::Open(Expectation::OneByOne));
        self.hand_over(now, arrivals, one_by_one);
        false
    }

    /// As [`receive`](Self::receive), where nobody waits for anything: nothing of `arrivals` is left.
    pub fn receive_all<'a>(&mut self, now: Time, arrivals: &mut impl Arrivals<'a>) {
        self.hand_over(now, arrivals, false);
    }

    /// Takes what came to the socket of `group`, to which nobody sends but transmitters of groups: none of the short ways
    /// applies, and the address it came to is no address to answer from. Nothing is sent before the next
    /// [turn](Self::turn).
    pub fn receive_from_group<'a>(&mut self, now: Time, group: SocketAddr, arrivals: &mut impl Arrivals<'a>) {
        while let Some(Arrived { joined, stride }) = arrivals.next() {
            let data = &joined.data[..stride.min(joined.data.len())];
            let datagram = Datagram {
                dst: None,
                data,
                ..joined
            };
            self.engine.receive_group(now, group, datagram);
        }
    }

    /// As [`receive_all`](Self::receive_all) of one datagram, or of those that came joined to it and nothing else, for a user who
    /// waits for what comes next of an association and has read all before. If that came, and nothing else is to be done first, no event
    /// tells of it: it is returned. Of all else that came events tell.
    #[inline]
    pub fn receive_wanted(
        &mut self,
        now: Time,
        wanted: Wanted,
        arrived: Arrived<'_>,
    ) -> Option<TaggedMessage> {
        let Arrived { joined, stride } = arrived;
        if joined.data.len() <= stride || Engine::is_short_train(joined.data, stride) {
            return self.engine.receive_wanted(now, wanted, &joined, stride);
        }
        let mut rest = joined.data;
        while !rest.is_empty() {
            let joined = Datagram { data: rest, ..joined };
            let count = self.take_joined(now, Arrived { joined, stride });
            rest = rest.get(count * stride.max(1)..).unwrap_or_default();
        }
        None
    }

    fn hand_over<'a>(&mut self, now: Time, arrivals: &mut impl Arrivals<'a>, one_by_one: bool) {
        while let Some(arrived) = arrivals.next() {
            let count = self.take_joined(now, arrived);
            if count > 1 {
                arrivals.skip_joined(count - 1);
            }
            if one_by_one && self.engine.may_be_answered_at_once() {
                return;
            }
        }
    }

    /// Takes a datagram, and of those that came joined to it as many as are alike; how many.
    fn take_joined(&mut self, now: Time, arrived: Arrived<'_>) -> usize {
        let Arrived { joined, stride } = arrived;
        if joined.data.len() > stride && joined.backing.is_some() {
            let count = self.engine.receive_run(now, &joined, stride);
            if count > 0 {
                return count;
            }
        }
        let data = &joined.data[..stride.min(joined.data.len())];
        self.engine.receive(now, Datagram { data, ..joined });
        1
    }

    /// Whether what comes next for `id` may go to a user who waits for it, as far as the engine has a say.
    #[inline]
    pub fn awaits_message(&self, id: ContextId) -> bool {
        self.is_at_rest() && self.engine.awaits_message(id)
    }
}
