//! What the engine wants sent: trains of datagrams, headers in an arena, payload by reference.

use core::net::{IpAddr, SocketAddr};
use core::ops::Range;

use bytes::Bytes;

/// The two ECN bits of the IP header.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, code point 10.
    Ect0,
    /// ECN-capable, code point 01.
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// One datagram as it came from the carrier.
#[derive(Copy, Clone, Debug)]
pub struct Datagram<'a> {
    /// UDP source.
    pub src: SocketAddr,
    /// Local address it was sent to, if the carrier knows; answers leave from there.
    pub dst: Option<IpAddr>,
    /// ECN bits of its IP header.
    pub ecn: Ecn,
    /// The octets.
    pub data: &'a [u8],
    /// Shared memory `data` lies in; the engine keeps a reference instead of a copy for payloads. Give it only
    /// where pinning the memory is worth it (a well-filled receive slab).
    pub backing: Option<&'a Bytes>,
}

/// A piece of a train: octets of the arena or of a caller's buffer.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A range of [`TransmitBatch::arena`].
    Arena(Range<usize>),
    /// Payload by reference.
    Payload(Bytes),
}

/// Datagrams of one destination that leave in one system call where the carrier can.
#[derive(Clone, Debug)]
pub struct Train {
    /// Where to.
    pub dst: SocketAddr,
    /// Which local address to use, if known.
    pub src: Option<IpAddr>,
    /// ECN bits to set.
    pub ecn: Ecn,
    /// Octets of each datagram; only the last may be shorter.
    pub segment: usize,
    /// Octets of the whole train.
    pub total: usize,
    /// Number of datagrams.
    pub count: usize,
    /// A path probe: it may be too big for the path, and that is an answer, not an error.
    pub probe: bool,
    /// Which pieces make it up, in order.
    pub pieces: Range<usize>,
}

/// A reusable batch the engine fills in [`Engine::flush`](crate::Engine::flush).
#[derive(Debug, Default)]
pub struct TransmitBatch {
    /// Trains in sending order.
    pub trains: Vec<Train>,
    /// Pieces of all trains.
    pub pieces: Vec<Piece>,
    /// Headers and small payloads.
    pub arena: Vec<u8>,
    /// Whether the train being built may still grow.
    open: bool,
}

/// Where a datagram goes and how.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) dst: SocketAddr,
    pub(crate) src: Option<IpAddr>,
    pub(crate) ecn: Ecn,
}

/// At most this many datagrams and octets a train (Linux: 64 segments on older kernels, 65 507 octets).
const MAX_SEGMENTS: usize = 64;
const MAX_TRAIN: usize = 65_507;

impl TransmitBatch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything but the allocated room. Call it after the trains were handed to the carrier.
    pub fn clear(&mut self) {
        self.trains.clear();
        self.pieces.clear();
        self.arena.clear();
        self.open = false;
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// Ends the last train; the number of the next one.
    pub(crate) fn begin(&mut self) -> usize {
        self.open = false;
        self.trains.len()
    }

    /// Datagrams in the trains from number `first` on.
    pub(crate) fn datagrams_from(&self, first: usize) -> usize {
        self.trains[first..].iter().map(|train| train.count).sum()
    }

    /// Moves everything of `other` behind what is here.
    pub(crate) fn append(&mut self, other: &mut Self) {
        let (pieces, arena) = (self.pieces.len(), self.arena.len());
        self.arena.append(&mut other.arena);
        self.pieces
            .extend(other.pieces.drain(..).map(|piece| match piece {
                Piece::Arena(range) => Piece::Arena(range.start + arena..range.end + arena),
                payload @ Piece::Payload(_) => payload,
            }));
        self.trains.extend(other.trains.drain(..).map(|mut train| {
            train.pieces = train.pieces.start + pieces..train.pieces.end + pieces;
            train
        }));
        self.open = false;
        other.open = false;
    }

    /// Datagrams in all trains.
    pub fn datagrams(&self) -> usize {
        self.trains.iter().map(|train| train.count).sum()
    }

    /// The octets of `piece`.
    pub fn octets<'a>(&'a self, piece: &'a Piece) -> &'a [u8] {
        match piece {
            Piece::Arena(range) => &self.arena[range.clone()],
            Piece::Payload(bytes) => bytes,
        }
    }

    /// Copies every datagram out, with its destination: for simulators, relays and captures.
    pub fn for_each_datagram(&self, mut visit: impl FnMut(&Train, &[u8])) {
        let mut whole = Vec::new();
        for train in &self.trains {
            whole.clear();
            for piece in &self.pieces[train.pieces.clone()] {
                whole.extend_from_slice(self.octets(piece));
            }
            for datagram in whole.chunks(train.segment.max(1)) {
                visit(train, datagram);
            }
        }
    }

    /// Adds one datagram: `head` lies at the end of the arena from `head_at` on, `payload` follows it.
    /// Joins the previous train where destination and size allow.
    pub(crate) fn push(&mut self, route: Route, probe: bool, head_at: usize, payload: &[Bytes]) {
        let first = self.pieces.len();
        let mut octets = self.arena.len() - head_at;
        self.pieces.push(Piece::Arena(head_at..self.arena.len()));
        for bytes in payload {
            octets += bytes.len();
            self.pieces.push(Piece::Payload(bytes.clone()));
        }
        if self.open
            && !probe
            && let Some(train) = self.trains.last_mut()
            && train.dst == route.dst
            && train.src == route.src
            && train.ecn == route.ecn
            && train.count < MAX_SEGMENTS
            && octets <= train.segment
            && train.total + octets <= MAX_TRAIN
        {
            train.total += octets;
            train.count += 1;
            train.pieces.end = self.pieces.len();
            self.open = octets == train.segment;
            return;
        }
        self.open = !probe;
        self.trains.push(Train {
            dst: route.dst,
            src: route.src,
            ecn: route.ecn,
            segment: octets,
            total: octets,
            count: 1,
            probe,
            pieces: first..self.pieces.len(),
        });
    }
}
