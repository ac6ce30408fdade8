//! What the engine wants sent: trains of datagrams, headers in an arena, payload by reference.

use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use core::slice;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::frames::Frames;

mod write;

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

/// What the carrier says became of a datagram that was sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nobody has the port it was sent to (§2.6).
    PortUnreachable,
    /// This host did not let it leave, and may the next one (§2.4.2).
    NotSent,
    /// It was too long for the path (§5.5).
    TooBig {
        /// UDP payload that fits, octets, if that is known.
        octets: Option<usize>,
    },
}

/// A piece of a train: octets of the arena or of a caller's buffer.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A range of [`TransmitBatch::arena`].
    Arena(Range<usize>),
    /// Payload by reference.
    Payload(Bytes),
    /// A part of what is lent to several pieces: so many octets from a place in that element of
    /// [`TransmitBatch::lent`].
    Part {
        /// Which element.
        of: usize,
        /// Where it begins there.
        from: usize,
        /// Its octets.
        len: usize,
    },
    /// Packets of equal size, each a header of the arena and a part of what is lent: [`TransmitBatch::for_each_part`]
    /// tells them apart.
    Run(HeaderRun),
    /// The same, and the payload lies in frames.
    Framed(FramedRun),
}

/// Packets whose headers lie side by side in the arena, and their payload in [`TransmitBatch::lent`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HeaderRun {
    /// Where the first header lies in the arena.
    pub heads: usize,
    /// Octets of a header.
    pub head: usize,
    /// Which element of what is lent the payload begins in.
    pub of: usize,
    /// Where it begins there; it goes on in the elements behind.
    pub from: usize,
    /// Octets of payload a packet.
    pub len: usize,
    /// How many packets.
    pub count: usize,
}

/// Packets whose headers lie side by side in the arena, and each of whose payloads is a frame of an element of
/// [`TransmitBatch::framed`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FramedRun {
    /// Where the first header lies in the arena.
    pub heads: usize,
    /// Octets of a header.
    pub head: usize,
    /// Which element of what is framed.
    pub of: usize,
    /// The first of its frames.
    pub first: usize,
    /// How many packets, and so frames.
    pub count: usize,
    /// The payloads stay as they are until the peer acknowledged them, and they leave for the first time.
    pub retained: bool,
}

impl FramedRun {
    /// Where its headers lie in the arena.
    pub fn heads(&self) -> Range<usize> {
        self.heads..self.heads + self.count * self.head
    }
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
    /// Priority of the association (§5.4), smaller is more urgent; `None` where it has none.
    pub sort: Option<u16>,
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

/// A reusable batch that the engine fills in a turn.
#[derive(Debug, Default)]
pub struct TransmitBatch {
    /// Trains in sending order.
    pub trains: Vec<Train>,
    /// Pieces of all trains.
    pub pieces: Vec<Piece>,
    /// Headers and small payloads.
    pub arena: Vec<u8>,
    /// Memory of callers that [`Piece::Part`] refers to: one reference for all packets of a run.
    pub lent: Vec<Bytes>,
    /// Memory of callers that [`Piece::Framed`] refers to.
    pub framed: Vec<Arc<dyn Frames>>,
    /// Whether the train being built may still grow.
    open: bool,
}

/// Where a datagram goes and how.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// To whom.
    pub dst: SocketAddr,
    /// From which address of this host; `None`: the system chooses.
    pub src: Option<IpAddr>,
    /// How its IP header is marked.
    pub ecn: Ecn,
    /// Its priority, smaller is more urgent (§5.4); `None`: least urgent.
    pub sort: Option<u16>,
}

/// At most this many datagrams and octets a train (Linux: 64 segments on older kernels, 65 507 octets).
pub const MAX_SEGMENTS: usize = 64;
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
        self.lent.clear();
        self.framed.clear();
        self.open = false;
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// Ends the last train; the number of the next one.
    pub fn begin(&mut self) -> usize {
        self.open = false;
        self.trains.len()
    }

    /// Datagrams in the trains from number `first` on.
    pub fn datagrams_from(&self, first: usize) -> usize {
        self.trains[first..].iter().map(|train| train.count).sum()
    }

    /// Moves everything of `other` behind what is here.
    pub fn append(&mut self, other: &mut Self) {
        let (pieces, arena, lent) = (self.pieces.len(), self.arena.len(), self.lent.len());
        let framed = self.framed.len();
        self.arena.append(&mut other.arena);
        self.lent.append(&mut other.lent);
        self.framed.append(&mut other.framed);
        self.pieces
            .extend(other.pieces.drain(..).map(|piece| match piece {
                Piece::Arena(range) => Piece::Arena(range.start + arena..range.end + arena),
                payload @ Piece::Payload(_) => payload,
                Piece::Part { of, from, len } => Piece::Part {
                    of: of + lent,
                    from,
                    len,
                },
                Piece::Run(run) => Piece::Run(HeaderRun {
                    heads: run.heads + arena,
                    of: run.of + lent,
                    ..run
                }),
                Piece::Framed(run) => Piece::Framed(FramedRun {
                    heads: run.heads + arena,
                    of: run.of + framed,
                    ..run
                }),
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

    /// The octets of `piece`; none of a run, which lies in many places.
    #[inline]
    pub fn octets<'a>(&'a self, piece: &'a Piece) -> &'a [u8] {
        match piece {
            Piece::Arena(range) => &self.arena[range.clone()],
            Piece::Payload(bytes) => bytes,
            Piece::Part { of, from, len } => &self.lent[*of][*from..*from + *len],
            Piece::Run(_) | Piece::Framed(_) => &[],
        }
    }

    /// Shows the octets of `piece` in order, in as few parts as they lie in.
    #[inline]
    pub fn for_each_part<'a>(&'a self, piece: &'a Piece, mut visit: impl FnMut(&'a [u8])) {
        let run = match piece {
            Piece::Run(run) => run,
            Piece::Framed(run) => return self.for_each_framed(run, visit),
            _ => return visit(self.octets(piece)),
        };
        let (mut of, mut from) = (run.of, run.from);
        let heads = &self.arena[run.heads..run.heads + run.count * run.head];
        for head in heads.chunks_exact(run.head.max(1)) {
            visit(head);
            let mut left = run.len;
            while left > 0
                && let Some(bytes) = self.lent.get(of)
            {
                let part = &bytes[from..bytes.len().min(from + left)];
                visit(part);
                left -= part.len();
                from += part.len();
                if from == bytes.len() {
                    (of, from) = (of + 1, 0);
                }
            }
        }
    }

    fn for_each_framed<'a>(&'a self, run: &FramedRun, mut visit: impl FnMut(&'a [u8])) {
        let heads = self.arena[run.heads()].chunks_exact(run.head.max(1));
        for (index, head) in heads.enumerate() {
            visit(head);
            visit(self.framed[run.of].frame(run.first + index));
        }
    }

    /// Where `octets` octets behind a place in what is lent are.
    fn ahead(&self, mut of: usize, mut from: usize, mut octets: usize) -> (usize, usize) {
        while let Some(bytes) = self.lent.get(of)
            && octets >= bytes.len() - from
        {
            octets -= bytes.len() - from;
            (of, from) = (of + 1, 0);
        }
        (of, from + octets)
    }

    /// Copies every datagram out, with its destination: for simulators, relays and captures.
    pub fn for_each_datagram(&self, mut visit: impl FnMut(&Train, &[u8])) {
        let mut whole = Vec::new();
        for train in &self.trains {
            whole.clear();
            for piece in &self.pieces[train.pieces.clone()] {
                self.for_each_part(piece, |part| whole.extend_from_slice(part));
            }
            for datagram in whole.chunks(train.segment.max(1)) {
                visit(train, datagram);
            }
        }
    }

    /// Adds one datagram: `head` lies at the end of the arena from `head_at` on, `payload` follows it.
    /// Joins the previous train where destination and size allow.
    #[inline]
    pub fn push(&mut self, route: Route, probe: bool, head_at: usize, payload: &[Bytes]) {
        let first = self.pieces.len();
        let mut octets = self.arena.len() - head_at;
        self.pieces.push(Piece::Arena(head_at..self.arena.len()));
        for bytes in payload {
            octets += bytes.len();
            self.pieces.push(Piece::Payload(bytes.clone()));
        }
        self.board(route, probe, octets, first);
    }

    /// As [`push`](Self::push) of one with `data` behind its head, copied there or not.
    #[inline(always)]
    pub fn push_message(&mut self, route: Route, head_at: usize, data: &Bytes, copied: bool) {
        if copied {
            self.arena.extend_from_slice(data);
        }
        let apart: &[Bytes] = if copied { &[] } else { slice::from_ref(data) };
        self.push(route, false, head_at, apart);
    }

    /// Adds the datagrams of a run: `count` headers lie at the end of the arena from `heads_at` on, each is followed by
    /// the next `len` octets of `payload`.
    pub fn push_run(
        &mut self,
        route: Route,
        heads_at: usize,
        count: usize,
        len: usize,
        payload: &mut SmallVec<[Bytes; 4]>,
    ) {
        let mut of = self.lent.len();
        self.lent.extend(payload.drain(..));
        let head = (self.arena.len() - heads_at) / count.max(1);
        let octets = head + len;
        let (mut from, mut done) = (0, 0);
        while done < count {
            let first = self.pieces.len();
            let mut run = HeaderRun {
                heads: heads_at + done * head,
                head,
                of,
                from,
                len,
                count: 1,
            };
            self.pieces.push(Piece::Run(run));
            self.board(route, false, octets, first);
            run.count += self.grow(octets, count - done - 1);
            self.pieces[first] = Piece::Run(run);
            done += run.count;
            (of, from) = self.ahead(of, from, run.count * len);
        }
    }

    /// Adds to the last train, if it may grow, as many of `wanted` further datagrams as it takes; how many.
    fn grow(&mut self, octets: usize, wanted: usize) -> usize {
        let Some(train) = self.trains.last_mut().filter(|_| self.open) else {
            return 0;
        };
        let room = (MAX_TRAIN - train.total) / octets;
        let more = room.min(MAX_SEGMENTS - train.count).min(wanted);
        train.total += more * octets;
        train.count += more;
        more
    }

    /// As [`push_run`](Self::push_run), with the frames of `frames` from number `from` on. They make trains of their own,
    /// which leave from where they lie.
    pub fn push_framed(
        &mut self,
        route: Route,
        heads_at: usize,
        count: usize,
        (frames, from): (&Arc<dyn Frames>, usize),
        retained: bool,
    ) {
        let of = self.framed.len();
        self.framed.push(frames.clone());
        let head = (self.arena.len() - heads_at) / count.max(1);
        let octets = head + frames.payload();
        let mut done = 0;
        while done < count {
            let first = self.pieces.len();
            let mut run = FramedRun {
                heads: heads_at + done * head,
                head,
                of,
                first: from + done,
                count: 1,
                retained,
            };
            self.pieces.push(Piece::Framed(run));
            self.begin_train(route, octets, first);
            self.open = true;
            // No more than lie together, and then nobody else boards: the train leaves from where it lies.
            let together = frames.together(run.first).clamp(1, count - done);
            run.count += self.grow(octets, together - 1);
            self.open &= frames.together(run.first) > run.count;
            self.pieces[first] = Piece::Framed(run);
            done += run.count;
        }
    }

    /// The last packet of the last train joins the run of frames before it, if it is made as they are: its header behind
    /// theirs, its payload the next frame, or a copy of that.
    pub fn join_framed(&mut self) {
        let Some(train) = self.trains.last_mut() else {
            return;
        };
        let pieces = &self.pieces[train.pieces.clone()];
        let [Piece::Framed(run), Piece::Arena(head), rest @ ..] = pieces else {
            return;
        };
        let mut run = *run;
        let next = self.framed[run.of].frame(run.first + run.count);
        let at = head.start + run.head;
        let same = match rest {
            [] => self.arena.get(at..head.end).is_some_and(|data| data == next),
            [Piece::Payload(data)] => at == head.end && core::ptr::eq(next, &data[..]),
            _ => false,
        };
        let together = self.framed[run.of].together(run.first) > run.count;
        if next.is_empty() || run.heads().end != head.start || !same || !together {
            return;
        }
        run.count += 1;
        let first = train.pieces.start;
        train.pieces.end = first + 1;
        self.pieces.truncate(first);
        self.pieces.push(Piece::Framed(run));
    }

    /// The datagram of so many octets whose pieces begin at `first` joins the last train, or begins another.
    #[inline]
    fn board(&mut self, route: Route, probe: bool, octets: usize, first: usize) {
        if self.open && !probe && self.join(route, octets) {
            return;
        }
        self.begin_train(route, octets, first).probe = probe;
        self.open = !probe;
    }

    /// The datagram whose pieces are the last ones joins the last train, if that goes the same way and has room.
    fn join(&mut self, route: Route, octets: usize) -> bool {
        if let Some(train) = self.trains.last_mut()
            && train.dst == route.dst
            && train.src == route.src
            && train.ecn == route.ecn
            && train.sort == route.sort
            && train.count < MAX_SEGMENTS
            && octets <= train.segment
            && train.total + octets <= MAX_TRAIN
        {
            train.total += octets;
            train.count += 1;
            self.open = octets == train.segment;
            // What lies side by side is one piece.
            if let [.., Piece::Arena(before), Piece::Arena(last)] = &mut self.pieces[train.pieces.start..]
                && before.end == last.start
            {
                before.end = last.end;
                self.pieces.pop();
            }
            train.pieces.end = self.pieces.len();
            return true;
        }
        false
    }

    /// Another train, of one datagram of so many octets whose pieces begin at `first`.
    #[inline]
    fn begin_train(&mut self, route: Route, octets: usize, first: usize) -> &mut Train {
        self.trains.push(Train {
            dst: route.dst,
            src: route.src,
            ecn: route.ecn,
            sort: route.sort,
            segment: octets,
            total: octets,
            count: 1,
            probe: false,
            pieces: first..self.pieces.len(),
        });
        let last = self.trains.len() - 1;
        &mut self.trains[last]
    }
}

#[cfg(test)]
#[path = "transmit_tests.rs"]
mod tests;
