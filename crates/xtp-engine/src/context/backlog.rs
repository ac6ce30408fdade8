//! An association that nobody was handed yet, in its listener's backlog.

use super::Context;
use crate::event::ListenerId;
use crate::listener::Place;
use core::net::IpAddr;

/// Where one waited.
pub(crate) struct Waiting {
    pub(crate) listener: ListenerId,
    /// Its place among those whose initiators have not proved their addresses, and the source whose share that was of.
    pub(crate) place: Option<(Place, IpAddr)>,
}

impl Context {
    /// It waits in its listener's backlog no longer.
    pub(crate) fn leave_backlog(&mut self) -> Option<Waiting> {
        let place = self.take_place();
        let listener = self.listener.take()?;
        Some(Waiting { listener, place })
    }

    /// It gives up its place among those not proved.
    pub(crate) fn take_place(&mut self) -> Option<(Place, IpAddr)> {
        let (source, _) = self.peer.foreign?;
        Some((self.place.take()?, source.ip()))
    }
}
