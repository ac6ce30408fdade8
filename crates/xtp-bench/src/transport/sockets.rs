//! Plain sockets, set up to wait as the policy says, with every system call counted.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Instant;

use rustix::event::PollFlags;

use crate::error::Worked;
use crate::job::Job;
use crate::transport::waiting::{SLICE, Waiter};

/// A UDP socket.
pub(crate) struct Udp {
    socket: UdpSocket,
}

impl Udp {
    pub(crate) fn bind(job: &Job, waiter: &Waiter) -> Worked<Self> {
        let socket = UdpSocket::bind(job.any_port())?;
        if waiter.wants_nonblocking() {
            socket.set_nonblocking(true)?;
        } else {
            socket.set_read_timeout(Some(SLICE))?;
        }
        Ok(Self { socket })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(crate) fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)
    }

    /// Sends to the connected peer.
    pub(crate) fn send(&self, waiter: &mut Waiter, data: &[u8]) -> io::Result<()> {
        waiter.until(&self.socket, PollFlags::OUT, || self.socket.send(data).map(drop))
    }

    pub(crate) fn send_to(&self, waiter: &mut Waiter, data: &[u8], peer: SocketAddr) -> io::Result<()> {
        waiter.until(&self.socket, PollFlags::OUT, || {
            self.socket.send_to(data, peer).map(drop)
        })
    }

    /// Receives from the connected peer; `None` at the deadline.
    pub(crate) fn recv(
        &self,
        waiter: &mut Waiter,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<Option<usize>> {
        waiter.until_deadline(&self.socket, PollFlags::IN, deadline, || self.socket.recv(buffer))
    }

    /// Receives from anybody; `None` at the deadline.
    pub(crate) fn recv_from(
        &self,
        waiter: &mut Waiter,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<Option<(usize, SocketAddr)>> {
        waiter.until_deadline(&self.socket, PollFlags::IN, deadline, || {
            self.socket.recv_from(buffer)
        })
    }
}

/// Makes a connection wait as the policy says, without Nagle's delay.
pub(crate) fn prepare(stream: &TcpStream, waiter: &mut Waiter) -> io::Result<()> {
    waiter.call(|| stream.set_nodelay(true))?;
    if waiter.wants_nonblocking() {
        waiter.call(|| stream.set_nonblocking(true))
    } else {
        waiter.call(|| stream.set_read_timeout(Some(SLICE)))
    }
}

/// Writes all of `data`.
pub(crate) fn write_all(stream: &mut TcpStream, waiter: &mut Waiter, mut data: &[u8]) -> io::Result<()> {
    while !data.is_empty() {
        let view = &*stream;
        let written = waiter.until(view, PollFlags::OUT, || (&*view).write(data))?;
        data = &data[written..];
    }
    Ok(())
}

/// Fills `buffer`; `false` if the peer ended before its first octet.
pub(crate) fn read_exact(stream: &mut TcpStream, waiter: &mut Waiter, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read(stream, waiter, &mut buffer[filled..])? {
            0 if filled == 0 => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => filled += more,
        }
    }
    Ok(true)
}

/// Reads what there is; 0 at the end.
pub(crate) fn read(stream: &mut TcpStream, waiter: &mut Waiter, buffer: &mut [u8]) -> io::Result<usize> {
    let view = &*stream;
    waiter.until(view, PollFlags::IN, || (&*view).read(buffer))
}
