//! The receiver's work on the disk: decides what is wanted, collects, verifies, renames, and answers.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use xtp::Bytes;

use self::consider::{There, is_large};
use self::mirror::Mirror;
use super::cast::ReturnPath;
use super::channel::Outbox;
use super::content_hash::ContentHash;
use super::install::{Complete, install};
use super::names::RelPath;
use super::partial::{Claims, Partial};
use super::place::{Place, Places, Target};
use super::problem::{Code, Fault, Problem, violation};
use super::receiver::Job;
use super::record::{CopyOptions, Entry, Hash, INLINE_LIMIT, Kind, Record, Stamp};
use super::root::{Attributes, Folder, Root, Seen, Shape, same_time};
use super::sender::hash_of;
use super::tally::Tally;

mod consider;
mod content;
mod dry_run;
mod fetch;
mod mirror;

/// Offers a sender may have open.
const OPEN_LIMIT: usize = 4_096;
/// Octets of their paths.
const OPEN_PATHS: usize = 16 << 20;
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
    /// How often its content arrived damaged.
    attempts: u32,
    /// It was offered before, as it was then.
    anew: bool,
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
        hasher: Box<ContentHash>,
        at: u64,
    },
    /// Coming. Of octets up to `there`, which an earlier copy left, only those are written that differ.
    Growing {
        partial: Partial,
        hasher: Box<ContentHash>,
        at: u64,
        there: u64,
    },
}

/// A directory whose mode and time are set in the end.
struct Directory {
    path: RelPath,
    attributes: Attributes,
}

/// The role's state on the disk's side.
pub(crate) struct Disk<'a> {
    outbox: Outbox<'a>,
    root: Arc<Root>,
    places: Places,
    claims: &'a Claims,
    tally: &'a Tally,
    expected: HashMap<u64, Expected>,
    /// Offers below are known.
    next_id: u64,
    deferred: VecDeque<u64>,
    /// Large files asked for and not settled.
    large: usize,
    complete: Vec<Complete>,
    directories: Vec<Directory>,
    directory_memory: usize,
    /// Of a receiver of a group: content comes once, for all receivers, wanted or not.
    back: Option<&'a ReturnPath>,
    options: CopyOptions,
    /// With `delete`.
    mirror: Option<Mirror>,
    /// Something could not be taken.
    refused: bool,
}

impl<'a> Disk<'a> {
    pub(crate) fn new(outbox: Outbox<'a>, target: Target, claims: &'a Claims, tally: &'a Tally) -> Self {
        Self {
            back: outbox.return_path(),
            options: target.options,
            mirror: (target.options.delete).then(|| Mirror::new(target.excludes.clone())),
            refused: false,
            outbox,
            root: Arc::clone(&target.root),
            places: Places::new(target),
            claims,
            tally,
            expected: HashMap::new(),
            next_id: 0,
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
        self.tally.takes_turn();
        let outcome = self.work(jobs);
        self.tally.takes_turn();
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
                    self.tally.takes_turn();
                    let job = jobs.recv().ok();
                    self.tally.takes_turn();
                    job
                }
            };
            match job {
                // The network thread knows why.
                None => return self.install_complete(),
                Some(Job::Content { id, content }) => self.store(id, &content)?,
                Some(Job::Records(records)) => {
                    for record in records {
                        if record == Record::Finish {
                            return self.finish();
                        }
                        self.take(record)?;
                        self.install_many()?;
                    }
                }
            }
            self.install_many()?;
        }
    }

    /// Gives complete files their names when they are many.
    fn install_many(&mut self) -> Result<(), Fault> {
        match self.complete.len() >= BATCH {
            true => self.install_complete(),
            false => Ok(()),
        }
    }

    fn take(&mut self, record: Record) -> Result<(), Fault> {
        match record {
            Record::Entry(entry) => self.offered(entry),
            Record::Whole { id, hash, content } => self.take_whole(id, &hash, content),
            Record::Begin { id, offset } => self.begin(id, offset),
            Record::Hole { id, len } => self.hole(id, len),
            Record::Note {
                source,
                path,
                problem,
            } => self.missed(source, &path, problem),
            Record::End { id, hash } => self.end(id, &hash),
            Record::Withdraw { id, problem } => self.withdrawn(id, problem),
            Record::Skip { id } if self.back.is_some() => self.spared(id),
            _ => Err(violation("sent a record out of place").into()),
        }
    }

    /// Something is offered, or a file that has changed meanwhile is offered anew.
    fn offered(&mut self, entry: Entry) -> Result<(), Fault> {
        let (id, size) = (entry.id, entry.kind.size());
        if id < self.next_id && !self.expected.contains_key(&id) {
            // It was refused while it was offered anew, and the sender will have heard.
            return Ok(());
        }
        self.next_id = self.next_id.max(id.saturating_add(1));
        self.tally.offered.add(size);
        let outcome = match self.expected.remove(&id) {
            Some(expected) => {
                let same = expected.entry.path == entry.path && expected.entry.source == entry.source;
                if !same || !matches!(entry.kind, Kind::File { .. }) {
                    return Err(violation("offered something else under the same number").into());
                }
                self.tally.offered.take(expected.entry.kind.size());
                let place = expected.place.clone();
                self.deferred.retain(|deferred| *deferred != id);
                // What is there of it stays: it may be the beginning of the new one.
                if let Some((_, at)) = self.release(expected) {
                    self.tally.settled.take(at);
                }
                self.consider_file(entry, place, true)
            }
            None if self.expected.len() >= OPEN_LIMIT || self.has_long_paths(&entry) => {
                return Err(violation("offered too much at once").into());
            }
            None => self.consider(entry),
        };
        match outcome {
            Err(Fault::Here(problem)) => self.refuse(id, size, problem),
            outcome => outcome,
        }
    }

    /// Whether the paths of what is open take too much with this one. Short ones cannot.
    fn has_long_paths(&self, entry: &Entry) -> bool {
        let octets = |entry: &Entry| entry.path.len();
        let open = || {
            self.expected
                .values()
                .map(|expected| octets(&expected.entry))
                .sum::<usize>()
        };
        octets(entry) > OPEN_PATHS / OPEN_LIMIT && open() + octets(entry) > OPEN_PATHS
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
        self.refused = true;
        self.tally.settled.add(octets);
        self.tally.problem(problem.clone());
        self.outbox.push(&Record::Failed { id, problem })
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
        for (id, installed) in install(std::mem::take(&mut self.complete), self.options.unsynced) {
            match installed {
                Ok(()) => {
                    self.tally.files.add(1);
                    self.tally.synced.add(u64::from(!self.options.unsynced));
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
        self.prune()?;
        for directory in std::mem::take(&mut self.directories).into_iter().rev() {
            let set = self.places.folder(&directory.path).and_then(|folder| {
                let set = folder.finish(&directory.attributes);
                set.map_err(|error| Problem::io(self.places.label(&directory.path), &error))
            });
            if let Err(problem) = set {
                self.refuse(u64::MAX, 0, problem)?;
            }
        }
        self.outbox.push(&Record::Finished)?;
        self.outbox.flush()
    }
}

/// The root is a directory and cannot be replaced by anything else.
fn named(place: &Place) -> Result<(&Folder, &[u8]), Problem> {
    match &place.at {
        Some((folder, name)) => Ok((folder, name)),
        None => {
            let text = "a directory is in the way; move it or choose another target";
            Err(Problem::new(Code::InTheWay, format!("{}: {text}", place.label)))
        }
    }
}

/// Fails if what is there is nothing that a file or link takes the place of.
///
/// # Errors
/// [`Code::InTheWay`] for a directory, and for what a host may lose if it becomes a file.
pub(super) fn check_replaceable(seen: &Seen, label: &str) -> Result<(), Problem> {
    let what = match seen.shape() {
        Shape::File | Shape::Link => return Ok(()),
        Shape::Directory => "a directory is in the way; move it or choose another target",
        Shape::Other => "a device, fifo or socket is in the way, which a copy does not replace; move it",
    };
    Err(Problem::new(Code::InTheWay, format!("{label}: {what}")))
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
