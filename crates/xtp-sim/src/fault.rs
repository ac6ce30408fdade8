//! What may happen to hosts and links while a world runs.

use core::net::SocketAddr;

use xtp_link::LinkConfig;

use crate::app::Outcome;
use crate::serving::Serves;
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
    /// One direction of a link goes down or up.
    OneWay {
        /// Who sends on it.
        from: usize,
        /// Who receives.
        to: usize,
        /// Up again.
        up: bool,
    },
    /// The link between two hosts has another rate from now on, and a queue that holds what is sent.
    Rate {
        /// One end.
        one: usize,
        /// The other.
        two: usize,
        /// Bits a second; `None` is infinite.
        bits: Option<u64>,
        /// Octets of its queue; `None` is unlimited.
        queue: Option<usize>,
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
    /// Nothing is lost, damaged or delayed irregularly by chance from now on.
    Calm,
    /// And everyone runs, and every link is up.
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
    /// A host learns another UTC: it is later (or earlier) by so many milliseconds.
    ClockJump {
        /// The host.
        host: usize,
        /// Milliseconds.
        by_ms: i64,
    },
    /// The carrier of a host takes nothing from now on, or takes it again.
    SendErrors {
        /// The host.
        host: usize,
        /// How it refuses; `None`: no longer.
        error: Option<SendError>,
    },
    /// The listener of a flow serves others from now on.
    Serve {
        /// The flow's responder.
        host: usize,
        /// The flow.
        flow: usize,
        /// Whom.
        serves: Serves,
    },
}

/// Why a carrier takes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// EAGAIN: what is sent is kept and leaves, in its order, once there is room.
    Again,
    /// ENOBUFS: what is sent is lost.
    NoBuffers,
    /// EPERM, a packet filter: what is sent is lost.
    NotPermitted,
    /// EAGAIN in the middle of a train: the first packets of it leave, the others are kept for the next call.
    AgainWithin,
    /// ENOBUFS in the middle of a train: the first packets of it leave, the others are lost.
    NoBuffersWithin,
}

impl SendError {
    /// Whether some of what is handed over at once leaves.
    pub(crate) fn takes_a_part(self) -> bool {
        matches!(self, Self::AgainWithin | Self::NoBuffersWithin)
    }
}

/// A host that had another address from a moment on.
#[derive(Clone, Debug)]
pub struct Moved {
    /// World time, nanoseconds.
    pub at: u64,
    /// The host.
    pub host: usize,
    /// Flows whose keys were exchanged and used by then.
    pub known: Vec<usize>,
}

/// A host was told that nobody has the port of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// World time, nanoseconds.
    pub at: u64,
    /// Who was told.
    pub host: usize,
    /// Whose port it was.
    pub about: Option<usize>,
}

/// A host that started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restarted {
    /// World time, nanoseconds.
    pub at: u64,
    /// The host.
    pub host: usize,
    /// What it states as its start (§6.9), UTC milliseconds.
    pub start_utc_ms: i64,
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
            Fault::OneWay { from, to, up } => self.net.one_way_mut(from, to).set_up(up),
            Fault::Rate {
                one,
                two,
                bits,
                queue,
            } => self.set_rate(one, two, bits, queue),
            Fault::Configure { one, two, config } => self.configure(one, two, &config),
            Fault::Calm => self.calm(),
            Fault::Heal => self.heal(),
            Fault::Pause(host) => self.pause(host),
            Fault::Resume(host) => self.resume(host),
            Fault::Crash(host) => self.crash(host),
            Fault::Restart(host) => self.restart(host),
            Fault::Move { host, address } => self.move_host(host, address),
            Fault::ClockJump { host, by_ms } => self.jump(host, by_ms),
            Fault::SendErrors { host, error } => self.net.refuse(self.now, host, error),
            Fault::Serve { host, flow, serves } => self.serve(host, flow, serves),
        }
    }

    fn set_rate(&mut self, one: usize, two: usize, bits: Option<u64>, queue: Option<usize>) {
        for (from, to) in [(one, two), (two, one)] {
            let link = self.net.one_way_mut(from, to);
            let mut config = link.config().clone();
            config.rate_bits_per_s = bits;
            config.queue_octets = queue;
            if let Err(error) = link.set_config(config) {
                self.fail(format!("a rate is out of range: {error}"));
                return;
            }
        }
    }

    fn move_host(&mut self, host: usize, address: SocketAddr) {
        self.net.set_address(host, address);
        let seen = &self.net.check.associations;
        let exchanged = |number: &usize| {
            let port = Some(self.flows[*number].port);
            seen.iter()
                .any(|association| association.port == port && association.exchanged)
        };
        let known = (0..self.flows.len()).filter(exchanged).collect();
        let at = self.now;
        self.moves.push(Moved { at, host, known });
    }

    fn jump(&mut self, host: usize, by_ms: i64) {
        let host = &mut self.hosts[host];
        host.config.utc_ms += by_ms;
        let local = (host.local(self.now).as_nanos() / 1_000_000) as i64;
        if !host.down {
            let offset = host.utc_ms(self.now) - local;
            host.engine.command().set_utc_offset(offset);
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

    /// Rate, delay, queue and MTU stay.
    fn calm(&mut self) {
        for link in self.net.links_mut() {
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
    }

    /// Chance, cuts, pauses and crashes end.
    fn heal(&mut self) {
        self.calm();
        for link in self.net.links_mut() {
            link.set_up(true);
        }
        for host in 0..self.hosts.len() {
            self.net.refuse(self.now, host, None);
            if self.hosts[host].down {
                self.restart(host);
            }
            if self.hosts[host].paused {
                self.resume(host);
            }
        }
    }

    fn pause(&mut self, host: usize) {
        // A pause that another one meets has begun with the first of them.
        if !std::mem::replace(&mut self.hosts[host].paused, true) {
            self.pauses.entry(host).or_default().began = self.now;
        }
    }

    /// A host that was paused runs again, or fails.
    fn end_pause(&mut self, host: usize) {
        if !std::mem::take(&mut self.hosts[host].paused) {
            return;
        }
        let pause = self.pauses.entry(host).or_default();
        pause.longest = pause.longest.max(self.now - pause.began);
        pause.ended = self.now;
        pause.spans.push((pause.began, self.now));
    }

    fn resume(&mut self, host: usize) {
        self.end_pause(host);
        if self.hosts[host].down {
            return;
        }
        // The engine's contract: what arrived meanwhile comes before the timers that fell due meanwhile. A legacy
        // initiator that also moved would otherwise repeat a FIRST that was answered long ago, from an address that
        // makes it another one (seed 1002521).
        self.take_input(host);
        self.turn(host);
    }

    fn crash(&mut self, host: usize) {
        let now = self.now;
        self.end_pause(host);
        self.hosts[host].crash(now);
        for task in self.tasks.iter_mut().filter(|task| task.host == host) {
            task.forget_receives();
            if task.is_over() {
                continue;
            }
            task.outcome = Outcome::Crashed;
            task.finished_at = now;
        }
    }

    fn restart(&mut self, host: usize) {
        if !self.hosts[host].down {
            return;
        }
        let own = &self.hosts[host];
        let start_utc_ms = own.utc_ms(self.now) + own.config.clock_allowance_ms;
        let at = self.now;
        self.net.check.restarted.insert(host);
        self.restarts.push(Restarted {
            at,
            host,
            start_utc_ms,
        });
        if let Err(error) = self.hosts[host].restart(self.now) {
            self.fail(format!("host {host} does not start again: {error}"));
            return;
        }
        for number in 0..self.flows.len() {
            let flow = &self.flows[number];
            if flow.spec.responder != host || !flow.spec.listening || flow.spec.left_out {
                continue;
            }
            let options = flow.spec.listen.clone();
            if let Err(error) = self.hosts[host].listen(number, options) {
                self.fail(format!("flow {number}: listen failed: {error}"));
            }
        }
    }
}
