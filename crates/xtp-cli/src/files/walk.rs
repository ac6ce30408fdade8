//! The sender's way through its sources: everything in a tree, directories before what is in them.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;

use super::links::Links;
use super::names::{RelPath, is_partial, shown, stays_inside};
use super::pattern::Excludes;
use super::problem::{Code, Problem, left};
use super::record::{Entry, INLINE_LIMIT, Kind};
use super::root::{Folder, Root, Seen, Shape};

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
        if path.is_empty() {
            self.label.clone()
        } else {
            format!("{}/{}", self.label.trim_end_matches('/'), shown(path))
        }
    }
}

/// An open directory whose names are gone through.
struct Level {
    folder: Folder,
    /// Below the source.
    path: RelPath,
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
    /// What is to be said of what was offered.
    remarks: VecDeque<Missed>,
}

/// Which files are offered as files with holes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holes {
    /// None: whoever receives cannot make any.
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
            excludes,
            holes,
            links,
            next_source: 0,
            levels: Vec::new(),
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
    pub(crate) fn renewed(&self, offered: &Entry, seen: &Seen) -> Entry {
        let size = seen.size();
        Entry {
            kind: Kind::File { size },
            stored: self.stored(size, seen),
            mode: seen.mode(),
            owner: seen.owner(),
            modified: seen.modified(),
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

    /// The source itself; `None` if nobody should see it.
    fn visit_source(&mut self, number: usize) -> Result<Option<Entry>, Problem> {
        let source = self.sources[number].clone();
        let failed = |error: io::Error| Problem::io(&source.label, &error);
        let (folder, name) = match source.start.split() {
            None => (source.root.folder(&source.start).map_err(failed)?, None),
            Some((parent, name)) => (source.root.folder(&parent).map_err(failed)?, Some(name)),
        };
        let Some(name) = name else {
            let seen = folder.seen().map_err(failed)?;
            self.descend(number, folder, RelPath::default())?;
            return Ok(Some(self.entry(
                number,
                &RelPath::default(),
                &seen,
                Kind::Directory,
            )));
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
        let below = if path.is_root() { name } else { path.as_bytes() };
        if self.excludes.leave_out(below, seen.shape() == Shape::Directory) {
            return Ok(None);
        }
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
        Ok(Some(self.entry(number, path, &seen, kind)))
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
        if self.links == Links::Follow {
            let identity = inner.identity().map_err(failed)?;
            for level in &self.levels {
                if level.folder.identity().map_err(failed)? == identity {
                    let text = "a link leads to the directory it is in; it is followed without end";
                    let text = format!("{}: {text}", source.shown(path.as_bytes()));
                    return Err(Problem::new(Code::Limit, text));
                }
            }
        }
        self.descend(number, inner, path.clone())
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

    fn entry(&self, number: usize, path: &RelPath, seen: &Seen, kind: Kind) -> Entry {
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
            mode: seen.mode(),
            owner: seen.owner(),
            modified: seen.modified(),
        }
    }

    fn descend(&mut self, number: usize, folder: Folder, path: RelPath) -> Result<(), Problem> {
        let names = folder
            .names()
            .map_err(|error| Problem::io(self.sources[number].shown(path.as_bytes()), &error))?;
        self.levels.push(Level {
            folder,
            path,
            names: names.into_iter(),
        });
        Ok(())
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
            let (found, path) = match self.levels.last_mut() {
                Some(level) => match level.names.next() {
                    None => {
                        self.levels.pop();
                        continue;
                    }
                    Some(name) => {
                        let (folder, path) = (level.folder.clone(), level.path.join(&name));
                        let above = level.path.clone();
                        match path {
                            Ok(path) => (self.visit(self.next_source - 1, &folder, &name, &path), path),
                            Err(problem) => (Err(problem), above),
                        }
                    }
                },
                None if self.next_source < self.sources.len() => {
                    self.next_source += 1;
                    (self.visit_source(self.next_source - 1), RelPath::default())
                }
                None => return None,
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
