//! A train: equally long datagrams to one destination, as pieces of memory, and how it is cut.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};

/// Longest datagram, octets of payload: 65 535 less the IPv4 and UDP headers.
pub const MAX_DATAGRAM: usize = 65_507;
/// Most datagrams in one system call.
pub const MAX_SEGMENTS: usize = 64;
/// Most pieces in one system call, and so in one datagram.
pub const MAX_PIECES: usize = 1024;

/// The two ECN bits of the IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EcnCodepoint {
    /// Not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECN-capable, codepoint ECT(1).
    Ect1 = 1,
    /// ECN-capable, codepoint ECT(0).
    Ect0 = 2,
    /// Congestion was met.
    Ce = 3,
}

impl EcnCodepoint {
    /// From the low two bits of the traffic class octet; the others are ignored.
    pub fn from_bits(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The two bits.
    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// The traffic class octet of the IP header: DSCP (RFC 2474) above the two bits of ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// Of `dscp`, 0 to 63 (higher bits are ignored), and `ecn`.
    pub const fn new(dscp: u8, ecn: EcnCodepoint) -> Self {
        Self(dscp << 2 | ecn as u8)
    }

    /// From the octet.
    #[cfg(target_os = "linux")]
    pub(crate) fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The octet.
    pub fn bits(self) -> u8 {
        self.0
    }
}

impl From<EcnCodepoint> for TrafficClass {
    fn from(ecn: EcnCodepoint) -> Self {
        Self::new(0, ecn)
    }
}

/// Datagrams to one destination: the concatenation of `pieces`, cut every `segment` octets.
#[derive(Clone, Copy, Debug)]
pub struct SendTrain<'a> {
    /// Destination. A scope id (link-local IPv6) is kept.
    pub dst: SocketAddr,
    /// Source address to use; `None` lets the system choose.
    pub src: Option<IpAddr>,
    /// Index of the interface to leave by; `None` lets the routes choose.
    pub interface: Option<u32>,
    /// DSCP and ECN mark of every datagram.
    pub class: TrafficClass,
    /// Octets of each datagram, 1 to [`MAX_DATAGRAM`]; the last may be shorter.
    pub segment: usize,
    /// Octets of all pieces together, at least 1.
    pub total: usize,
    /// The octets. A piece may end anywhere; a datagram takes at most [`MAX_PIECES`] of them.
    pub pieces: &'a [IoSlice<'a>],
}

/// Where one datagram goes, from where, and its traffic class.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "the portable back end sends trains only")
)]
pub(crate) struct SendTarget {
    pub(crate) dst: SocketAddr,
    pub(crate) src: Option<IpAddr>,
    pub(crate) class: TrafficClass,
}

impl<'a> SendTrain<'a> {
    /// A train to `dst` without wishes about source, interface and traffic class; counts the octets itself.
    pub fn new(dst: SocketAddr, segment: usize, pieces: &'a [IoSlice<'a>]) -> Self {
        let total = octets(pieces);
        Self {
            dst,
            src: None,
            interface: None,
            class: TrafficClass::default(),
            segment,
            total,
            pieces,
        }
    }

    /// Number of datagrams.
    pub fn segments(&self) -> usize {
        if self.segment == 0 {
            0
        } else {
            self.total.div_ceil(self.segment)
        }
    }

    /// Octets of the datagrams `first..first + count`.
    pub(crate) fn octets_of(&self, first: usize, count: usize) -> usize {
        let start = first.saturating_mul(self.segment).min(self.total);
        (first + count).saturating_mul(self.segment).min(self.total) - start
    }

    /// Refuses what has no meaning, before a system call makes something else of it.
    pub(crate) fn check(&self) -> io::Result<()> {
        let problem = if self.total == 0 {
            "a train needs at least one octet"
        } else if self.segment == 0 {
            "the segment length of a train is 1 or more"
        } else if octets(self.pieces) != self.total {
            "the total of a train is not the sum of its pieces"
        } else {
            return Ok(());
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }
}

fn octets(pieces: &[IoSlice<'_>]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

/// How far [`UdpSocket::send`](crate::UdpSocket::send) came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a train may have left in part only"]
pub enum SendOutcome {
    /// All datagrams left.
    Sent,
    /// The kernel has no room now: wait until the socket is writable (or a millisecond, if it claims
    /// to be), then continue with [`UdpSocket::send_from`](crate::UdpSocket::send_from) at `sent`.
    WouldBlock {
        /// Datagrams that left, counted from the train's beginning.
        sent: usize,
        /// Datagrams that did not.
        left: usize,
    },
    /// Datagrams of this length cannot leave by this way: choose a smaller segment.
    TooBig {
        /// Datagrams that left, counted from the train's beginning.
        sent: usize,
        /// Datagrams that did not.
        left: usize,
    },
}

/// A place in a list of pieces, moving forward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceCursor<'a> {
    pieces: &'a [IoSlice<'a>],
    /// Octets of the first piece that are used up.
    offset: usize,
}

impl<'a> PieceCursor<'a> {
    /// At octet `position` of the concatenated pieces, or at their end.
    pub(crate) fn at(pieces: &'a [IoSlice<'a>], position: usize) -> Self {
        let mut cursor = Self {
            pieces,
            offset: position,
        };
        while let [first, rest @ ..] = cursor.pieces
            && cursor.offset >= first.len()
        {
            cursor.offset -= first.len();
            cursor.pieces = rest;
        }
        cursor
    }

    /// References the next `octets` octets in `out` and moves behind them; returns the entries used,
    /// or `None`, without moving, if `out` has too few. The octets must be there.
    pub(crate) fn take(&mut self, octets: usize, out: &mut [IoSlice<'a>]) -> Option<usize> {
        let mut at = *self;
        let (mut left, mut used) = (octets, 0);
        while left > 0 {
            let (first, rest) = at.pieces.split_first()?;
            let bytes: &'a [u8] = slice_of(first);
            let length = left.min(bytes.len() - at.offset);
            if length > 0 {
                *out.get_mut(used)? = IoSlice::new(&bytes[at.offset..at.offset + length]);
                used += 1;
            }
            left -= length;
            at.offset += length;
            if at.offset == bytes.len() {
                at = Self {
                    pieces: rest,
                    offset: 0,
                };
            }
        }
        *self = Self::at(at.pieces, at.offset);
        Some(used)
    }
}

/// The memory of a piece, for as long as the train's list of pieces lives.
fn slice_of<'a>(piece: &'a IoSlice<'a>) -> &'a [u8] {
    piece
}

#[cfg(test)]
#[path = "train_tests.rs"]
mod tests;
