//! How much waits for the next turn, for those who hold it back.

use xtp_io::MAX_DATAGRAM;

/// User octets that wait for a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered {
    octets: u64,
    /// Those of the last call.
    last: u64,
}

impl Gathered {
    pub(super) fn add(&mut self, octets: u64) {
        self.octets += octets;
        self.last = octets;
    }

    /// Whether a system call could not carry another as long as the last one besides.
    pub(crate) fn is_full(self) -> bool {
        self.octets + self.last > MAX_DATAGRAM as u64
    }
}
