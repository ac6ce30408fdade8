//! A datagram that is accounted for later.

use bytes::Bytes;
use core::ops::Range;
use xtp_core::transmit::Datagram;

/// From this many octets on a payload is copied once, into memory its user gets a part of. Shorter ones are copied
/// again for it, which costs less than counting who holds what.
const SHARE_FROM: usize = 1_024;

/// Its octets: in memory that is used again, or in some that others hold too.
#[derive(Default)]
pub(super) struct RetainedDatagram {
    own: Vec<u8>,
    shared: Option<Bytes>,
    /// Octets that were copied into what others hold.
    copied: u64,
}

impl RetainedDatagram {
    /// Keeps `datagram`, which has so many octets for a user, instead of what was kept before.
    #[inline]
    pub(super) fn keep(&mut self, datagram: &Datagram<'_>, payload: usize) {
        self.own.clear();
        self.release();
        self.copied = 0;
        if payload < SHARE_FROM {
            self.own.extend_from_slice(datagram.data);
        } else {
            self.shared = Some(match datagram.backing {
                Some(backing) => backing.slice_ref(datagram.data),
                None => {
                    self.copied = payload as u64;
                    Bytes::copy_from_slice(datagram.data)
                }
            });
        }
    }

    /// All of them.
    #[inline]
    pub(super) fn octets(&self) -> &[u8] {
        match &self.shared {
            Some(shared) => shared,
            None => &self.own,
        }
    }

    /// Whether a user gets a part of it instead of a copy.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// The same, if others may hold them too.
    #[inline]
    pub(super) fn shared(&self) -> Option<&Bytes> {
        self.shared.as_ref()
    }

    /// Some of them, for a user.
    #[inline]
    pub(super) fn part(&self, range: Range<usize>) -> Bytes {
        match &self.shared {
            Some(shared) => shared.slice(range),
            None => Bytes::copy_from_slice(&self.own[range]),
        }
    }

    /// Octets copied for a user, of which a context that refers to them does not know.
    #[inline]
    pub(super) fn copied(&self) -> u64 {
        self.copied
    }

    /// Lets go of memory that others hold too.
    #[inline]
    pub(super) fn release(&mut self) {
        self.shared = None;
    }
}
