//! Datagrams in: the one somebody waits for, those that came joined, and all others.

use super::Driver;
use super::expectation::Awaited;
use crate::context::{TaggedMessage, Unit};
use crate::engine::Expectation;
use crate::event::ContextId;
use crate::time::Time;
use crate::transmit::Datagram;
use core::net::SocketAddr;

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

    fn hand_over<'a>(&mut self, now: Time, arrivals: &mut impl Arrivals<'a>, one_by_one: bool) {
        while let Some(Arrived { joined, stride }) = arrivals.next() {
            if joined.data.len() > stride && joined.backing.is_some() {
                let count = self.engine.receive_run(now, &joined, stride);
                if count > 0 {
                    arrivals.skip_joined(count - 1);
                    continue;
                }
            }
            let data = &joined.data[..stride.min(joined.data.len())];
            self.engine.receive(now, Datagram { data, ..joined });
            if one_by_one && self.engine.may_be_answered_at_once() {
                return;
            }
        }
    }

    /// Whether a message of `id` that comes next may go to its reader at once, as far as the engine has a say.
    #[inline]
    pub fn awaits_message(&self, id: ContextId) -> bool {
        self.is_at_rest() && self.engine.awaits_message(id)
    }

    /// Takes what came alone if it is the next `unit` of association `id`, whose user waits for it and has read all
    /// before: a whole message, or what one packet carries. Of a message in several packets that came joined, `datagram.data` holds all, and one begins every
    /// `stride` octets. `None`, and nothing done, for any other: that is for [`receive_all`](Self::receive_all).
    #[inline]
    pub fn hand_in(
        &mut self,
        now: Time,
        id: ContextId,
        datagram: &Datagram<'_>,
        stride: usize,
        unit: Unit,
    ) -> Option<TaggedMessage> {
        self.engine.hand_in(now, id, datagram, stride, unit)
    }
}
