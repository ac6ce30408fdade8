//! Why a command of a group was not carried out.

/// Why a command of a group was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The identifier names no transmitter or receiver, or the other kind of party.
    #[error("no such group: it was released, or it is the other kind of party")]
    NoGroup,
    /// The transmitter's user closed the stream, or it is over.
    #[error("the writer is closed: nothing can follow")]
    WriterClosed,
    /// There are as many parties as there may be.
    #[error("limit reached: {0}")]
    Limit(&'static str),
    /// A message that does not fit one packet.
    #[error("a datagram of {len} octets is longer than {max}")]
    TooLong {
        /// Octets offered.
        len: usize,
        /// Octets allowed.
        max: usize,
    },
    /// An option has a value outside its range.
    #[error("invalid option: {0}")]
    InvalidOption(&'static str),
}
