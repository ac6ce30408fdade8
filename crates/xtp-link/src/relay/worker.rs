//! The relay's thread: wait for a packet or a due time, receive, deliver.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::state::{State, TO_CLIENT, TO_SERVER};
use super::{RelayConfig, bind, lock};

/// Longest wait without a look at the stop flag.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Packets taken from one socket before the others and the due ones get their turn.
const BATCH: usize = 64;
/// Larger than any UDP datagram.
const LARGEST_PACKET: usize = 1 << 16;

/// The sockets; `upstream[slot]` belongs to the client in that slot of the state.
pub(super) struct Worker {
    listening: UdpSocket,
    upstream: Vec<UdpSocket>,
    to: SocketAddr,
    socket_buffer: usize,
    state: Arc<Mutex<State>>,
    stopping: Arc<AtomicBool>,
    started: Instant,
    buffer: Vec<u8>,
}

impl Worker {
    pub(super) fn new(
        config: RelayConfig,
        listening: UdpSocket,
        state: Arc<Mutex<State>>,
        stopping: Arc<AtomicBool>,
    ) -> Self {
        Self {
            listening,
            upstream: Vec::new(),
            to: config.to,
            socket_buffer: config.socket_buffer,
            state,
            stopping,
            started: Instant::now(),
            buffer: vec![0; LARGEST_PACKET],
        }
    }

    /// Relays until told to stop, or until waiting itself fails.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut readable = Vec::new();
        while !self.stopping.load(Ordering::Relaxed) {
            self.wait(&mut readable)?;
            for &socket in &readable {
                match socket {
                    0 => self.receive_from_clients(),
                    socket => self.receive_from_server(socket - 1),
                }
            }
            self.deliver();
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Waits for a packet or the next due time; `readable` gets 0 for the listening socket and `slot + 1`
    /// for the clients'.
    fn wait(&self, readable: &mut Vec<usize>) -> io::Result<()> {
        readable.clear();
        let next = lock(&self.state).next_arrival();
        let wait = next.map_or(LONGEST_WAIT, |at| {
            Duration::from_nanos(at.saturating_sub(self.now())).min(LONGEST_WAIT)
        });
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: wait.subsec_nanos().into(),
        };
        let sockets = std::iter::once(&self.listening).chain(&self.upstream);
        let mut waiting: Vec<PollFd<'_>> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        match poll(&mut waiting, Some(&timeout)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        readable.extend((0..waiting.len()).filter(|&index| !waiting[index].revents().is_empty()));
        Ok(())
    }

    fn receive_from_clients(&mut self) {
        for _ in 0..BATCH {
            let (length, client) = match self.listening.recv_from(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // A client that went away (ICMP) shows up here; its successors are still to be read.
                Err(_) => continue,
            };
            let now = self.now();
            let mut state = lock(&self.state);
            let slot = match state.slot(client) {
                Some(slot) => slot,
                None => {
                    // The socket comes first: a client without one must not take a slot.
                    let Ok(socket) = connect(self.to, self.socket_buffer) else {
                        state.count_send_error();
                        continue;
                    };
                    let Ok(slot) = state.admit(client, now) else {
                        state.count_send_error();
                        continue;
                    };
                    place(&mut self.upstream, slot, socket);
                    slot
                }
            };
            state.send(slot, TO_SERVER, now, &self.buffer[..length]);
        }
    }

    fn receive_from_server(&mut self, slot: usize) {
        for _ in 0..BATCH {
            let length = match self.upstream[slot].recv(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The server is not there (ICMP); what it sent before is still to be read.
                Err(_) => continue,
            };
            let now = self.now();
            lock(&self.state).send(slot, TO_CLIENT, now, &self.buffer[..length]);
        }
    }

    fn deliver(&mut self) {
        let now = self.now();
        lock(&self.state).deliver_due(now, |slot, direction, client, octets| {
            let sent = if direction == TO_SERVER {
                send_again_once(|| self.upstream[slot].send(octets))
            } else {
                send_again_once(|| self.listening.send_to(octets, client))
            };
            sent.is_ok()
        });
    }
}

/// A connected socket reports an earlier packet's ICMP error on the next send and does not send then.
fn send_again_once(mut send: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    match send() {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => send(),
        result => result,
    }
}

/// A slot is that of an evicted client or the next free one, never beyond.
fn place(sockets: &mut Vec<UdpSocket>, slot: usize, socket: UdpSocket) {
    if slot < sockets.len() {
        sockets[slot] = socket;
    } else {
        sockets.push(socket);
    }
}

/// A socket of its own towards the server.
fn connect(to: SocketAddr, buffer: usize) -> io::Result<UdpSocket> {
    let any: SocketAddr = match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = bind(any, buffer)?;
    socket.connect(to)?;
    Ok(socket)
}
