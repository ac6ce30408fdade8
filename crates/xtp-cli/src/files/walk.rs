//! The sender's way through its sources: everything in a tree, directories before what is in them.

use std::io;
use std::sync::Arc;

use super::names::{RelPath, is_partial, shown, stays_inside};
use super::problem::{Code, Problem};
use super::record::{Entry, Kind};
use super::root::{Folder, Root, Seen, Shape};

/// One source argument.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) root: Arc<Root>,
    /// Where it is below the root.
    pub(crate) start: RelPath,
    /// What it is called at the target; empty if its content belongs right into the target.
    pub(crate) name: Vec<u8>,
    /// What messages call it.
    pub(crate) label: String,
}

impl Source {
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

/// The walk: an iterator of entries (without their numbers) and of problems on the way.
pub(crate) struct Walk {
    sources: Vec<Source>,
    next_source: usize,
    levels: Vec<Level>,
}

impl Walk {
    pub(crate) fn new(sources: Vec<Source>) -> Self {
        Self {
            sources,
            next_source: 0,
            levels: Vec::new(),
        }
    }

    /// The source with this number.
    pub(crate) fn source(&self, number: u32) -> &Source {
        &self.sources[number as usize]
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
            return Ok(Some(entry(
                number,
                &source,
                &RelPath::default(),
                &seen,
                Kind::Directory,
            )));
        };
        if is_partial(name) {
            let text = format!("{}: is part of an unfinished copy; skipped", source.label);
            return Err(Problem::new(Code::Special, text));
        }
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
        let kind = match seen.shape() {
            Shape::Directory => {
                let inner = folder.enter(name).map_err(|error| Problem::io(label(), &error))?;
                self.descend(number, inner, path.clone())?;
                Kind::Directory
            }
            Shape::File => Kind::File { size: seen.size() },
            Shape::Link => {
                let target = folder
                    .link_target(name)
                    .map_err(|error| Problem::io(label(), &error))?;
                if !stays_inside(&target, path.depth().saturating_sub(1)) {
                    let text = format!(
                        "{}: is a symbolic link that leads outside ({}); skipped",
                        label(),
                        shown(&target)
                    );
                    return Err(Problem::new(Code::Special, text));
                }
                Kind::Link { target }
            }
            Shape::Other => {
                let text = format!("{}: is a socket, fifo or device; skipped", label());
                return Err(Problem::new(Code::Special, text));
            }
        };
        Ok(Some(entry(number, &source, path, &seen, kind)))
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

impl Iterator for Walk {
    type Item = Result<Entry, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = match self.levels.last_mut() {
                Some(level) => match level.names.next() {
                    None => {
                        self.levels.pop();
                        continue;
                    }
                    Some(name) if is_partial(&name) => continue,
                    Some(name) => {
                        let (folder, path) = (level.folder.clone(), level.path.join(&name));
                        path.and_then(|path| self.visit(self.next_source - 1, &folder, &name, &path))
                    }
                },
                None if self.next_source < self.sources.len() => {
                    self.next_source += 1;
                    self.visit_source(self.next_source - 1)
                }
                None => return None,
            };
            match found {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(Ok(entry)),
                Err(problem) => return Some(Err(problem)),
            }
        }
    }
}

fn entry(number: usize, source: &Source, path: &RelPath, seen: &Seen, kind: Kind) -> Entry {
    Entry {
        id: 0,
        source: u32::try_from(number).unwrap_or(u32::MAX),
        path: path.as_bytes().to_vec(),
        name: if path.is_root() {
            source.name.clone()
        } else {
            Vec::new()
        },
        kind,
        mode: seen.mode(),
        modified: seen.modified(),
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
