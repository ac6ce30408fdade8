//! The three ways to wait, on a socket that has something, later, or never.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::Waiter;
use crate::console::Stop;
use crate::plan::WaitPolicy;

fn socket(waiter: &Waiter) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    if waiter.wants_nonblocking() {
        socket.set_nonblocking(true).expect("non-blocking");
    } else {
        let timeout = Some(Duration::from_millis(10));
        socket.set_read_timeout(timeout).expect("a time-out");
    }
    socket
}

#[test]
fn what_is_there_costs_one_call() {
    for &policy in WaitPolicy::ALL {
        let mut waiter = Waiter::new(policy, Stop::never());
        let socket = socket(&waiter);
        let there = socket.local_addr().expect("bound");
        socket.send_to(b"hello", there).expect("sends");
        let mut buffer = [0; 16];
        let octets = waiter
            .until(&socket, PollFlags::IN, || socket.recv(&mut buffer))
            .expect("arrived");
        assert_eq!((octets, waiter.calls()), (5, 1), "{policy}");
    }
}

#[test]
fn a_deadline_ends_the_wait() {
    for &policy in WaitPolicy::ALL {
        let mut waiter = Waiter::new(policy, Stop::never());
        let socket = socket(&waiter);
        let deadline = Some(Instant::now() + Duration::from_millis(5));
        let mut buffer = [0; 16];
        let received = waiter
            .until_deadline(&socket, PollFlags::IN, deadline, || socket.recv(&mut buffer))
            .expect("no failure");
        assert_eq!(received, None, "{policy}");
    }
}

#[test]
fn stop_ends_the_wait() {
    for &policy in WaitPolicy::ALL {
        let stop = Stop::never();
        stop.set();
        let mut waiter = Waiter::new(policy, stop);
        let socket = socket(&waiter);
        let mut buffer = [0; 16];
        let error = waiter
            .until(&socket, PollFlags::IN, || socket.recv(&mut buffer))
            .expect_err("stopped");
        assert_eq!(error.kind(), io::ErrorKind::Interrupted, "{policy}");
    }
}

#[test]
fn a_sleeping_waiter_does_not_poll() {
    let mut waiter = Waiter::new(WaitPolicy::Block, Stop::never());
    let socket = socket(&waiter);
    let deadline = Some(Instant::now() + Duration::from_millis(20));
    let mut buffer = [0; 16];
    let received = waiter.until_deadline(&socket, PollFlags::IN, deadline, || socket.recv(&mut buffer));
    assert_eq!(received.expect("no failure"), None);
    assert!(
        waiter.calls() <= 3,
        "time-outs of 10 ms: {} calls",
        waiter.calls()
    );
}
