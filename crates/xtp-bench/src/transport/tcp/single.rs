//! One message, or a request and its response, each with a connection of its own.
//!
//! Closed orderly a one-shot is socket, connect, send, shutdown, read the peer's FIN, close. Closed by abort the
//! receiver, who knows the size, closes when it has the message, and the sender, having read that FIN, resets the
//! connection instead of taking leave: no half close, no TIME-WAIT.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags, accept_with, sendto};
use socket2::SockRef;

use super::unless_stopped;
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::Experiment;
use crate::transport::answering::{Serving, Timing};
use crate::transport::sockets::{read, read_exact, write_all};
use crate::transport::waiting::Waiter;

/// `MSG_FASTOPEN`: connect and send in one call, the data in the SYN.
const FAST_OPEN: SendFlags = SendFlags::from_bits_retain(0x2000_0000);

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job, console),
        _ => server(job, console),
    }
}

/// How the connections of a job begin and end.
struct Style {
    fast_open: bool,
    abort: bool,
    transaction: bool,
}

impl Style {
    fn new(job: &Job) -> Self {
        Self {
            fast_open: job.transport == "tcp-fastopen",
            abort: job.transport == "tcp-abort",
            transaction: job.experiment == Experiment::Transaction,
        }
    }
}

fn client(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let style = Style::new(job);
    let peer: SocketAddr = job.peer.parse()?;
    let mut lengths = Lengths::of(job);
    let messages = vec![7; lengths.most()];
    let mut answer = vec![0; lengths.most()];
    let mut timing = Timing::new(job);
    loop {
        let before = waiter.calls();
        let more = timing.one(
            || before,
            || -> Worked<()> {
                let length = lengths.next();
                let mut stream = open(job, &style, peer, &messages[..length], &mut waiter)?;
                if style.transaction {
                    if !read_exact(&mut stream, &mut waiter, &mut answer[..length])? {
                        return Err(Problem::new("the server closed without an answer"));
                    }
                } else if !style.abort {
                    waiter.call(|| stream.shutdown(Shutdown::Write))?;
                }
                if read(&mut stream, &mut waiter, &mut [0])? != 0 {
                    return Err(Problem::new("the server answered too much"));
                }
                if style.abort {
                    waiter.call(|| SockRef::from(&stream).set_linger(Some(Duration::ZERO)))?;
                }
                waiter.call(|| drop(stream));
                Ok(())
            },
        )?;
        if !more {
            return Ok(timing.outcome(waiter.calls()));
        }
    }
}

/// A connection with the message sent or on its way.
fn open(
    job: &Job,
    style: &Style,
    peer: SocketAddr,
    message: &[u8],
    waiter: &mut Waiter,
) -> Worked<TcpStream> {
    let socket = waiter.call(|| super::socket(job))?;
    let mut sent = 0;
    if waiter.wants_nonblocking() {
        waiter.call(|| socket.set_nonblocking(true))?;
    }
    if style.fast_open {
        let first = waiter.call(|| sendto(&socket, message, FAST_OPEN, &peer));
        match first {
            Ok(octets) => sent = octets,
            // Without a cookie the SYN goes without data.
            Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
    } else {
        let connected = waiter.call(|| rustix::net::connect(&socket, &peer));
        if !matches!(connected, Ok(()) | Err(Errno::INPROGRESS)) {
            connected?;
        }
    }
    let mut stream: TcpStream = socket.into();
    waiter.call(|| stream.set_nodelay(true))?;
    write_all(&mut stream, waiter, &message[sent..])?;
    Ok(stream)
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let style = Style::new(job);
    let listener = super::listen(job, &waiter)?;
    console.ready(listener.local_addr()?)?;
    let mut serving = Serving::new(job);
    let mut lengths = Lengths::of(job);
    let mut room = vec![0; lengths.most()];
    loop {
        let accepted = accept(&listener, &mut waiter);
        let Some(mut stream) = unless_stopped(accepted)? else {
            return Ok(serving.outcome(waiter.calls()));
        };
        let message = &mut room[..lengths.next()];
        if !read_exact(&mut stream, &mut waiter, message)? {
            return Err(Problem::new("the client sent nothing"));
        }
        if style.transaction {
            write_all(&mut stream, &mut waiter, message)?;
        } else if !style.abort && read(&mut stream, &mut waiter, &mut [0])? != 0 {
            return Err(Problem::new("the client sent too much"));
        }
        waiter.call(|| drop(stream));
        let calls = waiter.calls();
        serving.one(|| calls);
    }
}

/// The next connection; it has the listener's options.
fn accept(listener: &TcpListener, waiter: &mut Waiter) -> io::Result<TcpStream> {
    let flags = match waiter.wants_nonblocking() {
        true => SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
        false => SocketFlags::CLOEXEC,
    };
    let accepted = waiter.until(listener, PollFlags::IN, || Ok(accept_with(listener, flags)?))?;
    Ok(accepted.into())
}
