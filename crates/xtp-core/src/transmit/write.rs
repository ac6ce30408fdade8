//! Packets into the arena. Every packet the engine sends is written here, by the one [`PacketWriter`] there is.

use super::TransmitBatch;
use xtp_wire::{EncodeError, Header, Packet, PacketWriter, Protection, heads_len, size, write_run};

impl TransmitBatch {
    /// Writes a packet to the end of the arena, whose body `body` puts behind its header in at most `room` octets; `payload`
    /// lies elsewhere and is to follow. Where it begins; `None`, and nothing written, for a body that can not be.
    #[inline]
    pub fn write<'p, P>(
        &mut self,
        header: Header,
        protection: Protection,
        room: usize,
        body: impl FnOnce(&mut PacketWriter<'_>) -> Result<(), EncodeError>,
        payload: P,
    ) -> Option<usize>
    where
        P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    {
        let at = self.arena.len();
        self.arena.resize(at + size::packet(room), 0);
        let written = PacketWriter::begin(header, &mut self.arena[at..]).and_then(|mut packet| {
            body(&mut packet)?;
            packet.finish(protection, payload)
        });
        debug_assert!(
            written.is_ok(),
            "{:?} can not be written: {written:?}",
            header.format
        );
        self.arena.truncate(at + written.unwrap_or(0));
        written.is_ok().then_some(at)
    }

    /// The same of a packet that takes exactly `N` octets before `payload`; where it begins. Room whose size is known when
    /// this is compiled costs a fifth of what other room does.
    #[inline(always)]
    pub fn write_exactly<'p, const N: usize, P>(
        &mut self,
        header: Header,
        protection: Protection,
        body: impl FnOnce(&mut PacketWriter<'_>) -> Result<(), EncodeError>,
        payload: P,
    ) -> usize
    where
        P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    {
        let at = self.arena.len();
        self.arena.extend_from_slice(&[0; N]);
        let room: Option<&mut [u8; N]> = self.arena.last_chunk_mut();
        let written = room
            .ok_or(EncodeError::BufferTooSmall)
            .and_then(|room| PacketWriter::begin(header, room))
            .and_then(|mut packet| {
                body(&mut packet)?;
                packet.finish(protection, payload)
            });
        debug_assert_eq!(written, Ok(N), "a packet that is as long as was said");
        at
    }

    /// The same of a packet in one piece, but for `payload`, which is not in its body.
    pub fn write_packet<'p, P>(
        &mut self,
        packet: &Packet<'_>,
        protection: Protection,
        payload: P,
    ) -> Option<usize>
    where
        P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    {
        let (header, body) = (packet.header, &packet.body);
        self.write(
            header,
            protection,
            body.encoded_len(),
            |packet| packet.body(body),
            payload,
        )
    }

    /// Writes a packet with a body that another had, after `change` has put in what differs, and protected as that one was;
    /// where it begins.
    #[inline]
    pub fn write_like<'p, P>(
        &mut self,
        header: Header,
        body: &[u8],
        change: impl FnOnce(&mut [u8]),
        payload: P,
    ) -> usize
    where
        P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    {
        let at = self.arena.len();
        self.arena.extend_from_slice(&PacketWriter::BLANK);
        self.arena.extend_from_slice(body);
        let written = PacketWriter::over(header, &mut self.arena[at..]).and_then(|mut packet| {
            change(packet.written());
            packet.finish(Protection::of(header.options), payload)
        });
        debug_assert!(written.is_ok(), "a packet like another can be written");
        at
    }

    /// Writes the headers of `packets` packets of plain data in a row, each as long as `header` says and with the payload
    /// that is given for its number; where the first begins.
    pub fn write_run<'p, P>(
        &mut self,
        header: Header,
        protection: Protection,
        packets: usize,
        payload: impl Fn(usize) -> P,
    ) -> usize
    where
        P: IntoIterator<Item = &'p [u8]>,
    {
        let at = self.arena.len();
        self.arena.resize(at + heads_len(packets), 0);
        write_run(header, protection, &mut self.arena[at..], payload);
        at
    }
}
