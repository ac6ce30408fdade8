//! The one way a packet is written: a header, a body, and what protects them, which is put in last.
//!
//! Whoever sends says what the header says, lets the segments write themselves behind it, and finishes: `dlen`, NOCHECK
//! and the check field come from what was written. Payload may lie elsewhere and leave as another piece of the datagram.

use crate::checksum::Checksum;
use crate::cursor::EncodeCursor;
use crate::{Body, EncodeError, HEADER_LEN, Header, Options};

/// What of a packet its check field covers (§1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// The header (NOCHECK): the checksum of UDP, or what else the datagram is wrapped in, covers the payload.
    Header,
    /// Header and payload.
    Packet,
}

impl Protection {
    /// What a packet with these option bits has.
    #[inline]
    #[must_use]
    pub const fn of(options: Options) -> Self {
        match options.contains(Options::NOCHECK) {
            true => Self::Header,
            false => Self::Packet,
        }
    }

    /// That of the payload too, or that of the header alone.
    #[inline]
    #[must_use]
    pub const fn covering(payload: bool) -> Self {
        match payload {
            true => Self::Packet,
            false => Self::Header,
        }
    }
}

/// A packet that is being written to the front of a caller's buffer.
///
/// ```
/// use xtp_wire::{Control, Format, Header, Key, Options, Packet, Protection, PacketWriter};
///
/// let header = Header {
///     key: Key::returned(7),
///     options: Options::END,
///     format: Format::Cntl,
///     dlen: 0, // these two are filled in
///     check: 0,
///     sort: 0,
///     sync: 1,
///     seq: 0,
/// };
/// let mut datagram = [0; 64];
/// let mut packet = PacketWriter::begin(header, &mut datagram)?;
/// packet.segment(|rest| Control::default().encode(rest))?;
/// let length = packet.finish(Protection::Packet, [])?;
/// assert_eq!(Packet::parse(&datagram[..length])?.header.dlen, 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PacketWriter<'b> {
    header: Header,
    head: &'b mut [u8; HEADER_LEN],
    body: EncodeCursor<'b>,
}

impl<'b> PacketWriter<'b> {
    /// What stands where a header is going to be, for who has no room but what was put there.
    pub const BLANK: [u8; HEADER_LEN] = [0; HEADER_LEN];

    /// A packet with this header, whose `dlen`, `check` and NOCHECK are filled in later; nothing behind it yet.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`] for less room than a header takes.
    #[inline]
    pub fn begin(header: Header, out: &'b mut [u8]) -> Result<Self, EncodeError> {
        let (head, rest) = out.split_first_chunk_mut().ok_or(EncodeError::BufferTooSmall)?;
        Ok(Self {
            header,
            head,
            body: EncodeCursor::new(rest),
        })
    }

    /// The same with a body that stands already, behind the place of its header: that of a packet like it.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`] for less room than a header takes.
    #[inline]
    pub fn over(header: Header, packet: &'b mut [u8]) -> Result<Self, EncodeError> {
        let (head, body) = packet
            .split_first_chunk_mut()
            .ok_or(EncodeError::BufferTooSmall)?;
        Ok(Self {
            header,
            head,
            body: EncodeCursor::full(body),
        })
    }

    /// Lets a segment write itself behind what is there; it returns how many octets it took.
    ///
    /// # Errors
    ///
    /// Those of the segment.
    #[inline]
    pub fn segment(
        &mut self,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), EncodeError> {
        self.body.segment(encode)
    }

    /// Octets that were encoded elsewhere.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn octets(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        self.body.put(octets)
    }

    /// So many octets without a meaning.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn padding(&mut self, octets: usize) -> Result<(), EncodeError> {
        self.body.zeros(octets)
    }

    /// The same with what stands in the buffer, for whoever has just filled it with zeros.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn standing(&mut self, octets: usize) -> Result<(), EncodeError> {
        self.body.pass(octets)
    }

    /// The tag that precedes the data; BTAG says that it is there.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn tag(&mut self, tag: u64) -> Result<(), EncodeError> {
        self.header.options |= Options::BTAG;
        self.body.put(&tag.to_be_bytes())
    }

    /// A whole body (of PATH without padding), which says what format the packet has and whether it has a tag.
    ///
    /// # Errors
    ///
    /// Those of [`Body::encode`].
    pub fn body(&mut self, body: &Body<'_>) -> Result<(), EncodeError> {
        self.header.format = body.format();
        if let Some(data) = body.data() {
            self.header.options.set(Options::BTAG, data.tag.is_some());
        }
        self.body.segment(|rest| body.encode(rest))
    }

    /// What of the body was written so far, for whoever puts another value into a field of it.
    #[inline]
    pub fn written(&mut self) -> &mut [u8] {
        self.body.written_mut()
    }

    /// Puts length and protection in; `payload` are the pieces that follow what was written and lie elsewhere, read only
    /// where they are covered. Returns the octets written.
    ///
    /// # Errors
    ///
    /// [`EncodeError::TooLong`] for a payload of 2^32 octets and more.
    #[inline]
    pub fn finish<'p, P>(mut self, protection: Protection, payload: P) -> Result<usize, EncodeError>
    where
        P: IntoIterator<Item = &'p [u8], IntoIter: Clone>,
    {
        let pieces = payload.into_iter();
        let elsewhere: usize = pieces.clone().map(<[u8]>::len).sum();
        let written = self.body.len();
        self.header.dlen = u32::try_from(written + elsewhere).map_err(|_| EncodeError::TooLong)?;
        let covered = protection == Protection::Packet;
        self.header.options.set(Options::NOCHECK, !covered);
        self.header.protect(|sum| {
            if covered {
                sum.add(self.body.written());
                pieces.for_each(|piece| sum.add(piece));
            }
        });
        self.header.encode(self.head);
        Ok(HEADER_LEN + written)
    }
}

impl Header {
    /// Puts the right check field in; `cover` adds what is covered besides the header.
    #[inline]
    fn protect(&mut self, cover: impl FnOnce(&mut Checksum)) {
        self.check = 0;
        let mut sum = Checksum::of(self.words());
        cover(&mut sum);
        self.check = sum.finish();
    }
}

/// Octets that the headers of so many packets take.
#[inline]
#[must_use]
pub const fn heads_len(packets: usize) -> usize {
    packets * HEADER_LEN
}

/// Writes the headers of packets in a row, which fill `heads` side by side: each packet has `dlen` octets of payload and
/// nothing else, and goes on where the one before ended, sync one further. `payload` gives the pieces of a packet's
/// payload by its number, read only where they are covered.
pub fn write_run<'p, P>(
    mut header: Header,
    protection: Protection,
    heads: &mut [u8],
    payload: impl Fn(usize) -> P,
) where
    P: IntoIterator<Item = &'p [u8]>,
{
    let heads = heads.as_chunks_mut::<HEADER_LEN>().0;
    header
        .options
        .set(Options::NOCHECK, protection == Protection::Header);
    if protection == Protection::Header {
        return header.encode_run(heads);
    }
    for (index, head) in heads.iter_mut().enumerate() {
        header.protect(|sum| payload(index).into_iter().for_each(|piece| sum.add(piece)));
        header.encode(head);
        header.sync = header.sync.wrapping_add(1);
        header.seq = header.seq.wrapping_add(u64::from(header.dlen));
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
