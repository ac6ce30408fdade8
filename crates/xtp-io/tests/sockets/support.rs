//! Sockets on loopback, every way to set them up, and receiving an expected number of datagrams.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use xtp_io::{
    Backend, Interest, Lacking, RecvBatch, RecvDatagram, SendOutcome, SendTrain, SocketOptions, UdpSocket,
};

/// When to give a datagram up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The default options after a change.
pub(crate) fn options(change: impl FnOnce(&mut SocketOptions)) -> SocketOptions {
    let mut options = SocketOptions::default();
    change(&mut options);
    options
}

/// The default options on a system that lacks something.
pub(crate) fn lacking(take_away: impl FnOnce(&mut Lacking)) -> SocketOptions {
    let mut lacks = Lacking::default();
    take_away(&mut lacks);
    options(|o| o.backend = Backend::Lacking(lacks))
}

/// Every way of sending and receiving, by name.
pub(crate) fn every_way() -> Vec<(&'static str, SocketOptions)> {
    vec![
        ("all", options(|_| ())),
        ("no gso", lacking(|l| l.gso = true)),
        ("no gro", lacking(|l| l.gro = true)),
        ("no batching", lacking(|l| l.batching = true)),
        (
            "single messages",
            lacking(|l| (l.gso, l.gro, l.batching) = (true, true, true)),
        ),
        ("plain", options(|o| o.backend = Backend::Plain)),
    ]
}

/// The loopback addresses this host has.
pub(crate) fn loopbacks() -> Vec<IpAddr> {
    let four = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let six = IpAddr::V6(Ipv6Addr::LOCALHOST);
    match UdpSocket::bind(SocketAddr::new(six, 0), &SocketOptions::default()) {
        Ok(_) => vec![four, six],
        Err(error) => {
            eprintln!("IPv6 left out: {error}");
            vec![four]
        }
    }
}

/// A socket on `ip` and a port of the system's choice.
pub(crate) fn bind(ip: IpAddr, options: &SocketOptions) -> UdpSocket {
    UdpSocket::bind(SocketAddr::new(ip, 0), options).expect("a socket on loopback")
}

/// A socket on IPv4 loopback.
pub(crate) fn bind4(options: &SocketOptions) -> UdpSocket {
    bind(IpAddr::V4(Ipv4Addr::LOCALHOST), options)
}

/// Receives until `count` datagrams came, and gives each to `look`.
///
/// # Panics
/// If they do not come within a minute, which is no measurement: what is lost must not hang the test.
pub(crate) fn receive_each(socket: &UdpSocket, count: usize, mut look: impl FnMut(RecvDatagram<'_>)) {
    let mut batch = RecvBatch::default();
    let mut received = 0;
    let start = Instant::now();
    while received < count {
        assert!(start.elapsed() < PATIENCE, "{received} of {count} datagrams came");
        socket.wait(Some(PATIENCE), Interest::READABLE).expect("waited");
        received += socket.recv(&mut batch).expect("received");
        batch.iter().for_each(&mut look);
    }
    assert_eq!(received, count, "more datagrams than were sent");
}

/// The contents of the next `count` datagrams.
pub(crate) fn receive(socket: &UdpSocket, count: usize) -> Vec<Vec<u8>> {
    let mut contents = Vec::new();
    receive_each(socket, count, |datagram| contents.push(datagram.data.to_vec()));
    contents
}

/// `length` octets that repeat late and differ by `seed`.
pub(crate) fn pattern(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// A port whose host says that no program has it, as long as this lives: its socket is connected to itself and takes
/// nothing from others. A port that was merely given back may be another test's a moment later.
pub(crate) struct ClosedPort(std::net::UdpSocket);

impl ClosedPort {
    pub(crate) fn at(ip: IpAddr) -> Self {
        let socket = std::net::UdpSocket::bind((ip, 0)).expect("loopback");
        socket
            .connect(socket.local_addr().expect("bound"))
            .expect("itself");
        Self(socket)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("bound")
    }
}

/// Sends `octets` in datagrams of `segment`.
pub(crate) fn send(socket: &UdpSocket, dst: SocketAddr, octets: &[u8], segment: usize) -> SendOutcome {
    let pieces = [IoSlice::new(octets)];
    socket
        .send(&SendTrain::new(dst, segment, &pieces))
        .expect("an outcome")
}
