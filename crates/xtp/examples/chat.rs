//! A chat between two terminals: `chat listen 127.0.0.1:36036`, then `chat join 127.0.0.1:36036`.
//!
//! One association, one message a line, both directions at once: what reads and what writes are
//! things of their own, each with its own thread and end. Without arguments both ends run in this process and say a few words.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Read};
use std::thread;

use xtp::{Config, Endpoint, Stream, paradigm, service_numbers};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["listen", address] => {
            let endpoint = Endpoint::bind(Config::server(address.parse()?))?;
            let incoming = endpoint.listen_streams(service_numbers::MESSAGE)?.accept()?;
            println!("* {} joined", incoming.peer());
            talk(incoming.into_stream(), std::io::stdin(), "them")
        }
        ["join", address] => {
            let endpoint = Endpoint::client()?;
            let stream = endpoint.open(address, paradigm::stream(service_numbers::MESSAGE))?;
            stream.connect(None)?;
            talk(stream, std::io::stdin(), "them")
        }
        [] => demonstrate(),
        _ => Err("usage: chat [listen ADDRESS | join ADDRESS]".into()),
    }
}

/// Sends lines as messages and prints messages as lines, until either side has nothing more to say.
fn talk(stream: Stream, input: impl Read, peer: &'static str) -> Result<(), Box<dyn std::error::Error>> {
    let (reader, writer) = stream.split();
    let printing = thread::spawn(move || -> xtp::Result<()> {
        while let Some(message) = reader.recv_message()? {
            println!("{peer}: {}", String::from_utf8_lossy(&message));
        }
        println!("* {peer} left");
        Ok(())
    });
    for line in BufReader::new(input).lines() {
        let line = line?;
        if !line.is_empty() {
            writer.send_message(line)?;
        }
    }
    writer.close()?;
    printing.join().map_err(|_| "the reader panicked")??;
    Ok(())
}

fn demonstrate() -> Result<(), Box<dyn std::error::Error>> {
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = server.listen_streams(service_numbers::MESSAGE)?;
    let address = server.local_addr();
    let answering = thread::spawn(move || {
        let stream = listener
            .accept()
            .map_err(|error| error.to_string())?
            .into_stream();
        let lines: &[u8] = b"good morning\nfine, and you?\n";
        talk(stream, lines, "ada").map_err(|error| error.to_string())
    });
    let client = Endpoint::client()?;
    let stream = client.open(address, paradigm::stream(service_numbers::MESSAGE))?;
    let lines: &[u8] = b"hello\nhow are you?\n";
    talk(stream, lines, "bob")?;
    answering.join().map_err(|_| "the other end panicked")??;
    Ok(())
}
