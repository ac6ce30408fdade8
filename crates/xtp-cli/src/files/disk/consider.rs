//! What becomes of an offer: made at once, skipped, asked for, or refused.

use super::*;

impl Disk<'_> {
    /// Decides about an offer.
    pub(super) fn consider(&mut self, entry: Entry) -> Result<(), Fault> {
        let place = self.places.place(&entry)?;
        if let Some(mirror) = &mut self.mirror {
            mirror.offered(&entry, &place)?;
        }
        let is_directory = entry.kind == Kind::Directory;
        if self.options.dry_run || is_directory {
            let made = match self.options.dry_run {
                true => self.rehearse(&entry, &place),
                false => self.make_directory(&entry, &place),
            };
            if made.is_err() && is_directory {
                self.places.breaks(&place.path);
            }
            return made;
        }
        match entry.kind.clone() {
            Kind::Directory => Ok(()),
            Kind::Link { target } => self.make_link(&entry, &place, &target),
            Kind::File { .. } => self.consider_file(entry, place, false),
            Kind::Stream => {
                let (folder, name) = named(&place)?;
                let seen = folder.find(name);
                if let Some(seen) = seen.map_err(|error| Problem::io(&place.label, &error))? {
                    check_replaceable(&seen, &place.label)?;
                }
                self.want(entry, place, false)
            }
        }
    }

    /// What a file or directory is to have besides its content.
    pub(super) fn attributes(&self, entry: &Entry) -> Attributes {
        Attributes {
            mode: self.mode(entry),
            modified: entry.modified,
            owner: self.options.owner.then_some(entry.owner),
        }
    }

    /// Permission bits. Set-user-ID, set-group-ID and sticky bits belong to an owner: without that one a stranger's word is
    /// not enough for them.
    fn mode(&self, entry: &Entry) -> u32 {
        let kept = if self.options.owner { 0o7777 } else { 0o777 };
        entry.mode & kept
    }
    /// What a file that is there is to the one that is offered.
    pub(super) fn is_there(
        &self,
        entry: &Entry,
        folder: &Folder,
        name: &[u8],
        seen: &Seen,
    ) -> Result<There, Fault> {
        let options = &self.options;
        let is_file = seen.shape() == Shape::File;
        let age = |stamp: Stamp| (stamp.seconds, stamp.nanos);
        if options.ignore_existing || options.update && is_file && age(seen.modified()) > age(entry.modified)
        {
            return Ok(There::Stays);
        }
        let same_size = is_file && entry.kind == Kind::File { size: seen.size() };
        let same = match entry.hash {
            _ if options.ignore_times || !same_size => false,
            Some(hash) => match folder.open_file(name) {
                Ok(mut file) => hash_of(&mut file, seen.size(), self.tally)? == Some(hash),
                // What cannot be read is replaced.
                Err(_) => false,
            },
            None if options.checksum => false,
            // A copy has its time later than it says: the sender waits for the tick to be over.
            None => {
                options.size_only || same_time(seen.modified(), entry.modified) && !seen.was_written_then()
            }
        };
        Ok(if same { There::Same } else { There::Other })
    }

    fn make_directory(&mut self, entry: &Entry, place: &Place) -> Result<(), Fault> {
        if let Some((folder, name)) = &place.at {
            let failed = |error: std::io::Error| Problem::io(&place.label, &error);
            // Others do not write to it before it is complete.
            match folder.make_folder(name, entry.mode & !0o022) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    self.check_directory(place, folder, name)?;
                    // It has its mode again in the end.
                    if let Ok(inner) = self.places.folder(&place.path) {
                        inner.let_owner_in();
                    }
                }
                Err(error) => return Err(failed(error).into()),
            }
            self.directory_memory += place.path.as_bytes().len() + size_of::<Directory>();
            if self.directory_memory > DIRECTORY_MEMORY {
                let text = format!(
                    "{}: too many directories in one copy; copy parts of it",
                    place.label
                );
                return Err(Problem::new(Code::Limit, text).into());
            }
            self.directories.push(Directory {
                path: place.path.clone(),
                attributes: self.attributes(entry),
            });
        }
        self.tally.directories.add(1);
        self.outbox.push(&Record::Done { id: entry.id })
    }

    /// Fails if what has the name of a directory is none. A link to one counts as one only where the user named it.
    pub(super) fn check_directory(&self, place: &Place, folder: &Folder, name: &[u8]) -> Result<(), Problem> {
        let seen = folder.look(name);
        let text = match seen.map_err(|error| Problem::io(&place.label, &error))?.shape() {
            Shape::Directory => return Ok(()),
            Shape::Link if self.places.is_named(&place.path) && self.root.folder(&place.path).is_ok() => {
                return Ok(());
            }
            Shape::Link => {
                "is a symbolic link in the way of a directory, and links are not followed; move it"
            }
            Shape::File | Shape::Other => "is in the way of a directory; move it",
        };
        Err(Problem::new(Code::InTheWay, format!("{}: {text}", place.label)))
    }

    fn make_link(&mut self, entry: &Entry, place: &Place, target: &[u8]) -> Result<(), Fault> {
        let (folder, name) = named(place)?;
        let failed = |error: std::io::Error| Problem::io(&place.label, &error);
        if let Some(seen) = folder.find(name).map_err(failed)? {
            check_replaceable(&seen, &place.label)?;
            match seen.shape() {
                _ if self.options.ignore_existing => {
                    self.tally.unchanged.add(1);
                    return self.outbox.push(&Record::Skip { id: entry.id });
                }
                Shape::Link if folder.link_target(name).is_ok_and(|there| there == target) => {
                    self.tally.unchanged.add(1);
                    return self.outbox.push(&Record::Skip { id: entry.id });
                }
                _ => {}
            }
        }
        let hidden = super::super::names::unpredictable_name(name);
        folder.make_link(&hidden, target).map_err(failed)?;
        let owned = match self.options.owner {
            true => folder.set_link_owner(&hidden, entry.owner),
            false => Ok(()),
        };
        let installed = owned
            .and_then(|()| folder.set_link_time(&hidden, entry.modified))
            .and_then(|()| folder.rename(&hidden, name));
        if let Err(error) = installed {
            let removed = folder.remove(&hidden);
            tracing::debug!(?removed, "a link that could not be given its name");
            return Err(failed(error).into());
        }
        self.tally.links.add(1);
        self.tally.list(&place.label);
        self.outbox.push(&Record::Done { id: entry.id })
    }

    pub(super) fn consider_file(&mut self, entry: Entry, place: Place, anew: bool) -> Result<(), Fault> {
        let (folder, name) = named(&place)?;
        let failed = |error: std::io::Error| Problem::io(&place.label, &error);
        if let Some(seen) = folder.find(name).map_err(failed)? {
            check_replaceable(&seen, &place.label)?;
            let stays = match self.is_there(&entry, folder, name, &seen)? {
                There::Other => false,
                There::Same => self.keep(&entry, folder, name, &seen).map_err(failed)?,
                There::Stays => true,
            };
            if stays {
                self.tally.unchanged.add(1);
                self.tally.settled.add(entry.kind.size());
                return self.outbox.push(&Record::Skip { id: entry.id });
            }
        }
        self.want(entry, place, anew)
    }

    /// Gives what is there already the rights it is to have; false if it cannot stay: a file that another user made gets no new owner, for
    /// that user can still write it.
    fn keep(&self, entry: &Entry, folder: &Folder, name: &[u8], seen: &Seen) -> std::io::Result<bool> {
        let kept = if self.options.owner { 0o7777 } else { 0o777 };
        let owner = (self.options.owner && seen.owner() != entry.owner).then_some(entry.owner);
        if owner.is_some_and(|owner| seen.owner().user != owner.user && !seen.is_own()) {
            return Ok(false);
        }
        let modified = (!same_time(seen.modified(), entry.modified)).then_some(entry.modified);
        if owner.is_none() && modified.is_none() && seen.mode() & kept == self.mode(entry) {
            return Ok(true);
        }
        folder.set_rights(name, seen, (self.mode(entry), owner, modified))
    }

    /// Asks for content, of large files when it is their turn.
    fn want(&mut self, entry: Entry, place: Place, anew: bool) -> Result<(), Fault> {
        named(&place)?;
        let id = entry.id;
        let content = if is_large(&entry) {
            self.deferred.push_back(id);
            Content::Deferred
        } else {
            self.ask(id, 0, ContentHash::default().value())?;
            Content::Inline
        };
        let expected = Expected {
            entry,
            place,
            content,
            attempts: 0,
            anew,
        };
        self.expected.insert(id, expected);
        self.want_deferred()
    }

    /// Says what is here of a file and that the rest is wanted.
    fn ask(&mut self, id: u64, offset: u64, prefix: Hash) -> Result<(), Fault> {
        self.outbox.push(&match self.back {
            None => Record::Want { id, offset, prefix },
            Some(_) => Record::Have { id, offset, prefix },
        })
    }

    /// Asks for large files, as many as may be under way.
    pub(super) fn want_deferred(&mut self) -> Result<(), Fault> {
        while self.large < LARGE_AHEAD
            && let Some(id) = self.deferred.pop_front()
        {
            let Some(mut expected) = self.expected.remove(&id) else {
                continue;
            };
            match self.prepare(&expected) {
                Ok((content, offset, prefix)) => {
                    expected.content = content;
                    self.expected.insert(id, expected);
                    self.large += 1;
                    self.ask(id, offset, prefix)?;
                    // The hash of a long beginning takes its time; the sender may start meanwhile.
                    self.outbox.flush()?;
                }
                Err(Fault::Here(problem)) => self.refuse(id, expected.entry.kind.size(), problem)?,
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Opens the partial file and finds out what it holds.
    fn prepare(&self, expected: &Expected) -> Result<(Content, u64, Hash), Fault> {
        let (folder, name) = named(&expected.place)?;
        let entry = &expected.entry;
        let size = entry.kind.size();
        let partial = Partial::open(self.claims, folder, name, &expected.place.label)?;
        let mut at = partial.len()?;
        let mut hasher = Box::new(ContentHash::new(entry.stored.is_some()));
        // What a stream brought last time is gone at its source.
        if at > size || self.options.anew || entry.kind == Kind::Stream {
            partial.clear()?;
            at = 0;
        }
        if at > 0 {
            at = partial.hash(size, &mut hasher, self.tally)?;
        }
        let missing = (size - at).min(entry.stored.unwrap_or(u64::MAX));
        check_room(folder, missing, &expected.place.label)?;
        let prefix = hasher.value();
        Ok((Content::Ready { partial, hasher, at }, at, prefix))
    }
}

/// What a file that is there is to the one that is offered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum There {
    /// Another one, which is replaced.
    Other,
    /// The same, which has its rights and time set if they differ.
    Same,
    /// It stays whatever it is.
    Stays,
}

/// Whether the content of a file comes in pieces.
pub(super) fn is_large(entry: &Entry) -> bool {
    entry.kind == Kind::Stream || entry.kind.size() > INLINE_LIMIT
}

/// Fails early if the file system has no room for what is missing.
fn check_room(folder: &Folder, missing: u64, label: &str) -> Result<(), Problem> {
    match folder.room() {
        Some(room) if room < missing => {
            let text = format!(
                "{label}: no space left on the device: {missing} octets are missing, {room} are free; make room and copy again"
            );
            Err(Problem::new(Code::NoSpace, text))
        }
        _ => Ok(()),
    }
}
