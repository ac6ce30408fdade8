//! Endpoints as a whole: threads, drivers, interruption, the end, echo.

mod common;

use std::io::{Read, Write};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint, pair, pattern};
use xtp::{
    CallOptions, Config, Confirm, Endpoint, Error, Incoming, Listener, Mark, Stream, Wait, paradigm,
    service_numbers,
};

#[test]
fn everything_is_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Endpoint>();
    check::<Stream>();
    check::<Listener>();
    check::<Incoming>();
    check::<Mark>();
    check::<Config>();
    check::<Error>();
}

#[test]
fn many_threads_share_one_endpoint() {
    for wait in [Wait::Block, Wait::Spin, Wait::Adaptive] {
        let server = endpoint();
        server.enable_echo().expect("a free number");
        let driver = server.spawn_driver().expect("a thread");
        let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
        config.wait = wait;
        let client = Endpoint::bind(config).expect("loopback");
        let address = server.local_addr();
        thread::scope(|scope| {
            for number in 0..6usize {
                let client = client.clone();
                scope.spawn(move || {
                    let stream = client
                        .open(address, paradigm::stream(service_numbers::ECHO))
                        .expect("options in range");
                    for round in 0..50 {
                        let message = pattern(1 + (number * 31 + round * 77) % 3_000);
                        stream.send_message(message.clone()).expect("room");
                        let back = stream.recv_message().expect("open").expect("a message");
                        assert!(back == message, "thread {number}, round {round}");
                    }
                    stream.close().expect("confirmed");
                });
            }
        });
        drop(driver);
    }
}

#[test]
fn client_and_server_of_one_endpoint_meet() {
    let both = endpoint();
    let listener = both.listen(PORT).expect("a free number");
    let address = both.local_addr();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                let (request, incoming) = listener.recv_message().expect("a request");
                incoming.respond(request).expect("sent");
            }
        });
        for _ in 0..20 {
            let answer = both.call(address, PORT, "self", &CallOptions::within(LONG));
            assert_eq!(answer.expect("an answer"), "self");
        }
    });
}

#[test]
fn a_thread_that_acts_wakes_one_that_sleeps() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    thread::scope(|scope| {
        let far = scope.spawn(|| {
            let stream = listener.accept().expect("an association").into_stream();
            stream.recv_message().expect("open").expect("a message")
        });
        // This reader sleeps without a timer; the writer's packets and timers are its business from then on.
        let reader = scope.spawn(|| stream.recv_message());
        thread::sleep(Duration::from_millis(20));
        stream.send_message("hello").expect("room");
        assert_eq!(far.join().expect("no panic"), "hello");
        assert_eq!(reader.join().expect("no panic").expect("a clean end"), None);
    });
}

#[test]
fn an_interrupt_ends_every_wait() {
    let quiet = endpoint();
    let listener = quiet.listen_streams(PORT).expect("a free number");
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                barrier.wait();
                let error = listener.accept().expect_err("nobody calls");
                assert!(error.is_interrupted(), "{error}");
            });
        }
        barrier.wait();
        thread::sleep(Duration::from_millis(20));
        quiet.interrupt();
    });
    assert!(listener.accept().expect_err("still interrupted").is_interrupted());
    quiet.resume();
    let error = listener
        .accept_timeout(Duration::from_millis(1))
        .expect_err("nobody calls");
    assert!(error.is_timeout(), "{error}");
    assert!(matches!(listener.try_accept(), Err(Error::WouldBlock)));
}

#[test]
fn dropping_everything_still_delivers() {
    let (server, address, client) = pair();
    let listener = server.listen_streams(PORT).expect("a free number");
    let data = pattern(3 << 20);
    let expected = data.clone();
    let far = thread::spawn(move || {
        let stream = listener.accept().expect("an association").into_stream();
        let mut received = Vec::new();
        (&stream).read_to_end(&mut received).expect("octets");
        drop(server);
        received == expected
    });
    let stream = client
        .open(address, paradigm::stream(PORT))
        .expect("options in range");
    (&stream).write_all(&data).expect("room");
    drop(stream);
    // The last handle waits for the confirmation.
    drop(client);
    assert!(
        far.join().expect("no panic"),
        "everything written before the drop arrived"
    );
}

#[test]
fn a_shutdown_reports_what_was_not_confirmed() {
    let client = endpoint();
    // A bound socket that nobody serves: packets vanish in it.
    let hole = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let peer = hole.local_addr().expect("bound");
    let stream = client
        .open(peer, paradigm::stream(PORT))
        .expect("options in range");
    stream.send("lost").expect("room");
    drop(stream);
    let report = client
        .shutdown(Duration::from_millis(30))
        .expect("a working socket");
    assert!(!report.is_clean());
    assert_eq!(report.unconfirmed.len(), 1);
    assert_eq!(
        (report.unconfirmed[0].peer, report.unconfirmed[0].octets),
        (peer, 4)
    );
    let again = client.shutdown(Duration::ZERO).expect("a working socket");
    assert!(again.is_clean(), "reported once");
}

#[test]
fn a_close_without_answer_says_how_much_is_unconfirmed() {
    let client = endpoint();
    let hole = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let peer = hole.local_addr().expect("bound");
    let stream = client
        .open(peer, paradigm::stream(PORT))
        .expect("options in range");
    stream.send("lost").expect("room");
    let error = stream
        .close_timeout(Duration::from_millis(30))
        .expect_err("nobody answers");
    assert_eq!(
        error.close_reason(),
        Some(&xtp::CloseReason::Unconfirmed { octets: 4 })
    );
}

#[test]
fn echo_answers_every_paradigm() {
    let (server, address, client) = pair();
    server.enable_echo().expect("a free number");
    server.enable_echo().expect("twice is once");
    let _driver = server.spawn_driver().expect("a thread");
    let request = pattern(40_000);
    let mut options = CallOptions::within(LONG);
    options.slow_server = true;
    for options in [CallOptions::within(LONG), options] {
        let answer = client.call(address, service_numbers::ECHO, request.clone(), &options);
        assert!(answer.expect("an echo") == request, "the echo is the request");
    }
    let refused = client.send_acknowledged(address, service_numbers::ECHO, "x", Confirm::Delivered);
    assert!(
        refused.is_err_and(|error| error.is_refused()),
        "nothing can come back"
    );
    let stream = client
        .open(address, paradigm::stream(service_numbers::ECHO))
        .expect("options in range");
    let long = pattern(6 << 20);
    let back = thread::scope(|scope| {
        scope.spawn(|| {
            (&stream).write_all(&long).expect("room");
            stream.shutdown_write().expect("open");
        });
        let mut back = Vec::new();
        (&stream).read_to_end(&mut back).expect("octets");
        back
    });
    assert!(back == long, "the echo is what was sent");
}

#[test]
fn the_plain_back_end_carries_the_same() {
    let config = || Config::server("127.0.0.1:0".parse().expect("an address")).plain();
    let server = Endpoint::bind(config()).expect("loopback");
    let listener = server.listen(PORT).expect("a free number");
    let address = server.local_addr();
    let far = thread::spawn(move || {
        let (request, incoming) = listener.recv_message().expect("a request");
        incoming.respond_confirmed(request, LONG).expect("confirmed");
    });
    let client = Endpoint::bind(config()).expect("loopback");
    let request = pattern(500_000);
    let answer = client.call(address, PORT, request.clone(), &CallOptions::within(LONG));
    assert!(answer.expect("an answer") == request, "the answer is the request");
    far.join().expect("no panic");
}

#[test]
fn a_taken_port_and_a_taken_number_are_errors() {
    let taken = endpoint();
    let error = Endpoint::bind(Config::server(taken.local_addr())).expect_err("taken");
    assert!(matches!(error, Error::Socket(_)), "{error}");
    let _listener = taken.listen(PORT).expect("a free number");
    assert!(matches!(taken.listen(PORT), Err(Error::Command(_))));
}

#[test]
fn a_number_is_free_again_when_its_listener_is_dropped() {
    let server = endpoint();
    drop(server.listen(PORT).expect("a free number"));
    drop(server.listen(PORT).expect("free again"));
}

#[test]
fn progress_alone_serves_a_peer() {
    let (server, address, client) = pair();
    server.enable_echo().expect("a free number");
    thread::scope(|scope| {
        let call = scope.spawn(|| {
            client.call(
                address,
                service_numbers::ECHO,
                "hello",
                &CallOptions::within(LONG),
            )
        });
        while !call.is_finished() {
            server
                .progress_timeout(Duration::from_millis(5))
                .expect("a working socket");
        }
        assert_eq!(call.join().expect("no panic").expect("an echo"), "hello");
    });
    assert!(server.stats().system_calls() > 0);
}
