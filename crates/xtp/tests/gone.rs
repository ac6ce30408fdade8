//! Requests of callers that gave up: who carries them out learns that nobody waits, or never hears of them.

mod common;

use std::thread;
use std::time::Duration;

use common::{PORT, pair};
use xtp::{Arrival, CallOptions, Confirm, Endpoint, Error, Listener, paradigm};

/// How long a caller waits for an answer that nobody gives.
const PATIENCE: Duration = Duration::from_millis(100);

#[test]
fn who_answers_a_caller_that_gave_up_is_told() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let patience = CallOptions::within(PATIENCE);
    let calling = thread::spawn(move || {
        let outcome = client.call(address, PORT, "question", &patience);
        (client, outcome)
    });
    let (request, incoming) = listener.recv_message().expect("a request");
    assert_eq!(request, "question");
    let (_client, outcome) = calling.join().expect("no panic");
    assert!(outcome.expect_err("nobody answered").is_timeout());
    let error = incoming.respond("too late").expect_err("nobody waits");
    assert!(error.is_caller_gone(), "{error:?}");
    let text = "the caller has gone before it was answered; it may ask again";
    assert_eq!(error.to_string(), text);
}

/// A call that is given up while nobody looks at the server: request and farewell wait in its socket.
fn given_up() -> (Endpoint, Listener, Endpoint) {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let outcome = client.call(address, PORT, "given up", &CallOptions::within(PATIENCE));
    assert!(outcome.expect_err("nobody answers").is_timeout());
    (server, listener, client)
}

#[test]
fn a_request_of_a_caller_that_gave_up_is_not_handed_out() {
    let (_server, listener, _client) = given_up();
    let error = listener.accept_timeout(PATIENCE).expect_err("nobody waits");
    assert!(error.is_timeout(), "{error}");
    let (_server, listener, _client) = given_up();
    let error = listener.recv_message_timeout(PATIENCE).expect_err("nobody waits");
    assert!(error.is_timeout(), "{error}");
    let (server, listener, _client) = given_up();
    // Without waiting it is known only once it was looked for.
    while server.progress().expect("loopback") > 0 {}
    let error = listener.try_accept().expect_err("nobody waits");
    assert!(error.is_would_block(), "{error}");
    let (_server, listener, _client) = given_up();
    let arrival = listener.arrival().expect("what became of it");
    assert!(
        matches!(arrival, Arrival::Failed(_, Error::CallerGone(_))),
        "{arrival:?}"
    );
}

/// A message is delivered, whatever its sender thinks of it meanwhile.
#[test]
fn a_message_whose_sender_gave_up_is_handed_out() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let mut options = paradigm::one_shot(PORT);
    options.confirm = Confirm::Delivered;
    let outcome = client.deliver(address, options, "message", Some(PATIENCE));
    assert!(outcome.expect_err("nobody took it").is_timeout());
    let (message, _incoming) = listener.recv_message().expect("a message");
    assert_eq!(message, "message");
}
