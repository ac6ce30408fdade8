//! Sends the lines of standard input as messages and says of each when the peer's program has taken it, without waiting for any.
//!
//! `xtp listen 4000/100` at one place, then `seq 5 | cargo run -p xtp-transport --example confirmed_lines 127.0.0.1:4000`.

use std::io::stdin;
use std::time::Instant;

use xtp::{Confirm, Endpoint, paradigm};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(peer) = std::env::args().nth(1) else {
        return Err("to whom? an address and a UDP port".into());
    };
    let endpoint = Endpoint::client()?;
    let stream = endpoint.open(&peer, paradigm::stream(100))?;
    for line in stdin().lines() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        stream.send_message(line.clone())?;
        let sent = Instant::now();
        stream
            .mark(Confirm::Delivered)?
            .on_reached(move |outcome| match outcome {
                Ok(()) => println!("{line}: taken after {:?}", sent.elapsed()),
                Err(error) => println!("{line}: {error}"),
            });
    }
    // Every call is made before this returns, whatever became of the peer.
    Ok(stream.close()?)
}
