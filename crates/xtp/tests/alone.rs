//! A client that sleeps for the answers of one server alone, and what happens beside.

mod common;

use std::thread;
use std::time::Duration;

use common::PORT;
use xtp::{CallOptions, Config, Endpoint, Error, Listener, Wait};

/// Calls after which the client sleeps in a socket of its own, and some more.
const CALLS: usize = 600;
/// A request that is not answered.
const SILENCE: &[u8] = b"silence";
const LAST: &[u8] = b"last";

fn sleeper() -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.wait = Wait::Block;
    Endpoint::bind(config).expect("loopback")
}

/// Answers what comes until the last request; what is not to be answered is kept open until then.
fn serve(listener: &Listener) {
    let mut kept = Vec::new();
    loop {
        let (message, incoming) = listener.recv_message().expect("a request");
        if message == SILENCE {
            kept.push(incoming);
            continue;
        }
        let last = message == LAST;
        incoming.respond(message).expect("room");
        if last {
            return;
        }
    }
}

fn call(client: &Endpoint, server: &Endpoint, request: &[u8]) -> Result<(), Error> {
    let answer = client.call(
        server.local_addr(),
        PORT,
        request.to_vec(),
        &CallOptions::default(),
    )?;
    assert_eq!(answer, request);
    Ok(())
}

#[test]
fn others_are_heard_while_it_sleeps() {
    let (server, other, client) = (sleeper(), sleeper(), sleeper());
    let listeners = [&server, &other].map(|endpoint| endpoint.listen(PORT).expect("a free number"));
    thread::scope(|scope| {
        for listener in &listeners {
            scope.spawn(|| serve(listener));
        }
        for round in 0..CALLS {
            call(&client, &server, &round.to_be_bytes()).expect("an answer");
        }
        // One waits for what does not come, others have their answers all the same.
        let silent = scope.spawn(|| call(&client, &server, SILENCE));
        thread::sleep(Duration::from_millis(20));
        for round in 0..50_usize {
            call(&client, &other, &round.to_be_bytes()).expect("an answer");
            call(&client, &server, &round.to_be_bytes()).expect("an answer");
        }
        client.interrupt();
        assert!(silent.join().expect("no panic").is_err());
        client.resume();
        for endpoint in [&other, &server] {
            call(&client, endpoint, LAST).expect("an answer");
        }
    });
}

#[test]
fn an_interrupt_wakes_it() {
    let (server, client) = (sleeper(), sleeper());
    let listener = server.listen(PORT).expect("a free number");
    thread::scope(|scope| {
        scope.spawn(|| serve(&listener));
        for round in 0..CALLS {
            call(&client, &server, &round.to_be_bytes()).expect("an answer");
        }
        for _ in 0..3 {
            let silent = scope.spawn(|| call(&client, &server, SILENCE));
            thread::sleep(Duration::from_millis(3));
            client.interrupt();
            let error = silent.join().expect("no panic").expect_err("no answer");
            assert!(error.is_interrupted(), "{error}");
            client.resume();
            for round in 0..CALLS / 2 {
                call(&client, &server, &round.to_be_bytes()).expect("an answer");
            }
        }
        call(&client, &server, LAST).expect("an answer");
    });
}
