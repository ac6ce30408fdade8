//! Round trips, calls and bulk between two processes: what `docs/performance.md` quotes.
//!
//! In one terminal `cargo run --release -p xtp-transport --example measure -- serve` (or `answer`, for `call` and `shot` only),
//! in another the same with `ping`, `call`, `shot` or `bulk` and, if it is not the default, the server's address; `spin`
//! or `block` behind it makes either side poll or sleep, and a number behind that is the octets of a message of `ping`.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use xtp::{
    Bytes, CallOptions, Chunk, Config, Confirm, Endpoint, Incoming, ListenOptions, Result, Stream, Wait,
    paradigm,
};

const PING: u16 = 1;
const BULK: u16 = 2;
const CALL: u16 = 3;
const SHOT: u16 = 4;
const MESSAGE: [u8; 64] = [1; 64];
const LONGEST: usize = 1 << 20;
const ROUND_TRIPS: usize = 20_000;
const CALLS: usize = 5_000;
const MEBIBYTES: usize = 1_024;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let text = arguments.next().unwrap_or_else(|| "127.0.0.1:36099".to_owned());
    let Ok(address) = text.parse::<SocketAddr>() else {
        eprintln!("{text} is no address; write 127.0.0.1:36099");
        std::process::exit(2);
    };
    let wait = match arguments.next().as_deref() {
        Some("spin") => Wait::Spin,
        Some("block") => Wait::Block,
        _ => Wait::default(),
    };
    let size = arguments.next().and_then(|size| size.parse().ok());
    let size = size.unwrap_or(MESSAGE.len()).clamp(1, LONGEST);
    match what.as_str() {
        "serve" => serve(address, wait),
        "answer" => answer(address, wait),
        "ping" => ping(address, wait, size),
        "call" => call(address, wait),
        "shot" => shot(address, wait),
        "bulk" => bulk(address, wait),
        _ => {
            eprintln!(
                "usage: measure serve|answer|ping|call|shot|bulk [ADDRESS [spin|block|adaptive [OCTETS]]]"
            );
            std::process::exit(2);
        }
    }
}

fn serve(address: SocketAddr, wait: Wait) -> Result<()> {
    let mut config = Config::server(address);
    config.wait = wait;
    let endpoint = Endpoint::bind(config)?;
    let listener = endpoint.listen_with(ListenOptions::wildcard())?;
    loop {
        let incoming = listener.accept()?;
        // One peer that breaks off does not end the server.
        if let Err(error) = serve_one(incoming) {
            eprintln!("{error}");
        }
    }
}

/// What begins with a whole message, as its server takes it.
fn answer(address: SocketAddr, wait: Wait) -> Result<()> {
    let mut config = Config::server(address);
    config.wait = wait;
    let endpoint = Endpoint::bind(config)?;
    let listener = endpoint.listen_with(ListenOptions::wildcard())?;
    loop {
        let (message, incoming) = listener.recv_message()?;
        if incoming.service_number() == CALL {
            incoming.respond(message)?;
        }
    }
}

/// Bound to the address from which this host reaches the server: a socket of all addresses has to be told more.
fn client(server: SocketAddr, wait: Wait) -> Result<Endpoint> {
    let own = UdpSocket::bind(("0.0.0.0", 0)).and_then(|socket| {
        socket.connect(server)?;
        socket.local_addr()
    });
    let mut config = match own {
        Ok(own) => Config::server((own.ip(), 0).into()),
        Err(_) => Config::default(),
    };
    config.wait = wait;
    Endpoint::bind(config)
}

fn serve_one(incoming: Incoming) -> Result<()> {
    match incoming.service_number() {
        PING => {
            let stream = incoming.into_stream();
            while let Some(message) = stream.recv_message()? {
                stream.send_message(message)?;
            }
            stream.close()
        }
        BULK => swallow(incoming.into_stream()),
        SHOT => incoming.receive().map(drop),
        _ => {
            let request = incoming.receive()?;
            incoming.respond(request)
        }
    }
}

fn swallow(stream: Stream) -> Result<()> {
    let mut octets = 0;
    while let Some(chunk) = stream.recv_chunk()? {
        if let Chunk::Data { bytes, .. } = chunk {
            octets += bytes.len();
        }
    }
    eprintln!("{octets} octets arrived");
    stream.close()
}

fn ping(address: SocketAddr, wait: Wait, size: usize) -> Result<()> {
    let endpoint = client(address, wait)?;
    let stream = endpoint.open(address, paradigm::stream(PING))?;
    let message = Bytes::from(vec![1; size]);
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let begin = Instant::now();
        stream.send_message(message.clone())?;
        let answer = stream.recv_message()?;
        times.push(begin.elapsed());
        assert_eq!(answer.map(|answer| answer.len()), Some(size));
    }
    let stats = stream.stats()?;
    let packets = (stats.packets_sent + stats.packets_received) as f64 / ROUND_TRIPS as f64;
    report("round trip", times);
    println!("packets a round trip {packets:.4}");
    stream.close()
}

fn call(address: SocketAddr, wait: Wait) -> Result<()> {
    let endpoint = client(address, wait)?;
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begin = Instant::now();
        let answer = endpoint.call(
            address,
            CALL,
            Bytes::copy_from_slice(&MESSAGE),
            &CallOptions::default(),
        )?;
        times.push(begin.elapsed());
        assert_eq!(answer.len(), MESSAGE.len());
    }
    report("call", times);
    Ok(())
}

fn shot(address: SocketAddr, wait: Wait) -> Result<()> {
    let endpoint = client(address, wait)?;
    let mut options = paradigm::one_shot(SHOT);
    options.confirm = Confirm::Delivered;
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begin = Instant::now();
        let message = Bytes::copy_from_slice(&MESSAGE);
        endpoint.deliver(address, options.clone(), message, None)?;
        times.push(begin.elapsed());
    }
    report("one-shot", times);
    Ok(())
}

fn bulk(address: SocketAddr, wait: Wait) -> Result<()> {
    let endpoint = client(address, wait)?;
    let stream = endpoint.open(address, paradigm::stream(BULK))?;
    let buffer = Bytes::from(vec![7; 1 << 20]);
    let begin = Instant::now();
    for _ in 0..MEBIBYTES {
        stream.send(buffer.clone())?;
    }
    stream.flush_acknowledged()?;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{:.2} Gbit/s, acknowledged",
        (MEBIBYTES << 23) as f64 / seconds / 1e9
    );
    stream.close()
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    println!(
        "{what}: p50 {:?}, p99 {:?}",
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
}
