//! The endpoint on a runtime.

use std::fmt::Debug;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use xtp_engine::{ListenOptions, OpenOptions};
use xtp_io::Capabilities;

use super::driver::Drive;
use super::listener::Listener;
use super::stream::Stream;
use crate::config::Config;
use crate::core::Unconfirmed;
use crate::endpoint::ShutdownReport;
use crate::error::Result;
use crate::stats::EndpointStats;

/// One UDP socket and the protocol engine on it, driven by a task. See [`crate::Endpoint`] for everything that is
/// the same. Cloning makes another handle of the same endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(super) inner: crate::Endpoint,
}

impl Endpoint {
    /// Binds the socket, starts the engine, and starts the task that drives it on the current runtime.
    ///
    /// # Errors
    /// As [`crate::Endpoint::bind`]; [`crate::Error::Carrier`] if the runtime has no I/O.
    ///
    /// # Panics
    /// Outside a runtime, or in one without timers.
    pub fn bind(config: Config) -> Result<Self> {
        Self::bind_with(config, |_| Ok(())).map(|(endpoint, ())| endpoint)
    }

    /// As [`bind`](Self::bind) for a server: the task starts, and takes what came, when `begin` has made all listeners. A server that
    /// listens after `bind` may meanwhile have told a client that nobody does.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> xtp::Result<()> {
    /// # let address = "127.0.0.1:0".parse().unwrap();
    /// # use xtp::{Config, tokio::Endpoint};
    /// let (server, (requests, streams)) = Endpoint::bind_with(Config::server(address), |server| {
    ///     server.enable_echo()?;
    ///     Ok((server.listen(10)?, server.listen_streams(11)?))
    /// })?;
    /// # drop((server, requests, streams));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`bind`](Self::bind), and those of `begin`.
    ///
    /// # Panics
    /// As [`bind`](Self::bind).
    pub fn bind_with<T>(config: Config, begin: impl FnOnce(&Self) -> Result<T>) -> Result<(Self, T)> {
        let inner = crate::Endpoint::bind(config)?;
        let drive = Drive::new(inner.shared.for_driver())?;
        let endpoint = Self { inner };
        let begun = begin(&endpoint)?;
        ::tokio::spawn(drive.run());
        Ok((endpoint, begun))
    }

    /// An endpoint for talking to others: any free port, default options.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    ///
    /// # Panics
    /// As [`bind`](Self::bind).
    pub fn client() -> Result<Self> {
        Self::bind(Config::client())
    }

    pub(super) fn inner(&self) -> &crate::Endpoint {
        &self.inner
    }

    /// The UDP address and port it is bound to.
    pub fn local_addr(&self) -> SocketAddr {
        self.inner.local_addr()
    }

    /// What the system grants this socket.
    pub fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        self.inner.config()
    }

    /// Counters of engine and socket.
    pub fn stats(&self) -> EndpointStats {
        self.inner.stats()
    }

    /// Opens an association. No packet leaves before there is something to send.
    ///
    /// # Errors
    /// As [`crate::Endpoint::open`].
    pub fn open(&self, peer: impl ToSocketAddrs + Debug, options: OpenOptions) -> Result<Stream> {
        self.inner.open(peer, options).map(Stream::new)
    }

    /// Listens on `service_number` for whole messages.
    ///
    /// # Errors
    /// As [`crate::Endpoint::listen`].
    pub fn listen(&self, service_number: u16) -> Result<Listener> {
        self.inner.listen(service_number).map(Listener::new)
    }

    /// Listens on `service_number` for streams.
    ///
    /// # Errors
    /// As [`crate::Endpoint::listen_streams`].
    pub fn listen_streams(&self, service_number: u16) -> Result<Listener> {
        self.inner.listen_streams(service_number).map(Listener::new)
    }

    /// Listens with options of your choice.
    ///
    /// # Errors
    /// As [`crate::Endpoint::listen_with`].
    pub fn listen_with(&self, options: ListenOptions) -> Result<Listener> {
        self.inner.listen_with(options).map(Listener::new)
    }

    /// Answers the echo service from now on.
    ///
    /// # Errors
    /// As [`crate::Endpoint::enable_echo`].
    pub fn enable_echo(&self) -> Result<()> {
        self.inner.enable_echo()
    }

    /// Waits until everything sent by handles dropped before is confirmed, up to `deadline`, and says what was not.
    ///
    /// # Errors
    /// [`crate::Error::Carrier`] if the socket failed.
    pub async fn shutdown(&self, deadline: Duration) -> Result<ShutdownReport> {
        /// How often to look: orphans have nobody to wake.
        const LOOK: Duration = Duration::from_millis(2);
        let shared = Arc::clone(&self.inner.shared);
        let settled = async {
            while shared.command(|core, _| core.orphans()) > 0 {
                ::tokio::time::sleep(LOOK).await;
            }
        };
        // What is not settled in time is what the report is about.
        let _ = ::tokio::time::timeout(deadline, settled).await;
        let unconfirmed: Vec<Unconfirmed> = shared.command(|core, now| {
            core.abandon_orphans(now);
            core.take_lost()
        });
        shared.look(|core| core.check_carrier())?;
        Ok(ShutdownReport { unconfirmed })
    }
}
