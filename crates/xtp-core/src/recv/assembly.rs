//! Datagrams of several packets: delivered whole or not at all (§4.8).

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::payload::Payload;

/// Longest datagram, and most octets held for one (§4.8, §5.2.1).
const MAX_OCTETS: usize = 1 << 20;
/// Most pieces held out of order: what a datagram of the greatest length has in packets of 256 octets.
const MAX_PIECES: usize = 4096;
/// What a stored piece costs beside its octets.
const PIECE_COST: usize = 64;

/// The datagram is longer than 1 MiB, or in so many pieces that holding them would cost too much: drop it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OversizedDatagram;

/// What is there from the datagram's first octet on without a hole.
#[derive(Debug)]
enum AssembledOctets {
    /// A single packet, kept by reference.
    One(Bytes),
    /// Several, or one that had to be copied.
    Many(BytesMut),
}

impl AssembledOctets {
    fn len(&self) -> usize {
        match self {
            Self::One(bytes) => bytes.len(),
            Self::Many(bytes) => bytes.len(),
        }
    }

    /// A first shared packet stays as it is; everything else is copied once, to where it belongs.
    fn append(&mut self, data: Payload<'_>) {
        let mut all = match std::mem::replace(self, Self::One(Bytes::new())) {
            Self::One(first) if first.is_empty() => {
                *self = match data {
                    Payload::Shared(bytes) => Self::One(bytes),
                    Payload::Copy(octets) => Self::Many(BytesMut::from(octets)),
                };
                return;
            }
            Self::One(first) => {
                let mut all = BytesMut::with_capacity(2 * (first.len() + data.len()));
                all.extend_from_slice(&first);
                all
            }
            Self::Many(all) => all,
        };
        all.extend_from_slice(data.as_slice());
        *self = Self::Many(all);
    }
}

/// One incomplete datagram.
///
/// Packets that arrive in order are copied once at the most; those that arrive early are kept apart and copied
/// again when their turn comes. Octets that were received before are ignored.
#[derive(Debug)]
pub struct Assembly {
    start: u64,
    /// One past the last octet, once known.
    end: Option<u64>,
    body: AssembledOctets,
    /// Packets behind a hole, by their first octet.
    early: BTreeMap<u64, Bytes>,
    early_octets: usize,
}

impl Assembly {
    /// A datagram whose first octet has the position `start` and of which a packet arrived.
    pub fn new(start: u64) -> Self {
        Self {
            start,
            end: None,
            body: AssembledOctets::One(Bytes::new()),
            early: BTreeMap::new(),
            early_octets: 0,
        }
    }

    /// Takes the octets of one packet; `eom_end` is one past its last octet if it was the datagram's last
    /// packet (WCLOSE). O(1) in order, else O(log n) in the packets held.
    ///
    /// # Errors
    ///
    /// [`OversizedDatagram`]: nothing was stored, the datagram is to be dropped.
    pub fn insert(
        &mut self,
        seq: u64,
        data: Payload<'_>,
        eom_end: Option<u64>,
    ) -> Result<(), OversizedDatagram> {
        let end = seq.saturating_add(data.len() as u64);
        let longest = self.start.saturating_add(MAX_OCTETS as u64);
        if end > longest || eom_end.is_some_and(|end| end > longest) {
            return Err(OversizedDatagram);
        }
        self.end = self.end.or(eom_end);
        let next = self.next();
        if end <= next {
            return Ok(());
        }
        if seq > next {
            return self.keep_early(seq, data);
        }
        self.body.append(data.skip((next - seq) as usize));
        self.take_early();
        Ok(())
    }

    /// Whether every octet is there.
    pub fn is_complete(&self) -> bool {
        self.end == Some(self.next())
    }

    /// The octets received without a hole from the start on: the datagram, once [complete](Self::is_complete).
    pub fn into_bytes(self) -> Bytes {
        match self.body {
            AssembledOctets::One(bytes) => bytes,
            AssembledOctets::Many(bytes) => bytes.freeze(),
        }
    }

    /// Memory held, in octets, for the limit over all incomplete datagrams of a peer.
    pub fn held(&self) -> usize {
        self.body.len() + self.early_octets + PIECE_COST * self.early.len()
    }

    fn next(&self) -> u64 {
        self.start + self.body.len() as u64
    }

    /// Of two packets that begin at one octet the longer is kept.
    fn keep_early(&mut self, seq: u64, data: Payload<'_>) -> Result<(), OversizedDatagram> {
        let known = self.early.get(&seq).map(Bytes::len);
        if known.is_some_and(|known| known >= data.len()) {
            return Ok(());
        }
        let held = self.body.len() + self.early_octets - known.unwrap_or(0) + data.len();
        if held > MAX_OCTETS || (known.is_none() && self.early.len() >= MAX_PIECES) {
            return Err(OversizedDatagram);
        }
        self.early_octets = self.early_octets - known.unwrap_or(0) + data.len();
        self.early.insert(seq, data.into_bytes());
        Ok(())
    }

    /// Appends what the last packet joined to the beginning.
    fn take_early(&mut self) {
        while let Some(first) = self.early.first_entry()
            && *first.key() <= self.start + self.body.len() as u64
        {
            let (seq, data) = first.remove_entry();
            self.early_octets -= data.len();
            let known = self.next() - seq;
            if known < data.len() as u64 {
                self.body.append(Payload::Shared(data).skip(known as usize));
            }
        }
    }
}

#[cfg(test)]
#[path = "assembly_tests.rs"]
mod tests;
