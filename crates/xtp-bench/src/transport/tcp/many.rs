//! Many connections from one thread, with epoll: one-shots in flight, and connections that stay open.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use super::crowd::{Crowd, allow_files};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::meter::Meter;
use crate::plan::WaitPolicy;
use crate::transport::answering::Timing;
use crate::transport::many::{Draw, HOLD, Opened, Part, Served, WARM, number, resident, slab};
use crate::transport::waiting::Waiter;

/// Ports a server listens on: connections that were closed keep their pair of ports for a minute.
const PORTS: usize = 32;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let part = Part::of(job);
    let crowd = Crowd::new(job.wait, console.stop())?;
    match (job.role, part) {
        (Role::Client, Part::Rate) => fly(job, crowd),
        (Role::Client, Part::Memory) => open(job, crowd),
        (Role::Client, Part::Random) => visit(job, crowd, console),
        _ => serve(job, console, crowd, part),
    }
}

/// A connection under way.
struct Flight {
    stream: TcpStream,
    /// Octets sent and received.
    sent: usize,
    received: usize,
}

/// What becomes of a flight.
enum Next {
    Waits,
    /// The peer has everything and, of a one-shot, has closed.
    Arrived,
}

/// Connections in flight from this process.
struct Client<'a> {
    job: &'a Job,
    crowd: Crowd,
    server: IpAddr,
    ports: Vec<u16>,
    message: Vec<u8>,
    flights: Vec<Option<Flight>>,
    begun: usize,
    part: Part,
}

impl<'a> Client<'a> {
    fn new(job: &'a Job, crowd: Crowd, part: Part) -> Worked<Self> {
        let wrong = || Problem::new(format!("'{}' is no address with ports", job.peer));
        let (address, ports) = job.peer.split_once(' ').ok_or_else(wrong)?;
        let ports: Result<Vec<u16>, _> = ports.split(',').map(str::parse).collect();
        let in_flight = usize::try_from(number(job, "in_flight")?)?;
        Ok(Self {
            job,
            crowd,
            server: address.parse()?,
            ports: ports?,
            message: vec![7; job.size as usize],
            flights: (0..in_flight).map(|_| None).collect(),
            begun: 0,
            part,
        })
    }

    /// Begins a connection in a free place.
    fn launch(&mut self, place: usize) -> Worked<()> {
        let peer = SocketAddr::from((self.server, self.ports[self.begun % self.ports.len()]));
        self.begun += 1;
        let socket = super::socket(self.job)?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        match rustix::net::connect(&socket, &peer) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        self.crowd.calls += 4;
        let mut flight = Flight {
            stream: socket.into(),
            sent: 0,
            received: 0,
        };
        // On a short path it is connected already.
        self.send(&mut flight)?;
        self.crowd.add(flight.stream.as_fd(), place as u64)?;
        self.flights[place] = Some(flight);
        Ok(())
    }

    fn send(&mut self, flight: &mut Flight) -> Worked<()> {
        while flight.sent < self.message.len() {
            self.crowd.calls += 1;
            match flight.stream.write(&self.message[flight.sent..]) {
                Ok(octets) => flight.sent += octets,
                Err(error) if waits(&error) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if flight.sent == self.message.len() && self.part == Part::Rate {
                self.crowd.calls += 1;
                flight.stream.shutdown(Shutdown::Write)?;
            }
        }
        Ok(())
    }

    /// Does for a flight what can be done now.
    fn advance(&mut self, flight: &mut Flight) -> Worked<Next> {
        self.send(flight)?;
        let mut buffer = [0; 4_096];
        loop {
            self.crowd.calls += 1;
            match flight.stream.read(&mut buffer) {
                Ok(0) if self.part == Part::Rate && flight.sent == self.message.len() => {
                    return Ok(Next::Arrived);
                }
                Ok(0) => return Err(Problem::new("the server closed too early")),
                Ok(octets) => flight.received += octets,
                Err(error) if waits(&error) => return Ok(Next::Waits),
                Err(error) => return Err(error.into()),
            }
            if self.part != Part::Rate && flight.received >= self.message.len() {
                return Ok(Next::Arrived);
            }
        }
    }

    /// Keeps connections in flight as long as `more` says so; hands over those that arrived.
    fn run(&mut self, mut more: impl FnMut() -> bool, mut arrived: impl FnMut(TcpStream)) -> Worked<()> {
        let mut open = 0;
        for place in 0..self.flights.len() {
            if more() {
                self.launch(place)?;
                open += 1;
            }
        }
        let mut keys = Vec::new();
        while open > 0 {
            if !self.crowd.ready(&mut keys)? {
                return Err(Problem::new("stopped"));
            }
            for &key in &keys {
                // What became of a connection that has been handed over is not looked at.
                let Some(mut flight) = self.flights.get_mut(key as usize).and_then(Option::take) else {
                    continue;
                };
                if let Next::Waits = self.advance(&mut flight)? {
                    self.flights[key as usize] = Some(flight);
                    continue;
                }
                self.crowd.calls += 1;
                arrived(flight.stream);
                if more() {
                    self.launch(key as usize)?;
                } else {
                    open -= 1;
                }
            }
        }
        Ok(())
    }
}

/// One-shots as in the experiment of that name, a number of them in flight.
fn fly(job: &Job, crowd: Crowd) -> Worked<Outcome> {
    let mut client = Client::new(job, crowd, Part::Rate)?;
    let meter = Meter::start(&job.interface);
    let end = Instant::now() + Duration::from_secs_f64(job.seconds);
    let mut done = 0;
    client.run(|| Instant::now() < end, |_| done += 1)?;
    let reading = meter.read();
    Ok(Outcome {
        operations: done,
        seconds: reading.seconds,
        cpu_s: reading.cpu_s,
        softirq_s: reading.softirq_s,
        packets: reading.packets,
        syscalls: Some(client.crowd.calls),
        ..Outcome::default()
    })
}

fn open(job: &Job, crowd: Crowd) -> Worked<Outcome> {
    let number = number(job, "associations")?;
    allow_files(number + WARM)?;
    let mut client = Client::new(job, crowd, Part::Memory)?;
    let mut streams = Vec::with_capacity(usize::try_from(number + WARM)?);
    let mut open = |client: &mut Client<'_>, count: u64| {
        let mut left = count;
        let more = || {
            let more = left > 0;
            left = left.saturating_sub(1);
            more
        };
        client.run(more, |stream| streams.push(stream))
    };
    open(&mut client, WARM)?;
    let (memory, kernel) = (resident(), slab());
    let begin = Instant::now();
    open(&mut client, number)?;
    let seconds = begin.elapsed().as_secs_f64();
    std::thread::sleep(HOLD);
    let opened = Opened {
        number,
        resident: [memory, resident()],
        slab: [kernel, slab()],
        seconds,
    };
    drop(streams);
    Ok(opened.outcome(true))
}

/// Round trips on a random one of the connections that are open.
fn visit(job: &Job, crowd: Crowd, console: &Console) -> Worked<Outcome> {
    let number = number(job, "associations")?;
    allow_files(number)?;
    let mut client = Client::new(job, crowd, Part::Random)?;
    let (mut left, mut streams) = (number, Vec::new());
    let more = || {
        let more = left > 0;
        left = left.saturating_sub(1);
        more
    };
    client.run(more, |stream| streams.push(stream))?;
    let mut calls = client.crowd.calls;
    let mut crowd = Crowd::new(job.wait, console.stop())?;
    for (key, stream) in streams.iter().enumerate() {
        crowd.add_listener(stream.as_fd(), key as u64)?;
    }
    let mut draw = Draw::new(streams.len());
    let (mut keys, mut buffer, mut timing) = (Vec::new(), vec![0; client.message.len()], Timing::new(job));
    loop {
        let (place, before) = (draw.next(), calls + crowd.calls);
        let more = timing.one(
            || before,
            || -> Worked<()> {
                let (mut stream, mut received) = (&streams[place], 0);
                stream.write_all(&client.message)?;
                calls += 1;
                while received < buffer.len() {
                    if !crowd.ready(&mut keys)? {
                        return Err(Problem::new("stopped"));
                    }
                    calls += 1;
                    match stream.read(&mut buffer[received..]) {
                        Ok(0) => return Err(Problem::new("the server closed too early")),
                        Ok(octets) => received += octets,
                        Err(error) if waits(&error) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                Ok(())
            },
        )?;
        if !more {
            return Ok(timing.outcome(calls + crowd.calls));
        }
    }
}

fn serve(job: &Job, console: &mut Console, mut crowd: Crowd, part: Part) -> Worked<Outcome> {
    if part != Part::Rate {
        allow_files(number(job, "associations")? + WARM)?;
    }
    // Listeners that do not block, whatever the policy.
    let waiter = Waiter::new(WaitPolicy::Spin, console.stop());
    let mut listeners = Vec::with_capacity(PORTS);
    for key in 0..PORTS {
        let listener = super::listen(job, &waiter)?;
        crowd.add_listener(listener.as_fd(), key as u64)?;
        listeners.push(listener);
    }
    let ports: io::Result<Vec<String>> = listeners.iter().map(port).collect();
    console.ready(format!("{} {}", job.bind, ports?.join(",")))?;
    let mut server = Server {
        crowd,
        part,
        size: job.size as usize,
        streams: Vec::new(),
        free: Vec::new(),
        served: Served::new(job)?,
    };
    let mut keys = Vec::new();
    while server.crowd.ready(&mut keys)? {
        for &key in &keys {
            match listeners.get(key as usize) {
                Some(listener) => server.accept(listener)?,
                None => server.advance(key as usize - PORTS)?,
            }
        }
    }
    let mut outcome = server.served.outcome();
    outcome.syscalls = Some(server.crowd.calls);
    outcome.cpu_s = crate::meter::cpu_seconds();
    Ok(outcome)
}

fn port(listener: &TcpListener) -> io::Result<String> {
    Ok(listener.local_addr()?.port().to_string())
}

struct Server {
    crowd: Crowd,
    part: Part,
    size: usize,
    /// Connections and the octets received on each.
    streams: Vec<Option<(TcpStream, usize)>>,
    free: Vec<usize>,
    served: Served,
}

impl Server {
    fn accept(&mut self, listener: &TcpListener) -> Worked<()> {
        loop {
            self.crowd.calls += 1;
            let accepted = accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC);
            let stream: TcpStream = match accepted {
                Ok(stream) => stream.into(),
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let place = self.free.pop().unwrap_or_else(|| {
                self.streams.push(None);
                self.streams.len() - 1
            });
            self.crowd.add(stream.as_fd(), (PORTS + place) as u64)?;
            self.streams[place] = Some((stream, 0));
            // Its message may be here already, and is then no news.
            self.advance(place)?;
        }
    }

    fn advance(&mut self, place: usize) -> Worked<()> {
        let Some((stream, received)) = self.streams.get_mut(place).and_then(Option::as_mut) else {
            return Ok(());
        };
        let mut buffer = [0; 4_096];
        loop {
            self.crowd.calls += 1;
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(octets) => *received += octets,
                Err(error) if waits(&error) => return Ok(()),
                // Who keeps connections open ends them all at once.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
                Err(error) => return Err(error.into()),
            }
            if self.part == Part::Memory && *received == self.size {
                self.crowd.calls += 1;
                stream.write_all(&vec![7; self.size])?;
                self.served.one();
            }
            if self.part == Part::Random && *received == self.size {
                self.crowd.calls += 1;
                stream.write_all(&vec![7; self.size])?;
                *received = 0;
            }
        }
        self.crowd.calls += 1;
        self.streams[place] = None;
        self.free.push(place);
        if self.part == Part::Rate {
            self.served.one();
        }
        Ok(())
    }
}

/// Not yet: would block, or not connected yet.
fn waits(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected | io::ErrorKind::Interrupted
    )
}
