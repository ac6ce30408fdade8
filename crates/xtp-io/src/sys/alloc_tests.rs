//! Steady state allocates nothing: counted by an allocator of the test program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::IoSlice;

use crate::{Backend, Interest, Lacking, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every request goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Sends a train, receives it, and keeps the last datagram in place of the one kept before.
fn round(sender: &UdpSocket, receiver: &UdpSocket, batch: &mut RecvBatch, kept: &mut bytes::Bytes) {
    let (header, payload) = ([1; 32], [2; 19_968]);
    let pieces = [IoSlice::new(&header), IoSlice::new(&payload)];
    let pieces: [_; 6] = std::array::from_fn(|at| pieces[at % 2]);
    let train = SendTrain::new(receiver.local_addr(), 20_000, &pieces);
    assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
    let mut received = 0;
    while received < 3 {
        receiver.wait(None, Interest::READABLE).expect("ready");
        received += receiver.recv(batch).expect("received");
        if let Some(last) = batch.iter().last() {
            *kept = last.to_bytes();
        }
    }
}

fn steady_state(options: &SocketOptions) {
    let local = "127.0.0.1:0".parse().expect("an address");
    let sender = UdpSocket::bind(local, options).expect("a sender");
    let receiver = UdpSocket::bind(local, options).expect("a receiver");
    // Two slots, so that the first rounds have used all of them however the datagrams arrive.
    let mut batch = RecvBatch::new(2, crate::DEFAULT_SLAB_SIZE);
    let mut kept = bytes::Bytes::new();
    for _ in 0..20 {
        round(&sender, &receiver, &mut batch, &mut kept);
    }
    let before = (allocations(), batch.slabs_allocated());
    for _ in 0..50 {
        round(&sender, &receiver, &mut batch, &mut kept);
    }
    assert_eq!((allocations(), batch.slabs_allocated()), before, "{options:?}");
}

#[test]
fn sending_receiving_and_keeping_a_datagram_allocate_nothing() {
    steady_state(&SocketOptions::default());
}

#[test]
fn the_fall_backs_allocate_nothing_either() {
    for batching in [false, true] {
        let lacks = Lacking {
            gso: true,
            gro: true,
            batching,
        };
        steady_state(&SocketOptions {
            backend: Backend::Lacking(lacks),
            ..SocketOptions::default()
        });
    }
    steady_state(&SocketOptions {
        backend: Backend::Plain,
        ..SocketOptions::default()
    });
}

#[test]
fn the_counting_allocator_counts() {
    let before = allocations();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(allocations(), before + 1);
}
