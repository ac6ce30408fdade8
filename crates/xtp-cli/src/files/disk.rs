//! The receiver's work on the disk: decides what is wanted, collects, verifies, renames, and answers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use xtp::Bytes;

use super::channel::Outbox;
use super::install::{Complete, install};
use super::names::{RelPath, stays_inside};
use super::partial::{Claims, Partial};
use super::place::{Place, Places, Target, is_directory};
use super::problem::{Code, Fault, Problem, violation};
use super::receiver::Job;
use super::record::{Entry, Hash, INLINE_LIMIT, Kind, Record, Stamp};
use super::root::{Folder, Root, Shape, same_time};
use super::tally::Tally;

/// Offers a sender may have open.
const OPEN_LIMIT: usize = 4_096;
/// Files beyond the inline limit that are wanted at once: each one is open.
const LARGE_AHEAD: usize = 4;
/// Complete files that wait to be synchronised and renamed together.
const BATCH: usize = 64;
/// Octets of directory paths kept until the end, when modes and times are set.
const DIRECTORY_MEMORY: usize = 64 << 20;

/// A file that was offered and is not settled.
struct Expected {
    entry: Entry,
    place: Place,
    content: Content,
}

/// How its content is to come.
enum Content {
    /// In one record.
    Inline,
    /// Not asked for yet: enough large files are under way.
    Deferred,
    /// Asked for; nothing came yet.
    Ready {
        partial: Partial,
        hasher: Box<blake3::Hasher>,
        at: u64,
    },
    /// Coming.
    Growing {
        partial: Partial,
        hasher: Box<blake3::Hasher>,
        at: u64,
    },
}

/// A directory whose mode and time are set in the end.
struct Directory {
    path: RelPath,
    mode: u32,
    modified: Stamp,
}

/// The role's state on the disk's side.
pub(crate) struct Disk<'a> {
    outbox: Outbox<'a>,
    root: Arc<Root>,
    places: Places,
    claims: &'a Claims,
    tally: &'a Tally,
    expected: HashMap<u64, Expected>,
    deferred: VecDeque<u64>,
    /// Large files asked for and not settled.
    large: usize,
    complete: Vec<Complete>,
    directories: Vec<Directory>,
    directory_memory: usize,
    /// Nobody hears the answers: what is sent is sent whole, wanted or not.
    one_way: bool,
}

impl<'a> Disk<'a> {
    pub(crate) fn new(outbox: Outbox<'a>, target: Target, claims: &'a Claims, tally: &'a Tally) -> Self {
        Self {
            one_way: outbox.reaches_nobody(),
            outbox,
            root: Arc::clone(&target.root),
            places: Places::new(target),
            claims,
            tally,
            expected: HashMap::new(),
            deferred: VecDeque::new(),
            large: 0,
            complete: Vec::new(),
            directories: Vec::new(),
            directory_memory: 0,
        }
    }

    /// Works until the sender has finished or the network thread is gone. Partial files stay for the next time.
    ///
    /// # Errors
    /// If the association is over or the sender breaks the rules.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) -> Result<(), Fault> {
        let outcome = self.work(jobs);
        if let Err(Fault::Here(problem)) = &outcome {
            self.outbox.fatal(problem);
        }
        outcome
    }

    fn work(&mut self, jobs: &Receiver<Job>) -> Result<(), Fault> {
        loop {
            let job = match jobs.try_recv() {
                Ok(job) => Some(job),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    // A moment to finish things and to answer.
                    self.install_complete()?;
                    self.outbox.flush()?;
                    jobs.recv().ok()
                }
            };
            match job {
                // The network thread knows why.
                None => return self.install_complete(),
                Some(Job::Content { id, content }) => self.store(id, &content)?,
                Some(Job::Record(Record::Finish)) => return self.finish(),
                Some(Job::Record(record)) => self.take(record)?,
            }
            if self.complete.len() >= BATCH {
                self.install_complete()?;
            }
        }
    }

    fn take(&mut self, record: Record) -> Result<(), Fault> {
        match record {
            Record::Entry(entry) => {
                self.tally.offered.add(entry.kind.size());
                let id = entry.id;
                let size = entry.kind.size();
                if self.expected.contains_key(&id) || self.expected.len() >= OPEN_LIMIT {
                    return Err(violation("offered too much, or the same twice").into());
                }
                match self.consider(entry) {
                    Err(Fault::Here(problem)) => self.refuse(id, size, problem),
                    outcome => outcome,
                }
            }
            Record::Whole { id, hash, content } => self.take_whole(id, &hash, content),
            Record::Begin { id, offset } => self.begin(id, offset),
            Record::End { id, hash } => self.end(id, &hash),
            Record::Withdraw { id, problem } => self.withdrawn(id, problem),
            _ => Err(violation("sent a record out of place").into()),
        }
    }

    /// The sender cannot give what it offered.
    fn withdrawn(&mut self, id: u64, problem: Problem) -> Result<(), Fault> {
        // If it was refused meanwhile, the sender hears of that.
        let Some(expected) = self.expected.remove(&id) else {
            return Ok(());
        };
        let size = expected.entry.kind.size();
        if let Some((partial, at)) = self.release(expected) {
            self.tally.settled.add(size - at);
            if problem.code == Code::Changed {
                partial.discard();
            }
        } else {
            self.tally.settled.add(size);
        }
        let problem = self.tally.told(problem);
        self.refuse(id, 0, problem)?;
        self.want_deferred()
    }

    /// Says that an offer cannot be taken. Breaking the rules ends the session instead.
    fn refuse(&mut self, id: u64, octets: u64, problem: Problem) -> Result<(), Fault> {
        if problem.code == Code::Protocol {
            return Err(problem.into());
        }
        self.tally.settled.add(octets);
        self.tally.problem(problem.clone());
        self.outbox.push(&Record::Failed { id, problem })
    }

    /// Decides about an offer.
    fn consider(&mut self, entry: Entry) -> Result<(), Fault> {
        let place = self.places.place(&entry)?;
        match entry.kind.clone() {
            Kind::Directory => {
                let made = self.make_directory(&entry, &place);
                if made.is_err() {
                    self.places.breaks(&place.path);
                }
                made
            }
            Kind::Link { target } => self.make_link(&entry, &place, &target),
            Kind::File { size } => self.consider_file(entry, place, size),
        }
    }

    fn make_directory(&mut self, entry: &Entry, place: &Place) -> Result<(), Fault> {
        if let Some((folder, name)) = &place.at {
            let failed = |error: std::io::Error| Problem::io(&place.label, &error);
            match folder.make_folder(name, entry.mode) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    if !is_directory(&self.root, &place.path, folder, name).map_err(failed)? {
                        let text = format!("{}: is in the way of a directory; move it", place.label);
                        return Err(Problem::new(Code::InTheWay, text).into());
                    }
                }
                Err(error) => return Err(failed(error).into()),
            }
            self.directory_memory += place.path.as_bytes().len() + size_of::<Directory>();
            if self.directory_memory > DIRECTORY_MEMORY {
                let text = format!(
                    "{}: too many directories in one copy; copy parts of it",
                    place.label
                );
                return Err(Problem::new(Code::Limit, text).into());
            }
            self.directories.push(Directory {
                path: place.path.clone(),
                mode: entry.mode,
                modified: entry.modified,
            });
        }
        self.tally.directories.add(1);
        self.outbox.push(&Record::Done { id: entry.id })
    }

    fn make_link(&mut self, entry: &Entry, place: &Place, target: &[u8]) -> Result<(), Fault> {
        let depth = RelPath::from_peer(&entry.path)?.depth().saturating_sub(1);
        let (folder, name) = named(place)?;
        if !stays_inside(target, depth) {
            let text = format!("{}: is a symbolic link that leads outside; skipped", place.label);
            return Err(Problem::new(Code::Outside, text).into());
        }
        let failed = |error: std::io::Error| Problem::io(&place.label, &error);
        if let Some(seen) = folder.find(name).map_err(failed)? {
            match seen.shape() {
                Shape::Directory => return Err(in_the_way(place).into()),
                Shape::Link if folder.link_target(name).is_ok_and(|there| there == target) => {
                    self.tally.unchanged.add(1);
                    return self.outbox.push(&Record::Skip { id: entry.id });
                }
                _ => {}
            }
        }
        let hidden = super::names::partial_name(name);
        let made = folder
            .remove(&hidden)
            .and_then(|()| folder.make_link(&hidden, target));
        made.map_err(failed)?;
        folder.set_link_time(&hidden, entry.modified).map_err(failed)?;
        folder.rename(&hidden, name).map_err(failed)?;
        self.tally.links.add(1);
        self.outbox.push(&Record::Done { id: entry.id })
    }

    fn consider_file(&mut self, entry: Entry, place: Place, size: u64) -> Result<(), Fault> {
        let (folder, name) = named(&place)?;
        let failed = |error: std::io::Error| Problem::io(&place.label, &error);
        if let Some(seen) = folder.find(name).map_err(failed)? {
            if seen.shape() == Shape::Directory {
                return Err(in_the_way(&place).into());
            }
            let same = !self.one_way
                && seen.shape() == Shape::File
                && seen.size() == size
                && same_time(seen.modified(), entry.modified);
            if same {
                if seen.mode() != entry.mode {
                    folder.set_mode(name, entry.mode).map_err(failed)?;
                }
                self.tally.unchanged.add(1);
                self.tally.settled.add(size);
                return self.outbox.push(&Record::Skip { id: entry.id });
            }
        }
        let id = entry.id;
        let large = size > INLINE_LIMIT;
        let content = if large {
            self.deferred.push_back(id);
            Content::Deferred
        } else {
            let prefix = *blake3::hash(b"").as_bytes();
            self.outbox.push(&Record::Want {
                id,
                offset: 0,
                prefix,
            })?;
            Content::Inline
        };
        let expected = Expected {
            entry,
            place,
            content,
        };
        self.expected.insert(id, expected);
        self.want_deferred()
    }

    /// Asks for large files, as many as may be under way.
    fn want_deferred(&mut self) -> Result<(), Fault> {
        while self.large < LARGE_AHEAD
            && let Some(id) = self.deferred.pop_front()
        {
            let Some(mut expected) = self.expected.remove(&id) else {
                continue;
            };
            match self.prepare(&expected) {
                Ok((content, offset, prefix)) => {
                    expected.content = content;
                    self.expected.insert(id, expected);
                    self.large += 1;
                    self.outbox.push(&Record::Want { id, offset, prefix })?;
                    // The hash of a long beginning takes its time; the sender may start meanwhile.
                    self.outbox.flush()?;
                }
                Err(Fault::Here(problem)) => self.refuse(id, expected.entry.kind.size(), problem)?,
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Opens the partial file and finds out what it holds.
    fn prepare(&self, expected: &Expected) -> Result<(Content, u64, Hash), Fault> {
        let (folder, name) = named(&expected.place)?;
        let size = expected.entry.kind.size();
        let partial = Partial::open(self.claims, folder, name, &expected.place.label)?;
        let mut at = partial.len()?;
        let mut hasher = Box::new(blake3::Hasher::new());
        if at > size || self.one_way {
            partial.clear()?;
            at = 0;
        }
        if at > 0 {
            at = partial.hash(&mut hasher, self.tally)?;
        }
        check_room(folder, size - at, &expected.place.label)?;
        let prefix = *hasher.finalize().as_bytes();
        Ok((Content::Ready { partial, hasher, at }, at, prefix))
    }

    fn take_whole(&mut self, id: u64, hash: &Hash, content: Bytes) -> Result<(), Fault> {
        let Some(expected) = self.expected.remove(&id) else {
            return self.unwanted("sent a file nobody wants");
        };
        let size = content.len() as u64;
        if !matches!(expected.content, Content::Inline) || expected.entry.kind.size() != size {
            return Err(violation("sent another file than it offered").into());
        }
        self.tally.sent.add(size);
        self.tally.settled.add(size);
        let (folder, name) = named(&expected.place)?;
        let stored = if blake3::hash(&content) == *hash {
            Partial::open(self.claims, folder, name, &expected.place.label).and_then(|partial| {
                partial.clear()?;
                partial.write(&[content])?;
                Ok(partial)
            })
        } else {
            Err(mismatch(&expected.place.label))
        };
        match stored {
            Ok(partial) => self.complete.push(Complete::new(partial, &expected.entry)),
            Err(problem) => self.refuse(id, 0, problem)?,
        }
        Ok(())
    }

    /// Content that was not asked for: of a transmitter that does not hear what was refused.
    fn unwanted(&self, what: &str) -> Result<(), Fault> {
        match self.one_way {
            true => Ok(()),
            false => Err(violation(what).into()),
        }
    }

    fn begin(&mut self, id: u64, offset: u64) -> Result<(), Fault> {
        let Some(mut expected) = self.expected.remove(&id) else {
            return self.unwanted("begins a file nobody wants");
        };
        let Content::Ready {
            partial,
            mut hasher,
            mut at,
        } = expected.content
        else {
            return Err(violation("begins a file out of turn").into());
        };
        if offset != at {
            if offset != 0 {
                return Err(violation("begins a file in the wrong place").into());
            }
            // What is here is not the beginning of this file.
            hasher.reset();
            at = 0;
            if let Err(problem) = partial.clear() {
                self.large -= 1;
                return self.refuse(id, expected.entry.kind.size(), problem);
            }
        }
        self.tally.resumed.add(offset);
        self.tally.settled.add(offset);
        expected.content = Content::Growing { partial, hasher, at };
        self.expected.insert(id, expected);
        Ok(())
    }

    fn store(&mut self, id: u64, content: &[Bytes]) -> Result<(), Fault> {
        let octets = content.iter().map(|part| part.len() as u64).sum();
        self.tally.sent.add(octets);
        // Content of a file that was refused meanwhile may still be under way.
        let Some(expected) = self.expected.get_mut(&id) else {
            return Ok(());
        };
        let Content::Growing { partial, hasher, at } = &mut expected.content else {
            return Err(violation("sent content out of turn").into());
        };
        let size = expected.entry.kind.size();
        if *at + octets > size {
            return Err(violation("sent more of a file than it offered").into());
        }
        match partial.write(content) {
            Ok(()) => {
                for part in content {
                    hasher.update(part);
                }
                *at += octets;
                self.tally.settled.add(octets);
                Ok(())
            }
            Err(problem) => {
                let left = size - *at;
                self.expected.remove(&id);
                self.large -= 1;
                self.refuse(id, left, problem)?;
                // The sender should hear it before it has sent much more.
                self.outbox.flush()?;
                self.want_deferred()
            }
        }
    }

    fn end(&mut self, id: u64, hash: &Hash) -> Result<(), Fault> {
        let Some(expected) = self.expected.remove(&id) else {
            return Ok(());
        };
        let Content::Growing { partial, hasher, at } = expected.content else {
            return Err(violation("ends a file out of turn").into());
        };
        self.large -= 1;
        if at != expected.entry.kind.size() {
            return Err(violation("ends a file too early").into());
        }
        if hasher.finalize() == *hash {
            self.complete.push(Complete::new(partial, &expected.entry));
        } else {
            partial.discard();
            self.refuse(id, 0, mismatch(&expected.place.label))?;
        }
        self.want_deferred()
    }

    /// The partial file of an offer that is given up, and the octets in it that count as settled.
    fn release(&mut self, expected: Expected) -> Option<(Partial, u64)> {
        match expected.content {
            Content::Ready { partial, .. } => {
                self.large -= 1;
                Some((partial, 0))
            }
            Content::Growing { partial, at, .. } => {
                self.large -= 1;
                Some((partial, at))
            }
            Content::Inline | Content::Deferred => None,
        }
    }

    /// Gives complete files their names, and says so.
    fn install_complete(&mut self) -> Result<(), Fault> {
        for (id, installed) in install(std::mem::take(&mut self.complete)) {
            match installed {
                Ok(()) => {
                    self.tally.files.add(1);
                    self.outbox.push(&Record::Done { id })?;
                }
                Err(problem) => self.refuse(id, 0, problem)?,
            }
        }
        Ok(())
    }

    /// Everything was answered: directories get their modes and times.
    fn finish(&mut self) -> Result<(), Fault> {
        if !self.expected.is_empty() {
            return Err(violation("finished before everything was settled").into());
        }
        self.install_complete()?;
        for directory in std::mem::take(&mut self.directories).into_iter().rev() {
            let folder = self.root.folder(&directory.path);
            let set = folder.and_then(|folder| folder.finish(directory.mode, directory.modified));
            if let Err(error) = set {
                let label = self.places.label(&directory.path);
                self.refuse(u64::MAX, 0, Problem::io(label, &error))?;
            }
        }
        self.outbox.push(&Record::Finished)?;
        self.outbox.flush()
    }
}

/// Fails early if the file system has no room for what is missing.
fn check_room(folder: &Folder, missing: u64, label: &str) -> Result<(), Problem> {
    match folder.room() {
        Some(room) if room < missing => {
            let text = format!(
                "{label}: no space left on the device: {missing} octets are missing, {room} are free; make room and copy again"
            );
            Err(Problem::new(Code::NoSpace, text))
        }
        _ => Ok(()),
    }
}

/// The root is a directory and cannot be replaced by anything else.
fn named(place: &Place) -> Result<(&Folder, &[u8]), Problem> {
    match &place.at {
        Some((folder, name)) => Ok((folder, name)),
        None => Err(in_the_way(place)),
    }
}

fn in_the_way(place: &Place) -> Problem {
    let text = format!(
        "{}: a directory is in the way; move it or choose another target",
        place.label
    );
    Problem::new(Code::InTheWay, text)
}

fn mismatch(label: &str) -> Problem {
    Problem::new(
        Code::Mismatch,
        format!("{label}: the content that arrived differs from what was sent; copy it again"),
    )
}
