//! What a sleep of a leader came to.

/// How a leader slept last.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Slept {
    /// Not yet.
    #[default]
    No,
    /// Until the socket was readable, or something else happened: it has to be looked at.
    Readable,
    /// In the receive call, which brought so many datagrams.
    Came(usize),
}

impl Slept {
    /// What a sleep in the receive call brought, once: if that was nothing (the time was over, a signal, a report of the
    /// network), whatever the wait does next begins with a look at the socket. A wait that polls again without looking would
    /// let timers expire although their answers are there.
    pub(super) fn take_brought(&mut self) -> Option<usize> {
        match *self {
            Self::Came(count) => {
                *self = Self::Readable;
                Some(count)
            }
            Self::No | Self::Readable => None,
        }
    }
}
