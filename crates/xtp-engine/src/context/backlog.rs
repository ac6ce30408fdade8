//! An association that nobody was handed yet, in its listener's backlog.

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
    /// Its place there, while its initiator's address is not proved.
    place: Option<Place>,
}

impl Backlogged {
    /// It waits there.
    pub(crate) fn at(listener: ListenerId) -> Self {
        Self {
            listener,
            waits: true,
            place: None,
        }
    }

    /// It holds this place, or is proved.
    pub(crate) fn set_place(&mut self, place: Option<Place>) {
        self.place = place;
    }

    pub(crate) fn listener(self) -> ListenerId {
        self.listener
    }

    /// It holds one of the places of those that are not proved.
    pub(crate) fn has_place(self) -> bool {
        self.place.is_some()
    }

    /// Its initiator's address is proved: the place it gives up.
    pub(crate) fn prove(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// It waits no longer; `source`: where its FIRST came from. `None` if it was handed to a user before.
    pub(super) fn leave(&mut self, source: IpAddr) -> Option<BacklogEntry> {
        let place = self.place.take();
        std::mem::take(&mut self.waits).then_some(BacklogEntry {
            listener: self.listener,
            place,
            source,
        })
    }

    /// As part of the walk over a context at rest, which holds no place.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        let ListenerId(number) = &mut self.listener;
        fields.small(number);
        fields.flag(&mut self.waits);
    }
}
