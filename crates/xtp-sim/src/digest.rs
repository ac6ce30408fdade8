//! A number for all that a world showed: every datagram its hosts sent and every event its users were told, with their moments.
//!
//! Two builds that behave alike have equal digests of a seed; where they differ, `xtp sim --replay` of both shows how.

use std::fmt::{self, Write};

use xtp_engine::{ContextId, Event};

use crate::net::Flying;

/// Odd, and its bits are as good as drawn.
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

/// What was shown so far. Nobody has to be kept from finding a second world with the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The number.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// One more number.
    pub fn add(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(FACTOR);
        self.0 = mixed ^ mixed >> 32;
    }

    /// So many more octets.
    fn octets(&mut self, octets: &[u8]) {
        self.add(octets.len() as u64);
        let (words, rest) = octets.as_chunks::<8>();
        for word in words {
            self.add(u64::from_be_bytes(*word));
        }
        for octet in rest {
            self.add(u64::from(*octet));
        }
    }

    /// Host `from` sent a datagram.
    pub(crate) fn sent(&mut self, at: u64, from: usize, flying: &Flying) {
        self.add(at);
        self.shown(
            from,
            format_args!("{} {} {:?}", flying.src, flying.dst, flying.ecn),
        );
        self.octets(&flying.data);
    }

    /// Users of `host` were told something.
    pub(crate) fn told(&mut self, at: u64, host: usize, id: ContextId, event: &Event) {
        self.add(at);
        self.add(id.as_u64());
        self.shown(host, format_args!("{event:?}"));
    }

    fn shown(&mut self, host: usize, what: fmt::Arguments<'_>) {
        self.add(host as u64);
        // It fails for nobody.
        let _ = self.write_fmt(what);
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|octet| self.add(u64::from(octet)));
        Ok(())
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
