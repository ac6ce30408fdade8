//! A copy for each receiver over TCP: one process sends to all of them in turn, as much as each connection takes.

use std::fs::File;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use rustix::event::{PollFd, PollFlags, poll};

use super::{PORT, option};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::plan::WaitPolicy;
use crate::transport::sockets::{prepare, read};
use crate::transport::waiting::Waiter;

/// What a receiver takes in one call.
const READ: usize = 256 << 10;
/// What a connection is offered in one call.
const WRITE: usize = 1 << 20;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => send(job),
        _ => receive(job, console),
    }
}

/// One connection, and how far it is.
struct Copy {
    stream: TcpStream,
    sent: usize,
}

fn send(job: &Job) -> Worked<Outcome> {
    let octets = std::fs::read(option(job, "file")?)?;
    let mut copies = Vec::new();
    for peer in option(job, "peers")?.split(',') {
        let peer: SocketAddr = peer.parse()?;
        let stream = TcpStream::connect(peer)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        copies.push(Copy { stream, sent: 0 });
    }
    loop {
        for copy in &mut copies {
            copy.go_on(&octets)?;
        }
        let open: Vec<&Copy> = copies.iter().filter(|copy| copy.sent < octets.len()).collect();
        if open.is_empty() {
            break;
        }
        let mut sockets: Vec<PollFd<'_>> = open
            .iter()
            .map(|copy| PollFd::new(&copy.stream, PollFlags::OUT))
            .collect();
        match poll(&mut sockets, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for copy in &mut copies {
        copy.stream.set_nonblocking(false)?;
        // The peer's end says that it has everything.
        match io::Read::read(&mut copy.stream, &mut [0])? {
            0 => {}
            _ => return Err(Problem::new("a receiver answered")),
        }
    }
    Ok(Outcome {
        octets: (octets.len() * copies.len()) as u64,
        ..Outcome::default()
    })
}

impl Copy {
    /// Sends what the connection takes at once, then its end.
    fn go_on(&mut self, octets: &[u8]) -> io::Result<()> {
        while self.sent < octets.len() {
            let end = octets.len().min(self.sent + WRITE);
            match self.stream.write(&octets[self.sent..end]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.sent == octets.len() {
                self.stream.shutdown(Shutdown::Write)?;
            }
        }
        Ok(())
    }
}

fn receive(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let listener = TcpListener::bind((job.bind, PORT))?;
    console.ready(listener.local_addr()?)?;
    take(&listener, option(job, "file")?, console)
}

fn take(listener: &TcpListener, file: &str, console: &Console) -> Worked<Outcome> {
    let mut file = File::create(file)?;
    let mut waiter = Waiter::new(WaitPolicy::Block, console.stop());
    let (mut stream, _) = listener.accept()?;
    prepare(&stream, &mut waiter)?;
    let mut buffer = vec![0; READ];
    let mut received = 0;
    loop {
        match read(&mut stream, &mut waiter, &mut buffer)? {
            0 => break,
            octets => {
                file.write_all(&buffer[..octets])?;
                received += octets as u64;
            }
        }
    }
    Ok(Outcome {
        octets: received,
        ..Outcome::default()
    })
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
