//! Datagrams in: the one that is expected, those that came joined, and all others.

use super::Driver;
use super::expectation::ExpectationState;
use crate::engine::Engine;
use crate::event::ContextId;
use crate::matching::Expectation;
use core::net::SocketAddr;
use xtp_core::time::Time;
use xtp_core::transmit::Datagram;

/// What a receive call brought, in the order it arrived.
pub trait Arrivals<'a> {
    /// All that came, if that is one datagram or came joined as one.
    fn only(&self) -> Option<Arrived<'a>>;

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

impl Arrived<'_> {
    /// How many datagrams came joined, if they may be those of one short message.
    #[inline]
    fn count_of_message(&self) -> Option<usize> {
        let Self { joined, stride } = self;
        if joined.data.len() <= *stride {
            return Some(1);
        }
        Engine::is_short_train(joined.data, *stride).then(|| joined.data.len().div_ceil((*stride).max(1)))
    }
}

/// What came as one: a datagram, or several that were joined, one every so many octets.
#[derive(Clone, Copy, Debug)]
pub struct Joined<'a> {
    rest: Option<Datagram<'a>>,
    stride: usize,
}

impl<'a> Joined<'a> {
    /// Datagrams that begin every `stride` octets (1 at least), of which the last may be shorter.
    #[inline]
    pub fn new(datagrams: Datagram<'a>, stride: usize) -> Self {
        Self {
            rest: Some(datagrams),
            stride: stride.max(1),
        }
    }

    /// One datagram.
    #[inline]
    pub fn alone(datagram: Datagram<'a>) -> Self {
        Self::new(datagram, datagram.data.len())
    }
}

impl<'a> Arrivals<'a> for Joined<'a> {
    #[inline]
    fn only(&self) -> Option<Arrived<'a>> {
        let joined = self.rest?;
        let stride = self.stride.min(joined.data.len());
        Some(Arrived { joined, stride })
    }

    #[inline]
    fn next(&mut self) -> Option<Arrived<'a>> {
        let arrived = self.only();
        self.skip_joined(1);
        arrived
    }

    #[inline]
    fn skip_joined(&mut self, count: usize) {
        self.rest = self.rest.and_then(|datagram| {
            let data = datagram.data.get(count * self.stride..)?;
            (!data.is_empty()).then_some(Datagram { data, ..datagram })
        });
    }
}

impl Driver {
    /// Takes what came: what meets the expectation, or all of it; but [one by
    /// one](crate::Expectation::OneByOne) it stops behind an association that its user may answer at once, and the rest
    /// of `arrivals` is for the next call. True if the expectation was met. Nothing is sent before
    /// [`reply`](Self::reply).
    pub fn receive<'a>(&mut self, now: Time, arrivals: &mut impl Arrivals<'a>) -> bool {
        if let ExpectationState::Open(Expectation::Next { id, unit, limit }) = self.awaited {
            if self.is_at_rest()
                && let Some(arrived) = arrivals.only()
                && let Some(count) = arrived.count_of_message()
            {
                arrivals.next();
                if count > 1 {
                    arrivals.skip_joined(count - 1);
                }
                return self.meets_next(now, (id, unit, limit), &arrived);
            }
        } else if let Some(expected) = self.awaited.open()
            && !self.is_stalled()
            && let Some(Arrived { joined, stride }) = arrivals.only()
            && joined.data.len() <= stride
        {
            arrivals.next();
            // It is read at once: its user keeps no receive buffer.
            let datagram = Datagram {
                backing: None,
                ..joined
            };
            return self.meets(now, expected, datagram);
        }
        let one_by_one = matches!(self.awaited, ExpectationState::Open(Expectation::OneByOne));
        self.hand_over(now, arrivals, one_by_one);
        false
    }

    /// As [`receive`](Self::receive), where nothing is expected: nothing of `arrivals` is left.
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
