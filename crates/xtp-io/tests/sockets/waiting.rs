//! Waiting, what the system granted, and threads.

use std::io::IoSlice;
use std::time::Duration;

use xtp_io::{Interest, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

use crate::support::{bind4, every_way, lacking, receive};

#[test]
fn waiting_ends_with_the_time_or_a_datagram() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(3)] {
            let ready = socket.wait(Some(timeout), Interest::READABLE).expect("waited");
            assert!(ready.timed_out(), "{name}: {ready:?}");
        }
        let ready = socket.wait(None, Interest::BOTH).expect("waited");
        assert!(ready.writable && !ready.readable, "{name}: {ready:?}");
        let pieces = [IoSlice::new(b"wake")];
        let train = SendTrain::new(socket.local_addr(), 4, &pieces);
        assert_eq!(socket.send(&train).expect("sent"), SendOutcome::Sent);
        for timeout in [None, Some(Duration::MAX)] {
            let ready = socket.wait(timeout, Interest::READABLE).expect("waited");
            assert!(
                ready.readable && !ready.writable && !ready.error,
                "{name}: {ready:?}"
            );
        }
    }
}

#[test]
fn a_datagram_from_another_thread_wakes_a_waiter() {
    let (sender, receiver) = (bind4(&SocketOptions::default()), bind4(&SocketOptions::default()));
    std::thread::scope(|scope| {
        let woken = scope.spawn(|| receive(&receiver, 1));
        let pieces = [IoSlice::new(b"wake")];
        let train = SendTrain::new(receiver.local_addr(), 4, &pieces);
        assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
        assert_eq!(woken.join().expect("no panic"), [b"wake"]);
    });
}

#[test]
fn several_threads_share_a_socket() {
    let socket = bind4(&SocketOptions::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let pieces = [IoSlice::new(b"abcdefghij")];
                for _ in 0..5 {
                    let train = SendTrain::new(socket.local_addr(), 5, &pieces);
                    assert_eq!(socket.send(&train).expect("sent"), SendOutcome::Sent);
                }
            });
        }
    });
    let mut arrived = receive(&socket, 40);
    arrived.sort();
    assert_eq!(
        arrived,
        [vec![b"abcde".to_vec(); 20], vec![b"fghij".to_vec(); 20]].concat()
    );
    assert_eq!(socket.counters().datagrams_in, 40);
}

#[test]
fn sockets_are_shared_and_batches_sent_between_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<UdpSocket>();
    sent::<RecvBatch>();
}

#[test]
fn granted_buffers_are_told() {
    let mut options = SocketOptions::default();
    (options.recv_buffer, options.send_buffer) = (64 << 10, 32 << 10);
    let small = bind4(&options);
    let found = small.capabilities();
    assert!(
        found.recv_buffer >= 64 << 10 && found.send_buffer >= 32 << 10,
        "{found}"
    );
    options.recv_buffer = 1 << 30;
    let large = bind4(&options);
    let found = large.capabilities();
    assert_eq!(found.recv_buffer_asked, 1 << 30);
    assert!(found.recv_buffer >= 64 << 10, "{found}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_administrator_gets_what_it_asks_for() {
    let limit = std::fs::read_to_string("/proc/sys/net/core/rmem_max").expect("Linux has it");
    let limit: usize = limit.trim().parse().expect("a number");
    let mut options = SocketOptions::default();
    options.recv_buffer = 2 * limit;
    let socket = bind4(&options);
    let given = socket.capabilities().recv_buffer;
    // Who may not is given what everybody is.
    let expected = if administers() { 2 * limit } else { limit };
    assert_eq!(given, expected);
}

/// Whether this process has `CAP_NET_ADMIN`, number 12, on the host.
#[cfg(target_os = "linux")]
fn administers() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = u64::from_str_radix(held.expect("every process has some or none").trim(), 16);
    let held = held.expect("a hexadecimal number") >> 12 & 1 == 1;
    // Within a user namespace of its own it administers that only, which is not enough.
    let users = std::fs::read_to_string("/proc/self/uid_map").expect("Linux has it");
    held && users.split_whitespace().eq(["0", "0", "4294967295"])
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_lacking_is_not_in_force() {
    let socket = bind4(&lacking(|l| (l.gso, l.gro, l.batching) = (true, true, true)));
    let found = socket.capabilities();
    assert!(!(found.gso || found.gro || found.sendmmsg || found.recvmmsg));
    assert!(found.ecn && found.pktinfo && !socket.gso_active());
}
