//! The records of the file protocol (docs/protocol/files.md), and how they are written.

use bytes::Bytes;

use super::codec::{Put, Take};
use super::links::Links;
use super::names::{NAME_LIMIT, PATH_LIMIT};
use super::problem::{Code, Problem, TEXT_LIMIT, violation};

/// The version of the protocol both sides must speak.
pub(crate) const VERSION: u16 = 3;
/// Highest version that is taken for one; anything above is damage.
const PLAUSIBLE: u16 = 255;
/// Largest file whose content stands in a record, octets.
pub(crate) const INLINE_LIMIT: u64 = 64 << 10;
/// Largest piece of content behind a record, octets.
pub(crate) const PIECE_LIMIT: u32 = 1 << 20;
/// Largest message of records, octets.
pub(crate) const MESSAGE_LIMIT: usize = 512 << 10;

/// A BLAKE3 hash.
pub(crate) type Hash = [u8; 32];

/// How a copy is to be made.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopyOptions {
    /// Nothing is written; it is only said what would be.
    pub(crate) dry_run: bool,
    /// What the sender does not have is removed from the directories that are copied.
    pub(crate) delete: bool,
    /// Files get their names before they are on the disk.
    pub(crate) unsynced: bool,
    /// Owner, group, and the set-ID and sticky bits are kept as well.
    pub(crate) owner: bool,
    /// Zeros become holes, not only what is one at the source.
    pub(crate) sparse: bool,
    /// What a sender does with links.
    pub(crate) links: Links,
    /// Whether a file is there already, its content tells, not its time.
    pub(crate) checksum: bool,
    /// No file is there already.
    pub(crate) ignore_times: bool,
    /// One of the same size is.
    pub(crate) size_only: bool,
    /// One that is newer here stays.
    pub(crate) update: bool,
    /// One that is here stays.
    pub(crate) ignore_existing: bool,
    /// What a broken copy left is not continued. Known to the receiver only.
    pub(crate) anew: bool,
}

/// What the client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The client sends; below the server's directory, `target` is where to.
    Put {
        target: Vec<u8>,
        /// More than one source.
        several: bool,
        /// The target was written with a slash at its end.
        slash: bool,
        options: CopyOptions,
    },
    /// The server sends; the paths follow as [`Record::Source`].
    Get { options: CopyOptions },
    /// The server says what there is; paths and patterns follow as [`Record::Source`].
    List {
        /// Directories themselves, not what is in them.
        itself: bool,
    },
    /// A transmitter sends to its group; receivers answer beside it ([`Beside`](Self::Beside)), if at all.
    Cast {
        /// One stream of octets without name and size.
        unnamed: bool,
        /// Octets of all files, as far as known.
        total: u64,
    },
    /// A receiver of a group answers the offers of its transmitter.
    Beside,
}

/// A point in time of a file system.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Since 1970.
    pub(crate) seconds: i64,
    /// 0..1 000 000 000.
    pub(crate) nanos: u32,
}

/// What a thing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File {
        /// Octets.
        size: u64,
    },
    Link {
        target: Vec<u8>,
    },
    /// A file whose size is not known before its end.
    Stream,
}

/// Owner and group, by number.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// One file, directory or link that the sender offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Counts up from 0.
    pub(crate) id: u64,
    /// Number of the source argument, from 0.
    pub(crate) source: u32,
    /// Path below the source; empty for the source itself.
    pub(crate) path: Vec<u8>,
    /// Name of the source, for the source itself; empty if its content belongs right into the target.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    /// Of a file with holes: the octets it takes on the sender's disk.
    pub(crate) stored: Option<u64>,
    /// Of its content, where that is compared.
    pub(crate) hash: Option<Hash>,
    /// Permission, set-ID and sticky bits, 0 to 0o7777.
    pub(crate) mode: u32,
    pub(crate) owner: Owner,
    pub(crate) modified: Stamp,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Client: what it wants.
    Hello { version: u16, wish: Wish },
    /// Server: it agrees.
    Welcome { version: u16 },
    /// Client: a path to get.
    Source { path: Vec<u8> },
    /// Client: names to leave out.
    Exclude { pattern: Vec<u8> },
    /// Client: names to copy though a later pattern leaves them out.
    Include { pattern: Vec<u8> },
    /// Client: only such paths below the source, `whole` with what is in them.
    Only { path: Vec<u8>, whole: bool },
    /// Client: all was said.
    Start,
    /// Sender: something to copy.
    Entry(Entry),
    /// Sender: a wanted small file.
    Whole { id: u64, hash: Hash, content: Bytes },
    /// Sender: the content of a wanted file follows from here.
    Begin { id: u64, offset: u64 },
    /// Sender: the next message is this many octets of content.
    Piece { id: u64, len: u32 },
    /// Sender: this many octets are a hole.
    Hole { id: u64, len: u64 },
    /// Sender: the content is complete.
    End { id: u64, hash: Hash },
    /// Sender: the content cannot be had.
    Withdraw { id: u64, problem: Problem },
    /// Sender: something at this path of a source is not offered.
    Note {
        source: u32,
        path: Vec<u8>,
        problem: Problem,
    },
    /// Sender: nothing follows, and everything was answered.
    Finish,
    /// Receiver: send it, from `offset` on if `prefix` is the hash of what comes before.
    Want { id: u64, offset: u64, prefix: Hash },
    /// Receiver: it is there already. Transmitter of a group: all receivers that were asked have it, and it is not sent.
    Skip { id: u64 },
    /// Receiver: it is in place.
    Done { id: u64 },
    /// Receiver: it cannot be put in place.
    Failed { id: u64, problem: Problem },
    /// Receiver of a group: it has so many octets of it, and this is their hash.
    Have { id: u64, offset: u64, prefix: Hash },
    /// Receiver: something the sender does not have was removed.
    Deleted { path: Vec<u8> },
    /// Receiver: everything is in its final state.
    Finished,
    /// Either: this ends the session.
    Fatal { problem: Problem },
}

const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const SOURCE: u8 = 3;
const START: u8 = 4;
const EXCLUDE: u8 = 5;
const INCLUDE: u8 = 6;
const ONLY: u8 = 7;
const ENTRY: u8 = 16;
const WHOLE: u8 = 17;
const BEGIN: u8 = 18;
const PIECE: u8 = 19;
const END: u8 = 20;
const WITHDRAW: u8 = 21;
const NOTE: u8 = 22;
const FINISH: u8 = 23;
const HOLE: u8 = 24;
const WANT: u8 = 32;
const SKIP: u8 = 33;
const DONE: u8 = 34;
const FAILED: u8 = 35;
const FINISHED: u8 = 36;
const DELETED: u8 = 37;
const HAVE: u8 = 38;
const FATAL: u8 = 48;

const WISH_PUT: u8 = 1;
const WISH_GET: u8 = 2;
const WISH_CAST: u8 = 3;
const WISH_LIST: u8 = 4;
const WISH_BESIDE: u8 = 5;
const FLAG_SEVERAL: u16 = 1;
const FLAG_SLASH: u16 = 2;
const FLAG_DRY_RUN: u16 = 4;
const FLAG_DELETE: u16 = 8;
const FLAG_UNSYNCED: u16 = 16;
const FLAG_OWNER: u16 = 32;
const FLAG_SPARSE: u16 = 64;
const LINKS_SHIFT: u32 = 7;
const FLAG_CHECKSUM: u16 = 512;
const FLAG_IGNORE_TIMES: u16 = 1_024;
const FLAG_SIZE_ONLY: u16 = 2_048;
const FLAG_UPDATE: u16 = 4_096;
const FLAG_IGNORE_EXISTING: u16 = 8_192;
const FLAGS: u16 = 16_383;
const FLAG_UNNAMED: u8 = 1;
const FLAG_ITSELF: u8 = 1;

const KIND_DIRECTORY: u8 = 1;
const KIND_FILE: u8 = 2;
const KIND_LINK: u8 = 3;
const KIND_STREAM: u8 = 4;
const KIND_FILE_WITH_HOLES: u8 = 5;
/// Beside that of a file: the hash of its content follows.
const WITH_HASH: u8 = 0x80;

impl Record {
    /// Appends the record to a message.
    pub(crate) fn encode(&self, message: &mut Vec<u8>) {
        let put = Put(message);
        match self {
            Self::Hello { version, wish } => encode_hello(put, *version, wish),
            Self::Welcome { version } => drop(put.u8(WELCOME).u16(*version)),
            Self::Source { path } => drop(put.u8(SOURCE).short(path)),
            Self::Exclude { pattern } => drop(put.u8(EXCLUDE).short(pattern)),
            Self::Include { pattern } => drop(put.u8(INCLUDE).short(pattern)),
            Self::Only { path, whole } => drop(put.u8(ONLY).u8(u8::from(*whole)).short(path)),
            Self::Start => drop(put.u8(START)),
            Self::Entry(entry) => entry.encode(put),
            Self::Whole { id, hash, content } => {
                let len = u32::try_from(content.len()).unwrap_or(u32::MAX);
                put.u8(WHOLE).u64(*id).raw(hash).u32(len).raw(content);
            }
            Self::Begin { id, offset } => drop(put.u8(BEGIN).u64(*id).u64(*offset)),
            Self::Piece { id, len } => drop(put.u8(PIECE).u64(*id).u32(*len)),
            Self::Hole { id, len } => drop(put.u8(HOLE).u64(*id).u64(*len)),
            Self::End { id, hash } => drop(put.u8(END).u64(*id).raw(hash)),
            Self::Withdraw { id, problem } => encode_problem(put.u8(WITHDRAW).u64(*id), problem),
            Self::Note {
                source,
                path,
                problem,
            } => encode_problem(put.u8(NOTE).u32(*source).short(path), problem),
            Self::Finish => drop(put.u8(FINISH)),
            Self::Want { id, offset, prefix } => drop(put.u8(WANT).u64(*id).u64(*offset).raw(prefix)),
            Self::Have { id, offset, prefix } => drop(put.u8(HAVE).u64(*id).u64(*offset).raw(prefix)),
            Self::Skip { id } => drop(put.u8(SKIP).u64(*id)),
            Self::Done { id } => drop(put.u8(DONE).u64(*id)),
            Self::Failed { id, problem } => encode_problem(put.u8(FAILED).u64(*id), problem),
            Self::Deleted { path } => drop(put.u8(DELETED).short(path)),
            Self::Finished => drop(put.u8(FINISHED)),
            Self::Fatal { problem } => encode_problem(put.u8(FATAL), problem),
        }
    }

    /// Takes the next record from the front of a message.
    ///
    /// # Errors
    /// [`Code::Protocol`] for anything that is no record; [`Code::Version`] for a greeting of another version.
    pub(crate) fn decode(message: &mut Bytes) -> Result<Self, Problem> {
        let mut take = Take(message);
        Ok(match take.u8()? {
            HELLO => decode_hello(&mut take)?,
            WELCOME => Self::Welcome { version: take.u16()? },
            SOURCE => Self::Source {
                path: take.short(PATH_LIMIT)?.to_vec(),
            },
            EXCLUDE => Self::Exclude {
                pattern: take.short(PATH_LIMIT)?.to_vec(),
            },
            INCLUDE => Self::Include {
                pattern: take.short(PATH_LIMIT)?.to_vec(),
            },
            ONLY => Self::Only {
                whole: take.u8()? != 0,
                path: take.short(PATH_LIMIT)?.to_vec(),
            },
            START => Self::Start,
            ENTRY => Self::Entry(Entry::decode(&mut take)?),
            WHOLE => decode_whole(&mut take)?,
            BEGIN => Self::Begin {
                id: take.u64()?,
                offset: take.u64()?,
            },
            PIECE => decode_piece(&mut take)?,
            HOLE => Self::Hole {
                id: take.u64()?,
                len: take.u64()?,
            },
            END => Self::End {
                id: take.u64()?,
                hash: take.array()?,
            },
            WITHDRAW => Self::Withdraw {
                id: take.u64()?,
                problem: decode_problem(&mut take)?,
            },
            NOTE => Self::Note {
                source: take.u32()?,
                path: take.short(PATH_LIMIT)?.to_vec(),
                problem: decode_problem(&mut take)?,
            },
            FINISH => Self::Finish,
            WANT => Self::Want {
                id: take.u64()?,
                offset: take.u64()?,
                prefix: take.array()?,
            },
            HAVE => Self::Have {
                id: take.u64()?,
                offset: take.u64()?,
                prefix: take.array()?,
            },
            SKIP => Self::Skip { id: take.u64()? },
            DONE => Self::Done { id: take.u64()? },
            FAILED => Self::Failed {
                id: take.u64()?,
                problem: decode_problem(&mut take)?,
            },
            DELETED => Self::Deleted {
                path: take.short(PATH_LIMIT)?.to_vec(),
            },
            FINISHED => Self::Finished,
            FATAL => Self::Fatal {
                problem: decode_problem(&mut take)?,
            },
            other => {
                return Err(violation(format_args!(
                    "sent a record of the unknown type {other}"
                )));
            }
        })
    }
}

fn encode_hello(put: Put<'_>, version: u16, wish: &Wish) {
    let put = put.u8(HELLO).u16(version);
    match wish {
        Wish::Put {
            target,
            several,
            slash,
            options,
        } => {
            let how = u16::from(*several) * FLAG_SEVERAL + u16::from(*slash) * FLAG_SLASH;
            put.u8(WISH_PUT).u16(how | options.flags()).short(target);
        }
        Wish::Get { options } => drop(put.u8(WISH_GET).u16(options.flags())),
        Wish::List { itself } => drop(put.u8(WISH_LIST).u8(u8::from(*itself) * FLAG_ITSELF)),
        Wish::Cast { unnamed, total } => {
            put.u8(WISH_CAST)
                .u8(u8::from(*unnamed) * FLAG_UNNAMED)
                .u64(*total);
        }
        Wish::Beside => drop(put.u8(WISH_BESIDE).u8(0)),
    }
}

fn decode_hello(take: &mut Take<'_>) -> Result<Record, Problem> {
    let version = take.u16()?;
    if version > PLAUSIBLE {
        return Err(violation(format_args!("greeted with the version {version}")));
    }
    if version != VERSION {
        return Err(Problem::new(
            Code::Version,
            format!(
                "version {version} of the file protocol is not spoken here, only {VERSION}; update the older side"
            ),
        ));
    }
    let wish = match take.u8()? {
        WISH_PUT => {
            let flags = take.u16()?;
            Wish::Put {
                target: take.short(PATH_LIMIT)?.to_vec(),
                several: flags & FLAG_SEVERAL != 0,
                slash: flags & FLAG_SLASH != 0,
                options: CopyOptions::from_flags(flags)?,
            }
        }
        WISH_GET => Wish::Get {
            options: CopyOptions::from_flags(take.u16()?)?,
        },
        WISH_LIST => Wish::List {
            itself: take.u8()? & FLAG_ITSELF != 0,
        },
        WISH_CAST => Wish::Cast {
            unnamed: take.u8()? & FLAG_UNNAMED != 0,
            total: take.u64()?,
        },
        WISH_BESIDE => match take.u8()? {
            0 => Wish::Beside,
            flags => {
                return Err(violation(format_args!(
                    "asked for the unknown options {flags:#x}"
                )));
            }
        },
        other => return Err(violation(format_args!("asked for the unknown operation {other}"))),
    };
    Ok(Record::Hello { version, wish })
}

fn decode_whole(take: &mut Take<'_>) -> Result<Record, Problem> {
    let id = take.u64()?;
    let hash = take.array()?;
    let len = take.u32()?;
    if u64::from(len) > INLINE_LIMIT {
        return Err(violation(format_args!(
            "put {len} octets of content into a record"
        )));
    }
    let content = take.raw(len as usize)?;
    Ok(Record::Whole { id, hash, content })
}

fn decode_piece(take: &mut Take<'_>) -> Result<Record, Problem> {
    let id = take.u64()?;
    let len = take.u32()?;
    if len == 0 || len > PIECE_LIMIT {
        return Err(violation(format_args!("announced a piece of {len} octets")));
    }
    Ok(Record::Piece { id, len })
}

fn encode_problem(put: Put<'_>, problem: &Problem) {
    put.u16(problem.code as u16)
        .short(problem.short_text().as_bytes());
}

fn decode_problem(take: &mut Take<'_>) -> Result<Problem, Problem> {
    let code = Code::from_number(take.u16()?);
    let text = take.short(TEXT_LIMIT)?;
    Ok(Problem {
        code,
        // Terminals act upon control characters, and a stranger wrote this.
        text: super::names::cleaned(&text),
        there: false,
    })
}

impl CopyOptions {
    fn flags(self) -> u16 {
        u16::from(self.dry_run) * FLAG_DRY_RUN
            + u16::from(self.delete) * FLAG_DELETE
            + u16::from(self.unsynced) * FLAG_UNSYNCED
            + u16::from(self.owner) * FLAG_OWNER
            + u16::from(self.sparse) * FLAG_SPARSE
            + (self.links.number() << LINKS_SHIFT)
            + u16::from(self.checksum) * FLAG_CHECKSUM
            + u16::from(self.ignore_times) * FLAG_IGNORE_TIMES
            + u16::from(self.size_only) * FLAG_SIZE_ONLY
            + u16::from(self.update) * FLAG_UPDATE
            + u16::from(self.ignore_existing) * FLAG_IGNORE_EXISTING
    }

    /// An unknown flag may ask for anything: the request is refused, not carried out in part.
    fn from_flags(flags: u16) -> Result<Self, Problem> {
        if flags & !FLAGS != 0 {
            return Err(violation(format_args!(
                "asked for the unknown options {flags:#x}"
            )));
        }
        Ok(Self {
            dry_run: flags & FLAG_DRY_RUN != 0,
            delete: flags & FLAG_DELETE != 0,
            unsynced: flags & FLAG_UNSYNCED != 0,
            owner: flags & FLAG_OWNER != 0,
            sparse: flags & FLAG_SPARSE != 0,
            links: Links::of(flags >> LINKS_SHIFT),
            checksum: flags & FLAG_CHECKSUM != 0,
            ignore_times: flags & FLAG_IGNORE_TIMES != 0,
            size_only: flags & FLAG_SIZE_ONLY != 0,
            update: flags & FLAG_UPDATE != 0,
            ignore_existing: flags & FLAG_IGNORE_EXISTING != 0,
            anew: false,
        })
    }
}

impl Entry {
    fn encode(&self, put: Put<'_>) {
        let put = put.u8(ENTRY).u64(self.id).u32(self.source);
        let put = put.short(&self.path).short(&self.name);
        let put = put
            .u32(self.mode)
            .u32(self.owner.user)
            .u32(self.owner.group)
            .i64(self.modified.seconds)
            .u32(self.modified.nanos);
        match (&self.kind, self.stored) {
            (Kind::Directory, _) => drop(put.u8(KIND_DIRECTORY)),
            (Kind::File { size }, stored) => {
                let with_hash = u8::from(self.hash.is_some()) * WITH_HASH;
                let put = match stored {
                    None => put.u8(KIND_FILE | with_hash).u64(*size),
                    Some(stored) => put.u8(KIND_FILE_WITH_HOLES | with_hash).u64(*size).u64(stored),
                };
                if let Some(hash) = &self.hash {
                    put.raw(hash);
                }
            }
            (Kind::Link { target }, _) => drop(put.u8(KIND_LINK).short(target)),
            (Kind::Stream, _) => drop(put.u8(KIND_STREAM)),
        }
    }

    fn decode(take: &mut Take<'_>) -> Result<Self, Problem> {
        let id = take.u64()?;
        let source = take.u32()?;
        let path = take.short(PATH_LIMIT)?.to_vec();
        let name = take.short(NAME_LIMIT)?.to_vec();
        let mode = take.u32()?;
        let owner = Owner {
            user: take.u32()?,
            group: take.u32()?,
        };
        let modified = Stamp {
            seconds: take.i64()?,
            nanos: take.u32()?,
        };
        let (mut stored, mut hash) = (None, None);
        let number = take.u8()?;
        let kind = match number & !WITH_HASH {
            KIND_DIRECTORY => Kind::Directory,
            KIND_FILE => Kind::File { size: take.u64()? },
            KIND_LINK => Kind::Link {
                target: take.short(PATH_LIMIT)?.to_vec(),
            },
            KIND_STREAM => Kind::Stream,
            KIND_FILE_WITH_HOLES => {
                let size = take.u64()?;
                stored = Some(take.u64()?);
                Kind::File { size }
            }
            other => {
                return Err(violation(format_args!(
                    "offered something of the unknown kind {other}"
                )));
            }
        };
        if number & WITH_HASH != 0 {
            match kind {
                Kind::File { .. } => hash = Some(take.array()?),
                _ => return Err(violation("sent the hash of what is no file")),
            }
        }
        if mode > 0o7777 || modified.nanos >= 1_000_000_000 || i64::try_from(kind.size()).is_err() {
            return Err(violation("sent a mode, time or size that no file can have"));
        }
        Ok(Self {
            id,
            source,
            path,
            name,
            kind,
            stored,
            hash,
            mode,
            owner,
            modified,
        })
    }
}

impl Kind {
    /// Octets of content, as far as they are known before.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File { size } => *size,
            Self::Directory | Self::Link { .. } | Self::Stream => 0,
        }
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
