//! 10 000 associations open at once on one socket, each exchanging a message a second for ten seconds.
//!
//! The clock only paces the rounds; what is asserted is that every message is answered, every association still
//! there, and that those at rest take little memory. The example `scale` measures 100 000 between two processes.

mod common;

use std::fs;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use common::LONG;
use xtp::{Bytes, Config, Endpoint, Stream, Wait, paradigm, service_numbers};

const ASSOCIATIONS: usize = 10_000;
const ROUNDS: usize = 10;
const ROUND: Duration = Duration::from_secs(1);
/// Octets of resident memory both ends of an association at rest may take together, with room for those that were
/// whole at once on a busy machine: a ceiling that only goes down.
const CEILING: usize = 4_096;
/// Contexts either end keeps whole, few enough not to blur the figure.
const WHOLE: usize = 128;
/// Messages on their way at once: less than a socket's buffer holds.
const GROUP: usize = 200;

/// Resident memory of this process in octets, where the system tells.
fn resident() -> usize {
    const PAGE: usize = 4_096;
    let pages = fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|line| line.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * PAGE
}

fn endpoint() -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.wait = Wait::Block;
    config.engine.overrides.max_whole = WHOLE;
    Endpoint::bind(config).expect("loopback")
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

/// Opens associations, a group at a time, and exchanges the first message on each: what is not used yet is not at
/// rest. The next group waits until this one rests, for memory that was needed once is not given back.
fn open_until(streams: &mut Vec<Stream>, number: usize, client: &Endpoint, server: &Endpoint) {
    let address = server.local_addr();
    while streams.len() < number {
        let from = streams.len();
        for at in from..from + GROUP {
            let stream = client.open(address, paradigm::stream(service_numbers::ECHO));
            let stream = stream.expect("room for it");
            stream.set_read_timeout(Some(LONG));
            stream
                .send_message(message(at, 0))
                .expect("the association is open");
            streams.push(stream);
        }
        for (at, stream) in streams.iter().enumerate().skip(from) {
            let answer = stream.recv_message().expect("the association is open");
            assert_eq!(answer, Some(message(at, 0)));
        }
        settle(client, server, streams.len());
    }
}

/// Waits until both ends have parked what they do not keep whole.
fn settle(client: &Endpoint, server: &Endpoint, associations: usize) {
    let at_rest = associations - WHOLE;
    let parked = |endpoint: &Endpoint| endpoint.stats().engine.parked;
    let until = Instant::now() + LONG;
    while parked(client) < at_rest || parked(server) < at_rest {
        assert!(
            Instant::now() < until,
            "{} and {} are parked",
            parked(client),
            parked(server)
        );
        let _ = client.progress_timeout(Duration::from_millis(10));
    }
}

#[test]
fn ten_thousand_associations_exchange_a_message_a_second() {
    let (server, client) = (endpoint(), endpoint());
    server.enable_echo().expect("nobody has the number");
    let serving = server.clone();
    let driver = thread::spawn(move || while serving.progress_timeout(LONG).is_ok() {});

    let mut streams = Vec::with_capacity(ASSOCIATIONS);
    // What every endpoint needs once is no matter of associations.
    open_until(&mut streams, GROUP, &client, &server);
    let before = resident();
    open_until(&mut streams, ASSOCIATIONS, &client, &server);
    let octets = resident().saturating_sub(before) / ASSOCIATIONS;
    assert!(
        octets <= CEILING,
        "both ends of an association take {octets} octets"
    );
    let mut slowest = Duration::ZERO;
    for round in 1..ROUNDS {
        let start = Instant::now();
        exchange(&streams, round);
        slowest = slowest.max(start.elapsed());
        thread::sleep(ROUND.saturating_sub(start.elapsed()));
    }
    assert_eq!(client.stats().engine.contexts, ASSOCIATIONS);
    assert_eq!(server.stats().engine.contexts, ASSOCIATIONS);
    say(&format!(
        "{ASSOCIATIONS} associations, {ROUNDS} messages each answered; both ends of one take {octets} octets at rest; \
         the slowest round took {} ms",
        slowest.as_millis()
    ));

    drop(streams);
    let report = client.shutdown(LONG).expect("the socket works");
    assert!(report.is_clean(), "{} unconfirmed", report.unconfirmed.len());
    server.interrupt();
    driver.join().expect("no panic");
}
