//! Records over a stream association: several to a message, and pieces of content as messages of their own.

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use xtp::{Cast, Chunk, Stream, Subscription};

use super::cast::{Past, ReturnPath};
use super::problem::{Fault, Problem, violation};
use super::record::{Hash, Record};

/// Records are collected up to here before they leave.
const COLLECT: usize = 128 << 10;
/// Chunks of content from this size on are passed on as they are; smaller ones are put together.
const LARGE: usize = 32 << 10;
/// Size of what is put together.
const TOGETHER: usize = 256 << 10;

/// Where records go.
#[derive(Copy, Clone)]
pub(crate) enum Sink<'a> {
    /// To the other end of an association.
    Stream(&'a Stream),
    /// To all receivers of a group; what was sent is noted for late joiners.
    Cast(&'a Cast, Option<&'a Past>),
    /// Beside a group, to its transmitter if that one listens.
    Back(&'a ReturnPath),
}

impl<'a> Sink<'a> {
    fn message(self, message: impl Into<Bytes>) -> Result<(), Fault> {
        match self {
            Self::Stream(stream) => Ok(stream.send_message(message)?),
            Self::Cast(cast, _) => Ok(cast.send_message(message)?),
            Self::Back(path) => {
                path.send(message);
                Ok(())
            }
        }
    }

    pub(crate) fn past(&self) -> Option<&'a Past> {
        match self {
            Self::Cast(_, past) => *past,
            _ => None,
        }
    }
}

/// Where records come from.
#[derive(Copy, Clone)]
pub(crate) enum Origin<'a> {
    /// The other end of an association.
    Stream(&'a Stream),
    /// The transmitter of a group.
    Group(&'a Subscription),
}

impl Origin<'_> {
    fn message(self) -> xtp::Result<Option<Bytes>> {
        match self {
            Self::Stream(stream) => stream.recv_message(),
            Self::Group(group) => group.recv_message(),
        }
    }

    fn chunk(self, max: usize) -> xtp::Result<Option<Chunk>> {
        match self {
            Self::Stream(stream) => stream.recv_chunk(),
            Self::Group(group) => group.recv_chunk_within(max),
        }
    }

    /// Octets that wait for others before the disk gets them, where nothing else has arrived. Packets of a group come a few
    /// at a time, and each waking of the disk's thread costs its host's other receivers the processor.
    fn kept_back(&self) -> usize {
        match self {
            Self::Stream(_) => 0,
            Self::Group(_) => TOGETHER / 4,
        }
    }

    fn try_chunk(self, max: usize) -> xtp::Result<Option<Chunk>> {
        match self {
            Self::Stream(stream) => stream.try_recv_chunk(max),
            Self::Group(group) => group.try_recv_chunk(max),
        }
    }
}

/// The writing half.
pub(crate) struct Outbox<'a> {
    sink: Sink<'a>,
    message: Vec<u8>,
    sent: u64,
}

impl<'a> Outbox<'a> {
    pub(crate) fn new(stream: &'a Stream) -> Self {
        Self::to(Sink::Stream(stream))
    }

    pub(crate) fn to(sink: Sink<'a>) -> Self {
        Self {
            sink,
            message: Vec::new(),
            sent: 0,
        }
    }

    /// Messages of records that have left.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// The way to the transmitter, of a receiver of a group.
    pub(crate) fn return_path(&self) -> Option<&'a ReturnPath> {
        match self.sink {
            Sink::Back(path) => Some(path),
            _ => None,
        }
    }

    /// Adds a record to the message; sends it when it is long.
    ///
    /// # Errors
    /// If the association is over.
    pub(crate) fn push(&mut self, record: &Record) -> Result<(), Fault> {
        record.encode(&mut self.message);
        if let Some(past) = self.sink.past() {
            let content = match record {
                Record::Whole { content, .. } => content.len(),
                _ => 0,
            };
            past.collected(self.message.len(), content);
        }
        if self.message.len() >= COLLECT {
            self.flush()?;
        }
        Ok(())
    }

    /// Sends what was collected.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        if self.message.is_empty() {
            return Ok(());
        }
        let message = std::mem::take(&mut self.message);
        self.sent += 1;
        if let Some(past) = self.sink.past() {
            past.sends(&message);
        }
        self.sink.message(message)
    }

    /// Sends a piece of content of file `id`, without copying it.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn piece(&mut self, id: u64, content: Bytes) -> Result<(), Fault> {
        let len = u32::try_from(content.len()).map_err(|_| violation("made a piece too long"))?;
        Record::Piece { id, len }.encode(&mut self.message);
        self.flush()?;
        if let Some(past) = self.sink.past() {
            past.sends_content(&content);
        }
        self.sink.message(content)
    }

    /// Tells the other side why the session ends, if it still listens.
    pub(crate) fn fatal(&mut self, problem: &Problem) {
        let record = Record::Fatal {
            problem: problem.clone(),
        };
        let told = self.push(&record).and_then(|()| self.flush());
        if let Err(fault) = told {
            tracing::debug!(?fault, "the other side could not be told");
        }
    }
}

/// The reading half.
pub(crate) struct Inbox<'a> {
    origin: Origin<'a>,
    message: Bytes,
    digest: Digest,
    /// When the first octet arrived; of a group only.
    began: Option<Instant>,
}

impl<'a> Inbox<'a> {
    pub(crate) fn new(stream: &'a Stream) -> Self {
        Self::of(Origin::Stream(stream))
    }

    pub(crate) fn of(origin: Origin<'a>) -> Self {
        Self {
            origin,
            message: Bytes::new(),
            digest: Digest::default(),
            began: None,
        }
    }

    /// Waits for the next record; `None` at the end of the stream.
    ///
    /// # Errors
    /// If the association is over or the record is none.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, Fault> {
        if self.message.is_empty() {
            let message = match (self.origin, self.began) {
                (Origin::Group(group), None) => self.first_message(group)?,
                _ => self.origin.message()?,
            };
            match message {
                Some(message) => self.message = message,
                None => return Ok(None),
            }
        }
        self.decode().map(Some)
    }

    /// The first message of a group. Its octets may come long before its end: the clock starts with the first of them.
    fn first_message(&mut self, group: &Subscription) -> xtp::Result<Option<Bytes>> {
        loop {
            let (begin, is_whole) = match group.recv_chunk()? {
                Some(Chunk::Data {
                    bytes,
                    end_of_message,
                    ..
                }) => (bytes, end_of_message),
                Some(_) => continue,
                None => return Ok(None),
            };
            self.began = Some(Instant::now());
            if is_whole {
                return Ok(Some(begin));
            }
            let rest = group.recv_message()?.unwrap_or_default();
            return Ok(Some([begin, rest].concat().into()));
        }
    }

    /// When the first octet of a group arrived.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.began
    }

    /// Whether all of the last message was taken.
    pub(crate) fn is_between_messages(&self) -> bool {
        self.message.is_empty()
    }

    /// The next record where there must be one; that the other side ends the session is a fault.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub(crate) fn expect(&mut self) -> Result<Record, Fault> {
        match self.next()? {
            Some(record) => Ok(record),
            None => Err(violation("ended the session too early").into()),
        }
    }

    /// The next record if it is there.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub(crate) fn try_next(&mut self) -> Result<Option<Record>, Fault> {
        if self.message.is_empty() {
            let Origin::Stream(stream) = self.origin else {
                return Ok(None);
            };
            match stream.try_recv_message() {
                Ok(Some(message)) => self.message = message,
                Ok(None) => return Err(violation("ended the session too early").into()),
                Err(error) if error.is_would_block() => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        self.decode().map(Some)
    }

    fn decode(&mut self) -> Result<Record, Fault> {
        let record = Record::decode(&mut self.message)?;
        if let Record::Fatal { mut problem } = record {
            problem.there = true;
            return Err(Fault::Peer(problem));
        }
        if let Record::End { hash, .. } | Record::Whole { hash, .. } = &record {
            self.digest.add(*hash);
        }
        Ok(record)
    }

    /// The hash of everything that came.
    pub(crate) fn digest(&self) -> Option<Hash> {
        self.digest.value()
    }

    /// Takes a piece of `len` octets of content, in parts of some 256 KiB where the network is fast enough.
    ///
    /// # Errors
    /// If the association is over or the piece has another length; those of `take`.
    pub(crate) fn content(
        &mut self,
        len: u32,
        mut take: impl FnMut(Vec<Bytes>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if !self.message.is_empty() {
            return Err(violation("put records behind a piece of content").into());
        }
        let mut left = len as usize;
        let mut part = Part::default();
        while left > 0 {
            let chunk = match self.origin.try_chunk(left) {
                // Nothing more has arrived: the disk may have what has, while we wait.
                Err(error) if error.is_would_block() => {
                    if part.octets > self.origin.kept_back() {
                        take(part.finish())?;
                    }
                    self.origin.chunk(left)?
                }
                outcome => outcome?,
            };
            let (bytes, ends) = match chunk {
                Some(Chunk::Data {
                    bytes,
                    end_of_message,
                    ..
                }) => (bytes, end_of_message),
                Some(_) => continue,
                None => return Err(violation("ended the session inside a file").into()),
            };
            if bytes.len() > left || ends != (bytes.len() == left) {
                return Err(violation("sent a piece of another length than announced").into());
            }
            left -= bytes.len();
            part.add(bytes);
            if part.octets >= TOGETHER || left == 0 {
                take(part.finish())?;
            }
        }
        Ok(())
    }
}

/// One hash for all files of a copy: that of the file if there is one, else the hash of their hashes in order.
#[derive(Default)]
pub(crate) struct Digest {
    last: Option<Hash>,
    files: u64,
    all: blake3::Hasher,
}

impl Digest {
    pub(crate) fn add(&mut self, hash: Hash) {
        self.last = Some(hash);
        self.files += 1;
        self.all.update(&hash);
    }

    pub(crate) fn value(&self) -> Option<Hash> {
        match self.files {
            0 | 1 => self.last,
            _ => Some(*self.all.finalize().as_bytes()),
        }
    }
}

/// Content on its way to the disk: large chunks as they are, small ones put together.
#[derive(Default)]
struct Part {
    whole: Vec<Bytes>,
    small: BytesMut,
    octets: usize,
}

impl Part {
    fn add(&mut self, chunk: Bytes) {
        self.octets += chunk.len();
        if chunk.len() < LARGE {
            self.small.extend_from_slice(&chunk);
        } else {
            self.end_small();
            self.whole.push(chunk);
        }
    }

    fn end_small(&mut self) {
        if !self.small.is_empty() {
            self.whole.push(self.small.split().freeze());
        }
    }

    fn finish(&mut self) -> Vec<Bytes> {
        self.end_small();
        self.octets = 0;
        std::mem::take(&mut self.whole)
    }
}
