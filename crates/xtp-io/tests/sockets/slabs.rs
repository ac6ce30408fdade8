//! Received memory: kept without a copy, never overwritten while kept, reused afterwards.

use std::io::IoSlice;

use bytes::Bytes;
use xtp_io::{
    DEFAULT_SLAB_SIZE, Interest, LENT_FROM, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket,
};

use crate::support::{bind4, every_way, lacking, pattern, receive};

fn send(socket: &UdpSocket, octets: &[u8], segment: usize) {
    let pieces = [IoSlice::new(octets)];
    let outcome = socket
        .send(&SendTrain::new(socket.local_addr(), segment, &pieces))
        .expect("an outcome");
    assert_eq!(outcome, SendOutcome::Sent);
}

/// Receives at least one datagram into `batch`.
fn fill(socket: &UdpSocket, batch: &mut RecvBatch) {
    while socket.recv(batch).expect("received") == 0 {
        socket.wait(None, Interest::READABLE).expect("waited");
    }
}

#[test]
fn kept_datagrams_stay_and_point_into_their_slab() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let mut batch = RecvBatch::default();
        let mut kept: Vec<(Bytes, Vec<u8>)> = Vec::new();
        for round in 0..100 {
            let octets = pattern(LENT_FROM, round);
            send(&socket, &octets, LENT_FROM);
            fill(&socket, &mut batch);
            let datagram = batch.iter().next().expect("one datagram");
            assert_eq!(datagram.filled, LENT_FROM);
            let slab = batch.slab_bytes(datagram.slab).expect("its slab");
            assert_eq!(slab.len(), DEFAULT_SLAB_SIZE);
            assert_eq!(slab.slice_ref(datagram.data), datagram.to_bytes());
            kept.push((datagram.to_bytes(), octets));
        }
        assert!(kept.iter().all(|(bytes, octets)| bytes == octets), "{name}");
        assert!(batch.slabs_allocated() >= 100);
    }
}

#[test]
fn slabs_are_reused_when_nothing_is_kept() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let mut batch = RecvBatch::new(2, DEFAULT_SLAB_SIZE);
        for round in 0..100 {
            send(&socket, &pattern(900, round), 300);
            let mut received = 0;
            while received < 3 {
                fill(&socket, &mut batch);
                received += batch.len();
            }
        }
        assert_eq!(batch.slabs_allocated(), 2, "{name}");
    }
}

#[test]
fn joined_datagrams_share_a_slab_and_say_how_full_it_is() {
    let socket = bind4(&SocketOptions::default());
    if !(socket.capabilities().gso && socket.capabilities().gro) {
        eprintln!("left out: this kernel joins no datagrams");
        return;
    }
    let octets = pattern(20 * 1000 + 1, 7);
    send(&socket, &octets, 1000);
    let mut batch = RecvBatch::default();
    fill(&socket, &mut batch);
    assert_eq!(batch.len(), 21);
    assert!(
        batch
            .iter()
            .all(|datagram| datagram.filled == octets.len() && datagram.slab == 0)
    );
    assert_eq!(batch.slab_bytes(0).expect("filled")[..octets.len()], octets);
    assert_eq!(
        batch.iter().last().expect("the short one").data,
        &octets[20_000..]
    );
}

#[test]
fn what_does_not_fit_its_slab_is_counted_and_the_next_arrives() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let mut batch = RecvBatch::new(4, 100);
        for _ in 0..50 {
            send(&socket, &[1; 200], 200);
        }
        send(&socket, &[2; 99], 99);
        let mut seen = Vec::new();
        while seen.is_empty() {
            socket.wait(None, Interest::READABLE).expect("waited");
            socket.recv(&mut batch).expect("received");
            seen.extend(batch.iter().map(|datagram| datagram.data.to_vec()));
        }
        assert_eq!(seen, [[2; 99]], "{name}");
        assert_eq!(
            (socket.counters().truncated, socket.counters().datagrams_in),
            (50, 1),
            "{name}"
        );
    }
}

#[test]
fn empty_datagrams_arrive() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let stranger = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        stranger.send_to(&[], socket.local_addr()).expect("sent");
        stranger.send_to(b"not empty", socket.local_addr()).expect("sent");
        assert_eq!(
            receive(&socket, 2),
            [b"".to_vec(), b"not empty".to_vec()],
            "{name}"
        );
    }
}

#[test]
fn nothing_there_is_zero_datagrams() {
    for (name, options) in every_way() {
        let socket = bind4(&options);
        let mut batch = RecvBatch::default();
        assert_eq!(socket.recv(&mut batch).expect("nothing"), 0, "{name}");
        assert!(batch.is_empty());
        assert_eq!(batch.iter().count(), 0);
    }
}

#[test]
fn full_buffers_lose_datagrams_and_the_loss_is_counted() {
    let mut options = lacking(|l| l.gro = true);
    options.recv_buffer = 4096;
    let socket = bind4(&options);
    if !socket.capabilities().rxq_overflow {
        return;
    }
    for _ in 0..200 {
        send(&socket, &[3; 1000], 1000);
    }
    let mut batch = RecvBatch::default();
    fill(&socket, &mut batch);
    while socket.recv(&mut batch).expect("received") > 0 {}
    let counters = socket.counters();
    assert!(counters.overflows > 0);
    assert_eq!(counters.datagrams_in + counters.overflows, counters.datagrams_out);
}
