//! Peers with several addresses, some of which answer nothing, asynchronously.

mod common;
#[path = "common/several.rs"]
mod several;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use common::{LONG, PORT, nobody};
use several::{Liar, REQUEST, Server, Silent, impatient};
use xtp::tokio::Endpoint;
use xtp::{CallOptions, CloseReason, Confirm, Error, paradigm, service_numbers};

fn client() -> Endpoint {
    Endpoint::client().expect("a client")
}

/// Runs a test on one thread; one that hangs fails.
fn run(test: impl Future<Output = ()>) {
    ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(async { ::tokio::time::timeout(LONG, test).await.expect("no hang") });
}

async fn call(client: &Endpoint, addresses: &[SocketAddr]) -> xtp::Result<SocketAddr> {
    let options = CallOptions::default();
    let answer = client.call_for_answer(addresses, PORT, REQUEST, &options).await?;
    assert_eq!(answer.response, "answer");
    Ok(answer.peer)
}

#[test]
fn the_second_address_gets_what_the_first_never_answered() {
    run(async {
        let (silent, server) = (Silent::new(), Server::new());
        let addresses = [silent.address(), server.address()];
        for which in 0..3 {
            let client = client();
            match which {
                0 => drop(call(&client, &addresses).await.expect("answered")),
                1 => client
                    .send_message(&addresses[..], PORT, REQUEST)
                    .await
                    .expect("taken"),
                _ => client
                    .send_acknowledged(&addresses[..], PORT, REQUEST, Confirm::Delivered)
                    .await
                    .expect("taken"),
            }
            let (came, request) = silent.took();
            assert!(came > 0 && !request, "{came} packets, request {request}");
            // The next one goes there at once.
            let peer = call(&client, &addresses).await.expect("answered");
            assert_eq!(peer, server.address());
        }
        assert_eq!(server.ran(), 6);
        assert!(!silent.took().1);
    });
}

#[test]
fn associations_take_the_address_that_answers() {
    run(async {
        let (silent, server) = (Silent::new(), Server::new());
        server.endpoint.enable_echo().expect("free");
        let client = client();
        let addresses = [silent.address(), nobody(), server.address()];
        let stream = client
            .connect(&addresses[..], &paradigm::stream(service_numbers::ECHO), None)
            .await
            .expect("one answers");
        assert_eq!(stream.peer_addr().expect("open"), server.address());
        stream.send_message("hello").await.expect("room");
        let echo = stream.recv_message().await.expect("open");
        assert_eq!(echo.as_deref(), Some(&b"hello"[..]));
    });
}

#[test]
fn refusals_silence_and_lies_end_as_elsewhere() {
    run(async {
        let (silent, server, real) = (Silent::new(), Server::new(), Server::new());
        let client = client();
        let addresses = [nobody(), server.address()];
        let peer = call(&client, &addresses).await.expect("answered");
        assert_eq!(peer, server.address());
        let none = [silent.address(), nobody()];
        let limit = Duration::from_millis(300);
        let error = client
            .call(&none[..], PORT, REQUEST, &CallOptions::within(limit))
            .await
            .expect_err("no answer");
        assert!(
            matches!(error, Error::Timeout { after, .. } if after == limit),
            "{error}"
        );
        let error = client.call(&none[..], PORT, REQUEST, &impatient()).await;
        let error = error.expect_err("no answer");
        assert_eq!(error.close_reason(), Some(&CloseReason::Unreachable));
        let liar = Liar::before(real.address());
        let addresses = [liar.address, Server::address(&server)];
        let client = self::client();
        let error = client.call(&addresses[..], PORT, REQUEST, &impatient()).await;
        assert!(error.expect_err("swallowed").is_unreachable());
        assert_eq!(real.ran(), 0);
        let peer = call(&client, &addresses).await.expect("answered");
        assert_eq!(peer, server.address());
        assert_eq!(server.ran(), 2);
    });
}

#[test]
fn a_dropped_call_leaves_no_probe() {
    run(async {
        let silent = [Silent::new(), Silent::new()];
        let addresses = [silent[0].address(), silent[1].address()];
        let client = client();
        let options = CallOptions::default();
        let pending = client.call(&addresses[..], PORT, REQUEST, &options);
        let dropped = ::tokio::time::timeout(Duration::from_millis(400), pending).await;
        assert!(dropped.is_err());
        assert!(silent.iter().all(|one| one.took().0 > 0));
        assert_eq!(client.stats().engine.contexts, 0);
    });
}
