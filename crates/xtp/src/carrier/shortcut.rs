//! A socket of its own for a busy peer, while this thread polls or rests: one with whom nothing but messages of a few
//! packets is exchanged, one after the other, or one whose stream comes a datagram at a time. A system call of it looks up
//! neither route nor address, and the kernel neither for what arrives there.

use std::net::SocketAddr;

use xtp_engine::Train;
use xtp_io::{RecvBatch, Shortcut, TrafficClass, UdpSocket};

mod alone;
mod bed;
mod row;

pub(crate) use bed::Bed;
use row::{WORTH, in_a_row};

/// Datagrams of one peer in crowds, none of them joined, without a sleep between, that are worth one.
const STREAM: usize = 1_024;
/// Octets of a train that counts as one of a stream.
const LONG: usize = 32 << 10;
/// Octets of a packet that does, if nobody looked for an answer to the one before it.
const LONE: usize = 4 << 10;
/// Such trains in a row to one peer, without a sleep between, that are worth one.
const TRAINS: u32 = 256;
/// Trains in a row of another class than its own after which it takes theirs: each change costs three system calls, and where urgent
/// trains and others take turns those of one class go the general way.
const CLASSES: u32 = 16;
/// Rounds of looks by a shortcut of which one looks at the socket itself too.
const BESIDE: u32 = 8;
/// Datagrams in a row that nothing was sent between: a stream, which many slots and joined datagrams take better.
const CROWD: u32 = 32;

/// Datagrams in a row that came at the socket itself: its peer is silent while others are not, and each of them is found late.
const ELSEWHERE: u32 = 32;

/// What a shortcut is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Serves {
    /// An exchange of messages.
    #[default]
    Exchange,
    /// A stream, of which older datagrams may still be at the socket itself.
    Behind,
    /// A stream.
    Stream,
    /// Trains that are sent, and what acknowledges them.
    Trains,
}

/// A round of looks by a shortcut.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortcutRound {
    pub(super) serves: Serves,
    /// It looks at the socket too, and first.
    pub(super) beside: bool,
}

/// Whether there is one, and what speaks for one.
#[derive(Debug, Default)]
pub(super) struct ShortcutUse {
    open: Option<Box<Shortcut>>,
    serves: Serves,
    /// One for trains, turned away while somebody slept on the socket itself.
    aside: Option<Box<Shortcut>>,
    /// Whose datagrams came in crowds, and how many.
    source: Option<(SocketAddr, usize)>,
    /// To whom the last packets went, and how many.
    streak: Option<(SocketAddr, u32)>,
    /// The class of the last trains for it, and how many, if that is not its own.
    other_class: Option<(TrafficClass, u32)>,
    /// To whom the last trains went, and how many.
    trains: Option<(SocketAddr, u32)>,
    /// The system refused: it is not asked again.
    refused: bool,
    /// Somebody went to sleep on the socket itself, and nobody has looked since.
    asleep: bool,
    /// Somebody has looked since something was sent.
    looked: bool,
    /// Rounds of looking.
    rounds: u32,
    /// Datagrams that came since something was sent.
    unanswered: u32,
    /// Datagrams that came at the socket itself since one came by it.
    elsewhere: u32,
    /// Of those who sleep for the answers of one peer and expect nothing else.
    alone: bed::Alone,
}

impl ShortcutUse {
    /// Sends a train that lies in one piece; false, and nothing done, if it needs more than that.
    #[inline]
    pub(super) fn send(
        &mut self,
        socket: &UdpSocket,
        train: &Train,
        class: TrafficClass,
        octets: &[u8],
    ) -> bool {
        self.unanswered = 0;
        let ahead = !std::mem::replace(&mut self.looked, false) && train.total >= LONE;
        if ahead && self.open.is_none() {
            self.note_train(socket, train.dst);
        }
        if let Some(shortcut) = &mut self.open
            && takes(shortcut, &mut self.other_class, class)
            && socket.send_by(shortcut, train.dst, train.src, class, octets, train.segment)
        {
            return true;
        }
        if !ahead {
            self.note(socket, train.dst);
        }
        train.count == 1 && socket.send_one(train.dst, train.src, class, octets)
    }

    /// Sends a train of packets that lie side by side; false, and nothing done, if there is no shortcut, or it cannot.
    pub(super) fn send_train(
        &mut self,
        socket: &UdpSocket,
        train: &Train,
        class: TrafficClass,
        octets: &[u8],
    ) -> bool {
        if let Some(shortcut) = self.for_train(train, class) {
            return socket.send_by(shortcut, train.dst, train.src, class, octets, train.segment);
        }
        if train.total >= LONG && !train.probe && self.open.is_none() {
            self.note_train(socket, train.dst);
        }
        false
    }

    /// One more of a stream is about to leave: it may get a shortcut, or the one that was put aside.
    fn note_train(&mut self, socket: &UdpSocket, dst: SocketAddr) {
        self.bring_back(dst);
        if self.open.is_none() && in_a_row(&mut self.trains, dst) >= TRAINS && self.may_open() {
            self.open(socket, dst, Serves::Trains);
        }
    }

    /// The one that was put aside, if it is for `dst`; another goes.
    fn bring_back(&mut self, dst: SocketAddr) {
        if let Some(aside) = self.aside.take_if(|_| self.open.is_none())
            && aside.peer() == dst
        {
            match self.may_open() && aside.turn_back().is_ok() {
                true => (self.open, self.serves) = (Some(aside), Serves::Trains),
                false => self.aside = Some(aside),
            }
        }
    }

    /// As [`send_train`](Self::send_train), without a copy.
    pub(super) fn lend_train(
        &mut self,
        socket: &UdpSocket,
        train: &Train,
        class: TrafficClass,
        octets: &[u8],
    ) -> bool {
        self.for_train(train, class).is_some_and(|shortcut| {
            socket.lend_by(shortcut, train.dst, train.src, class, octets, train.segment)
        })
    }

    /// The shortcut for a long train, with its class; it is brought back if it was put aside.
    fn for_train(&mut self, train: &Train, class: TrafficClass) -> Option<&mut Shortcut> {
        if train.total < LONG || train.probe {
            return None;
        }
        self.bring_back(train.dst);
        let shortcut = self.open.as_deref_mut()?;
        takes(shortcut, &mut self.other_class, class).then_some(shortcut)
    }

    /// Keeps a shortcut that was retired and has nothing left in it, if it was for trains: who waits for them to be
    /// acknowledged sleeps now and then.
    pub(super) fn put_aside(&mut self, shortcut: Box<Shortcut>, served: Serves) {
        if served == Serves::Trains {
            self.aside = Some(shortcut);
        }
    }

    fn note(&mut self, socket: &UdpSocket, dst: SocketAddr) {
        let polled = in_a_row(&mut self.streak, dst) >= WORTH;
        if (polled || self.alone.is_worth_one(dst)) && self.may_open() {
            self.open(socket, dst, Serves::Exchange);
        }
    }

    /// There is none, and whoever waits for the socket would find it.
    fn may_open(&self) -> bool {
        !self.refused && !self.asleep && self.open.is_none() && !self.alone.sleeps()
    }

    fn open(&mut self, socket: &UdpSocket, peer: SocketAddr, serves: Serves) {
        (self.streak, self.source, self.trains) = (None, None, None);
        match socket.shortcut(peer) {
            Ok(shortcut) => (self.open, self.serves) = (Some(Box::new(shortcut)), serves),
            Err(error) => {
                tracing::debug!(%peer, %error, "no shortcut");
                self.refused = true;
            }
        }
    }

    /// A crowd came at the socket itself.
    pub(super) fn crowded(&mut self, batch: &RecvBatch) {
        self.crowd();
        // Who joined them looked up the route once for all.
        let lone = batch
            .iter()
            .next()
            .filter(|first| first.joined.len() == first.data.len());
        self.source = lone.map(|first| match self.source {
            Some((source, count)) if source == first.src => (source, count + batch.len()),
            _ => (first.src, batch.len()),
        });
    }

    /// A wait is about to rest while a stream goes on: it may get a shortcut.
    pub(super) fn rest(&mut self, socket: &UdpSocket) {
        if let Some((source, STREAM..)) = self.source
            && self.may_open()
        {
            self.open(socket, source, Serves::Behind);
        }
    }

    /// The shortcut, and what to do in this round.
    pub(super) fn turn(&mut self) -> Option<(&Shortcut, ShortcutRound)> {
        (self.asleep, self.looked) = (false, true);
        let shortcut = self.open.as_deref()?;
        self.rounds = self.rounds.wrapping_add(1);
        let round = ShortcutRound {
            serves: self.serves,
            beside: self.rounds.is_multiple_of(BESIDE) || self.serves == Serves::Behind,
        };
        Some((shortcut, round))
    }

    /// The shortcut, if this round is one of an exchange and looks at nothing else; if not, it has not begun.
    #[inline]
    pub(super) fn lone_turn(&mut self) -> Option<&Shortcut> {
        let next = self.rounds.wrapping_add(1);
        if self.serves != Serves::Exchange || next.is_multiple_of(BESIDE) {
            return None;
        }
        let shortcut = self.open.as_deref()?;
        self.rounds = next;
        Some(shortcut)
    }

    /// The socket itself was found empty: what comes of a stream now comes by the shortcut.
    pub(super) fn caught_up(&mut self) {
        if self.serves == Serves::Behind {
            self.serves = Serves::Stream;
        }
    }

    /// So much came by it.
    pub(super) fn came(&mut self, count: usize) {
        self.unanswered += count as u32;
        if count > 0 {
            self.elsewhere = 0;
        }
    }

    /// So much came at the socket itself.
    pub(super) fn came_elsewhere(&mut self, count: usize) {
        self.elsewhere = self.elsewhere.saturating_add(count as u32);
    }

    /// More left or came at once than a message of an exchange has.
    pub(super) fn crowd(&mut self) {
        self.streak = None;
        if self.open.is_some() {
            self.unanswered = CROWD;
        }
    }

    /// Whether it is no exchange any more, or one of others.
    pub(super) fn is_crowded(&self) -> bool {
        self.serves == Serves::Exchange && (self.unanswered >= CROWD || self.elsewhere >= ELSEWHERE)
    }

    /// None from now on.
    #[cfg(unix)]
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    /// No more of it, and what it was for. What is still in it is to be taken.
    pub(super) fn retire(&mut self) -> Option<(Box<Shortcut>, Serves)> {
        (self.streak, self.source, self.unanswered) = (None, None, 0);
        self.elsewhere = 0;
        (self.trains, self.asleep) = (None, true);
        let served = std::mem::take(&mut self.serves);
        let shortcut = self.open.take()?;
        self.get_up();
        if let Err(error) = shortcut.turn_away() {
            tracing::debug!(%error, "a shortcut could not be turned away");
        }
        Some((shortcut, served))
    }
}

/// Whether a train of this class leaves by a shortcut, which takes its class after a streak of such.
#[inline]
fn takes(shortcut: &mut Shortcut, other: &mut Option<(TrafficClass, u32)>, class: TrafficClass) -> bool {
    if shortcut.class() == class {
        *other = None;
        return true;
    }
    let adopts = in_a_row(other, class) >= CLASSES && shortcut.set_class(class).is_ok();
    if adopts {
        *other = None;
    }
    adopts
}

#[cfg(test)]
#[path = "shortcut_tests.rs"]
mod tests;
