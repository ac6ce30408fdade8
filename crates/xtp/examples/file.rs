//! Sends a file: `file receive 127.0.0.1:36036 COPY`, then `file send 127.0.0.1:36036 ORIGINAL`.
//!
//! What is read from the one disk leaves from where it was read, and is written to the other from where packets brought it. The sender
//! learns from `close` that the receiver's host has everything; the receiver says in its own words that it is on disk. Without
//! arguments a file of 16 MiB goes through this process.
#![forbid(unsafe_code)]

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::Instant;

use xtp::{Config, Endpoint, Listener, Stream, paradigm, service_numbers};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["receive", address, path] => {
            let endpoint = Endpoint::bind(Config::server(address.parse()?))?;
            let listener = endpoint.listen_streams(service_numbers::FILES)?;
            receive(&endpoint, &listener, Path::new(path))
        }
        ["send", address, path] => send(&Endpoint::client()?, address, Path::new(path)),
        [] => demonstrate(),
        _ => Err("usage: file [receive ADDRESS PATH | send ADDRESS PATH]".into()),
    }
}

fn send(client: &Endpoint, address: &str, path: &Path) -> Outcome<()> {
    let begin = Instant::now();
    let file = File::open(path)?;
    let stream = client.open(address, paradigm::stream(service_numbers::FILES))?;
    let octets = stream.send_file(&file, ..)?;
    stream.shutdown_write()?;
    let verdict = stream.recv_message()?.unwrap_or_default();
    let copied = copied(client, &stream)?;
    stream.close()?;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{octets} octets in {seconds:.3} s, {copied} copied; the receiver says: {}",
        String::from_utf8_lossy(&verdict)
    );
    Ok(())
}

fn receive(endpoint: &Endpoint, listener: &Listener, path: &Path) -> Outcome<()> {
    let stream = listener.accept()?.into_stream();
    let file = File::create(path)?;
    // Up to the end of the stream, from the memory the packets arrived in.
    let octets = stream.recv_file(&file, ..)?;
    file.sync_all()?;
    let copied = copied(endpoint, &stream)?;
    stream.send_message(format!("{octets} octets on disk, {copied} copied"))?;
    stream.close()?;
    Ok(())
}

/// Octets that were copied in user space.
fn copied(endpoint: &Endpoint, stream: &Stream) -> Outcome<u64> {
    Ok(endpoint.stats().octets_copied + stream.stats()?.octets_copied)
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
    let receiving = thread::spawn(move || receive(&server, &listener, &target));
    send(&Endpoint::client()?, &address, &original)?;
    receiving.join().map_err(|_| "the receiver panicked")??;
    if std::fs::read(&copy)? != octets {
        return Err("the copy differs".into());
    }
    println!("the copy is equal");
    Ok(())
}
