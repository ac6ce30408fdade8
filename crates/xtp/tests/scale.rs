//! 10 000 associations open at once on one socket, each exchanging a message a second for ten seconds.
//!
//! The clock only paces the rounds; what is asserted is that every message is answered and every association
//! still there.

mod common;

use std::fs;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use common::{LONG, pair};
use xtp::{Bytes, Endpoint, Stream, paradigm, ports};

const ASSOCIATIONS: usize = 10_000;
const ROUNDS: usize = 10;
const ROUND: Duration = Duration::from_secs(1);
/// Messages on their way at once: less than a socket's buffer holds.
const GROUP: usize = 200;

/// Resident memory of this process in octets, where the system tells.
fn resident() -> usize {
    const PAGE: usize = 4_096;
    let pages = fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|line| line.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * PAGE
}

/// Past the test harness, which keeps what passing tests print.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "scale: {line}");
}

fn message(association: usize, round: usize) -> Bytes {
    format!("message {round} of association {association}").into()
}

/// Sends one message on each association and takes its answer.
fn exchange(streams: &[Stream], round: usize) {
    for (group, members) in streams.chunks(GROUP).enumerate() {
        for (at, stream) in members.iter().enumerate() {
            let message = message(group * GROUP + at, round);
            stream.send_message(message).expect("the association is open");
        }
        for (at, stream) in members.iter().enumerate() {
            let answer = stream.recv_message().expect("the association is open");
            assert_eq!(answer, Some(message(group * GROUP + at, round)));
        }
    }
}

fn open_all(client: &Endpoint, server: std::net::SocketAddr) -> Vec<Stream> {
    let open = |_| {
        let stream = client.open(server, paradigm::stream(ports::ECHO));
        let stream = stream.expect("room for it");
        stream.set_read_timeout(Some(LONG));
        stream
    };
    (0..ASSOCIATIONS).map(open).collect()
}

#[test]
fn ten_thousand_associations_exchange_a_message_a_second() {
    let (server, address, client) = pair();
    server.enable_echo().expect("nobody has the number");
    let serving = server.clone();
    let driver = thread::spawn(move || while serving.progress_for(LONG).is_ok() {});

    let before = resident();
    let streams = open_all(&client, address);
    let mut slowest = Duration::ZERO;
    for round in 0..ROUNDS {
        let start = Instant::now();
        exchange(&streams, round);
        slowest = slowest.max(start.elapsed());
        thread::sleep(ROUND.saturating_sub(start.elapsed()));
    }
    let octets = resident().saturating_sub(before);
    assert_eq!(client.stats().engine.contexts, ASSOCIATIONS);
    assert_eq!(server.stats().engine.contexts, ASSOCIATIONS);
    say(&format!(
        "{ASSOCIATIONS} associations, {ROUNDS} messages each answered; both ends of one take {} octets; \
         the slowest round took {} ms",
        octets / ASSOCIATIONS,
        slowest.as_millis()
    ));

    drop(streams);
    let report = client.shutdown(LONG).expect("the socket works");
    assert!(report.is_clean(), "{} unconfirmed", report.unconfirmed.len());
    server.interrupt();
    driver.join().expect("no panic");
}
