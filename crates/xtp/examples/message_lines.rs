//! A server that prints of every message its first three lines and skips the rest, however long it is.
//!
//! `cargo run -p xtp-transport --example message_lines`, and beside it the address it prints: `seq 1000000 | xtp send --stream ADDRESS/100`,
//! whose end is the message's end. It serves one peer and ends with it.

use std::io::BufRead;

use xtp::{Config, Endpoint, Error};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let listener = endpoint.listen_streams(100)?;
    println!("{}", endpoint.local_addr());
    let stream = listener.accept()?.into_stream();
    let mut number = 0;
    while let Some(message) = stream.message_reader()? {
        number += 1;
        for line in message.lines().take(3) {
            match line {
                Ok(line) => println!("{number}: {line}"),
                // What `xtp send --stream` sends is octets: its end ends a message that had no end of its own.
                Err(error) if matches!(cause(&error), Some(Error::Incomplete { .. })) => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
    println!("{number} messages");
    Ok(stream.close()?)
}

/// What the library said.
fn cause(error: &std::io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}
