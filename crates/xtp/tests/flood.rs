//! Floods from addresses nobody proved: what is kept and answered meanwhile, and what is left of them afterwards.

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use common::{LONG, PORT, endpoint};
use xtp::{CallOptions, ListenOptions, OpenOptions, paradigm};
use xtp_engine::{Datagram, Ecn, Engine, EngineConfig, Event, Read, Time, TransmitBatch};
use xtp_wire::{Body, Packet, Tlv, Traffic, seal};

const FLOOD: u32 = 60_000;

fn at(micros: u64) -> Time {
    Time::from_nanos(1_000_000_000 + micros * 1_000)
}

fn engine(number: u8) -> Engine {
    Engine::new(EngineConfig::new([number; 32])).expect("valid limits")
}

/// What an association begins with, and where the number of its client lies.
fn first(options: OpenOptions, whole: bool) -> (Vec<u8>, Option<usize>) {
    let (mut client, peer) = (engine(2), SocketAddr::from(([10, 0, 0, 1], 1)));
    let id = client.open(at(0), peer, options).expect("room");
    client.send(at(0), id, vec![1; 100].into(), whole).expect("room");
    if whole {
        client.close_writer(at(0), id).expect("open");
    }
    let (mut out, mut packet) = (TransmitBatch::new(), Vec::new());
    client.flush(at(0), &mut out);
    out.for_each_datagram(|_, octets| packet = octets.to_vec());
    let parsed = Packet::parse(&packet).expect("a packet");
    let number = match &parsed.body {
        Body::First(first) => match &first.traffic {
            Traffic::Extended(terms) => terms.tlvs.iter().find_map(|tlv| match tlv {
                Tlv::Client(client) => Some(client.client.to_be_bytes()),
                _ => None,
            }),
            _ => None,
        },
        _ => None,
    };
    let place = number.and_then(|number| packet.windows(8).position(|octets| octets == number));
    (packet, place)
}

/// The server's user takes what there is, and lets go.
fn serve(server: &mut Engine, now: Time) {
    server.flush(now, &mut TransmitBatch::new());
    while let Some((id, event)) = server.poll_event() {
        match event {
            Event::Readable if server.context(id).is_ok_and(|context| context.holds_message()) => {
                while let Ok(Read::Data { .. }) = server.read(now, id, 1_000) {}
                server.release(now, id).expect("there");
            }
            Event::Closed(_) => drop(server.release(now, id)),
            _ => {}
        }
    }
}

/// Octets held at most, and after all is over, by a server that was flooded.
fn flooded(options: &OpenOptions, whole: bool) -> (u64, i64) {
    let mut server = engine(1);
    server.listen(ListenOptions::new(PORT)).expect("free");
    let (mut packet, client) = first(options.clone(), whole);
    serve(&mut server, at(0));
    let used = allocation_counter::measure(|| {
        for number in 0..FLOOD {
            packet[..8].copy_from_slice(&u64::from(number + 1).to_be_bytes());
            if let Some(place) = client {
                packet[place..place + 8].copy_from_slice(&u64::from(number + 1).to_be_bytes());
            }
            seal(&mut packet, []);
            let [_, b, c, d] = number.to_be_bytes();
            let now = at(u64::from(number) * 10);
            let datagram = Datagram {
                src: SocketAddr::from(([10, b, c, d], 7)),
                dst: None,
                ecn: Ecn::NotEct,
                data: &packet,
                backing: None,
            };
            server.receive(now, datagram);
            if number % 64 == 0 {
                serve(&mut server, now);
            }
        }
        let end = at(u64::from(FLOOD) * 10) + Duration::from_secs(700);
        while let Some(next) = server.deadline().filter(|next| *next < end) {
            serve(&mut server, next);
        }
        serve(&mut server, end);
    });
    let stats = server.stats();
    assert_eq!((stats.contexts, stats.tombstones), (0, 0), "{stats:?}");
    (used.bytes_max, used.bytes_current)
}

#[test]
fn memory_comes_back_after_a_flood() {
    for (options, whole, least) in [
        (paradigm::datagram(PORT), true, 4 << 20),
        (paradigm::acknowledged_datagram(PORT), true, 4 << 20),
        (paradigm::transaction(PORT), false, 1 << 20),
    ] {
        let (most, after) = flooded(&options, whole);
        assert!(
            most > least,
            "nothing was held: {most} of service {}",
            options.service
        );
        assert!(
            after < 2 << 20,
            "{after} octets of {most}, service {}",
            options.service
        );
    }
}

#[test]
fn whoever_floods_is_asked_who_it_is_so_often_and_then_ignored() {
    let mut server = engine(1);
    server.listen(ListenOptions::new(PORT)).expect("free");
    let (mut packet, client) = first(paradigm::transaction(PORT), false);
    let place = client.expect("a client");
    let mut out = TransmitBatch::new();
    for number in 0..FLOOD {
        packet[..8].copy_from_slice(&u64::from(number + 1).to_be_bytes());
        packet[place..place + 8].copy_from_slice(&u64::from(number + 1).to_be_bytes());
        seal(&mut packet, []);
        let datagram = Datagram {
            src: SocketAddr::from(([10, 0, 0, 9], 7)),
            dst: None,
            ecn: Ecn::NotEct,
            data: &packet,
            backing: None,
        };
        server.receive(at(0), datagram);
        if number % 64 == 0 {
            server.flush(at(0), &mut out);
            out.clear();
        }
    }
    let stats = server.stats();
    assert!(stats.cookies_sent <= 8_192 + 32, "{stats:?}");
    assert_eq!(
        stats.ignored + stats.cookies_sent + stats.half_open as u64,
        u64::from(FLOOD)
    );
}

/// Whole datagrams to `server`, so many from each of the addresses, which nobody proved.
fn send_datagrams(server: SocketAddr, addresses: std::ops::Range<u8>, each: u64) {
    let (mut packet, _) = first(paradigm::datagram(PORT), true);
    for address in addresses {
        let socket = UdpSocket::bind((std::net::Ipv4Addr::new(127, 3, 0, address), 0)).expect("loopback");
        for number in 0..each {
            packet[..8].copy_from_slice(&(number + 1).to_be_bytes());
            seal(&mut packet, []);
            socket.send_to(&packet, server).expect("loopback");
        }
    }
}

#[test]
fn whoever_is_busy_with_one_takes_all_that_came_meanwhile() {
    const WAITING: u64 = 200;
    let server = endpoint();
    let listener = server.listen(PORT).expect("free");
    send_datagrams(server.local_addr(), 1..3, WAITING / 2);
    // So long that the next call looks at the socket although it need not wait.
    thread::sleep(Duration::from_millis(5));
    listener.recv_message().expect("one of them");
    // What stays in the socket leaves no room there for what others send.
    assert_eq!(server.stats().engine.received, WAITING);
}

#[test]
fn whoever_proved_its_address_waits_for_no_number_of_strangers() {
    const BACKLOG: usize = 32;
    let (server, client) = (endpoint(), endpoint());
    let mut options = ListenOptions::new(PORT);
    options.backlog = BACKLOG;
    let listener = server.listen_with(options).expect("free");
    let address = server.local_addr();
    send_datagrams(address, 1..9, BACKLOG as u64 / 4);
    let honest = thread::spawn(move || {
        let mut options = CallOptions::default();
        options.timeout = Some(LONG);
        client.call(address, PORT, "honest", &options)
    });
    // The places of strangers are full, so it is asked who it is, and comes back.
    while server.stats().engine.contexts <= BACKLOG {
        server.progress_timeout(LONG).expect("loopback");
    }
    for _ in 0..2 {
        let (message, incoming) = listener.recv_message().expect("a message");
        if message == "honest" {
            incoming.respond("answered").expect("open");
            assert_eq!(honest.join().expect("no panic").expect("an answer"), "answered");
            return;
        }
    }
    panic!("others were served first");
}
