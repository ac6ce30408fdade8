//! Listeners that go and come again while their peers begin, or serve others meanwhile: whoever is refused is told why, was
//! certainly not served, and nobody else notices. Users also ask for listeners that there cannot be.

use core::time::Duration;

use xtp_engine::{Error, ListenOptions};
use xtp_wire::Options;

use crate::fault::Fault;
use crate::rng::Rng;
use crate::seed::Plan;
use crate::trouble::FaultClass;
use crate::whims::is_kept_from_before;
use crate::world::World;

/// The stream that all of it is drawn from.
const SERVING: u64 = 73;
/// How much later a host that does not run is asked again.
const AGAIN: Duration = Duration::from_millis(10);
/// A service that nobody asks for.
const UNUSED: u8 = 30;

/// Whom the listener of a flow serves from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Nobody: it is closed.
    Nobody,
    /// Nobody, and a listener for whatever number serves what nobody asks for.
    Elsewhere,
    /// Every service but the flow's.
    Others,
    /// Only whoever sets an option that the flow does not set, or does not set one that it does.
    Stricter,
    /// As planned.
    Again,
}

/// A time in which the listener of a flow did not serve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The flow.
    pub(crate) flow: usize,
    /// When it began, world time in nanoseconds.
    pub(crate) from: u64,
    /// When it ended.
    pub(crate) until: u64,
}

impl Plan {
    /// Draws listeners that change.
    pub(crate) fn draw_serving(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, SERVING);
        if is_kept_from_before(seed) || !rng.percent(12) {
            return;
        }
        self.classes.insert(FaultClass::ListenerChange);
        for _ in 0..rng.range(1, 3) {
            let flow = rng.range(0, self.flows.len() as u64 - 1) as usize;
            let spec = &self.flows[flow].1;
            if spec.series.is_some() {
                continue;
            }
            let start = spec.start.as_millis() as u64 + rng.range(0, 300);
            let at = start.saturating_sub(rng.pick(&[0, 20, 250]));
            let span = rng.pick(&[1, 20, 300, 3_000]);
            let serves = rng.pick(&[
                Serves::Nobody,
                Serves::Elsewhere,
                Serves::Others,
                Serves::Stricter,
            ]);
            let host = spec.responder;
            let fault = |serves| Fault::Serve { host, flow, serves };
            let faults = vec![(at, fault(serves)), (at + span, fault(Serves::Again))];
            self.plan(FaultClass::ListenerChange, faults);
        }
    }
}

impl World {
    /// The listener of a flow serves others from now on.
    pub(crate) fn serve(&mut self, host: usize, flow: usize, serves: Serves) {
        let spec = &self.flows[flow].spec;
        // Who starts again listens as planned.
        if spec.left_out || self.hosts[host].down {
            return;
        }
        if self.hosts[host].paused {
            let later = Duration::from_nanos(self.now) + AGAIN;
            return self.schedule(later, Fault::Serve { host, flow, serves });
        }
        let (planned, service) = (spec.listen.clone(), spec.open.service);
        let reserves = spec.open.tuning.reserve;
        let mut options = planned.clone();
        match serves {
            Serves::Others => options.services &= !(1 << service),
            Serves::Stricter if reserves => options.refused = Options::RES,
            Serves::Stricter => options.required = Options::RES,
            _ => {}
        }
        let result = match serves {
            Serves::Again => self.serve_again(host, flow, planned),
            Serves::Nobody => self.close_listener(host, flow),
            Serves::Elsewhere => self
                .close_listener(host, flow)
                .and_then(|()| self.listen_elsewhere(host, flow)),
            Serves::Others | Serves::Stricter => self
                .close_listener(host, flow)
                .and_then(|()| self.listen(host, flow, options)),
        };
        let has_number = !matches!(serves, Serves::Nobody | Serves::Elsewhere);
        let result = result.and_then(|()| self.ask_for_what_cannot_be(host, flow, has_number));
        if let Err(what) = result {
            self.fail(format!("flow {flow}: {serves:?} at host {host}: {what}"));
        }
        self.turn(host);
    }

    fn listen(&mut self, host: usize, flow: usize, options: ListenOptions) -> Result<(), String> {
        self.hosts[host]
            .listen(flow, options)
            .map_err(|error| error.to_string())
    }

    fn listen_elsewhere(&mut self, host: usize, flow: usize) -> Result<(), String> {
        let anywhere = ListenOptions::wildcard().serving(&[UNUSED]);
        match self.hosts[host].listen(flow, anywhere.clone()) {
            Ok(()) => {}
            // Another flow's listener has gone so, too.
            Err(Error::InvalidOption(_)) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
        match self.hosts[host].engine.command().listen(anywhere) {
            Err(Error::InvalidOption(_)) => Ok(()),
            other => Err(format!("a second listener for every number: {other:?}")),
        }
    }

    /// Closes whatever listens for a flow; who was accepted lives on.
    fn close_listener(&mut self, host: usize, flow: usize) -> Result<(), String> {
        let own = &self.hosts[host].listeners;
        let all: Vec<_> = own
            .iter()
            .filter(|(_, of)| **of == flow)
            .map(|(id, _)| *id)
            .collect();
        for id in &all {
            let closed = self.hosts[host].engine.command().unlisten(*id);
            closed.map_err(|error| format!("closing failed: {error}"))?;
        }
        // What was accepted before is told of before that is forgotten.
        self.tell_users(host);
        for id in all {
            self.hosts[host].listeners.remove(&id);
            let twice = self.hosts[host].engine.command().unlisten(id);
            if twice != Err(Error::NoListener) {
                return Err(format!("closed twice: {twice:?}"));
            }
        }
        let (from, until) = (self.now, u64::MAX);
        self.closed.push(Closed { flow, from, until });
        Ok(())
    }

    fn serve_again(&mut self, host: usize, flow: usize, planned: ListenOptions) -> Result<(), String> {
        self.close_listener(host, flow)?;
        let now = self.now;
        for closed in self.closed.iter_mut().filter(|closed| closed.flow == flow) {
            closed.until = closed.until.min(now);
        }
        self.listen(host, flow, planned)
    }

    /// Nobody gets a listener that would refuse everybody, or one for a number that another has; and nothing changes by
    /// asking.
    fn ask_for_what_cannot_be(&mut self, host: usize, flow: usize, has_number: bool) -> Result<(), String> {
        let planned = self.flows[flow].spec.listen.clone();
        let mut wrong = [planned.clone(), planned.clone(), planned.clone()];
        wrong[0].services = 0;
        wrong[1].backlog = 0;
        (wrong[2].required, wrong[2].refused) = (Options::RES, Options::RES);
        let engine = &mut self.hosts[host].engine;
        for options in wrong {
            let result = engine.command().listen(options);
            if !matches!(result, Err(Error::InvalidOption(_))) {
                return Err(format!("a listener that takes nobody: {result:?}"));
            }
        }
        if !has_number {
            return Ok(());
        }
        match engine.command().listen(planned) {
            Err(Error::PortInUse(_)) => Ok(()),
            other => Err(format!("a second listener for its number: {other:?}")),
        }
    }
}

#[cfg(test)]
#[path = "serving_tests.rs"]
mod tests;
