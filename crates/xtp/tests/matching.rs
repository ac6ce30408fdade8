//! Receives posted by tag, over sockets: whichever order messages come in, each goes to the receive that it fits.

mod common;

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pair, pattern};
use xtp::{Bytes, Endpoint, Error, ListenOptions, Listener, Stream, Tags, paradigm};

fn listen(server: &Endpoint) -> Listener {
    server
        .listen_matched(ListenOptions::streams(PORT))
        .expect("a free number")
}

/// Sends these with their tags from a thread of its own, and closes.
fn send(address: std::net::SocketAddr, messages: Vec<(u64, Bytes)>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let client = endpoint();
        let stream = client.open(address, paradigm::stream(PORT)).expect("opened");
        for (tag, data) in messages {
            stream.send_tagged(tag, data).expect("room");
        }
        stream.close().expect("received");
    })
}

fn accept(listener: &Listener) -> Stream {
    listener
        .accept_timeout(LONG)
        .expect("an association")
        .into_stream()
}

#[test]
fn messages_of_many_sizes_are_received_in_the_reverse_of_the_order_in_which_they_were_sent() {
    let server = endpoint();
    let listener = listen(&server);
    let sizes = [1, 64, 1_400, 9_000, 70_000, 200_000];
    let messages: Vec<(u64, Bytes)> = (0..60)
        .map(|tag| (tag, pattern(sizes[tag as usize % sizes.len()]).into()))
        .collect();
    let sending = send(server.local_addr(), messages.clone());
    let stream = accept(&listener);
    for (tag, data) in messages.iter().rev() {
        let received = stream
            .post_receive(Tags::exact(*tag), data.len())
            .expect("posted");
        let message = received
            .wait(Some(LONG))
            .expect("a message")
            .expect("the stream goes on");
        assert_eq!((message.tag, message.stream), (Some(*tag), stream.number()));
        let mut copy = vec![0; data.len()];
        assert_eq!(message.copy_to(&mut copy).expect("room"), data.len());
        assert_eq!((copy, message.into_bytes()), (data.to_vec(), data.clone()));
    }
    let over = stream.post_receive(Tags::Any, 1).expect("posted");
    assert!(over.wait(Some(LONG)).expect("a good end").is_none());
    assert!(matches!(over.try_take(), Err(Error::Command(_))), "it was taken");
    assert!(stream.peek(Tags::Any, Some(LONG)).expect("a good end").is_none());
    assert!(
        matches!(stream.recv_message(), Err(Error::Command(_))),
        "it is not read"
    );
    drop(stream);
    sending.join().expect("sent");
}

#[test]
fn a_receive_at_a_listener_has_what_comes_after_the_association_was_accepted() {
    let server = endpoint();
    let listener = listen(&server);
    let client = endpoint();
    let there = client
        .open(server.local_addr(), paradigm::stream(PORT))
        .expect("opened");
    there.send_tagged(1, "one").expect("room");
    let here = accept(&listener);
    for (tag, text) in [(1, "one"), (2, "two")] {
        let receive = listener.post_receive(Tags::exact(tag), 9).expect("posted");
        if tag == 2 {
            there.send_tagged(tag, text).expect("room");
        }
        let message = receive
            .wait(Some(LONG))
            .expect("a message")
            .expect("a listener goes on");
        assert_eq!(
            (message.stream, message.into_bytes()),
            (here.number(), text.into())
        );
    }
}

#[test]
fn thousands_of_receives_are_posted_before_anything_comes() {
    const COUNT: u64 = 5_000;
    let server = endpoint();
    let listener = listen(&server);
    let receives: Vec<_> = (0..COUNT)
        .map(|tag| server.post_receive(Tags::exact(tag), 8).expect("posted"))
        .collect();
    let numbered = |tag: u64| (tag, Bytes::copy_from_slice(&tag.to_be_bytes()));
    let halves: [Vec<(u64, Bytes)>; 2] =
        [0, 1].map(|odd| (0..COUNT).filter(|tag| tag % 2 == odd).map(numbered).collect());
    let sending = halves.map(|half| send(server.local_addr(), half));
    for (tag, received) in receives.iter().enumerate() {
        let message = received.wait(Some(LONG)).expect("a message").expect("one");
        assert_eq!(message.into_bytes(), numbered(tag as u64).1);
    }
    let streams = [accept(&listener), accept(&listener)];
    drop(streams);
    for half in sending {
        half.join().expect("sent");
    }
}

#[test]
fn a_receive_that_times_out_or_is_taken_back_loses_nothing() {
    let (server, address, client) = pair();
    let listener = listen(&server);
    let stream = client
        .open_matched(address, paradigm::stream(PORT))
        .expect("opened");
    stream.send_tagged(1, "hello").expect("room");
    let far = accept(&listener);
    let hello = far.post_receive(Tags::Any, 10).expect("posted");
    assert_eq!(
        hello
            .wait(Some(LONG))
            .expect("a message")
            .expect("one")
            .into_bytes(),
        "hello"
    );
    let patient = far.post_receive(Tags::exact(2), 10).expect("posted");
    let short = Some(Duration::from_millis(20));
    assert!(matches!(patient.wait(short), Err(Error::Timeout { .. })));
    assert!(matches!(patient.try_take(), Err(Error::WouldBlock)));
    let dropped = far.post_receive(Tags::exact(2), 10).expect("posted");
    let cancelled = far.post_receive(Tags::exact(2), 10).expect("posted");
    assert!(cancelled.cancel());
    assert!(!cancelled.cancel());
    drop(dropped);
    for text in ["one", "two"] {
        stream.send_tagged(2, text).expect("room");
    }
    assert_eq!(
        patient
            .wait(Some(LONG))
            .expect("a message")
            .expect("one")
            .into_bytes(),
        "one"
    );
    let envelope = far
        .peek(Tags::exact(2), Some(LONG))
        .expect("a message")
        .expect("one");
    assert_eq!(
        (envelope.octets, envelope.whole, envelope.tag),
        (3, true, Some(2))
    );
    assert!(matches!(far.try_peek(Tags::Without), Err(Error::WouldBlock)));
    assert!(matches!(listener.try_peek(Tags::Without), Err(Error::WouldBlock)));
    let last = far.post_receive(Tags::exact(2), 2).expect("posted");
    assert!(matches!(
        last.wait(Some(LONG)),
        Err(Error::MessageTooLong { limit: 2 })
    ));
    // The other way, too.
    far.send_tagged(9, "back").expect("room");
    let back = client.post_receive(Tags::exact(9), 10).expect("posted");
    assert_eq!(
        back.wait(Some(LONG))
            .expect("a message")
            .expect("one")
            .into_bytes(),
        "back"
    );
    let nothing = stream.post_receive(Tags::Any, 1).expect("posted");
    assert!(matches!(nothing.wait(short), Err(Error::Timeout { .. })));
    stream.abort();
    let aborted = far.post_receive(Tags::Any, 1).expect("posted");
    assert!(matches!(aborted.wait(Some(LONG)), Err(Error::Closed(_))));
}

#[test]
fn every_rank_sends_to_every_other_and_receives_from_any() {
    const RANKS: usize = 4;
    const ROUNDS: u64 = 50;
    let ranks: Vec<Endpoint> = (0..RANKS).map(|_| endpoint()).collect();
    let addresses: Vec<_> = ranks.iter().map(Endpoint::local_addr).collect();
    let all_have_closed = Arc::new(Barrier::new(RANKS));
    let listeners: Vec<Listener> = ranks.iter().map(listen).collect();
    let running: Vec<_> = ranks
        .into_iter()
        .zip(listeners)
        .enumerate()
        .map(|(me, (rank, listener))| {
            let (addresses, all_have_closed) = (addresses.clone(), Arc::clone(&all_have_closed));
            thread::spawn(move || {
                let _driver = rank.spawn_driver().expect("a thread");
                // What comes early, of ranks that are ahead, waits.
                let streams: Vec<Stream> = addresses
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != me)
                    .map(|(_, address)| {
                        rank.open_matched(*address, paradigm::stream(PORT))
                            .expect("opened")
                    })
                    .collect();
                for round in 0..ROUNDS {
                    let receives: Vec<_> = (1..RANKS)
                        .map(|_| rank.post_receive(Tags::exact(round), 100).expect("posted"))
                        .collect();
                    for stream in &streams {
                        stream
                            .send_tagged(round, format!("{me} in {round}"))
                            .expect("room");
                    }
                    let mut came: Vec<u8> = receives
                        .iter()
                        .map(|received| received.wait(Some(LONG)).expect("a message").expect("one"))
                        .map(|message| {
                            let text = String::from_utf8(message.into_bytes().to_vec()).expect("text");
                            assert!(text.ends_with(&format!(" in {round}")), "{text} in {round}");
                            text.as_bytes()[0] - b'0'
                        })
                        .collect();
                    came.sort_unstable();
                    let others: Vec<u8> = (0..RANKS as u8)
                        .filter(|other| usize::from(*other) != me)
                        .collect();
                    assert_eq!(came, others);
                }
                // Whoever came is held until all is said.
                let _far: Vec<Stream> = (1..RANKS).map(|_| accept(&listener)).collect();
                for stream in streams {
                    stream.close_shared().expect("received");
                }
                all_have_closed.wait();
            })
        })
        .collect();
    for rank in running {
        rank.join().expect("a rank");
    }
}

#[test]
fn an_association_whose_messages_are_matched_is_never_ready_to_be_read() {
    let (server, address, client) = pair();
    let listener = listen(&server);
    let stream = client.open(address, paradigm::stream(PORT)).expect("opened");
    stream.send_message("one").expect("room");
    let far = accept(&listener);
    let set = server.poll_set();
    set.add(&far, 1).expect("its own endpoint");
    let mut ready = Vec::new();
    let waited = set.wait(&mut ready, Some(Duration::from_millis(50)));
    assert!(matches!(waited, Err(Error::Timeout { .. })), "{ready:?}");
    assert_eq!(
        far.post_receive(Tags::Any, 10)
            .expect("posted")
            .wait(Some(LONG))
            .expect("it")
            .expect("one")
            .len(),
        3
    );
    stream.close_shared().expect("taken");
    set.wait(&mut ready, Some(LONG)).expect("its end");
    assert_eq!(ready, [1]);
}

#[test]
fn one_queue_tells_of_receives_and_submissions() {
    let server = endpoint();
    let listener = listen(&server);
    let sending = send(
        server.local_addr(),
        (0..20).map(|tag| (tag, pattern(3_000).into())).collect(),
    );
    let stream = accept(&listener);
    let queue = server.completion_queue();
    // Some have come by now, some have not; one is too short, and one more than there are messages.
    for tag in (0..20).rev() {
        let limit = if tag == 7 { 2_999 } else { 3_000 };
        let receive = stream.post_receive(Tags::exact(tag), limit).expect("posted");
        queue.add_receive(receive, 100 + tag).expect("of this endpoint");
    }
    let last = stream.post_receive(Tags::exact(20), 1).expect("posted");
    queue.add_receive(last, 120).expect("of this endpoint");
    assert!(queue.pending() <= 21);
    let mut done = Vec::new();
    while queue.pending() > 0 {
        queue.wait(&mut done, Some(LONG)).expect("something ends");
    }
    queue.poll(&mut done).expect("open");
    assert_eq!(done.len(), 21);
    done.sort_by_key(|completion| completion.token);
    for (completion, tag) in done.iter().zip(0..) {
        assert_eq!(completion.token, 100 + tag);
        match tag {
            7 => assert!(matches!(
                completion.result,
                Err(Error::MessageTooLong { limit: 2_999 })
            )),
            20 => assert!(matches!(
                completion.result,
                Err(Error::Closed(xtp::CloseReason::Normal))
            )),
            _ => {
                assert_eq!(completion.result.as_deref().expect("a message"), pattern(3_000));
                assert_eq!(
                    (completion.tag, completion.stream),
                    (Some(tag), Some(stream.number()))
                );
                assert_eq!(completion.peer, Some(stream.peer_addr().expect("it lives")));
            }
        }
    }
    sending.join().expect("no panic");
}

#[test]
fn a_queue_that_goes_takes_its_receives_back() {
    let server = endpoint();
    let listener = listen(&server);
    let other = endpoint();
    let queue = server.completion_queue();
    let receive = listener.post_receive(Tags::Any, 100).expect("posted");
    let foreign = other.completion_queue().add_receive(receive, 1);
    assert!(matches!(foreign, Err(Error::Command(_))), "{foreign:?}");
    let receive = listener.post_receive(Tags::exact(1), 100).expect("posted");
    queue.add_receive(receive, 1).expect("of this endpoint");
    assert_eq!(queue.pending(), 1);
    drop(queue);
    // Nobody takes the message from who receives now.
    let sending = send(server.local_addr(), vec![(1, Bytes::from_static(b"one"))]);
    let receive = listener.post_receive(Tags::Any, 100).expect("posted");
    let message = receive.wait(Some(LONG)).expect("a message").expect("one");
    assert_eq!(message.into_bytes(), "one");
    sending.join().expect("no panic");
}
