//! The calls that drive an engine, in three ways: the general calls alone, the shortcuts in whatever order, or the
//! [`Driver`] with the order that ships.

use super::host::{Bookkeeping, Host};
use super::world::Flying;
use crate::engine::Delivery;
use crate::{
    Arrivals, Arrived, ContextId, Datagram, Engine, Error, Expectation, Joined, ListenerId, OpenOptions,
    Outlet, Reply, TaggedMessage, Time, TransmitBatch, Unit, Welcomed,
};
use bytes::Bytes;
use std::net::SocketAddr;

/// How a host's engine is driven.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    General,
    /// By shortcuts, in whatever order its contract allows.
    Shortcuts,
    /// By the driver.
    Driver,
}

impl Way {
    pub(super) fn is_short(self) -> bool {
        self != Self::General
    }
}

/// What left.
#[derive(Default)]
pub(super) struct Link {
    pub(super) sent: Vec<(SocketAddr, Flying)>,
    pub(super) trains: usize,
}

impl Link {
    fn of(out: &TransmitBatch) -> Self {
        let mut link = Self::default();
        link.take(out);
        link
    }

    fn take(&mut self, out: &TransmitBatch) {
        self.trains += out.trains.len();
        out.for_each_datagram(|train, octets| {
            let flying = Flying {
                src: train.dst,
                dst: train.src,
                ecn: train.ecn,
                octets: octets.to_vec(),
            };
            self.sent.push((train.dst, flying));
        });
    }
}

impl Outlet for Link {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        self.take(out);
        out.clear();
    }
}

impl Host {
    /// A turn, but for what may be done later.
    pub(super) fn flush(&mut self, now: Time) -> Link {
        let (mut out, mut link) = (TransmitBatch::new(), Link::default());
        match self.way {
            Way::General => self.driver.command().flush(now, &mut out),
            Way::Shortcuts => self.driver.command().flush_ahead(now, &mut out),
            Way::Driver => assert!(self.driver.turn(now, &mut link), "packets found no room"),
        }
        link.take(&out);
        link
    }

    /// What a turn left undone.
    pub(super) fn settle(&mut self, now: Time, when: Bookkeeping) {
        match (self.way, when) {
            (Way::General, _) | (_, Bookkeeping::Later) => {}
            (Way::Driver, Bookkeeping::Idle) => self.driver.tidy(now),
            (_, Bookkeeping::Now | Bookkeeping::Idle) => self.driver.command().catch_up(),
        }
    }

    pub(super) fn begin(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        match self.way {
            Way::General => self.open_and_send(now, peer, options, data),
            Way::Shortcuts => self.driver.command().open_ahead(now, peer, options, data),
            Way::Driver => self.driver.begin_message(now, peer, options, data),
        }
    }

    /// Datagrams of `stride` octets that came joined, the last perhaps shorter; how many were taken in runs.
    pub(super) fn take_in(&mut self, now: Time, datagram: Datagram<'_>, stride: usize) -> usize {
        let mut rest = Joined::new(datagram, stride);
        if self.way == Way::Driver {
            let mut link = Link::default();
            self.driver.expect(Expectation::Anything);
            self.driver.receive(now, &mut rest);
            assert_eq!(self.driver.reply(now, &mut link), Reply::General);
            return 0;
        }
        let mut runs = 0;
        while let Some(Arrived { joined, stride }) = rest.next() {
            if self.way == Way::Shortcuts && joined.data.len() > stride && joined.backing.is_some() {
                let count = self.driver.command().receive_run(now, &joined, stride);
                if count > 0 {
                    runs += 1;
                    rest.skip_joined(count - 1);
                    continue;
                }
            }
            let data = &joined.data[..stride];
            let alone = Datagram { data, ..joined };
            self.driver.command().receive(now, alone);
        }
        runs
    }

    /// Datagrams that came joined, or one, for a user who waits for the next message of an association; nobody took them if that cannot
    /// be.
    pub(super) fn offer_message(
        &mut self,
        now: Time,
        id: ContextId,
        datagram: &Datagram<'_>,
        stride: usize,
    ) -> Offered<TaggedMessage> {
        if self.way == Way::Driver && !self.driver.awaits_message(id) {
            return Offered::Passed;
        }
        let (unit, limit) = (Unit::Message, usize::MAX);
        self.driver.expect(Expectation::Next { id, unit, limit });
        self.driver.receive(now, &mut Joined::new(*datagram, stride));
        let message = self.driver.take_next();
        self.driver.withdraw();
        match message {
            Some(message) => Offered::Taken(message, Link::default()),
            None => Offered::General,
        }
    }

    /// An association that begins with its message, for a user who waits for one.
    pub(super) fn offer_first(
        &mut self,
        now: Time,
        listener: ListenerId,
        datagram: &Datagram<'_>,
        limit: usize,
    ) -> Offered<Welcomed> {
        if self.way == Way::Driver {
            let expectation = Expectation::Message { listener, limit };
            return match self.post(now, expectation, datagram) {
                (Reply::Began(id, peer), link) => {
                    let (from, welcomed) = self.driver.take_message().expect("it came");
                    assert_eq!((welcomed.id, from), (id, peer));
                    Offered::Taken(welcomed, link)
                }
                (Reply::Ended(_), _) => Offered::Passed,
                (Reply::General, _) => Offered::General,
                (reply, _) => panic!("{reply:?} to whoever waits for a message"),
            };
        }
        let mut out = TransmitBatch::new();
        let expected = Expectation::Message { listener, limit };
        match self
            .driver
            .command()
            .receive_expected(now, expected, *datagram, &mut out)
        {
            Some(Delivery::Message(welcomed)) => Offered::Taken(welcomed, Link::of(&out)),
            Some(Delivery::Ended(_)) => Offered::Passed,
            Some(other) => panic!("{other:?} to whoever waits for a message"),
            None => Offered::General,
        }
    }

    /// The answer to an association, whose user waits for it.
    pub(super) fn offer_answer(
        &mut self,
        now: Time,
        id: ContextId,
        datagram: &Datagram<'_>,
        limit: usize,
    ) -> Offered<Bytes> {
        if self.way == Way::Driver {
            return match self.post(now, Expectation::Answer { id, limit }, datagram) {
                (Reply::Answered(_), link) => {
                    Offered::Taken(self.driver.take_answer(id).expect("it came"), link)
                }
                (Reply::General, _) => Offered::General,
                (reply, _) => panic!("{reply:?} to whoever waits for an answer"),
            };
        }
        let mut out = TransmitBatch::new();
        let expected = Expectation::Answer { id, limit };
        match self
            .driver
            .command()
            .receive_expected(now, expected, *datagram, &mut out)
        {
            Some(Delivery::Answer(answer)) => Offered::Taken(answer, Link::of(&out)),
            Some(other) => panic!("{other:?} to whoever waits for an answer"),
            None => Offered::General,
        }
    }

    fn post(&mut self, now: Time, expectation: Expectation, datagram: &Datagram<'_>) -> (Reply, Link) {
        self.driver.expect(expectation);
        let mut arrivals = Joined::alone(*datagram);
        let mut link = Link::default();
        self.driver.receive(now, &mut arrivals);
        let reply = self.driver.reply(now, &mut link);
        self.driver.withdraw();
        (reply, link)
    }

    pub(super) fn hand_out(
        &mut self,
        now: Time,
        id: ContextId,
        tag: Option<u64>,
        data: &mut Bytes,
    ) -> Option<Link> {
        let (mut out, mut link) = (TransmitBatch::new(), Link::default());
        let left = match self.way {
            Way::General => false,
            Way::Shortcuts => self
                .driver
                .command()
                .hand_out(now, id, (tag, data), Unit::Message, &mut out),
            Way::Driver => self
                .driver
                .hand_out(now, id, (tag, data), Unit::Message, &mut link),
        };
        assert!(
            left || out.is_empty() && link.sent.is_empty(),
            "something was done"
        );
        link.take(&out);
        left.then_some(link)
    }

    pub(super) fn answer_at_once(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        unconfirmed: bool,
    ) -> Option<Link> {
        let (mut out, mut link) = (TransmitBatch::new(), Link::default());
        let driver = &mut self.driver;
        let left = match self.way {
            Way::General => false,
            Way::Shortcuts => driver
                .command()
                .respond_at_once(now, id, data, unconfirmed, &mut out),
            Way::Driver => driver.respond_at_once(now, id, data, unconfirmed, &mut link),
        };
        assert!(
            left || out.is_empty() && link.sent.is_empty(),
            "something was done"
        );
        link.take(&out);
        left.then_some(link)
    }
}

/// What became of a datagram that was offered to whoever waits.
pub(super) enum Offered<T> {
    /// It was his.
    Taken(T, Link),
    /// It was the end of what nobody holds.
    Passed,
    /// The engine took it.
    General,
}
