//! Reactions to every error of interest, and the fall-back from segmentation offload.

use std::io::IoSlice;
use std::os::fd::AsRawFd;

use super::super::set_option;
use super::{RETRIES, Reaction, reaction};
use crate::{Interest, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

#[test]
fn every_error_has_its_reaction() {
    let table = [
        (libc::EINTR, true, 0, Reaction::Repeat),
        (libc::EAGAIN, true, 0, Reaction::WouldBlock),
        (libc::ENOBUFS, false, 0, Reaction::Dropped),
        (libc::EIO, true, 0, Reaction::WithoutOffload),
        (libc::EIO, false, 0, Reaction::Fail),
        (libc::EINVAL, true, 0, Reaction::WithoutOffload),
        (libc::EINVAL, false, 0, Reaction::Fail),
        (libc::EMSGSIZE, true, 0, Reaction::Doubt),
        (libc::EMSGSIZE, true, 1, Reaction::TooBig),
        (libc::EMSGSIZE, false, RETRIES, Reaction::TooBig),
        (libc::ECONNREFUSED, true, 0, Reaction::Doubt),
        (libc::ECONNREFUSED, true, RETRIES, Reaction::Fail),
        (libc::ENETUNREACH, false, RETRIES - 1, Reaction::Doubt),
        (libc::ENETUNREACH, false, RETRIES, Reaction::Fail),
        (libc::EPERM, true, 0, Reaction::Fail),
        (libc::EBADF, true, 0, Reaction::Fail),
    ];
    for (code, offloaded, doubts, expected) in table {
        assert_eq!(
            reaction(code, offloaded, doubts),
            expected,
            "{code} {offloaded} {doubts}"
        );
    }
}

#[test]
fn a_kernel_that_refuses_offload_gets_single_messages_from_then_on() {
    let local = "127.0.0.1:0".parse().expect("an address");
    let options = SocketOptions::default();
    let sender = UdpSocket::bind(local, &options).expect("a sender");
    let receiver = UdpSocket::bind(local, &options).expect("a receiver");
    if !sender.gso_active() {
        eprintln!("left out: this kernel has no segmentation offload to lose");
        return;
    }
    // Without checksums there is no offload: the kernel answers EINVAL, like a device that cannot.
    set_option(sender.as_raw_fd(), libc::SOL_SOCKET, libc::SO_NO_CHECK, 1).expect("no checksums");
    let octets = [7; 1050];
    let pieces = [IoSlice::new(&octets)];
    let train = SendTrain::new(receiver.local_addr(), 100, &pieces);
    assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
    assert!(!sender.gso_active());
    assert_eq!(sender.counters().send_calls, 2, "one refused, one sendmmsg");
    assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
    assert_eq!(
        (sender.counters().send_calls, sender.counters().datagrams_out),
        (3, 22)
    );

    let mut batch = RecvBatch::default();
    let mut lengths = Vec::new();
    while lengths.len() < 22 {
        assert!(receiver.wait(None, Interest::READABLE).expect("ready").readable);
        receiver.recv(&mut batch).expect("received");
        lengths.extend(batch.iter().map(|datagram| datagram.data.len()));
    }
    let one: Vec<_> = std::iter::repeat_n(100, 10).chain([50]).collect();
    assert_eq!(lengths, [one.clone(), one].concat());
}

#[test]
fn a_bad_source_address_does_not_cost_the_offload() {
    let local = "127.0.0.1:0".parse().expect("an address");
    let sender = UdpSocket::bind(local, &SocketOptions::default()).expect("a sender");
    let before = sender.gso_active();
    let pieces = [IoSlice::new(b"twice")];
    let src = Some("203.0.113.77".parse().expect("an address"));
    let train = SendTrain {
        src,
        ..SendTrain::new(sender.local_addr(), 3, &pieces)
    };
    sender.send(&train).expect_err("not an address of this host");
    assert_eq!(sender.gso_active(), before);
    assert_eq!(sender.counters().datagrams_out, 0);
}
