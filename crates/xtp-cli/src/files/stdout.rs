//! `xtp cp xtp://... -`: files one after the other to standard output, or one into a device or fifo that was named as the
//! target. What is out is verified as far as it can be:
//! each file's hash is compared at its end, and after an outage with what the server has.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use xtp::Bytes;

use super::channel::{Inbox, Outbox};
use super::content_hash::ContentHash;
use super::names::shown;
use super::problem::{Code, Fault, Problem, violation};
use super::record::{Entry, Hash, Kind, Record};
use super::tally::Tally;
use crate::common::{Patient, standard_output};

static ZEROS: [u8; 65_536] = [0; 65_536];

/// Interval at which a fifo is tried until it has a reader.
const LOOK: Duration = Duration::from_millis(50);
/// Links one after the other, as the system follows them.
const LINKS: u32 = 40;

/// What is written through, as it is: nothing is made, verified and renamed there.
pub(crate) struct Through {
    /// Standard output if there is none.
    path: Option<PathBuf>,
}

impl Through {
    /// Of a target that was named, if it is of that kind: standard output (-), a device, a fifo, a socket, and what a process has open.
    pub(crate) fn of(target: &OsStr) -> Option<Self> {
        if target == "-" {
            return Some(Self { path: None });
        }
        let path = Path::new(target);
        let seen = std::fs::metadata(path).ok()?;
        let through = !seen.is_dir() && (!seen.is_file() || is_open_file(path));
        through.then(|| Self {
            path: Some(path.to_owned()),
        })
    }

    /// Opens it; waits for a reader of a fifo.
    fn open(&self, tally: &Tally) -> Result<Out, Fault> {
        let Some(path) = &self.path else {
            let label = "cannot write to standard output".to_owned();
            let stdout = standard_output().map_err(|error| Problem::io(&label, &error))?;
            return Ok((label, Box::new(stdout)));
        };
        let label = format!("cannot write to {}", shown(path.as_os_str().as_bytes()));
        let failed = |error: io::Error| Problem::io(&label, &error);
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or(0);
        let seen = std::fs::metadata(path).map_err(failed)?;
        let (is_fifo, is_file) = (seen.file_type().is_fifo(), seen.is_file());
        let mut options = OpenOptions::new();
        // What stands in a file that a process has open stays, as for any program that writes there.
        options.write(true).append(is_file).custom_flags(flags);
        let file = loop {
            tally.check()?;
            match options.open(path) {
                Err(error) if is_fifo && Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                    std::thread::sleep(LOOK);
                }
                outcome => break outcome.map_err(failed)?,
            }
        };
        Ok((label, Box::new(Patient::new(file))))
    }
}

/// Whether links lead from here to what a process has open, as /dev/stdout does.
fn is_open_file(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let Ok(parent) = parent.canonicalize() else {
            return false;
        };
        let Some(name) = path.file_name() else {
            return false;
        };
        let whole = parent.join(name);
        let Ok(target) = std::fs::read_link(&whole) else {
            return false;
        };
        if parent.starts_with("/proc") {
            return true;
        }
        path = parent.join(target);
    }
    false
}

/// What messages say, and where octets go.
type Out = (String, Box<dyn Write>);

/// What is out, over all sessions.
pub(crate) struct Written {
    through: Through,
    out: Option<Out>,
    /// Sources that are settled.
    sources: usize,
    /// Octets of the next one, and their hash.
    at: u64,
    hash: ContentHash,
}

impl Written {
    /// Nothing so far.
    pub(crate) fn new(through: Through) -> Self {
        Self {
            through,
            out: None,
            sources: 0,
            at: 0,
            hash: ContentHash::default(),
        }
    }

    /// Sources that are settled: the next session asks for the others.
    pub(crate) fn sources(&self) -> usize {
        self.sources
    }
}

/// One session.
pub(crate) struct ToStdout<'a, 'b> {
    outbox: &'a mut Outbox<'b>,
    inbox: &'a mut Inbox<'b>,
    written: &'a mut Written,
    tally: &'a Tally,
    /// Sources that were settled when the session began.
    before: usize,
    /// Offered and not settled, in order.
    offered: VecDeque<Entry>,
    /// The first of them is asked for.
    asked: bool,
    /// It was sent once and arrived damaged.
    again: bool,
}

impl<'a, 'b> ToStdout<'a, 'b> {
    pub(crate) fn new(
        outbox: &'a mut Outbox<'b>,
        inbox: &'a mut Inbox<'b>,
        written: &'a mut Written,
        tally: &'a Tally,
    ) -> Self {
        Self {
            before: written.sources,
            outbox,
            inbox,
            written,
            tally,
            offered: VecDeque::new(),
            asked: false,
            again: false,
        }
    }

    /// Writes all files that come.
    ///
    /// # Errors
    /// If the session ends early, or something is out that is not what the server has.
    pub(crate) fn run(mut self) -> Result<(), Fault> {
        let outcome = self.work();
        if let Err(Fault::Here(problem)) = &outcome {
            self.outbox.fatal(problem);
        }
        outcome
    }

    fn work(&mut self) -> Result<(), Fault> {
        if self.written.out.is_none() {
            self.written.out = Some(self.written.through.open(self.tally)?);
        }
        loop {
            self.tally.check()?;
            self.ask()?;
            self.outbox.flush()?;
            match self.inbox.expect()? {
                Record::Entry(entry) => self.offer(entry)?,
                Record::Note { problem, .. } => self.tally.problem(self.tally.told(problem)),
                Record::Whole { id, hash, content } => {
                    let entry = self.first(id)?;
                    if blake3::hash(&content) != hash {
                        self.mismatched(&entry)?;
                        continue;
                    }
                    self.put(&[content])?;
                    self.done(id)?;
                }
                Record::Begin { id, offset } => {
                    let entry = self.first(id)?;
                    if offset != self.written.at {
                        let text = "is another file than before the outage; what is out cannot be taken back";
                        return Err(Problem::new(Code::Changed, self.label(&entry, text)).into());
                    }
                    self.body(&entry)?;
                }
                Record::Withdraw { id, problem } => {
                    self.first(id)?;
                    self.fail(id, problem)?;
                }
                Record::Finish if self.offered.is_empty() => {
                    self.outbox.push(&Record::Finished)?;
                    return self.outbox.flush();
                }
                _ => return Err(violation("sent a record that a sender does not send").into()),
            }
        }
    }

    /// Asks for the next file.
    fn ask(&mut self) -> Result<(), Fault> {
        let Some(entry) = self.offered.front().filter(|_| !self.asked) else {
            return Ok(());
        };
        if self.written.at == 0 {
            self.written.hash = ContentHash::new(entry.stored.is_some());
        }
        self.asked = true;
        self.outbox.push(&Record::Want {
            id: entry.id,
            offset: self.written.at,
            prefix: self.written.hash.value(),
        })
    }

    fn offer(&mut self, entry: Entry) -> Result<(), Fault> {
        let (id, size) = (entry.id, entry.kind.size());
        if self.asked && self.offered.front().is_some_and(|first| first.id == id) {
            // It has changed meanwhile.
            self.asked = false;
            self.offered[0] = entry;
        } else if !matches!(entry.kind, Kind::File { .. }) {
            let text = "is no file; only files go to standard output, devices and fifos";
            let problem = Problem::new(Code::InTheWay, self.label(&entry, text));
            self.tally.problem(problem.clone());
            return self.outbox.push(&Record::Failed { id, problem });
        } else if entry.path.is_empty() {
            self.tally.offered.add(size);
            self.offered.push_back(entry);
        } else {
            // In a directory, which was refused.
            let problem = Problem::new(Code::Parent, "only files go to standard output");
            return self.outbox.push(&Record::Failed { id, problem });
        }
        if self.written.at > size {
            let text = "is shorter than before the outage; what is out cannot be taken back";
            return Err(Problem::new(Code::Changed, self.label(&self.offered[0], text)).into());
        }
        Ok(())
    }

    /// Content up to its end.
    fn body(&mut self, entry: &Entry) -> Result<(), Fault> {
        let size = entry.kind.size();
        loop {
            self.tally.check()?;
            match self.inbox.expect()? {
                Record::Piece { id, len } if id == entry.id => {
                    let (written, tally) = (&mut *self.written, self.tally);
                    self.inbox.content(len, |content| put(written, tally, &content))?;
                }
                Record::Hole { id, len } if id == entry.id && len <= size.saturating_sub(self.written.at) => {
                    self.zeros(len)?;
                }
                Record::End { id, hash } if id == entry.id => return self.end(entry, &hash),
                Record::Entry(renewed) => {
                    let same = renewed.id == entry.id;
                    self.offer(renewed)?;
                    if same {
                        return Ok(());
                    }
                }
                Record::Withdraw { id, problem } if id == entry.id => return self.fail(id, problem),
                Record::Note { problem, .. } => self.tally.problem(self.tally.told(problem)),
                _ => return Err(violation("sent something else than content").into()),
            }
            if self.written.at > size {
                return Err(violation("sent more of a file than it offered").into());
            }
        }
    }

    fn end(&mut self, entry: &Entry, hash: &Hash) -> Result<(), Fault> {
        if self.written.at != entry.kind.size() {
            return Err(violation("ends a file too early").into());
        }
        if self.written.hash.value() != *hash {
            let text = "arrived damaged, and what is out cannot be taken back; copy it again, or to a file";
            return Err(Problem::new(Code::Mismatch, self.label(entry, text)).into());
        }
        self.done(entry.id)
    }

    /// Nothing of it is out: it may be sent again.
    fn mismatched(&mut self, entry: &Entry) -> Result<(), Fault> {
        if std::mem::replace(&mut self.again, true) {
            let text = "arrived damaged twice; look for a fault in memory or network";
            return Err(Problem::new(Code::Mismatch, self.label(entry, text)).into());
        }
        self.tally.damaged.add(1);
        self.asked = false;
        Ok(())
    }

    fn zeros(&mut self, mut octets: u64) -> Result<(), Fault> {
        while octets > 0 {
            self.tally.check()?;
            let part = octets.min(ZEROS.len() as u64);
            let zeros = Bytes::from_static(&ZEROS[..usize::try_from(part).unwrap_or(ZEROS.len())]);
            self.put(&[zeros])?;
            octets -= part;
        }
        Ok(())
    }

    fn put(&mut self, content: &[Bytes]) -> Result<(), Fault> {
        put(self.written, self.tally, content)
    }

    /// The file that is asked for.
    fn first(&self, id: u64) -> Result<Entry, Problem> {
        match self.offered.front() {
            Some(entry) if self.asked && entry.id == id => Ok(entry.clone()),
            _ => Err(violation("sent a file nobody wants")),
        }
    }

    fn done(&mut self, id: u64) -> Result<(), Fault> {
        self.tally.files.add(1);
        self.settle();
        self.outbox.push(&Record::Done { id })
    }

    fn fail(&mut self, id: u64, problem: Problem) -> Result<(), Fault> {
        self.tally.problem(self.tally.told(problem.clone()));
        if self.written.at > 0 {
            // Half a file is out: its reader must not take it for a whole one.
            return Err(problem.into());
        }
        self.settle();
        self.outbox.push(&Record::Failed { id, problem })
    }

    fn settle(&mut self) {
        if let Some(entry) = self.offered.pop_front() {
            self.written.sources = self.before + entry.source as usize + 1;
        }
        self.asked = false;
        self.again = false;
        self.written.at = 0;
    }

    fn label(&self, entry: &Entry, text: &str) -> String {
        format!("{}: {text}", self.tally.there(shown(&entry.name).as_bytes()))
    }
}

fn put(written: &mut Written, tally: &Tally, content: &[Bytes]) -> Result<(), Fault> {
    let Some((label, out)) = &mut written.out else {
        return Err(violation("sent a file nobody wants").into());
    };
    for part in content {
        out.write_all(part)
            .map_err(|error| Fault::unwritten(&*label, &error))?;
        written.hash.update(part);
        written.at += part.len() as u64;
        tally.sent.add(part.len() as u64);
        tally.settled.add(part.len() as u64);
    }
    out.flush().map_err(|error| Fault::unwritten(&*label, &error))
}
