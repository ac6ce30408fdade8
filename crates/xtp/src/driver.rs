//! A thread that makes progress while no caller does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use xtp_engine::Time;

use crate::error::{Error, Result};
use crate::shared::{DRIVER_PATIENCE, Shared};

/// Longest sleep of a driver, so that it notices the end of its endpoint.
const LONGEST: Duration = Duration::from_millis(250);

/// Keeps a driver thread alive; dropping it ends the thread.
///
/// The thread keeps away from the socket while callers drive the endpoint themselves and takes over 2 ms after the
/// last one stopped, so the latency of waiting calls stays that of an endpoint without a driver. It does not keep
/// the endpoint alive: it ends when the last handle is dropped.
#[derive(Debug)]
pub struct DriverThread {
    stop: Arc<AtomicBool>,
    waker: Arc<crate::wake::Waker>,
    thread: Option<JoinHandle<()>>,
}

impl DriverThread {
    pub(crate) fn spawn(shared: Arc<Shared>) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let waker = Arc::clone(&shared.waker);
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("xtp-driver".into())
            .spawn(move || run(&shared, &stopped))
            .map_err(|source| Error::Carrier {
                doing: "starting a driver thread",
                source,
            })?;
        Ok(Self {
            stop,
            waker,
            thread: Some(thread),
        })
    }
}

impl Drop for DriverThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            tracing::error!("{}", io::Error::other("the driver thread panicked"));
        }
    }
}

fn run(shared: &Shared, stop: &AtomicBool) {
    let mut seen = 0;
    while !stop.load(Ordering::Relaxed) && !shared.has_ended() {
        if !round(shared, &mut seen) {
            return;
        }
    }
}

/// One sleep and what followed it; false when the endpoint is out of order. `seen`: the sleep of a leader that was met last.
fn round(shared: &Shared, seen: &mut u64) -> bool {
    let mut state = shared.lock();
    let now = state.core.now();
    // What is due while a caller drives the endpoint is that caller's.
    if state.has_leader() || state.is_driven(now) && !state.core.is_due(now) {
        // A caller that sleeps on the socket since the last look will be there for a while; any other may leave it any moment.
        if !shared.rest(state, seen, LONGEST) {
            std::thread::sleep(DRIVER_PATIENCE);
        }
        return true;
    }
    state.core.before_sleep();
    state.core.turn(now);
    shared.announce(&mut state);
    let mut state = shared.make_due(state);
    let timeout = match state.core.deadline() {
        Some(deadline) => deadline.since(now).min(LONGEST),
        None => LONGEST,
    };
    state.driver_sleeps = Some(state.core.deadline().unwrap_or(Time::NEVER));
    let interest = state.core.carrier.interest();
    let groups = state.core.carrier.group_sockets();
    drop(state);
    let errors = shared.doze(Some(timeout), interest, &groups);
    let mut state = shared.lock();
    state.driver_sleeps = None;
    let now = state.core.now();
    if errors {
        state.core.poll_errors(now);
    }
    // A caller that began to wait meanwhile is on the socket itself.
    if !state.is_driven(now) {
        while state.core.poll_socket(now) > 0 {
            state.core.turn(now);
            shared.announce(&mut state);
        }
        state.core.turn(now);
        shared.announce(&mut state);
    }
    let works = state.core.check_carrier().is_ok();
    shared.release(state);
    works
}
