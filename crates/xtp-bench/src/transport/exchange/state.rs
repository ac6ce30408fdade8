//! The two ends of an exchange in three packets, with their recovery, as a state machine without clock or socket.
//!
//! ```text
//! R-UDP                                         T-UDP
//! S -- DATA(id) --> R   S: timer 1              C -- REQ(id) ---> S   C: timer 1
//! S <-- ACK(id) --- R   R delivers, timer 2     C <-- RESP(id) -- S   S executes, timer 2
//! S -- ACK2(id) --> R   R stops timer 2         C -- ACK(id) ---> S   S forgets the response
//! ```
//! R-UDP is T-UDP with an empty response.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

use super::packet::{HEADER, Kind, Packet, head, packet};

/// First time without an answer after which a packet is repeated; it doubles each time.
const REPEAT: Duration = Duration::from_millis(250);
/// How often a packet is sent at most.
const TRIES: u32 = 6;
/// How long an exchange is remembered, so that a late request is not executed again.
const MEMORY: Duration = Duration::from_secs(10);
/// Most exchanges remembered; beyond, the oldest is forgotten early.
const EXCHANGES: usize = 1 << 21;

/// When to repeat.
#[derive(Copy, Clone, Debug)]
struct Timer {
    due: Instant,
    tries: u32,
}

impl Timer {
    fn new(now: Instant) -> Self {
        Self {
            due: now + REPEAT,
            tries: 1,
        }
    }

    /// It was due: the packet is sent again, unless it was sent often enough.
    fn again(&mut self, now: Instant) -> bool {
        if self.tries >= TRIES {
            return false;
        }
        self.due = now + REPEAT * 2_u32.pow(self.tries);
        self.tries += 1;
        true
    }
}

/// What to do about a timer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Send the packet again.
    Repeat,
    /// No answer after the last try.
    GiveUp,
}

/// The end that asks: one exchange at a time.
pub(super) struct Asking {
    id: u64,
    /// Room for the longest request, and how much of it is one.
    room: Vec<u8>,
    length: usize,
    timer: Option<Timer>,
}

/// What a packet is to the end that asks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard<'a> {
    /// The answer: confirm it.
    Answer(&'a [u8]),
    /// An answer repeated because its confirmation was lost: confirm it again.
    Old(u64),
    /// Nothing of interest.
    Nothing,
}

impl Asking {
    /// `first` is the number of the first exchange: one that no earlier client on the same port used lately. `payload`: that of
    /// the longest request.
    pub(super) fn new(first: u64, payload: &[u8]) -> Self {
        Self {
            id: first.wrapping_sub(1),
            room: packet(Kind::Request, 0, payload),
            length: HEADER + payload.len(),
            timer: None,
        }
    }

    /// Begins the next exchange with the first `octets` of the payload; returns the packet to send.
    pub(super) fn begin(&mut self, now: Instant, octets: usize) -> &[u8] {
        self.id = self.id.wrapping_add(1);
        self.timer = Some(Timer::new(now));
        self.length = self.room.len().min(HEADER + octets);
        let length = (self.length - HEADER) as u32;
        if let Some(header) = self.room.first_chunk_mut() {
            head(header, Kind::Request, self.id, length);
        }
        self.request()
    }

    /// The number of the exchange.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The packet to send again.
    pub(super) fn request(&self) -> &[u8] {
        &self.room[..self.length]
    }

    /// When the timer is due; `None` if nothing is under way.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timer.map(|timer| timer.due)
    }

    /// The deadline has passed.
    pub(super) fn due(&mut self, now: Instant) -> Due {
        if self.timer.as_mut().is_some_and(|timer| timer.again(now)) {
            return Due::Repeat;
        }
        self.timer = None;
        Due::GiveUp
    }

    /// A datagram arrived.
    pub(super) fn heard<'a>(&mut self, datagram: &'a [u8]) -> Heard<'a> {
        match Packet::parse(datagram) {
            Some(Packet {
                kind: Kind::Reply,
                id,
                payload,
            }) if id == self.id && self.timer.is_some() => {
                self.timer = None;
                Heard::Answer(payload)
            }
            Some(Packet {
                kind: Kind::Reply,
                id,
                ..
            }) => Heard::Old(id),
            _ => Heard::Nothing,
        }
    }
}

/// An exchange as the end that answers remembers it.
enum Entry {
    /// Answered, not confirmed: the whole reply.
    Answered(Vec<u8>, Timer),
    /// Confirmed: only not to be executed again.
    Over,
}

/// What to do about a datagram at the end that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    /// A new request: execute it and pass the response to [`Answering::answer`].
    Execute(u64, &'a [u8]),
    /// An old one: send this again.
    Repeat(Vec<u8>),
    /// The peer has the answer.
    Confirmed,
    /// Nothing of interest.
    Nothing,
}

/// The end that answers, for any number of peers named by `P`.
pub(super) struct Answering<P> {
    table: HashMap<(P, u64), Entry>,
    /// In the order in which they began.
    begun: VecDeque<(Instant, (P, u64))>,
    /// In the order in which timers were set; those of exchanges confirmed meanwhile are passed over.
    timers: VecDeque<(Instant, (P, u64))>,
    limit: usize,
}

impl<P: Copy + Eq + Hash> Answering<P> {
    pub(super) fn new() -> Self {
        Self {
            table: HashMap::new(),
            begun: VecDeque::new(),
            timers: VecDeque::new(),
            limit: EXCHANGES,
        }
    }

    /// A datagram of `peer` arrived.
    pub(super) fn told<'a>(&mut self, now: Instant, peer: P, datagram: &'a [u8]) -> Told<'a> {
        self.forget(now);
        let Some(packet_in) = Packet::parse(datagram) else {
            return Told::Nothing;
        };
        let key = (peer, packet_in.id);
        match (packet_in.kind, self.table.get_mut(&key)) {
            (Kind::Request, None) => Told::Execute(packet_in.id, packet_in.payload),
            (Kind::Request, Some(Entry::Answered(reply, _))) => Told::Repeat(reply.clone()),
            // A copy that was long under way: the peer has the answer and takes this for an old one.
            (Kind::Request, Some(Entry::Over)) => Told::Repeat(packet(Kind::Reply, packet_in.id, &[])),
            (Kind::Confirm, Some(entry)) => {
                *entry = Entry::Over;
                Told::Confirmed
            }
            _ => Told::Nothing,
        }
    }

    /// The response to a request just executed; returns the packet to send.
    pub(super) fn answer(&mut self, now: Instant, peer: P, id: u64, response: &[u8]) -> &[u8] {
        let timer = Timer::new(now);
        self.begun.push_back((now, (peer, id)));
        self.set(timer.due, (peer, id));
        let entry = Entry::Answered(packet(Kind::Reply, id, response), timer);
        self.table.insert((peer, id), entry);
        match self.table.get(&(peer, id)) {
            Some(Entry::Answered(reply, _)) => reply,
            _ => &[],
        }
    }

    /// When a timer is due at the latest.
    pub(super) fn deadline(&mut self) -> Option<Instant> {
        while let Some((due, key)) = self.timers.front() {
            match self.table.get(key) {
                Some(Entry::Answered(..)) => return Some(*due),
                _ => self.timers.pop_front(),
            };
        }
        None
    }

    /// Repeats what is due with `send`.
    pub(super) fn due<E>(
        &mut self,
        now: Instant,
        mut send: impl FnMut(P, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.forget(now);
        while self.deadline().is_some_and(|due| due <= now) {
            let Some((_, key)) = self.timers.pop_front() else {
                break;
            };
            let Some(entry) = self.table.get_mut(&key) else {
                continue;
            };
            let Entry::Answered(reply, timer) = entry else {
                continue;
            };
            if timer.again(now) {
                let due = timer.due;
                send(key.0, reply)?;
                self.set(due, key);
            } else {
                self.table.remove(&key);
            }
        }
        Ok(())
    }

    /// Timers stay in order; mostly the new one is the last.
    fn set(&mut self, due: Instant, key: (P, u64)) {
        let place = match self.timers.back() {
            Some((last, _)) if *last > due => self.timers.partition_point(|(other, _)| *other <= due),
            _ => self.timers.len(),
        };
        self.timers.insert(place, (due, key));
    }

    /// Exchanges remembered.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// As [`new`](Self::new) with room for fewer exchanges.
    #[cfg(test)]
    pub(super) fn with_limit(limit: usize) -> Self {
        Self { limit, ..Self::new() }
    }

    fn forget(&mut self, now: Instant) {
        while let Some((begun, key)) = self.begun.front() {
            if now < *begun + MEMORY && self.table.len() < self.limit {
                return;
            }
            self.table.remove(key);
            self.begun.pop_front();
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
