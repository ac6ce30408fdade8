//! Over TCP: epoll over all connections, a system call for each message sent and for each connection with something
//! to read. Connections have no Nagle's delay and cubic.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::{RecvFlags, SendFlags};
use socket2::{Domain, Socket, Type};

use super::{Arrived, Mesh, Slots, Use, meet};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::Job;
use crate::patterns::message::{Link, Message};
use crate::plan::WaitPolicy;

/// How epoll names the listener.
const LISTENER: u64 = u64::MAX;
/// How long [`WaitPolicy::Adaptive`] polls before it sleeps.
const POLLING: Duration = Duration::from_micros(50);
/// Most events taken with one call.
const EVENTS: usize = 64;
/// Smallest buffer of a connection.
const BUFFER: usize = 4_096;

struct Connection {
    stream: TcpStream,
    /// The link whose messages it carries.
    link: Option<Link>,
    /// Made here, not accepted.
    own: bool,
    input: Vec<u8>,
    filled: usize,
    /// What found no room in the kernel.
    output: Vec<u8>,
    /// Nothing follows what is in `output`.
    last: bool,
}

pub(super) struct TcpMesh {
    associations: Use,
    wait: WaitPolicy,
    size: usize,
    peers: Vec<SocketAddr>,
    listener: TcpListener,
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    connections: Slots<Connection>,
    links: HashMap<Link, usize>,
    scratch: Vec<u8>,
    unsent: usize,
    calls: u64,
}

impl TcpMesh {
    pub(super) fn open(job: &Job, associations: Use, console: &mut Console) -> Worked<Self> {
        let socket = Socket::new(Domain::for_address(job.any_port()), Type::STREAM, None)?;
        socket.set_tcp_congestion(b"cubic")?;
        socket.set_tcp_nodelay(true)?;
        socket.bind(&job.any_port().into())?;
        socket.listen(1_024)?;
        socket.set_nonblocking(true)?;
        let listener = TcpListener::from(socket);
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let own = listener.local_addr()?;
        Ok(Self {
            associations,
            wait: waiting(job),
            size: job.size as usize,
            peers: meet(job, console, own)?,
            listener,
            epoll,
            events: Vec::with_capacity(EVENTS),
            connections: Slots::default(),
            links: HashMap::new(),
            scratch: vec![0; job.size as usize],
            unsent: 0,
            calls: 0,
        })
    }

    fn connect(&mut self, to: Link) -> Worked<usize> {
        let peer = self.peers[to.rank];
        let socket = Socket::new(Domain::for_address(peer), Type::STREAM, None)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_congestion(b"cubic")?;
        socket.connect(&peer.into())?;
        self.calls += 4;
        let link = (self.associations == Use::Link).then_some(to);
        // What is only written and closed needs no watching.
        let watched = self.associations != Use::Message;
        let at = self.add(socket.into(), link, true, watched)?;
        if link.is_some() {
            self.links.insert(to, at);
        }
        Ok(at)
    }

    fn add(&mut self, stream: TcpStream, link: Option<Link>, own: bool, watched: bool) -> Worked<usize> {
        let input = if watched { (2 * self.size).max(BUFFER) } else { 0 };
        let at = self.connections.put(Connection {
            stream,
            link,
            own,
            input: vec![0; input],
            filled: 0,
            output: Vec::new(),
            last: false,
        });
        if watched && let Some(connection) = self.connections.get(at) {
            self.calls += 1;
            let data = EventData::new_u64(at as u64);
            epoll::add(&self.epoll, &connection.stream, data, EventFlags::IN)?;
        }
        Ok(at)
    }

    /// Writes a message; with `last` the connection is closed behind it.
    fn write(&mut self, at: usize, message: &Message, last: bool) -> Worked<()> {
        message.write(&mut self.scratch);
        let Some(connection) = self.connections.get(at) else {
            return Err(Problem::new("a connection is gone that was to be written to"));
        };
        connection.last = last;
        let before = connection.output.len();
        let written = if before == 0 {
            put(&connection.stream, &self.scratch, &mut self.calls)?
        } else {
            0
        };
        if written < self.scratch.len() {
            connection.output.extend_from_slice(&self.scratch[written..]);
            self.unsent += self.scratch.len() - written;
            if before == 0 {
                self.interest(at, true)?;
            }
        } else if last {
            self.close(at);
        }
        Ok(())
    }

    fn interest(&mut self, at: usize, writable: bool) -> Worked<()> {
        let Some(connection) = self.connections.get(at) else {
            return Ok(());
        };
        let data = EventData::new_u64(at as u64);
        self.calls += 1;
        if connection.input.is_empty() {
            // Written to only, and not watched until now.
            epoll::add(&self.epoll, &connection.stream, data, EventFlags::OUT)?;
        } else if writable {
            epoll::modify(
                &self.epoll,
                &connection.stream,
                data,
                EventFlags::IN | EventFlags::OUT,
            )?;
        } else {
            epoll::modify(&self.epoll, &connection.stream, data, EventFlags::IN)?;
        }
        Ok(())
    }

    /// Room appeared.
    fn flush(&mut self, at: usize) -> Worked<()> {
        let Some(connection) = self.connections.get(at) else {
            return Ok(());
        };
        let written = put(&connection.stream, &connection.output, &mut self.calls)?;
        connection.output.drain(..written);
        self.unsent -= written;
        if connection.output.is_empty() {
            if connection.last {
                self.close(at);
            } else {
                self.interest(at, false)?;
            }
        }
        Ok(())
    }

    /// Closing takes a connection out of the epoll set as well.
    fn close(&mut self, at: usize) {
        if let Some(connection) = self.connections.take(at) {
            self.calls += 1;
            self.unsent -= connection.output.len();
            if let Some(link) = connection.link
                && self.links.get(&link) == Some(&at)
            {
                self.links.remove(&link);
            }
        }
    }

    fn accept(&mut self) -> Worked<()> {
        self.calls += 1;
        match self.listener.accept() {
            Ok((stream, _)) => self.add(stream, None, false, true).map(drop),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads once from a connection that has something.
    fn read(&mut self, at: usize, arrived: &mut Arrived) -> Worked<()> {
        let (size, associations) = (self.size, self.associations);
        let Some(connection) = self.connections.get(at) else {
            return Ok(());
        };
        self.calls += 1;
        let free = &mut connection.input[connection.filled..];
        let count = match rustix::net::recv(&connection.stream, free, RecvFlags::DONTWAIT) {
            Ok((_, count)) => count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if count == 0 {
            let torn = connection.filled > 0;
            self.close(at);
            return if torn {
                Err(Problem::new("a connection ended inside a message"))
            } else {
                Ok(())
            };
        }
        connection.filled += count;
        let mut done = 0;
        while connection.filled - done >= size {
            let message = Message::read(&connection.input[done..done + size], size)?;
            done += size;
            arrived.push((at, message));
            if connection.link.is_none() && associations == Use::Link {
                connection.link = Some(message.link());
                self.links.entry(message.link()).or_insert(at);
            }
        }
        connection.input.copy_within(done..connection.filled, 0);
        connection.filled -= done;
        let finished = match associations {
            Use::Link => false,
            Use::Message => done > 0,
            Use::Call => done > 0 && connection.own,
        };
        if finished {
            self.close(at);
        }
        Ok(())
    }

    /// Waits for events as the policy says.
    fn wait(&mut self, limit: Duration) -> Worked<()> {
        let begin = Instant::now();
        let mut polls = 0_u32;
        loop {
            let passed = begin.elapsed();
            let left = limit.saturating_sub(passed);
            let sleeps = match self.wait {
                WaitPolicy::Block => true,
                WaitPolicy::Spin => false,
                WaitPolicy::Adaptive => passed > POLLING,
            };
            let span = if sleeps { left } else { Duration::ZERO };
            let span = rustix::event::Timespec {
                tv_sec: span.as_secs() as i64,
                tv_nsec: i64::from(span.subsec_nanos()),
            };
            self.events.clear();
            self.calls += 1;
            let room = rustix::buffer::spare_capacity(&mut self.events);
            match epoll::wait(&self.epoll, room, Some(&span)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if sleeps || left.is_zero() {
                return Ok(());
            }
            polls += 1;
            if polls.is_multiple_of(4) {
                std::thread::yield_now();
            }
        }
    }
}

impl Mesh for TcpMesh {
    fn send(&mut self, to: Link, message: &Message) -> Worked<()> {
        let at = match self.links.get(&to) {
            Some(at) => *at,
            None => self.connect(to)?,
        };
        self.write(at, message, self.associations == Use::Message)
    }

    fn receive(&mut self, limit: Duration, arrived: &mut Arrived) -> Worked<()> {
        self.wait(limit)?;
        for index in 0..self.events.len() {
            let event = self.events[index];
            let (key, flags) = (event.data.u64(), event.flags);
            if key == LISTENER {
                self.accept()?;
                continue;
            }
            if flags.contains(EventFlags::OUT) {
                self.flush(key as usize)?;
            }
            if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                self.read(key as usize, arrived)?;
            }
        }
        Ok(())
    }

    fn reply(&mut self, origin: usize, message: &Message) -> Worked<()> {
        self.write(origin, message, self.associations == Use::Call)
    }

    fn leave(&mut self, channel: u32) -> Worked<()> {
        let of = |connection: &Connection| connection.link.is_some_and(|link| link.channel == channel);
        let left: Vec<usize> = self
            .connections
            .all()
            .filter(|(_, one)| of(one))
            .map(|(at, _)| at)
            .collect();
        for at in left {
            self.close(at);
        }
        Ok(())
    }

    fn is_drained(&self) -> bool {
        self.unsent == 0
    }

    fn calls(&self) -> u64 {
        self.calls
    }

    fn trouble(&self) -> String {
        String::new()
    }
}

/// Hands octets to the kernel as far as it has room.
fn put(stream: &TcpStream, data: &[u8], calls: &mut u64) -> Worked<usize> {
    *calls += 1;
    match rustix::net::send(stream, data, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(count) => Ok(count),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Polling takes the core from the rank that is waited for where there are more ranks than cores.
fn waiting(job: &Job) -> WaitPolicy {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match job.wait {
        WaitPolicy::Adaptive if job.ranks > cores => WaitPolicy::Block,
        other => other,
    }
}
