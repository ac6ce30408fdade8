//! Whether the next packet of the peer may be the last of the association.

use super::reader::{ReaderState, Refusal};
use super::{Context, Role, State};

impl Context {
    /// The answer to a FIRST that was all has left, once, and was all; nothing but the peer's END can follow in time.
    pub(crate) fn awaits_only_end(&self) -> bool {
        self.role == Role::Responder
            && self.state == State::Active
            && !self.regular
            && self.goes_as_usual()
            && self.writer.close_outstanding()
            && self.writer.all_sent()
            && self.writer.requests.dreq.is_none()
            && self.reader.state == ReaderState::Done
            && self.reader.refusal == Refusal::No
            && self.reader.dreq.is_none()
            && self.reader.store.is_empty()
    }

    /// Whether the answer asked for END, which then is a sample of the round trip.
    pub(crate) fn asks_for_end(&self) -> bool {
        let sync = self.writer.sync_out;
        self.sent_at(sync).is_some() && self.writer.requests.open.contains(&sync)
    }

    /// Nothing is under way beside the exchange itself, and its user is there.
    fn goes_as_usual(&self) -> bool {
        self.closed.is_none() && !self.released && !self.dirty && self.is_untroubled()
    }
}
