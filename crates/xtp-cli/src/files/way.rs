//! The directories between the top of a tree and where a walk is. Few of them are open: a tree may be deeper than a process may have files.

use std::io;

use super::root::Folder;

/// Directories that stay open, from the deepest on.
const OPEN: usize = 12;

#[derive(Debug)]
struct Step {
    /// Device and number.
    identity: (u64, u64),
    folder: Option<Folder>,
}

/// A stack of directories, each in the one before.
#[derive(Debug, Default)]
pub(crate) struct Way(Vec<Step>);

impl Way {
    /// Goes into a directory.
    ///
    /// # Errors
    /// If the system does not say which one it is.
    pub(crate) fn enter(&mut self, folder: Folder) -> io::Result<()> {
        let identity = folder.identity()?;
        let folder = Some(folder);
        self.0.push(Step { identity, folder });
        if let Some(above) = self.0.len().checked_sub(OPEN + 1) {
            self.0[above].folder = None;
        }
        Ok(())
    }

    /// The deepest directory.
    pub(crate) fn here(&self) -> Option<&Folder> {
        self.0.last().and_then(|step| step.folder.as_ref())
    }

    /// Whether a directory is on the way.
    pub(crate) fn has(&self, identity: (u64, u64)) -> bool {
        self.0.iter().any(|step| step.identity == identity)
    }

    /// Goes back to the directory above, which `again` opens if it is not the one above this one any more: behind a link, or
    /// where this one was moved.
    ///
    /// # Errors
    /// If that is not where the walk came from.
    pub(crate) fn leave(&mut self, again: impl FnOnce() -> io::Result<Folder>) -> io::Result<()> {
        let Some(left) = self.0.pop() else { return Ok(()) };
        let Some(here) = self.0.last_mut() else {
            return Ok(());
        };
        if here.folder.is_some() {
            return Ok(());
        }
        let is_here = |folder: &Folder| folder.identity().is_ok_and(|identity| identity == here.identity);
        let above = left.folder.and_then(|folder| folder.above().ok()).filter(is_here);
        let folder = above.map_or_else(again, Ok)?;
        if !is_here(&folder) {
            return Err(io::Error::other("was moved while it was read"));
        }
        here.folder = Some(folder);
        Ok(())
    }
}

#[cfg(test)]
#[path = "way_tests.rs"]
mod tests;
