//! Who takes which FIRST (§2.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use xtp_wire::Options;

use core::net::IpAddr;

use crate::error::Error;
use crate::event::{ContextId, ListenerId};
use crate::options::{ListenOptions, NATIVE_DOMAIN, Tuning};
use xtp_core::hash::KeyedState;

mod proved;
mod unproved;
use proved::Proved;
use unproved::Unproved;
pub(crate) use unproved::{Full, Place};

/// Why no listener takes a FIRST.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenRefusal {
    /// Nobody listens on this service number.
    NoListener,
    /// An option that is required is missing, one that is refused is set, or one nobody would honour.
    OptionsRefused,
    /// Somebody listens, but not for this service.
    ServiceRefused,
}

impl ListenRefusal {
    /// The val of the DIAG with code 1 (§1.9).
    pub(crate) const fn diag_value(self) -> u32 {
        match self {
            Self::NoListener => 1,
            Self::OptionsRefused => 2,
            Self::ServiceRefused => 8,
        }
    }
}

/// One listener.
pub(crate) struct ListenerEntry {
    pub(crate) options: ListenOptions,
    /// Those of the associations accepted, shared with those that have no context.
    pub(crate) tuning: Arc<Tuning>,
    /// Associations accepted and not yet touched by the user whose initiators have proved their addresses.
    proved: Proved,
    /// The others.
    unproved: Unproved,
}

/// The listeners of an engine.
pub(crate) struct Listeners {
    hash: KeyedState,
    by_id: BTreeMap<u32, ListenerEntry>,
    by_port: BTreeMap<Option<u16>, ListenerId>,
    next: u32,
}

impl Listeners {
    /// Nobody listens. Sources are hashed under `hash_key`.
    pub(crate) fn new(hash_key: [u8; 16]) -> Self {
        Self {
            hash: KeyedState::new(hash_key),
            by_id: BTreeMap::new(),
            by_port: BTreeMap::new(),
            next: 0,
        }
    }

    /// Adds a listener.
    ///
    /// # Errors
    ///
    /// `PortInUse`, or `InvalidOption` for a second wildcard or options that would refuse every FIRST.
    pub(crate) fn add(&mut self, options: ListenOptions) -> Result<ListenerId, Error> {
        if options.services == 0 {
            return Err(Error::InvalidOption("a listener for no service at all"));
        }
        if options.backlog == 0 {
            return Err(Error::InvalidOption("a backlog of 0"));
        }
        if options.required.intersects(options.refused) {
            return Err(Error::InvalidOption("an option bit both required and refused"));
        }
        if self.by_port.contains_key(&options.service_number) {
            return Err(options.service_number.map_or(
                Error::InvalidOption("a second listener for every service number"),
                Error::PortInUse,
            ));
        }
        let id = self.next_id()?;
        self.by_port.insert(options.service_number, id);
        self.insert(id, options);
        Ok(id)
    }

    /// Adds a listener that no service number leads to.
    ///
    /// # Errors
    ///
    /// `Limit`.
    pub(crate) fn add_apart(&mut self, options: ListenOptions) -> Result<ListenerId, Error> {
        let id = self.next_id()?;
        self.insert(id, options);
        Ok(id)
    }

    fn next_id(&mut self) -> Result<ListenerId, Error> {
        let id = ListenerId(self.next);
        self.next = self
            .next
            .checked_add(1)
            .ok_or(Error::Limit("listeners made by one engine"))?;
        Ok(id)
    }

    fn insert(&mut self, id: ListenerId, options: ListenOptions) {
        let (proved, unproved) = (
            Proved::new(options.backlog, self.hash),
            Unproved::new(options.backlog, self.hash),
        );
        let listener = ListenerEntry {
            tuning: Arc::new(options.tuning.clone()),
            options,
            proved,
            unproved,
        };
        self.by_id.insert(id.0, listener);
    }

    /// Removes a listener and returns its options.
    ///
    /// # Errors
    ///
    /// `NoListener`.
    pub(crate) fn remove(&mut self, id: ListenerId) -> Result<ListenOptions, Error> {
        let gone = self.by_id.remove(&id.0).ok_or(Error::NoListener)?;
        let place = gone.options.service_number;
        if self.by_port.get(&place) == Some(&id) {
            self.by_port.remove(&place);
        }
        Ok(gone.options)
    }

    /// The listener with this identifier.
    pub(crate) fn get(&self, id: ListenerId) -> Option<&ListenerEntry> {
        self.by_id.get(&id.0)
    }

    /// Who takes a FIRST to service number `port` (`None`: its address segment has none) for `service`. A listener for
    /// the number goes before the wildcard, which takes what that one does not serve. Nobody listens in another
    /// name space of numbers than the native one.
    ///
    /// # Errors
    ///
    /// [`ListenRefusal::NoListener`] or [`ListenRefusal::ServiceRefused`].
    pub(crate) fn find(
        &self,
        domain: u8,
        port: Option<u16>,
        service: u8,
    ) -> Result<ListenerId, ListenRefusal> {
        if domain != NATIVE_DOMAIN {
            return Err(ListenRefusal::NoListener);
        }
        let (exact, wildcard) = (port.map(Some), Some(None));
        let mut refusal = ListenRefusal::NoListener;
        for port in [exact, wildcard].into_iter().flatten() {
            let Some(id) = self.by_port.get(&port) else {
                continue;
            };
            if self.get(*id).is_some_and(|listener| listener.serves(service)) {
                return Ok(*id);
            }
            refusal = ListenRefusal::ServiceRefused;
        }
        Err(refusal)
    }

    /// Whether the listener takes a FIRST with these option bits.
    ///
    /// # Errors
    ///
    /// [`ListenRefusal::OptionsRefused`], or [`ListenRefusal::NoListener`] for an unknown identifier.
    pub(crate) fn check(&self, id: ListenerId, bits: Options) -> Result<(), ListenRefusal> {
        let listener = self.get(id).ok_or(ListenRefusal::NoListener)?;
        let options = &listener.options;
        let reserves_nothing = bits.contains(Options::RES) && !options.tuning.posts;
        if !bits.contains(options.required) || bits.intersects(options.refused) || reserves_nothing {
            return Err(ListenRefusal::OptionsRefused);
        }
        Ok(())
    }

    /// Whether there is a place for one who has proved that it is at `source`.
    pub(crate) fn has_place(&self, id: ListenerId, source: IpAddr) -> bool {
        self.get(id)
            .is_some_and(|listener| listener.proved.has_place(source))
    }

    /// Whether there is a place for one who has not; `listed`: its address was proved lately.
    pub(crate) fn place_for_stranger(
        &self,
        id: ListenerId,
        source: IpAddr,
        listed: bool,
    ) -> Result<(), Full> {
        self.get(id)
            .map_or(Err(Full::All), |listener| listener.unproved.check(source, listed))
    }

    /// How many wait that have not.
    pub(crate) fn strangers(&self, id: ListenerId) -> usize {
        self.get(id).map_or(0, |listener| listener.unproved.places().0)
    }

    /// An association from `source` was accepted; the place it takes, if that source is not `proved`.
    pub(crate) fn accepted(
        &mut self,
        id: ListenerId,
        context: ContextId,
        source: IpAddr,
        proved: bool,
    ) -> Option<Place> {
        let listener = self.by_id.get_mut(&id.0)?;
        if proved {
            listener.proved.take(source);
            return None;
        }
        Some(listener.unproved.take(context, source))
    }

    /// One that was not proved is now.
    pub(crate) fn proved(&mut self, id: ListenerId, place: Place, source: IpAddr) {
        if let Some(listener) = self.by_id.get_mut(&id.0) {
            listener.unproved.leave(place, source);
            listener.proved.take(source);
        }
    }

    /// An accepted association from `source` was touched by its user for the first time, or ended untouched.
    pub(crate) fn taken(&mut self, id: ListenerId, place: Option<Place>, source: IpAddr) {
        let Some(listener) = self.by_id.get_mut(&id.0) else {
            return;
        };
        match place {
            Some(place) => listener.unproved.leave(place, source),
            None => listener.proved.leave(source),
        }
    }

    /// Of the listener with the fewest places left for the unproved: how many they take, and how many there are.
    pub(crate) fn fullest(&self) -> Option<(usize, usize)> {
        let places = self.by_id.values().map(|listener| listener.unproved.places());
        places.min_by_key(|(taken, limit)| limit.saturating_sub(*taken))
    }

    /// The oldest of those not proved that may have to give way; each is named once.
    pub(crate) fn oldest_unproved(&mut self, id: ListenerId) -> Option<ContextId> {
        self.by_id.get_mut(&id.0)?.unproved.oldest()
    }
}

impl ListenerEntry {
    /// Services above 31 have no bit of their own: only a listener for all services takes them.
    fn serves(&self, service: u8) -> bool {
        match 1_u32.checked_shl(u32::from(service)) {
            Some(bit) => self.options.services & bit != 0,
            None => self.options.services == u32::MAX,
        }
    }
}

#[cfg(test)]
#[path = "listener_tests.rs"]
mod tests;
