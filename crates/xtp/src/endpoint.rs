//! The endpoint: one UDP socket, any number of associations.

use std::fmt::{self, Debug};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

use xtp_engine::{Engine, ListenOptions, OpenOptions, Started};
use xtp_io::{Capabilities, UdpSocket};

use crate::canonical;
use crate::carrier::{Carrier, Classes};
use crate::clock::{Clock, utc_ms};
use crate::config::Config;
use crate::core::{Core, Flusher, Unconfirmed};
use crate::driver::DriverThread;
use crate::error::{Error, Result};
use crate::listener::Listener;
use crate::shared::{Handle, Shared};
use crate::stats::EndpointStats;
use crate::stream::Stream;
use crate::wake::Waker;

/// One UDP socket and the protocol engine on it. Cloning makes another handle of the same endpoint.
///
/// # Who makes progress
///
/// No thread drives an endpoint. Packets are taken and sent, and timers run, in calls: a call that waits
/// drives everything while it waits; any other call sends what it caused and takes what arrived if nobody has for
/// a millisecond, or for 256 KiB sent. [`progress`](Self::progress) does nothing else, and [`spawn_driver`](Self::spawn_driver) starts a
/// thread that steps in whenever no caller is active.
///
/// **What a peer sees when nobody makes progress:** a host that does not answer. Its packets wait in the socket's
/// buffer, and when that is full they are lost and repeated later. It asks again after a round trip or so, then
/// ever more slowly (up to 10 s); its writer stops when the credit it was granted is used up. When calls begin
/// again within its timeout (60 s; 20 s before it has heard anything), everything continues without loss. After
/// that the peer reports the association as unreachable, and on waking up this end does the same.
///
/// # Threads
///
/// An endpoint and everything made from it is `Send` and `Sync`. Of several threads that wait, one drives the
/// socket, the others sleep and are woken when there is something for them; each takes over when the one before
/// has what it waited for.
///
/// # The end
///
/// Dropping the last handle (endpoint, listener, stream) waits up to [`Config::linger`] until everything sent is
/// confirmed and logs what was not. [`shutdown`](Self::shutdown) does the same and returns the list.
#[derive(Clone)]
pub struct Endpoint {
    pub(crate) shared: Arc<Handle>,
}

/// What a [shutdown](Endpoint::shutdown) could not confirm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Associations that ended without confirmation of everything sent, since the endpoint began or since the last
    /// report; the first 1 024.
    pub unconfirmed: Vec<Unconfirmed>,
}

impl ShutdownReport {
    /// Everything sent was confirmed.
    pub fn is_clean(&self) -> bool {
        self.unconfirmed.is_empty()
    }
}

impl Endpoint {
    /// Binds the socket and starts the engine. What comes waits in the socket until a call sends or waits; those that begin to listen
    /// ([`listen_with`](Self::listen_with), [`enable_echo`](Self::enable_echo)) leave it there, so that no packet meets a server half of whose
    /// listeners exist.
    ///
    /// # Errors
    /// [`Error::Socket`] if the address cannot be bound, [`Error::Address`] if it is no host's, [`Error::Entropy`] if there are no random numbers,
    /// [`Error::Command`] if a limit in [`Config::engine`] is out of its range.
    pub fn bind(config: Config) -> Result<Self> {
        Ok(Self {
            shared: Arc::new(Handle::new(open(config)?)),
        })
    }

    /// An endpoint for talking to others: any free port, default options.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn client() -> Result<Self> {
        Self::bind(Config::client())
    }

    /// The UDP address and port it is bound to.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.socket.local_addr()
    }

    /// What the system grants this socket.
    pub fn capabilities(&self) -> &Capabilities {
        self.shared.socket.capabilities()
    }

    /// Its configuration, as completed by [`bind`](Self::bind).
    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Opens an association with options of your choice (see [`paradigm`](crate::paradigm)). No packet leaves
    /// before there is something to send; [`Stream::connect`] sends one without.
    ///
    /// Of a name with several addresses one that answered within the last ten minutes is used, else the first; [`connect`](Self::connect)
    /// tries them. As of every peer: an unspecified address (`0.0.0.0`, `[::]`) is this host, an IPv4-mapped one is IPv4.
    ///
    /// # Errors
    /// [`Error::Address`] for one that no answer can come from (port 0, multicast, link-local without an interface),
    /// [`Error::Command`] for options out of range and at the limit of associations.
    pub fn open(&self, peer: impl ToSocketAddrs + Debug, options: OpenOptions) -> Result<Stream> {
        let peer = self.nearest(&peer)?;
        let id = self.shared.command(|core, now| core.open(now, peer, options))?;
        Ok(Stream::new(Arc::clone(&self.shared), id))
    }

    /// Listens on `service_number` for whole messages: datagrams, one-shot messages and requests. A peer that
    /// opens a stream is told at once that nobody provides that here ([`listen_streams`](Self::listen_streams) does).
    ///
    /// # Errors
    /// [`Error::Command`] if the number is taken.
    pub fn listen(&self, service_number: u16) -> Result<Listener> {
        self.listen_with(ListenOptions::new(service_number))
    }

    /// Listens on `service_number` for streams of octets or messages, and for nothing else.
    ///
    /// # Errors
    /// [`Error::Command`] if the number is taken.
    pub fn listen_streams(&self, service_number: u16) -> Result<Listener> {
        self.listen_with(ListenOptions::streams(service_number))
    }

    /// Listens with options of your choice. What the program does not serve it should not take: name what it does
    /// with [`ListenOptions::serving`], and others are told at once instead of being taken and left unread.
    ///
    /// # Errors
    /// [`Error::Command`] if the number is taken or an option is out of range.
    pub fn listen_with(&self, options: ListenOptions) -> Result<Listener> {
        let number = options.service_number;
        // What waits in the socket may be for a listener that follows.
        let id = self.shared.look(|core| core.listen(options))?;
        Ok(Listener::new(Arc::clone(&self.shared), id, number))
    }

    /// Answers the echo service (number 7) from now on, in whatever call makes progress: so that anybody can probe
    /// this endpoint. Every paradigm with a way back is echoed; what has none is refused.
    ///
    /// # Errors
    /// [`Error::Command`] if somebody listens on the number.
    pub fn enable_echo(&self) -> Result<()> {
        self.shared.look(|core| core.enable_echo())
    }

    /// Makes progress without waiting; returns the number of datagrams taken.
    ///
    /// # Errors
    /// [`Error::Carrier`] if the socket failed.
    pub fn progress(&self) -> Result<usize> {
        self.shared.progress(Duration::ZERO)
    }

    /// Makes progress; waits up to `timeout` for something to arrive or to fall due.
    ///
    /// # Errors
    /// [`Error::Carrier`] if the socket failed, [`Error::Interrupted`] by [`interrupt`](Self::interrupt).
    pub fn progress_timeout(&self, timeout: Duration) -> Result<usize> {
        self.shared.progress(timeout)
    }

    /// When this endpoint wants [`progress`](Self::progress) next although nothing comes, for the loop of a program that sleeps on its
    /// [descriptor](#impl-AsFd-for-Endpoint). `None`: not before something comes. To be asked after the last call before the sleep; a call in
    /// another thread may make it earlier.
    #[cfg(unix)]
    pub fn next_deadline(&self) -> Option<Instant> {
        let (at, now) = self.shared.look(|core| {
            let now = core.now();
            (core.deadline_outside(now), now)
        });
        at.and_then(|at| Instant::now().checked_add(at.since(now)))
    }

    /// Starts a thread that makes progress whenever no caller does. It ends with the returned guard.
    ///
    /// # Errors
    /// [`Error::Carrier`] if the system has no thread left.
    pub fn spawn_driver(&self) -> Result<DriverThread> {
        DriverThread::spawn(self.shared.for_driver())
    }

    /// Ends every waiting call on this endpoint, in all threads, with [`Error::Interrupted`], and lets no new one
    /// wait until [`resume`](Self::resume). Nothing is lost. For signal threads; not for signal handlers.
    pub fn interrupt(&self) {
        self.shared.interrupt(true);
    }

    /// Lets calls wait again after [`interrupt`](Self::interrupt).
    pub fn resume(&self) {
        self.shared.interrupt(false);
    }

    /// Counters of engine and socket.
    pub fn stats(&self) -> EndpointStats {
        self.shared.look(|core| {
            core.engine.tidy(core.now());
            EndpointStats {
                engine: core.engine.view().stats(),
                socket: self.shared.socket.counters(),
                wakes: core.carrier.wakes,
                send_errors: core.carrier.send_errors,
                receive_errors: core.carrier.receptions_failed(),
                octets_copied: core.copied + core.carrier.copied,
            }
        })
    }

    /// Waits until everything sent by handles dropped before is confirmed, up to `timeout`, and says what was
    /// not. Associations whose handles still exist are left alone and not reported.
    ///
    /// # Errors
    /// [`Error::Carrier`] if the socket failed.
    pub fn shutdown(&self, timeout: Duration) -> Result<ShutdownReport> {
        Ok(ShutdownReport {
            unconfirmed: self.shared.settle(timeout)?,
        })
    }
}

/// A descriptor for the loop of a program that sleeps on others, too (`poll`, epoll, mio, glib, libuv): it is readable when
/// [`progress`](Self::progress) has something to take, until all was taken, as a level is. Writing to it and reading from it mean nothing.
///
/// The loop: sleep until the descriptor is readable or [`next_deadline`](Self::next_deadline) has come, call [`progress`](Self::progress), then
/// what takes without waiting ([`PollSet::try_wait`](crate::PollSet::try_wait), [`Listener::try_accept`] and others).
///
/// From the first call on the endpoint takes all it is sent from where the descriptor tells of it, in [`progress`](Self::progress) and
/// calls that wait; those that do not wait hand out what these have taken. Ways that are shorter for a thread that polls are given up. The sockets of groups are among what it tells of.
#[cfg(unix)]
impl AsFd for Endpoint {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.as_fd()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("local_addr", &self.local_addr())
            .finish_non_exhaustive()
    }
}

fn open(mut config: Config) -> Result<Shared> {
    config.bind = canonical::local(config.bind)?;
    let classes = Classes::new(&config.dscp).ok_or(xtp_engine::Error::InvalidOption(
        "a DSCP is a number from 0 to 63",
    ))?;
    let socket = Arc::new(bind_socket(&config)?);
    let local = socket.local_addr();
    let clock = Clock::new();
    getrandom::fill(&mut config.engine.entropy).map_err(|error| Error::Entropy(error.to_string()))?;
    let corrected = config.engine.utc_offset_ms;
    config.engine.utc_offset_ms = clock.utc_offset_ms().saturating_add(corrected);
    if config.bind.port() != 0 && !config.fresh_start && config.engine.started.is_none() {
        config.engine.started = Some(Started {
            utc_ms: utc_ms().saturating_add_signed(corrected),
            at: clock.now(),
        });
    }
    let mut own = crate::addresses::own();
    own.extend((!local.ip().is_unspecified()).then(|| local.ip().to_canonical()));
    config.engine.own_addresses.append(&mut own);
    xtp_io::process::spare_address_space();
    if let Some(limit) = config.memory_limit.or_else(share_of_memory) {
        config.engine.memory_limit = limit;
    }
    config.engine.near_room = config.engine.near_room.min(room_of(&socket));
    let engine = Engine::new(config.engine.clone())?;
    // The secret is the engine's alone from here on.
    config.engine.entropy = [0; 32];
    config.bind = local;
    let waker = Arc::new(Waker::new(local));
    let mut carrier = Carrier::new(Arc::clone(&socket), Arc::clone(&waker), config.trace.clone());
    carrier.mark_by(classes);
    let mut core = Core::new(engine, carrier, clock);
    core.scope = canonical::scope_of(local);
    if !config.gather_writes {
        core.gathering.flusher = Flusher::Refused;
    }
    tracing::debug!(%local, backend = socket.capabilities().backend, "endpoint ready");
    Ok(Shared::new(core, socket, waker, config))
}

/// What may lie in a socket like ours, as most peers on near hosts have one. Systems count twice what they were asked for, and
/// up to a quarter may still be charged for what was read; an eighth of it is left for trains that are under way when the rest is full.
fn room_of(socket: &UdpSocket) -> u64 {
    socket.capabilities().recv_buffer as u64 / 4 * 5
}

/// What all associations may keep, of what the process may still use: buffers of the carrier hold several times what
/// lies in them, and the program has to live, too.
fn share_of_memory() -> Option<u64> {
    xtp_io::process::memory().map(|octets| (octets / 8).max(1 << 20))
}

/// Binds as configured; the default address falls back to IPv4 on a host without IPv6.
fn bind_socket(config: &Config) -> Result<UdpSocket> {
    let mut options = config.socket.clone();
    // Within the host no router marks anything.
    options.broadcast |= config.broadcast;
    options.marks &= !config.bind.ip().is_loopback();
    match UdpSocket::bind(config.bind, &options) {
        Err(error) if config.bind == Config::client().bind => {
            tracing::debug!(%error, "no IPv6 here, using IPv4");
            let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
            Ok(UdpSocket::bind(any, &options)?)
        }
        other => Ok(other?),
    }
}
