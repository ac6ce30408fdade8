//! One thing that happens at one host or in the network, the same in both worlds.

use super::host::Bookkeeping;
use crate::Confirm;

/// What happens, where, and how long after what happened before.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// Nanoseconds; [`NEXT_TIMER`](Self::NEXT_TIMER): when the next timer of the general world is due.
    pub(super) after: u64,
    pub(super) host: usize,
    pub(super) kind: Kind,
}

impl Action {
    pub(super) const NEXT_TIMER: u64 = u64::MAX;
}

/// Which of the datagrams under way to a host.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Oldest,
    Newest,
    Any,
}

/// What happens. `back`: associations the user holds, counted from the newest.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// An association of one message begins.
    Begin {
        kind: usize,
        len: usize,
    },
    /// A lasting association.
    Open {
        kind: usize,
    },
    Turn(Bookkeeping),
    TurnIfPressing(Bookkeeping),
    /// All that is under way arrives, or one datagram, for whoever it concerns.
    Receive {
        all: bool,
        joined: bool,
        shared: bool,
    },
    /// The same for a user who waits for the next message of an association.
    ReceiveMessage {
        back: usize,
        all: bool,
        shared: bool,
    },
    /// One datagram for a user who waits for an association, or for the answer to the newest, or for the end of it.
    ReceiveFirst {
        limit: usize,
        shared: bool,
        when: Bookkeeping,
    },
    ReceiveAnswer {
        limit: usize,
        shared: bool,
        when: Bookkeeping,
    },
    ReceiveEnd {
        goes: bool,
        when: Bookkeeping,
    },
    Accept {
        back: usize,
    },
    Read {
        back: usize,
        max: usize,
    },
    Readable {
        back: usize,
    },
    Respond {
        len: usize,
        unconfirmed: bool,
        when: Bookkeeping,
    },
    SendMessage {
        back: usize,
        len: usize,
        when: Bookkeeping,
    },
    Send {
        back: usize,
        len: usize,
        eom: bool,
    },
    Close {
        back: usize,
    },
    Release {
        back: usize,
    },
    MarkAt {
        back: usize,
        octets: u64,
        what: Confirm,
    },
    FinalStats {
        back: usize,
    },
    /// Another command, by number.
    Odd {
        back: usize,
        what: u8,
        number: u64,
    },
    /// The carrier reports about a peer.
    Unreachable {
        host: usize,
    },
    TooBig {
        host: usize,
        octets: Option<usize>,
    },
    /// The wall clock is set.
    Clock {
        offset: i64,
    },
    /// Loss, duplication, reordering, mutation, by number.
    Network(Place, u8, u64),
    /// These octets of the oldest datagram under way become others; its checksum is mended.
    Patch {
        at: usize,
        octets: Vec<u8>,
    },
    /// The last FIRST comes again, as if its sender had heard nothing.
    RepeatFirst,
    /// Something that was under way comes again, perhaps changed.
    Replay(u64),
    /// Both worlds do what they left undone, and everything there is to ask is compared.
    Audit,
}
