//! What stands in the streams of a mesh: a preface, then records of 32 octets, some with a payload (`docs/protocol/12-mesh.md`).
//!
//! Integers have network byte order. What can be wrong with a record by itself is refused here; what is wrong at its place, by the peer's
//! state.

/// Octets of a preface.
pub const PREFACE: usize = 32;
/// Octets of a record's header.
pub const HEADER: usize = 32;
/// Longest message that is sent without being asked for, octets.
pub const EAGER_LIMIT: u64 = 16 << 10;
/// Longest message, octets.
pub const LONGEST: u64 = 1 << 40;
/// Most octets of one piece of a pulled message.
pub const CHUNK_LIMIT: u64 = 256 << 10;
/// Octets of eager messages that may be under way, or lie unreceived, before the first credit.
pub const FIRST_OCTETS: u64 = 64 << 10;
/// Messages that may be under way, or wait without a receive, before the first credit.
pub const FIRST_MESSAGES: u64 = 1_024;

const MAGIC: [u8; 4] = *b"XTPM";
const VERSION: u8 = 1;

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Messages and what is said about them: always read at once.
    Express,
    /// Octets of messages that were pulled.
    Bulk,
}

impl Lane {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Express, Self::Bulk];
}

/// The beginning of a stream, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preface {
    /// What the association carries.
    pub lane: Lane,
    /// Names all that its sender has said to this peer, and will say until it begins anew; never 0.
    pub session: u64,
    /// The other end's session as its sender knows it, 0 if it does not.
    pub believed: u64,
    /// Serial of the record that its sender expects next on this lane: it has all before.
    pub next: u64,
}

impl Preface {
    /// As octets.
    pub fn encode(&self) -> [u8; PREFACE] {
        let mut octets = [0; PREFACE];
        octets[..4].copy_from_slice(&MAGIC);
        octets[4] = VERSION;
        octets[5] = match self.lane {
            Lane::Express => 0,
            Lane::Bulk => 1,
        };
        for (word, at) in [self.session, self.believed, self.next]
            .into_iter()
            .zip([8, 16, 24])
        {
            octets[at..at + 8].copy_from_slice(&word.to_be_bytes());
        }
        octets
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// [`Fault::Preface`].
    pub fn decode(octets: &[u8; PREFACE]) -> Result<Self, Fault> {
        let lane = match octets[5] {
            0 => Lane::Express,
            1 => Lane::Bulk,
            _ => return Err(Fault::Preface),
        };
        let preface = Self {
            lane,
            session: word(octets, 8),
            believed: word(octets, 16),
            next: word(octets, 24),
        };
        let known = octets[..4] == MAGIC && octets[4] == VERSION && octets[6..8] == [0, 0];
        match known && preface.session != 0 {
            true => Ok(preface),
            false => Err(Fault::Preface),
        }
    }
}

/// One record. All but [`Start`](Self::Start) and [`Join`](Self::Join) are counted: each has a serial, one more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The serial of the record that follows. First in every stream that carries records.
    Start {
        /// That serial.
        serial: u64,
    },
    /// The association belongs to the writer's session, although its preface believed in none: what the reader writes on it is read.
    Join,
    /// A message, whose octets follow.
    Eager {
        /// Octets.
        length: u64,
        /// The tag, to be matched.
        tag: u64,
        /// A word beside it, not looked at.
        word: u64,
    },
    /// A message that may be pulled by the serial of this record.
    Announce {
        /// Octets.
        length: u64,
        /// The tag, to be matched.
        tag: u64,
        /// A word beside it, not looked at.
        word: u64,
    },
    /// The beginning of an announced message is wanted, and the rest is not.
    Pull {
        /// Serial of the announcement.
        id: u64,
        /// Octets wanted, at most the message's; 0: none of it.
        octets: u64,
    },
    /// What the other end may send in all, counted since its session began.
    Credit {
        /// Octets of eager messages.
        octets: u64,
        /// Messages, eager or announced.
        messages: u64,
    },
    /// A piece of a pulled message, whose octets follow.
    Chunk {
        /// Serial of the announcement.
        id: u64,
        /// Where it begins in the message.
        offset: u64,
        /// Octets.
        length: u64,
    },
}

impl Record {
    /// As octets, without payload.
    pub fn encode(&self) -> [u8; HEADER] {
        let (kind, words) = match *self {
            Self::Start { serial } => (1, [serial, 0, 0]),
            Self::Eager { length, tag, word } => (2, [length, tag, word]),
            Self::Announce { length, tag, word } => (3, [length, tag, word]),
            Self::Pull { id, octets } => (4, [id, octets, 0]),
            Self::Credit { octets, messages } => (5, [octets, messages, 0]),
            Self::Chunk { id, offset, length } => (6, [id, offset, length]),
            Self::Join => (7, [0; 3]),
        };
        let mut octets = [0; HEADER];
        octets[0] = kind;
        for (word, at) in words.into_iter().zip([8, 16, 24]) {
            octets[at..at + 8].copy_from_slice(&word.to_be_bytes());
        }
        octets
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn decode(octets: &[u8; HEADER]) -> Result<Self, Fault> {
        let [a, b, c] = [word(octets, 8), word(octets, 16), word(octets, 24)];
        let (record, unused) = match octets[0] {
            1 => (Self::Start { serial: a }, b | c),
            2 => (
                Self::Eager {
                    length: a,
                    tag: b,
                    word: c,
                },
                0,
            ),
            3 => (
                Self::Announce {
                    length: a,
                    tag: b,
                    word: c,
                },
                0,
            ),
            4 => (Self::Pull { id: a, octets: b }, c),
            5 => (
                Self::Credit {
                    octets: a,
                    messages: b,
                },
                c,
            ),
            6 => (
                Self::Chunk {
                    id: a,
                    offset: b,
                    length: c,
                },
                0,
            ),
            7 => (Self::Join, a | b | c),
            _ => return Err(Fault::Kind),
        };
        if octets[1..8] != [0; 7] || unused != 0 {
            return Err(Fault::Reserved);
        }
        match record {
            Self::Eager { length, .. } if length > EAGER_LIMIT => Err(Fault::Length),
            Self::Announce { length, .. } if length > LONGEST => Err(Fault::Length),
            Self::Chunk { length, .. } if length == 0 || length > CHUNK_LIMIT => Err(Fault::Length),
            _ => Ok(record),
        }
    }

    /// Octets that follow the header.
    pub fn payload(&self) -> u64 {
        match *self {
            Self::Eager { length, .. } | Self::Chunk { length, .. } => length,
            Self::Start { .. }
            | Self::Join
            | Self::Announce { .. }
            | Self::Pull { .. }
            | Self::Credit { .. } => 0,
        }
    }

    /// Where it may stand.
    pub fn is_of(&self, lane: Lane) -> bool {
        match self {
            Self::Start { .. } | Self::Join => true,
            Self::Chunk { .. } => lane == Lane::Bulk,
            Self::Eager { .. } | Self::Announce { .. } | Self::Pull { .. } | Self::Credit { .. } => {
                lane == Lane::Express
            }
        }
    }
}

/// What a peer must not say. It costs the peer its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The stream does not begin as one of a mesh of this version.
    #[error("the stream does not begin as a mesh's of version 1")]
    Preface,
    /// There is no such record.
    #[error("a record of an unknown kind")]
    Kind,
    /// Octets that must be 0 are not.
    #[error("reserved octets of a record are not 0")]
    Reserved,
    /// A length beyond its limit.
    #[error("a length beyond its limit")]
    Length,
    /// A record that does not belong on this lane, or stands before the stream's start.
    #[error("a record at a place where none like it may be")]
    Place,
    /// Records are missing.
    #[error("records of the session are missing")]
    Missing,
    /// More messages or octets than were granted.
    #[error("more was sent than was granted")]
    Credit,
    /// A credit smaller than one before.
    #[error("a credit was taken back")]
    Revoked,
    /// A pull of what was not offered, or of more than was.
    #[error("a message was pulled that is not offered")]
    Pull,
    /// A piece of a message that was not pulled, or one that does not follow on the one before.
    #[error("a piece came that was not asked for")]
    Chunk,
}

fn word(octets: &[u8; 32], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&octets[at..at + 8]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
