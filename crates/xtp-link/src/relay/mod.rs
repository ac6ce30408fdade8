//! A UDP relay: real sockets on both sides, an emulated link between them.
//!
//! Any number of clients send to the relay's address; each gets a socket of its own towards the one server
//! and a [`Duplex`](crate::Duplex) of its own, so clients do not share a rate or a queue. One thread does
//! everything and waits in one `poll`. ECN marks are not carried over.
//!
//! ```no_run
//! use xtp_link::{LinkConfig, Loss, relay::{Relay, RelayConfig}};
//! let mut config = RelayConfig::new(([127, 0, 0, 1], 36036).into());
//! config.to_server = LinkConfig { loss: Loss::Random(0.05), ..LinkConfig::default() };
//! let relay = Relay::spawn(config)?;
//! println!("send to {}", relay.addr());
//! let stats = relay.stop();
//! println!("{} packets lost", stats.to_server.dropped.loss);
//! # Ok::<(), xtp_link::relay::RelayError>(())
//! ```

mod args;
mod report;
mod state;
mod worker;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::{io, thread};

use socket2::{Domain, Protocol, Socket, Type};

use crate::config::{ConfigError, LinkConfig};
use crate::stats::LinkStats;
use state::State;
use worker::Worker;

pub use args::{ArgumentError, Arguments, USAGE, parse_arguments};

/// What a relay listens on, where it relays to, and the link in each direction.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// Address for clients; port 0 takes any free one.
    pub listen: SocketAddr,
    /// The server.
    pub to: SocketAddr,
    /// Link from each client to the server.
    pub to_server: LinkConfig,
    /// Link from the server to each client.
    pub to_client: LinkConfig,
    /// Decides all that is left to chance; each client gets a seed derived from it in order of appearance.
    pub seed: u64,
    /// Clients at a time; a further one takes the place of the one that was silent longest. At least 1.
    pub max_clients: usize,
    /// Packets under way, a client and direction; further ones are dropped and counted as overflow.
    pub max_in_flight: usize,
    /// Octets to ask for as each socket's send and receive buffer; the system may give less.
    pub socket_buffer: usize,
}

impl RelayConfig {
    /// A perfect link to the server `to`, listening on a free port of the loopback address of its family.
    pub fn new(to: SocketAddr) -> Self {
        let listen = match to {
            SocketAddr::V4(_) => (Ipv4Addr::LOCALHOST, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::LOCALHOST, 0).into(),
        };
        Self {
            listen,
            to,
            to_server: LinkConfig::default(),
            to_client: LinkConfig::default(),
            seed: 1,
            max_clients: 256,
            max_in_flight: 1 << 16,
            socket_buffer: 4 << 20,
        }
    }

    /// The same with `link` in both directions.
    pub fn with_links(mut self, link: LinkConfig) -> Self {
        self.to_server = link.clone();
        self.to_client = link;
        self
    }
}

/// Why a relay could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// A link setting is outside its range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `max_clients` is 0.
    #[error("max_clients is 0: allow at least one client")]
    NoClients,
    /// The listening socket or the thread could not be made.
    #[error("cannot relay on {listen}: {source}")]
    Start {
        /// The address to listen on.
        listen: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// What a relay counted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayStats {
    /// Clients ever seen (one that was evicted and came back counts twice).
    pub clients: u64,
    /// Clients that had to make room for others.
    pub evicted: u64,
    /// Packets dropped because too many were under way.
    pub overflow: u64,
    /// Packets the system did not take when they were due, or for which no socket could be made.
    pub send_errors: u64,
    /// All links to the server together.
    pub to_server: LinkStats,
    /// All links to clients together.
    pub to_client: LinkStats,
}

/// Starts relays; see the [module](self).
#[derive(Debug)]
pub struct Relay;

impl Relay {
    /// Starts a relay on a thread of its own.
    ///
    /// # Errors
    /// A setting outside its range, or an address that cannot be listened on.
    pub fn spawn(config: RelayConfig) -> Result<RelayHandle, RelayError> {
        config.to_server.validate()?;
        config.to_client.validate()?;
        if config.max_clients == 0 {
            return Err(RelayError::NoClients);
        }
        let listen = config.listen;
        Self::start(config).map_err(|source| RelayError::Start { listen, source })
    }

    fn start(config: RelayConfig) -> io::Result<RelayHandle> {
        let socket = bind(config.listen, config.socket_buffer)?;
        let addr = socket.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let state = Arc::new(Mutex::new(State::new(&config)));
        let worker = Worker::new(config, socket, Arc::clone(&state), Arc::clone(&stopping));
        let thread = thread::Builder::new()
            .name("xtp-relay".to_owned())
            .spawn(move || worker.run())?;
        Ok(RelayHandle {
            addr,
            state,
            stopping,
            thread: Some(thread),
        })
    }
}

/// A running relay; stops when dropped.
#[derive(Debug)]
pub struct RelayHandle {
    addr: SocketAddr,
    state: Arc<Mutex<State>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl RelayHandle {
    /// Where clients send to.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The counters so far.
    pub fn stats(&self) -> RelayStats {
        lock(&self.state).stats()
    }

    /// Whether the relay still works; false after the system refused to wait on its sockets.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Cuts or restores all links in both directions; packets under way still arrive.
    pub fn set_up(&self, up: bool) {
        lock(&self.state).set_up(up);
    }

    /// Changes the links of all present and future clients.
    ///
    /// # Errors
    /// A setting outside its range; everything stays as it was.
    pub fn set_links(&self, to_server: LinkConfig, to_client: LinkConfig) -> Result<(), ConfigError> {
        lock(&self.state).set_links(to_server, to_client)
    }

    /// Stops the relay, waits for its thread (at most some 20 ms) and returns the counters. Packets still
    /// under way are lost.
    pub fn stop(mut self) -> RelayStats {
        self.finish();
        self.stats()
    }

    fn finish(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed by the panic hook; there is nothing to add.
            let _ = thread.join();
        }
    }
}

impl Drop for RelayHandle {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The counters are plain numbers: a panic elsewhere leaves nothing half-done that would matter here.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A non-blocking UDP socket with large buffers.
fn bind(addr: SocketAddr, buffer: usize) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
    // The system may refuse or cut the size: then bursts get lost earlier, which is no reason not to run.
    let _ = socket.set_recv_buffer_size(buffer);
    let _ = socket.set_send_buffer_size(buffer);
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests;
