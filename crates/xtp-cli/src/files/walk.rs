//! The sender's way through its sources: everything in a tree, directories before what is in them.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::sync::Arc;

use super::extras::{Extras, Lost};
use super::links::Links;
use super::names::{RelPath, is_partial, shown, stays_inside};
use super::pattern::Excludes;
use super::problem::{Code, Problem, left};
use super::record::{Entry, INLINE_LIMIT, Kind};
use super::root::{Folder, Root, Seen, Shape};
use super::way::Way;

/// One source argument.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) root: Arc<Root>,
    /// Links in it lead to what is copied in their place.
    pub(crate) follow: bool,
    /// Where it is below the root.
    pub(crate) start: RelPath,
    /// What it is called at the target; empty if its content belongs right into the target.
    pub(crate) name: Vec<u8>,
    /// What messages call it.
    pub(crate) label: String,
}

impl Source {
    /// The file at `path` below this source.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn file(&self, path: &RelPath, label: &str) -> Result<File, Problem> {
        let path = self.start.append(path)?;
        let file = match self.follow {
            true => self.root.file_behind(&path),
            false => self.root.file(&path),
        };
        file.map_err(|error| Problem::io(label, &error))
    }

    /// What messages call `path` below this source.
    pub(crate) fn shown(&self, path: &[u8]) -> String {
        match (self.label.as_str(), path.is_empty()) {
            (label, true) => label.to_owned(),
            // What is served itself has no name.
            ("", false) => shown(path),
            (label, false) => format!("{}/{}", label.trim_end_matches('/'), shown(path)),
        }
    }
}

/// A directory whose names are gone through.
struct Level {
    /// Octets of its path, which is the beginning of the walk's.
    octets: usize,
    names: std::vec::IntoIter<Vec<u8>>,
}

/// Something that is there and not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missed {
    /// Number of the source.
    pub(crate) source: u32,
    /// Below the source.
    pub(crate) path: Vec<u8>,
    pub(crate) problem: Problem,
}

/// The walk: an iterator of entries (without their numbers) and of problems on the way.
pub(crate) struct Walk {
    sources: Vec<Source>,
    excludes: Excludes,
    /// Whether files that take less of the disk than their size are offered as files with holes, and whether all are.
    holes: Holes,
    links: Links,
    next_source: usize,
    levels: Vec<Level>,
    /// Their directories.
    way: Way,
    /// Below the source, of the deepest level.
    path: RelPath,
    /// What is to be said of what was offered.
    remarks: VecDeque<Missed>,
    lost: Lost,
    /// What was named in a list and did not come by.
    unseen: BTreeSet<Vec<u8>>,
}

/// Which files are offered as files with holes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holes {
    /// None: the receiver cannot make any.
    Never,
    /// Those that have some.
    Kept,
    /// All, because zeros become holes.
    Made,
}

impl Walk {
    pub(crate) fn new(sources: Vec<Source>, excludes: Excludes, holes: Holes, links: Links) -> Self {
        Self {
            sources,
            holes,
            links,
            next_source: 0,
            levels: Vec::new(),
            way: Way::default(),
            path: RelPath::default(),
            lost: Lost::default(),
            unseen: excludes.named(),
            excludes,
            remarks: VecDeque::new(),
        }
    }

    fn remark(&mut self, number: usize, path: &RelPath, problem: Problem) {
        self.remarks.push_back(Missed {
            source: u32::try_from(number).unwrap_or(u32::MAX),
            path: path.as_bytes().to_vec(),
            problem,
        });
    }

    /// The source with this number.
    pub(crate) fn source(&self, number: u32) -> &Source {
        &self.sources[number as usize]
    }

    /// The offer of a file anew, as it is `seen` now.
    pub(crate) fn renewed(&self, offered: &Entry, seen: &Seen, extras: Extras) -> Entry {
        let size = seen.size();
        Entry {
            kind: Kind::File { size },
            stored: self.stored(size, seen),
            mode: extras.narrowed(seen.mode()),
            owner: seen.owner(),
            modified: seen.modified(),
            hash: None,
            ..offered.clone()
        }
    }

    /// Of a file with holes: what it takes of the disk.
    fn stored(&self, size: u64, seen: &Seen) -> Option<u64> {
        let has_holes = match self.holes {
            Holes::Never => false,
            Holes::Kept => seen.stored() < size,
            Holes::Made => true,
        };
        (has_holes && size > INLINE_LIMIT).then(|| seen.stored().min(size))
    }

    /// The source itself; `None` if it is not offered.
    fn visit_source(&mut self, number: usize) -> Result<Option<Entry>, Problem> {
        let source = self.sources[number].clone();
        let failed = |error: io::Error| Problem::io(&source.label, &error);
        let (folder, name) = match source.start.split() {
            None => (source.root.folder(&source.start).map_err(failed)?, None),
            Some((parent, name)) => (source.root.folder(&parent).map_err(failed)?, Some(name)),
        };
        let Some(name) = name else {
            let seen = folder.seen().map_err(failed)?;
            let (extras, top) = (folder.own_extras(), RelPath::default());
            self.descend(number, folder, &top)?;
            return Ok(Some(self.entry(number, &top, (&seen, extras), Kind::Directory)));
        };
        self.visit(number, &folder, name, &RelPath::default())
    }

    /// The thing `name` in `folder`, which is `path` below the source.
    fn visit(
        &mut self,
        number: usize,
        folder: &Folder,
        name: &[u8],
        path: &RelPath,
    ) -> Result<Option<Entry>, Problem> {
        let source = self.sources[number].clone();
        let label = || source.shown(path.as_bytes());
        let seen = match folder.look(name) {
            Ok(seen) => seen,
            // Gone between the listing and now: as if it had never been there.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_root() => return Ok(None),
            Err(error) => return Err(Problem::io(label(), &error)),
        };
        let behind = match seen.shape() == Shape::Link && self.links == Links::Follow {
            true => Some(self.look_behind(number, path)?),
            false => None,
        };
        let (is_link, seen) = (behind.is_some(), behind.unwrap_or(seen));
        self.unseen.remove(path.as_bytes());
        if self.excludes.is_beside(path.as_bytes()) {
            return Ok(None);
        }
        let below = if path.is_root() { name } else { path.as_bytes() };
        if self.excludes.leave_out(below, seen.shape() == Shape::Directory) {
            return Ok(None);
        }
        let extras = folder.extras(name, is_link);
        let kind = match seen.shape() {
            Shape::Directory => {
                let inner = match is_link {
                    true => source.root.folder(&source.start.append(path)?),
                    false => folder.enter(name),
                };
                self.enter(number, inner.map_err(|error| Problem::io(label(), &error))?, path)?;
                Kind::Directory
            }
            Shape::File => {
                if is_partial(name) && folder.is_in_use(name) {
                    let text = format!("{}: a copy is writing it; skipped", label());
                    return Err(Problem::new(skipped(path), text));
                }
                if is_partial(name) && seen.is_unfinished() {
                    self.remark(number, path, left(label(), "it is copied as it is"));
                }
                Kind::File { size: seen.size() }
            }
            Shape::Link => self.link(folder, name, path, label)?,
            Shape::Other => {
                let text = format!("{}: is a socket, fifo or device, which is not copied", label());
                return Err(Problem::new(Code::Special, text));
            }
        };
        Ok(Some(self.entry(number, path, (&seen, extras), kind)))
    }

    fn look_behind(&self, number: usize, path: &RelPath) -> Result<Seen, Problem> {
        let source = &self.sources[number];
        let seen = source.root.look_behind(&source.start.append(path)?);
        seen.map_err(|error| Problem::io(source.shown(path.as_bytes()), &error))
    }

    /// Goes into a directory, if that is none it is in: a link may lead back there.
    fn enter(&mut self, number: usize, inner: Folder, path: &RelPath) -> Result<(), Problem> {
        let source = &self.sources[number];
        let failed = |error: io::Error| Problem::io(source.shown(path.as_bytes()), &error);
        if self.links == Links::Follow && self.way.has(inner.identity().map_err(failed)?) {
            let text = "a link leads to the directory it is in; it is followed without end";
            let text = format!("{}: {text}", source.shown(path.as_bytes()));
            return Err(Problem::new(Code::Limit, text));
        }
        self.descend(number, inner, path)
    }

    /// A link, as far as links are copied.
    fn link(
        &self,
        folder: &Folder,
        name: &[u8],
        path: &RelPath,
        label: impl Fn() -> String,
    ) -> Result<Kind, Problem> {
        let target = folder
            .link_target(name)
            .map_err(|error| Problem::io(label(), &error))?;
        let text = match self.links {
            Links::Skip => "is a symbolic link",
            Links::Inside if !stays_inside(&target, path.depth().saturating_sub(1)) => {
                "is a symbolic link that leads outside"
            }
            Links::Keep | Links::Inside | Links::Follow => return Ok(Kind::Link { target }),
        };
        let text = format!("{}: {text} ({}); skipped", label(), shown(&target));
        Err(Problem::new(skipped(path), text))
    }

    fn entry(&mut self, number: usize, path: &RelPath, (seen, extras): (&Seen, Extras), kind: Kind) -> Entry {
        self.lost.add(extras, seen.has_names());
        let stored = match &kind {
            Kind::File { size } => self.stored(*size, seen),
            _ => None,
        };
        Entry {
            id: 0,
            source: u32::try_from(number).unwrap_or(u32::MAX),
            path: path.as_bytes().to_vec(),
            name: if path.is_root() {
                self.sources[number].name.clone()
            } else {
                Vec::new()
            },
            kind,
            stored,
            hash: None,
            mode: extras.narrowed(seen.mode()),
            owner: seen.owner(),
            modified: seen.modified(),
        }
    }

    fn descend(&mut self, number: usize, folder: Folder, path: &RelPath) -> Result<(), Problem> {
        let failed = |error: io::Error| Problem::io(self.sources[number].shown(path.as_bytes()), &error);
        let names = folder.names().map_err(failed)?;
        self.way.enter(folder).map_err(failed)?;
        self.path = path.clone();
        self.levels.push(Level {
            octets: path.as_bytes().len(),
            names: names.into_iter(),
        });
        Ok(())
    }

    /// Goes back from a directory whose names are through. One above that cannot be opened again ends with its names.
    fn ascend(&mut self) -> Result<(), Problem> {
        self.levels.pop();
        let Some(level) = self.levels.last() else {
            self.path = RelPath::default();
            return self
                .way
                .leave(|| Err(io::ErrorKind::NotFound.into()))
                .map_err(|error| Problem::io("", &error));
        };
        self.path.truncate(level.octets);
        let source = &self.sources[self.next_source - 1];
        let again = || match source.start.append(&self.path) {
            Ok(path) => source.root.folder(&path),
            Err(_) => Err(io::ErrorKind::InvalidInput.into()),
        };
        let left = self.way.leave(again);
        left.map_err(|error| Problem::io(source.shown(self.path.as_bytes()), &error))
    }

    /// What is named next, and below which path.
    fn visit_next(&mut self) -> Option<(Result<Option<Entry>, Problem>, RelPath)> {
        let number = self.next_source.saturating_sub(1);
        while let Some(level) = self.levels.last_mut() {
            let Some(name) = level.names.next() else {
                match self.ascend() {
                    Ok(()) => continue,
                    Err(problem) => {
                        self.forget_names();
                        return Some((Err(problem), self.path.clone()));
                    }
                }
            };
            let Some(folder) = self.way.here().cloned() else {
                continue;
            };
            return Some(match self.path.join(&name) {
                Ok(path) => (self.visit(number, &folder, &name, &path), path),
                Err(problem) => (Err(problem), self.path.clone()),
            });
        }
        if self.next_source < self.sources.len() {
            self.next_source += 1;
            return Some((self.visit_source(self.next_source - 1), RelPath::default()));
        }
        None
    }

    /// What is left in a directory that cannot be opened again.
    fn forget_names(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.names = Vec::new().into_iter();
        }
    }

    /// In the end: what was named and is not there.
    fn tell_unseen(&mut self) -> Option<Missed> {
        let path = self.unseen.pop_first()?;
        let label = self.sources.first()?.shown(&path);
        let text = format!("{label}: is in the list of files, and not there");
        let problem = Problem::new(Code::NotFound, text);
        let source = 0;
        Some(Missed {
            source,
            path,
            problem,
        })
    }

    /// In the end: what all that was offered has and no copy keeps.
    fn tell_lost(&mut self) -> Option<Missed> {
        let text = std::mem::take(&mut self.lost).text()?;
        let label = self.sources.first().map_or("", |source| &source.label);
        let label = if label.is_empty() { "." } else { label };
        let problem = Problem::new(Code::Remark, format!("{label}: {text}"));
        let (source, path) = (u32::MAX, Vec::new());
        Some(Missed {
            source,
            path,
            problem,
        })
    }
}

/// What was named and is not copied is a failure; below it, it is left out.
fn skipped(path: &RelPath) -> Code {
    match path.is_root() {
        true => Code::Special,
        false => Code::Skipped,
    }
}

impl Iterator for Walk {
    type Item = Result<Entry, Missed>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(remark) = self.remarks.pop_front() {
            return Some(Err(remark));
        }
        loop {
            let Some((found, path)) = self.visit_next() else {
                return self.tell_unseen().or_else(|| self.tell_lost()).map(Err);
            };
            match found {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(Ok(entry)),
                Err(problem) => {
                    return Some(Err(Missed {
                        source: u32::try_from(self.next_source - 1).unwrap_or(u32::MAX),
                        path: path.as_bytes().to_vec(),
                        problem,
                    }));
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
