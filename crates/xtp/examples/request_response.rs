//! A word counter as a service: each request is a text, each response a number. Shows what a call costs.
//!
//! `request_response serve 127.0.0.1:36036` and `request_response call 127.0.0.1:36036 TEXT`; without arguments
//! both ends run in this process.
#![forbid(unsafe_code)]

use std::thread;
use std::time::{Duration, Instant};

use xtp::{CallOptions, Config, Endpoint, Listener};

/// Number of the service at its endpoint.
const WORDS: u16 = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", address] => {
            let endpoint = Endpoint::bind(Config::server(address.parse()?))?;
            // Anybody may probe this endpoint.
            endpoint.enable_echo()?;
            Ok(serve(&endpoint.listen(WORDS)?, usize::MAX)?)
        }
        ["call", address, text] => call(&Endpoint::client()?, address, text),
        [] => demonstrate(),
        _ => Err("usage: request_response [serve ADDRESS | call ADDRESS TEXT]".into()),
    }
}

/// Answers that many requests.
fn serve(listener: &Listener, count: usize) -> xtp::Result<()> {
    for _ in 0..count {
        let (request, caller) = listener.recv_message()?;
        let words = String::from_utf8_lossy(&request).split_whitespace().count();
        // A response of one packet that may be repeated from memory: two packets a transaction.
        if let Err(error) = caller.respond_unconfirmed(words.to_string()) {
            eprintln!("a caller went away: {error}");
        }
    }
    Ok(())
}

fn call(client: &Endpoint, address: &str, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let begin = Instant::now();
    let options = CallOptions::within(Duration::from_secs(5));
    let answer = client.call_for_answer(address, WORDS, text.to_owned(), &options)?;
    println!(
        "{} words, said {} after {:?} and {} packets",
        String::from_utf8_lossy(&answer.response),
        answer.peer,
        begin.elapsed(),
        answer.stats.packets_sent + answer.stats.packets_received,
    );
    Ok(())
}

fn demonstrate() -> Result<(), Box<dyn std::error::Error>> {
    let texts = ["one", "two words", "and now for three more"];
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = server.listen(WORDS)?;
    let address = server.local_addr().to_string();
    let serving = thread::spawn(move || serve(&listener, texts.len()));
    let client = Endpoint::client()?;
    for text in texts {
        call(&client, &address, text)?;
    }
    serving.join().map_err(|_| "the server panicked")??;
    Ok(())
}
