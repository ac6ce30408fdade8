//! A receiver that a listener of the group made for one transmitter (§9.12).

use super::{Receiver, Stage};
use crate::GroupError;
use crate::groups::PartyEnv;
use crate::{GroupEvent, GroupId, ReceiverOptions};
use core::net::{IpAddr, SocketAddr};

/// One of the places of a listener.
#[derive(Debug)]
pub(super) struct ListenerPlace {
    listener: GroupId,
    /// The listener's user knows of it.
    handed_out: bool,
}

impl Receiver {
    /// One that hears a transmitter for `listener`, whose user knows of it when the transmitter does.
    pub(crate) fn of_listener(
        options: ReceiverOptions,
        listener: GroupId,
        env: &mut PartyEnv<'_>,
    ) -> Result<Self, GroupError> {
        let mut receiver = Self::new(options, env)?;
        receiver.place = Some(ListenerPlace {
            listener,
            handed_out: false,
        });
        Ok(receiver)
    }

    /// It was made for a trial only.
    pub(crate) fn forget(self, env: &mut PartyEnv<'_>) {
        env.forget_key(self.key);
    }

    /// By which name transmitters know it.
    pub(crate) fn name(&self) -> &str {
        &self.options.name
    }

    /// Whether it hears the group `key` of that transmitter.
    pub(crate) fn hears(&self, transmitter: SocketAddr, key: u64) -> bool {
        let mut bound = self.bound.iter();
        let hears = bound.any(|bound| bound.key == key && bound.address == transmitter);
        hears && self.stage != Stage::Over && !self.gone
    }

    /// For which listener it hears, and which host.
    pub(crate) fn place(&self) -> Option<(GroupId, IpAddr)> {
        let (place, bound) = (self.place.as_ref()?, self.bound.as_ref()?);
        Some((place.listener, bound.address.ip().to_canonical()))
    }

    /// Whether its place is taken; not by one whose user has read everything, and which at most confirms a datagram again.
    pub(crate) fn takes_place(&self) -> bool {
        let is_done = self.stays() || self.stage == Stage::Over && self.close.complete;
        let is_read = self.has_read && self.stream.readable() == 0;
        !(self.gone || is_done && is_read)
    }

    /// Whether its user has let go of a datagram that it confirms again when it comes again.
    pub(crate) fn lingers(&self) -> bool {
        !self.gone && self.released && self.stays()
    }

    /// It gives up, without a word to anybody.
    pub(crate) fn give_up(&mut self) {
        self.gone = true;
    }

    /// A receiver gives up if its listener is gone and no program has it.
    pub(crate) fn listener_left(&mut self, listener: GroupId) {
        let mut place = self.place.iter();
        self.gone |= place.any(|place| place.listener == listener && !place.handed_out);
    }

    /// Whether its user knows of it.
    pub(super) fn is_handed_out(&self) -> bool {
        self.place.as_ref().is_none_or(|place| place.handed_out)
    }

    /// A transmitter was heard.
    pub(super) fn found(&self, env: &mut PartyEnv<'_>) {
        if let Some(bound) = self.bound.as_ref().filter(|_| self.place.is_none()) {
            env.tell(GroupEvent::Found(bound.address));
        }
    }

    /// The listener's user gets it, if it is one of a listener.
    pub(super) fn hand_out(&mut self, env: &mut PartyEnv<'_>) {
        let Some(place) = self.place.as_mut().filter(|place| !place.handed_out) else {
            return;
        };
        place.handed_out = true;
        let (listener, id) = (place.listener, env.id);
        env.tell_other(listener, GroupEvent::Heard(id));
        if let Some(bound) = &self.bound {
            env.tell(GroupEvent::Found(bound.address));
        }
        if !self.waits {
            // It came before its user knew of the receiver.
            env.tell(GroupEvent::Readable);
        }
    }
}
