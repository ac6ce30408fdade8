//! Turning decided packets into octets: header and segments in the arena, payload by reference.

use super::stated::Stated;
use super::{Context, Env, Opening, Role};
use crate::options::Tuning;
use bytes::Bytes;
use xtp_core::transmit::{Ecn, Route, TransmitBatch};
use xtp_wire::{
    Body, Caps, Control, DataSegment, EncodeError, First, Format, Header, Options, PacketWriter, Traffic,
    size,
};

/// Payloads up to this size are copied next to their header: cheaper than another piece for the kernel.
pub(crate) const COPY_LIMIT: usize = 256;
/// Room for a specifier with every TLV we send, without padding.
const SPECIFIER_ROOM: usize = 192;
/// The same with an address before it.
pub(crate) const FIRST_ROOM: usize = SPECIFIER_ROOM + 48;

/// Header fields that differ from packet to packet.
pub(super) struct Draft {
    pub(super) format: Format,
    pub(super) options: Options,
    pub(super) sync: u32,
    pub(super) seq: u64,
    pub(super) travel: Travel,
}

/// How one datagram travels besides its octets.
#[derive(Copy, Clone, Default)]
pub(super) struct Travel {
    pub(super) ecn: Ecn,
    pub(super) probe: bool,
    /// Somewhere else than the peer's present address.
    pub(super) to: Option<core::net::SocketAddr>,
}

impl Context {
    /// The sync of the packet being built (§3.1).
    pub(super) fn next_sync(&mut self) -> u32 {
        self.writer.sync_out = self.writer.sync_out.wrapping_add(1);
        self.writer.sync_out
    }

    /// Header of a packet of ours; length and protection are put in when it is finished.
    #[inline]
    pub(super) fn header(&self, format: Format, options: Options, sync: u32, seq: u64) -> Header {
        Header {
            key: self.wire_key(),
            options,
            format,
            dlen: 0,
            check: 0,
            sort: self.tuning.sort.unwrap_or(0),
            sync,
            seq,
        }
    }

    /// The way to the peer's present address.
    #[inline]
    pub(super) fn route(&self, ecn: Ecn) -> Route {
        Route {
            dst: self.peer.addr,
            src: self.peer.local,
            ecn,
            sort: self.urgency(),
        }
    }

    /// Adds one datagram to the batch, of which `body` writes at most `room` octets behind the header, before `payload`.
    /// Returns the datagram's size.
    pub(super) fn put(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        draft: &Draft,
        room: usize,
        body: impl FnOnce(&mut PacketWriter<'_>) -> Result<(), EncodeError>,
        payload: &[Bytes],
    ) -> usize {
        let header = self.header(draft.format, draft.options, draft.sync, draft.seq);
        let pieces = payload.iter().map(|bytes| &bytes[..]);
        let Some(at) = out.write(header, env.config.protection(), room, body, pieces) else {
            return 0;
        };
        let by_reference = self.copy_short(out, payload, COPY_LIMIT);
        self.put_written(env, out, draft.travel, at, by_reference)
    }

    /// Copies `payload` behind its head, if it has at most `most` octets; what is left to be referred to.
    #[inline]
    pub(super) fn copy_short<'a>(
        &mut self,
        out: &mut TransmitBatch,
        payload: &'a [Bytes],
        most: usize,
    ) -> &'a [Bytes] {
        let length: usize = payload.iter().map(Bytes::len).sum();
        if length > most {
            return payload;
        }
        for bytes in payload {
            out.arena.extend_from_slice(bytes);
        }
        self.stats.octets_copied += length as u64;
        &[]
    }

    /// Adds the datagram whose head lies in the arena from `at` on, and copies `data` behind it. Returns its size.
    #[inline(always)]
    pub(super) fn put_copied(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        travel: Travel,
        at: usize,
        data: &[u8],
    ) -> usize {
        out.arena.extend_from_slice(data);
        self.stats.octets_copied += data.len() as u64;
        self.put_written(env, out, travel, at, &[])
    }

    /// Adds the datagram that lies in the arena from `at` on, with `payload` behind it. Returns its size.
    #[inline(always)]
    pub(super) fn put_written(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        travel: Travel,
        at: usize,
        payload: &[Bytes],
    ) -> usize {
        let length: usize = payload.iter().map(Bytes::len).sum();
        let octets = out.arena.len() - at + length;
        // Who decides to send keeps within the limit; should that fail, a packet too many counts as lost.
        if travel.to.is_none() && !self.peer.allows_control(octets as u64) {
            return octets;
        }
        let mut route = self.route(travel.ecn);
        route.dst = travel.to.unwrap_or(route.dst);
        out.push(route, travel.probe, at, payload);
        self.note_left(octets, 1, env);
        octets
    }

    /// So many packets, of so many octets together, are in the batch.
    #[inline]
    pub(super) fn note_left(&mut self, octets: usize, packets: u32, env: &Env<'_>) {
        self.peer.sent += octets as u64;
        self.timers.sent(env.now);
        self.stats.packets_sent += u64::from(packets);
    }

    /// The same for a datagram that holds a packet without payload.
    pub(super) fn put_whole(
        &mut self,
        env: &Env<'_>,
        out: &mut TransmitBatch,
        draft: &Draft,
        body: &Body<'_>,
    ) -> usize {
        let write = |packet: &mut PacketWriter<'_>| packet.body(body);
        self.put(env, out, draft, body.encoded_len(), write, &[])
    }

    /// Octets of FIRST before its data.
    pub(super) fn first_overhead(&self) -> usize {
        let Some(opening) = &self.opening else { return 0 };
        let mut room = [0; SPECIFIER_ROOM];
        opening.address.encoded_len() + self.specifier(&mut room, opening.pad_to)
    }

    /// Writes address and specifier of FIRST; returns their length.
    pub(super) fn encode_first(&self, out: &mut [u8]) -> usize {
        let Some(opening) = &self.opening else { return 0 };
        let empty = DataSegment { tag: None, data: &[] };
        let plain = First {
            address: opening.address,
            traffic: Traffic::None {
                service: self.pattern.service,
            },
            data: empty,
        };
        if self.pattern.one_way {
            return plain.encode(out).unwrap_or(0);
        }
        let address = opening.address.encode(out).unwrap_or(0);
        address + self.specifier(&mut out[address..], opening.pad_to)
    }

    /// Writes the traffic specifier we state; returns its length. `pad_to`: wished length in all.
    pub(super) fn specifier(&self, out: &mut [u8], pad_to: usize) -> usize {
        let service = self.pattern.service;
        if self.pattern.one_way {
            return Traffic::None { service }.encode(out).unwrap_or(8);
        }
        let stated = self.stated();
        match self.states_extended() {
            true => stated.encode(out, pad_to),
            false => stated.encode_basic(out),
        }
    }

    /// Whether our specifiers have tformat 0x80: not towards a peer that may be a legacy one (§2.7).
    fn states_extended(&self) -> bool {
        let doubtful = |opening: &Opening| opening.fell_back && opening.token.is_none();
        let in_doubt = self.in_force.is_empty() && self.opening.as_ref().is_some_and(doubtful);
        !self.offered.is_empty() && !in_doubt
    }

    /// What our specifiers say as of now.
    fn stated(&self) -> Stated<'_> {
        let (app_buf, sock_buf) = self.stated_buffers();
        let plain = Stated {
            service: self.pattern.service,
            max_data: self.stated_max_data(),
            in_rate: self.stated_in_rate(),
            out_rate: self.tuning.out_rate,
            credit: self.reader.alloc,
            caps: self.offered,
            app_buf,
            sock_buf,
            spans: self.reader.max_spans,
            ..Stated::default()
        };
        match &self.opening {
            Some(opening) if self.role == Role::Initiator => plain.of_opening(opening),
            opening => Stated {
                time: opening.as_ref().map_or(0, |opening| opening.time),
                token: self.peer_token().filter(|_| self.offered.contains(Caps::COOKIE)),
                ..plain
            },
        }
    }

    /// maxdata as we state it: what we accept and intend to send.
    pub(super) fn stated_max_data(&self) -> u32 {
        max_data_to_state(
            self.peer.largest_datagram,
            self.tuning.recv_capacity,
            &self.tuning,
        )
    }

    /// The common control segment as of now; remembers what it tells.
    #[inline]
    pub(super) fn control_segment(&mut self, echo: Option<u32>) -> Control {
        let alloc = self.advance_alloc();
        let rseq = self.reader.store.next();
        self.reader.told = (rseq, alloc);
        self.reader.update_due = false;
        // The echo of a packet that never was (one below a DREQ that came first) proves nothing.
        if echo.is_none() && self.state.heard() {
            self.peer.note_echo(self.writer.sync_out);
        }
        Control {
            rseq,
            alloc,
            echo: echo.unwrap_or_else(|| self.reader.newest.echo()),
        }
    }
}

/// maxdata as an end states it that takes datagrams of up to `largest_datagram` octets.
pub(crate) fn max_data_to_state(largest_datagram: usize, capacity: u64, tuning: &Tuning) -> u32 {
    let path = size::payload(largest_datagram) as u32;
    // Half the reader's room at most (§5.1.1): a segment that never fits its credit waits for every window.
    let room = u32::try_from(capacity / 2).unwrap_or(u32::MAX);
    let path = path.min(room.max(64));
    match tuning.overrides.max_data {
        0 => path,
        chosen => chosen.min(path),
    }
}
