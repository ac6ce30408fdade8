//! Calls at marks: exactly one a mark, whatever becomes of the stream, and without the lock.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{LONG, PORT, endpoint, nobody, pair};
use xtp::{CloseReason, Confirm, DriverThread, Endpoint, Error, Result, Stream, paradigm};

/// A stream to a peer that drives itself and reads what comes.
fn read_by_a_peer() -> (Endpoint, Stream, thread::JoinHandle<u64>) {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).unwrap();
    let far = thread::spawn(move || {
        let stream = listener.accept().unwrap().into_stream();
        let mut messages = 0;
        while let Ok(Some(_)) = stream.recv_message() {
            messages += 1;
        }
        let _ = stream.close();
        messages
    });
    let stream = client.open(address, paradigm::stream(PORT)).unwrap();
    (client, stream, far)
}

/// Calls `progress` alone until the next outcome is there.
fn next<T>(endpoint: &Endpoint, outcomes: &Receiver<T>) -> T {
    let until = Instant::now() + LONG;
    loop {
        if let Ok(outcome) = outcomes.try_recv() {
            return outcome;
        }
        assert!(Instant::now() < until, "nothing was called");
        endpoint.progress_timeout(Duration::from_millis(20)).unwrap();
    }
}

/// Nothing is left that could be called.
fn assert_over<T: std::fmt::Debug>(outcomes: &Receiver<T>) {
    assert!(
        outcomes.recv_timeout(LONG).is_err(),
        "the call has gone, and was made once"
    );
}

fn telling(sender: &Sender<Result<()>>) -> impl FnOnce(Result<()>) + Send + 'static {
    let sender = sender.clone();
    move |outcome| sender.send(outcome).unwrap()
}

#[test]
fn progress_calls_once_when_a_mark_is_reached() {
    let (client, stream, far) = read_by_a_peer();
    let (sender, outcomes) = channel();
    for what in [Confirm::Received, Confirm::Delivered] {
        stream.send_message("a message").unwrap();
        stream.mark(what).unwrap().on_reached(telling(&sender));
        next(&client, &outcomes).unwrap();
    }
    // One that is reached already.
    let mark = stream.mark(Confirm::Received).unwrap();
    mark.wait(Some(LONG)).unwrap();
    mark.on_reached(telling(&sender));
    outcomes.try_recv().expect("at once").unwrap();
    stream.close().unwrap();
    drop(sender);
    assert_over(&outcomes);
    assert_eq!(far.join().unwrap(), 2);
}

/// From one call to the next, a thousand times: neither the lock is held nor the stack grows.
#[test]
fn a_call_may_use_the_endpoint_and_ask_for_the_next() {
    const CALLS: usize = 1_000;
    fn go_on(stream: &Arc<Stream>, count: usize, sender: Sender<usize>) {
        if count == CALLS {
            sender.send(count).unwrap();
            return;
        }
        stream.send_message("next").unwrap();
        let mark = stream.mark(Confirm::Received).unwrap();
        let stream = Arc::clone(stream);
        mark.on_reached(move |outcome| {
            outcome.unwrap();
            // What waits may be waited for: no call is made inside this one.
            if count.is_multiple_of(100) {
                stream.send_message("and waited for").unwrap();
                stream.confirm(Confirm::Received).unwrap();
            }
            go_on(&stream, count + 1, sender);
        });
    }
    let (client, stream, far) = read_by_a_peer();
    let stream = Arc::new(stream);
    let (sender, outcomes) = channel();
    go_on(&stream, 0, sender);
    assert_eq!(next(&client, &outcomes), CALLS);
    assert_over(&outcomes);
    Arc::into_inner(stream)
        .expect("the calls let go of it")
        .close()
        .unwrap();
    assert_eq!(far.join().unwrap(), CALLS as u64 + 10);
}

#[test]
fn a_call_that_panics_disturbs_no_other() {
    let (client, stream, far) = read_by_a_peer();
    let (sender, outcomes) = channel();
    stream.send_message("a message").unwrap();
    for number in 0..4 {
        let tell = telling(&sender);
        stream
            .mark(Confirm::Received)
            .unwrap()
            .on_reached(move |outcome| {
                assert!(number % 2 == 0, "a call that is meant to panic");
                tell(outcome);
            });
    }
    next(&client, &outcomes).unwrap();
    next(&client, &outcomes).unwrap();
    stream.send_message("another").unwrap();
    stream.close().unwrap();
    drop(sender);
    assert_over(&outcomes);
    assert_eq!(far.join().unwrap(), 2);
}

#[test]
fn a_stream_that_ends_before_calls_with_its_reason() {
    let (server, address, client) = pair();
    let _drivers = [&server, &client].map(|end| end.spawn_driver().unwrap());
    let listener = server.listen_streams(PORT).unwrap();
    let (sender, outcomes) = channel();
    // Aborted by the peer, which had not read it, and by this end.
    for by_peer in [true, false] {
        let stream = client.open(address, paradigm::stream(PORT)).unwrap();
        stream.send_message("unread").unwrap();
        stream
            .mark(Confirm::Delivered)
            .unwrap()
            .on_reached(telling(&sender));
        let far = listener.accept_timeout(LONG).unwrap().into_stream();
        match by_peer {
            true => far.abort(),
            false => stream.abort_shared(),
        }
        let outcome = outcomes.recv_timeout(LONG).unwrap();
        assert!(matches!(outcome, Err(Error::Closed(_))), "{outcome:?}");
        // Over already.
        if !by_peer {
            assert!(stream.mark(Confirm::Received).is_err());
        }
    }
    // No such host.
    let stream = client.open(nobody(), paradigm::stream(PORT)).unwrap();
    stream.send_message("to nobody").unwrap();
    stream
        .mark(Confirm::Received)
        .unwrap()
        .on_reached(telling(&sender));
    let outcome = outcomes.recv_timeout(LONG).unwrap();
    assert!(outcome.is_err_and(|error| error.is_unreachable()));
    drop(sender);
    assert_over(&outcomes);
}

#[test]
fn a_dropped_stream_is_confirmed_behind_other_calls() {
    let (client, stream, far) = read_by_a_peer();
    let (sender, outcomes) = channel();
    stream.send_message("dropped").unwrap();
    stream
        .mark(Confirm::Received)
        .unwrap()
        .on_reached(telling(&sender));
    drop(stream);
    next(&client, &outcomes).unwrap();
    // One on which nothing was sent ends without a packet.
    let unused = client.open(nobody(), paradigm::stream(PORT)).unwrap();
    let mark = unused.mark(Confirm::Received);
    if let Ok(mark) = mark {
        mark.on_reached(telling(&sender));
        drop(unused);
        let outcome = next(&client, &outcomes);
        println!("unused: {outcome:?}");
    }
    drop(sender);
    assert_over(&outcomes);
    assert_eq!(far.join().unwrap(), 1);
}

#[test]
fn the_end_of_the_endpoint_is_the_end_of_the_stream() {
    let (sender, outcomes) = channel();
    let mut config = endpoint().config().clone();
    config.bind = "127.0.0.1:0".parse().unwrap();
    config.linger = Duration::from_millis(50);
    let client = Endpoint::bind(config).unwrap();
    // It takes packets and answers none.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let stream = client
        .open(silent.local_addr().unwrap(), paradigm::stream(PORT))
        .unwrap();
    stream.send_message("never confirmed").unwrap();
    stream
        .mark(Confirm::Received)
        .unwrap()
        .on_reached(telling(&sender));
    drop((stream, client, sender));
    let outcome = outcomes.recv_timeout(LONG).unwrap();
    assert!(
        matches!(outcome, Err(Error::Closed(CloseReason::Unconfirmed { .. }))),
        "{outcome:?}"
    );
    assert_over(&outcomes);
}

/// The call owns the last handle: the thread that makes it ends the endpoint.
#[test]
fn a_call_may_end_its_endpoint() {
    let (client, stream, far) = read_by_a_peer();
    let driver = client.spawn_driver().unwrap();
    let (sender, outcomes) = channel();
    stream.send_message("the last").unwrap();
    let mark = stream.mark(Confirm::Received).unwrap();
    let held: Arc<Mutex<Option<(Stream, Endpoint, DriverThread)>>> =
        Arc::new(Mutex::new(Some((stream, client, driver))));
    let taken = Arc::clone(&held);
    mark.on_reached(move |outcome| {
        outcome.unwrap();
        drop(taken.lock().unwrap().take());
        sender.send(()).unwrap();
    });
    outcomes.recv_timeout(LONG).unwrap();
    assert!(held.lock().unwrap().is_none());
    assert_eq!(far.join().unwrap(), 1);
}

/// Threads that wait on the same endpoint: whichever finds a mark reached calls, and each call is made once.
#[test]
fn many_threads_make_each_call_once() {
    const EACH: usize = 200;
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let stream = listener.accept_timeout(LONG).unwrap().into_stream();
                while let Some(message) = stream.recv_message().unwrap() {
                    stream.send_message(message).unwrap();
                }
                stream.close().unwrap();
            });
            scope.spawn(|| {
                let stream = client.open(address, paradigm::stream(PORT)).unwrap();
                for _ in 0..EACH {
                    stream.send_message("to and fro").unwrap();
                    let calls = Arc::clone(&calls);
                    stream
                        .mark(Confirm::Received)
                        .unwrap()
                        .on_reached(move |outcome| {
                            outcome.unwrap();
                            calls.fetch_add(1, Ordering::Relaxed);
                        });
                    stream.recv_message().unwrap().expect("an answer");
                }
                stream.close().unwrap();
            });
        }
    });
    drop(client);
    assert_eq!(calls.load(Ordering::Relaxed), 3 * EACH);
}
