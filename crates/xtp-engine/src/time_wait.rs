//! The numbers an association ended with: what its end says to whatever comes late (§6.8), made from what was sent last.

use xtp_core::transmit::TransmitBatch;
use xtp_wire::{
    CONTROL_LEN, Control, Format, Header, Key, Options, PacketWriter, Protection, serial_gt, size,
};

/// Octets of the packet that says them.
pub(crate) const FINAL_OCTETS: usize = size::packet(CONTROL_LEN);

/// Numbers of an end that is over. Where its streams began and with which sync is not remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeWait {
    /// Key of what it sends.
    pub(crate) key: Key,
    /// Its own key; 0 if it was never disclosed.
    pub(crate) own: u64,
    /// END, and RCLOSE and WCLOSE as far as they are true; with them the modes of an initiator.
    pub(crate) options: Options,
    pub(crate) sort: u16,
    /// One past the last octet received without a gap.
    pub(crate) rseq: u64,
    /// Final alloc; not below `rseq`.
    pub(crate) alloc: u64,
    /// One past the last octet sent.
    pub(crate) seq: u64,
    /// Greatest sync accepted from the peer.
    pub(crate) echo: Option<u32>,
    /// Sync of the last packet sent.
    pub(crate) sync: u32,
}

impl TimeWait {
    /// A packet with this sync came late and is answered.
    pub(crate) fn answer(&mut self, sync: u32) {
        if self.echo.is_none_or(|newest| serial_gt(sync, newest)) {
            self.echo = Some(sync);
        }
        self.sync = self.sync.wrapping_add(1);
    }

    /// The packet that says the numbers, at the end of the arena; where it begins.
    #[inline]
    pub(crate) fn write(&self, protection: Protection, out: &mut TransmitBatch) -> usize {
        let header = Header {
            key: self.key,
            options: self.options,
            format: Format::Cntl,
            dlen: 0,
            check: 0,
            sort: self.sort,
            sync: self.sync,
            seq: self.seq,
        };
        let control = Control {
            rseq: self.rseq,
            alloc: self.alloc,
            echo: self.echo.unwrap_or(0),
        };
        let said = |packet: &mut PacketWriter<'_>| packet.segment(|rest| control.encode(rest));
        out.write_exactly::<FINAL_OCTETS, _>(header, protection, said, [])
    }

    /// Of a responder, somehow.
    #[cfg(test)]
    pub(crate) fn sample(key: u64, own: u64) -> Self {
        Self {
            key: Key::returned(key),
            own,
            options: Options::END | Options::RCLOSE | Options::WCLOSE,
            sort: 0,
            rseq: 300,
            alloc: 1_000,
            seq: 1_187,
            echo: Some(9),
            sync: u32::MAX,
        }
    }
}

#[cfg(test)]
#[path = "time_wait_tests.rs"]
mod tests;
