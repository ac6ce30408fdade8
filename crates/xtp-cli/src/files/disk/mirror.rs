//! `--delete`: what the sender does not have goes from the directories that are copied, when all else is done.
//!
//! Nothing goes if anything at the source could not be looked at: what was not seen there may be there. What is left
//! out, by a pattern or because it cannot be copied, is left alone here as well.

use std::collections::{HashMap, HashSet};

use super::super::names::is_partial;
use super::*;
use crate::files::pattern::Excludes;
use crate::files::problem::left;
use crate::files::way::Way;

/// Octets of names kept until the end.
const NAME_MEMORY: usize = 256 << 20;
/// What a name costs besides its octets.
const NAME_COST: usize = 48;

/// A directory that is copied.
struct Known {
    /// Where it is below its source, for patterns.
    below: RelPath,
    /// What the sender has in it.
    names: HashSet<Vec<u8>>,
}

/// What the sender has.
pub(super) struct Mirror {
    excludes: Excludes,
    folders: HashMap<RelPath, Known>,
    memory: usize,
    /// Why nothing is to be removed.
    blocked: bool,
}

impl Mirror {
    pub(super) fn new(excludes: Excludes) -> Self {
        Self {
            excludes,
            folders: HashMap::new(),
            memory: 0,
            blocked: false,
        }
    }

    /// The sender has this.
    ///
    /// # Errors
    /// If there is more than can be kept in mind.
    pub(super) fn offered(&mut self, entry: &Entry, place: &Place) -> Result<(), Problem> {
        self.keep(&place.path)?;
        if entry.kind == Kind::Directory && !self.folders.contains_key(&place.path) {
            let below = RelPath::from_peer(&entry.path)?;
            let octets = place.path.as_bytes().len() + below.as_bytes().len() + size_of::<Known>();
            self.remember(octets, &place.path)?;
            let names = HashSet::new();
            self.folders.insert(place.path.clone(), Known { below, names });
        }
        Ok(())
    }

    /// What is at `path` stays.
    ///
    /// # Errors
    /// As [`offered`](Self::offered).
    pub(super) fn keep(&mut self, path: &RelPath) -> Result<(), Problem> {
        let Some((above, name)) = path.split() else {
            return Ok(());
        };
        if let Some(known) = self.folders.get_mut(&above)
            && known.names.insert(name.to_vec())
        {
            self.remember(name.len() + NAME_COST, path)?;
        }
        Ok(())
    }

    /// Not all of the source was seen: nothing is removed.
    pub(super) fn block(&mut self) {
        self.blocked = true;
    }

    fn remember(&mut self, octets: usize, path: &RelPath) -> Result<(), Problem> {
        self.memory += octets;
        if self.memory > NAME_MEMORY {
            self.blocked = true;
            let text = format!(
                "{path}: more names than --delete can compare; nothing is deleted; copy parts of the tree"
            );
            return Err(Problem::new(Code::Limit, text));
        }
        Ok(())
    }
}

impl Disk<'_> {
    /// Something is at the source and is not offered.
    pub(super) fn missed(&mut self, source: u32, path: &[u8], problem: Problem) -> Result<(), Fault> {
        if let Some(mirror) = &mut self.mirror {
            match self.places.path_of(source, path)? {
                _ if problem.code == Code::Remark => {}
                Some(path) if matches!(problem.code, Code::Skipped | Code::Special) => mirror.keep(&path)?,
                _ => mirror.block(),
            }
        }
        self.tally.problem(self.tally.told(problem));
        Ok(())
    }

    /// Removes what the sender does not have.
    pub(super) fn prune(&mut self) -> Result<(), Fault> {
        let Some(mirror) = self.mirror.take() else {
            return Ok(());
        };
        if mirror.blocked || self.refused {
            let target = self.places.target();
            let text = format!("{target}: nothing was deleted, because not everything could be copied");
            return self.refuse(u64::MAX, 0, Problem::new(Code::Skipped, text));
        }
        // In order, so that it is told in order.
        let mut folders: Vec<_> = mirror.folders.iter().collect();
        folders.sort_unstable_by_key(|(path, _)| *path);
        for (path, known) in folders {
            self.tally.check()?;
            let folder = match self.places.folder(path) {
                Ok(folder) => folder,
                // A copy that only says what it would do has not made it.
                Err(problem) if problem.code == Code::NotFound => continue,
                Err(problem) => return Err(problem.into()),
            };
            let outcome = self.prune_folder(folder, (path, &known.below), &known.names, &mirror.excludes);
            self.or_refuse(outcome, ())?;
        }
        Ok(())
    }

    /// Removes what is in a directory and not among `kept`.
    fn prune_folder(
        &mut self,
        folder: Folder,
        (path, below): (&RelPath, &RelPath),
        kept: &HashSet<Vec<u8>>,
        excludes: &Excludes,
    ) -> Result<(), Fault> {
        let mut pruning = Pruning {
            way: Way::default(),
            levels: Vec::new(),
            path: path.clone(),
            below: below.clone(),
        };
        self.begin_pruning(&mut pruning, folder)?;
        while let Some(level) = pruning.levels.last_mut() {
            self.tally.check()?;
            let Some(name) = level.names.next() else {
                self.end_pruning(&mut pruning)?;
                continue;
            };
            if pruning.levels.len() == 1 && kept.contains(&name) {
                continue;
            }
            // What cannot go is in the way of nothing else.
            let outcome = self.prune_name(&mut pruning, &name, excludes);
            let stays = self.or_refuse(outcome, true)?;
            if stays && let Some(level) = pruning.levels.last_mut() {
                level.empty = false;
            }
        }
        Ok(())
    }

    /// Goes into a directory.
    fn begin_pruning(&mut self, pruning: &mut Pruning, folder: Folder) -> Result<(), Problem> {
        let failed = |error: std::io::Error| Problem::io(self.places.label(&pruning.path), &error);
        let names = folder.names().map_err(failed)?.into_iter();
        pruning.way.enter(folder).map_err(failed)?;
        pruning.levels.push(Level {
            octets: (pruning.path.as_bytes().len(), pruning.below.as_bytes().len()),
            names,
            empty: true,
        });
        Ok(())
    }

    /// Goes back from a directory and removes it if nothing stayed in it.
    fn end_pruning(&mut self, pruning: &mut Pruning) -> Result<(), Fault> {
        let (done, gone) = (pruning.levels.pop(), pruning.path.clone());
        let Some(level) = pruning.levels.last_mut() else {
            return Ok(());
        };
        pruning.path.truncate(level.octets.0);
        pruning.below.truncate(level.octets.1);
        let failed = |error: std::io::Error| Problem::io(self.places.label(&gone), &error);
        let places = &self.places;
        let left = pruning.way.leave(|| places.reopen(&pruning.path));
        left.map_err(failed)?;
        let (Some(folder), Some((_, name))) = (pruning.way.here(), gone.split()) else {
            return Ok(());
        };
        let removed = match done.is_some_and(|done| done.empty) {
            true if self.options.dry_run => Ok(true),
            true => folder.remove_folder(name).map_err(failed),
            false => Ok(false),
        };
        let removed = self.or_refuse(removed.map_err(Fault::from), false)?;
        if removed {
            return self.removed(&gone);
        }
        if let Some(level) = pruning.levels.last_mut() {
            level.empty = false;
        }
        Ok(())
    }

    /// Whether a name is that of a file under construction. One without a writer may be continued by a later copy, and
    /// is reported.
    fn is_unfinished(&mut self, folder: &Folder, name: &[u8], path: &RelPath) -> Result<bool, Fault> {
        let seen = match is_partial(name) {
            true => folder.find(name).ok().flatten(),
            false => None,
        };
        if !seen.is_some_and(|seen| seen.is_unfinished()) {
            return Ok(false);
        }
        if !folder.is_in_use(name) {
            let problem = left(self.places.label(path), "it stays");
            self.tally.problem(problem.clone());
            self.outbox.push(&Record::Failed {
                id: u64::MAX,
                problem,
            })?;
        }
        Ok(true)
    }

    /// Removes what has a name, or goes into it; whether it stays.
    fn prune_name(&mut self, pruning: &mut Pruning, name: &[u8], excludes: &Excludes) -> Result<bool, Fault> {
        let Some(folder) = pruning.way.here().cloned() else {
            return Ok(true);
        };
        let (path, below) = (pruning.path.join(name)?, pruning.below.join(name)?);
        let label = self.places.label(&path);
        let failed = |error: std::io::Error| Problem::io(&label, &error);
        if self.is_unfinished(&folder, name, &path)? {
            return Ok(true);
        }
        let Some(seen) = folder.find(name).map_err(failed)? else {
            return Ok(false);
        };
        let is_folder = seen.shape() == Shape::Directory;
        if excludes.leave_out(below.as_bytes(), is_folder) {
            return Ok(true);
        }
        if is_folder {
            let open = folder.enter(name).map_err(failed)?;
            if !self.options.dry_run {
                open.let_owner_in();
            }
            let before = (pruning.path.clone(), pruning.below.clone());
            (pruning.path, pruning.below) = (path, below);
            let begun = self.begin_pruning(pruning, open);
            if begun.is_err() {
                (pruning.path, pruning.below) = before;
            }
            begun?;
            return Ok(false);
        }
        if !self.options.dry_run {
            folder.remove(name).map_err(failed)?;
        }
        self.removed(&path)?;
        Ok(false)
    }

    /// Something is gone.
    fn removed(&mut self, path: &RelPath) -> Result<(), Fault> {
        let label = self.places.label(path);
        self.tally.deleted.add(1);
        self.tally.list_deleted(&label);
        let path = path.as_bytes().to_vec();
        self.outbox.push(&Record::Deleted { path })
    }

    /// That something cannot be removed is told, and it stays.
    fn or_refuse<T>(&mut self, outcome: Result<T, Fault>, refused: T) -> Result<T, Fault> {
        match outcome {
            Err(Fault::Here(problem)) => self.refuse(u64::MAX, 0, problem).map(|()| refused),
            outcome => outcome,
        }
    }
}

/// Where a removal is in a tree.
struct Pruning {
    way: Way,
    levels: Vec<Level>,
    /// Of the deepest level, from the root and below its source.
    path: RelPath,
    below: RelPath,
}

/// A directory whose names are gone through.
struct Level {
    /// Octets of both its paths, which are the beginnings of the deepest one's.
    octets: (usize, usize),
    names: std::vec::IntoIter<Vec<u8>>,
    /// Nothing stayed so far.
    empty: bool,
}
