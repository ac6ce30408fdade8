//! One thread that waits for many associations.

mod common;

use std::time::Duration;

use common::{LONG, PORT, endpoint, pair, pattern};
use xtp::{Confirm, Error, PollSet, Stream, paradigm};

const LISTENER: u64 = u64::MAX;

fn wait(set: &PollSet) -> Vec<u64> {
    let mut ready = Vec::new();
    set.wait(&mut ready, Some(LONG)).expect("something is ready");
    ready
}

/// Whether nothing is ready, and nothing becomes so for a moment.
fn is_quiet(set: &PollSet) -> bool {
    let mut ready = Vec::new();
    let outcome = set.wait(&mut ready, Some(Duration::from_millis(20)));
    outcome.is_err_and(|error| error.is_timeout()) && ready.is_empty()
}

#[test]
fn whoever_has_something_is_told_until_it_was_taken() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let set = server.poll_set();
    set.add_listener(&listener, LISTENER).expect("its own listener");
    let open = || {
        client
            .open(address, paradigm::stream(PORT))
            .expect("options in range")
    };
    let theirs: Vec<Stream> = (0..3).map(|_| open()).collect();
    let mut ours = Vec::new();
    for (number, stream) in theirs.iter().enumerate() {
        stream.send_message(vec![number as u8]).expect("room");
        assert_eq!(wait(&set), [LISTENER]);
        assert_eq!(wait(&set), [LISTENER], "told again until it was accepted");
        let stream = listener.try_accept().expect("it waits").into_stream();
        set.add(&stream, number as u64).expect("its own stream");
        assert_eq!(wait(&set), [number as u64]);
        assert_eq!(
            stream.try_recv_message().expect("open").as_deref(),
            Some(&[number as u8][..])
        );
        ours.push(stream);
    }
    assert!(is_quiet(&set));
    theirs[2].send_message("two").expect("room");
    assert_eq!(wait(&set), [2]);
    assert_eq!(wait(&set), [2], "told again until it was read");
    assert_eq!(
        ours[2].recv_message().expect("open").as_deref(),
        Some(&b"two"[..])
    );
    theirs[2].send_message("more").expect("room");
    assert_eq!(wait(&set), [2], "news after everything was read");
    set.remove(&ours[2]);
    assert!(is_quiet(&set));
    set.add(&ours[2], 7).expect("its own stream");
    assert_eq!(wait(&set), [7], "what had come before it was added counts");
    assert_eq!(
        ours[2].recv_message().expect("open").as_deref(),
        Some(&b"more"[..])
    );
    drop(ours.remove(0));
    assert!(is_quiet(&set), "what was dropped has left the set");
}

#[test]
fn an_end_is_told_until_the_stream_leaves() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    stream.send_message("last").expect("room");
    stream.shutdown_write().expect("open");
    let driver = client.spawn_driver().expect("a thread");
    let ours = listener.accept().expect("it comes").into_stream();
    let set = server.poll_set();
    set.add(&ours, 5).expect("its own stream");
    assert_eq!(wait(&set), [5]);
    assert!(ours.recv_message().expect("open").is_some());
    for _ in 0..2 {
        assert_eq!(wait(&set), [5]);
        assert_eq!(ours.try_recv_message().expect("a regular end"), None);
    }
    set.remove(&ours);
    assert!(is_quiet(&set));
    drop(driver);
}

#[test]
fn room_and_marks_are_told_once() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let driver = server.spawn_driver().expect("a thread");
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    stream.connect(Some(LONG)).expect("it answers");
    let set = client.poll_set();
    set.add(&stream, 1).expect("its own stream");
    let mark = stream.mark(Confirm::Received).expect("open");
    while !mark.is_reached().expect("open") {
        client.progress_timeout(LONG).expect("a socket");
    }
    assert_eq!(wait(&set), [1]);
    assert!(is_quiet(&set));
    let mut data = xtp::Bytes::from(pattern(64 << 20));
    while stream.try_send(&mut data).is_ok() {}
    assert!(!data.is_empty(), "more than finds room");
    let reader = listener.accept().expect("it waits").into_stream();
    let reading = std::thread::spawn(move || {
        let mut octets = 0;
        while let Some(xtp::Chunk::Data { bytes, .. }) = reader.recv_chunk().expect("open") {
            octets += bytes.len();
        }
        octets
    });
    while !data.is_empty() {
        assert_eq!(wait(&set), [1]);
        stream.try_send(&mut data).expect("room");
        // Room that comes and is filled before the next question is none when it is asked.
        while stream.try_send(&mut data).is_ok() && !data.is_empty() {}
    }
    stream.close().expect("confirmed");
    assert_eq!(reading.join().expect("no panic"), 64 << 20);
    drop(driver);
}

#[test]
fn room_for_what_was_written_without_waiting_is_told() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let driver = server.spawn_driver().expect("a thread");
    let mut options = paradigm::stream(PORT);
    options.tuning.send_capacity = 4_096;
    let stream = client.open(address, options).expect("options in range");
    stream.connect(Some(LONG)).expect("it answers");
    let set = client.poll_set();
    set.add(&stream, 1).expect("its own stream");
    let reader = listener.accept().expect("it waits").into_stream();
    let data = pattern(100_000);
    let mut written = 0;
    // What finds no room in part was refused, too.
    for piece in [3_000, 1_500, 4_096].into_iter().cycle() {
        let piece = piece.min(data.len() - written);
        match stream.try_write(&data[written..][..piece]) {
            Ok(taken) => {
                written += taken;
                if written == data.len() {
                    break;
                }
                if taken < piece {
                    assert_eq!(wait(&set), [1]);
                }
            }
            Err(Error::WouldBlock) => assert_eq!(wait(&set), [1]),
            Err(error) => panic!("{error}"),
        }
    }
    drop(driver);
    let closing = std::thread::spawn(move || stream.close().expect("confirmed"));
    let mut read = Vec::new();
    std::io::Read::read_to_end(&mut &reader, &mut read).expect("the end");
    assert!(read == data);
    drop(reader);
    closing.join().expect("no panic");
}

#[test]
fn one_thread_has_many_calls_under_way() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let serving = std::thread::spawn(move || {
        for _ in 0..64 {
            let (request, incoming) = listener.recv_message().expect("a request");
            incoming.respond(request).expect("open");
        }
        server.shutdown(LONG).expect("a socket")
    });
    let set = client.poll_set();
    let mut calls: Vec<Option<Stream>> = (0..64u64)
        .map(|number| {
            let request = number.to_be_bytes().to_vec();
            let call = client.start(address, paradigm::transaction(PORT), request);
            let call = call.expect("options in range");
            set.add(&call, number).expect("its own stream");
            Some(call)
        })
        .collect();
    let mut answers = 0;
    while answers < 64 {
        for key in wait(&set) {
            let Some(call) = &calls[key as usize] else {
                continue;
            };
            match call.try_recv_message() {
                Ok(answer) => {
                    assert_eq!(answer.as_deref(), Some(&key.to_be_bytes()[..]));
                    calls[key as usize] = None;
                    answers += 1;
                }
                Err(error) => assert!(error.is_would_block(), "{error}"),
            }
        }
    }
    drop(client);
    assert!(serving.join().expect("no panic").is_clean());
}

#[test]
fn a_set_has_what_its_endpoint_has() {
    let (one, address, other) = pair();
    let stream = other
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    assert!(matches!(one.poll_set().add(&stream, 0), Err(Error::Command(_))));
    let listener = endpoint().listen_streams(PORT).expect("a free number");
    assert!(matches!(
        one.poll_set().add_listener(&listener, 0),
        Err(Error::Command(_))
    ));
    let set = other.poll_set();
    set.add(&stream, 3).expect("its own stream");
    let mut ready = Vec::new();
    assert!(
        set.try_wait(&mut ready)
            .is_err_and(|error| error.is_would_block())
    );
    other.interrupt();
    assert!(
        set.wait(&mut ready, None)
            .is_err_and(|error| error.is_interrupted())
    );
}

#[test]
fn what_moves_to_another_set_is_told_there_and_what_returns_is_told_once() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let near = client.open(address, paradigm::stream(PORT)).expect("in range");
    near.send_message("one").expect("room");
    let far = listener.accept().expect("it waits").into_stream();
    let (before, after) = (server.poll_set(), server.poll_set());
    before.add(&far, 1).expect("its own stream");
    assert_eq!(wait(&before), [1]);
    // On the list of the one set, and watched by the other.
    after.add(&far, 2).expect("its own stream");
    assert!(is_quiet(&before));
    assert_eq!(wait(&after), [2]);
    after.remove(&far);
    after.add(&far, 3).expect("its own stream");
    assert_eq!(wait(&after), [3]);
}

#[test]
fn another_threads_addition_ends_a_wait() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    stream.send_message("here").expect("room");
    let ours = listener.accept().expect("it comes").into_stream();
    ours.stats().expect("open");
    let set = server.poll_set();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait(&set));
        set.add(&ours, 9).expect("its own stream");
        assert_eq!(waiting.join().expect("no panic"), [9]);
    });
}
