//! What may happen to hosts and links while a world runs.

use core::net::SocketAddr;

use xtp_link::LinkConfig;

use crate::app::Outcome;
use crate::world::World;

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The link between two hosts goes down or up.
    Link {
        /// One end.
        one: usize,
        /// The other.
        two: usize,
        /// Up again.
        up: bool,
    },
    /// The link between two hosts behaves like this from now on, in both directions.
    Configure {
        /// One end.
        one: usize,
        /// The other.
        two: usize,
        /// How.
        config: Box<LinkConfig>,
    },
    /// Nothing is lost, damaged or delayed irregularly from now on, everyone runs.
    Heal,
    /// A host is not scheduled.
    Pause(usize),
    /// It is again.
    Resume(usize),
    /// A host loses everything.
    Crash(usize),
    /// It starts again, with nothing but its listeners.
    Restart(usize),
    /// A host has another address from now on, and the old one reaches nobody.
    Move {
        /// The host.
        host: usize,
        /// Its new address.
        address: SocketAddr,
    },
}

/// A fault with its time.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// World time, nanoseconds.
    pub at: u64,
    /// What happens.
    pub fault: Fault,
}

impl World {
    /// Something happens now.
    pub fn apply(&mut self, fault: Fault) {
        match fault {
            Fault::Link { one, two, up } => self.net.link_mut(one, two).set_up(up),
            Fault::Configure { one, two, config } => self.configure(one, two, &config),
            Fault::Heal => self.heal(),
            Fault::Pause(host) => self.hosts[host].paused = true,
            Fault::Resume(host) => self.resume(host),
            Fault::Crash(host) => self.crash(host),
            Fault::Restart(host) => self.restart(host),
            Fault::Move { host, address } => self.net.set_address(host, address),
        }
    }

    fn configure(&mut self, one: usize, two: usize, config: &LinkConfig) {
        let link = self.net.link_mut(one, two);
        for direction in [xtp_link::Direction::AToB, xtp_link::Direction::BToA] {
            if let Err(error) = link.link_mut(direction).set_config(config.clone()) {
                self.fail(format!("a link setting is out of range: {error}"));
                return;
            }
        }
    }

    /// Rate, delay, queue and MTU stay; chance, cuts, pauses and crashes end.
    fn heal(&mut self) {
        for link in self.net.links_mut() {
            link.set_up(true);
            for direction in [xtp_link::Direction::AToB, xtp_link::Direction::BToA] {
                let old = link.link(direction).config();
                let clean = LinkConfig {
                    rate_bits_per_s: old.rate_bits_per_s,
                    delay: old.delay,
                    queue_octets: old.queue_octets,
                    overhead_octets: old.overhead_octets,
                    mtu: old.mtu,
                    ecn_mark_threshold: old.ecn_mark_threshold,
                    ..LinkConfig::default()
                };
                // A part of a valid configuration is valid.
                let _ = link.link_mut(direction).set_config(clean);
            }
        }
        for host in 0..self.hosts.len() {
            if self.hosts[host].down {
                self.restart(host);
            }
            if self.hosts[host].paused {
                self.resume(host);
            }
        }
    }

    fn resume(&mut self, host: usize) {
        self.hosts[host].paused = false;
        // The engine's contract: what arrived meanwhile comes before the timers that fell due meanwhile. A legacy
        // initiator that also moved would otherwise repeat a FIRST that was answered long ago, from an address that
        // makes it another one (seed 1002521).
        self.hosts[host].receive(self.now);
        self.turn(host);
    }

    fn crash(&mut self, host: usize) {
        let now = self.now;
        self.hosts[host].crash(now);
        for task in self
            .tasks
            .iter_mut()
            .filter(|task| task.host == host && !task.is_over())
        {
            task.outcome = Outcome::Crashed;
            task.finished_at = now;
        }
    }

    fn restart(&mut self, host: usize) {
        if let Err(error) = self.hosts[host].restart(self.now) {
            self.fail(format!("host {host} does not start again: {error}"));
            return;
        }
        for number in 0..self.flows.len() {
            let flow = &self.flows[number];
            if flow.spec.responder != host || !flow.spec.listening {
                continue;
            }
            let options = flow.spec.listen.clone();
            if let Err(error) = self.hosts[host].listen(number, options) {
                self.fail(format!("flow {number}: listen failed: {error}"));
            }
        }
    }
}
