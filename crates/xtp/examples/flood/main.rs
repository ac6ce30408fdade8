//! A flood, and what it leaves for others: five programs in one.
//!
//! * `flood report` does all that follows: it times sends and calls while nobody floods and beside each kind of flood, and
//!   says what of the flood arrived and what memory the server kept. It takes three minutes, wants a machine that
//!   does nothing else, and is run with `cargo run --release -p xtp-transport --example flood -- report`.
//! * `flood serve ADDR` answers requests, takes messages and says every second how much memory it has.
//! * `flood call ADDR COUNT` calls COUNT times, each time from an endpoint of its own, and says how long that took; `flood
//!   send ADDR COUNT` sends messages and waits for their confirmation.
//! * `flood plain ADDR` gives back what `flood echo ADDR COUNT` sends by bare UDP, and throws all else away: the floor.
//! * `flood KIND ADDR SOURCES SECONDS` floods from SOURCES addresses of 127.0.0.0/8, as fast as one core sends: `garbage`
//!   (octets that are no packet), `first` (requests that begin and do not end), `whole` (whole requests) or `datagram` (whole
//!   datagrams), each under a key and a client number of its own. Only loopback is flooded.

mod honest;
mod plain;
mod report;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use xtp::{CallOptions, Config, Endpoint, paradigm, service_numbers};
use xtp_wire::{Body, Packet, Tlv, Traffic, seal};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(600);

/// Packets between two looks at the clock.
const BURST: usize = 64;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["report"] => report::run(),
        ["serve", address] => serve(address.parse()?),
        ["plain", address] => plain::serve(address.parse()?),
        [what, address, count] => {
            let done = honest::repeat(honest::what(what)?, address.parse()?, count.parse()?, LONG)?;
            println!("{done}");
            Ok(())
        }
        [kind, address, sources, seconds] => {
            flood(kind, address.parse()?, sources.parse()?, seconds.parse()?)
        }
        _ => Err(
            "usage: flood report | serve|plain ADDR | call|send|echo ADDR COUNT | garbage|first|whole|datagram ADDR SOURCES SECONDS"
                .into(),
        ),
    }
}

fn serve(address: SocketAddr) -> Outcome {
    let mut config = Config::server(address);
    config.fresh_start = true;
    let endpoint = Endpoint::bind(config)?;
    let (calls, messages) = (
        endpoint.listen(service_numbers::CALL)?,
        endpoint.listen(service_numbers::MESSAGE)?,
    );
    println!("{}", endpoint.local_addr());
    std::thread::spawn(move || while messages.recv_message().is_ok() {});
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let stats = endpoint.stats();
            let engine = &stats.engine;
            println!(
                "{} kB, {} received, {} associations, {} half-open, {} tombstones",
                resident("self"),
                engine.received,
                engine.contexts,
                engine.half_open,
                engine.tombstones
            );
        }
    });
    loop {
        let (request, incoming) = calls.recv_message()?;
        // Whoever is gone by now needs no answer.
        let _ = incoming.respond(request);
    }
}

/// Kilobytes that a process has in memory.
fn resident(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

fn flood(kind: &str, server: SocketAddr, sources: u32, seconds: u64) -> Outcome {
    if !server.ip().is_loopback() {
        return Err("only loopback is flooded".into());
    }
    let sockets = sources_of(sources)?;
    let mut packet = match kind {
        "garbage" => vec![0x5a; 100],
        "first" => first_packet(false)?,
        "whole" => first_packet(true)?,
        "datagram" => datagram()?,
        _ => return Err("what kind?".into()),
    };
    let client = client_at(&packet);
    let mut random = ChaCha8Rng::seed_from_u64(std::process::id().into());
    let until = Instant::now() + Duration::from_secs(seconds);
    let (mut sent, mut number) = (0_u64, 0_usize);
    while Instant::now() < until {
        for _ in 0..BURST {
            if kind != "garbage" {
                random.fill_bytes(&mut packet[..8]);
                packet[0] &= 0x7f;
                if let Some(client) = client {
                    random.fill_bytes(&mut packet[client..client + 8]);
                }
                seal(&mut packet, []);
            }
            number = (number + 1) % sockets.len();
            sent += u64::from(sockets[number].send_to(&packet, server).is_ok());
        }
    }
    println!("{sent} packets of {} octets", packet.len());
    Ok(())
}

fn sources_of(count: u32) -> std::io::Result<Vec<UdpSocket>> {
    (0..count.max(1))
        .map(|number| UdpSocket::bind((Ipv4Addr::from(0x7f02_0001 + number), 0)))
        .collect()
}

/// What a request begins with.
fn first_packet(whole: bool) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let catcher = UdpSocket::bind("127.0.0.1:0")?;
    let peer = catcher.local_addr()?;
    let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    if whole {
        let mut options = CallOptions::default();
        options.timeout = Some(Duration::from_millis(1));
        // Nobody answers.
        let _ = endpoint.call(peer, service_numbers::CALL, vec![b's'; 100], &options);
    } else {
        let stream = endpoint.open(peer, paradigm::transaction(service_numbers::CALL))?;
        stream.send(vec![b's'; 100])?;
    }
    let mut packet = vec![0; 65_536];
    let (length, _) = catcher.recv_from(&mut packet)?;
    packet.truncate(length);
    Ok(packet)
}

fn datagram() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let catcher = UdpSocket::bind("127.0.0.1:0")?;
    let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    endpoint.send_datagram(catcher.local_addr()?, service_numbers::MESSAGE, vec![b's'; 100])?;
    let mut packet = vec![0; 65_536];
    let (length, _) = catcher.recv_from(&mut packet)?;
    packet.truncate(length);
    Ok(packet)
}

/// Where the client's number lies.
fn client_at(packet: &[u8]) -> Option<usize> {
    let parsed = Packet::parse(packet).ok()?;
    let Body::First(first) = &parsed.body else {
        return None;
    };
    let Traffic::Extended(terms) = &first.traffic else {
        return None;
    };
    let client = terms.tlvs.iter().find_map(|tlv| match tlv {
        Tlv::Client(client) => Some(client.client.to_be_bytes()),
        _ => None,
    })?;
    packet.windows(8).position(|octets| octets == client)
}
