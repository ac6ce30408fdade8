//! An association that nobody was handed yet, in its listener's backlog.

use super::Context;
use crate::event::ListenerId;
use crate::listener::Place;
use core::net::IpAddr;
use xtp_core::fields::Fields;

/// Where one waited.
pub(crate) struct BacklogEntry {
    pub(crate) listener: ListenerId,
    /// Its place among those whose initiators have not proved their addresses.
    pub(crate) place: Option<Place>,
    /// Of whose share it was.
    pub(crate) source: IpAddr,
}

/// Where an association was accepted, and whether it is in the backlog there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backlogged {
    listener: ListenerId,
    /// No user was handed it.
    waits: bool,
}

impl Backlogged {
    /// It waits there.
    pub(crate) fn at(listener: ListenerId) -> Self {
        Self {
            listener,
            waits: true,
        }
    }

    pub(crate) fn listener(self) -> ListenerId {
        self.listener
    }

    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        let ListenerId(number) = &mut self.listener;
        fields.small(number);
        fields.flag(&mut self.waits);
    }
}

impl Context {
    /// It waits in its listener's backlog no longer.
    pub(crate) fn leave_backlog(&mut self) -> Option<BacklogEntry> {
        let place = self.place.take();
        let source = self.source()?;
        let Backlogged { listener, waits } = self.backlog.as_mut()?;
        std::mem::take(waits).then_some(BacklogEntry {
            listener: *listener,
            place,
            source,
        })
    }

    /// It gives up its place among those not proved.
    pub(crate) fn take_place(&mut self) -> Option<(Place, IpAddr)> {
        Some((self.place.take()?, self.source()?))
    }

    /// Where its FIRST came from.
    fn source(&self) -> Option<IpAddr> {
        self.peer.foreign.map(|(source, _)| source.ip())
    }
}
