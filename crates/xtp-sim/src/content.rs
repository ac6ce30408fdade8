//! What a user writes at every position of a stream, so that every octet read can be checked without keeping any.

use bytes::{Bytes, BytesMut};

/// Eight octets of the stream `key` at position `8 * block` (the finaliser of SplitMix64 over both).
fn block(key: u64, block: u64) -> [u8; 8] {
    let mut z = key ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_be_bytes()
}

/// The `len` octets of the stream `key` from position `at` on.
pub fn make(key: u64, at: u64, len: usize) -> Bytes {
    let mut out = BytesMut::with_capacity(len + 16);
    let skip = (at % 8) as usize;
    let mut number = at / 8;
    while out.len() < len + skip {
        out.extend_from_slice(&block(key, number));
        number += 1;
    }
    let mut out = out.freeze();
    out = out.slice(skip..skip + len);
    out
}

/// Position in the stream of the first octet of `octets` that is not what `key` has there.
pub fn first_difference(key: u64, at: u64, octets: &[u8]) -> Option<u64> {
    let mut current = at / 8;
    let mut pattern = block(key, current);
    for (position, &octet) in (at..).zip(octets) {
        if position / 8 != current {
            current = position / 8;
            pattern = block(key, current);
        }
        if pattern[(position % 8) as usize] != octet {
            return Some(position);
        }
    }
    None
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
