//! Content on its way into files: what may come, and whether it is what was sent.

use super::*;

/// How often content that arrived damaged is asked for again.
const AGAIN: u32 = 3;

impl Disk<'_> {
    pub(super) fn take_whole(&mut self, id: u64, hash: &Hash, content: Bytes) -> Result<(), Fault> {
        let Some(expected) = self.expected.remove(&id) else {
            return self.unwanted("sent a file nobody wants");
        };
        let size = content.len() as u64;
        if !matches!(expected.content, Content::Inline) || expected.entry.kind.size() != size {
            return Err(violation("sent another file than it offered").into());
        }
        self.tally.sent.add(size);
        if blake3::hash(&content) != *hash {
            return self.mismatched(expected);
        }
        self.tally.settled.add(size);
        let (folder, name) = named(&expected.place)?;
        let stored = Partial::open(self.claims, folder, name, &expected.place.label).and_then(|partial| {
            match partial.fill(&content) {
                Ok(()) => Ok(partial),
                Err(problem) => {
                    // It comes whole again: half of it would only take what there is too little of.
                    partial.discard();
                    Err(problem)
                }
            }
        });
        match stored {
            Ok(partial) => self.completed(expected, partial),
            Err(problem) => self.refuse(id, 0, problem)?,
        }
        Ok(())
    }

    /// A file is verified and waits for its name.
    fn completed(&mut self, expected: Expected, partial: Partial) {
        self.tally.list(&expected.place.label);
        let attributes = self.attributes(&expected.entry);
        self.complete
            .push(Complete::new(expected.entry.id, partial, attributes));
    }

    /// What arrived is not what was sent: it is asked for again, from its beginning.
    fn mismatched(&mut self, mut expected: Expected) -> Result<(), Fault> {
        let id = expected.entry.id;
        expected.attempts += 1;
        // A transmitter to a group repeats nothing for one receiver, and standard input comes only once.
        if self.back.is_some() || expected.attempts > AGAIN || expected.entry.kind == Kind::Stream {
            let size = expected.entry.kind.size();
            return self.refuse(id, size, mismatch(&expected.place.label, expected.attempts));
        }
        self.tally.damaged.add(1);
        tracing::info!("{}: arrived damaged; asked for again", expected.place.label);
        if is_large(&expected.entry) {
            expected.content = Content::Deferred;
            self.deferred.push_back(id);
        } else {
            let prefix = ContentHash::default().value();
            let offset = 0;
            self.outbox.push(&Record::Want { id, offset, prefix })?;
        }
        self.expected.insert(id, expected);
        Ok(())
    }

    /// Content that was not asked for: of a transmitter that sends it for other receivers.
    fn unwanted(&self, what: &str) -> Result<(), Fault> {
        match self.back {
            Some(_) => Ok(()),
            None => Err(violation(what).into()),
        }
    }

    /// Content begins. To a group it may begin before what is here ends, for the sake of other receivers, or behind it: then they
    /// have what is missing in between, and it is fetched.
    pub(super) fn begin(&mut self, id: u64, offset: u64) -> Result<(), Fault> {
        match self.expected.get(&id).map(|expected| &expected.content) {
            Some(Content::Ready { at, .. }) if offset > *at && self.back.is_some() => {
                self.fetch(id, Some(offset))
            }
            _ => self.begin_here(id, offset),
        }
    }

    /// Content begins that goes on with what is here, or replaces it.
    pub(super) fn begin_here(&mut self, id: u64, offset: u64) -> Result<(), Fault> {
        let Some(mut expected) = self.expected.remove(&id) else {
            return self.unwanted("begins a file nobody wants");
        };
        let Content::Ready {
            partial,
            mut hasher,
            at,
        } = expected.content
        else {
            return Err(violation("begins a file out of turn").into());
        };
        if offset > at || offset != at && offset != 0 && self.back.is_none() {
            return Err(violation("begins a file in the wrong place").into());
        }
        if offset < at {
            hasher.reset();
            let readied = match self.back {
                // What is here may be the beginning of this file all the same: the sender began for others.
                Some(_) => partial.hash(offset, &mut hasher, self.tally).map(drop),
                None => partial.clear().map_err(Fault::from),
            };
            match readied {
                Err(Fault::Here(problem)) => {
                    self.large -= 1;
                    self.refuse(id, expected.entry.kind.size(), problem)?;
                    return self.want_deferred();
                }
                outcome => outcome?,
            }
        }
        if expected.attempts == 0 && !expected.anew {
            self.tally.resumed.add(offset);
        }
        self.tally.settled.add(offset);
        expected.content = Content::Growing {
            partial,
            hasher,
            there: if self.back.is_some() { at } else { offset },
            at: offset,
        };
        self.expected.insert(id, expected);
        Ok(())
    }

    pub(super) fn store(&mut self, id: u64, content: &[Bytes]) -> Result<(), Fault> {
        let octets = content.iter().map(|part| part.len() as u64).sum();
        self.tally.sent.add(octets);
        self.grow(id, octets, |partial, hash, there| {
            if !there.matches(partial, content)? {
                partial.write(content)?;
            }
            for part in content {
                hash.update(part);
            }
            Ok(())
        })
    }

    /// The content goes on with a hole.
    pub(super) fn hole(&mut self, id: u64, octets: u64) -> Result<(), Fault> {
        let plain = |expected: &Expected| expected.entry.stored.is_none();
        if self.expected.get(&id).is_some_and(plain) {
            return Err(violation("sent a hole in a file without any").into());
        }
        self.grow(id, octets, |partial, hash, there| {
            there.cut(partial)?;
            partial.extend(partial.len()? + octets)?;
            hash.update_zeros(octets);
            Ok(())
        })
    }

    /// A file under construction gets more octets.
    fn grow(
        &mut self,
        id: u64,
        octets: u64,
        add: impl FnOnce(&Partial, &mut ContentHash, Left<'_>) -> Result<(), Problem>,
    ) -> Result<(), Fault> {
        // Content of a file that was refused meanwhile may still be under way.
        let Some(expected) = self.expected.get_mut(&id) else {
            return Ok(());
        };
        let Content::Growing {
            partial,
            hasher,
            at,
            there,
        } = &mut expected.content
        else {
            return Err(violation("sent content out of turn").into());
        };
        let size = match expected.entry.kind {
            Kind::Stream => u64::MAX >> 1,
            _ => expected.entry.kind.size(),
        };
        if octets > size - *at {
            return Err(violation("sent more of a file than it offered").into());
        }
        match add(partial, hasher, Left { at: *at, there }) {
            Ok(()) => {
                *at += octets;
                self.tally.settled.add(octets);
                Ok(())
            }
            Err(problem) => {
                let left = expected.entry.kind.size().saturating_sub(*at);
                self.expected.remove(&id);
                self.large -= 1;
                self.refuse(id, left, problem)?;
                // The sender should hear it before it has sent much more.
                self.outbox.flush()?;
                self.want_deferred()
            }
        }
    }

    pub(super) fn end(&mut self, id: u64, hash: &Hash) -> Result<(), Fault> {
        let Some(mut expected) = self.expected.remove(&id) else {
            return Ok(());
        };
        let content = std::mem::replace(&mut expected.content, Content::Deferred);
        let Content::Growing {
            partial, hasher, at, ..
        } = content
        else {
            return Err(violation("ends a file out of turn").into());
        };
        self.large -= 1;
        if expected.entry.kind == Kind::Stream {
            // Its size is known now.
            expected.entry.kind = Kind::File { size: at };
            self.tally.offered.add(at);
        }
        if at != expected.entry.kind.size() {
            return Err(violation("ends a file too early").into());
        }
        if hasher.value() == *hash {
            self.completed(expected, partial);
        } else {
            partial.discard();
            self.tally.settled.take(at);
            self.mismatched(expected)?;
        }
        self.want_deferred()
    }
}

/// What an earlier copy left beyond the place that content has come to.
struct Left<'a> {
    at: u64,
    there: &'a mut u64,
}

impl Left<'_> {
    /// Whether the content that comes next stands there already. What differs is cut off, with all behind it.
    fn matches(self, partial: &Partial, content: &[Bytes]) -> Result<bool, Problem> {
        if *self.there > self.at && partial.holds(self.at, content)? {
            return Ok(true);
        }
        self.cut(partial)?;
        Ok(false)
    }

    fn cut(self, partial: &Partial) -> Result<(), Problem> {
        if *self.there > self.at {
            partial.cut(self.at)?;
            *self.there = self.at;
        }
        Ok(())
    }
}

fn mismatch(label: &str, attempts: u32) -> Problem {
    let times = match attempts {
        1 => String::new(),
        more => format!(", {more} times"),
    };
    Problem::new(
        Code::Mismatch,
        format!(
            "{label}: the content that arrived differs from what was sent{times}; look for a fault in memory, disk or network, and copy it again"
        ),
    )
}
