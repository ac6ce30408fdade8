//! The records of one lane on their way out, kept until the peer's host has them: they outlive the association that carries them.

use crate::record::{HEADER, Record};
use bytes::{BufMut, Bytes, BytesMut};
use std::collections::VecDeque;

/// Payloads up to this length are copied behind their header; longer ones leave from where they lie. Octets.
const COPIED: usize = 1 << 10;
/// Octets that are prepared for an association at once.
const BATCH: usize = 128 << 10;

#[derive(Debug)]
struct Kept<T> {
    record: Record,
    payload: Bytes,
    /// Offset at which it ends in the stream, once prepared.
    end: u64,
    note: Option<T>,
}

/// Counted records in order. `T` is handed back when a record that has one is confirmed.
#[derive(Debug)]
pub(crate) struct Outgoing<T> {
    kept: VecDeque<Kept<T>>,
    /// Serial of the first one kept.
    first: u64,
    /// Records of `kept` that are prepared.
    prepared: usize,
    /// Octets of the stream that were prepared.
    end: u64,
    /// Those that the association did not take yet.
    waiting: VecDeque<Bytes>,
    /// Octets of records that are not prepared.
    later: u64,
}

impl<T> Outgoing<T> {
    pub(crate) fn new() -> Self {
        Self {
            kept: VecDeque::new(),
            first: 0,
            prepared: 0,
            end: 0,
            waiting: VecDeque::new(),
            later: 0,
        }
    }

    /// Adds a record with its payload; its serial.
    pub(crate) fn push(&mut self, record: Record, payload: Bytes, note: Option<T>) -> u64 {
        debug_assert_eq!(record.payload(), payload.len() as u64);
        let serial = self.first + self.kept.len() as u64;
        self.later += (HEADER + payload.len()) as u64;
        self.kept.push_back(Kept {
            record,
            payload,
            end: 0,
            note,
        });
        serial
    }

    /// Serial of the first record that is not confirmed.
    #[cfg(test)]
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// Records that are not confirmed.
    pub(crate) fn unconfirmed(&self) -> usize {
        self.kept.len()
    }

    /// Whether an association should take octets.
    pub(crate) fn has_octets(&self) -> bool {
        !self.waiting.is_empty() || self.prepared < self.kept.len()
    }

    /// Whether everything there is was taken, and not all of it is confirmed.
    pub(crate) fn is_written_and_unconfirmed(&self) -> bool {
        !self.has_octets() && !self.kept.is_empty()
    }

    /// Octets that no association took yet.
    pub(crate) fn backlog(&self) -> u64 {
        self.later + self.waiting.iter().map(|piece| piece.len() as u64).sum::<u64>()
    }

    /// Octets of the stream so far.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Another association carries what is not confirmed; `preface` octets stand in its stream already.
    pub(crate) fn begin(&mut self, preface: u64) {
        self.waiting.clear();
        (self.prepared, self.end) = (0, preface);
        let octets = |kept: &Kept<T>| (HEADER + kept.payload.len()) as u64;
        self.later = self.kept.iter().map(octets).sum();
        let start = Record::Start { serial: self.first };
        self.waiting.push_back(Bytes::copy_from_slice(&start.encode()));
        self.end += HEADER as u64;
    }

    /// Hands octets to `take` as long as it takes them: it removes from its argument what it took.
    ///
    /// # Errors
    ///
    /// What `take` fails with.
    pub(crate) fn write<E>(&mut self, mut take: impl FnMut(&mut Bytes) -> Result<(), E>) -> Result<(), E> {
        loop {
            while let Some(piece) = self.waiting.front_mut() {
                take(piece)?;
                if !piece.is_empty() {
                    return Ok(());
                }
                self.waiting.pop_front();
            }
            if self.prepared == self.kept.len() {
                return Ok(());
            }
            self.prepare();
        }
    }

    /// The stream's octets up to `offset` are at the peer's host: notes of the records that are whole there, in order.
    pub(crate) fn confirm(&mut self, offset: u64) -> impl Iterator<Item = T> + '_ {
        let whole = |kept: &&Kept<T>| kept.end <= offset;
        let count = self.kept.iter().take(self.prepared).take_while(whole).count();
        self.forget(count)
    }

    /// The peer has every record below this serial. `None` if there are not so many.
    pub(crate) fn confirm_below(&mut self, serial: u64) -> Option<impl Iterator<Item = T> + '_> {
        if serial > self.first + self.kept.len() as u64 {
            return None;
        }
        // Octets of those that are prepared leave nevertheless: the peer knows by their serials that it has them.
        let count = usize::try_from(serial.saturating_sub(self.first)).ok()?;
        let prepared = count.min(self.prepared);
        Some(self.forget(prepared))
    }

    /// Nothing of it will be confirmed any more: the notes there are.
    pub(crate) fn give_up(&mut self) -> impl Iterator<Item = T> + '_ {
        (self.later, self.prepared) = (0, self.kept.len());
        self.waiting.clear();
        self.forget(self.kept.len())
    }

    fn forget(&mut self, count: usize) -> impl Iterator<Item = T> + '_ {
        self.first += count as u64;
        self.prepared -= count;
        self.kept.drain(..count).filter_map(|kept| kept.note)
    }

    /// Lays out the next records: short ones share a piece, and so, later, packets.
    fn prepare(&mut self) {
        let (mut short, mut total) = (BytesMut::new(), 0);
        while let Some(kept) = self.kept.get_mut(self.prepared) {
            if total >= BATCH {
                break;
            }
            let octets = HEADER + kept.payload.len();
            total += octets;
            self.later -= octets as u64;
            self.end += octets as u64;
            kept.end = self.end;
            short.put_slice(&kept.record.encode());
            if kept.payload.len() <= COPIED {
                short.put_slice(&kept.payload);
            } else {
                self.waiting.push_back(short.split().freeze());
                self.waiting.push_back(kept.payload.clone());
            }
            self.prepared += 1;
        }
        if !short.is_empty() {
            self.waiting.push_back(short.freeze());
        }
    }
}

#[cfg(test)]
#[path = "outgoing_tests.rs"]
mod tests;
