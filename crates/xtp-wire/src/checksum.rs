//! The 16-bit one's-complement sum over header and payload (§1.4).

use crate::header::{CHECK_OFFSET, DLEN_OFFSET, HEADER_LEN, OPTIONS_OFFSET};

/// NOCHECK as it lies in the first octet of the options.
const NOCHECK_OCTET: u8 = 0x40;

/// The check field is the first two octets of its word.
const WITHOUT_CHECK: u64 = u64::from_ne_bytes([0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);

/// A sum that is fed piece by piece; the pieces may have odd lengths.
///
/// ```
/// use xtp_wire::Checksum;
/// let mut whole = Checksum::new();
/// whole.add(b"abcdef");
/// let mut pieces = Checksum::new();
/// pieces.add(b"a");
/// pieces.add(b"bcd");
/// pieces.add(b"ef");
/// assert_eq!(whole.finish(), pieces.finish());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Checksum {
    /// Sum so far as if the first octet had been the high half of a word; not folded.
    sum: u64,
    /// Whether an odd number of octets went in.
    odd: bool,
}

impl Checksum {
    /// An empty sum.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { sum: 0, odd: false }
    }

    /// Begun with a header of these words, whose check field is zero.
    #[inline]
    pub(crate) fn of(header: [u64; HEADER_LEN / 8]) -> Self {
        Self {
            sum: word_sum(header),
            odd: false,
        }
    }

    /// Adds the octets that follow those added before.
    #[inline]
    pub fn add(&mut self, piece: &[u8]) {
        let folded = fold(payload_sum(piece)).to_be();
        // An octet at an odd place is the low half of its word; exchanging the halves of all words of a piece
        // exchanges the halves of its sum.
        self.sum += u64::from(if self.odd { folded.swap_bytes() } else { folded });
        self.odd ^= piece.len() & 1 == 1;
    }

    /// The complement of the sum: the value for the check field if that was added as zero, and zero if the
    /// octets contained a right one. An odd last octet counts as padded with zero.
    #[inline]
    #[must_use]
    pub const fn finish(self) -> u16 {
        !fold(self.sum)
    }
}

/// [`native_sum`] as a call: where most packets leave their payload to UDP's checksum, its loop would only
/// take registers from the header's code.
#[inline(never)]
fn payload_sum(octets: &[u8]) -> u64 {
    native_sum(octets)
}

/// Sum of the 16-bit words as the machine reads them; the order of octets is put right once, in the result.
/// Words of 32 bits into 64-bit counters never overflow below 16 GiB and let the compiler use vectors.
#[inline]
fn native_sum(octets: &[u8]) -> u64 {
    let (words, tail) = octets.as_chunks::<4>();
    let sum: u64 = words
        .iter()
        .map(|word| u64::from(u32::from_ne_bytes(*word)))
        .sum();
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
    sum + u64::from(u32::from_ne_bytes(last))
}

/// A header as the machine reads it, in words as wide as [`Header::encode`](crate::Header::encode) writes.
#[inline]
fn header_words(header: &[u8; HEADER_LEN]) -> [u64; HEADER_LEN / 8] {
    let (words, _) = header.as_chunks::<8>();
    core::array::from_fn(|at| u64::from_ne_bytes(words[at]))
}

/// What [`native_sum`] says of these words, up to carries; far below 2^64.
#[inline]
pub(crate) fn word_sum(words: [u64; HEADER_LEN / 8]) -> u64 {
    let sum = words.into_iter().fold(0_u64, |sum, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u64::from(carry)
    });
    (sum & 0xffff_ffff) + (sum >> 32)
}

/// End-around carry down to 16 bits.
#[inline]
pub(crate) const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

/// Whether the check field of a packet is right; `payload` is what `dlen` counts, or nothing with NOCHECK.
#[inline]
pub(crate) fn verifies(header: &[u8; HEADER_LEN], payload: &[u8]) -> bool {
    let mut sum = word_sum(header_words(header));
    if !payload.is_empty() {
        sum += payload_sum(payload);
    }
    fold(sum) == 0xffff
}

/// Computes the check field of a packet that lies there, and writes it to octets 16..18: for whoever changed octets of it.
/// Packets are made by [`PacketWriter`](crate::PacketWriter).
///
/// `packet` holds the header and as much of what follows as lies beside it; `payload` are the pieces that
/// follow logically. What is beyond `dlen` octets after the header (padding) is not covered; with NOCHECK
/// nothing but the header is, and `payload` is not read at all.
///
/// # Panics
///
/// If `packet` is shorter than [`HEADER_LEN`].
#[inline]
pub fn seal<'p>(packet: &mut [u8], payload: impl IntoIterator<Item = &'p [u8]>) {
    let (header, beside) = packet
        .split_first_chunk_mut::<HEADER_LEN>()
        .expect("a packet begins with its header");
    let mut words = header_words(header);
    words[CHECK_OFFSET / 8] &= WITHOUT_CHECK;
    let mut sum = Checksum {
        sum: fold(word_sum(words)).to_be().into(),
        odd: false,
    };
    if header[OPTIONS_OFFSET] & NOCHECK_OCTET == 0 {
        let mut left = dlen(header);
        let mut cover = |piece: &[u8]| {
            let covered = piece.get(..left).unwrap_or(piece);
            sum.add(covered);
            left -= covered.len();
        };
        cover(beside);
        payload.into_iter().for_each(cover);
        debug_assert_eq!(left, 0, "fewer octets than dlen");
    }
    header[CHECK_OFFSET..CHECK_OFFSET + 2].copy_from_slice(&sum.finish().to_be_bytes());
}

/// The length field of an encoded header.
fn dlen(header: &[u8; HEADER_LEN]) -> usize {
    let mut field = [0; 4];
    field.copy_from_slice(&header[DLEN_OFFSET..DLEN_OFFSET + 4]);
    usize::try_from(u32::from_be_bytes(field)).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[path = "checksum_tests.rs"]
mod tests;
