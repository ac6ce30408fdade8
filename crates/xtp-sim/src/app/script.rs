//! What a user does with its end of an association.

use std::time::Duration;

use xtp_engine::{Confirm, ErrorControl, Rate};

/// One thing the user does, or waits for, before the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Send FIRST without data.
    Connect,
    /// Write octets; the last may end a message. Waits as long as the engine takes no more.
    Send {
        /// How many.
        octets: u32,
        /// They end a message.
        eom: bool,
    },
    /// Bind a tag to the next octet.
    Tag(u64),
    /// Do nothing for this long.
    Wait(Duration),
    /// Do nothing until this long after the world began.
    Until(Duration),
    /// Wait until this many messages of the peer were read to their end.
    AwaitMessages(u32),
    /// Wait until this many positions of the peer's stream were read.
    AwaitOctets(u64),
    /// Wait until the peer's stream was read to its end.
    AwaitEnd,
    /// Wait for the peer's first packet.
    AwaitHeard,
    /// Ask for confirmation of everything written so far.
    Mark(Confirm),
    /// Mark the present position without asking.
    MarkQuietly(Confirm),
    /// Wait until every mark was reached.
    AwaitMarks,
    /// Wait until at most this many marks are not reached.
    AwaitMarksLeft(u32),
    /// Write no more.
    CloseWriter,
    /// Read no more.
    CloseReader,
    /// End at once.
    Abort,
    /// Choose how this reader treats holes.
    ErrorControl(ErrorControl),
    /// Limit the peer's writer.
    InRate(Rate),
    /// Limit this writer.
    OutRate(Rate),
    /// Priority of this writer.
    Sort(Option<u16>),
    /// Post receive buffers.
    Post(u64),
    /// Answer with END (L6).
    UnconfirmedResponse,
    /// Change how this user reads.
    Read(Pace),
    /// Forget the association although it lives.
    Release,
    /// Answer a request and write no more.
    Respond {
        /// How many octets.
        octets: u32,
        /// The answer is the end.
        unconfirmed: bool,
    },
    /// Do nothing before what was written has had its turn.
    NextTurn,
    /// Go although the association lives, as whoever drops its handle: what was written is confirmed without its user.
    LetGo,
}

/// How fast a user takes what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At once.
    Fast,
    /// So many octets a period.
    Slow {
        /// At most this many a turn.
        octets: u32,
        /// Time between turns.
        every: Duration,
    },
    /// Everything, but only now and then.
    Bursty {
        /// Time between turns.
        every: Duration,
    },
    /// Nothing until this long after the world began, then at once.
    StoppedUntil(Duration),
    /// Nothing, ever.
    Never,
}

/// How a user reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// How fast.
    pub pace: Pace,
    /// Post this many octets of buffers at first, and each octet again once it was read (RES).
    pub post: Option<u64>,
    /// Largest piece asked for at once, octets.
    pub piece: usize,
    /// Read only while a message is awaited.
    pub on_demand: bool,
    /// Where a long stretch of plain octets waits, take it in one call.
    pub stretch: Option<Stretch>,
    /// Post receives for the peer's messages instead of reading its stream (`Tuning::matched`).
    pub matched: bool,
}

impl Reader {
    /// Whether it makes room now and then, and not as soon as octets come.
    pub const fn grants_late(&self) -> bool {
        !matches!(self.pace, Pace::Fast)
    }
}

/// How a user takes a stretch of octets that a train of packets brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// Looks at its parts where they lie.
    Parts,
    /// Keeps each of them.
    Pieces,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            pace: Pace::Fast,
            post: None,
            piece: 1 << 16,
            on_demand: false,
            stretch: None,
            matched: false,
        }
    }
}

/// A user's program: steps in order, reading beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What it does.
    pub steps: Vec<Step>,
    /// How it reads.
    pub reader: Reader,
    /// It writes from memory in frames of so many octets.
    pub frames: Option<usize>,
}

impl Script {
    /// A user who reads at once and takes these steps.
    pub fn new(steps: Vec<Step>) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    /// Octets of the message this user begins with, if that is all it writes.
    pub(crate) fn message(&self) -> Option<usize> {
        match (&self.steps[..], self.frames) {
            ([Step::Send { octets, eom: true }, Step::CloseWriter, ..], None) => Some(*octets as usize),
            _ => None,
        }
    }

    /// Whether it writes octets and nothing else: no message, and no tag.
    pub(crate) fn writes_plain_octets(&self) -> bool {
        let plain = |step: &Step| {
            !matches!(
                step,
                Step::Send { eom: true, .. } | Step::Respond { .. } | Step::Tag(_)
            )
        };
        self.steps.iter().all(plain)
    }

    /// The same, reading only what it waits for.
    #[must_use]
    pub fn on_demand(mut self) -> Self {
        self.reader.on_demand = true;
        self
    }

    /// The same with another pace of reading.
    #[must_use]
    pub fn paced(mut self, pace: Pace) -> Self {
        self.reader.pace = pace;
        self
    }
}
