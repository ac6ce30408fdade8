//! Datagrams of one flow as they arrive: what is missing, what came twice or late, and how unevenly.

use super::terms::{FlowTerms, HEADING};

/// Sequence numbers behind the highest whose arrival is remembered.
const WINDOW: u64 = 1 << 16;
const WORDS: usize = (WINDOW / 64) as usize;

/// The heading of a datagram: the flow, its number in it, and the sender's clock.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct DatagramHeading {
    pub(super) flow: u32,
    pub(super) sequence: u64,
    /// Since the sender began.
    pub(super) sent_ns: u64,
}

impl DatagramHeading {
    /// Writes it to the beginning of `datagram`, which has room for it.
    pub(super) fn write(&self, terms: &FlowTerms, datagram: &mut [u8]) {
        datagram[..12].copy_from_slice(&terms.name(self.flow));
        datagram[12..20].copy_from_slice(&self.sequence.to_be_bytes());
        datagram[20..HEADING].copy_from_slice(&self.sent_ns.to_be_bytes());
    }

    /// Reads it; `None` for what is no datagram of these terms.
    pub(super) fn read(terms: &FlowTerms, datagram: &[u8]) -> Option<Self> {
        let name: &[u8; 12] = datagram.first_chunk()?;
        let flow = terms.named(name)?.number;
        let number = |from: usize| -> Option<u64> {
            let octets = datagram.get(from..)?.first_chunk()?;
            Some(u64::from_be_bytes(*octets))
        };
        Some(Self {
            flow,
            sequence: number(12)?,
            sent_ns: number(20)?,
        })
    }
}

/// The account of one flow.
#[derive(Debug)]
pub(super) struct FlowArrivals {
    /// One past the highest sequence number that came.
    next: u64,
    /// Which of the last `WINDOW` came, bit `sequence % WINDOW`.
    seen: Box<[u64; WORDS]>,
    /// Datagrams that came, each once.
    pub(super) received: u64,
    /// That came again, or too late to tell.
    pub(super) duplicates: u64,
    /// That came behind a later one.
    pub(super) out_of_order: u64,
    /// Interarrival jitter of RFC 3550, section 6.4.1, nanoseconds.
    pub(super) jitter_ns: f64,
    /// Arrival less departure of the datagram that came last, on clocks whose distance is unknown but constant.
    transit: Option<i128>,
}

impl Default for FlowArrivals {
    fn default() -> Self {
        Self {
            next: 0,
            seen: Box::new([0; WORDS]),
            received: 0,
            duplicates: 0,
            out_of_order: 0,
            jitter_ns: 0.0,
            transit: None,
        }
    }
}

impl FlowArrivals {
    /// A datagram came at `arrived_ns` of this end's clock; whether it is the first of its number.
    pub(super) fn came(&mut self, heading: &DatagramHeading, arrived_ns: u64) -> bool {
        if !self.is_new(heading.sequence) {
            self.duplicates += 1;
            return false;
        }
        self.received += 1;
        let transit = i128::from(arrived_ns) - i128::from(heading.sent_ns);
        if let Some(before) = self.transit.replace(transit) {
            let difference = (transit - before).unsigned_abs() as f64;
            self.jitter_ns += (difference - self.jitter_ns) / 16.0;
        }
        true
    }

    /// Datagrams that did not come, of `sent`; while that is unknown, of those up to the highest that came.
    pub(super) fn lost(&self, sent: Option<u64>) -> u64 {
        sent.unwrap_or(self.next).max(self.next) - self.received
    }

    fn is_new(&mut self, sequence: u64) -> bool {
        let (word, bit) = place(sequence);
        if sequence >= self.next {
            if sequence - self.next >= WINDOW {
                self.seen.fill(0);
            } else {
                for passed in self.next..sequence {
                    let (word, bit) = place(passed);
                    self.seen[word] &= !bit;
                }
            }
            self.next = sequence.saturating_add(1);
            self.seen[word] |= bit;
            return true;
        }
        if self.next - sequence > WINDOW || self.seen[word] & bit != 0 {
            return false;
        }
        self.seen[word] |= bit;
        self.out_of_order += 1;
        true
    }
}

fn place(sequence: u64) -> (usize, u64) {
    let index = sequence % WINDOW;
    ((index / 64) as usize, 1 << (index % 64))
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
