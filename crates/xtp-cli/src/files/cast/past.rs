//! What was sent to a group and may no longer be in memory: where it can be read again.
//!
//! Records are kept; the content of files is read from them anew, as long as they are as they were.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use xtp::{Bytes, HistoryItem};

use crate::files::names::RelPath;
use crate::files::problem::Problem;
use crate::files::record::Entry;
use crate::files::sender::check_unchanged;
use crate::files::walk::Source;

/// Octets whose place is known.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Of records.
    Kept(Box<[u8]>),
    /// So many of this file, from there on.
    InFile { file: u32, offset: u64, len: u32 },
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Kept(octets) => octets.len(),
            Self::InFile { len, .. } => *len as usize,
        }
    }
}

/// A part, and where it begins in the stream.
#[derive(Debug)]
struct Placed {
    from: u64,
    part: Part,
    /// Its last octet ends a message.
    ends: bool,
}

#[derive(Default)]
struct Index {
    /// Octets sent.
    end: u64,
    parts: Vec<Placed>,
    files: Vec<Entry>,
    /// Of the message that is being collected: octets of files, by where they begin in it.
    inside: Vec<(usize, Part)>,
    /// Where the octets of a file that are encoded next are to be read.
    next: Option<(u32, u64)>,
}

/// Everything a cast has sent.
pub(crate) struct Past {
    source: Source,
    index: Mutex<Index>,
    /// The file that was read last.
    open: Mutex<Option<(u32, File)>>,
}

impl Past {
    /// Of what is below a source.
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            index: Mutex::default(),
            open: Mutex::default(),
        }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is sent from now on is of this file.
    pub(super) fn begins(&self, entry: &Entry) {
        self.index().files.push(entry.clone());
    }

    /// The content that is sent next is that of the file that began last, from `offset` on.
    pub(super) fn reads(&self, offset: u64) {
        let mut index = self.index();
        let file = u32::try_from(index.files.len()).unwrap_or(u32::MAX) - 1;
        index.next = Some((file, offset));
    }

    /// A record was added to the message that is being collected, which has so many octets now; so many of them, at its end, are
    /// content.
    pub(crate) fn collected(&self, octets: usize, content: usize) {
        let mut index = self.index();
        if let Some((file, offset)) = index.next.take_if(|_| content > 0) {
            let len = u32::try_from(content).unwrap_or(u32::MAX);
            index
                .inside
                .push((octets - content, Part::InFile { file, offset, len }));
        }
    }

    /// A message of records is about to be sent.
    pub(crate) fn sends(&self, message: &[u8]) {
        let mut index = self.index();
        let mut at = 0;
        for (begins, part) in std::mem::take(&mut index.inside) {
            index.keep(&message[at..begins]);
            at = begins + part.len();
            index.place(part);
        }
        index.keep(&message[at..]);
        index.end_message();
    }

    /// Content is about to be sent, as a message of its own.
    pub(crate) fn sends_content(&self, content: &[u8]) {
        let mut index = self.index();
        match index.next.take() {
            Some((file, offset)) => {
                let len = u32::try_from(content.len()).unwrap_or(u32::MAX);
                index.place(Part::InFile { file, offset, len });
            }
            None => index.keep(content),
        }
        index.end_message();
    }

    /// What stands at a position of the stream; `None` if its file is not as it was.
    pub(super) fn at(&self, position: u64, most: usize) -> Option<HistoryItem> {
        let (bytes, end_of_message) = match self.find(position, most)? {
            Found::Kept(bytes, ends) => (bytes, ends),
            Found::InFile {
                entry,
                file,
                offset,
                len,
                ends,
            } => {
                let read = self.read(file, &entry, offset, len);
                let bytes = read.map_err(|problem| tracing::warn!("{}", problem.text)).ok()?;
                (bytes, ends)
            }
        };
        Some(HistoryItem::Octets {
            bytes,
            end_of_message,
        })
    }

    fn find(&self, position: u64, most: usize) -> Option<Found> {
        let index = self.index();
        let after = index.parts.partition_point(|placed| placed.from <= position);
        let placed = index.parts.get(after.checked_sub(1)?)?;
        let skipped = usize::try_from(position - placed.from).ok()?;
        let left = placed.part.len().checked_sub(skipped).filter(|left| *left > 0)?;
        let (len, ends) = (left.min(most), placed.ends && left <= most);
        Some(match &placed.part {
            Part::Kept(octets) => Found::Kept(Bytes::copy_from_slice(&octets[skipped..skipped + len]), ends),
            Part::InFile { file, offset, .. } => Found::InFile {
                entry: index.files.get(*file as usize)?.clone(),
                file: *file,
                offset: offset + skipped as u64,
                len,
                ends,
            },
        })
    }

    fn read(&self, number: u32, entry: &Entry, offset: u64, len: usize) -> Result<Bytes, Problem> {
        let label = self.source.shown(&entry.path);
        let failed = |error: std::io::Error| Problem::io(&label, &error);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_none_or(|(known, _)| *known != number) {
            let path = RelPath::from_peer(&entry.path)?;
            *open = Some((number, self.source.file(&path, &label)?));
        }
        let mut octets = vec![0; len];
        if let Some((_, file)) = &*open {
            file.read_exact_at(&mut octets, offset).map_err(failed)?;
            // Looked at afterwards: what was read is what it was then.
            check_unchanged(file, entry, None, &label)?;
        }
        Ok(octets.into())
    }
}

/// Where something is.
enum Found {
    Kept(Bytes, bool),
    InFile {
        entry: Entry,
        file: u32,
        offset: u64,
        len: usize,
        ends: bool,
    },
}

impl Index {
    fn keep(&mut self, octets: &[u8]) {
        if !octets.is_empty() {
            self.place(Part::Kept(octets.into()));
        }
    }

    fn place(&mut self, part: Part) {
        let (from, ends) = (self.end, false);
        self.end += part.len() as u64;
        self.parts.push(Placed { from, part, ends });
    }

    fn end_message(&mut self) {
        if let Some(last) = self.parts.last_mut() {
            last.ends = true;
        }
    }
}

#[cfg(test)]
#[path = "past_tests.rs"]
mod tests;
