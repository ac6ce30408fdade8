//! Time, tasks and hosts of a seed, and the order of their steps.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{Engine, Time};
use xtp_io::{Backend, UdpSocket, Wire};

use super::super::{ROUNDS, is_over, take_batch, turn};
use super::network::Network;
use super::{Rng, exchanges, octets, records, sets};
use crate::carrier::Carrier;
use crate::clock::{Clock, testing};
use crate::config::Config;
use crate::core::{Core, Flusher};
use crate::shared::{Handle, Shared};
use crate::tokio::Endpoint;

/// The system's clock when a seed begins, ns.
const BEGIN: u64 = 1_000_000_000_000;
/// What a seed may take: after that something sleeps that should not.
const LONGEST: u64 = 600_000_000_000;
/// Steps without a moment passing.
const MOST_STEPS: u64 = 20_000_000;
/// How long what is over is remembered, ns.
const FORGOTTEN: u64 = 300_000_000_000;
/// Polls of tasks that one datagram or one step of a program may cause, and some besides.
const POLLS: u64 = 12;

/// Set by a waker.
#[derive(Default)]
pub(super) struct Flag {
    woken: AtomicBool,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Relaxed);
    }
}

impl Flag {
    fn new() -> Arc<Self> {
        let flag = Self::default();
        flag.woken.store(true, Ordering::Relaxed);
        Arc::new(flag)
    }

    fn is_woken(&self) -> bool {
        self.woken.load(Ordering::Relaxed)
    }

    fn take(&self) {
        self.woken.store(false, Ordering::Relaxed);
    }
}

type Story = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    name: &'static str,
    story: Story,
    flag: Arc<Flag>,
}

/// An endpoint, its driver's task and its flusher's thread.
pub(super) struct Host {
    endpoint: RefCell<Option<Endpoint>>,
    pub(super) shared: Arc<Shared>,
    wire: &'static Wire,
    flag: Arc<Flag>,
    timer: Cell<Option<Time>>,
    ending: RefCell<Option<Time>>,
    over: Cell<bool>,
    /// When the flusher wakes.
    nap: Cell<Option<u64>>,
    /// Until when the carrier has no room.
    full: Cell<Option<u64>>,
}

impl Host {
    fn new(rng: &mut Rng, number: u8, clock: Clock) -> Self {
        let address = SocketAddr::from(([10, 0, 0, number], 6_000));
        let wire: &'static Wire = Box::leak(Box::new(Wire::new(address)));
        let mut config = Config::server(SocketAddr::from(([127, 0, 0, 1], 0)));
        config.socket.backend = Backend::Wired(wire);
        config.linger = Duration::from_secs(60);
        config.message_limit = 40_000;
        config.engine.entropy = rng.entropy();
        config.engine.own_addresses = vec![address.ip()];
        let socket = UdpSocket::bind(config.bind, &config.socket).expect("loopback");
        let socket = Arc::new(socket);
        let engine = Engine::new(config.engine.clone()).expect("usual options");
        let waker = Arc::new(crate::wake::Waker::new(address));
        let carrier = Carrier::new(Arc::clone(&socket), Arc::clone(&waker), None);
        let mut core = Core::new(engine, carrier, clock);
        core.gathering.flusher = Flusher::Running;
        core.driver = Some(Waker::noop().clone());
        let handle = Handle::new(Shared::new(core, socket, waker, config));
        let shared = handle.for_driver();
        let inner = crate::Endpoint {
            shared: Arc::new(handle),
        };
        Self {
            endpoint: RefCell::new(Some(Endpoint { inner })),
            shared,
            wire,
            flag: Flag::new(),
            timer: Cell::new(None),
            ending: RefCell::new(None),
            over: Cell::new(false),
            nap: Cell::new(None),
            full: Cell::new(None),
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.wire.address()
    }

    fn is_due(&self, now: u64) -> bool {
        let timer = self.timer.get().is_some_and(|at| self.nanos_of(at) <= now);
        !self.over.get() && (self.flag.is_woken() || self.wire.is_readable() || timer)
    }

    /// The system's clock when that of the endpoint says `at`.
    fn nanos_of(&self, at: Time) -> u64 {
        // It was made when the seed began, and says a second then.
        BEGIN - 1_000_000_000 + at.as_nanos()
    }

    /// One round of the driver's task, as of [`Drive::run`](super::super::Drive::run).
    fn drive(&self) {
        self.flag.take();
        let waker = Waker::from(Arc::clone(&self.flag));
        let mut context = Context::from_waker(&waker);
        let (deadline, _) = turn(&self.shared, &mut context);
        if is_over(&self.shared, &mut self.ending.borrow_mut()) {
            self.over.set(true);
            self.shared.driver_gone();
            return;
        }
        if self.wire.is_readable() {
            let _ = (0..ROUNDS).try_for_each(|_| take_batch(&self.shared));
            // It goes on before it sleeps.
            self.flag.woken.store(true, Ordering::Relaxed);
            return;
        }
        let end = self
            .ending
            .borrow()
            .map(|begun| begun + self.shared.config.linger);
        self.timer.set(deadline.into_iter().chain(end).min());
    }
}

/// Memory lent to an endpoint, and how much of it there is.
struct Lent(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All of a seed.
pub(super) struct World {
    now: Cell<u64>,
    rng: RefCell<Rng>,
    hosts: [Host; 2],
    network: RefCell<Network>,
    tasks: RefCell<Vec<Task>>,
    newcomers: RefCell<Vec<(&'static str, Story)>>,
    sleepers: RefCell<Vec<(u64, Waker)>>,
    lent: Arc<AtomicUsize>,
    /// The carriers have no room at times.
    tight: bool,
    /// The flusher may be so late, ns.
    late: u64,
    /// What programs did, and how often tasks were polled.
    deeds: Cell<u64>,
    polls: Cell<u64>,
    turns: Cell<u64>,
}

impl World {
    /// Plays a seed.
    pub(super) fn run(seed: u64) {
        testing::set(Some(BEGIN));
        let mut rng = Rng::new(seed, 0);
        let clock = Clock::new();
        let hosts = [Host::new(&mut rng, 1, clock), Host::new(&mut rng, 2, clock)];
        let world = Rc::new(Self {
            now: Cell::new(BEGIN),
            hosts,
            network: RefCell::new(Network::draw(seed)),
            tasks: RefCell::default(),
            newcomers: RefCell::default(),
            sleepers: RefCell::default(),
            lent: Arc::default(),
            tight: rng.percent(30),
            late: rng.pick(&[450_000, 450_000, 20_000_000]),
            deeds: Cell::new(0),
            polls: Cell::new(0),
            turns: Cell::new(0),
            rng: RefCell::new(rng),
        });
        world.begin(seed);
        world.play(LONGEST, |world| {
            world.tasks.borrow().is_empty() && world.newcomers.borrow().is_empty()
        });
        world.check_polls();
        let until = world.now.get() - BEGIN + FORGOTTEN;
        world.play(until, |world| world.hosts.iter().all(Host::is_clean));
        assert_eq!(world.lent.load(Ordering::Relaxed), 0, "memory that was lent");
        for host in &world.hosts {
            host.endpoint.replace(None);
        }
        world.play(until + LONGEST, |world| {
            world.hosts.iter().all(|host| host.over.get())
        });
        testing::set(None);
    }

    /// Draws what is done.
    fn begin(self: &Rc<Self>, seed: u64) {
        let mut rng = Rng::new(seed, 2);
        for number in 0..rng.range(1, 4) {
            let rng = &mut Rng::new(seed, 10 + number);
            let service = 100 + number as u16;
            match rng.range(0, 5) {
                0 | 1 => octets::begin(self, rng, service),
                2 => records::begin(self, rng, service),
                3 | 4 => exchanges::begin(self, rng, service),
                _ => sets::begin(self, rng, service),
            }
        }
    }

    /// Lets time pass until all is `over`, at most `longest` from the beginning.
    fn play(self: &Rc<Self>, longest: u64, over: impl Fn(&Self) -> bool) {
        let wires = [self.hosts[0].wire, self.hosts[1].wire];
        for _ in 0..MOST_STEPS {
            let newcomers = std::mem::take(&mut *self.newcomers.borrow_mut());
            self.tasks
                .borrow_mut()
                .extend(newcomers.into_iter().map(|(name, story)| Task {
                    name,
                    story,
                    flag: Flag::new(),
                }));
            self.network.borrow_mut().collect(self.now.get(), &wires);
            self.network.borrow_mut().deliver(self.now.get(), &wires);
            if over(self) {
                return;
            }
            if self.step() {
                self.tick();
                continue;
            }
            let Some(next) = self.next() else {
                panic!("nothing will ever happen: {}", self.told());
            };
            assert!(next < BEGIN + longest, "not over: {}", self.told());
            self.pass_to(next);
        }
        panic!("too many steps: {}", self.told());
    }

    /// What is not over.
    fn told(&self) -> String {
        let tasks: Vec<_> = self.tasks.borrow().iter().map(|task| task.name).collect();
        let left = self.hosts.each_ref().map(Host::leftovers);
        format!("tasks {tasks:?}, left {left:?}")
    }

    /// One step of something that can go on; false if nothing can.
    fn step(self: &Rc<Self>) -> bool {
        let now = self.now.get();
        self.wake_sleepers(now);
        self.play_hosts(now);
        let due: Vec<usize> = (0..2).filter(|host| self.hosts[*host].is_due(now)).collect();
        let tasks = self.tasks.borrow();
        let woken = (0..tasks.len()).filter(|task| tasks[*task].flag.is_woken());
        let choices: Vec<(bool, usize)> = woken
            .map(|task| (true, task))
            .chain(due.into_iter().map(|host| (false, host)))
            .collect();
        drop(tasks);
        if choices.is_empty() {
            return false;
        }
        let (is_task, which) = self.rng.borrow_mut().pick(&choices);
        match is_task {
            true => self.poll(which),
            false => {
                self.turns.set(self.turns.get() + 1);
                self.hosts[which].drive();
            }
        }
        true
    }

    fn poll(self: &Rc<Self>, which: usize) {
        let mut task = self.tasks.borrow_mut().swap_remove(which);
        task.flag.take();
        self.polls.set(self.polls.get() + 1);
        let waker = Waker::from(Arc::clone(&task.flag));
        let poll = task.story.as_mut().poll(&mut Context::from_waker(&waker));
        if poll.is_pending() {
            self.tasks.borrow_mut().push(task);
        }
    }

    fn wake_sleepers(&self, now: u64) {
        self.sleepers.borrow_mut().retain(|(until, waker)| {
            let sleeps = *until > now;
            if !sleeps {
                waker.wake_by_ref();
            }
            sleeps
        });
    }

    /// The flusher of each wakes, and room comes and goes.
    fn play_hosts(&self, now: u64) {
        let mut rng = self.rng.borrow_mut();
        for host in &self.hosts {
            let holds = match host.nap.get() {
                Some(at) if at > now => continue,
                Some(_) => host.shared.end_nap(),
                None => host.shared.look(|core| core.has_gathered()),
            };
            host.nap.set(holds.then(|| now + rng.range(100_000, self.late)));
            match host.full.get() {
                Some(until) if until <= now => {
                    host.full.set(None);
                    host.wire.limit(None);
                }
                None if self.tight && rng.percent(1) => {
                    host.full.set(Some(now + rng.range(1_000, 3_000_000)));
                    host.wire.limit(Some(rng.range(0, 5) as usize));
                }
                _ => {}
            }
        }
    }

    /// When something happens if nothing does before.
    fn next(&self) -> Option<u64> {
        let sleepers = self.sleepers.borrow();
        let hosts = self.hosts.iter().filter(|host| !host.over.get());
        let of_hosts = hosts.flat_map(|host| {
            let timer = host.timer.get().map(|at| host.nanos_of(at));
            [timer, host.nap.get(), host.full.get()]
        });
        sleepers
            .iter()
            .map(|(until, _)| *until)
            .chain(self.network.borrow().next())
            .chain(of_hosts.flatten())
            .min()
    }

    fn pass_to(&self, at: u64) {
        // Whoever is woken by a timer is so a little late.
        let late = self.rng.borrow_mut().pick(&[0, 0, 0, 2_000, 60_000]);
        self.set_clock(self.now.get().max(at) + late);
    }

    fn set_clock(&self, now: u64) {
        self.now.set(now);
        testing::set(Some(now));
    }

    /// Polls that nothing explains are a storm.
    fn check_polls(&self) {
        let (polls, deeds) = (self.polls.get(), self.deeds.get());
        let causes = deeds + self.network.borrow().delivered + self.turns.get();
        assert!(polls <= POLLS * causes + 100, "{polls} polls, {causes} causes");
    }

    /// A program does something, which takes it some microseconds.
    pub(super) fn tick(&self) {
        self.deeds.set(self.deeds.get() + 1);
        let passed = self.rng.borrow_mut().range(200, 9_000);
        self.set_clock(self.now.get() + passed);
    }

    pub(super) fn spawn(&self, name: &'static str, story: impl Future<Output = ()> + 'static) {
        self.newcomers.borrow_mut().push((name, Box::pin(story)));
    }

    /// Sleeps so long, ns.
    pub(super) async fn sleep(&self, span: u64) {
        let until = self.now.get() + span;
        poll_fn(|context| {
            if self.now.get() >= until {
                return Poll::Ready(());
            }
            let sleeper = (until, context.waker().clone());
            self.sleepers.borrow_mut().push(sleeper);
            Poll::Pending
        })
        .await;
    }

    pub(super) fn endpoint(&self, host: usize) -> Endpoint {
        let endpoint = self.hosts[host].endpoint.borrow();
        endpoint.clone().expect("it lives as long as its programs")
    }

    pub(super) fn address(&self, host: usize) -> SocketAddr {
        self.hosts[host].address()
    }

    /// Datagrams that have arrived.
    pub(super) fn delivered(&self) -> u64 {
        self.network.borrow().delivered
    }

    /// Octets in memory that comes back or not.
    pub(super) fn lend(&self, octets: Vec<u8>) -> Bytes {
        self.lent.fetch_add(1, Ordering::Relaxed);
        Bytes::from_owner(Lent(octets, Arc::clone(&self.lent)))
    }
}

impl Host {
    fn leftovers(&self) -> Vec<(&'static str, usize)> {
        let mut left = self.shared.look(|core| core.leftovers());
        left.retain(|(_, count)| *count > 0);
        left
    }

    fn is_clean(&self) -> bool {
        self.leftovers().is_empty()
    }
}

/// Gives a future up when it was polled so often in vain.
pub(super) async fn giving_up<F: Future>(after: u64, future: F) -> Option<F::Output> {
    let (mut future, mut left) = (Box::pin(future), after);
    poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
