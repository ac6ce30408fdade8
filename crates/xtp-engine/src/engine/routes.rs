//! Hosts to which associations of different urgency send (§5.4): which of these may send at once, and which wait for a turn.

use core::net::IpAddr;
use std::collections::BTreeMap;

use super::Engine;
use crate::config::EngineConfig;
use crate::context::Context;
use xtp_core::control::route::HostRoute;
use xtp_core::time::Time;

/// Hosts at most; to others everybody sends at its own pace. Each may keep 16 octets for every association of the engine.
const MOST_ROUTES: usize = 64;

/// Routes on which urgencies differ, or did a moment ago.
#[derive(Default)]
pub(super) struct Routes {
    by_host: BTreeMap<IpAddr, HostRoute>,
    /// When the next association that waits has its turn; [`Time::NEVER`] if none waits.
    wakes: Time,
}

impl Routes {
    pub(super) fn new() -> Self {
        Self {
            by_host: BTreeMap::new(),
            wakes: Time::NEVER,
        }
    }

    /// An association of a stated urgency sends to this host.
    pub(super) fn used(&mut self, host: IpAddr, sort: u16, now: Time) {
        if let Some(route) = self.by_host.get_mut(&host) {
            return route.used(Some(sort), now);
        }
        if self.by_host.len() >= MOST_ROUTES {
            self.by_host.retain(|_, route| !route.is_unused(now));
        }
        if self.by_host.len() < MOST_ROUTES {
            let mut route = HostRoute::new(now);
            route.used(Some(sort), now);
            self.by_host.insert(host, route);
        }
    }

    /// When [`wake`](Engine::wake_routes) is worth a call.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Time> {
        (self.wakes != Time::NEVER).then_some(self.wakes)
    }

    fn reckon(&mut self, now: Time) {
        let wakes = self.by_host.values().filter_map(|route| route.wakes(now));
        self.wakes = wakes.min().unwrap_or(Time::NEVER);
    }

    /// Before the turn of an association: what it may send of what all send to its peer's host. Whether it is to [`leave`](Self::leave).
    #[inline]
    pub(super) fn enter(&mut self, context: &mut Context, now: Time) -> bool {
        let shares = !self.by_host.is_empty() || context.urgency().is_some();
        if shares {
            self.enter_shared(context, now);
        }
        shares
    }

    fn enter_shared(&mut self, context: &mut Context, now: Time) {
        let host = context.peer.addr.ip();
        if let Some(route) = self.by_host.get(&host)
            && route.is_unused(now)
        {
            self.by_host.remove(&host);
        }
        if let Some(sort) = context.urgency()
            && context.peer.validated
            && context.has_data_to_share()
        {
            self.used(host, sort, now);
        }
        match self.by_host.get_mut(&host) {
            Some(route) => context.enter_route(route, now),
            None => context.leave_all_routes(),
        }
    }

    /// After it: what it sent, and whether it waits for another turn.
    pub(super) fn leave(&mut self, context: &mut Context, slot: u32, now: Time, config: &EngineConfig) {
        if let Some(route) = self.by_host.get_mut(&context.peer.addr.ip()) {
            context.leave_route(route, slot, now, config);
            if let Some(at) = route.wakes(now) {
                self.wakes = self.wakes.min(at);
            }
        }
    }
}

impl Engine {
    /// Gives a turn to associations that may go on by now: one a host, whose turn leads to that of the next.
    #[inline]
    pub(super) fn wake_routes(&mut self) {
        if self.routes.wakes <= self.now {
            self.give_turns();
        }
    }

    fn give_turns(&mut self) {
        let now = self.now;
        let mut awake = smallvec::SmallVec::<[u32; 4]>::new();
        for route in self.routes.by_host.values_mut() {
            while route.wakes(now).is_some_and(|at| at <= now)
                && let Some(slot) = route.next(now)
            {
                // Others are gone by now, or have had their turn.
                let waits = self
                    .contexts
                    .awake(slot)
                    .is_some_and(|context| context.waits_for_route());
                if waits {
                    awake.push(slot);
                    if route.is_paced(now) {
                        break;
                    }
                }
            }
        }
        for slot in awake {
            if let Some(context) = self.contexts.at(slot) {
                context.has_its_turn();
            }
            self.mark_dirty(slot);
        }
        self.routes.reckon(now);
    }
}
