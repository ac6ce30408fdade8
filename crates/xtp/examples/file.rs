//! Sends a file: `file receive 127.0.0.1:36036 COPY`, then `file send 127.0.0.1:36036 ORIGINAL`.
//!
//! The sender lends its buffers to the protocol until they are acknowledged (no copy in user space) and learns from
//! `close` that the receiver's host has everything; the receiver says in its own words that it is on disk. Without
//! arguments a file of 16 MiB goes through this process.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::thread;
use std::time::Instant;

use xtp::{Bytes, Chunk, Config, Endpoint, Listener, paradigm, service_numbers};

/// Octets read from the file at once.
const PIECE: usize = 256 << 10;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["receive", address, path] => {
            let endpoint = Endpoint::bind(Config::server(address.parse()?))?;
            receive(&endpoint.listen_streams(service_numbers::FILES)?, Path::new(path))
        }
        ["send", address, path] => send(&Endpoint::client()?, address, Path::new(path)),
        [] => demonstrate(),
        _ => Err("usage: file [receive ADDRESS PATH | send ADDRESS PATH]".into()),
    }
}

fn send(client: &Endpoint, address: &str, path: &Path) -> Outcome<()> {
    let begin = Instant::now();
    let mut file = File::open(path)?;
    let stream = client.open(address, paradigm::stream(service_numbers::FILES))?;
    let mut octets = 0;
    loop {
        let mut piece = vec![0; PIECE];
        let count = file.read(&mut piece)?;
        if count == 0 {
            break;
        }
        piece.truncate(count);
        octets += count;
        // `Bytes` takes the vector over; it is freed when the peer has acknowledged it.
        stream.send(Bytes::from(piece))?;
    }
    stream.shutdown_write()?;
    let verdict = stream.recv_message()?.unwrap_or_default();
    stream.close()?;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{octets} octets in {seconds:.3} s; the receiver says: {}",
        String::from_utf8_lossy(&verdict)
    );
    Ok(())
}

fn receive(listener: &Listener, path: &Path) -> Outcome<()> {
    let stream = listener.accept()?.into_stream();
    let mut file = File::create(path)?;
    let mut octets = 0;
    while let Some(chunk) = stream.recv_chunk()? {
        // The memory the packets arrived in, without a copy.
        if let Chunk::Data { bytes, .. } = chunk {
            octets += bytes.len();
            file.write_all(&bytes)?;
        }
    }
    file.sync_all()?;
    stream.send_message(format!("{octets} octets on disk"))?;
    stream.close()?;
    Ok(())
}

fn demonstrate() -> Outcome<()> {
    let directory = tempfile::tempdir()?;
    let (original, copy) = (directory.path().join("original"), directory.path().join("copy"));
    let octets: Vec<u8> = (0..16usize << 20).map(|at| (at ^ (at >> 9)) as u8).collect();
    std::fs::write(&original, &octets)?;
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = server.listen_streams(service_numbers::FILES)?;
    let address = server.local_addr().to_string();
    let target = copy.clone();
    let receiving = thread::spawn(move || receive(&listener, &target));
    send(&Endpoint::client()?, &address, &original)?;
    receiving.join().map_err(|_| "the receiver panicked")??;
    if std::fs::read(&copy)? != octets {
        return Err("the copy differs".into());
    }
    println!("the copy is equal");
    Ok(())
}
