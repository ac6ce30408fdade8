//! What the fuzz targets may call: everything of the command that parses.

use crate::common::Address;
#[cfg(unix)]
use crate::files::Record;
#[cfg(unix)]
use bytes::Bytes;

/// Reads `text` as an ADDR argument; true if it is one.
#[must_use]
pub fn address(text: &str) -> bool {
    Address::parse(text, 7).is_ok()
}

/// Reads `message` as records of the file service until it ends or is refused; how many there were.
#[cfg(unix)]
#[must_use]
pub fn records(message: Vec<u8>) -> usize {
    let mut message = Bytes::from(message);
    let mut count = 0;
    while !message.is_empty() && Record::decode(&mut message).is_ok() {
        count += 1;
    }
    count
}
