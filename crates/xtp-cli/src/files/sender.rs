//! The sending role, the same for a client that puts and a server that gives: offers what it finds, sends what is
//! wanted. One thread does it all; offers run ahead of the answers, so a small file costs no round trip of its own.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::{Duration, UNIX_EPOCH};

use xtp::Stream;
use xtp::tuning::FileBuffers;

use super::channel::{Inbox, Outbox};
use super::content_hash::{ContentHash, is_zero};
use super::extras::Extras;
use super::names::RelPath;
use super::pattern::Excludes;
use super::problem::{Code, Fault, Problem, violation};
use super::record::{CopyOptions, Entry, Hash, INLINE_LIMIT, Kind, Record, Stamp};
use super::root::{Seen, Shape};
use super::seen::TICK;
use super::sparse::{Run, Runs};
use super::tally::Tally;
use super::walk::{Holes, Missed, Source, Walk};

/// Offers that may be unanswered. Bounds what the answers take as well, so they always find room on their way here.
const AHEAD: usize = 512;
/// Octets of their paths.
const AHEAD_PATHS: usize = 4 << 20;
/// How often a file that changes under way is offered anew. Then what was read of it is what is copied, and that is told.
const ANEW: u32 = 2;
/// Octets of a piece where zeros are to become holes: runs of zeros shorter than that stay what they are.
const SPARSE_PIECE: u64 = 64 << 10;

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
    /// How often it was offered anew because it had changed.
    anew: u32,
    /// Its content was under way before.
    begun: bool,
    /// Octets of it that count as sent.
    settled: u64,
}

/// What a sender offers.
pub(crate) struct Offer {
    pub(crate) sources: Vec<Source>,
    /// Sources that could not be found.
    pub(crate) missed: Vec<Problem>,
    pub(crate) excludes: Excludes,
    pub(crate) options: CopyOptions,
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
    /// Octets of the paths of these.
    open_paths: usize,
    wanted: VecDeque<Wanted>,
    pool: FileBuffers,
    tally: &'a Tally,
    missed: Vec<Problem>,
    /// Zeros become holes.
    sparse: bool,
    /// Content is compared.
    checksum: bool,
}

impl<'a> Sender<'a> {
    /// A sender of what `offer` names.
    pub(crate) fn new(stream: &'a Stream, offer: Offer, tally: &'a Tally) -> Self {
        let sparse = offer.options.sparse;
        let holes = if sparse { Holes::Made } else { Holes::Kept };
        Self {
            outbox: Outbox::new(stream),
            inbox: Inbox::new(stream),
            walk: Walk::new(offer.sources, offer.excludes, holes, offer.options.links),
            walked: false,
            next_id: 0,
            open: HashMap::new(),
            open_paths: 0,
            wanted: VecDeque::new(),
            pool: FileBuffers::default(),
            tally,
            missed: offer.missed,
            sparse,
            checksum: offer.options.checksum,
        }
    }

    /// Sends everything and waits until the receiver has put it in place.
    ///
    /// # Errors
    /// If the session ends early. Problems with single files are in the tally.
    pub(crate) fn run(mut self) -> Result<(), Fault> {
        self.tally.takes_turn();
        let outcome = self.work();
        self.tally.takes_turn();
        match &outcome {
            Err(Fault::Here(problem)) => self.outbox.fatal(problem),
            // The receiver may have said why before it closed.
            Err(Fault::Net(_)) => self.take_answers()?,
            _ => {}
        }
        outcome
    }

    fn work(&mut self) -> Result<(), Fault> {
        for problem in std::mem::take(&mut self.missed) {
            self.note(Missed {
                source: u32::MAX,
                path: Vec::new(),
                problem,
            })?;
        }
        let mut asked = 0;
        loop {
            self.tally.check()?;
            self.offer()?;
            // Small files that wait for company in a message change nothing at the other end: it has nothing new to say.
            if self.wanted.is_empty() || self.outbox.sent() != asked {
                self.take_answers()?;
                asked = self.outbox.sent();
            }
            if let Some(wanted) = self.wanted.pop_front() {
                self.transmit(&wanted)?;
            } else if self.walked && self.open.is_empty() {
                break;
            } else {
                self.outbox.flush()?;
                let record = self.expect()?;
                self.answer(record)?;
            }
        }
        self.outbox.push(&Record::Finish)?;
        self.outbox.flush()?;
        loop {
            match self.expect()? {
                Record::Finished => return Ok(()),
                Record::Deleted { path } => self.deleted(&path),
                // A directory whose mode or time could not be set in the end.
                Record::Failed { problem, .. } => self.tally.problem(self.tally.told(problem)),
                _ => return Err(violation("answered after the end").into()),
            }
        }
    }

    /// Waits for the receiver's word: it is its turn.
    fn expect(&mut self) -> Result<Record, Fault> {
        self.tally.takes_turn();
        let record = self.inbox.expect();
        self.tally.takes_turn();
        record
    }

    /// Offers as much as may be open.
    fn offer(&mut self) -> Result<(), Fault> {
        while !self.walked && self.open.len() < AHEAD && self.open_paths < AHEAD_PATHS {
            match self.walk.next() {
                None => self.walked = true,
                Some(Err(missed)) => self.note(missed)?,
                Some(Ok(mut entry)) => {
                    if self.checksum {
                        entry.hash = self.hash(&entry)?;
                    }
                    entry.id = self.next_id;
                    self.next_id += 1;
                    self.tally.offered.add(entry.kind.size());
                    let record = Record::Entry(entry);
                    self.outbox.push(&record)?;
                    if let Record::Entry(entry) = record {
                        let offered = Offered {
                            entry,
                            withdrawn: false,
                            anew: 0,
                            begun: false,
                            settled: 0,
                        };
                        self.open_paths += offered.entry.path.len();
                        self.open.insert(offered.entry.id, offered);
                    }
                }
            }
        }
        Ok(())
    }

    /// The hash of a file's content. What cannot be read is told when it is wanted.
    fn hash(&self, entry: &Entry) -> Result<Option<Hash>, Fault> {
        let Kind::File { size } = entry.kind else {
            return Ok(None);
        };
        let source = self.walk.source(entry.source);
        let Ok(mut file) = source.file(&RelPath::from_peer(&entry.path)?, "") else {
            return Ok(None);
        };
        hash_of(&mut file, size, self.tally)
    }

    /// Reports an entry that is not offered, or not as it should be, here and to the other end: the command may run at either.
    fn note(&mut self, missed: Missed) -> Result<(), Fault> {
        let Missed {
            source,
            path,
            problem,
        } = missed;
        self.tally.problem(problem.clone());
        self.outbox.push(&Record::Note {
            source,
            path,
            problem,
        })
    }

    fn deleted(&self, path: &[u8]) {
        self.tally.deleted.add(1);
        self.tally.list_deleted(&self.tally.there(path));
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
                let offered = self.open.get_mut(&id).ok_or_else(unknown)?;
                if !matches!(offered.entry.kind, Kind::File { size } if offset <= size) {
                    return Err(violation("wants what was not offered").into());
                }
                if self.wanted.iter().any(|wanted| wanted.id == id) {
                    return Err(violation("wants a file twice").into());
                }
                // What was sent before is wanted once more.
                self.tally.settled.take(std::mem::take(&mut offered.settled));
                self.wanted.push_back(Wanted { id, offset, prefix });
            }
            Record::Skip { id } => {
                let offered = self.settle(id)?;
                self.tally.settled.add(offered.entry.kind.size());
                self.tally.unchanged.add(1);
            }
            Record::Done { id } => {
                let offered = self.settle(id)?;
                match offered.entry.kind {
                    Kind::Directory => {
                        self.tally.directories.add(1);
                        return Ok(());
                    }
                    Kind::Link { .. } => self.tally.links.add(1),
                    Kind::File { .. } | Kind::Stream => self.tally.files.add(1),
                }
                // Of a copy that only says what it would do nothing was sent.
                let left = offered.entry.kind.size().saturating_sub(offered.settled);
                self.tally.settled.add(left);
                let source = self.walk.source(offered.entry.source);
                self.tally.list(&source.shown(&offered.entry.path));
            }
            Record::Deleted { path } => self.deleted(&path),
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
        let offered = self.open.remove(&id).ok_or_else(unknown)?;
        self.open_paths -= offered.entry.path.len();
        Ok(offered)
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
        let failed = |error: std::io::Error| Problem::io(&label, &error);
        let mut file = source.file(&RelPath::from_peer(&entry.path)?, &label)?;
        // Whatever has the name by now: a fifo is not waited for, and what a device holds is no file's content.
        let opened = see_settled(&file, &label)?;
        if opened.shape() != Shape::File {
            let text = format!("{label}: is no file any more");
            return Err(Problem::new(Code::Special, text).into());
        }
        let size = entry.kind.size();
        if size <= INLINE_LIMIT {
            return self.whole((wanted.id, entry), &mut file, &opened, &label);
        }
        if self.offers_anew(wanted.id, &file, [&opened; 2], &label)? {
            return Ok(());
        }
        let (mut hash, mut at) = self.prefix(&mut file, wanted, entry, &label)?;
        self.outbox.push(&Record::Begin {
            id: wanted.id,
            offset: at,
        })?;
        self.began(wanted.id, at);
        let mut runs = match entry.stored {
            Some(_) => Some(Runs::of(&file).map_err(failed)?),
            None => None,
        };
        while at < size {
            let run = match &mut runs {
                Some(runs) => runs.next(&mut file, at, size).map_err(failed)?,
                None => Run::Data(size - at),
            };
            let octets = match run {
                Run::Hole(len) => self.hole(wanted.id, &mut hash, len)?,
                Run::Data(len) => self.piece(wanted.id, &mut hash, &mut file, len, &label)?,
            };
            if octets == 0 {
                // It has become shorter.
                break;
            }
            at += octets;
            self.tally.check()?;
            self.take_answers()?;
            if !self.open.contains_key(&wanted.id) {
                // The receiver cannot store it and said so.
                self.tally.settled.add(size - at);
                return Ok(());
            }
        }
        let seen = see(&file, &label)?;
        if self.offers_anew(wanted.id, &file, [&opened, &seen], &label)? {
            return Ok(());
        }
        if at < size || was_put_back(entry, [&opened, &seen]) {
            return Err(changed(&label).into());
        }
        let hash = hash.value();
        self.outbox.push(&Record::End { id: wanted.id, hash })?;
        self.tell_change(entry, &seen, &label)
    }

    /// Sends a hole.
    fn hole(&mut self, id: u64, hash: &mut ContentHash, len: u64) -> Result<u64, Fault> {
        self.outbox.push(&Record::Hole { id, len })?;
        hash.update_zeros(len);
        self.settled(id, len);
        Ok(len)
    }

    /// Sends the next of `len` octets; says how many: none at the end of the file.
    fn piece(
        &mut self,
        id: u64,
        hash: &mut ContentHash,
        file: &mut File,
        len: u64,
        label: &str,
    ) -> Result<u64, Fault> {
        let limit = if self.sparse { len.min(SPARSE_PIECE) } else { len };
        let content = self
            .pool
            .read(file, limit)
            .map_err(|error| Problem::io(label, &error))?;
        let octets = content.len() as u64;
        if octets == 0 {
            return Ok(0);
        }
        if self.sparse && is_zero(&content) {
            return self.hole(id, hash, octets);
        }
        // Sent first and hashed then: the network works meanwhile.
        self.outbox.piece(id, content.clone())?;
        hash.update(&content);
        self.tally.sent.add(octets);
        self.settled(id, octets);
        Ok(octets)
    }

    fn whole(
        &mut self,
        (id, entry): (u64, &Entry),
        file: &mut File,
        opened: &Seen,
        label: &str,
    ) -> Result<(), Fault> {
        let size = entry.kind.size();
        let content = self
            .pool
            .read(file, size)
            .map_err(|error| Problem::io(label, &error))?;
        // One look after it was read says that it was what was offered all the time.
        let seen = see(file, label)?;
        if self.offers_anew(id, file, [opened, &seen], label)? {
            return Ok(());
        }
        if content.len() as u64 != size || was_put_back(entry, [opened, &seen]) {
            return Err(changed(label).into());
        }
        let hash = *blake3::hash(&content).as_bytes();
        self.tally.sent.add(size);
        self.settled(id, size);
        self.outbox.push(&Record::Whole { id, hash, content })?;
        self.tell_change(entry, &seen, label)
    }

    /// The receiver has this much of it. Only the first time that is from an earlier copy.
    fn began(&mut self, id: u64, at: u64) {
        if let Some(offered) = self.open.get_mut(&id)
            && !std::mem::replace(&mut offered.begun, true)
        {
            self.tally.resumed.add(at);
        }
        self.settled(id, at);
    }

    /// Octets of an offer are sent, or need not be.
    fn settled(&mut self, id: u64, octets: u64) {
        if let Some(offered) = self.open.get_mut(&id) {
            offered.settled += octets;
            self.tally.settled.add(octets);
        }
    }

    /// Offers a file anew if it is not what was offered any more, unless that was done often enough; whether it did.
    fn offers_anew(
        &mut self,
        id: u64,
        file: &File,
        [opened, seen]: [&Seen; 2],
        label: &str,
    ) -> Result<bool, Fault> {
        let Some(offered) = self.open.get_mut(&id) else {
            return Ok(false);
        };
        let same = is_unchanged(seen, &offered.entry) && seen.changed() == opened.changed();
        if offered.anew >= ANEW || same || seen.shape() != Shape::File {
            return Ok(false);
        }
        tracing::info!("{label}: changed while it was copied; it is copied again");
        offered.anew += 1;
        self.tally.offered.take(offered.entry.kind.size());
        self.tally.settled.take(std::mem::take(&mut offered.settled));
        offered.entry = self.walk.renewed(&offered.entry, seen, Extras::of_open(file));
        self.tally.offered.add(seen.size());
        let record = Record::Entry(offered.entry.clone());
        self.outbox.push(&record)?;
        Ok(true)
    }

    /// Says so if what was sent of a file is not what it is now.
    fn tell_change(&mut self, entry: &Entry, seen: &Seen, label: &str) -> Result<(), Fault> {
        if is_unchanged(seen, entry) {
            return Ok(());
        }
        let text = format!(
            "{label}: changed each time it was copied; what was read is in place, with the time it had before, so that \
             the next copy takes it again"
        );
        self.note(Missed {
            source: entry.source,
            path: entry.path.clone(),
            problem: Problem::new(Code::Changed, text),
        })
    }

    /// Hashes what the receiver says it has. If that is not the beginning of this file, it is sent from the start.
    fn prefix(
        &self,
        file: &mut File,
        wanted: &Wanted,
        entry: &Entry,
        label: &str,
    ) -> Result<(ContentHash, u64), Fault> {
        let failed = |error: std::io::Error| Problem::io(label, &error);
        let mut hash = ContentHash::new(entry.stored.is_some());
        let mut runs = Runs::of(file).map_err(failed)?;
        let mut at = 0;
        while at < wanted.offset {
            match runs.next(file, at, wanted.offset).map_err(failed)? {
                Run::Hole(len) => {
                    hash.update_zeros(len);
                    at += len;
                }
                Run::Data(len) => {
                    let content = self
                        .pool
                        .read(file, len.min(FileBuffers::OCTETS as u64))
                        .map_err(failed)?;
                    if content.is_empty() {
                        return Err(changed(label).into());
                    }
                    hash.update(&content);
                    at += content.len() as u64;
                }
            }
            self.tally.check()?;
        }
        if hash.value() == wanted.prefix {
            return Ok((hash, at));
        }
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        hash.reset();
        Ok((hash, 0))
    }
}

fn see(file: &File, label: &str) -> Result<Seen, Problem> {
    Seen::of(file).map_err(|error| Problem::io(label, &error))
}

/// The hash of `size` octets of a file, if it has so many.
pub(super) fn hash_of(file: &mut File, size: u64, tally: &Tally) -> Result<Option<Hash>, Fault> {
    let (mut hasher, mut buffer, mut left) = (blake3::Hasher::new(), vec![0; FileBuffers::OCTETS], size);
    while left > 0 {
        let part = usize::try_from(left)
            .unwrap_or(FileBuffers::OCTETS)
            .min(FileBuffers::OCTETS);
        match file.read(&mut buffer[..part]) {
            Ok(count) if count > 0 => {
                hasher.update(&buffer[..count]);
                left -= count as u64;
            }
            _ => return Ok(None),
        }
        tally.check()?;
    }
    Ok(Some(hasher.finalize().into()))
}

/// The state of a file whose last change is older than the resolution of its times: a later change shows in them.
pub(super) fn see_settled(file: &File, label: &str) -> Result<Seen, Problem> {
    let seen = see(file, label)?;
    let changed = seen.changed();
    let since = Duration::new(u64::try_from(changed.seconds).unwrap_or(0), changed.nanos);
    let age = (UNIX_EPOCH + since).elapsed().unwrap_or(TICK);
    if age >= TICK {
        return Ok(seen);
    }
    std::thread::sleep(TICK - age);
    see(file, label)
}

/// Whether a file was changed while it was read, and its time says that it was not: the next copy would take what is here for the same.
fn was_put_back(entry: &Entry, [opened, seen]: [&Seen; 2]) -> bool {
    is_unchanged(seen, entry) && seen.changed() != opened.changed()
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

/// Fails if the open file is not the one that was offered any more, or was changed since then where that is known.
pub(super) fn check_unchanged(
    file: &File,
    entry: &Entry,
    since: Option<Stamp>,
    label: &str,
) -> Result<(), Problem> {
    let seen = see(file, label)?;
    if !is_unchanged(&seen, entry) || since.is_some_and(|since| seen.changed() != since) {
        return Err(changed(label));
    }
    Ok(())
}

fn is_unchanged(seen: &Seen, entry: &Entry) -> bool {
    seen.shape() == Shape::File && seen.size() == entry.kind.size() && seen.modified() == entry.modified
}
