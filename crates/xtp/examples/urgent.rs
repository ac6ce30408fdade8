//! Urgent calls beside bulk: `urgent serve 0.0.0.0:36036`, then `urgent call 10.0.0.2:36036 alike` and `... first`, or `... first 60`
//! for so many calls.
//!
//! Eight streams of one endpoint pour into the server while 300 calls of about 100 octets are made, at odd moments and to the
//! same host. With `first` they have a priority (and DSCP 46, expedited forwarding): where the way to the server is narrow, a call then takes
//! a round trip, and does not wait behind what the streams have sent. Without arguments both ends run in this process, where
//! nothing is narrow.
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use xtp::{CallOptions, Config, Endpoint, Listener, paradigm};

type Failed = Box<dyn std::error::Error>;

/// Numbers of the services.
const SINK: u16 = 1_000;
const ECHO: u16 = 1_001;

const STREAMS: usize = 8;
const CALLS: u64 = 300;
/// What stood in the queue of the narrowest link when the first call was made is gone by then.
const LEAD: Duration = Duration::from_secs(4);
const URGENT: u16 = 1;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address] => {
            let endpoint = Endpoint::bind(Config::server(address.parse()?))?;
            let (sink, echo) = (endpoint.listen_streams(SINK)?, endpoint.listen(ECHO)?);
            thread::scope(|scope| {
                scope.spawn(|| swallow(scope, &sink));
                answer(&echo, u64::MAX)
            })?;
            Ok(())
        }
        ["call", address, how @ ("alike" | "first")] => call(address.parse()?, sort(how), CALLS, LEAD),
        ["call", address, how @ ("alike" | "first"), calls] => {
            call(address.parse()?, sort(how), calls.parse()?, LEAD)
        }
        [] => demonstrate(),
        _ => Err("usage: urgent [serve ADDRESS | call ADDRESS alike|first [CALLS]]".into()),
    }
}

fn sort(how: &str) -> Option<u16> {
    (how == "first").then_some(URGENT)
}

/// Reads what comes of every stream, and forgets it.
fn swallow<'scope>(scope: &'scope thread::Scope<'scope, '_>, listener: &Listener) {
    while let Ok(incoming) = listener.accept() {
        scope.spawn(move || {
            let stream = incoming.into_stream();
            while let Ok(Some(_)) = stream.recv_chunk() {}
        });
    }
}

/// Gives back what that many calls ask.
fn answer(listener: &Listener, calls: u64) -> xtp::Result<()> {
    for _ in 0..calls {
        let (request, caller) = listener.recv_message()?;
        if let Err(error) = caller.respond(request) {
            eprintln!("a caller went away: {error}");
        }
    }
    Ok(())
}

/// Makes calls beside the streams, and says what each took and how much of the streams came.
fn call(server: SocketAddr, sort: Option<u16>, calls: u64, lead: Duration) -> Result<(), Failed> {
    let mut config = Config::client();
    config.dscp = vec![(URGENT, 46)];
    let endpoint = Endpoint::bind(config)?;
    let is_over = AtomicBool::new(false);
    let mut options = CallOptions::within(Duration::from_secs(20));
    options.tuning.sort = sort;
    let begin = Instant::now();
    let (took, poured) = thread::scope(|scope| {
        let pouring: Vec<_> = (0..STREAMS as u64)
            .map(|number| {
                scope.spawn({
                    let (endpoint, is_over) = (&endpoint, &is_over);
                    move || pour(endpoint, server, number, is_over)
                })
            })
            .collect();
        let took = measure(&endpoint, server, &options, calls, lead);
        is_over.store(true, Ordering::Relaxed);
        let poured: Vec<_> = pouring.into_iter().map(|stream| stream.join()).collect();
        (took, poured)
    });
    let (mut took, lasted) = (took?, begin.elapsed().as_secs_f64());
    took.sort_unstable();
    let quantile = |percent: usize| took[(took.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "{} calls: p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        took.len(),
        quantile(50),
        quantile(99),
        quantile(100),
    );
    let mut rates = Vec::new();
    for octets in poured {
        let octets = octets.map_err(|_| "a stream panicked")??;
        rates.push(format!("{:.2}", octets as f64 * 8e-6 / lasted));
    }
    println!("streams, Mbit/s: {}", rates.join(" "));
    Ok(())
}

/// How long each call took, but for those made before `lead` was over.
fn measure(
    endpoint: &Endpoint,
    server: SocketAddr,
    options: &CallOptions,
    calls: u64,
    lead: Duration,
) -> Result<Vec<Duration>, xtp::Error> {
    let (begin, mut took) = (Instant::now(), Vec::new());
    let mut number = 0;
    while (took.len() as u64) < calls {
        number += 1;
        // Not in step with anything, and of many lengths.
        thread::sleep(Duration::from_micros(20_000 + number * 7_919 % 40_000));
        let request = vec![number as u8; 60 + (number * 31 % 80) as usize];
        let asked = Instant::now();
        let answer = endpoint.call(server, ECHO, request.clone(), options)?;
        assert_eq!(answer, request, "another answer");
        if begin.elapsed() >= lead {
            took.push(asked.elapsed());
        }
    }
    Ok(took)
}

/// Octets of one stream that the server has, until it is over.
fn pour(endpoint: &Endpoint, server: SocketAddr, number: u64, is_over: &AtomicBool) -> xtp::Result<u64> {
    let stream = endpoint.open(server, paradigm::stream(SINK))?;
    let mut word = number;
    while !is_over.load(Ordering::Relaxed) {
        let fresh: Vec<u8> = (0..16 << 10)
            .map(|_| {
                word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (word >> 56) as u8
            })
            .collect();
        stream.send(fresh)?;
    }
    let there = stream.stats()?.octets_acknowledged;
    // What is still on its way would take seconds.
    stream.abort();
    Ok(there)
}

fn demonstrate() -> Result<(), Failed> {
    const FEW: u64 = 20;
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let (sink, echo) = (server.listen_streams(SINK)?, server.listen(ECHO)?);
    let address = server.local_addr();
    thread::scope(|scope| {
        scope.spawn(|| swallow(scope, &sink));
        scope.spawn(|| answer(&echo, u64::MAX));
        let done = call(address, Some(URGENT), FEW, Duration::ZERO);
        server.interrupt();
        done
    })
}
