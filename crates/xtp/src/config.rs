//! Everything a program can decide about an endpoint, in one place, with defaults and limits.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

use xtp_engine::EngineConfig;
use xtp_io::{Backend, SocketOptions};

use crate::capture::Trace;

/// How a call waits for the network.
///
/// A sleeping process costs some 40 us to wake, an empty poll of the socket 0.3 us; so what a program does
/// while it waits decides more about its latency than anything else.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// Sleep in the kernel at once. Least processor time. Where datagrams come quickly, a transfer for example, it rests for
    /// some 70 us instead and takes what gathered, so as not to be woken for each.
    Block,
    /// Never sleep: poll the socket, and give the core away after every few polls. One core is busy while a call waits. Least
    /// latency where there are as many cores as threads that want one; beside programs that compute it comes back after milliseconds.
    Spin,
    /// Poll for at most 100 us, then sleep, as long as that is worth it: polls that meet what they wait for pay for those in vain
    /// and for the time in which the scheduler took the core; where they do not, waits sleep at once, and polling is
    /// tried again now and then. Between polls the core is given away where others give it back soon, as ranks of one program do.
    /// Rests where datagrams come quickly.
    #[default]
    Adaptive,
}

/// Choices for [`Endpoint::bind`](crate::Endpoint::bind). Start with [`Config::default`], [`Config::client`] or
/// [`Config::server`] and change fields.
///
/// ```
/// use std::time::Duration;
/// let mut config = xtp::Config::server("127.0.0.1:0".parse().unwrap());
/// config.wait = xtp::Wait::Block;
/// config.linger = Duration::from_millis(200);
/// let endpoint = xtp::Endpoint::bind(config)?;
/// # Ok::<(), xtp::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// UDP address and port of the socket. Default `[::]:0`: IPv6 and IPv4, any free port; where the host has
    /// no IPv6, `0.0.0.0:0` is used instead.
    pub bind: SocketAddr,
    /// How calls wait. Default [`Wait::Adaptive`].
    pub wait: Wait,
    /// Longest time that dropping the last handle waits for confirmation of what was sent. Default 1 s; zero
    /// sends what can be sent at once and waits for nothing.
    pub linger: Duration,
    /// Longest time [`Stream::close`](crate::Stream::close) waits for confirmation. Default 10 s.
    pub close_timeout: Duration,
    /// Longest message that is put together for a caller, octets, and what messages that are not complete at a listener hold
    /// together before all but the oldest are slowed down. Default 64 MiB. Longer ones can be read in
    /// chunks.
    pub message_limit: usize,
    /// Longest time from the first packet of an association to the end of its message at
    /// [`Listener::recv_message`](crate::Listener::recv_message); each 16 KiB that came of it add a second. What takes
    /// longer is aborted. Default 30 s.
    pub message_timeout: Duration,
    /// Octets all associations together may keep or promise to keep ([`EngineConfig::memory_limit`], which
    /// [`Endpoint::bind`](crate::Endpoint::bind) sets to it). Default `None`: an eighth of what the process may still use
    /// (limits of the process, of its control group, and the machine's memory), at least 1 MiB; 1 GiB where the system
    /// tells nothing. Where the address space is limited (`ulimit -v`), the C library's allocator is also told to reserve
    /// none of it for each thread.
    pub memory_limit: Option<u64>,
    /// Datagrams may be sent to addresses of broadcast, where every host of a network gets them:
    /// [`Endpoint::send_datagram`](crate::Endpoint::send_datagram), and [`Endpoint::cast`](crate::Endpoint::cast) to such an address. All
    /// else has one peer. Default `false`: the system refuses ([`Error::NotPermitted`](crate::Error::NotPermitted)).
    pub broadcast: bool,
    /// DSCPs (RFC 2474, 0 to 63) of packets by the priority of their association
    /// ([`StreamTuning::set_sort`](crate::tuning::StreamTuning::set_sort)): of all pairs whose first number is at least the priority, the one with the least
    /// first number says it, and what is less urgent than all of them, or has no priority, carries 0. Default: none. What
    /// routers make of it is theirs to say; an endpoint orders its own packets whether they are marked or not.
    ///
    /// ```
    /// # let mut config = xtp::Config::client();
    /// config.dscp = vec![(10, 46), (1_000, 10)]; // EF up to 10, AF11 from 11 to 1 000
    /// ```
    pub dscp: Vec<(u16, u8)>,
    /// Buffers and features of the socket.
    pub socket: SocketOptions,
    /// Limits and identity of the protocol engine: most associations at once (`max_contexts`), longest datagrams
    /// (`max_datagram`, `local_datagram`), a check field over payloads. [`Endpoint::bind`](crate::Endpoint::bind) fills in
    /// `entropy`, `own_addresses` and `near_room` itself, and `started` as [`fresh_start`](Self::fresh_start)
    /// says. `utc_offset_ms` is added to what the system's clock says, milliseconds: 0 unless a program knows better.
    pub engine: EngineConfig,
    /// Nobody served this UDP port during the last 50 s, so no repetition of an old request can arrive. Default
    /// `false`: with a fixed port, what an instance before this one may have executed is refused, and for 50 s the first
    /// request of every client elsewhere takes a round trip more, in which it learns whom it talks to
    /// (`docs/protocol/06-closing.md`). With port 0 it is always so: nobody can have known the number the system gives.
    pub fresh_start: bool,
    /// Short writes of a stream that come quickly are gathered for some 0.3 ms
    /// ([`StreamTuning::set_nodelay`](crate::tuning::StreamTuning::set_nodelay)), and of calls that follow each other at once the packet that says that the
    /// answer came leaves behind the next request, or after 3 ms at most. For these the endpoint has a thread from the first such stream of
    /// writes or calls on. Default `true`; with `false` everything leaves in its own call and there is no thread.
    pub gather_writes: bool,
    /// Write every packet sent and received to this capture. Default `None`.
    #[cfg(feature = "capture")]
    pub trace: Option<Trace>,
    #[cfg(not(feature = "capture"))]
    pub(crate) trace: Option<Trace>,
}

impl Config {
    /// A client: any free port, both address families.
    pub fn client() -> Self {
        Self::server(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)))
    }

    /// An endpoint at the given UDP address.
    pub fn server(bind: SocketAddr) -> Self {
        let mut engine = EngineConfig::new([0; 32]);
        if cfg!(target_os = "linux") {
            // Loopback carries the longest datagram there is; where it was set up otherwise, the system says so.
            engine.local_datagram = engine.max_datagram;
        }
        Self {
            bind,
            wait: Wait::default(),
            linger: Duration::from_secs(1),
            close_timeout: Duration::from_secs(10),
            message_limit: 64 << 20,
            memory_limit: None,
            message_timeout: Duration::from_secs(30),
            broadcast: false,
            dscp: Vec::new(),
            socket: SocketOptions::default(),
            engine,
            fresh_start: false,
            gather_writes: true,
            trace: None,
        }
    }

    /// One portable system call a datagram, no offloads: to find out whether an offload is at fault.
    pub fn plain(mut self) -> Self {
        self.socket.backend = Backend::Plain;
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::client()
    }
}
