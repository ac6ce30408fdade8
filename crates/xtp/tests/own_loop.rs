//! A program with a loop of its own: it sleeps on the endpoint's descriptor beside others, and no thread drives the endpoint.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use xtp::{CastOptions, Chunk, Config, Endpoint, Error, Incoming, Interface, JoinOptions, Stream, paradigm};

const PORT: u16 = 100;
/// More sleeps than any of these takes by far; fewer than a loop that does not sleep takes in a moment.
const MANY: usize = 20_000;
/// No test takes so long.
const LONG: Duration = Duration::from_secs(60);

fn endpoint() -> Endpoint {
    Endpoint::bind(Config::server("127.0.0.1:0".parse().expect("an address"))).expect("a socket")
}

/// Sleeps until one of the descriptors can be read, or until then; which of them can.
fn sleep(descriptors: &[&dyn AsFdOf], until: Option<Instant>) -> Vec<bool> {
    let mut fds: Vec<PollFd<'_>> = descriptors
        .iter()
        .map(|of| PollFd::from_borrowed_fd(of.fd(), PollFlags::IN))
        .collect();
    let left = until.map_or(LONG, |at| at.saturating_duration_since(Instant::now()).min(LONG));
    let left = Timespec::try_from(left).expect("a minute");
    poll(&mut fds, Some(&left)).expect("poll works");
    fds.iter().map(|fd| !fd.revents().is_empty()).collect()
}

trait AsFdOf {
    fn fd(&self) -> std::os::fd::BorrowedFd<'_>;
}

impl<T: AsFd> AsFdOf for T {
    fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.as_fd()
    }
}

/// Answers each message of each stream with the same octets, as far as they are there; how many it answered.
struct Echo {
    set: xtp::PollSet,
    listener: xtp::Listener,
    streams: BTreeMap<u64, Stream>,
    accepted: u64,
    answered: usize,
}

impl Echo {
    fn new(endpoint: &Endpoint) -> Self {
        let listener = endpoint.listen_streams(PORT).expect("a free number");
        let set = endpoint.poll_set();
        set.add_listener(&listener, 0).expect("its own");
        Self {
            set,
            listener,
            streams: BTreeMap::new(),
            accepted: 0,
            answered: 0,
        }
    }

    fn serve(&mut self) {
        let mut ready = Vec::new();
        while self.set.try_wait(&mut ready).is_ok() {
            for key in ready.drain(..) {
                match key {
                    0 => self.accept(),
                    _ => self.answer(key),
                }
            }
        }
    }

    fn accept(&mut self) {
        let Ok(incoming) = self.listener.try_accept() else {
            return;
        };
        let stream = Incoming::into_stream(incoming);
        self.accepted += 1;
        self.set.add(&stream, self.accepted).expect("its own");
        self.streams.insert(self.accepted, stream);
    }

    fn answer(&mut self, key: u64) {
        while let Some(stream) = self.streams.get(&key) {
            match stream.try_recv_message() {
                Ok(Some(message)) => {
                    stream.send_message(message).expect("room");
                    self.answered += 1;
                }
                // What is not confirmed yet is in later rounds.
                Ok(None) => drop(self.streams.remove(&key)),
                Err(Error::WouldBlock) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A pipe, a TCP connection and fifty associations in one loop; nothing of the endpoint has a thread.
#[test]
fn an_endpoint_stands_beside_other_descriptors() {
    const STREAMS: usize = 50;
    const ROUNDS: usize = 20;
    let server = endpoint();
    let address = server.local_addr();
    let mut echo = Echo::new(&server);
    let (mut pipe, mut writes) = std::io::pipe().expect("a pipe");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let tcp_address = tcp.local_addr().expect("bound");
    let client = std::thread::spawn(move || {
        let client = Endpoint::client().expect("a socket");
        let streams: Vec<Stream> = (0..STREAMS)
            .map(|_| client.open(address, paradigm::stream(PORT)).expect("a stream"))
            .collect();
        for round in 0..ROUNDS {
            let octets = |at: usize| vec![(at + round) as u8; 1 + at * 100 + round];
            for (at, stream) in streams.iter().enumerate() {
                stream.send_message(octets(at)).expect("room");
            }
            for (at, stream) in streams.iter().enumerate() {
                let answer = stream.recv_message().expect("an answer").expect("no end");
                assert!(answer == octets(at), "stream {at}");
            }
        }
        std::net::TcpStream::connect(tcp_address)
            .and_then(|mut tcp| tcp.write_all(b"tcp"))
            .expect("the loop accepts");
        streams
            .into_iter()
            .for_each(|stream| stream.close().expect("a clean end"));
        writes.write_all(b"pipe").expect("the loop reads");
        // Open until the loop is over: the end of a pipe can be read again and again.
        writes
    });
    let (mut heard, mut sleeps) = (Vec::new(), 0);
    while heard.len() < 2 {
        let ready = sleep(&[&server, &pipe, &tcp], server.next_deadline());
        sleeps += 1;
        assert!(sleeps < MANY, "it does not sleep");
        if ready[1] {
            let mut octets = [0; 4];
            pipe.read_exact(&mut octets).expect("it was written");
            assert_eq!(&octets, b"pipe");
            heard.push("pipe");
        }
        if ready[2] {
            let mut text = String::new();
            let (mut connection, _) = tcp.accept().expect("somebody connects");
            connection.read_to_string(&mut text).expect("it is written");
            assert_eq!(text, "tcp");
            heard.push("tcp");
        }
        server.progress().expect("the socket works");
        echo.serve();
    }
    client.join().expect("no panic");
    assert_eq!(echo.answered, STREAMS * ROUNDS);
    assert_eq!(heard, ["tcp", "pipe"]);
}

/// One message to and fro costs the loop three system calls: it sleeps, takes and sends.
#[test]
fn a_message_costs_three_system_calls() {
    const MESSAGES: u64 = 500;
    let server = endpoint();
    let address = server.local_addr();
    let mut echo = Echo::new(&server);
    let (pipe, mut writes) = std::io::pipe().expect("a pipe");
    let client = std::thread::spawn(move || {
        let client = Endpoint::client().expect("a socket");
        let stream = client.open(address, paradigm::stream(PORT)).expect("a stream");
        for _ in 0..MESSAGES {
            stream.send_message("to and fro").expect("room");
            stream.recv_message().expect("an answer").expect("no end");
        }
        stream.close().expect("a clean end");
        writes.write_all(b"over").expect("the loop reads");
        writes
    });
    // Those that end because it is time are for a client that is not scheduled.
    let (mut sleeps, mut timers) = (0, 0);
    loop {
        let ready = sleep(&[&server, &pipe], server.next_deadline());
        if ready[1] {
            break;
        }
        sleeps += 1;
        timers += u64::from(!ready[0]);
        assert!(sleeps < MANY as u64, "it does not sleep");
        server.progress().expect("the socket works");
        echo.serve();
    }
    client.join().expect("no panic");
    let socket = server.stats().socket;
    let calls = sleeps + socket.send_calls + socket.recv_calls;
    assert_eq!(echo.answered as u64, MESSAGES);
    // Opening and the end are a few more.
    assert!(
        calls <= 3 * (MESSAGES + timers) + 50,
        "{calls} calls: {sleeps} sleeps, {timers} for timers, {socket:?}"
    );
}

/// What a call that waits takes for another association ends no sleep any more: the loop does not begin one.
#[test]
fn what_another_call_took_keeps_the_loop_awake() {
    let (client, server) = (endpoint(), endpoint());
    let listener = server.listen_streams(PORT).expect("a free number");
    let address = server.local_addr();
    let serving = std::thread::spawn(move || {
        let streams = [(); 2].map(|()| listener.accept().expect("an association").into_stream());
        let asked = streams.each_ref().map(|stream| {
            let message = stream.recv_message().expect("a message").expect("no end");
            message[0]
        });
        // The first is answered last.
        let (first, second) = match asked[0] {
            1 => (&streams[0], &streams[1]),
            _ => (&streams[1], &streams[0]),
        };
        second.send_message("second").expect("room");
        first.send_message("first").expect("room");
        for stream in streams {
            stream.close().expect("a clean end");
        }
    });
    let _ = client.as_fd();
    let [first, second] = [1, 2].map(|number| {
        let stream = client.open(address, paradigm::stream(PORT)).expect("a stream");
        stream.send_message(vec![number]).expect("room");
        stream
    });
    let answer = first.recv_message().expect("an answer").expect("no end");
    assert_eq!(answer, "first");
    // With a turn, behind which nothing else is due.
    client.poll_set().add(&second, 1).expect("its own");
    let next = client.next_deadline().expect("at once");
    assert!(next <= Instant::now(), "it would sleep");
    client.progress().expect("the socket works");
    let answer = second.try_recv_message().expect("it was taken").expect("no end");
    assert_eq!(answer, "second");
    first.close().expect("a clean end");
    second.close().expect("a clean end");
    serving.join().expect("no panic");
}

/// What the network says of packets ends a sleep, is taken, and ends no further one.
#[test]
fn an_error_of_the_network_wakes_once() {
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = closed.local_addr().expect("bound");
    drop(closed);
    let client = endpoint();
    let stream = client.open(address, paradigm::stream(PORT)).expect("a stream");
    let _ = client.as_fd();
    stream.send_message("nobody").expect("room");
    let mut sleeps = 0;
    let told = loop {
        sleep(&[&client], client.next_deadline());
        sleeps += 1;
        client.progress().expect("the socket works");
        match stream.try_recv_message() {
            Err(Error::WouldBlock) => assert!(sleeps < 1_000, "it does not sleep"),
            other => break other,
        }
    };
    assert!(
        matches!(told, Err(Error::Closed(xtp::CloseReason::NobodyListens))),
        "{told:?}"
    );
}

/// The socket of a group that is joined later is among what the descriptor tells of.
#[test]
fn a_group_is_told_of_by_the_same_descriptor() {
    let (receiver, transmitter) = (endpoint(), endpoint());
    let group = "239.255.36.91:36191".parse().expect("an address");
    let loopback = Interface::Address("127.0.0.1".parse().expect("an address"));
    let _ = receiver.as_fd();
    let options = JoinOptions::new().interface(loopback.clone());
    let subscription = receiver.join(Some(group), options).expect("joined");
    let sending = std::thread::spawn(move || {
        let options = CastOptions::new().interface(loopback).expect(1);
        let mut cast = transmitter.cast(group, options).expect("cast");
        cast.write_all(&[7; 100_000]).expect("written");
        cast.finish().expect("finished")
    });
    let (mut octets, mut sleeps) = (0, 0);
    'all: loop {
        sleep(&[&receiver], receiver.next_deadline());
        sleeps += 1;
        assert!(sleeps < MANY, "it does not sleep");
        receiver.progress().expect("the socket works");
        loop {
            match subscription.try_recv_chunk(64 << 10) {
                Ok(Some(chunk)) => octets += data_of(&chunk),
                Ok(None) => break 'all,
                Err(Error::WouldBlock) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert_eq!(octets, 100_000);
    subscription.close().expect("the transmitter knows");
    assert_eq!(sending.join().expect("no panic").len(), 1);
}

fn data_of(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::Data { bytes, .. } => bytes.len(),
        other => panic!("{other:?}"),
    }
}
