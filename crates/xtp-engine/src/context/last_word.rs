//! Whether the next packet of the peer may be the last of the association.

use super::reader::{ReaderState, Refusal};
use super::writer::WriterState;
use super::{Context, Doubt, Role, State};

impl Context {
    /// All was said in FIRST, once, and nothing has come back.
    pub(crate) fn awaits_last_word(&self) -> bool {
        self.role == Role::Initiator
            && self.state == State::Opening
            && !self.pattern.lasting
            && !self.pattern.one_way
            && self.timers.firsts == 1
            && self.is_untroubled()
            && self.writer.state == WriterState::Closing
            && self.writer.wclose_sent
            && self.writer.all_sent()
            && self.reader.state == ReaderState::Open
            && self.reader.refusal == Refusal::No
            && self.reader.sync_in.is_none()
    }

    fn is_untroubled(&self) -> bool {
        self.closed.is_none()
            && !self.released
            && !self.dirty
            && !self.abort_pending
            && self.restart.is_none()
            && self.doubt == Doubt::No
            && self.unreachable_since.is_none()
            && self.marks.is_empty()
            && self.path_queue.is_empty()
            && self.peer_key.is_none()
            && self.learned_token.is_none()
            && self.learned_utc.is_none()
            && !self.renegotiation.due
    }
}
