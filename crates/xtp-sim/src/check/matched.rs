//! Messages that were matched with receives, against what their writer wrote: each once, whole, and those of a tag in their order.

use std::collections::BTreeMap;

use xtp_engine::{Matched, Read};

use super::stream::{Ledger, Standing, StreamCheck};
use crate::content;

/// Follows which messages of one stream were received.
#[derive(Clone, Debug, Default)]
pub struct MatchedCheck {
    /// Stretches that were received beyond where all of the stream was.
    beyond: BTreeMap<u64, u64>,
    /// Of each tag, one past the last message received.
    by_tag: BTreeMap<Option<u64>, u64>,
}

impl MatchedCheck {
    /// A message was received; is it one that `ledger` holds? `stream` is told how far all was read.
    ///
    /// # Errors
    /// What differs.
    pub fn message(
        &mut self,
        message: &Matched,
        ledger: &Ledger,
        stream: &mut StreamCheck,
    ) -> Result<(), String> {
        let start = message.offset;
        if stream.ended {
            return Err(format!("a message at {start} after the end of the stream"));
        }
        let end = compare(message, ledger)?;
        let before = self.by_tag.insert(message.tag, end).unwrap_or(0);
        if start < before {
            return Err(format!(
                "a message at {start} with the tag of one before {before}"
            ));
        }
        let overlaps = self
            .beyond
            .range(..end)
            .next_back()
            .is_some_and(|(_, last)| *last > start);
        if start < stream.next || overlaps {
            return Err(format!("the message at {start} came twice"));
        }
        self.beyond.insert(start, end);
        while let Some(end) = self.beyond.remove(&stream.next) {
            stream.next = end;
        }
        stream.checked += end - start;
        stream.messages += 1;
        stream.tags += u32::from(message.tag.is_some());
        Ok(())
    }

    /// No message follows; is that all of `ledger`? A tag whose message its writer left out is nothing that a receive gets.
    ///
    /// # Errors
    /// What is missing.
    pub fn end(&self, ledger: &Ledger, stream: &mut StreamCheck) -> Result<(), String> {
        while let Ok(Standing::Tag(_)) = ledger.standing(stream.next, 1) {
            stream.next += 8;
        }
        stream.item(&Read::End, ledger)
    }
}

/// Compares a whole message; where it ends.
fn compare(message: &Matched, ledger: &Ledger) -> Result<u64, String> {
    let start = message.offset;
    let octets = message.clone().into_bytes();
    let (mut at, mut compared, mut tag) = (start, 0, None);
    loop {
        let left = (octets.len() - compared) as u64;
        match ledger.standing(at, left)? {
            Standing::Tag(bound) => {
                if compared == 0 {
                    tag = Some(bound);
                }
                at += 8;
            }
            Standing::Octets { len, eom } => {
                if len > left {
                    return Err(format!(
                        "the message at {start} has {} octets and goes on",
                        octets.len()
                    ));
                }
                let part = &octets[compared..compared + len as usize];
                if let Some(position) = content::first_difference(ledger.key, at, part) {
                    return Err(format!("wrong octet at {position} of the message at {start}"));
                }
                at += len;
                compared += len as usize;
                if eom && compared == octets.len() && tag == message.tag {
                    return Ok(at);
                }
                if eom || compared == octets.len() {
                    let (had, tagged) = (octets.len(), message.tag);
                    return Err(format!(
                        "a message of {had} octets with tag {tagged:?} at {start}; written were {compared} up to its end ({eom}) with {tag:?}"
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "matched_tests.rs"]
mod tests;
