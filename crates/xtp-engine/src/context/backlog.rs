//! An association that nobody was handed yet, in its listener's backlog.

use super::Context;
use crate::event::ListenerId;
use crate::listener::Place;
use core::net::IpAddr;

/// Where one waited.
pub(crate) struct Waiting {
    pub(crate) listener: ListenerId,
    /// Its place among those whose initiators have not proved their addresses.
    pub(crate) place: Option<Place>,
    /// Of whose share it was.
    pub(crate) source: IpAddr,
}

impl Context {
    /// It waits in its listener's backlog no longer.
    pub(crate) fn leave_backlog(&mut self) -> Option<Waiting> {
        let place = self.place.take();
        let (listener, source) = (self.listener.take()?, self.source()?);
        Some(Waiting {
            listener,
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
