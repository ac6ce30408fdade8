//! A copy that only says what it would do.

use super::*;

impl Disk<'_> {
    /// Answers an offer as if it had been taken, without writing anything.
    pub(super) fn rehearse(&mut self, entry: &Entry, place: &Place) -> Result<(), Fault> {
        let there = match &place.at {
            Some((folder, name)) => folder
                .find(name)
                .map_err(|error| Problem::io(&place.label, &error))?,
            None => None,
        };
        let size = entry.kind.size();
        if let Some(seen) = there.as_ref().filter(|_| entry.kind != Kind::Directory) {
            check_replaceable(seen, &place.label)?;
        }
        let is_there = match &entry.kind {
            Kind::Directory => {
                if there.is_some()
                    && let Some((folder, name)) = &place.at
                {
                    self.check_directory(place, folder, name)?;
                }
                self.tally.directories.add(1);
                return self.outbox.push(&Record::Done { id: entry.id });
            }
            Kind::Link { target } => {
                let same = |(folder, name): &(Folder, Vec<u8>)| {
                    folder.link_target(name).is_ok_and(|there| there == *target)
                };
                place.at.as_ref().is_some_and(same)
            }
            Kind::File { .. } | Kind::Stream => match (&there, &place.at) {
                (Some(seen), Some((folder, name))) => {
                    self.is_there(entry, folder, name, seen)? != There::Other
                }
                _ => false,
            },
        };
        self.tally.settled.add(size);
        if is_there {
            self.tally.unchanged.add(1);
            return self.outbox.push(&Record::Skip { id: entry.id });
        }
        match entry.kind {
            Kind::Link { .. } => self.tally.links.add(1),
            _ => self.tally.files.add(1),
        }
        self.tally.list(&place.label);
        self.outbox.push(&Record::Done { id: entry.id })
    }
}
