//! Submissions in number: each ends once, with the right answer or error, in few system calls.

mod common;

use std::collections::BTreeSet;
use std::thread;

use common::{LONG, PORT, pair};
use xtp::{CloseReason, Completion, CompletionQueue, Error, OpenOptions, paradigm};

const NUMBER: u64 = 2_000;
const IN_FLIGHT: usize = 64;

/// Submits `NUMBER` messages, `IN_FLIGHT` at a time, and returns what became of them.
fn run(queue: &CompletionQueue, server: std::net::SocketAddr, options: &OpenOptions) -> Vec<Completion> {
    let (mut submitted, mut done) = (0, Vec::new());
    while submitted < NUMBER || queue.pending() > 0 {
        while submitted < NUMBER && queue.pending() < IN_FLIGHT {
            let message = format!("message {submitted}");
            queue
                .submit(server, options, message, submitted)
                .expect("room for it");
            submitted += 1;
        }
        queue.wait(&mut done, Some(LONG)).expect("the server answers");
    }
    done
}

#[test]
fn every_message_arrives_once_and_every_end_is_told_once() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("the number is free");
    let receiving = thread::spawn(move || {
        let one = |_| listener.recv_message().expect("a message").0;
        (0..NUMBER).map(one).collect::<BTreeSet<_>>()
    });
    let driver = server.spawn_driver().expect("a thread");
    let queue = client.completion_queue();
    let done = run(&queue, address, &paradigm::one_shot(PORT));
    let tokens: BTreeSet<u64> = done.iter().map(|completion| completion.token).collect();
    assert_eq!((done.len() as u64, tokens.len() as u64), (NUMBER, NUMBER));
    for completion in done {
        assert_eq!(completion.peer, Some(address));
        assert_eq!(completion.result.expect("delivered"), "");
    }
    assert_eq!(receiving.join().expect("no panic").len() as u64, NUMBER);
    // Submitted together, sent together: far fewer calls than messages.
    let stats = client.stats();
    assert!(
        stats.socket.send_calls < NUMBER,
        "{} calls",
        stats.socket.send_calls
    );
    // Finished associations answer stragglers for a while, but not as contexts.
    assert_eq!(stats.engine.contexts, 0);
    assert_eq!(stats.engine.time_waits as u64, NUMBER);
    drop(driver);
}

#[test]
fn every_request_gets_its_own_answer() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("the number is free");
    thread::spawn(move || {
        while let Ok((request, incoming)) = listener.recv_message() {
            let answer = [b"answer to ", &request[..]].concat();
            incoming.respond(answer).expect("the client waits");
        }
    });
    let queue = client.completion_queue();
    let done = run(&queue, address, &paradigm::transaction(PORT));
    assert_eq!(done.len() as u64, NUMBER);
    for Completion { token, result, .. } in done {
        assert_eq!(result.expect("answered"), format!("answer to message {token}"));
    }
    server.interrupt();
}

#[test]
fn failures_are_told_and_a_dropped_queue_leaves_nothing_behind() {
    let (server, address, client) = pair();
    let driver = server.spawn_driver().expect("a thread");
    let queue = client.completion_queue();
    let mut done = Vec::new();
    assert_eq!(queue.wait(&mut done, None).expect("nothing is under way"), 0);
    let options = paradigm::one_shot(PORT);
    queue
        .submit(address, &options, "nobody listens on this number", 7)
        .expect("room for it");
    assert_eq!(queue.wait(&mut done, Some(LONG)).expect("a refusal"), 1);
    let refused = done.pop().expect("one");
    assert_eq!(refused.token, 7);
    assert!(matches!(
        refused.result,
        Err(Error::Closed(CloseReason::Refused(_)))
    ));
    let mut small = options.clone();
    small.tuning.send_capacity = 4;
    assert!(matches!(
        queue.submit(address, &small, "12345", 8),
        Err(Error::MessageTooLong { limit: 4 })
    ));
    queue
        .submit(address, &options, "still under way", 9)
        .expect("room for it");
    assert_eq!(queue.pending(), 1);
    drop(queue);
    let report = client.shutdown(LONG).expect("the socket works");
    assert_eq!(report.unconfirmed.len(), 1);
    drop(driver);
}
