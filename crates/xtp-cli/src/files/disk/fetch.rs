//! What the group is not sent since the other receivers have it: a receiver fetches it from the transmitter alone.

use super::*;
use crate::files::cast::no_reply;
use crate::files::channel::Inbox;

impl Disk<'_> {
    /// The transmitter does not send a file: the receivers that it asked have it.
    pub(super) fn spared(&mut self, id: u64) -> Result<(), Fault> {
        match self.expected.contains_key(&id) {
            true => self.fetch(id, None),
            false => Ok(()),
        }
    }

    /// Fetches what is missing of a file, up to where the group goes on, else to its end.
    pub(super) fn fetch(&mut self, id: u64, until: Option<u64>) -> Result<(), Fault> {
        let (Some(back), Some(expected)) = (self.back, self.expected.get(&id)) else {
            return Ok(());
        };
        let (offset, prefix) = match &expected.content {
            Content::Inline => (0, ContentHash::default().value()),
            Content::Ready { at, hasher, .. } => (*at, hasher.value()),
            Content::Deferred | Content::Growing { .. } => {
                return Err(violation("left a file out of turn").into());
            }
        };
        let (label, size) = (expected.place.label.clone(), expected.entry.kind.size());
        self.outbox.push(&Record::Want { id, offset, prefix })?;
        self.outbox.flush()?;
        let fetched = match back.inbox() {
            Some(mut inbox) => self.take_replies(&mut inbox, id, until),
            None => Err(no_reply(&label).into()),
        };
        let problem = match fetched {
            Err(Fault::Net(error)) => {
                tracing::info!(%error, "{label}: the sender does not reply");
                no_reply(&label)
            }
            Err(Fault::Here(problem)) => problem,
            fetched => return fetched,
        };
        if let Some(expected) = self.expected.remove(&id) {
            drop(self.release(expected));
        }
        self.refuse(id, size, problem)?;
        self.want_deferred()
    }

    fn take_replies(&mut self, inbox: &mut Inbox<'_>, id: u64, until: Option<u64>) -> Result<(), Fault> {
        loop {
            self.tally.check()?;
            let at = match self.expected.get(&id).map(|expected| &expected.content) {
                // Complete, or refused.
                None => return Ok(()),
                Some(Content::Growing { at, .. }) => *at,
                Some(_) => 0,
            };
            match until {
                Some(until) if at == until => return Ok(()),
                Some(until) if at > until => {
                    return Err(violation("sent more of a file than is missing").into());
                }
                _ => {}
            }
            match inbox.expect()? {
                Record::Begin { id: its, offset } if its == id => self.begin_here(id, offset)?,
                Record::Piece { id: its, len } if its == id => {
                    inbox.content(len, |content| self.store(id, &content))?;
                }
                Record::Whole {
                    id: its,
                    hash,
                    content,
                } if its == id => self.take_whole(id, &hash, content)?,
                Record::End { id: its, hash } if its == id => self.end(id, &hash)?,
                Record::Withdraw { id: its, problem } if its == id => self.withdrawn(id, problem)?,
                // The rest of a file that was refused meanwhile.
                Record::Piece { len, .. } => inbox.content(len, |_| Ok(()))?,
                Record::End { .. } => {}
                _ => return Err(violation("sent something else than what was asked for").into()),
            }
        }
    }
}
