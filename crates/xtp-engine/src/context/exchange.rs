//! The shortest way of all (see `express`): a whole message handed from its packet to a user who waits for it, and a
//! whole message from its user into a packet, without a queue, an event or a plan in between.

use super::express::{Arrival, Departure};
use super::packets::COPY_LIMIT;
use super::plan::Planned;
use super::{Context, Env};
use crate::time::Time;
use crate::transmit::{Datagram, Route, TransmitBatch};
use bytes::Bytes;
use xtp_wire::{Format, HEADER_LEN, Header, Key, Options, XDATA_LEN, Xdata, seal};

impl Context {
    /// The message in `datagram`, if it is the next one of a regular association and the user has read all before.
    #[inline]
    pub(crate) fn take_message(&mut self, now: Time, datagram: &Datagram<'_>) -> Option<(Arrival, Bytes)> {
        let packet = Xdata::parse(datagram.data)?;
        let (header, control) = (&packet.header, &packet.control);
        let len = packet.data.len();
        if header.key != Key::returned(self.key)
            || !header.options.contains(Options::EOM)
            || !self.reader.store.is_empty()
            || !self.expects(header, control, len, datagram)
        {
            return None;
        }
        self.writer.queue.release(control.rseq);
        let payload = self.kept_of(datagram, packet.data);
        let message = self.reader.store.hand_on(payload);
        self.after_arrival(header, len as u64, now);
        self.note_delivery();
        Some((
            Arrival::of(now, datagram, header, control, packet.delay_us),
            message,
        ))
    }

    /// Sends `data` as one message in one packet, if it may leave at once and nothing else has to; else `data` is left.
    /// `acknowledged`: an arrival that is not in the books yet acknowledges all that was sent.
    #[inline]
    pub(crate) fn depart_message(
        &mut self,
        env: &Env<'_>,
        data: &mut Bytes,
        out: &mut TransmitBatch,
        acknowledged: bool,
    ) -> Option<Departure> {
        let len = data.len();
        let size = self.segment_size().checked_sub(XDATA_LEN)?;
        if len > size
            || !self.writer.queue.is_empty()
            || !self.may_depart(len as u64, env.now, acknowledged)
            || self.room() < len as u64
            || self.tuning.sort.is_some()
        {
            return None;
        }
        let segment = Planned {
            seq: self.writer.nxt,
            len,
            tag: None,
            eom: true,
            again: false,
            count: 1,
        };
        let data = std::mem::take(data);
        self.writer.queue.push_message(data.clone());
        let (sync, octets, options) = self.build_message(&segment, data, env, out);
        Some(Departure::of(env.now, segment, sync, octets, options))
    }

    /// The packet itself; returns its sync, its octets and its option bits.
    fn build_message(
        &mut self,
        segment: &Planned,
        data: Bytes,
        env: &Env<'_>,
        out: &mut TransmitBatch,
    ) -> (u32, usize, Options) {
        let len = data.len();
        let options = self.data_options(segment.seq + len as u64, true, false) | Options::EOM;
        let mut marked = options;
        marked.set(Options::NOCHECK, !env.config.checksum_payload);
        let sync = self.next_sync();
        let packet = Xdata {
            header: Header {
                key: self.wire_key(),
                options: marked,
                format: Format::Xdata,
                dlen: (XDATA_LEN + len) as u32,
                check: 0,
                sort: 0,
                sync,
                seq: segment.seq,
            },
            control: self.control_segment(None),
            delay_us: self.delay_us(env.now),
            data: &[],
        };
        let mut head = [0; HEADER_LEN + XDATA_LEN];
        packet.encode_head(&mut head);
        seal(&mut head, [&data[..]]);
        let octets = head.len() + len;
        let route = Route {
            dst: self.peer.addr,
            src: self.peer.local,
            ecn: self.data_ecn(),
        };
        let copied = len <= COPY_LIMIT;
        self.stats.octets_copied += if copied { len as u64 } else { 0 };
        out.push_message(route, &head, data, copied);
        self.peer.sent += octets as u64;
        self.timers.last_sent = env.now;
        self.stats.packets_sent += 1;
        (sync, octets, options)
    }
}
