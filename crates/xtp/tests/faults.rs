//! Every error of the socket, put into the calls of a client that sends to a server on loopback: what is repaired, what is told,
//! and what ends the endpoint.

#![cfg(unix)]

mod common;

use std::net::SocketAddr;
use std::thread;

use common::{PORT, endpoint};
use xtp::{CallOptions, Config, Endpoint, Error, Listener, Wait, paradigm};
use xtp_io::verdict::{Call, ErrnoRow, ErrorVerdict, TABLE, UNKNOWN};
use xtp_io::{Backend, Faults};

/// No system call has this error.
const NO_SUCH: i32 = 4_000;

/// A client whose calls fail when it is said so.
fn failing() -> (Endpoint, &'static Faults) {
    let faults: &'static Faults = Box::leak(Box::default());
    let mut config = Config::server(SocketAddr::from(([127, 0, 0, 1], 0)));
    config.wait = Wait::Block;
    config.socket.backend = Backend::Failing(faults);
    // What did not leave is not waited for.
    config.linger = std::time::Duration::ZERO;
    (Endpoint::bind(config).expect("loopback"), faults)
}

fn rows() -> impl Iterator<Item = ErrnoRow> {
    TABLE.iter().copied().chain([ErrnoRow {
        code: NO_SUCH,
        ..UNKNOWN
    }])
}

/// A server that answers each request with itself, and where it is.
fn answering() -> (thread::JoinHandle<()>, SocketAddr, Endpoint) {
    let server = endpoint();
    let address = server.local_addr();
    let listener: Listener = server.listen(PORT).expect("a free number");
    let serving = thread::spawn(move || {
        while let Ok(incoming) = listener.accept() {
            let _ = incoming.receive().and_then(|request| incoming.respond(request));
        }
    });
    (serving, address, server)
}

fn call(client: &Endpoint, server: SocketAddr) -> Result<(), Error> {
    let answer = client.call(server, PORT, "question", &CallOptions::default())?;
    assert_eq!(answer, "question");
    Ok(())
}

#[test]
fn an_error_of_one_call_that_sends_is_repaired_or_told() {
    let (serving, server, keep) = answering();
    for row in rows() {
        let (client, faults) = failing();
        faults.fail(Call::Send, row.code, 1);
        let outcome = call(&client, server);
        assert_eq!(faults.failed(Call::Send), 1, "{row:?}");
        match (row.send, outcome) {
            (ErrorVerdict::Broken, Err(Error::Carrier { doing: "sending", .. }))
            | (ErrorVerdict::Unreachable, Err(Error::NoRoute { .. }))
            // So short a datagram fits every path: the interface is told to carry less.
            | (ErrorVerdict::TooLong, Err(Error::Narrow { least: 548, .. }))
            | (ErrorVerdict::Again | ErrorVerdict::Full | ErrorVerdict::Loss | ErrorVerdict::Refused, Ok(())) => {}
            (_, outcome) => panic!("{row:?}: {outcome:?}"),
        }
        // An endpoint whose socket is no use is of none; any other goes on.
        assert_eq!(
            call(&client, server).is_err(),
            row.send == ErrorVerdict::Broken,
            "{row:?}"
        );
    }
    keep.interrupt();
    serving.join().expect("no panic");
}

#[test]
fn a_refusal_that_goes_on_is_named_instead_of_a_silent_peer() {
    let (serving, server, keep) = answering();
    for row in rows().filter(|row| row.send == ErrorVerdict::Refused) {
        let (client, faults) = failing();
        faults.fail(Call::Send, row.code, u64::MAX);
        match call(&client, server) {
            Err(error @ Error::NotPermitted { .. }) => {
                assert!(error.is_unreachable() && error.to_string().contains(&server.to_string()));
            }
            outcome => panic!("{row:?}: {outcome:?}"),
        }
        let outcome = client.deliver(server, paradigm::one_shot(PORT), vec![7; 100_000], None);
        assert!(matches!(outcome, Err(Error::NotPermitted { .. })), "{outcome:?}");
        // What is let through again arrives.
        faults.fail(Call::Send, row.code, 0);
        call(&client, server).expect("nothing refuses it");
    }
    keep.interrupt();
    serving.join().expect("no panic");
}

#[test]
fn what_nothing_repeats_is_told_where_it_did_not_leave() {
    let server = endpoint();
    for row in rows() {
        let (client, faults) = failing();
        for octets in [1, 20_000] {
            faults.fail(Call::Send, row.code, 1);
            let outcome = client.send_datagram(server.local_addr(), PORT, vec![7; octets]);
            match (row.send, outcome) {
                (ErrorVerdict::Unreachable, Err(Error::NoRoute { .. }))
                | (ErrorVerdict::Refused, Err(Error::NotPermitted { .. }))
                | (ErrorVerdict::Again | ErrorVerdict::Full | ErrorVerdict::Loss, Ok(())) => {}
                (ErrorVerdict::TooLong, outcome) => assert_eq!(outcome.is_err(), octets == 1),
                (ErrorVerdict::Broken, _) => break,
                (_, outcome) => panic!("{row:?}, {octets}: {outcome:?}"),
            }
        }
    }
}

#[test]
fn an_error_of_some_calls_that_receive_ends_nothing() {
    let (serving, server, keep) = answering();
    for row in rows() {
        let (client, faults) = failing();
        faults.fail(Call::Receive, row.code, 3);
        let outcome = call(&client, server);
        match (row.receive, outcome) {
            (ErrorVerdict::Broken, Err(Error::Carrier { .. })) => {}
            (ErrorVerdict::Again | ErrorVerdict::Full | ErrorVerdict::Pause, Ok(())) => {
                assert_eq!(faults.failed(Call::Receive), 3, "{row:?}");
                let counted = client.stats().receive_errors;
                assert_eq!(
                    counted,
                    if row.receive == ErrorVerdict::Pause { 3 } else { 0 },
                    "{row:?}"
                );
            }
            (_, outcome) => panic!("{row:?}: {outcome:?}"),
        }
    }
    keep.interrupt();
    serving.join().expect("no panic");
}

#[test]
fn receiving_that_fails_for_seconds_is_told() {
    let (client, faults) = failing();
    let listener = client.listen(PORT).expect("a free number");
    let eio = TABLE.iter().find(|row| row.name == "EIO").expect("in the table");
    faults.fail(Call::Receive, eio.code, u64::MAX);
    // It wakes the call, and stays in the socket.
    let sent = endpoint().send_datagram(client.local_addr(), PORT, "there is something");
    sent.expect("sent");
    match listener.accept() {
        Err(Error::Carrier { doing, source }) => {
            assert_eq!((doing, source.raw_os_error()), ("receiving", Some(eio.code)));
            assert!(faults.failed(Call::Receive) > 1, "one is not the end");
        }
        outcome => panic!("{:?}", outcome.map(drop)),
    }
}

#[test]
fn broadcast_needs_leave() {
    let any = SocketAddr::from(([255, 255, 255, 255], 9));
    let client = endpoint();
    match client.send_datagram(any, PORT, "everybody") {
        // A host without a route to everybody says that first.
        Err(Error::NotPermitted { .. } | Error::NoRoute { .. }) => {}
        outcome => panic!("{outcome:?}"),
    }
}
