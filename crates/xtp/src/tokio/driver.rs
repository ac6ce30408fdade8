//! The task that takes packets and runs timers.

use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::AsFd;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use ::tokio::io::{Interest, Ready};
use ::tokio::net::UdpSocket;
use ::tokio::time::{Instant, Sleep, sleep_until};
use xtp_engine::Time;

use crate::error::{Error, Result};
use crate::shared::Shared;

/// Batches taken before other tasks get their turn.
const ROUNDS: usize = 16;
/// A moment that never comes, for a timer at rest.
const FAR: Duration = Duration::from_secs(365 * 24 * 3_600);

/// What ended a sleep of the driver.
enum DriverWakeup {
    /// The socket has something.
    Socket(io::Result<Ready>),
    /// A group's socket has something.
    Group,
    /// A timer is due.
    Timer,
    /// The endpoint is over and everything is confirmed or given up.
    Over,
}

/// Drives one endpoint until its last handle is gone and everything is confirmed.
pub(super) struct Drive {
    shared: Arc<Shared>,
    /// A second descriptor of the endpoint's socket, for readiness alone.
    socket: UdpSocket,
    /// The same of the sockets of groups, and which they are.
    groups: Vec<UdpSocket>,
    known: Arc<[Arc<xtp_io::UdpSocket>]>,
    /// When the last handle went, once it has.
    ending: Option<Time>,
}

impl Drive {
    /// Registers the socket with the current runtime.
    pub(super) fn new(shared: Arc<Shared>) -> Result<Self> {
        let socket = register(&shared.socket).map_err(|source| Error::Carrier {
            doing: "joining the runtime",
            source,
        })?;
        // Until the task's own waker replaces it: its mere presence says that a task drives.
        shared.look(|core| core.driver = Some(Waker::noop().clone()));
        Ok(Self {
            shared,
            socket,
            groups: Vec::new(),
            known: Arc::default(),
            ending: None,
        })
    }

    /// Runs until the endpoint is over.
    pub(super) async fn run(mut self) {
        let mut timer = pin!(sleep_until(Instant::now() + FAR));
        loop {
            match self.sleep(timer.as_mut()).await {
                DriverWakeup::Over => return,
                DriverWakeup::Timer => {}
                DriverWakeup::Group => self.take_groups().await,
                DriverWakeup::Socket(Ok(ready)) => self.take(ready).await,
                DriverWakeup::Socket(Err(error)) => {
                    tracing::error!(%error, "the runtime no longer watches the socket");
                    return;
                }
            }
        }
    }

    /// Sleeps until the socket has something, a timer is due, or there is nothing left to do. A command of another
    /// task that makes a timer due earlier wakes this one, which then looks anew.
    async fn sleep(&mut self, mut timer: Pin<&mut Sleep>) -> DriverWakeup {
        let Self {
            shared,
            socket,
            groups,
            known,
            ending,
        } = self;
        let mut ready = pin!(socket.ready(Interest::READABLE | Interest::ERROR));
        poll_fn(|context| {
            let (deadline, now) = turn(shared, context);
            if is_over(shared, ending) {
                return Poll::Ready(DriverWakeup::Over);
            }
            if let Poll::Ready(outcome) = ready.as_mut().poll(context) {
                return Poll::Ready(DriverWakeup::Socket(outcome));
            }
            follow(shared, known, groups);
            if groups
                .iter()
                .any(|group| group.poll_recv_ready(context).is_ready())
            {
                return Poll::Ready(DriverWakeup::Group);
            }
            let end = ending.map(|begun| begun + shared.config.linger);
            let next = deadline.into_iter().chain(end).min();
            let span = next.map_or(FAR, |at| at.since(now).min(FAR));
            timer.as_mut().reset(Instant::now() + span);
            timer.as_mut().poll(context).map(|()| DriverWakeup::Timer)
        })
        .await
    }

    /// Takes what arrived, batch by batch, until the socket is empty or others should have their turn.
    async fn take(&self, ready: Ready) {
        if ready.is_error() {
            // Each of these only clears the readiness it has looked at; what arrives in between is noted anew.
            let _ = self.socket.try_io(Interest::ERROR, || {
                self.shared.command(|core, now| core.poll_errors(now));
                Err::<(), _>(io::ErrorKind::WouldBlock.into())
            });
        }
        for _ in 0..ROUNDS {
            let taken = self
                .socket
                .try_io(Interest::READABLE, || take_batch(&self.shared));
            if taken.is_err() {
                return;
            }
        }
        ::tokio::task::yield_now().await;
    }

    /// The same for the sockets of groups: each call looks at all of them.
    async fn take_groups(&self) {
        let look = || {
            let mut state = self.shared.lock();
            if state.core.poll_groups() == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let now = state.core.arrival();
            state.core.turn(now);
            self.shared.announce(&mut state);
            self.shared.release(state);
            Ok(())
        };
        for _ in 0..ROUNDS {
            let mut any = false;
            for group in &self.groups {
                any |= group.try_io(Interest::READABLE, look).is_ok();
            }
            if !any {
                return;
            }
        }
        ::tokio::task::yield_now().await;
    }
}

/// Takes one batch, and sends what it caused.
fn take_batch(shared: &Shared) -> io::Result<()> {
    let mut state = shared.lock();
    let now = state.core.now();
    if state.core.poll_socket(now) == 0 {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    state.core.turn(now);
    shared.announce(&mut state);
    shared.release(state);
    Ok(())
}

/// A second descriptor of a socket, registered with the current runtime.
fn register(socket: &xtp_io::UdpSocket) -> io::Result<UdpSocket> {
    let descriptor = socket.as_fd().try_clone_to_owned()?;
    let socket = std::net::UdpSocket::from(descriptor);
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket)
}

/// Registers the sockets of groups anew if there are others than before.
fn follow(shared: &Shared, known: &mut Arc<[Arc<xtp_io::UdpSocket>]>, groups: &mut Vec<UdpSocket>) {
    let there = shared.look(|core| core.carrier.group_sockets());
    if Arc::ptr_eq(&there, known) {
        return;
    }
    groups.clear();
    for socket in there.iter() {
        match register(socket) {
            Ok(socket) => groups.push(socket),
            Err(error) => tracing::error!(%error, "the runtime does not watch a group's socket"),
        }
    }
    *known = there;
}

/// Does what is due; returns the next deadline. From here on commands with an earlier one wake this task.
fn turn(shared: &Shared, context: &mut Context<'_>) -> (Option<Time>, Time) {
    let mut state = shared.lock();
    let now = state.core.now();
    state.core.turn(now);
    shared.announce(&mut state);
    let mut state = shared.make_due(state);
    let deadline = state.core.deadline();
    state.core.serve(context.waker());
    state.driver_sleeps = Some(deadline.unwrap_or(Time::NEVER));
    let is_quiet = state.core.crowd_has_gone();
    drop(state);
    if is_quiet {
        xtp_io::process::give_back_memory();
    }
    (deadline, now)
}

/// Whether nothing is left to do after the end of the endpoint.
fn is_over(shared: &Shared, ending: &mut Option<Time>) -> bool {
    if !shared.has_ended() {
        return false;
    }
    let linger = shared.config.linger;
    let lost = shared.command(|core, now| {
        let begun = *ending.get_or_insert(now);
        if core.orphans() > 0 && now.since(begun) < linger {
            return None;
        }
        core.abandon_orphans(now);
        Some(core.take_lost())
    });
    if let Some(lost) = &lost {
        crate::shared::report(lost.len());
    }
    lost.is_some()
}

impl Drop for Drive {
    /// The runtime ends, or the endpoint did.
    fn drop(&mut self) {
        self.shared.driver_gone();
    }
}

#[cfg(test)]
#[path = "driven_tests/mod.rs"]
mod tests;
