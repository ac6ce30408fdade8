//! The two ends of `cargo xtask real namespaces`: one sends octets at a steady rate and checks that they come back.
//!
//! `exchange_probe echo ADDRESS` answers; `exchange_probe exchange HOST PORT OCTETS RATE` asks, prints
//! `OCTETS LARGEST-SEGMENT` again and again, and ends with status 0, or with 3 and the reason.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use xtp::{Chunk, Config, Endpoint, OpenOptions, Rate, Stream, paradigm, resolve, service_numbers};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// Longest silence of a peer that is there.
const PATIENCE: Duration = Duration::from_secs(30);
const PIECE: usize = 10_000;
/// Octets between two lines of progress.
const REPORT: u64 = 50_000;

fn octet(at: u64) -> u8 {
    (at.wrapping_mul(2_654_435_761) >> 13) as u8
}

fn echo(address: &str) -> Outcome {
    let mut config = Config::server(address.parse()?);
    config.fresh_start = true;
    let endpoint = Endpoint::bind(config)?;
    endpoint.enable_echo()?;
    println!("listening on {}", endpoint.local_addr());
    loop {
        endpoint.progress_timeout(PATIENCE)?;
    }
}

fn write(stream: &Stream, octets: u64) -> xtp::Result<()> {
    let mut at = 0;
    while at < octets {
        let end = octets.min(at + PIECE as u64);
        stream.send((at..end).map(octet).collect::<Vec<u8>>())?;
        at = end;
    }
    stream.shutdown_write()
}

fn read(stream: &Stream) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let (mut at, mut reported) = (0, 0);
    while let Some(chunk) = stream.recv_chunk()? {
        let Chunk::Data { bytes, .. } = chunk else {
            return Err(format!("{chunk:?} in a byte stream").into());
        };
        for value in bytes {
            if value != octet(at) {
                return Err(format!("octet {at} came back changed").into());
            }
            at += 1;
        }
        if at >= reported + REPORT {
            reported = at;
            println!("{at} {}", stream.stats()?.max_data);
        }
    }
    Ok(at)
}

fn exchange(host: &str, port: u16, octets: u64, rate: u64) -> Outcome {
    let endpoint = Endpoint::client()?;
    let mut options: OpenOptions = paradigm::stream(service_numbers::ECHO);
    options.tuning.out_rate = Rate {
        octets_per_second: rate,
        burst: 50_000,
    };
    let addresses = resolve(host, port)?;
    let stream = endpoint.connect(&addresses[..], &options, Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE));
    let back = thread::scope(|scope| {
        let writing = scope.spawn(|| write(&stream, octets));
        let back = read(&stream)?;
        writing.join().map_err(|_| "the writer panicked")??;
        Ok::<u64, Box<dyn Error + Send + Sync>>(back)
    })?;
    if back != octets {
        return Err(format!("{back} of {octets} octets came back").into());
    }
    println!("{back} {}", stream.stats()?.max_data);
    Ok(stream.close_timeout(PATIENCE)?)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["echo", address] => echo(address),
        ["exchange", host, port, octets, rate] => match (port.parse(), octets.parse(), rate.parse()) {
            (Ok(port), Ok(octets), Ok(rate)) => exchange(host, port, octets, rate),
            _ => Err("port, octets and rate are numbers".into()),
        },
        _ => Err("usage: exchange_probe echo ADDRESS | exchange HOST PORT OCTETS RATE".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}
