//! Peers with several addresses, some of which answer nothing.

mod common;
#[path = "common/several.rs"]
mod several;

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, costs, endpoint, endpoint_at, nobody};
use several::{Liar, REQUEST, Server, Silent, impatient};
use xtp::{CallOptions, CloseReason, Confirm, Endpoint, Error, paradigm};

fn call(client: &Endpoint, addresses: &[SocketAddr]) -> xtp::Result<SocketAddr> {
    let options = CallOptions::within(LONG);
    let answer = client.call_for_answer(addresses, PORT, REQUEST, &options)?;
    assert_eq!(answer.response, "answer");
    Ok(answer.peer)
}

fn packets(client: &Endpoint) -> (u64, u64) {
    let stats = client.stats();
    (stats.packets_sent(), stats.packets_received())
}

#[test]
fn the_second_address_gets_the_request_where_the_first_is_silent() {
    let (silent, server, client) = (Silent::new(), Server::new(), endpoint());
    let addresses = [silent.address(), server.address()];
    assert_eq!(call(&client, &addresses).expect("answered"), server.address());
    assert_eq!(server.ran(), 1);
    let (came, request) = silent.took();
    assert!(came > 0 && !request, "{came} packets, request {request}");
    // From now on it is known which one answers: a call has three packets.
    costs((2, 1), || {
        let before = packets(&client);
        assert_eq!(call(&client, &addresses).expect("answered"), server.address());
        client.shutdown(LONG).expect("confirmed");
        let after = packets(&client);
        (after.0 - before.0, after.1 - before.1)
    });
    let (_, request) = silent.took();
    assert!(!request);
}

#[test]
fn one_address_costs_three_packets_from_the_first_call_on() {
    costs((2, 1), || {
        let (server, client) = (Server::new(), endpoint());
        // The same address in two forms is one.
        let mapped = SocketAddr::new(
            std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(),
            server.address().port(),
        );
        call(&client, &[server.address(), mapped]).expect("answered");
        client.shutdown(LONG).expect("confirmed");
        packets(&client)
    });
}

#[test]
fn messages_and_datagrams_find_the_address_that_answers() {
    let (silent, server) = (Silent::new(), Server::new());
    let addresses = [silent.address(), server.address()];
    for which in 0..3 {
        let client = endpoint();
        match which {
            0 => client.send_message(&addresses[..], PORT, REQUEST).expect("taken"),
            1 => client
                .send_acknowledged(&addresses[..], PORT, REQUEST, Confirm::Delivered)
                .expect("taken"),
            _ => {
                let options = paradigm::one_shot(PORT);
                let stats = client.deliver(&addresses[..], options, REQUEST, Some(LONG));
                assert!(stats.expect("taken").packets_sent > 0);
            }
        }
        // What waits for no answer goes where an answer came from.
        let sent = packets(&client).0;
        client.send_datagram(&addresses[..], PORT, REQUEST).expect("sent");
        let datagram = paradigm::datagram(PORT);
        client
            .deliver(&addresses[..], datagram, REQUEST, Some(LONG))
            .expect("sent");
        assert_eq!(packets(&client).0, sent + 2);
        assert!(!silent.took().1);
    }
    let begin = std::time::Instant::now();
    while server.ran() < 9 && begin.elapsed() < LONG {
        thread::yield_now();
    }
    assert_eq!(server.ran(), 9);
}

#[test]
fn families_are_tried_in_turn() {
    let silent = Silent::at("[::1]:0".parse().expect("an address"));
    let server = Server::new();
    let client = endpoint_at("[::]:0");
    let addresses = [silent.address(), silent.address(), server.address()];
    assert_eq!(call(&client, &addresses).expect("answered"), server.address());
    let server = Server::of(endpoint_at("[::1]:0"));
    let silent = Silent::new();
    let addresses = [silent.address(), server.address()];
    assert_eq!(call(&client, &addresses).expect("answered"), server.address());
}

#[test]
fn a_refused_address_gives_way_at_once() {
    let (server, client) = (Server::new(), endpoint());
    let addresses = [nobody(), nobody(), server.address()];
    assert_eq!(call(&client, &addresses).expect("answered"), server.address());
    assert_eq!(server.ran(), 1);
    let none = [nobody(), nobody()];
    let error = call(&client, &none).expect_err("nobody listens");
    assert_eq!(error.close_reason(), Some(&CloseReason::NobodyListens));
}

#[test]
fn where_all_are_silent_the_call_ends_as_with_one() {
    let silent = [Silent::new(), Silent::new()];
    let addresses = [silent[0].address(), silent[1].address()];
    let client = endpoint();
    let error = client.call(&addresses[..], PORT, REQUEST, &impatient());
    let error = error.expect_err("no answer");
    assert_eq!(error.close_reason(), Some(&CloseReason::Unreachable));
    for one in &silent {
        let (came, request) = one.took();
        assert!(came > 0 && !request, "{came} packets, request {request}");
    }
    let limit = Duration::from_millis(300);
    let error = client.call(&addresses[..], PORT, REQUEST, &CallOptions::within(limit));
    let error = error.expect_err("no answer");
    assert!(
        matches!(error, Error::Timeout { after, .. } if after == limit),
        "{error}"
    );
    assert_eq!(client.stats().engine.contexts, 0);
}

#[test]
fn a_liar_gets_one_request_and_the_next_goes_elsewhere() {
    let (real, server) = (Server::new(), Server::new());
    let liar = Liar::before(real.address());
    let addresses = [liar.address, server.address()];
    let client = endpoint();
    let error = client.call(&addresses[..], PORT, REQUEST, &impatient());
    let error = error.expect_err("the request is swallowed");
    // It may have been executed: no other address gets it.
    assert_eq!(error.close_reason(), Some(&CloseReason::Unreachable));
    assert_eq!((real.ran(), server.ran()), (0, 0));
    assert_eq!(call(&client, &addresses).expect("answered"), server.address());
    assert_eq!((real.ran(), server.ran()), (0, 1));
}

#[test]
fn a_peer_that_died_is_found_out_and_another_one_remembered() {
    let (first, second, client) = (Server::new(), Server::new(), endpoint());
    let addresses = [first.address(), second.address()];
    assert_eq!(call(&client, &addresses).expect("answered"), addresses[0]);
    // Its host refuses: certainly not executed.
    drop(first);
    assert_eq!(call(&client, &addresses).expect("answered"), addresses[1]);
    // It says nothing any more: the request may have been executed.
    drop(second);
    let _silent = Silent::at(addresses[1]);
    let third = Server::of(endpoint_at(&addresses[0].to_string()));
    let error = client.call(&addresses[..], PORT, REQUEST, &impatient());
    assert!(error.expect_err("no answer").is_unreachable());
    assert_eq!(call(&client, &addresses).expect("answered"), third.address());
}

#[test]
fn a_name_may_lead_elsewhere() {
    let (silent, first, second, client) = (Silent::new(), Server::new(), Server::new(), endpoint());
    let before = [silent.address(), first.address()];
    assert_eq!(call(&client, &before).expect("answered"), first.address());
    let after = [silent.address(), second.address()];
    assert_eq!(call(&client, &after).expect("answered"), second.address());
    assert_eq!((first.ran(), second.ran()), (1, 1));
    assert!(!silent.took().1);
}

#[test]
fn no_more_than_eight_addresses_are_tried() {
    let silent: Vec<Silent> = (0..12).map(|_| Silent::new()).collect();
    let addresses: Vec<SocketAddr> = silent.iter().map(Silent::address).collect();
    let client = endpoint();
    let limit = Duration::from_secs(4);
    for which in 0..2 {
        let error = match which {
            0 => client
                .call(&addresses[..], PORT, REQUEST, &CallOptions::within(limit))
                .expect_err("silent"),
            _ => client
                .connect(&addresses[..], &paradigm::stream(PORT), Some(limit))
                .map(drop)
                .expect_err("silent"),
        };
        assert!(error.is_timeout(), "{error}");
        let asked = silent.iter().filter(|one| one.took().0 > 0).count();
        assert_eq!(asked, 8);
    }
}

#[test]
fn a_probe_leaves_nothing_behind() {
    for echo in [false, true] {
        let (server, client) = (Server::new(), endpoint());
        if echo {
            server.endpoint.enable_echo().expect("free");
        }
        let addresses = [server.address(), nobody()];
        call(&client, &addresses).expect("answered");
        assert_eq!(server.ran(), 1);
        let begin = std::time::Instant::now();
        let count = || server.endpoint.stats().engine.contexts + client.stats().engine.contexts;
        while count() > 0 && begin.elapsed() < LONG {
            client
                .progress_timeout(Duration::from_millis(1))
                .expect("progress");
        }
        assert_eq!(count(), 0, "echo: {echo}");
    }
}
