//! The short way of messages that take a few packets: a train leaves first, and so may be read what followed the first
//! packet of one.
//!
//! The first packet of either is that of [`express`](super::express): XDATA. Those behind it carry nothing but data, so
//! that there is even less to decide about them.

use super::input::Input;
use super::plan::Planned;
use super::{Ask, Context, Env};
use crate::congestion::Controller;
use crate::event::Event;
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, TransmitBatch};
use smallvec::SmallVec;
use xtp_wire::{Body, DataSegment, Format, Header, Options, Packet, XDATA_LEN, serial_gt, size};

/// Packets of the longest train: more octets than that are better gathered where they lie than copied behind one another.
pub(super) const LONGEST: usize = 16;

/// The packets of a train behind its first.
pub(super) type Cars = SmallVec<[Planned; 2]>;

/// What is not yet in the books of a packet that followed the first of a train.
pub(crate) struct Follower {
    now: Time,
    ecn: Ecn,
    octets: usize,
    sync: u32,
}

/// What is not yet in the books of a packet that left behind the first of a train.
pub(crate) struct Car {
    segment: Planned,
    sync: u32,
    octets: usize,
    options: Options,
}

impl Context {
    /// Stores a packet that continues what came the short way; the caller knows that the books are open for that.
    pub(crate) fn follow(
        &mut self,
        env: &mut Env<'_>,
        datagram: &Datagram<'_>,
        packet: &Packet<'_>,
    ) -> Option<Follower> {
        let Body::Data(data) = &packet.body else {
            return None;
        };
        let header = &packet.header;
        let reader = &self.reader;
        let mut plain = Options::empty();
        plain.set(Options::EDGE, reader.edge_last);
        let expected = self.regular
            && header.options - (Options::EOM | Options::NOCHECK) == plain
            && datagram.src == self.peer.addr
            && (datagram.dst.is_none() || datagram.dst == self.peer.local)
            && header.seq == reader.store.next()
            && data.tag.is_none()
            && !data.data.is_empty()
            && header.seq + data.data.len() as u64 <= reader.alloc
            && reader
                .sync_in
                .is_some_and(|newest| serial_gt(header.sync, newest))
            // The first packet may change the round trip, and only a look would see that.
            && reader.growth.has_looked(reader.credit.capacity(), env.now);
        if !expected {
            return None;
        }
        let payload = Input::payload_of(datagram.backing, data.data);
        if matches!(payload, crate::recv::Payload::Copy(_)) {
            self.stats.octets_copied += data.data.len() as u64;
        }
        let eom = header.options.contains(Options::EOM);
        self.reader.store.insert(header.seq, None, payload, eom);
        self.reader.note_sync(header.sync, self.reader.edge_last, env.now);
        if !self.reader.announced {
            self.reader.announced = true;
            env.events.push_back((self.id, Event::Readable));
        }
        Some(Follower {
            now: env.now,
            ecn: datagram.ecn,
            octets: datagram.data.len(),
            sync: header.sync,
        })
    }

    /// Does for a follower what [`Context::receive`] does beside storing it, as of then. `first`: header of the packet
    /// it followed, of which it is told by its sync.
    pub(crate) fn book_follower(&mut self, env: &mut Env<'_>, first: &Input<'_>, follower: &Follower) {
        let header = Header {
            sync: follower.sync,
            format: Format::Data,
            ..first.packet.header
        };
        let packet = Packet {
            header,
            body: Body::Data(DataSegment { tag: None, data: &[] }),
            padding: 0,
        };
        let input = Input {
            ecn: follower.ecn,
            octets: follower.octets,
            packet: &packet,
            ..*first
        };
        self.note_arrival(env, &input);
        // It was newer than all before when it was stored.
        self.peer_is_there(env.now);
        self.note_reply(env);
        self.grow_reader(env.now, self.reader.store.readable());
        self.take_requests(&header, &packet.body);
    }

    /// What has to leave behind `first`, the first packet of a turn; `None` if it does not go the short way. Nothing, if
    /// that packet is all.
    pub(super) fn cars(&self, first: &Planned, max: usize) -> Option<Cars> {
        let writer = &self.writer;
        let mut cars = Cars::new();
        let end = writer.queue.end();
        if first.end() == end {
            return Some(cars);
        }
        let size = self.segment_size();
        // With so much to spare no rule about credit has an effect.
        let credit = end + size as u64 <= writer.credit.alloc;
        let span = writer.control.span().is_none_or(|span| end - writer.nxt <= span);
        if !credit || !span {
            return None;
        }
        let mut octets = size::packet(XDATA_LEN + first.len) as u64;
        let mut seq = first.end();
        while seq < end {
            // What the books of an arrival will say of the window and the pacer lets no less through.
            let open = seq - writer.nxt < writer.control.window() && octets < writer.pacer.available();
            let cut = writer.queue.cut(seq, size)?;
            if !open || cut.tag.is_some() || cars.len() + 2 > self.longest(max) {
                return None;
            }
            let car = Planned {
                seq,
                len: cut.len,
                tag: None,
                eom: cut.eom,
                again: false,
                count: 1,
            };
            octets += size::packet(cut.len) as u64;
            seq = car.end();
            cars.push(car);
        }
        Some(cars)
    }

    /// Packets of a train that may leave at once, if a turn hands over at most `max`: one more might ask for a report.
    pub(super) fn longest(&self, max: usize) -> usize {
        let unasked = self.unasked() as usize - 1;
        unasked.min(LONGEST).min(max)
    }

    /// Builds the packets of `cars`, whose books are for later.
    pub(super) fn couple(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        cars: &Cars,
        books: &mut Vec<Car>,
    ) {
        for segment in cars {
            let (sync, octets, options) =
                self.build_data(Format::Data, *segment, Ask::default(), false, env, out);
            books.push(Car::of(*segment, sync, octets, options));
        }
    }

    /// Does for the packets behind the first what [`Context::flush`] does beside building them.
    pub(super) fn book_cars(&mut self, env: &Env<'_>, cars: &[Car]) {
        for car in cars {
            self.settle_owed(false, car.options);
            self.account_data(&car.segment, car.sync, car.octets, car.options, false, env);
        }
    }
}

impl Car {
    pub(super) fn of(segment: Planned, sync: u32, octets: usize, options: Options) -> Self {
        Self {
            segment,
            sync,
            octets,
            options,
        }
    }
}

impl Follower {
    pub(super) fn of(now: Time, ecn: Ecn, octets: usize, sync: u32) -> Self {
        Self {
            now,
            ecn,
            octets,
            sync,
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }
}
