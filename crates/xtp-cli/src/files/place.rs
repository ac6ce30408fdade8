//! Where things land: the target as it was named, as `cp` understands it.

use std::sync::Arc;

use super::names::{RelPath, check_name};
use super::pattern::Excludes;
use super::problem::{Code, Problem, violation};
use super::record::{CopyOptions, Entry, Kind};
use super::root::{Folder, Root, Shape};

/// Where one thing goes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Below the root.
    pub(crate) path: RelPath,
    /// What messages call it.
    pub(crate) label: String,
    /// Its directory, and its name there; `None` for the root itself, and where a copy that only says what it would do
    /// has not made the directory.
    pub(crate) at: Option<(Folder, Vec<u8>)>,
}

/// The target of a copy.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) root: Arc<Root>,
    pub(crate) path: RelPath,
    /// More than one source: the target is a directory, made if necessary.
    pub(crate) several: bool,
    /// Written with a slash at the end: a directory for files, made if necessary.
    pub(crate) slash: bool,
    /// What messages put before paths below the root.
    pub(crate) prefix: String,
    /// The names of the sources, if this end asked for them: nothing else may arrive at the target.
    pub(crate) names: Option<Vec<Vec<u8>>>,
    pub(crate) options: CopyOptions,
    /// What was left out at the source, and is left alone here.
    pub(crate) excludes: Excludes,
}

/// Finds the places of entries, source after source.
pub(crate) struct Places {
    target: Target,
    /// The source whose entries come now, and where it goes.
    current: Option<(u32, RelPath)>,
    /// The directory used last.
    folder: Option<(RelPath, Folder)>,
    /// A directory that could not be made: what is in it has no place.
    broken: Option<RelPath>,
    /// The target, where a copy that only says what it would do would make it a directory.
    imagined: Option<RelPath>,
}

impl Places {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            current: None,
            folder: None,
            broken: None,
            imagined: None,
        }
    }

    /// What messages call `path`.
    pub(crate) fn label(&self, path: &RelPath) -> String {
        match (self.target.prefix.as_str(), path.is_root()) {
            ("", _) => path.to_string(),
            (prefix, true) => prefix.trim_end_matches('/').to_owned(),
            (prefix, false) => format!("{prefix}{path}"),
        }
    }

    /// What messages call the target.
    pub(crate) fn target(&self) -> String {
        self.label(&self.target.path)
    }

    /// Where an entry goes.
    ///
    /// # Errors
    /// If it cannot go anywhere; [`Code::Protocol`] if it is no entry.
    pub(crate) fn place(&mut self, entry: &Entry) -> Result<Place, Problem> {
        let below = RelPath::from_peer(&entry.path)?;
        if below.is_root() {
            self.current = None;
            let base = self.base(entry)?;
            self.current = Some((entry.source, base));
        }
        let path = match &self.current {
            Some((source, base)) if *source == entry.source => base.append(&below)?,
            // The source itself had no place, and that was said.
            _ => return Err(Problem::new(Code::Parent, "the source has no place")),
        };
        if self.broken.as_ref().is_some_and(|broken| path.is_within(broken)) {
            return Err(Problem::new(Code::Parent, "the directory has no place"));
        }
        let label = self.label(&path);
        let Some((parent, name)) = path.split() else {
            return Ok(Place {
                path,
                label,
                at: None,
            });
        };
        let name = name.to_vec();
        let at = match self.folder(&parent) {
            Err(problem)
                if problem.code == Code::NotFound
                    && self.target.options.dry_run
                    && (!below.is_root() || self.imagined.as_ref() == Some(&parent)) =>
            {
                None
            }
            folder => Some((folder?, name)),
        };
        Ok(Place { path, label, at })
    }

    /// Where `path` below a source goes; `None` if that source has no place now.
    ///
    /// # Errors
    /// [`Code::Protocol`] if it is no path.
    pub(crate) fn path_of(&self, source: u32, path: &[u8]) -> Result<Option<RelPath>, Problem> {
        let below = RelPath::from_peer(path)?;
        match &self.current {
            Some((current, base)) if *current == source => base.append(&below).map(Some),
            _ => Ok(None),
        }
    }

    /// The directory `place` could not be made: nothing in it has a place.
    pub(crate) fn breaks(&mut self, path: &RelPath) {
        self.broken = Some(path.clone());
    }

    /// The directory at `path`, opened anew.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn reopen(&self, path: &RelPath) -> std::io::Result<Folder> {
        let (root, named) = (&self.target.root, &self.target.path);
        match path.below(named) {
            Some(below) => root.folder(named).and_then(|top| root.below(&top, &below)),
            None => root.folder(path),
        }
    }

    /// Whether the user named this path: links on its way are followed as long as they stay inside.
    pub(crate) fn is_named(&self, path: &RelPath) -> bool {
        self.target.path.is_within(path)
    }

    /// The directory at `path`. Below what the user named no link is followed.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn folder(&mut self, path: &RelPath) -> Result<Folder, Problem> {
        match &self.folder {
            Some((known, folder)) if known == path => Ok(folder.clone()),
            _ => {
                let folder = self.reopen(path);
                let folder = folder.map_err(|error| Problem::io(self.label(path), &error))?;
                self.folder = Some((path.clone(), folder.clone()));
                Ok(folder)
            }
        }
    }

    fn is_local_link(&mut self, target: &RelPath) -> bool {
        let (true, Some((parent, name))) = (self.target.names.is_some(), target.split()) else {
            return false;
        };
        let seen = self
            .folder(&parent)
            .ok()
            .and_then(|folder| folder.look(name).ok());
        seen.is_some_and(|seen| seen.shape() == Shape::Link)
    }

    /// Where a source goes: into the target if that is a directory, else it becomes the target.
    fn base(&mut self, entry: &Entry) -> Result<RelPath, Problem> {
        if !entry.name.is_empty() {
            check_name(&entry.name)?;
        }
        if let Some(names) = &self.target.names
            && names.get(entry.source as usize) != Some(&entry.name)
        {
            return Err(violation("sent a file that nobody asked for"));
        }
        let target = self.target.path.clone();
        let label = self.label(&target);
        let directory = match self.target.root.folder(&target) {
            Ok(_) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            // A link of this machine that leads elsewhere, to no directory, is replaced as any other.
            Err(error) if is_in_the_way(&error) || self.is_local_link(&target) => {
                if self.target.several || self.target.slash || entry.kind == Kind::Directory {
                    let text = format!("{label}: is no directory; name one, or another target");
                    return Err(Problem::new(Code::InTheWay, text));
                }
                false
            }
            Err(error) => return Err(Problem::io(label, &error)),
        };
        if directory {
            return target.join(&entry.name);
        }
        let wants_directory = self.target.several || (self.target.slash && entry.kind != Kind::Directory);
        if wants_directory && self.target.options.dry_run {
            self.imagined = Some(target.clone());
            return target.join(&entry.name);
        }
        if wants_directory {
            let (parent, name) = target.split().ok_or_else(|| violation("named no target"))?;
            self.folder(&parent)?
                .make_folder(name, 0o777)
                .map_err(|error| Problem::io(label, &error))?;
            return target.join(&entry.name);
        }
        Ok(target)
    }
}

/// Something that is no directory, or a link that leads to none.
fn is_in_the_way(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    errno == Some(Errno::NOTDIR) || errno == Some(Errno::LOOP)
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
