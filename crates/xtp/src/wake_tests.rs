//! Waking a sleeper through the socket.

use super::*;
use xtp_io::{Interest, RecvBatch, SocketOptions};

fn bound(text: &str) -> xtp_io::UdpSocket {
    xtp_io::UdpSocket::bind(text.parse().expect("an address"), &SocketOptions::default()).expect("a socket")
}

#[test]
fn a_wake_arrives_from_the_stated_source() {
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let socket = bound(address);
        let waker = Waker::new(socket.local_addr());
        assert_eq!(waker.source(), None, "made only when needed");
        waker.wake();
        assert!(!waker.is_broken());
        socket.wait(None, Interest::READABLE).expect("a wake");
        let mut batch = RecvBatch::default();
        assert_eq!(socket.recv(&mut batch).expect("readable"), 1);
        let source = batch.iter().next().map(|datagram| datagram.src);
        assert_eq!(source, waker.source());
    }
}

#[test]
fn an_impossible_target_is_known_to_be_broken() {
    // A group of another host's link cannot be reached from a socket that asks for no interface.
    let waker = Waker {
        target: "255.255.255.255:9".parse().expect("an address"),
        socket: OnceLock::new(),
    };
    waker.wake();
    assert!(waker.is_broken());
}
