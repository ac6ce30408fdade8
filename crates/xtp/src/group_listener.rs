//! A listener of a group in the hands of a program.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::group::GroupId;

use crate::core::group;
use crate::error::Result;
use crate::group_handle::GroupHandle;
use crate::shared::Handle;
use crate::subscription::Subscription;

/// All transmitters of a group, each as a [`Subscription`]. Made by [`Endpoint::listen_group`](crate::Endpoint::listen_group).
///
/// A transmitter takes one of the places ([`JoinOptions::at_once`](crate::JoinOptions::at_once)) until its subscription is dropped; a
/// datagram that was read takes none. One that was dropped before its end is not offered again. Dropping the listener leaves those
/// that were accepted as they are.
pub struct GroupListener {
    handle: GroupHandle,
}

impl GroupListener {
    pub(crate) fn new(shared: Arc<Handle>, id: GroupId) -> Self {
        Self {
            handle: GroupHandle::new(shared, id),
        }
    }

    pub(crate) fn handle(&self) -> &GroupHandle {
        &self.handle
    }

    pub(crate) fn subscription(&self, id: GroupId) -> Subscription {
        Subscription::new(Arc::clone(self.handle.shared()), id)
    }

    /// A number unique among the groups of this endpoint, for logs.
    pub fn number(&self) -> u64 {
        self.handle.number()
    }

    /// Longest time a call waits; `None`, the default, for ever.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.handle.set_timeout(timeout);
    }

    /// Waits for the next transmitter that lets this receiver in, sends a datagram, or asks nobody for an answer. One that refuses it is
    /// given as well: its subscription says why.
    ///
    /// # Errors
    /// [`Error::Timeout`](crate::Error::Timeout), [`Error::Interrupted`](crate::Error::Interrupted), [`Error::Carrier`](crate::Error::Carrier).
    pub fn accept(&self) -> Result<Subscription> {
        let accepted = self
            .handle
            .wait("waiting for a transmitter", |core, _, id| group::accept(core, id));
        Ok(self.subscription(accepted?))
    }

    /// The next transmitter if there is one.
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) if there is none; as [`accept`](Self::accept).
    pub fn try_accept(&self) -> Result<Subscription> {
        let accepted = self.handle.attempt(|core, _, id| group::accept(core, id));
        Ok(self.subscription(accepted?))
    }
}

impl fmt::Debug for GroupListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.describe("GroupListener", f)
    }
}
