//! The files of a cast, in the order of a walk: offers, and what any receiver lacks of their content.

use std::collections::VecDeque;
use std::fs::File;

use xtp::tuning::FileBuffers;

use super::inquiry::{Answered, Inquiry, common_beginning};
use super::past::Past;
use crate::common::Common;
use crate::files::channel::Outbox;
use crate::files::links::Links;
use crate::files::names::RelPath;
use crate::files::pattern::Excludes;
use crate::files::problem::{Fault, Problem};
use crate::files::record::{Entry, Hash, INLINE_LIMIT, Kind, Record, Stamp};
use crate::files::sender::{changed, check_unchanged, see_settled};
use crate::files::tally::Tally;
use crate::files::walk::{Holes, Missed, Source, Walk};

/// Offers that leave ahead of the content, and octets of their paths: answers to them come while content leaves.
const AHEAD: usize = 512;
const AHEAD_PATHS: usize = 4 << 20;

/// Everything below a source. The stream to a group has no holes.
pub(super) fn walk(source: Source) -> Walk {
    Walk::new(vec![source], Excludes::default(), Holes::Never, Links::Keep)
}

/// Files one after the other. Their offers run ahead where receivers answer them.
pub(super) struct Files<'a> {
    walk: Walk,
    walked: bool,
    /// Offers so far, which is the number of the next one.
    offered: u64,
    /// Offers whose content has not left, and octets of their paths.
    ahead: VecDeque<Entry>,
    ahead_paths: usize,
    outbox: Outbox<'a>,
    past: Option<&'a Past>,
    inquiry: Option<&'a Inquiry<'a>>,
    tally: &'a Tally,
    common: &'a Common,
    pool: FileBuffers,
}

/// An open file, what was hashed of it, and where it goes on.
struct Opened {
    file: File,
    label: String,
    /// When it was changed last.
    since: Option<Stamp>,
    hasher: blake3::Hasher,
    at: u64,
}

impl<'a> Files<'a> {
    /// Of what is below `source`.
    pub(super) fn new(
        source: Source,
        outbox: Outbox<'a>,
        past: Option<&'a Past>,
        inquiry: Option<&'a Inquiry<'a>>,
        (tally, common): (&'a Tally, &'a Common),
    ) -> Self {
        Self {
            walk: walk(source),
            walked: false,
            offered: 0,
            ahead: VecDeque::new(),
            ahead_paths: 0,
            outbox,
            past,
            inquiry,
            tally,
            common,
            pool: FileBuffers::default(),
        }
    }

    /// Sends everything.
    ///
    /// # Errors
    /// If the cast ends early. Problems with single files are in the tally.
    pub(super) fn run(mut self) -> Result<(), Fault> {
        loop {
            self.check()?;
            self.offer()?;
            let Some(entry) = self.ahead.pop_front() else {
                break;
            };
            self.ahead_paths -= entry.path.len();
            let Kind::File { size } = entry.kind else {
                continue;
            };
            match self.file(&entry, size) {
                Ok(()) => {}
                Err(Fault::Here(problem)) => {
                    self.tally.problem(problem.clone());
                    self.outbox.push(&Record::Withdraw {
                        id: entry.id,
                        problem,
                    })?;
                }
                Err(fault) => return Err(fault),
            }
        }
        self.outbox.push(&Record::Finish)?;
        self.outbox.flush()
    }

    fn check(&self) -> Result<(), Fault> {
        match self.common.signals.caught() {
            true => Err(Fault::Stopped),
            false => self.tally.check(),
        }
    }

    /// Offers what comes next, as much as may run ahead.
    fn offer(&mut self) -> Result<(), Fault> {
        let most = if self.inquiry.is_some() { AHEAD } else { 1 };
        while !self.walked && self.ahead.len() < most && self.ahead_paths < AHEAD_PATHS {
            let mut entry = match self.walk.next() {
                None => {
                    self.walked = true;
                    break;
                }
                Some(Ok(entry)) => entry,
                Some(Err(Missed {
                    source,
                    path,
                    problem,
                })) => {
                    self.tally.problem(problem.clone());
                    self.outbox.push(&Record::Note {
                        source,
                        path,
                        problem,
                    })?;
                    continue;
                }
            };
            entry.id = self.offered;
            self.offered += 1;
            if let Some(inquiry) = self.inquiry {
                inquiry.offers(self.offered);
            }
            self.outbox.push(&Record::Entry(entry.clone()))?;
            self.ahead_paths += entry.path.len();
            self.ahead.push_back(entry);
        }
        Ok(())
    }

    /// Sends what any receiver lacks of a file.
    fn file(&mut self, entry: &Entry, size: u64) -> Result<(), Fault> {
        let id = entry.id;
        let parts = match self.inquiry {
            None => Vec::new(),
            Some(inquiry) => {
                let signals = &self.common.signals;
                let check = || match signals.caught() {
                    true => Err(Fault::Stopped),
                    false => Ok(()),
                };
                match inquiry.ask(entry, &mut self.outbox, check)? {
                    Answered::Lacking => Vec::new(),
                    Answered::Parts(parts) if !parts.is_empty() => parts,
                    answered => {
                        inquiry.spares(entry, None);
                        self.tally.unchanged.add(u64::from(answered != Answered::Refused));
                        self.tally.settled.add(size);
                        return self.outbox.push(&Record::Skip { id });
                    }
                }
            }
        };
        let opened = self.open(entry, &parts);
        if let Some(inquiry) = self.inquiry {
            match &opened {
                Ok(Opened { at, .. }) if *at > 0 => inquiry.spares(entry, Some(*at)),
                _ => inquiry.sends(id),
            }
        }
        self.content(entry, size, opened?)?;
        self.tally.files.add(1);
        Ok(())
    }

    /// Opens a file and finds out how much of it all receivers have.
    fn open(&self, entry: &Entry, parts: &[(u64, Hash)]) -> Result<Opened, Fault> {
        let source = self.walk.source(entry.source);
        let label = source.shown(&entry.path);
        let mut file: File = source.file(&RelPath::from_peer(&entry.path)?, &label)?;
        let since = Some(see_settled(&file, &label)?.changed());
        check_unchanged(&file, entry, since, &label)?;
        let (hasher, at) = match parts {
            [] => (blake3::Hasher::new(), 0),
            parts => common_beginning(&mut file, parts, &label, || self.check())?,
        };
        Ok(Opened {
            file,
            label,
            since,
            hasher,
            at,
        })
    }

    fn content(&mut self, entry: &Entry, size: u64, opened: Opened) -> Result<(), Fault> {
        let Opened {
            mut file,
            label,
            since,
            mut hasher,
            at,
        } = opened;
        let failed = |error: std::io::Error| Problem::io(&label, &error);
        if let Some(past) = self.past {
            past.begins(entry);
        }
        if size <= INLINE_LIMIT {
            let content = self.pool.read(&mut file, size).map_err(failed)?;
            if content.len() as u64 != size {
                return Err(changed(&label).into());
            }
            check_unchanged(&file, entry, since, &label)?;
            let hash = *blake3::hash(&content).as_bytes();
            self.tally.sent.add(size);
            self.reads(0);
            return self.outbox.push(&Record::Whole {
                id: entry.id,
                hash,
                content,
            });
        }
        self.tally.resumed.add(at);
        self.tally.settled.add(at);
        self.outbox.push(&Record::Begin {
            id: entry.id,
            offset: at,
        })?;
        let mut left = size - at;
        while left > 0 {
            let content = self.pool.read(&mut file, left).map_err(failed)?;
            if content.is_empty() {
                return Err(changed(&label).into());
            }
            let octets = content.len() as u64;
            self.reads(size - left);
            left -= octets;
            // Sent first and hashed then: the network works meanwhile.
            self.outbox.piece(entry.id, content.clone())?;
            hasher.update(&content);
            self.tally.sent.add(octets);
        }
        check_unchanged(&file, entry, since, &label)?;
        let hash = *hasher.finalize().as_bytes();
        self.outbox.push(&Record::End { id: entry.id, hash })
    }

    /// The content that is sent next is that of the file, from `offset` on.
    fn reads(&self, offset: u64) {
        if let Some(past) = self.past {
            past.reads(offset);
        }
    }
}
