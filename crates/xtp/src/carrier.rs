//! The socket with its batches: datagrams in, trains out, errors as facts for the engine.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;
use xtp_engine::{Driver, Ecn, Engine, Failure, LEAST_DATAGRAM, Outlet, Piece, Time, TransmitBatch};
use xtp_io::verdict::{Call, ErrorVerdict};
use xtp_io::{Interest, RecvBatch, SendOutcome, SocketError, SocketErrorKind, UdpSocket};

use crate::capture::Trace;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::wake::Waker;

mod class;
mod dispatch;
mod fault;
mod group;
mod hand_in;
mod memberships;
mod message;
mod routes;
mod shortcut;
mod sleep;

pub(crate) use class::Classes;
use dispatch::{TrainDispatch, gather, parts};
pub(crate) use fault::{Fault, PeerFault};
pub(crate) use memberships::Membership;
use routes::{OversizeOutcome, payload_of};
pub(crate) use shortcut::Bed;
use shortcut::Serves;

/// A slab is worth keeping as backing of received payloads when it is filled at least this far: below, a few
/// octets would pin 64 KiB.
const WORTH_KEEPING: usize = 32 << 10;
/// Pieces of a train that need no allocation: 64 datagrams of header and payload.
const INLINE_PIECES: usize = 128;
/// Pieces from this number on are gathered here where they are on average no longer than `SHORT`: the kernel takes
/// longer to collect short pieces than it takes to copy them beforehand.
const MANY: usize = 16;
const SHORT: usize = 1_024;
/// Octets of a train that is gathered whatever its pieces are like.
const SMALL: usize = 9 << 10;
/// Datagrams of a train that may be a message of an exchange.
const FEW: usize = 4;
/// Octets of a train whose frames the system may be lent.
const WORTH_LENDING: usize = 32 << 10;

/// Where sending stopped because the kernel had no room.
#[derive(Copy, Clone, Debug)]
struct Stall {
    train: usize,
    sent: usize,
}

/// The socket, what arrived from it and what is about to leave.
pub(crate) struct Carrier {
    socket: Arc<UdpSocket>,
    /// Not there while somebody sleeps with it.
    batch: Option<Box<RecvBatch>>,
    /// Datagrams of it that were handed in, if others are still to be.
    handed_in: usize,
    /// Where the packets begin that wait for room in the kernel.
    stall: Option<Stall>,
    /// Peers to which packets do not leave, as far as the users concerned were not told.
    faults: Vec<PeerFault>,
    refusals: fault::Refusals,
    reception: fault::Reception,
    /// What the socket failed with for good, until somebody asks.
    failure: Option<Error>,
    routes: routes::RouteMtus,
    shortcut: shortcut::ShortcutUse,
    classes: Classes,
    groups: memberships::Memberships,
    trace: Option<Trace>,
    waker: Arc<Waker>,
    errors: Vec<SocketError>,
    /// One train of short datagrams as it leaves.
    gathered: Vec<u8>,
    /// Octets of attempts to send.
    pub(crate) given: u64,
    /// Octets that were gathered.
    pub(crate) copied: u64,
    /// Datagrams of our own waker, taken out of the statistics.
    pub(crate) wakes: u64,
    /// Datagrams that could not be sent for reasons nobody can act on.
    pub(crate) send_errors: u64,
}

impl Carrier {
    pub(crate) fn new(socket: Arc<UdpSocket>, waker: Arc<Waker>, trace: Option<Trace>) -> Self {
        Self {
            socket,
            batch: Some(Box::default()),
            handed_in: 0,
            stall: None,
            faults: Vec::new(),
            refusals: fault::Refusals::default(),
            reception: fault::Reception::default(),
            failure: None,
            routes: routes::RouteMtus::default(),
            shortcut: shortcut::ShortcutUse::default(),
            classes: Classes::default(),
            groups: memberships::Memberships::default(),
            trace,
            waker,
            errors: Vec::new(),
            gathered: Vec::new(),
            given: 0,
            copied: 0,
            wakes: 0,
            send_errors: 0,
        }
    }

    /// What leaves is marked with the DSCP of its priority.
    pub(crate) fn mark_by(&mut self, classes: Classes) {
        self.classes = classes;
    }

    /// What to wait for before trying again.
    pub(crate) fn interest(&self) -> Interest {
        if self.stall.is_some() {
            Interest::BOTH
        } else {
            Interest::READABLE
        }
    }

    /// Takes one batch from the socket without waiting, after at most `looks` looks, and hands it to the engine;
    /// returns how many datagrams and when. The clock is read when something came.
    pub(crate) fn receive(
        &mut self,
        clock: Clock,
        driver: &mut Driver,
        looks: u32,
    ) -> Result<Option<(usize, Time)>> {
        if let Some(more) = self.hand_in_rest(clock, driver, false) {
            return Ok(Some(more));
        }
        if self.shortcut.is_crowded() {
            let count = self.retire_shortcut(clock, driver);
            if count > 0 {
                return Ok(Some((count, clock.now())));
            }
        }
        let count = self.fill(looks, true)?;
        Ok(self.take(count, clock, driver))
    }

    /// Whether more may be waiting in the socket than the last call brought.
    pub(crate) fn may_have_more(&self) -> bool {
        self.batch.as_deref().is_some_and(RecvBatch::is_full)
    }

    /// Gives the engine what a call brought; returns as [`Self::receive`].
    fn take(&mut self, count: usize, clock: Clock, driver: &mut Driver) -> Option<(usize, Time)> {
        if count == 0 {
            return None;
        }
        let now = clock.now();
        self.hand_in(now, driver, false);
        Some((count, now))
    }

    /// Takes one batch from the socket; how many datagrams it brought. Whoever sleeps in the kernel has the batch: then
    /// nobody else takes what comes.
    /// `all`: whatever there is to be looked at is looked at.
    fn fill(&mut self, looks: u32, all: bool) -> Result<usize> {
        let Some(batch) = &mut self.batch else {
            return Ok(0);
        };
        if let Some((shortcut, round)) = self.shortcut.turn() {
            let stream = round.serves != Serves::Exchange;
            // First, because what was just sent is not answered yet, or what is there is older.
            if round.beside && (!all || stream) {
                let count = self.reception.counted(self.socket.recv_within(batch, 1))?;
                if count > 0 {
                    self.shortcut.came_elsewhere(count);
                    return Ok(count);
                }
            }
            if stream {
                let count = self
                    .reception
                    .counted(self.socket.recv_many_by(shortcut, batch, looks))?;
                if round.beside {
                    self.shortcut.caught_up();
                }
                if count > 0 || round.beside {
                    return Ok(count);
                }
                return self.reception.counted(self.socket.recv_within(batch, 1));
            }
            let count = self
                .reception
                .counted(self.socket.recv_by(shortcut, batch, looks))?;
            self.shortcut.came(count);
            if count > 0 || !all {
                return Ok(count);
            }
            let count = self.reception.counted(self.socket.recv_within(batch, 1))?;
            self.shortcut.came_elsewhere(count);
            return Ok(count);
        }
        let count = self.reception.counted(self.socket.recv_within(batch, looks))?;
        if count > FEW || count > 1 && batch.only().is_none() {
            self.shortcut.crowded(batch);
        }
        Ok(count)
    }

    /// A wait for more of a stream is about to rest, and polls afterwards.
    pub(crate) fn before_rest(&mut self) {
        self.shortcut.rest(&self.socket);
    }

    /// No shortcut from now on.
    #[cfg(unix)]
    pub(crate) fn refuse_shortcut(&mut self) {
        self.shortcut.refuse();
    }

    /// Gives up a shortcut, because somebody is about to sleep on the socket; how many datagrams were still in it or in the
    /// batch, which the engine takes.
    pub(crate) fn retire_shortcut(&mut self, clock: Clock, driver: &mut Driver) -> usize {
        let mut taken = self
            .hand_in_rest(clock, driver, true)
            .map_or(0, |(count, _)| count);
        let Some((shortcut, served)) = self.shortcut.retire() else {
            return taken;
        };
        while let Some(batch) = &mut self.batch
            && let Ok(count @ 1..) = self.socket.recv_many_by(&shortcut, batch, 1)
        {
            taken += count;
            self.hand_in(clock.now(), driver, true);
        }
        self.shortcut.put_aside(shortcut, served);
        taken
    }

    /// Hands queued errors of the network to the engine.
    pub(crate) fn receive_errors(&mut self, now: Time, engine: &mut Engine) {
        self.errors.clear();
        if self.socket.recv_errors(&mut self.errors).is_err() {
            return;
        }
        for error in &self.errors {
            match error.kind {
                SocketErrorKind::MessageTooBig { mtu } => {
                    engine.failed(
                        now,
                        error.peer,
                        Failure::TooBig {
                            octets: payload_of(mtu, error.peer.ip()),
                        },
                    );
                }
                SocketErrorKind::Unreachable => {
                    let source = io::Error::from_raw_os_error(error.code);
                    match source.kind() {
                        io::ErrorKind::ConnectionRefused => {
                            engine.failed(now, error.peer, Failure::PortUnreachable);
                        }
                        kind => self.faults.push(PeerFault {
                            peer: error.peer,
                            fault: Fault::NoRoute(kind),
                            lasts: true,
                        }),
                    }
                }
                _ => tracing::debug!(peer = %error.peer, code = error.code, "error report of the network"),
            }
        }
    }

    /// Tells the engine how long a datagram to `peer` may be, as far as this host knows.
    #[inline]
    pub(crate) fn note_path(&mut self, now: Time, engine: &mut Engine, peer: SocketAddr) {
        if !self.routes.is_fresh(now, peer) {
            self.learn_path(now, engine, peer, None);
        }
    }

    #[cold]
    fn learn_path(&mut self, now: Time, engine: &mut Engine, peer: SocketAddr, src: Option<IpAddr>) -> usize {
        let (octets, is_news) = self.routes.carries(now, &self.socket, peer, src);
        // A router's word may be forged: what every path carries is tried whatever it says.
        let octets = octets.max(LEAST_DATAGRAM);
        if is_news {
            engine.note_path_mtu(now, peer, octets);
        }
        octets
    }

    /// Calls of receiving that failed.
    pub(crate) fn receptions_failed(&self) -> u64 {
        self.reception.errors
    }

    /// Whether this host did not let the last packet to `peer` leave.
    pub(crate) fn is_refused(&self, peer: SocketAddr) -> bool {
        self.refusals.is_refused(peer)
    }

    /// What keeps packets to peers from leaving, once.
    pub(crate) fn take_faults(&mut self) -> Vec<PeerFault> {
        std::mem::take(&mut self.faults)
    }

    /// What the socket failed with for good, once.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Whether there is anything to take of both.
    #[inline]
    pub(crate) fn has_troubles(&self) -> bool {
        !self.faults.is_empty() || self.failure.is_some()
    }

    /// Sends what is in `out` if that is one datagram, or a few in one piece; false, and nothing done, if it is not or
    /// did not leave.
    #[inline]
    fn send_one(&mut self, now: Time, out: &mut TransmitBatch) -> bool {
        let [train] = &out.trains[..] else {
            self.shortcut.crowd();
            return false;
        };
        let octets = match &out.pieces[..] {
            [piece @ (Piece::Arena(_) | Piece::Payload(_))] if train.count <= FEW => out.octets(piece),
            _ if train.count == 1 && train.total <= SMALL => {
                gather(out, train, &mut self.gathered);
                self.copied += self.gathered.len() as u64;
                &self.gathered
            }
            _ => {
                self.shortcut.crowd();
                return false;
            }
        };
        if self.stall.is_some()
            || self.trace.is_some()
            || !self.routes.fits(now, train.dst, longest(train))
            || !self
                .shortcut
                .send(&self.socket, train, self.classes.of(train), octets)
        {
            return false;
        }
        self.refusals.left(train.dst);
        out.clear();
        true
    }

    /// Sends what is in `out`, from where the last attempt stopped. Clears `out` when all of it left, or never will.
    fn send_all(&mut self, now: Time, engine: &mut Engine, out: &mut TransmitBatch) {
        let start = self.stall.take();
        let mut first = start.map_or(0, |stall| stall.sent);
        for train in start.map_or(0, |stall| stall.train)..out.trains.len() {
            let (dst, src, octets) = (
                out.trains[train].dst,
                out.trains[train].src,
                longest(&out.trains[train]),
            );
            if self.is_too_long(now, engine, (dst, src), octets) {
                first = 0;
                continue;
            }
            let mut outcome = self.send_train(out, train, first);
            if outcome.is_err() && out.trains[train].src.take().is_some() {
                // This host may have lost the address the peer knew: any other will do, the peer can follow.
                outcome = self.send_train(out, train, first);
            }
            match outcome {
                Ok(SendOutcome::WouldBlock { sent, .. }) => {
                    self.stall = Some(Stall { train, sent });
                    return;
                }
                Ok(SendOutcome::TooBig { .. }) => self.refused_for_length(now, engine, (dst, src), octets),
                Ok(_) => self.refusals.left(dst),
                Err(error) => {
                    if let Err(failure) = self.judge(now, engine, dst, error) {
                        self.failure = Some(failure);
                        break;
                    }
                }
            }
            first = 0;
        }
        out.clear();
    }

    /// Whether datagrams of `octets` are longer than the way carries, as far as the kernel knows, and an association was told
    /// so: it sends the same again, shorter.
    fn is_too_long(
        &mut self,
        now: Time,
        engine: &mut Engine,
        (dst, src): (SocketAddr, Option<IpAddr>),
        octets: usize,
    ) -> bool {
        if self.routes.fits(now, dst, octets) || dst.ip().is_multicast() {
            return false;
        }
        let carries = self.learn_path(now, engine, dst, src);
        let octets = (carries < octets).then_some(carries);
        octets.is_some() && engine.failed(now, dst, Failure::TooBig { octets })
    }

    /// The kernel refused datagrams of `octets` for their length.
    fn refused_for_length(
        &mut self,
        now: Time,
        engine: &mut Engine,
        (dst, src): (SocketAddr, Option<IpAddr>),
        octets: usize,
    ) {
        match self.routes.refused(now, &self.socket, dst, src, octets) {
            OversizeOutcome::Fits(octets) => {
                if let Some(octets) = octets {
                    engine.note_path_mtu(now, dst, octets);
                }
                engine.failed(now, dst, Failure::TooBig { octets });
            }
            OversizeOutcome::Narrow(octets) => {
                let octets = u16::try_from(octets).unwrap_or(u16::MAX);
                self.faults.push(PeerFault {
                    peer: dst,
                    fault: Fault::Narrow(octets),
                    lasts: true,
                });
            }
        }
    }

    /// Hands one train to the kernel, beginning with its datagram number `first`.
    fn send_train(&mut self, out: &TransmitBatch, index: usize, first: usize) -> io::Result<SendOutcome> {
        let train = &out.trains[index];
        let pieces = &out.pieces[train.pieces.clone()];
        let mut dispatch = TrainDispatch {
            socket: &self.socket,
            shortcut: &mut self.shortcut,
            class: self.classes.of(train),
            trace: self.trace.as_ref(),
            train,
            first,
        };
        match pieces {
            // Room for many pieces is costly to move: a lone small packet does without.
            [piece @ (Piece::Arena(_) | Piece::Payload(_))] => {
                return dispatch.send(&[IoSlice::new(out.octets(piece))]);
            }
            // Headers of another length than there is room for are gathered with the rest.
            [Piece::Framed(run)] if out.framed[run.of].room() == run.head => {
                let (mut outcome, heads) = (None, &out.arena[run.heads()]);
                let frames = &out.framed[run.of];
                frames.with_heads(run.first, heads, &mut |octets| {
                    let lends = run.retained && octets.len() >= WORTH_LENDING && frames.lends();
                    let lent = lends && dispatch.lend(octets);
                    outcome = Some(match lent {
                        true => Ok(SendOutcome::Sent),
                        false => dispatch.send_side_by_side(octets),
                    });
                    lent
                });
                if let Some(outcome) = outcome {
                    return outcome;
                }
            }
            _ => {}
        }
        let parts = pieces.iter().map(parts).sum::<usize>();
        if train.total <= SMALL || parts >= MANY && train.total <= parts * SHORT {
            gather(out, train, &mut self.gathered);
            self.copied += self.gathered.len() as u64;
            return dispatch.send_side_by_side(&self.gathered);
        }
        let mut parts: SmallVec<[IoSlice<'_>; INLINE_PIECES]> = SmallVec::new();
        for piece in pieces {
            out.for_each_part(piece, |part| parts.push(IoSlice::new(part)));
        }
        dispatch.send(&parts)
    }

    /// Decides what a failed send means; only an unusable socket is an error.
    fn judge(&mut self, now: Time, engine: &mut Engine, dst: SocketAddr, error: io::Error) -> Result<()> {
        let verdict = ErrorVerdict::of(Call::Send, &error);
        match verdict {
            ErrorVerdict::Broken => {
                return Err(Error::Carrier {
                    doing: "sending",
                    source: error,
                });
            }
            ErrorVerdict::Unreachable => {
                self.refusals.note(now, dst);
                self.faults.push(PeerFault {
                    peer: dst,
                    fault: Fault::NoRoute(error.kind()),
                    lasts: true,
                });
            }
            ErrorVerdict::Refused => {
                let lasts = self.refusals.note(now, dst);
                let fault = Fault::Refused(error.raw_os_error().unwrap_or(0));
                self.faults.push(PeerFault {
                    peer: dst,
                    fault,
                    lasts,
                });
                engine.failed(now, dst, Failure::NotSent);
            }
            // To the protocol this is loss, and it repairs loss.
            _ => {}
        }
        if verdict != ErrorVerdict::Unreachable {
            self.send_errors += 1;
            tracing::debug!(%dst, %error, "a train could not be sent");
        }
        Ok(())
    }
}

impl Outlet for Carrier {
    #[inline]
    fn send(&mut self, now: Time, engine: &mut Engine, out: &mut TransmitBatch) {
        self.given += out.trains.iter().map(|train| train.total as u64).sum::<u64>();
        if !self.send_one(now, out) {
            self.send_all(now, engine, out);
        }
    }
}

/// Memory worth keeping instead of a copy of what arrived in it.
fn backing<'a>(batch: &'a RecvBatch, datagram: &xtp_io::RecvDatagram<'_>) -> Option<&'a Bytes> {
    (datagram.filled >= WORTH_KEEPING)
        .then(|| batch.slab_bytes(datagram.slab))
        .flatten()
}

/// Octets of the longest datagram of a train.
#[inline]
fn longest(train: &xtp_engine::Train) -> usize {
    train.segment.min(train.total)
}

fn from_io(ecn: xtp_io::EcnCodepoint) -> Ecn {
    match ecn {
        xtp_io::EcnCodepoint::NotEct => Ecn::NotEct,
        xtp_io::EcnCodepoint::Ect0 => Ecn::Ect0,
        xtp_io::EcnCodepoint::Ect1 => Ecn::Ect1,
        xtp_io::EcnCodepoint::Ce => Ecn::Ce,
    }
}

#[cfg(test)]
#[path = "carrier_tests.rs"]
mod tests;
