//! System calls and datagrams are counted exactly.

use std::io::IoSlice;

use xtp_io::{Interest, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

use crate::support::{bind4, every_way};

/// Sends `datagrams` datagrams of 100 octets, the last of 50, in one train; returns the calls it took.
fn send_calls(sender: &UdpSocket, receiver: &UdpSocket, datagrams: usize) -> u64 {
    let before = sender.counters();
    let octets = vec![0; datagrams * 100 - 50];
    let pieces = [IoSlice::new(&octets)];
    let train = SendTrain::new(receiver.local_addr(), 100, &pieces);
    assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
    let after = sender.counters();
    assert_eq!(after.datagrams_out - before.datagrams_out, datagrams as u64);
    assert_eq!(after.octets_out - before.octets_out, octets.len() as u64);
    after.send_calls - before.send_calls
}

/// Receives until nothing is left; returns the calls it took, the last and empty one included.
fn drain(receiver: &UdpSocket, batch: &mut RecvBatch) -> u64 {
    let before = receiver.counters().recv_calls;
    while receiver.recv(batch).expect("received") > 0 {}
    receiver.counters().recv_calls - before
}

#[test]
fn a_train_costs_as_many_calls_as_its_way_needs() {
    for (name, options) in every_way() {
        let (sender, receiver) = (bind4(&options), bind4(&SocketOptions::default()));
        let most = sender.capabilities().max_segments;
        for datagrams in [1, 2, 40, 64, 65, 130] {
            let calls = send_calls(&sender, &receiver, datagrams);
            assert_eq!(calls, datagrams.div_ceil(most) as u64, "{name}: {datagrams}");
            drain(&receiver, &mut RecvBatch::default());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn linux_sends_sixty_four_datagrams_a_call_and_plain_one() {
    for (name, options) in every_way() {
        let expected = if matches!(name, "single messages" | "plain") {
            1
        } else {
            64
        };
        assert_eq!(bind4(&options).capabilities().max_segments, expected, "{name}");
    }
}

#[test]
fn a_batch_costs_as_many_calls_as_its_way_needs() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let found = socket.capabilities().clone();
        assert_eq!(
            drain(&socket, &mut RecvBatch::default()),
            1,
            "{name}: nothing there"
        );
        send_calls(&socket, &socket, 40);
        let calls = drain(&socket, &mut RecvBatch::default());
        let expected = match (found.gso && found.gro, found.recvmmsg) {
            // All joined: one message, then nothing.
            (true, _) => 2,
            // Batches of 1 four times, 2, 4, 8, 16 and the last 6; then nothing.
            (false, true) => 10,
            // One each; the unfinished batch of 32 notices the end, as does the last look.
            (false, false) => 42,
        };
        assert_eq!(calls, expected, "{name}");
        let counters = socket.counters();
        assert_eq!((counters.datagrams_in, counters.octets_in), (40, 3950), "{name}");
    }
}

#[test]
fn waiting_and_asking_for_errors_are_counted() {
    let socket = bind4(&SocketOptions::default());
    assert_eq!(socket.counters(), xtp_io::Counters::default());
    socket
        .wait(Some(std::time::Duration::ZERO), Interest::READABLE)
        .expect("waited");
    socket.recv_errors(&mut Vec::new()).expect("asked");
    let counters = socket.counters();
    assert_eq!(counters.poll_calls, 1);
    assert_eq!(counters.error_calls, u64::from(socket.capabilities().error_queue));
    assert_eq!((counters.send_calls, counters.recv_calls), (0, 0));
}
