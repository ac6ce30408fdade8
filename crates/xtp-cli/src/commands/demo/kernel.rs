//! The kernel's TCP and UDP with the same patience as an xtp endpoint has by default: poll for a moment, then sleep.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::paradigms::{Job, MESSAGES};
use super::payload;

/// How long is polled before sleeping.
const SPIN: Duration = Duration::from_micros(50);
/// One poll in this many gives the core away for a moment.
const YIELD_EVERY: u32 = 8;
/// Longest sleep: on loopback nothing takes longer unless it is lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tries until it works: polling first, then letting the kernel wait.
///
/// # Errors
/// Whatever `attempt` says, but that it would block.
pub(super) fn patiently<T>(
    mut attempt: impl FnMut() -> io::Result<T>,
    set_nonblocking: impl Fn(bool) -> io::Result<()>,
) -> io::Result<T> {
    let begin = Instant::now();
    for polls in 1_u32.. {
        match attempt() {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            outcome => return outcome,
        }
        if begin.elapsed() >= SPIN {
            break;
        }
        if polls.is_multiple_of(YIELD_EVERY) {
            // The peer may want this very core.
            std::thread::yield_now();
        }
    }
    set_nonblocking(false)?;
    let outcome = loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => break outcome,
        }
    };
    set_nonblocking(true)?;
    outcome
}

/// A TCP connection.
pub(super) struct Tcp {
    stream: TcpStream,
}

impl Tcp {
    /// Connects without delaying small segments.
    ///
    /// # Errors
    /// As the system says.
    pub(super) fn connect(peer: SocketAddr) -> io::Result<Self> {
        Self::new(TcpStream::connect(peer)?)
    }

    /// # Errors
    /// As the system says.
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream })
    }

    /// # Errors
    /// As the system says.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        patiently(
            || (&self.stream).read(buffer),
            |on| self.stream.set_nonblocking(on),
        )
    }

    /// # Errors
    /// As the system says; also if the stream ends before the buffer is full.
    pub(super) fn read_exact(&self, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => filled += count,
            }
        }
        Ok(())
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// As the system says.
    pub(super) fn read_rest(&self) -> io::Result<Vec<u8>> {
        let mut whole = Vec::new();
        let mut buffer = [0; 16 << 10];
        loop {
            match self.read(&mut buffer)? {
                0 => return Ok(whole),
                count => whole.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// # Errors
    /// As the system says.
    pub(super) fn write_all(&self, octets: &[u8]) -> io::Result<()> {
        let mut written = 0;
        while let Some(rest) = octets.get(written..).filter(|rest| !rest.is_empty()) {
            written += patiently(
                || (&self.stream).write(rest),
                |on| self.stream.set_nonblocking(on),
            )?;
        }
        Ok(())
    }

    /// Nothing more will be written.
    ///
    /// # Errors
    /// As the system says.
    pub(super) fn end(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }
}

/// Does a job over a connection of its own, as one does with TCP; returns when it is done as far as the sender can
/// know.
///
/// # Errors
/// As the system says, and if the answer is wrong.
pub(super) fn tcp_job(peer: SocketAddr, job: Job, size: usize) -> io::Result<Duration> {
    let octets = with_code(job, size);
    let begin = Instant::now();
    let tcp = Tcp::connect(peer)?;
    match job {
        Job::Messages => {
            tcp.write_all(&octets[..1])?;
            let message = &octets[1..];
            let mut answer = vec![0; message.len()];
            for _ in 0..MESSAGES {
                tcp.write_all(message)?;
                tcp.read_exact(&mut answer)?;
                check(answer == message)?;
            }
            tcp.end()?;
            check(tcp.read_rest()?.is_empty())?;
        }
        Job::OneWay => tcp.write_all(&octets)?,
        _ => {
            tcp.write_all(&octets)?;
            tcp.end()?;
            let answer = tcp.read_rest()?;
            let right = if job == Job::Confirmed {
                answer.is_empty()
            } else {
                answer == octets[1..]
            };
            check(right)?;
        }
    }
    drop(tcp);
    Ok(begin.elapsed())
}

/// Does a job with datagrams.
///
/// # Errors
/// As the system says, and if the answer is wrong or lost.
pub(super) fn udp_job(socket: &UdpSocket, job: Job, size: usize) -> io::Result<Duration> {
    let octets = with_code(job, size);
    let begin = Instant::now();
    let count = if job == Job::Burst { MESSAGES } else { 1 };
    for _ in 0..count {
        patiently(|| socket.send(&octets), |on| socket.set_nonblocking(on))?;
    }
    if job != Job::OneWay {
        let mut answer = vec![0; octets.len()];
        let length = patiently(|| socket.recv(&mut answer), |on| socket.set_nonblocking(on))?;
        let right = match job {
            Job::Transaction | Job::Slow => answer.get(..length) == octets.get(1..),
            _ => length == 1,
        };
        check(right)?;
    }
    Ok(begin.elapsed())
}

/// A UDP socket for jobs at `peer`.
///
/// # Errors
/// As the system says.
pub(super) fn udp_socket(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((peer.ip(), 0))?;
    socket.connect(peer)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn with_code(job: Job, size: usize) -> Vec<u8> {
    let mut octets = vec![job as u8];
    octets.extend(payload::make(size));
    octets
}

fn check(right: bool) -> io::Result<()> {
    if right {
        Ok(())
    } else {
        Err(io::Error::other("the answer is wrong"))
    }
}
