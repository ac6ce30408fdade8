//! Peers that answer everything, nothing, or only what carries no request.
#![allow(dead_code)]

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use xtp::{CallOptions, Endpoint, ListenOptions, service};

use crate::common::{PORT, endpoint};

/// What requests carry, to be found in packets.
pub(crate) const REQUEST: &[u8] = b"run this at most once";

/// A socket that takes everything and answers nothing.
pub(crate) struct Silent(UdpSocket);

impl Silent {
    pub(crate) fn new() -> Self {
        Self::at("127.0.0.2:0".parse().expect("an address"))
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        let socket = UdpSocket::bind(address).expect("loopback");
        socket.set_nonblocking(true).expect("a socket");
        Self(socket)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("bound")
    }

    /// Packets that came, and whether one of them carries a request.
    pub(crate) fn took(&self) -> (usize, bool) {
        let (mut packets, mut request, mut buffer) = (0, false, [0; 2_048]);
        while let Ok(length) = self.0.recv(&mut buffer) {
            packets += 1;
            request |= carries_request(&buffer[..length]);
        }
        (packets, request)
    }
}

fn carries_request(packet: &[u8]) -> bool {
    packet.windows(REQUEST.len()).any(|part| part == REQUEST)
}

/// A server that counts what runs.
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    ran: Arc<AtomicUsize>,
    serving: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::of(endpoint())
    }

    pub(crate) fn of(endpoint: Endpoint) -> Self {
        let options = ListenOptions::new(PORT).serving(&[
            service::TRANSACTION,
            service::UNSPECIFIED,
            service::ACKNOWLEDGED,
            service::DATAGRAM,
        ]);
        let listener = endpoint.listen_with(options).expect("free");
        let ran = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ran);
        let serving = thread::spawn(move || {
            while let Ok((_, caller)) = listener.recv_message() {
                count.fetch_add(1, Ordering::SeqCst);
                // Messages have no answer.
                let _ = caller.respond("answer");
            }
        });
        let serving = Some(serving);
        Self {
            endpoint,
            ran,
            serving,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.endpoint.local_addr()
    }

    pub(crate) fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.endpoint.interrupt();
        self.serving.take().map(JoinHandle::join);
    }
}

/// Forwards datagrams to a server and back, but no request.
pub(crate) struct Liar {
    pub(crate) address: SocketAddr,
    over: Arc<AtomicBool>,
    relaying: Option<JoinHandle<()>>,
}

impl Liar {
    pub(crate) fn before(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.2:0").expect("loopback");
        let upstream = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        upstream.connect(server).expect("loopback");
        for socket in [&socket, &upstream] {
            socket
                .set_read_timeout(Some(Duration::from_millis(1)))
                .expect("a socket");
        }
        let (address, over) = (
            socket.local_addr().expect("bound"),
            Arc::new(AtomicBool::new(false)),
        );
        let ends = Arc::clone(&over);
        let relaying = thread::spawn(move || {
            let (mut client, mut buffer) = (None, [0; 65_536]);
            while !ends.load(Ordering::SeqCst) {
                if let Ok((length, from)) = socket.recv_from(&mut buffer) {
                    client = Some(from);
                    if !carries_request(&buffer[..length]) {
                        let _ = upstream.send(&buffer[..length]);
                    }
                }
                if let (Ok(length), Some(client)) = (upstream.recv(&mut buffer), client) {
                    let _ = socket.send_to(&buffer[..length], client);
                }
            }
        });
        let relaying = Some(relaying);
        Self {
            address,
            over,
            relaying,
        }
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        self.relaying.take().map(JoinHandle::join);
    }
}

/// Options with a short patience for peers that were never heard.
pub(crate) fn impatient() -> CallOptions {
    let mut options = CallOptions::default();
    options.tuning.connect_timeout = Duration::from_millis(400);
    options
}
