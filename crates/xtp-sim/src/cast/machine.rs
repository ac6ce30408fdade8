//! A host of a group: an engine behind its driver, a clock, and sockets that hold so much and no more.

use core::net::SocketAddr;
use std::collections::VecDeque;

use xtp_engine::{Datagram, Driver, Engine, EngineConfig, Error, Joined, Outlet, Time, TransmitBatch};

use super::network::Travelling;
use crate::clock::Clock;
use crate::inbox::{Inbox, join};
use crate::net::Flying;
use crate::rng::Rng;

/// Turns a host takes at one moment at most.
const TURNS: usize = 4;

/// Why nobody is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The program ended; its host tells who asks.
    Killed,
    /// The host is off.
    Off,
}

/// What left and is not on a link yet.
#[derive(Default)]
struct Outbox(Vec<TransmitBatch>);

impl Outlet for Outbox {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        self.0.push(core::mem::take(out));
    }
}

/// A host.
pub struct Machine {
    /// Its engine.
    pub driver: Driver,
    /// Where its endpoint's socket is bound.
    pub address: SocketAddr,
    /// Not scheduled.
    pub paused: bool,
    /// Nobody is there any more.
    pub gone: Option<Gone>,
    /// When it wants to run, world time; `u64::MAX` for not at all.
    pub wake: u64,
    clock: Clock,
    inbox: VecDeque<Travelling>,
    inbox_octets: usize,
    socket_buffer: usize,
    look: u64,
    next_look: u64,
    outbox: Outbox,
    /// Most datagrams of one receive call.
    pub batch: usize,
    /// Draws how much of what is sent at once the carrier takes, while that is not all.
    refusing: Option<Rng>,
}

impl Machine {
    /// A host that runs; `look` is the time between two looks at its sockets.
    ///
    /// # Errors
    /// What the engine says about its configuration.
    pub fn new(
        engine: EngineConfig,
        address: SocketAddr,
        clock: Clock,
        socket_buffer: usize,
        look: u64,
    ) -> Result<Self, Error> {
        Ok(Self {
            driver: Driver::new(Engine::new(engine)?),
            address,
            paused: false,
            gone: None,
            wake: 0,
            clock,
            inbox: VecDeque::new(),
            inbox_octets: 0,
            socket_buffer,
            look,
            next_look: 0,
            outbox: Outbox::default(),
            batch: 1,
            refusing: None,
        })
    }

    /// What its clock shows.
    pub fn local(&self, world: u64) -> Time {
        self.clock.local(world)
    }

    /// Whether it does anything.
    pub fn runs(&self) -> bool {
        !self.paused && self.gone.is_none()
    }

    /// A datagram reaches its sockets; whether it found room.
    pub fn deliver(&mut self, datagram: Travelling) -> bool {
        if self.inbox_octets + datagram.data.len() > self.socket_buffer {
            return false;
        }
        self.inbox_octets += datagram.data.len();
        self.inbox.push_back(datagram);
        self.wake = self.wake.min(self.next_look);
        true
    }

    /// Takes what lies in its sockets. Datagrams to `group` come from the group's socket.
    pub fn take_input(&mut self, world: u64, group: SocketAddr) {
        if self.inbox.is_empty() || self.next_look > world {
            return;
        }
        let now = self.local(world);
        while self.batch > 1 && !self.inbox.is_empty() {
            self.take_batch(now, group);
        }
        while let Some(travelling) = self.inbox.pop_front() {
            self.inbox_octets -= travelling.data.len();
            let datagram = Datagram {
                src: travelling.src,
                dst: Some(travelling.dst.ip()),
                ecn: travelling.ecn,
                data: &travelling.data,
                backing: None,
            };
            let mut single = Joined::alone(datagram);
            if travelling.dst == group {
                self.driver.receive_from_group(now, group, &mut single);
            } else {
                self.driver.receive_all(now, &mut single);
                let _ = self.driver.reply(now, &mut self.outbox);
            }
        }
        self.next_look = world + self.look;
    }

    /// One receive call of the group's socket or of the endpoint's own: what is next to each other and equally long comes joined.
    fn take_batch(&mut self, now: Time, group: SocketAddr) {
        let is_group = self.inbox.front().is_some_and(|first| first.dst == group);
        let of_socket = |one: &&Travelling| (one.dst == group) == is_group;
        let count = self.inbox.iter().take(self.batch).take_while(of_socket).count();
        let taken: Vec<Flying> = self
            .inbox
            .drain(..count)
            .map(|one| Flying {
                src: one.src,
                dst: one.dst,
                ecn: one.ecn,
                data: one.data,
                left: 0,
            })
            .collect();
        self.inbox_octets -= taken.iter().map(|one| one.data.len()).sum::<usize>();
        let (trains, places) = join(&taken);
        let mut arrivals = Inbox::new(&taken, &trains, places);
        if is_group {
            self.driver.receive_from_group(now, group, &mut arrivals);
        } else {
            self.driver.receive_all(now, &mut arrivals);
            let _ = self.driver.reply(now, &mut self.outbox);
        }
    }

    /// The carrier takes a part of what is sent at once and throws the rest away from now on, or takes everything again.
    pub fn refuse(&mut self, refuses: bool) {
        self.refusing = refuses.then(|| Rng::new(self.address.port().into(), 62));
    }

    /// One turn; what leaves is given to `each` with its destination.
    pub fn turn(&mut self, world: u64, each: impl FnMut(Travelling)) {
        // Catch-ups are the driver's own; a host of a group has no others.
        self.turn_with(world, |driver| while driver.poll_event().is_some() {}, each);
    }

    /// The same of a host whose program takes the engine's events.
    pub fn turn_with(
        &mut self,
        world: u64,
        mut events: impl FnMut(&mut Driver),
        mut each: impl FnMut(Travelling),
    ) {
        let now = self.local(world);
        for _ in 0..TURNS {
            self.driver.turn(now, &mut self.outbox);
            // Nobody else holds what is let go.
            let _ = self.driver.release_detached(now);
            events(&mut self.driver);
            if !self.driver.is_pressing(now) {
                break;
            }
        }
        self.driver.tidy(now);
        for batch in core::mem::take(&mut self.outbox.0) {
            let mut all = 0;
            batch.for_each_datagram(|_, _| all += 1);
            let mut room = match &mut self.refusing {
                Some(rng) => rng.range(0, all),
                None => all,
            };
            batch.for_each_datagram(|train, octets| {
                let refused = room == 0;
                room = room.saturating_sub(1);
                each(Travelling {
                    src: self.address,
                    dst: train.dst,
                    ecn: train.ecn,
                    data: bytes::Bytes::copy_from_slice(octets),
                    number: 0,
                    refused,
                });
            });
        }
    }

    /// When it wants to run again, if its user wants to at `user`.
    pub fn plan(&mut self, user: u64) {
        let timer = self.driver.deadline().filter(|&at| at != Time::NEVER);
        let timer = timer.map_or(u64::MAX, |at| self.clock.world(at));
        let look = if self.inbox.is_empty() {
            u64::MAX
        } else {
            self.next_look
        };
        self.wake = timer.min(look).min(user);
    }

    /// The program ends, or the host is off.
    pub fn end(&mut self, why: Gone) {
        self.gone = Some(why);
        self.paused = false;
        self.inbox.clear();
        self.inbox_octets = 0;
        self.wake = u64::MAX;
    }
}
