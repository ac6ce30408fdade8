//! How much the emulator carries, and how late it is: UDP packets in both directions at a given rate.
//!
//! ```text
//! cargo run --release -p xtp-linkem --example load -- 150000 200 5 10ms
//! ```
//!
//! Packets a second (both directions together), octets of payload, seconds, round trip time, and a rate of the link
//! if wanted. Prints how many packets arrived and the emulator's report as JSON. Needs root.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use xtp_linkem::units::{parse_duration, parse_rate};
use xtp_linkem::{Config, Emulator, Namespace};

const USAGE: &str = "load PACKETS_PER_SECOND OCTETS SECONDS RTT [RATE]";
const PORT: u16 = 7_007;
/// A sender sleeps between bursts of this length.
const TICK: Duration = Duration::from_micros(250);
/// A receiver that hears nothing for so long has heard everything.
const SILENCE: Duration = Duration::from_secs(1);

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["send", rate, octets, seconds] => send(rate, octets, seconds),
        ["receive"] => receive(),
        [rate, octets, seconds, rtt] => load(rate, octets, seconds, rtt, None),
        [rate, octets, seconds, rtt, limit] => load(rate, octets, seconds, rtt, Some(limit)),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs both ends in both namespaces.
fn load(rate: &str, octets: &str, seconds: &str, rtt: &str, limit: Option<&str>) -> Result<(), Failure> {
    let half = (rate.parse::<u64>()? / 2).to_string();
    let limit = limit.map(parse_rate).transpose()?;
    let emulator = Emulator::start(Config::symmetric(limit, parse_duration(rtt)?))?;
    let sides = [emulator.left(), emulator.right()];
    let mut receivers = Vec::new();
    for side in sides {
        let mut receiver = start(side, &["receive"])?;
        let mut lines = BufReader::new(receiver.stdout.take().ok_or("no output")?).lines();
        lines.next().ok_or("the receiver said nothing")??;
        receivers.push((receiver, lines));
    }
    emulator.reset_report()?;
    let mut senders = Vec::new();
    for side in sides {
        senders.push(start(side, &["send", &half, octets, seconds])?);
    }
    for mut sender in senders {
        sender.wait()?;
    }
    let report = emulator.report()?;
    for (mut receiver, mut lines) in receivers {
        let count = lines.next().ok_or("the receiver counted nothing")??;
        println!("arrived: {count}");
        receiver.wait()?;
    }
    emulator.stop()?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

fn start(side: &Namespace, words: &[&str]) -> Result<Child, Failure> {
    let this = std::env::current_exe()?;
    let mut command = side.command(&this.to_string_lossy());
    Ok(command.args(words).stdout(Stdio::piped()).spawn()?)
}

fn send(rate: &str, octets: &str, seconds: &str) -> Result<(), Failure> {
    let (rate, seconds): (f64, f64) = (rate.parse()?, seconds.parse()?);
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((std::env::var("XTP_LINKEM_PEER")?, PORT))?;
    let packet = vec![0; octets.parse()?];
    let begin = Instant::now();
    let mut sent = 0.0;
    loop {
        let now = begin.elapsed().as_secs_f64();
        if now > seconds {
            return Ok(());
        }
        if sent >= now * rate {
            thread::sleep(TICK);
            continue;
        }
        socket.send(&packet)?;
        sent += 1.0;
    }
}

fn receive() -> Result<(), Failure> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT))?;
    println!("ready");
    let mut buffer = [0; 65_536];
    let mut count = 0u64;
    socket.recv(&mut buffer)?;
    socket.set_read_timeout(Some(SILENCE))?;
    while socket.recv(&mut buffer).is_ok() {
        count += 1;
    }
    println!("{}", count + 1);
    Ok(())
}
