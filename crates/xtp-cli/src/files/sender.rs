//! The sending role, the same for a client that puts and a server that gives: offers what it finds, sends what is
//! wanted. One thread does it all; offers run ahead of the answers, so a small file costs no round trip of its own.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{Seek, SeekFrom};

use xtp::Stream;

use super::channel::{Inbox, Outbox};
use super::names::RelPath;
use super::pool::{BUFFER, Pool};
use super::problem::{Code, Fault, Problem, violation};
use super::record::{Entry, Hash, INLINE_LIMIT, Kind, Record};
use super::root::{Seen, Shape};
use super::tally::Tally;
use super::walk::{Source, Walk};

/// Offers that may be unanswered. Bounds what the answers take as well, so they always find room on their way here.
const AHEAD: usize = 512;

/// A file the receiver asked for.
struct Wanted {
    id: u64,
    offset: u64,
    prefix: Hash,
}

/// An offer that is not settled.
struct Offered {
    entry: Entry,
    /// Its content cannot be had; the receiver knows.
    withdrawn: bool,
}

/// The role's state.
pub(crate) struct Sender<'a> {
    outbox: Outbox<'a>,
    inbox: Inbox<'a>,
    walk: Walk,
    walked: bool,
    next_id: u64,
    /// Offered and not settled.
    open: HashMap<u64, Offered>,
    wanted: VecDeque<Wanted>,
    pool: Pool,
    tally: &'a Tally,
    /// Problems with sources are told to the receiver, whose user does not see this end.
    tells: bool,
}

impl<'a> Sender<'a> {
    /// A sender of `sources`. With `tells`, the receiver's end is the one with the user.
    pub(crate) fn new(stream: &'a Stream, sources: Vec<Source>, tally: &'a Tally, tells: bool) -> Self {
        Self {
            outbox: Outbox::new(stream),
            inbox: Inbox::new(stream),
            walk: Walk::new(sources),
            walked: false,
            next_id: 0,
            open: HashMap::new(),
            wanted: VecDeque::new(),
            pool: Pool::default(),
            tally,
            tells,
        }
    }

    /// Sends everything and waits until the receiver has put it in place.
    ///
    /// # Errors
    /// If the session ends early. Problems with single files are in the tally.
    pub(crate) fn run(mut self) -> Result<(), Fault> {
        let outcome = self.work();
        match &outcome {
            Err(Fault::Here(problem)) => self.outbox.fatal(problem),
            // The receiver may have said why before it closed.
            Err(Fault::Net(_)) => self.take_answers()?,
            _ => {}
        }
        outcome
    }

    fn work(&mut self) -> Result<(), Fault> {
        loop {
            self.tally.check()?;
            self.offer()?;
            self.take_answers()?;
            if let Some(wanted) = self.wanted.pop_front() {
                self.transmit(&wanted)?;
            } else if self.walked && self.open.is_empty() {
                break;
            } else {
                self.outbox.flush()?;
                let record = self.inbox.expect()?;
                self.answer(record)?;
            }
        }
        self.outbox.push(&Record::Finish)?;
        self.outbox.flush()?;
        loop {
            match self.inbox.expect()? {
                Record::Finished => return Ok(()),
                // A directory whose mode or time could not be set in the end.
                Record::Failed { problem, .. } => self.tally.problem(self.tally.told(problem)),
                _ => return Err(violation("answered after the end").into()),
            }
        }
    }

    /// Offers as much as may be open.
    fn offer(&mut self) -> Result<(), Fault> {
        while !self.walked && self.open.len() < AHEAD {
            match self.walk.next() {
                None => self.walked = true,
                Some(Err(problem)) => {
                    if self.tells {
                        let problem = problem.clone();
                        self.outbox.push(&Record::Note { problem })?;
                    }
                    self.tally.problem(problem);
                }
                Some(Ok(mut entry)) => {
                    entry.id = self.next_id;
                    self.next_id += 1;
                    self.tally.offered.add(entry.kind.size());
                    let record = Record::Entry(entry);
                    self.outbox.push(&record)?;
                    if let Record::Entry(entry) = record {
                        let withdrawn = false;
                        self.open.insert(entry.id, Offered { entry, withdrawn });
                    }
                }
            }
        }
        Ok(())
    }

    fn take_answers(&mut self) -> Result<(), Fault> {
        while let Some(record) = self.inbox.try_next()? {
            self.answer(record)?;
        }
        Ok(())
    }

    fn answer(&mut self, record: Record) -> Result<(), Fault> {
        match record {
            Record::Want { id, offset, prefix } => {
                let offered = self.open.get(&id).ok_or_else(unknown)?;
                if !matches!(offered.entry.kind, Kind::File { size } if offset <= size) {
                    return Err(violation("wants what was not offered").into());
                }
                if self.wanted.iter().any(|wanted| wanted.id == id) {
                    return Err(violation("wants a file twice").into());
                }
                self.wanted.push_back(Wanted { id, offset, prefix });
            }
            Record::Skip { id } => {
                let offered = self.settle(id)?;
                self.tally.settled.add(offered.entry.kind.size());
                self.tally.unchanged.add(1);
            }
            Record::Done { id } => match self.settle(id)?.entry.kind {
                Kind::Directory => self.tally.directories.add(1),
                Kind::File { .. } => self.tally.files.add(1),
                Kind::Link { .. } => self.tally.links.add(1),
            },
            Record::Failed { id, problem } => {
                let withdrawn = self.settle(id)?.withdrawn;
                self.wanted.retain(|wanted| wanted.id != id);
                if !withdrawn {
                    self.tally.problem(self.tally.told(problem));
                }
            }
            _ => return Err(violation("answered with a record that is no answer").into()),
        }
        Ok(())
    }

    fn settle(&mut self, id: u64) -> Result<Offered, Fault> {
        self.open.remove(&id).ok_or_else(|| unknown().into())
    }

    /// Sends one file, or says why not.
    fn transmit(&mut self, wanted: &Wanted) -> Result<(), Fault> {
        let Some(offered) = self.open.get(&wanted.id) else {
            return Ok(());
        };
        let entry = offered.entry.clone();
        match self.content(wanted, &entry) {
            Err(Fault::Here(problem)) if problem.code != Code::Protocol => {
                // Only this file is concerned. It is settled when the receiver took note.
                if let Some(offered) = self.open.get_mut(&wanted.id) {
                    offered.withdrawn = true;
                }
                self.tally.problem(problem.clone());
                let record = Record::Withdraw {
                    id: wanted.id,
                    problem,
                };
                self.outbox.push(&record)
            }
            outcome => outcome,
        }
    }

    fn content(&mut self, wanted: &Wanted, entry: &Entry) -> Result<(), Fault> {
        let source = self.walk.source(entry.source);
        let label = source.shown(&entry.path);
        let path = source.start.append(&RelPath::from_peer(&entry.path)?)?;
        let mut file = source
            .root
            .file(&path)
            .map_err(|error| Problem::io(&label, &error))?;
        check_unchanged(&file, entry, &label)?;
        let size = entry.kind.size();
        if size <= INLINE_LIMIT {
            return self.whole(wanted.id, entry, &mut file, &label);
        }
        let (mut hasher, offset) = self.prefix(&mut file, wanted, &label)?;
        self.outbox.push(&Record::Begin {
            id: wanted.id,
            offset,
        })?;
        self.tally.resumed.add(offset);
        self.tally.settled.add(offset);
        let mut left = size - offset;
        while left > 0 {
            let content = self
                .pool
                .read(&mut file, left)
                .map_err(|error| Problem::io(&label, &error))?;
            if content.is_empty() {
                return Err(changed(&label).into());
            }
            let octets = content.len() as u64;
            left -= octets;
            // Sent first and hashed then: the network works meanwhile.
            self.outbox.piece(wanted.id, content.clone())?;
            hasher.update(&content);
            self.tally.sent.add(octets);
            self.tally.settled.add(octets);
            self.tally.check()?;
            self.take_answers()?;
            if !self.open.contains_key(&wanted.id) {
                // The receiver cannot store it and said so.
                self.tally.settled.add(left);
                return Ok(());
            }
        }
        check_unchanged(&file, entry, &label)?;
        let hash = *hasher.finalize().as_bytes();
        self.outbox.push(&Record::End { id: wanted.id, hash })
    }

    fn whole(&mut self, id: u64, entry: &Entry, file: &mut File, label: &str) -> Result<(), Fault> {
        let size = entry.kind.size();
        let content = self
            .pool
            .read(file, size)
            .map_err(|error| Problem::io(label, &error))?;
        if content.len() as u64 != size {
            return Err(changed(label).into());
        }
        check_unchanged(file, entry, label)?;
        let hash = *blake3::hash(&content).as_bytes();
        self.tally.sent.add(size);
        self.tally.settled.add(size);
        self.outbox.push(&Record::Whole { id, hash, content })
    }

    /// Hashes what the receiver says it has. If that is not the beginning of this file, it is sent from the start.
    fn prefix(&self, file: &mut File, wanted: &Wanted, label: &str) -> Result<(blake3::Hasher, u64), Fault> {
        let failed = |error: std::io::Error| Problem::io(label, &error);
        let mut hasher = blake3::Hasher::new();
        let mut left = wanted.offset;
        while left > 0 {
            let content = self.pool.read(file, left.min(BUFFER as u64)).map_err(failed)?;
            if content.is_empty() {
                return Err(changed(label).into());
            }
            hasher.update(&content);
            left -= content.len() as u64;
            self.tally.check()?;
        }
        if *hasher.finalize().as_bytes() == wanted.prefix {
            return Ok((hasher, wanted.offset));
        }
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok((blake3::Hasher::new(), 0))
    }
}

fn unknown() -> Problem {
    violation("answered an offer that is not open")
}

pub(super) fn changed(label: &str) -> Problem {
    Problem::new(
        Code::Changed,
        format!("{label}: changed while it was copied; copy it again when nobody writes it"),
    )
}

/// Fails if the open file is not the one that was offered any more.
pub(super) fn check_unchanged(file: &File, entry: &Entry, label: &str) -> Result<(), Problem> {
    let seen = Seen::of(file).map_err(|error| Problem::io(label, &error))?;
    let same =
        seen.shape() == Shape::File && seen.size() == entry.kind.size() && seen.modified() == entry.modified;
    if !same {
        return Err(changed(label));
    }
    Ok(())
}
