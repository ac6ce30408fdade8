//! What a server has at a path, or at all that a pattern stands for: the server's side of `xtp ls` and of patterns in
//! the sources of `xtp cp`.

use super::channel::Outbox;
use super::names::{RelPath, shown};
use super::pattern::{is_pattern, matches_name};
use super::problem::{Code, Fault, Problem};
use super::record::{Entry, Kind, Record};
use super::root::{Folder, Root, Seen, Shape};
use super::session::SOURCE_LIMIT;
use super::tally::Tally;

/// Lists `paths`; of directories what is in them, or with `itself` what they are.
///
/// # Errors
/// If the association is over. What cannot be listed is told to the client.
pub(crate) fn send(
    outbox: &mut Outbox<'_>,
    root: &Root,
    paths: &[Vec<u8>],
    itself: bool,
    tally: &Tally,
) -> Result<(), Fault> {
    let mut listing = Listing {
        outbox,
        root,
        tally,
        next_id: 0,
    };
    for (source, path) in paths.iter().enumerate() {
        let source = u32::try_from(source).unwrap_or(u32::MAX);
        match listing.list(source, path, itself) {
            Err(Fault::Here(problem)) if problem.code != Code::Protocol => {
                listing.note(source, &RelPath::default(), problem)?;
            }
            outcome => outcome?,
        }
    }
    listing.outbox.push(&Record::Finish)?;
    listing.outbox.flush()
}

struct Listing<'a, 'b> {
    outbox: &'a mut Outbox<'b>,
    root: &'a Root,
    tally: &'a Tally,
    next_id: u64,
}

impl Listing<'_, '_> {
    fn list(&mut self, source: u32, path: &[u8], itself: bool) -> Result<(), Fault> {
        let path = RelPath::from_user(path)?;
        for found in self.expand(&path)? {
            let failed = |error: std::io::Error| Problem::io(found.to_string(), &error);
            let Some((above, name)) = found.split() else {
                let folder = self.root.folder(&found).map_err(failed)?;
                if itself {
                    let seen = folder.seen().map_err(failed)?;
                    self.entry(source, &found, &folder, b"", &seen)?;
                } else {
                    self.inside(source, &found, &folder)?;
                }
                continue;
            };
            let folder = self.root.folder(&above).map_err(failed)?;
            let seen = folder.look(name).map_err(failed)?;
            if seen.shape() == Shape::Directory && !itself {
                let inner = self.root.folder(&found).map_err(failed)?;
                self.inside(source, &found, &inner)?;
            } else {
                self.entry(source, &found, &folder, name, &seen)?;
            }
        }
        Ok(())
    }

    /// What is in a directory.
    fn inside(&mut self, source: u32, path: &RelPath, folder: &Folder) -> Result<(), Fault> {
        let names = folder
            .names()
            .map_err(|error| Problem::io(path.to_string(), &error))?;
        for name in names {
            self.tally.check()?;
            let inner = path.join(&name)?;
            match folder.find(&name) {
                Ok(Some(seen)) => self.entry(source, &inner, folder, &name, &seen)?,
                Ok(None) => {}
                Err(error) => self.note(source, &inner, Problem::io(inner.to_string(), &error))?,
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        source: u32,
        path: &RelPath,
        folder: &Folder,
        name: &[u8],
        seen: &Seen,
    ) -> Result<(), Fault> {
        let kind = match seen.shape() {
            Shape::Directory => Kind::Directory,
            Shape::File => Kind::File { size: seen.size() },
            Shape::Link => Kind::Link {
                target: folder.link_target(name).unwrap_or_default(),
            },
            Shape::Other => {
                let text = format!("{path}: is a socket, fifo or device");
                return self.note(source, path, Problem::new(Code::Skipped, text));
            }
        };
        let id = self.next_id;
        self.next_id += 1;
        self.outbox.push(&Record::Entry(Entry {
            id,
            source,
            path: path.as_bytes().to_vec(),
            name: Vec::new(),
            kind,
            stored: None,
            hash: None,
            mode: seen.mode(),
            owner: seen.owner(),
            modified: seen.modified(),
        }))
    }

    fn note(&mut self, source: u32, path: &RelPath, problem: Problem) -> Result<(), Fault> {
        self.outbox.push(&Record::Note {
            source,
            path: path.as_bytes().to_vec(),
            problem,
        })
    }

    /// All paths a path stands for: itself if there is something of this name, else what it matches as a pattern.
    fn expand(&self, path: &RelPath) -> Result<Vec<RelPath>, Fault> {
        if path.is_root() || !is_pattern(path.as_bytes()) || self.is_there(path) {
            return Ok(vec![path.clone()]);
        }
        let mut found = vec![RelPath::default()];
        for part in path.as_bytes().split(|octet| *octet == b'/') {
            let mut next = Vec::new();
            for above in &found {
                self.tally.check()?;
                self.matching(above, part, &mut next)?;
                if next.len() > SOURCE_LIMIT {
                    let text = format!("{path}: stands for more than {SOURCE_LIMIT} names");
                    return Err(Problem::new(Code::Limit, text).into());
                }
            }
            found = next;
        }
        if found.is_empty() {
            let text = format!("{}: nothing has such a name", shown(path.as_bytes()));
            return Err(Problem::new(Code::NotFound, text).into());
        }
        Ok(found)
    }

    /// What one name of a pattern stands for in a directory.
    fn matching(&self, above: &RelPath, part: &[u8], found: &mut Vec<RelPath>) -> Result<(), Fault> {
        if !is_pattern(part) {
            let path = above.join(part)?;
            if self.is_there(&path) {
                found.push(path);
            }
            return Ok(());
        }
        // What is no directory, or may not be looked into, has nothing that matches.
        let Ok(names) = self.root.folder(above).and_then(|folder| folder.names()) else {
            return Ok(());
        };
        for name in names {
            // Hidden names have to be asked for.
            let hidden = name.starts_with(b".") && !part.starts_with(b".");
            if !hidden && matches_name(part, &name) {
                found.push(above.join(&name)?);
            }
        }
        Ok(())
    }

    fn is_there(&self, path: &RelPath) -> bool {
        let Some((above, name)) = path.split() else {
            return true;
        };
        let folder = self.root.folder(&above);
        folder.is_ok_and(|folder| matches!(folder.find(name), Ok(Some(_))))
    }
}
