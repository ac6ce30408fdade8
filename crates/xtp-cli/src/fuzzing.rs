//! What the fuzz targets may call: everything of the command that parses.

use crate::args::units;
use crate::common::Address;
#[cfg(unix)]
use crate::files::{Plan, Record};
#[cfg(unix)]
use bytes::Bytes;
#[cfg(unix)]
use std::ffi::OsString;

/// Reads `text` as an ADDR argument; true if it is one.
#[must_use]
pub fn address(text: &str) -> bool {
    Address::parse(text, 7).is_ok()
}

/// Reads `text` as a duration, a rate and a size; how many of them it is.
#[must_use]
pub fn units(text: &str) -> usize {
    let (duration, rate, size) = (units::duration(text), units::rate(text), units::size(text));
    usize::from(duration.is_ok()) + usize::from(rate.is_ok()) + usize::from(size.is_ok())
}

/// Reads the words of `text` as the arguments of `cp`; true if they say what to copy where.
#[cfg(unix)]
#[must_use]
pub fn locations(text: &str) -> bool {
    let words: Vec<_> = text.split_whitespace().map(OsString::from).collect();
    Plan::of(&words).is_ok()
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
