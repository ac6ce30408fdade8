//! The short way of messages that take a few packets: a train leaves first, and so may be read what followed the first
//! packet of one.
//!
//! The first packet of either is that of [`express`](super::express): XDATA. Those behind it carry nothing but data, so
//! that there is even less to decide about them.

use super::input::Input;
use super::{Context, Env};
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn};
use xtp_wire::{Body, DataSegment, Format, Header, Options, Packet};

/// Packets of the longest train: more octets than that are better gathered where they lie than copied behind one another.
pub(crate) const LONGEST_TRAIN: usize = 16;

/// A packet that followed the first of a train and is not accounted for yet.
pub(crate) struct LaterArrival {
    now: Time,
    ecn: Ecn,
    octets: usize,
    sync: u32,
}

impl Context {
    /// Stores a packet that continues what came the short way; the caller knows that this one is not accounted for. `quietly`: its
    /// user waits for all of the message, and is told of what is left of it.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        env: &mut Env<'_>,
        (header, data): (&Header, &[u8]),
        datagram: &Datagram<'_>,
        quietly: bool,
    ) -> Option<LaterArrival> {
        let (segment, reader) = (DataSegment { tag: None, data }, &self.reader);
        let follows = self.goes_on(header, &segment, datagram, Options::empty())
            // The first packet may change the round trip, and only a look would see that.
            && reader.growth.has_looked(reader.credit.capacity(), env.now);
        if !follows {
            return None;
        }
        let payload = self.kept_of(datagram, data);
        let eom = header.options.contains(Options::EOM);
        self.reader.store.push_next(None, payload, eom);
        self.reader
            .newest
            .note(header.sync, self.reader.newest.edge(), env.now);
        if !quietly {
            self.announce_readable(env);
        }
        Some(LaterArrival {
            now: env.now,
            ecn: datagram.ecn,
            octets: datagram.data.len(),
            sync: header.sync,
        })
    }

    /// Does for such a packet what [`Context::receive`] does beside storing it, as of then. `first`: header of the packet
    /// it followed, of which it is told by its sync.
    pub(crate) fn account_later_arrival(
        &mut self,
        env: &mut Env<'_>,
        first: &Input<'_>,
        arrival: &LaterArrival,
    ) {
        let header = Header {
            sync: arrival.sync,
            format: Format::Data,
            ..first.packet.header
        };
        let packet = Packet {
            header,
            body: Body::Data(DataSegment { tag: None, data: &[] }),
            padding: 0,
        };
        let input = Input {
            ecn: arrival.ecn,
            octets: arrival.octets,
            packet: &packet,
            ..*first
        };
        self.note_arrival(env, &input);
        // It was newer than all before when it was stored.
        self.peer_is_there(env.now);
        self.note_reply(env);
        self.grow_reader(env.now, self.reader.kept());
        self.take_requests(&header, &packet.body);
    }
}

impl LaterArrival {
    pub(crate) fn now(&self) -> Time {
        self.now
    }
}
