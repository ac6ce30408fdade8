//! Peers by other forms of their address than the one their packets come from.

mod common;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::thread;

use common::{LONG, PORT, endpoint_at};
use xtp::{
    CallOptions, CastOptions, Config, Confirm, Endpoint, Error, JoinOptions, ListenOptions, paradigm, service,
};

/// Every form of a loopback address with this port that leads to a server on all addresses.
fn forms(port: u16) -> Vec<SocketAddr> {
    vec![
        (Ipv4Addr::LOCALHOST, port).into(),
        (Ipv4Addr::UNSPECIFIED, port).into(),
        (Ipv6Addr::LOCALHOST, port).into(),
        (Ipv6Addr::UNSPECIFIED, port).into(),
        (Ipv4Addr::LOCALHOST.to_ipv6_mapped(), port).into(),
        (Ipv4Addr::UNSPECIFIED.to_ipv6_mapped(), port).into(),
        SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, 7, 1).into(),
    ]
}

/// Answers requests and takes messages until `count` of them came.
fn serve(server: &Endpoint, count: usize) -> thread::JoinHandle<xtp::Result<()>> {
    let mut options = ListenOptions::new(PORT);
    options = options.serving(&[service::TRANSACTION, service::UNSPECIFIED, service::ACKNOWLEDGED]);
    let listener = server.listen_with(options).expect("free");
    thread::spawn(move || {
        for _ in 0..count {
            let (request, caller) = listener.recv_message()?;
            if request == "call" {
                caller.respond("answer")?;
            }
        }
        Ok(())
    })
}

#[test]
fn every_form_is_answered() {
    let server = endpoint_at("[::]:0");
    let forms = forms(server.local_addr().port());
    let serving = serve(&server, 4 * forms.len());
    let client = Endpoint::client().expect("a client");
    let options = CallOptions::within(LONG);
    for named in &forms {
        let answer = client.call_for_answer(*named, PORT, "call", &options);
        let answer = answer.unwrap_or_else(|error| panic!("{named}: {error}"));
        assert!(answer.peer.ip().is_loopback(), "{named}: {}", answer.peer);
        client.send_message(*named, PORT, "message").expect("taken");
        client
            .send_acknowledged(*named, PORT, "acknowledged", Confirm::Received)
            .expect("taken");
        let queue = client.completion_queue();
        queue
            .submit(*named, &paradigm::one_shot(PORT), "submitted", 1)
            .expect("room");
        let mut done = Vec::new();
        while done.is_empty() {
            queue.wait(&mut done, Some(LONG)).expect("an end");
        }
        let completion = done.remove(0);
        completion
            .result
            .unwrap_or_else(|error| panic!("{named}: {error}"));
        assert!(completion.peer.is_some_and(|peer| peer.ip().is_loopback()));
    }
    serving.join().expect("no panic").expect("all came");
}

#[test]
fn streams_know_the_peer_by_the_address_it_has() {
    let server = endpoint_at("[::]:0");
    let listener = server.listen_streams(PORT).expect("free");
    let _driver = server.spawn_driver().expect("a thread");
    let client = Endpoint::client().expect("a client");
    for named in forms(server.local_addr().port()) {
        let stream = client
            .connect(named, &paradigm::stream(PORT), Some(LONG))
            .unwrap_or_else(|error| panic!("{named}: {error}"));
        let peer = stream.peer_addr().expect("open");
        assert!(peer.ip().is_loopback() && peer.port() == named.port(), "{peer}");
        stream.abort();
        listener.accept().expect("it came");
    }
}

#[test]
fn lists_of_receivers_may_name_them_in_any_form() {
    let receiver = endpoint_at("[::]:0");
    let port = receiver.local_addr().port();
    let group = receiver.join(None, JoinOptions::new()).expect("a receiver");
    let receiving = thread::spawn(move || {
        let message = group.recv_message();
        group.close().and(message)
    });
    let transmitter = endpoint_at("127.0.0.1:0");
    let named: SocketAddr = (Ipv4Addr::UNSPECIFIED.to_ipv6_mapped(), port).into();
    let cast = transmitter
        .cast(vec![named], CastOptions::new().expect(1).wait(LONG))
        .expect("a transmitter");
    cast.send_message("to you").expect("room");
    let members = cast.finish().expect("it has it");
    assert_eq!(members.len(), 1);
    let message = receiving.join().expect("no panic").expect("received");
    assert_eq!(message.as_deref(), Some(&b"to you"[..]));
}

#[test]
fn what_no_answer_can_come_from_is_told_at_once() {
    let client = Endpoint::client().expect("a client");
    let queue = client.completion_queue();
    for named in ["127.0.0.1:0", "239.1.2.3:7", "[ff02::1%1]:7", "[fe80::1]:7"] {
        let named: SocketAddr = named.parse().expect(named);
        let options = paradigm::one_shot(PORT);
        let failures = [
            client.open(named, paradigm::stream(PORT)).err(),
            client.connect(named, &paradigm::stream(PORT), None).err(),
            client.start(named, options.clone(), "x").err(),
            client.send_datagram(named, PORT, "x").err(),
            client.send_message(named, PORT, "x").err(),
            client.call(named, PORT, "x", &CallOptions::default()).err(),
            queue.submit(named, &options, "x", 1).err(),
            client
                .cast(vec![named, "127.0.0.1:9".parse().unwrap()], CastOptions::new())
                .err(),
        ];
        for (which, failure) in failures.into_iter().enumerate() {
            assert!(
                matches!(failure, Some(Error::Address { .. })),
                "{named}, {which}: {failure:?}"
            );
        }
    }
    assert_eq!(client.stats().packets_sent(), 0);
    for bound in ["239.1.2.3:0", "[fe80::1]:0"] {
        let config = Config::server(bound.parse().expect(bound));
        assert!(
            matches!(Endpoint::bind(config), Err(Error::Address { .. })),
            "{bound}"
        );
    }
}
