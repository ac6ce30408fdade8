//! Durations, rates and sizes of options, as [`xtp_linkem::units`] understands them everywhere.

use std::time::Duration;

use xtp_linkem::units::{parse_duration, parse_octets, parse_rate};

/// Longest duration that is understood: 500 years. Behind any moment there is room for it, and for a few more.
const LONGEST: Duration = Duration::from_secs(500 * 365 * 86_400);

/// A duration: a number with `us`, `ms`, `s`, `m`, `h`, or bare seconds.
///
/// # Errors
/// A sentence that says what would be right.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = format!("{}s", text.trim());
    let is_bare = text
        .trim()
        .ends_with(|last: char| last.is_ascii_digit() || last == '.');
    let parsed = parse_duration(if is_bare { &seconds } else { text }).map_err(|error| error.to_string())?;
    match parsed <= LONGEST {
        true => Ok(parsed),
        false => Err(format!("'{text}' should be a duration of at most 500 years")),
    }
}

/// A rate in octets a second, written in bits or octets a second.
///
/// # Errors
/// A sentence that says what would be right.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    match parse_rate(text).map_err(|error| error.to_string())? / 8 {
        0 => Err(format!(
            "'{text}' should be a rate of at least one octet a second"
        )),
        octets => Ok(octets),
    }
}

/// A size in octets.
///
/// # Errors
/// A sentence that says what would be right.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    parse_octets(text).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
