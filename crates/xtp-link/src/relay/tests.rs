//! The relay through real sockets on the loopback interface.

use std::io;
use std::net::UdpSocket;
use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::config::Loss;

/// Longest wait for a packet that must come; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(20);

fn socket() -> UdpSocket {
    let socket = bind((Ipv4Addr::LOCALHOST, 0).into(), 4 << 20).expect("loopback");
    socket.set_nonblocking(false).expect("blocking");
    socket.set_read_timeout(Some(PATIENCE)).expect("timeout");
    socket
}

/// One packet. A signal to this process is no reason to fail.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
    loop {
        match socket.recv_from(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// A server that returns every packet with its first octet raised by one.
fn echo_server() -> SocketAddr {
    let socket = socket();
    let addr = socket.local_addr().expect("bound");
    thread::spawn(move || {
        let mut buffer = [0; 2_048];
        while let Ok((length, from)) = receive(&socket, &mut buffer) {
            buffer[0] = buffer[0].wrapping_add(1);
            let _ = socket.send_to(&buffer[..length], from);
        }
    });
    addr
}

fn exchange(client: &UdpSocket, to: SocketAddr, octets: &[u8]) -> Vec<u8> {
    client.send_to(octets, to).expect("send");
    let mut buffer = [0; 2_048];
    let (length, from) = receive(client, &mut buffer).expect("an answer");
    assert_eq!(from, to);
    buffer[..length].to_vec()
}

#[test]
fn clients_get_their_own_answers() {
    let relay = Relay::spawn(RelayConfig::new(echo_server())).expect("relay");
    let clients: Vec<UdpSocket> = (0..5).map(|_| socket()).collect();
    for round in 0..3 {
        for (number, client) in clients.iter().enumerate() {
            let sent = [round, number as u8, 7];
            assert_eq!(
                exchange(client, relay.addr(), &sent),
                [round + 1, number as u8, 7]
            );
        }
    }
    let stats = relay.stop();
    assert_eq!(
        (stats.clients, stats.evicted, stats.overflow, stats.send_errors),
        (5, 0, 0, 0)
    );
    for link in [stats.to_server, stats.to_client] {
        assert_eq!(
            (link.sent_packets, link.delivered_packets, link.delivered_octets),
            (15, 15, 45)
        );
    }
}

#[test]
fn loss_and_duplication_happen_as_counted() {
    let server = socket();
    let mut config = RelayConfig::new(server.local_addr().expect("bound"));
    config.to_server = LinkConfig {
        loss: Loss::Random(0.3),
        duplicate: 0.3,
        ..Default::default()
    };
    let relay = Relay::spawn(config).expect("relay");
    let client = socket();
    let mut buffer = [0; 64];
    let mut received = 0;
    // Small rounds, each awaited, so that no socket buffer overflows.
    for round in 1..=20 {
        for number in 0..50u8 {
            client.send_to(&[number], relay.addr()).expect("send");
        }
        while relay.stats().to_server.sent_packets < round * 50 {
            thread::yield_now();
        }
    }
    let stats = relay.stop().to_server;
    for _ in 0..stats.delivered_packets {
        receive(&server, &mut buffer).expect("a delivered packet");
        received += 1;
    }
    assert_eq!(stats.sent_packets, 1_000);
    assert_eq!(received, stats.delivered_packets);
    assert_eq!(
        1_000 + stats.duplicated - stats.dropped.loss,
        stats.delivered_packets
    );
    assert!((200..400).contains(&stats.dropped.loss), "{}", stats.dropped.loss);
}

#[test]
fn a_burst_of_packets_passes_whole() {
    let server = socket();
    let mut config = RelayConfig::new(server.local_addr().expect("bound"));
    config.to_server = LinkConfig {
        delay: Duration::from_millis(1),
        ..Default::default()
    };
    let relay = Relay::spawn(config).expect("relay");
    let (done, count) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 2_048];
        let received = (0..1_000)
            .take_while(|_| receive(&server, &mut buffer).is_ok())
            .count();
        let _ = done.send(received);
    });
    let client = socket();
    for _ in 0..1_000 {
        client.send_to(&[5; 1_000], relay.addr()).expect("send");
    }
    assert_eq!(count.recv_timeout(2 * PATIENCE), Ok(1_000));
    assert_eq!(relay.stop().to_server.delivered_packets, 1_000);
}

#[test]
fn a_partition_can_be_switched_and_links_changed_at_run_time() {
    let relay = Relay::spawn(RelayConfig::new(echo_server())).expect("relay");
    let client = socket();
    exchange(&client, relay.addr(), &[1]);
    relay.set_up(false);
    client.send_to(&[2], relay.addr()).expect("send");
    while relay.stats().to_server.dropped.down == 0 {
        thread::yield_now();
    }
    relay.set_up(true);
    assert_eq!(exchange(&client, relay.addr(), &[3]), [4]);
    let black_hole = LinkConfig {
        mtu: Some(10),
        ..Default::default()
    };
    relay.set_links(black_hole.clone(), black_hole).expect("valid");
    client.send_to(&[0; 11], relay.addr()).expect("send");
    assert_eq!(exchange(&client, relay.addr(), &[4; 10])[0], 5);
    assert_eq!(relay.stats().to_server.dropped.too_large, 1);
    assert!(
        relay
            .set_links(
                LinkConfig {
                    corrupt: 2.0,
                    ..Default::default()
                },
                LinkConfig::default()
            )
            .is_err()
    );
}

#[test]
fn a_client_too_many_takes_the_place_of_the_one_silent_longest() {
    let mut config = RelayConfig::new(echo_server());
    config.max_clients = 2;
    let relay = Relay::spawn(config).expect("relay");
    let clients: Vec<UdpSocket> = (0..3).map(|_| socket()).collect();
    for &index in &[0, 1, 0, 2, 0] {
        exchange(&clients[index], relay.addr(), &[index as u8]);
    }
    let stats = relay.stop();
    assert_eq!(
        (stats.clients, stats.evicted, stats.to_server.sent_packets),
        (3, 1, 5)
    );
}

#[test]
fn packets_beyond_the_limit_under_way_are_dropped_and_counted() {
    let mut config = RelayConfig::new(echo_server());
    config.max_in_flight = 3;
    config.to_server = LinkConfig {
        delay: Duration::from_secs(600),
        ..Default::default()
    };
    let relay = Relay::spawn(config).expect("relay");
    let client = socket();
    for _ in 0..8 {
        client.send_to(&[1], relay.addr()).expect("send");
    }
    while relay.stats().overflow < 5 {
        thread::yield_now();
    }
    assert_eq!(relay.stop().to_server.sent_packets, 3);
}

#[test]
fn what_cannot_start_says_why() {
    let to = (Ipv4Addr::LOCALHOST, 9).into();
    let bad = RelayConfig::new(to).with_links(LinkConfig {
        mtu: Some(0),
        ..Default::default()
    });
    assert!(matches!(
        Relay::spawn(bad),
        Err(RelayError::Config(ConfigError::Zero { name: "mtu" }))
    ));
    let none = RelayConfig {
        max_clients: 0,
        ..RelayConfig::new(to)
    };
    assert!(matches!(Relay::spawn(none), Err(RelayError::NoClients)));
    let taken = socket();
    let taken = RelayConfig {
        listen: taken.local_addr().expect("bound"),
        ..RelayConfig::new(to)
    };
    assert!(matches!(Relay::spawn(taken), Err(RelayError::Start { .. })));
}

#[test]
fn statistics_are_one_line_of_json() {
    let json = RelayStats::default().to_json();
    assert!(json.starts_with("{\"clients\":0,\"evicted\":0,"), "{json}");
    assert!(
        json.contains("\"to_server\":{\"sent_packets\":0,") && json.ends_with("}}"),
        "{json}"
    );
    assert!(!json.contains('\n'));
}
