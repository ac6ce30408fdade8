//! One reader's view of a stream against what the writer wrote.

use xtp_engine::Read;

use crate::content;

/// What one writer has written so far: positions only, the octets are a function of them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Key of the content.
    pub key: u64,
    /// Positions written, tags included.
    pub written: u64,
    /// One past the last octet of each message.
    pub message_ends: Vec<u64>,
    /// Position and value of each tag.
    pub tags: Vec<(u64, u64)>,
    /// The writer has closed: `written` is final.
    pub closed: bool,
}

impl Ledger {
    /// `len` octets were accepted at `at`; `eom` ends a message with the last of them.
    pub fn data(&mut self, at: u64, len: u64, eom: bool) {
        self.written = self.written.max(at + len);
        if eom && self.message_ends.last().is_none_or(|&last| last < at + len) {
            self.message_ends.push(at + len);
        }
    }

    /// A tag was accepted at `at`.
    pub fn tag(&mut self, at: u64, tag: u64) {
        self.written = self.written.max(at + 8);
        if self.tags.last().is_none_or(|&(last, _)| last < at) {
            self.tags.push((at, tag));
        }
    }

    fn tag_at(&self, at: u64) -> Option<u64> {
        let place = self
            .tags
            .binary_search_by_key(&at, |&(position, _)| position)
            .ok()?;
        Some(self.tags[place].1)
    }

    /// What stands at `at`: of octets at most so many, no further than their message or to the next tag.
    ///
    /// # Errors
    /// Nothing was written there, or it is the inside of a tag.
    pub fn standing(&self, at: u64, most: u64) -> Result<Standing, String> {
        if let Some(tag) = self.tag_at(at) {
            return Ok(Standing::Tag(tag));
        }
        if at >= self.written || self.overlaps_tag(at, at + 1) {
            return Err(format!("nothing begins at {at} of {} octets", self.written));
        }
        let next = self.tags.partition_point(|&(position, _)| position < at);
        let tag = self
            .tags
            .get(next)
            .map_or(self.written, |&(position, _)| position);
        let end = tag.min(at.saturating_add(most.max(1)));
        let ends = self.ends_between(at, end);
        let (end, eom) = ends.first().map_or((end, false), |first| (*first, true));
        Ok(Standing::Octets { len: end - at, eom })
    }

    fn overlaps_tag(&self, from: u64, to: u64) -> bool {
        let first = self.tags.partition_point(|&(position, _)| position + 8 <= from);
        self.tags.get(first).is_some_and(|&(position, _)| position < to)
    }

    fn ends_between(&self, from: u64, to: u64) -> &[u64] {
        let first = self.message_ends.partition_point(|&end| end <= from);
        let last = self.message_ends.partition_point(|&end| end <= to);
        &self.message_ends[first..last]
    }
}

/// What stands at a position of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A tag begins there.
    Tag(u64),
    /// So many octets, and whether a message ends with the last of them.
    Octets {
        /// How many.
        len: u64,
        /// A message ends behind them.
        eom: bool,
    },
}

/// What the reader promised its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Every octet, once, in order.
    Reliable,
    /// Ascending octets, with the gaps between them shown (§4.7).
    Gaps,
    /// One whole datagram or nothing (§4.8).
    Whole,
}

/// Follows what one reader is given.
#[derive(Clone, Debug)]
pub struct StreamCheck {
    promise: Promise,
    /// Position one past the last item read.
    pub next: u64,
    /// Octets compared.
    pub checked: u64,
    /// Messages read to their end.
    pub messages: u32,
    /// Octets shown as gaps.
    pub missing: u64,
    /// Tags read.
    pub tags: u32,
    /// The end of the stream was read.
    pub ended: bool,
}

impl StreamCheck {
    /// A reader that has read nothing.
    pub fn new(promise: Promise) -> Self {
        Self {
            promise,
            next: 0,
            checked: 0,
            messages: 0,
            missing: 0,
            tags: 0,
            ended: false,
        }
    }

    /// What the reader was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The reader was given `item`; is it what `ledger` holds at this place?
    ///
    /// # Errors
    /// What differs.
    pub fn item(&mut self, item: &Read, ledger: &Ledger) -> Result<(), String> {
        if self.ended && !matches!(item, Read::End | Read::Pending) {
            return Err(format!("{item:?} after the end of the stream"));
        }
        match item {
            Read::Data { offset, bytes, eom } => self.data(*offset, bytes, *eom, ledger),
            Read::Tag { offset, tag } => {
                self.place(*offset)?;
                if ledger.tag_at(*offset) != Some(*tag) {
                    return Err(format!(
                        "tag {tag:#x} at {offset}; written was {:x?}",
                        ledger.tag_at(*offset)
                    ));
                }
                self.next = offset + 8;
                self.checked += 8;
                self.tags += 1;
                Ok(())
            }
            Read::Gap { offset, len } => {
                if self.promise != Promise::Gaps {
                    return Err(format!(
                        "a gap of {len} octets at {offset} of a stream without gaps"
                    ));
                }
                self.place(*offset)?;
                self.next = offset + len;
                self.missing += len;
                self.within(ledger)
            }
            Read::Pending => Ok(()),
            Read::End => self.end(ledger),
        }
    }

    fn place(&self, offset: u64) -> Result<(), String> {
        if offset == self.next {
            return Ok(());
        }
        Err(format!("item at {offset}, expected at {}", self.next))
    }

    fn within(&self, ledger: &Ledger) -> Result<(), String> {
        if self.next <= ledger.written {
            return Ok(());
        }
        Err(format!(
            "read up to {}, only {} were written",
            self.next, ledger.written
        ))
    }

    fn data(&mut self, offset: u64, bytes: &[u8], eom: bool, ledger: &Ledger) -> Result<(), String> {
        self.place(offset)?;
        let end = offset + bytes.len() as u64;
        if bytes.is_empty() && !eom {
            return Err(format!("an empty item at {offset}"));
        }
        self.next = end;
        self.within(ledger)?;
        if ledger.overlaps_tag(offset, end) {
            return Err(format!("tag octets delivered as data within {offset}..{end}"));
        }
        if let Some(position) = content::first_difference(ledger.key, offset, bytes) {
            return Err(format!("wrong octet at {position} (item {offset}..{end})"));
        }
        let expected: &[u64] = if bytes.is_empty() {
            &[]
        } else {
            ledger.ends_between(offset, end)
        };
        match (expected, eom) {
            ([], false) => {}
            (&[only], true) if only == end => self.messages += 1,
            _ => {
                return Err(format!(
                    "message ends {expected:?} within {offset}..{end}, eom={eom}"
                ));
            }
        }
        self.checked += bytes.len() as u64;
        Ok(())
    }

    fn end(&mut self, ledger: &Ledger) -> Result<(), String> {
        self.ended = true;
        let nothing = self.promise == Promise::Whole && self.next == 0;
        // A writer may be closed by its engine (§6.3.1): then what it has written is all.
        if self.next != ledger.written && !nothing {
            let (next, written, closed) = (self.next, ledger.written, ledger.closed);
            return Err(format!(
                "end of stream at {next}; written {written}, closed by its user: {closed}"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
