//! Two endpoints on loopback.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::time::Duration;

use xtp::{Config, Endpoint, Wait};

/// Service number of the tests.
pub(crate) const PORT: u16 = 1_000;
/// Longer than anything here takes: a test that needs it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// An endpoint on IPv4 loopback. Sleeps when it waits, because the tests of one run share the cores.
pub(crate) fn endpoint() -> Endpoint {
    endpoint_at("127.0.0.1:0")
}

/// An endpoint at an address.
pub(crate) fn endpoint_at(address: &str) -> Endpoint {
    let mut config = Config::server(address.parse().expect("an address"));
    config.wait = Wait::Block;
    Endpoint::bind(config).expect("loopback")
}

/// An address whose host says that no program has the port. The port of a socket that was closed would do until another
/// program of the run is given it; that of a socket connected to itself takes nothing from others, and stays taken.
pub(crate) fn nobody() -> SocketAddr {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let address = socket.local_addr().expect("bound");
    socket.connect(address).expect("itself");
    std::mem::forget(socket);
    address
}

/// A server, its address, and a client.
pub(crate) fn pair() -> (Endpoint, SocketAddr, Endpoint) {
    let server = endpoint();
    let address = server.local_addr();
    (server, address, endpoint())
}

/// Runs until it costs what it should, a few times at most: where others have the cores a timer may add a packet to
/// some runs, but no timer of ours adds one to each.
#[track_caller]
pub(crate) fn costs<T: PartialEq + std::fmt::Debug>(expected: T, mut run: impl FnMut() -> T) {
    const TRIES: usize = 8;
    let mut seen = Vec::new();
    while seen.len() < TRIES && seen.last() != Some(&expected) {
        seen.push(run());
    }
    assert_eq!(seen.last(), Some(&expected), "{seen:?}");
}

/// Octets that differ everywhere.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
}
