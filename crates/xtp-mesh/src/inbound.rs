//! One stream of an association as it comes, cut into records.

use crate::record::{Fault, HEADER, Lane, PREFACE, Preface, Record};
use bytes::{Buf, Bytes};

/// What is found next in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Its beginning.
    Preface(Preface),
    /// The peer joined the association to its session.
    Join,
    /// The header of a counted record, with its serial.
    Record(u64, Record),
    /// Octets of the record before, never empty.
    Payload {
        /// They.
        octets: Bytes,
        /// Octets of the record that follow.
        left: u64,
    },
}

/// Where the stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Preface,
    Header,
    Payload(u64),
}

/// Cuts a stream. Everything is O(1) a call; nothing but one header is kept.
#[derive(Debug)]
pub(crate) struct Inbound {
    inside: Inside,
    lane: Option<Lane>,
    /// Serial of the next record, once the stream's start was seen.
    serial: Option<u64>,
    header: [u8; 32],
    /// Octets of it that are here.
    have: usize,
}

// A header is kept in one place, whichever it is.
const _: () = assert!(PREFACE == HEADER && HEADER == 32);

impl Inbound {
    pub(crate) fn new() -> Self {
        Self {
            inside: Inside::Preface,
            lane: None,
            serial: None,
            header: [0; 32],
            have: 0,
        }
    }

    /// The next item of `octets`, which are what follows in the stream; `None` if there is no whole one, and then they are empty.
    ///
    /// # Errors
    ///
    /// [`Fault`]: the stream is of no use from there on.
    pub(crate) fn next(&mut self, octets: &mut Bytes) -> Result<Option<Item>, Fault> {
        loop {
            if let Inside::Payload(left) = self.inside {
                return Ok(self.payload(octets, left));
            }
            if !self.gather(octets) {
                return Ok(None);
            }
            if self.inside == Inside::Preface {
                let preface = Preface::decode(&self.header)?;
                (self.lane, self.inside) = (Some(preface.lane), Inside::Header);
                return Ok(Some(Item::Preface(preface)));
            }
            let record = Record::decode(&self.header)?;
            if !self.lane.is_some_and(|lane| record.is_of(lane)) {
                return Err(Fault::Place);
            }
            if record == Record::Join {
                return Ok(Some(Item::Join));
            }
            if let Record::Start { serial } = record {
                // Serials of a session never go round.
                if self.serial.is_some() || serial > u64::MAX / 2 {
                    return Err(Fault::Place);
                }
                self.serial = Some(serial);
                continue;
            }
            let serial = self.serial.as_mut().ok_or(Fault::Place)?;
            let this = *serial;
            *serial += 1;
            if record.payload() > 0 {
                self.inside = Inside::Payload(record.payload());
            }
            return Ok(Some(Item::Record(this, record)));
        }
    }

    /// Takes octets of a header; whether it is whole.
    fn gather(&mut self, octets: &mut Bytes) -> bool {
        let taken = octets.len().min(HEADER - self.have);
        octets.copy_to_slice(&mut self.header[self.have..self.have + taken]);
        self.have += taken;
        let whole = self.have == HEADER;
        if whole {
            self.have = 0;
        }
        whole
    }

    fn payload(&mut self, octets: &mut Bytes, left: u64) -> Option<Item> {
        if octets.is_empty() {
            return None;
        }
        let taken = usize::try_from(left).map_or(octets.len(), |left| left.min(octets.len()));
        let left = left - taken as u64;
        self.inside = match left {
            0 => Inside::Header,
            left => Inside::Payload(left),
        };
        Some(Item::Payload {
            octets: octets.split_to(taken),
            left,
        })
    }
}

#[cfg(test)]
#[path = "inbound_tests.rs"]
mod tests;
