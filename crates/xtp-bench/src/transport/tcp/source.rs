//! The ways in which TCP takes octets from a program: from a buffer, from a file, by a pipe, and from memory it is lent.

use std::fs::File;
use std::io::{self, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::PollFlags;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, SpliceFlags};

use crate::error::Worked;
use crate::transport::fresh::{Turns, memory};
use crate::transport::sockets::write_all;
use crate::transport::waiting::Waiter;

/// Octets a pipe is to hold: as many as the system lets everybody have.
const PIPE: usize = 1 << 20;
/// `MSG_ZEROCOPY`.
const LENT: SendFlags = SendFlags::from_bits_retain(0x0400_0000);

/// Where the octets of a client come from, and how they leave.
pub(super) struct Source {
    way: Way,
    turns: Turns,
}

enum Way {
    /// One message again and again.
    Hot(Vec<u8>),
    /// By `send`.
    Memory(Vec<u8>),
    /// By `send`, without a copy.
    Lent(Vec<u8>),
    /// By `sendfile`.
    File(File),
    /// By `splice`, into a pipe and out of it.
    Pipe {
        file: File,
        reader: OwnedFd,
        writer: OwnedFd,
    },
}

impl Source {
    /// Of `transport`, in messages of `size` octets.
    pub(super) fn of(transport: &str, size: u64) -> Worked<Self> {
        let way = if transport == super::FRESH.name {
            Way::Memory(memory())
        } else if transport == super::ZEROCOPY.name {
            Way::Lent(memory())
        } else if transport == super::SENDFILE.name {
            Way::File(file()?)
        } else if transport == super::SPLICE.name {
            let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
            // A smaller one does as well, with more calls.
            let _ = rustix::pipe::fcntl_setpipe_size(&writer, PIPE);
            let file = file()?;
            Way::Pipe { file, reader, writer }
        } else {
            Way::Hot(vec![7; usize::try_from(size)?])
        };
        Ok(Self {
            way,
            turns: Turns::new(size),
        })
    }

    pub(super) fn is_hot(&self) -> bool {
        matches!(self.way, Way::Hot(_))
    }

    /// Prepares the socket for it.
    pub(super) fn prepare(&self, stream: &TcpStream) -> io::Result<()> {
        match self.way {
            Way::Lent(_) => xtp_io::process::let_lend(stream.as_fd()),
            _ => Ok(()),
        }
    }

    /// Sends the next message.
    pub(super) fn send(&mut self, stream: &mut TcpStream, waiter: &mut Waiter) -> Worked<()> {
        match &self.way {
            Way::Hot(message) => write_all(stream, waiter, message)?,
            Way::Memory(octets) => write_all(stream, waiter, &octets[self.turns.next()])?,
            Way::Lent(octets) => lend(stream, waiter, &octets[self.turns.next()])?,
            Way::File(file) => send_file(stream, waiter, file, self.turns.next())?,
            Way::Pipe { file, reader, writer } => {
                splice(stream, waiter, (file, reader, writer), self.turns.next())?;
            }
        }
        Ok(())
    }
}

/// A file without a disk.
fn file() -> Worked<File> {
    let mut file = File::from(rustix::fs::memfd_create("bulk", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(&memory())?;
    Ok(file)
}

fn lend(stream: &TcpStream, waiter: &mut Waiter, mut data: &[u8]) -> io::Result<()> {
    while !data.is_empty() {
        let sent = waiter.until(stream, PollFlags::OUT, || {
            match rustix::net::send(stream, data, LENT) {
                // The memory of what came back is full, or waits with what is to be sent.
                Err(error @ (rustix::io::Errno::NOBUFS | rustix::io::Errno::AGAIN)) => {
                    take_back(stream)?;
                    Err(match error {
                        rustix::io::Errno::NOBUFS => io::ErrorKind::WouldBlock.into(),
                        other => other.into(),
                    })
                }
                outcome => Ok(outcome?),
            }
        })?;
        data = &data[sent..];
    }
    Ok(())
}

/// Takes the news which memory the kernel has done with. Nothing is ever written to it, so nobody needs to know.
fn take_back(stream: &TcpStream) -> io::Result<()> {
    let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
    loop {
        match rustix::net::recvmsg(stream, &mut [], &mut RecvAncillaryBuffer::default(), flags) {
            Ok(_) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn send_file(stream: &TcpStream, waiter: &mut Waiter, file: &File, part: Range<usize>) -> Worked<()> {
    let mut offset = part.start as u64;
    while offset < part.end as u64 {
        let left = part.end - offset as usize;
        waiter.until(stream, PollFlags::OUT, || {
            Ok(rustix::fs::sendfile(stream, file, Some(&mut offset), left)?)
        })?;
    }
    Ok(())
}

fn splice(
    stream: &TcpStream,
    waiter: &mut Waiter,
    (file, reader, writer): (&File, &OwnedFd, &OwnedFd),
    part: Range<usize>,
) -> Worked<()> {
    let mut offset = part.start as u64;
    while offset < part.end as u64 {
        let left = part.end - offset as usize;
        let mut held = waiter
            .call(|| rustix::pipe::splice(file, Some(&mut offset), writer, None, left, SpliceFlags::MOVE))?;
        while held > 0 {
            held -= waiter.until(stream, PollFlags::OUT, || {
                let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
                Ok(rustix::pipe::splice(reader, None, stream, None, held, flags)?)
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
