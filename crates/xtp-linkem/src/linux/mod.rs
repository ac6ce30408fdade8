//! The emulator on Linux.

mod awake;
mod device;
mod held;
mod namespace;
mod packet;
mod run;
mod schedule;
mod tally;
mod worker;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};
use xtp_link::{Duplex, LinkConfig};

use crate::config::{Config, with_queues};
use crate::error::Error;
use crate::report::Report;
use device::Device;
use namespace::{Side, sweep};
use schedule::Conditions;
use worker::{Request, Worker};

pub use held::HeldNetwork;
pub use namespace::Namespace;

/// Emulators this process has started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A running emulator: two namespaces, and a thread that is the link between them. Everything goes when it is
/// dropped.
#[derive(Debug)]
pub struct Emulator {
    // The order matters: the thread owns the devices, which live in the namespaces.
    thread: Option<JoinHandle<io::Result<()>>>,
    requests: Sender<Request>,
    waker: Arc<OwnedFd>,
    left: Namespace,
    right: Namespace,
    /// Overruns of both devices when counting began.
    overruns: [AtomicU64; 2],
}

impl Emulator {
    /// Makes both namespaces and starts the link between them. Namespaces that a killed process left behind are
    /// removed on the way.
    ///
    /// # Errors
    /// A setting outside its range, or something that this host does not have or allow.
    pub fn start(config: Config) -> Result<Self, Error> {
        let [left_to_right, right_to_left] = config.links()?;
        let duplex = Duplex::new(left_to_right, right_to_left, config.seed)?;
        sweep();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let left = Namespace::create(Side::Left, number)?;
        let right = Namespace::create(Side::Right, number)?;
        let devices = [Device::new(number, "l")?, Device::new(number, "r")?];
        left.adopt(&devices[0], config.mtu)?;
        right.adopt(&devices[1], config.mtu)?;
        let (requests, asked) = channel();
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let waker = Arc::new(waker.map_err(|source| Error::Thread {
            source: source.into(),
        })?);
        let thread = spawn(config, devices, duplex, asked, Arc::clone(&waker))?;
        Ok(Self {
            thread: Some(thread),
            requests,
            waker,
            left,
            right,
            overruns: [AtomicU64::new(0), AtomicU64::new(0)],
        })
    }

    /// The left side.
    pub fn left(&self) -> &Namespace {
        &self.left
    }

    /// The right side.
    pub fn right(&self) -> &Namespace {
        &self.right
    }

    /// Changes both directions for packets sent from now on; what is under way keeps its arrival.
    ///
    /// # Errors
    /// A setting outside its range, or [`Error::Stopped`].
    pub fn set_links(&self, left_to_right: LinkConfig, right_to_left: LinkConfig) -> Result<(), Error> {
        let links = with_queues(left_to_right, right_to_left)?;
        self.ask(Request::Links(Box::new(links)))
    }

    /// Switches the link down (packets sent are dropped) or up, in both directions.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn set_up(&self, up: bool) -> Result<(), Error> {
        self.ask(Request::Up(up))
    }

    /// Begins to count afresh. The link itself goes on as if nothing had happened.
    ///
    /// # Errors
    /// [`Error::Stopped`], or the interfaces' own counters cannot be read.
    pub fn reset_report(&self) -> Result<(), Error> {
        for (before, namespace) in self.overruns.iter().zip([&self.left, &self.right]) {
            before.store(namespace.overruns()?, Ordering::Relaxed);
        }
        let (sender, done) = channel();
        self.ask(Request::Reset(sender))?;
        done.recv().map_err(|_| Error::Stopped)
    }

    /// What happened since the start or the last reset. A matter of milliseconds, most of it for the interfaces' own
    /// counters.
    ///
    /// # Errors
    /// [`Error::Stopped`], or the interfaces' own counters cannot be read.
    pub fn report(&self) -> Result<Report, Error> {
        let (sender, answer) = channel();
        self.ask(Request::Report(sender))?;
        let mut report = answer.recv().map_err(|_| Error::Stopped)?;
        let before = self
            .overruns
            .each_ref()
            .map(|count| count.load(Ordering::Relaxed));
        report.left_to_right.overrun = self.left.overruns()?.saturating_sub(before[0]);
        report.right_to_left.overrun = self.right.overruns()?.saturating_sub(before[1]);
        Ok(report.judge())
    }

    /// Stops and removes everything; what happened since the start or the last reset. What is under way is lost.
    ///
    /// # Errors
    /// As [`Emulator::report`]; everything is removed nevertheless.
    pub fn stop(self) -> Result<Report, Error> {
        self.report()
    }

    fn ask(&self, request: Request) -> Result<(), Error> {
        self.requests.send(request).map_err(|_| Error::Stopped)?;
        // The counter of an event descriptor is full only if the thread has been woken 2^64 times and not looked.
        let _ = rustix::io::write(&self.waker, &1u64.to_ne_bytes());
        Ok(())
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // It may have stopped by itself.
        let _ = self.ask(Request::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts the thread and waits until it is prepared.
fn spawn(
    config: Config,
    devices: [Device; 2],
    duplex: Duplex<Box<[u8]>>,
    requests: Receiver<Request>,
    waker: Arc<OwnedFd>,
) -> Result<JoinHandle<io::Result<()>>, Error> {
    let (sender, prepared) = channel::<io::Result<()>>();
    let work = move || {
        let conditions = match Conditions::prepare(&config) {
            Ok(conditions) => conditions,
            Err(error) => {
                // Reported there; this thread has nothing to say for itself.
                let _ = sender.send(Err(error));
                return Ok(());
            }
        };
        let limits = (config.damage, config.max_in_flight);
        let worker = Worker::new(devices, duplex, limits, requests, waker, conditions);
        let _ = sender.send(Ok(()));
        worker.run()
    };
    let thread = thread::Builder::new().name("xtp-linkem".to_owned());
    let thread = thread.spawn(work).map_err(|source| Error::Thread { source })?;
    match prepared.recv() {
        Ok(Ok(())) => Ok(thread),
        Ok(Err(source)) => Err(Error::Thread { source }),
        Err(_) => Err(Error::Stopped),
    }
}
