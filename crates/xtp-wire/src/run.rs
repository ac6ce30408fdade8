//! Packets of plain data in a row, as receive offload hands them over: joined, all of one length.

use crate::header::HEADER_LEN;
use crate::{Body, Header, Options, Packet, checksum};

/// Packets of one stream that differ in nothing but their place: each continues the one before.
///
/// ```
/// use xtp_wire::{Format, HEADER_LEN, Header, Key, Options, Run, seal};
/// let mut octets = Vec::new();
/// for index in 0..3 {
///     let header = Header {
///         key: Key::own(7),
///         options: Options::NOCHECK,
///         format: Format::Data,
///         dlen: 4,
///         check: 0,
///         sort: 0,
///         sync: 100 + index,
///         seq: 40 + 4 * u64::from(index),
///     };
///     let mut head = [0; HEADER_LEN];
///     header.encode(&mut head);
///     seal(&mut head, []);
///     octets.extend_from_slice(&head);
///     octets.extend_from_slice(b"data");
/// }
/// let run = Run::parse(&octets, HEADER_LEN + 4, Options::EOM).unwrap();
/// assert_eq!((run.count(), run.payload(2)), (3, Some(&b"data"[..])));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The header of the first packet.
    pub header: Header,
    count: usize,
    octets: &'a [u8],
}

impl<'a> Run<'a> {
    /// The run at the beginning of `octets`, in which a packet begins every `stride` octets: DATA without tag and
    /// padding and without an option of `alone`, the headers equal but for sync and seq, which go on from packet to
    /// packet. Each is checked as [`Packet::parse`] does. `None` if not even the first packet is such a one.
    #[must_use]
    pub fn parse(octets: &'a [u8], stride: usize, alone: Options) -> Option<Self> {
        let packet = Packet::parse(octets.get(..stride)?).ok()?;
        let header = packet.header;
        let plain = matches!(&packet.body, Body::Data(data) if data.tag.is_none());
        if !plain || packet.padding > 0 || header.options.intersects(alone) || header.dlen == 0 {
            return None;
        }
        let covered = !header.options.contains(Options::NOCHECK);
        let mut next = words(octets.first_chunk()?);
        let mut count = 1;
        for datagram in octets[stride..].chunks_exact(stride) {
            next = follower(next, header.dlen);
            let (head, payload) = datagram.split_first_chunk::<HEADER_LEN>()?;
            let here = words(head);
            let same = here[0] == next[0]
                && here[1] == next[1]
                && here[2] & WITHOUT_CHECK == next[2]
                && here[3] == next[3];
            if !same || !checksum::verifies(head, if covered { payload } else { &[] }) {
                break;
            }
            count += 1;
        }
        Some(Self {
            header,
            count,
            octets,
        })
    }

    /// Packets.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Octets of each packet before its data.
    #[must_use]
    pub const fn head_len(&self) -> usize {
        HEADER_LEN
    }

    /// Octets of data in each packet.
    #[must_use]
    pub const fn data_len(&self) -> usize {
        self.header.dlen as usize
    }

    /// What the packet with this index carries; `None` beyond the last.
    #[must_use]
    pub fn payload(&self, index: usize) -> Option<&'a [u8]> {
        let stride = HEADER_LEN + self.data_len();
        if index >= self.count {
            return None;
        }
        self.octets.get(index * stride + HEADER_LEN..(index + 1) * stride)
    }
}

/// The word with check, sort and sync without the first of them.
const WITHOUT_CHECK: u64 = 0x0000_ffff_ffff_ffff;

/// A header as numbers.
fn words(head: &[u8; HEADER_LEN]) -> [u64; 4] {
    let (words, _) = head.as_chunks::<8>();
    core::array::from_fn(|at| u64::from_be_bytes(words[at]))
}

/// The words of the packet that continues one with these, its check field zero.
fn follower(words: [u64; 4], dlen: u32) -> [u64; 4] {
    let sync = (words[2] as u32).wrapping_add(1);
    let sort = words[2] & WITHOUT_CHECK & !u64::from(u32::MAX);
    [
        words[0],
        words[1],
        sort | u64::from(sync),
        words[3].wrapping_add(dlen.into()),
    ]
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
