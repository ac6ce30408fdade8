//! A transmitter or receiver of a group in the hands of a program: what transmitters and receivers have in common.

use std::fmt;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use xtp_engine::Time;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId};

use crate::core::{Core, PollSource, group};
use crate::error::{Error, Result};
use crate::limit::TimeLimit;
use crate::shared::Handle;

/// One transmitter or receiver, which leaves its group when it is dropped.
pub(crate) struct GroupHandle {
    shared: Arc<Handle>,
    id: GroupId,
    limit: TimeLimit,
}

impl GroupHandle {
    pub(crate) fn new(shared: Arc<Handle>, id: GroupId) -> Self {
        Self {
            shared,
            id,
            limit: TimeLimit::none(),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Handle> {
        &self.shared
    }

    #[cfg(all(feature = "tokio", unix))]
    pub(crate) fn id(&self) -> GroupId {
        self.id
    }

    /// What a set watches.
    pub(crate) fn source(&self) -> PollSource {
        PollSource::Group(self.id)
    }

    pub(crate) fn number(&self) -> u64 {
        self.id.as_u64()
    }

    /// Longest time of every [`wait`](Self::wait).
    pub(crate) fn set_timeout(&self, timeout: Option<Duration>) {
        self.limit.set(timeout);
    }

    /// Asks until there is an answer.
    pub(crate) fn wait<T>(
        &self,
        what: &'static str,
        question: impl FnMut(&mut Core, Time, GroupId) -> Poll<Result<T>>,
    ) -> Result<T> {
        self.wait_within(what, self.limit.get(), question)
    }

    fn wait_within<T>(
        &self,
        what: &'static str,
        timeout: Option<Duration>,
        mut question: impl FnMut(&mut Core, Time, GroupId) -> Poll<Result<T>>,
    ) -> Result<T> {
        self.shared
            .wait(what, timeout, |core, now| question(core, now, self.id))
    }

    /// Asks once.
    pub(crate) fn attempt<T>(
        &self,
        mut question: impl FnMut(&mut Core, Time, GroupId) -> Poll<Result<T>>,
    ) -> Result<T> {
        self.shared.attempt(|core, now| question(core, now, self.id))
    }

    /// Tells the engine something, or asks it what is known without waiting.
    pub(crate) fn command<T>(
        &self,
        command: impl FnOnce(&mut Core, Time, GroupId) -> Result<T>,
    ) -> Result<T> {
        self.shared.command(|core, now| command(core, now, self.id))
    }

    /// Looks at what is known.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Core, GroupId) -> T) -> T {
        self.shared.look(|core| look(core, self.id))
    }

    /// The next thing that happened.
    pub(crate) fn event(&self, timeout: Option<Duration>) -> Result<Option<GroupEvent>> {
        self.wait_within("waiting for news of a group", timeout, |core, _, id| {
            group::event(core, id)
        })
    }

    pub(crate) fn try_event(&self) -> Result<Option<GroupEvent>> {
        self.attempt(|core, _, id| group::event(core, id))
    }

    /// Waits for the end; an error if it is none that was wished for.
    pub(crate) fn end(&self, what: &'static str) -> Result<()> {
        well(self.wait(what, |core, _, id| group::closed(core, id))?)
    }

    pub(crate) fn describe(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name).field("id", &self.id).finish_non_exhaustive()
    }
}

/// Whether it ended well.
pub(crate) fn well(reason: GroupClose) -> Result<()> {
    match reason {
        GroupClose::Normal => Ok(()),
        reason => Err(Error::Group(reason)),
    }
}

impl Drop for GroupHandle {
    fn drop(&mut self) {
        self.shared.command(|core, now| core.release_group(now, self.id));
    }
}
