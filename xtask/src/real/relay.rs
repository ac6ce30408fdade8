//! Suite `relay`: `xtp-relay` between two hosts that cannot reach each other, as three network namespaces.
//!
//! A client pings an echo server through a relay that loses, delays and duplicates; every ping gets through
//! in the end, and the relay's counters show that packets were lost and what arrived was delayed.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

use super::host::Host;
use super::namespace::{Namespace, Process, join};

const SERVER: &str = "10.36.2.1";
const RELAY_TO_SERVER: &str = "10.36.2.2";
const RELAY: &str = "10.36.1.2";
const CLIENT: &str = "10.36.1.1";
const SERVER_PORT: &str = "7007";
const RELAY_PORT: &str = "7008";
const PINGS: u32 = 100;
/// Two milliseconds each way.
const ROUND_TRIP: Duration = Duration::from_millis(4);

pub(super) fn run(host: &Host) -> Result<String, String> {
    let program = host.program("xtp-link", "xtp-relay")?;
    let (server, middle, client) = (
        Namespace::new("server")?,
        Namespace::new("middle")?,
        Namespace::new("client")?,
    );
    join(
        &server,
        &middle,
        ["to-middle", "to-server"],
        [&format!("{SERVER}/24"), &format!("{RELAY_TO_SERVER}/24")],
    )?;
    join(
        &middle,
        &client,
        ["to-client", "to-middle"],
        [&format!("{RELAY}/24"), &format!("{CLIENT}/24")],
    )?;

    let mut echo = start_end(&server, &["echo", &format!("{SERVER}:{SERVER_PORT}")])?;
    first_line(echo.child().stdout.take(), "the echo server")?;
    let mut relay = start_relay(&middle, &program)?;
    first_line(relay.child().stderr.take(), "the relay")?;
    let mut ping = start_end(&client, &["ping", &format!("{RELAY}:{RELAY_PORT}")])?;
    let mut report = String::new();
    let output = ping.child().stdout.take().ok_or("the client has no output")?;
    BufReader::new(output)
        .read_to_string(&mut report)
        .map_err(|error| format!("the client: {error}"))?;
    if !ping.child().wait().is_ok_and(|status| status.success()) {
        return Err(format!("the client failed: {report}"));
    }

    drop(relay.child().stdin.take());
    let json = first_line(relay.child().stdout.take(), "the relay's counters")?;
    let lost = counter(&json, "lost")?;
    if lost == 0 || counter(&json, "duplicated")? == 0 {
        return Err(format!("a relay that loses and duplicates counted none: {json}"));
    }
    Ok(format!(
        "{PINGS} pings answered through three namespaces, {lost} packets lost on the way"
    ))
}

/// The client or the server, inside its namespace.
pub(super) fn run_end(words: &[&str]) -> Result<(), String> {
    let result = match words {
        ["echo", addr] => echo(addr).map_err(Into::into),
        ["ping", addr] => ping(addr),
        _ => return Err(format!("no such end: {}", words.join(" "))),
    };
    result.map_err(|error: Box<dyn std::error::Error>| error.to_string())
}

fn start_end(namespace: &Namespace, words: &[&str]) -> Result<Process, String> {
    let this = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let words = [&["real-end", "relay"], words].concat();
    Process::start(namespace.command(&this.to_string_lossy(), &words))
}

fn start_relay(namespace: &Namespace, program: &Path) -> Result<Process, String> {
    let (listen, to) = (format!("{RELAY}:{RELAY_PORT}"), format!("{SERVER}:{SERVER_PORT}"));
    let mut words = vec!["--listen", listen.as_str(), "--to", to.as_str()];
    words.extend([
        "--loss",
        "20%",
        "--duplicate",
        "10%",
        "--delay",
        "2ms",
        "--jitter",
        "1ms",
        "--seed",
        "3",
    ]);
    Process::start(namespace.command(&program.to_string_lossy(), &words))
}

fn first_line(stream: Option<impl Read>, whose: &str) -> Result<String, String> {
    let stream = stream.ok_or_else(|| format!("{whose}: no output"))?;
    let mut line = String::new();
    BufReader::new(stream)
        .read_line(&mut line)
        .map_err(|error| format!("{whose}: {error}"))?;
    if line.is_empty() {
        Err(format!("{whose}: ended without a word"))
    } else {
        Ok(line)
    }
}

/// The sum of a counter over both directions.
fn counter(json: &str, name: &str) -> Result<u64, String> {
    let key = format!("\"{name}\":");
    let numbers = json.split(&key).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end]
            .parse::<u64>()
            .map_err(|_| format!("no number for {name} in {json}"))
    });
    numbers.sum()
}

fn echo(addr: &str) -> std::io::Result<()> {
    let socket = UdpSocket::bind(addr)?;
    println!("ready");
    let mut buffer = [0; 64];
    loop {
        let (length, from) = socket.recv_from(&mut buffer)?;
        socket.send_to(&buffer[..length], from)?;
    }
}

/// Sends each number until it comes back.
fn ping(addr: &str) -> Result<(), Box<dyn std::error::Error>> {
    let socket = UdpSocket::bind((CLIENT, 0))?;
    socket.connect(addr)?;
    socket.set_read_timeout(Some(Duration::from_millis(50)))?;
    let mut buffer = [0; 64];
    for number in 0..PINGS {
        let mut tries = 0;
        let first_sent = Instant::now();
        loop {
            socket.send(&number.to_be_bytes())?;
            // Late copies of earlier answers may come first.
            let answers = std::iter::from_fn(|| socket.recv(&mut buffer).ok().map(|_| buffer));
            if answers
                .into_iter()
                .any(|answer| answer[..4] == number.to_be_bytes())
            {
                break;
            }
            tries += 1;
            if tries == 100 {
                return Err(format!("ping {number} was never answered").into());
            }
        }
        if first_sent.elapsed() < ROUND_TRIP {
            return Err(format!("ping {number} came back before the emulated round trip was over").into());
        }
    }
    println!("{PINGS} pings answered");
    Ok(())
}
