//! Retained buffers: counted, in order, the same memory, and an end that waits for all.

mod common;

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::mpsc;
use std::thread;

use common::{PORT, pair, pattern};
use xtp::{Confirm, Error, paradigm};

#[test]
fn what_is_sent_from_few_buffers_arrives_whole_and_in_order() {
    for count in [0, 1, 2, 8] {
        let (server, address, client) = pair();
        let listener = server.listen_streams(PORT).expect("a free number");
        let far = thread::spawn(move || {
            let stream = listener.accept().expect("an association").into_stream();
            let mut all = Vec::new();
            (&stream).read_to_end(&mut all).expect("octets");
            all
        });
        let stream = client
            .open(address, paradigm::stream(PORT))
            .expect("options in range");
        let data = pattern(1_000_000);
        let mut sender = stream.tuning().retained(count, 64_000);
        let mut places = BTreeSet::new();
        let mut buffer = sender.buffer().expect("the first");
        assert!(buffer.capacity() >= 64_000);
        for part in data.chunks(64_000) {
            buffer.extend_from_slice(part);
            places.insert(buffer.as_ptr() as usize);
            buffer = sender.send(buffer).expect("room");
            assert!(buffer.is_empty());
            assert!(
                sender.outstanding() < count.max(1),
                "one is in the caller's hands"
            );
        }
        assert!(
            places.len() <= count.max(1),
            "the same memory again and again: {places:?}"
        );
        assert!(sender.finish().expect("confirmed").len() <= count.max(1));
        let stats = stream.stats().expect("alive");
        assert_eq!(stats.octets_acknowledged, 1_000_000);
        stream.close().expect("confirmed");
        assert!(
            far.join().expect("no panic") == data,
            "{count} buffers: what arrives is what was sent"
        );
    }
}

/// The peer's user takes nothing, its host acknowledges only what it has room for: one buffer is acknowledged, the
/// second is not, so the third call has to wait.
#[test]
fn the_call_that_needs_the_oldest_buffer_waits_for_it() {
    // More than half of what an association may send without being granted it: the first one fits, two do not.
    const BUFFER: usize = 100_000;
    let (server, address, client) = pair();
    let mut options = xtp::ListenOptions::streams(PORT);
    options.tuning.recv_capacity = 100_000;
    let listener = server.listen_with(options).expect("a free number");
    // Its user sleeps, its host does not.
    let _driver = server.spawn_driver().expect("a thread");
    let (go, wait) = mpsc::channel::<()>();
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        wait.recv().expect("a word");
        let mut all = Vec::new();
        (&stream).read_to_end(&mut all).expect("octets");
        all.len()
    });
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    let mut sender = stream.tuning().retained(2, BUFFER);
    sender.submit(vec![1; BUFFER]).expect("free");
    sender.submit(vec![2; BUFFER]).expect("free");
    assert_eq!(sender.outstanding(), 2);
    sender
        .submit(vec![3; BUFFER])
        .expect("the first was acknowledged");
    assert_eq!(sender.outstanding(), 2);
    stream.set_write_timeout(Some(std::time::Duration::from_millis(50)));
    assert!(matches!(sender.buffer(), Err(Error::Timeout { .. })));
    assert_eq!(sender.outstanding(), 2, "a timeout loses nothing");
    go.send(()).expect("the far end waits");
    stream.set_write_timeout(None);
    assert_eq!(sender.finish().expect("confirmed").len(), 2);
    stream.confirm(Confirm::Received).expect("nothing is left");
    stream.close().expect("confirmed");
    assert_eq!(far.join().expect("no panic"), 3 * BUFFER);
}

#[test]
fn an_empty_buffer_is_no_send_and_a_dead_association_says_so() {
    let (_server, address, client) = pair();
    let mut options = paradigm::stream(PORT);
    options.tuning.connect_timeout = std::time::Duration::from_millis(200);
    let stream = client.open(address, options).expect("options in range");
    let mut sender = stream.tuning().retained(1, 10);
    sender.submit(Vec::new()).expect("nothing to do");
    assert_eq!(sender.outstanding(), 0);
    sender
        .submit(vec![7; 10])
        .expect("queued: nobody has refused yet");
    assert!(
        matches!(sender.buffer(), Err(Error::Closed(_))),
        "nobody listens there"
    );
}
