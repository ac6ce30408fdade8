//! The paradigms of one message, over loopback, with the packets they cost.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{LONG, PORT, costs, endpoint, endpoint_at, nobody, pair, pattern};
use xtp::{Bytes, CallOptions, CloseReason, Config, Confirm, Endpoint, Error, paradigm, service};

/// Packets an endpoint has sent and received.
fn packets(endpoint: &Endpoint) -> (u64, u64) {
    let stats = endpoint.stats();
    (stats.packets_sent(), stats.packets_received())
}

#[test]
fn a_datagram_costs_one_packet() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    client.send_datagram(address, PORT, "hello").expect("sent");
    let (message, incoming) = listener.recv_message().expect("a datagram");
    assert_eq!(message, "hello");
    assert_eq!(incoming.service(), service::DATAGRAM);
    assert_eq!(incoming.service_number(), PORT);
    assert_eq!(incoming.peer(), client.local_addr());
    drop(incoming);
    assert_eq!(packets(&client), (1, 0));
    assert_eq!(packets(&server), (0, 1));
}

#[test]
fn a_long_datagram_arrives_whole() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let data = pattern(100_000);
    client.send_datagram(address, PORT, data.clone()).expect("sent");
    let (message, _) = listener.recv_message().expect("a datagram");
    assert_eq!(message, data);
}

#[test]
fn a_datagram_has_a_greatest_length() {
    let (_server, address, client) = pair();
    let error = client
        .send_datagram(address, PORT, vec![0; (1 << 20) + 1])
        .expect_err("too long");
    assert!(matches!(error, Error::Command(_)), "{error}");
}

#[test]
fn an_acknowledged_datagram_costs_two_packets() {
    costs((1, 1), || {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        let receiver = thread::spawn(move || listener.recv_message().map(|(message, _)| message));
        client
            .send_acknowledged(address, PORT, "hello", Confirm::Received)
            .expect("confirmed");
        assert_eq!(receiver.join().expect("no panic").expect("a message"), "hello");
        drop(server);
        packets(&client)
    });
}

#[test]
fn confirmed_on_delivery_waits_for_the_reader() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let receiver = thread::spawn(move || {
        let incoming = listener.accept().expect("an association");
        let message = incoming.receive().expect("a message");
        (message, server)
    });
    client
        .send_acknowledged(address, PORT, "hello", Confirm::Delivered)
        .expect("confirmed");
    assert_eq!(receiver.join().expect("no panic").0, "hello");
}

#[test]
fn a_one_shot_message_costs_three_packets() {
    costs([(2, 1), (1, 2)], || {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        let receiver = thread::spawn(move || {
            let (message, incoming) = listener.recv_message().expect("a message");
            let stream = incoming.into_stream();
            // The receiver learns that the sender knows.
            stream.close_timeout(LONG).expect("confirmed");
            (message, server)
        });
        client.send_message(address, PORT, "hello").expect("confirmed");
        let (message, server) = receiver.join().expect("no panic");
        assert_eq!(message, "hello");
        [packets(&client), packets(&server)]
    });
}

#[test]
fn a_transaction_costs_three_packets() {
    costs([(2, 1), (1, 2)], || {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        let answering = thread::spawn(move || {
            let (request, incoming) = listener.recv_message().expect("a request");
            let response = [&request[..], b" world"].concat();
            incoming.respond_confirmed(response, LONG).expect("confirmed");
            server
        });
        let response = client
            .call(address, PORT, "hello", &CallOptions::default())
            .expect("an answer");
        assert_eq!(response, "hello world");
        let server = answering.join().expect("no panic");
        [packets(&client), packets(&server)]
    });
}

#[test]
fn an_unconfirmed_transaction_costs_two_packets() {
    costs((1, 1), || {
        let (server, address, client) = pair();
        let listener = server.listen(PORT).expect("a free number");
        let answering = thread::spawn(move || {
            let (request, incoming) = listener.recv_message().expect("a request");
            incoming.respond_unconfirmed(request).expect("sent");
            server
        });
        let response = client
            .call(address, PORT, "hello", &CallOptions::default())
            .expect("an answer");
        assert_eq!(response, "hello");
        drop(answering.join().expect("no panic"));
        packets(&client)
    });
}

#[test]
fn a_client_in_a_hurry_fetches_one_cookie_and_no_more() {
    const CALLS: u64 = 300;
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.engine.overrides.source_rate = 10;
    let server = Endpoint::bind(config).expect("loopback");
    let (address, client) = (server.local_addr(), Endpoint::client().expect("loopback"));
    let listener = server.listen(PORT).expect("a free number");
    let answering = thread::spawn(move || {
        for _ in 0..CALLS {
            let (request, incoming) = listener.recv_message().expect("a request");
            incoming.respond_unconfirmed(request).expect("sent");
        }
        server.stats()
    });
    for _ in 0..CALLS {
        let response = client.call(address, PORT, "hello", &CallOptions::within(LONG));
        assert_eq!(response.expect("an answer"), "hello");
    }
    // Answers that need no confirmation bring no source token: having come with a cookie once must be enough.
    let stats = answering.join().expect("no panic");
    assert!(stats.engine.cookies_sent <= 1, "{}", stats.engine.cookies_sent);
}

#[test]
fn long_requests_and_long_answers_arrive() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    // Longer than the writer's buffer, so that both ends have to wait for room.
    let request = pattern(6 << 20);
    let expected = request.clone();
    let answering = thread::spawn(move || {
        let (request, incoming) = listener.recv_message().expect("a request");
        assert!(request == expected, "the request is what was sent");
        incoming.respond_confirmed(request, LONG).expect("confirmed");
    });
    let answer = client
        .call_for_answer(address, PORT, request.clone(), &CallOptions::within(LONG))
        .expect("an answer");
    assert!(answer.response == request, "the answer is the request");
    assert_eq!(answer.peer, address);
    assert!(answer.stats.octets_acknowledged >= 6 << 20);
    answering.join().expect("no panic");
}

#[test]
fn many_calls_reuse_everything() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let answering = thread::spawn(move || {
        for _ in 0..200 {
            let (request, incoming) = listener.recv_message().expect("a request");
            incoming.respond(request).expect("sent");
        }
        server
    });
    for number in 0..200u32 {
        let request = Bytes::copy_from_slice(&number.to_be_bytes());
        let response = client
            .call(address, PORT, request.clone(), &CallOptions::default())
            .expect("an answer");
        assert_eq!(response, request);
    }
    drop(answering.join().expect("no panic"));
}

#[test]
fn among_quick_calls_one_may_be_slow_long_or_in_vain() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let given_up = Arc::new(AtomicBool::new(false));
    let too_late = Arc::clone(&given_up);
    let answering = thread::spawn(move || {
        loop {
            let (request, incoming) = listener.recv_message().expect("a request");
            match &request[..] {
                b"stop" => break incoming.respond(request).expect("sent"),
                // Whatever the clock says, the caller has gone before it is answered.
                b"late" => {
                    while !too_late.load(Ordering::Acquire) {
                        thread::sleep(std::time::Duration::from_millis(1));
                    }
                }
                b"slow" => thread::sleep(std::time::Duration::from_millis(30)),
                b"mute" | b"note" => {
                    drop(incoming);
                    continue;
                }
                _ => {}
            }
            let answer = match &request[..] {
                b"long" => vec![b'x'; 20_000].into(),
                _ => request.clone(),
            };
            // Nobody waits for the late one any more.
            let sent = incoming.respond(answer);
            assert!(sent.is_ok() || request == "late", "{sent:?}");
        }
        server
    });
    let call = |request: &'static str| {
        let options = CallOptions::within(std::time::Duration::from_millis(match request {
            "late" => 10,
            _ => 60_000,
        }));
        client.call(address, PORT, request, &options)
    };
    for _ in 0..3 {
        // The quick ones are of one kind, so that what they have in common is known.
        for _ in 0..20 {
            assert_eq!(call("fast").expect("an answer"), "fast");
        }
        assert_eq!(call("slow").expect("an answer"), "slow");
        assert_eq!(call("long").expect("an answer").len(), 20_000);
        assert_eq!(call("mute").expect("an end without an answer"), "");
        given_up.store(false, Ordering::Release);
        assert!(call("late").expect_err("too late").is_timeout());
        given_up.store(true, Ordering::Release);
        client.send_message(address, PORT, "note").expect("taken");
    }
    assert_eq!(call("stop").expect("an answer"), "stop");
    drop(answering.join().expect("no panic"));
}

#[test]
fn a_service_nobody_listens_to_refuses() {
    let (server, address, client) = pair();
    let driver = server.spawn_driver().expect("a thread");
    let error = client
        .call(address, PORT, "hello", &CallOptions::default())
        .expect_err("nobody listens");
    assert!(error.is_refused(), "{error}");
    drop(driver);
}

#[test]
fn a_udp_port_nobody_has_is_unreachable() {
    let client = endpoint();
    let unused = nobody();
    let error = client
        .send_message(unused, PORT, "hello")
        .expect_err("nobody there");
    assert!(error.is_unreachable(), "{error}");
}

#[test]
fn a_call_that_takes_too_long_ends() {
    let (server, address, client) = pair();
    let _listener = server.listen(PORT).expect("a free number");
    let options = CallOptions::within(std::time::Duration::from_millis(20));
    let error = client
        .call(address, PORT, "hello", &options)
        .expect_err("nobody answers");
    assert!(error.is_timeout(), "{error}");
}

#[test]
fn an_answer_beyond_the_limit_is_refused() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let answering = thread::spawn(move || {
        let (_, incoming) = listener.recv_message().expect("a request");
        incoming.respond(vec![1; 1_001]).expect("sent");
        // Somebody has to go on: the first flight to a stranger is limited.
        server.spawn_driver().map(|driver| (server, driver))
    });
    let mut options = CallOptions::default();
    options.limit = Some(1_000);
    let error = client
        .call(address, PORT, "hello", &options)
        .expect_err("too long");
    assert!(matches!(error, Error::MessageTooLong { limit: 1_000 }), "{error}");
    drop(answering.join().expect("no panic"));
}

#[test]
fn names_with_several_addresses_are_tried_in_turn() {
    let server = endpoint();
    let listener = server.listen(PORT).expect("a free number");
    let addresses = [nobody(), server.local_addr()];
    let receiver = thread::spawn(move || listener.recv_message().map(|(message, _)| (message, server)));
    endpoint()
        .deliver(&addresses[..], paradigm::one_shot(PORT), "hello", Some(LONG))
        .expect("the second address");
    assert_eq!(receiver.join().expect("no panic").expect("a message").0, "hello");
}

#[test]
fn ipv6_and_dual_stack_sockets_work() {
    let server = endpoint_at("[::]:0");
    let listener = server.listen(PORT).expect("a free number");
    let port = server.local_addr().port();
    for (bind, target) in [
        ("[::1]:0", "[::1]"),
        ("127.0.0.1:0", "127.0.0.1"),
        ("[::]:0", "127.0.0.1"),
    ] {
        let client = endpoint_at(bind);
        let target = format!("{target}:{port}");
        client.send_datagram(&target[..], PORT, "hello").expect("sent");
        let (message, incoming) = listener.recv_message().expect("a datagram");
        assert_eq!(message, "hello");
        assert_eq!(incoming.peer().port(), client.local_addr().port());
        assert_eq!(incoming.peer().is_ipv6(), target.starts_with('['));
    }
}

#[test]
fn empty_requests_and_answers_are_messages_too() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let answering = thread::spawn(move || {
        let (request, incoming) = listener.recv_message().expect("a request");
        assert_eq!(request, "");
        incoming.respond_confirmed("", LONG).expect("confirmed");
    });
    let response = client
        .call(address, PORT, "", &CallOptions::within(LONG))
        .expect("an answer");
    assert_eq!(response, "");
    answering.join().expect("no panic");
}

#[test]
fn a_rejected_call_fails_at_once() {
    let (server, address, client) = pair();
    let listener = server.listen(PORT).expect("a free number");
    let answering = thread::spawn(move || {
        let incoming = listener.accept().expect("an association");
        incoming.reject(4_711, "not on\nSundays");
        server
    });
    let error = client
        .call(address, PORT, "hello", &CallOptions::within(LONG))
        .expect_err("rejected");
    let expected = CloseReason::Rejected {
        code: 4_711,
        text: "not on\nSundays".into(),
    };
    assert_eq!(error.close_reason(), Some(&expected));
    assert!(error.is_refused());
    assert_eq!(
        error.to_string(),
        "rejected by the other side: not on\\nSundays (code 4711)"
    );
    drop(answering.join().expect("no panic"));
}

#[test]
fn a_peer_without_a_route_is_named() {
    // An IPv4 socket has no way to an IPv6 peer.
    let client = endpoint();
    let peer: std::net::SocketAddr = "[::1]:9".parse().expect("an address");
    let datagram = client.send_datagram(peer, PORT, "x").expect_err("no route");
    let call = client
        .call(peer, PORT, "x", &CallOptions::within(LONG))
        .expect_err("no route");
    for error in [datagram, call] {
        assert!(error.is_unreachable(), "{error}");
        assert!(error.to_string().contains("[::1]:9"), "{error}");
    }
}
