//! Rates, times, fractions and sizes as people write them.
//!
//! ```
//! use std::time::Duration;
//! use xtp_link::units::{parse_duration, parse_fraction, parse_octets, parse_rate};
//! assert_eq!(parse_rate("100mbit"), Ok(100_000_000));
//! assert_eq!(parse_rate("1.5Gbit/s"), Ok(1_500_000_000));
//! assert_eq!(parse_rate("5mbyte"), Ok(40_000_000));
//! assert_eq!(parse_duration("20us"), Ok(Duration::from_micros(20)));
//! assert_eq!(parse_fraction("0.1%"), Ok(0.001));
//! assert_eq!(parse_octets("64KiB"), Ok(65_536));
//! ```

use std::time::Duration;

/// Why a text is not the quantity it should be. The message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text does not begin with a decimal number.
    #[error("`{text}` does not begin with a number: write {expected}")]
    Number {
        /// The text.
        text: String,
        /// An example of what to write.
        expected: &'static str,
    },
    /// The unit is missing or unknown.
    #[error("`{text}` has no unit known here: write {expected}")]
    Unit {
        /// The text.
        text: String,
        /// An example of what to write.
        expected: &'static str,
    },
    /// The quantity is too large.
    #[error("`{text}` is out of range: write {expected}")]
    Range {
        /// The text.
        text: String,
        /// An example of what to write.
        expected: &'static str,
    },
}

const RATE: &str = "a rate such as 100mbit, 1.5gbit (bits) or 5MB, 512KiB (octets), a second";
const DURATION: &str = "a time such as 500ms, 20us, 5s, 2m or 1h";
const FRACTION: &str = "a fraction such as 0.1% or 0.001, from 0 to 1";
const OCTETS: &str = "a size such as 1500, 256kB or 4MiB";

const RATE_UNITS: &[(&str, u64)] = &[
    ("bit", 1),
    ("kbit", 1_000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
    ("tbit", 1_000_000_000_000),
    ("byte", 8),
    ("kbyte", 8_000),
    ("mbyte", 8_000_000),
    ("gbyte", 8_000_000_000),
    ("kb", 8_000),
    ("mb", 8_000_000),
    ("gb", 8_000_000_000),
    ("kib", 8 << 10),
    ("mib", 8 << 20),
    ("gib", 8 << 30),
];

const DURATION_UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const OCTET_UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1_000),
    ("kb", 1_000),
    ("m", 1_000_000),
    ("mb", 1_000_000),
    ("g", 1_000_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// Bits a second: a decimal number and `bit`, `kbit`, `mbit`, `gbit`, `tbit`, or octets as `byte` to `gbyte`, `kB`, `MB`, `GB`
/// (powers of 1000), `KiB`, `MiB`, `GiB` (powers of 1024), in any case, with or without `/s`. A bare number, `mbps` and `Mb`
/// are refused: they mean bits to one reader and octets to another.
///
/// # Errors
/// Not a number, a missing or unknown unit, or beyond 2^64 - 1.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let lower = trimmed.to_ascii_lowercase();
    let without_second = lower.strip_suffix("/s").unwrap_or(&lower);
    // What ends with a small b behind a prefix is a bit to many.
    let end = &trimmed[..without_second.len()];
    if end.ends_with('b') && !end.ends_with("ib") {
        return Err(UnitError::Unit {
            text: text.to_owned(),
            expected: RATE,
        });
    }
    scale(text, without_second, RATE_UNITS, RATE)
}

/// A time: a decimal number and `ns`, `us`, `ms`, `s`, `m` or `min`, or `h`. Zero may go without a unit. Parts of a
/// nanosecond are cut off.
///
/// # Errors
/// Not a number, a missing or unknown unit, or beyond 2^64 - 1 nanoseconds (584 years).
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let lower = text.trim().to_ascii_lowercase();
    if lower == "0" {
        return Ok(Duration::ZERO);
    }
    scale(text, &lower, DURATION_UNITS, DURATION).map(Duration::from_nanos)
}

/// A fraction from 0 to 1, written as such (`0.001`, `1e-6`) or as a percentage.
///
/// # Errors
/// Not a number, something other than `%` behind it, or not from 0 to 1.
pub fn parse_fraction(text: &str) -> Result<f64, UnitError> {
    let (number, unit) = split_scientific(text.trim());
    let divisor = match unit.trim() {
        "" => 1.0,
        "%" => 100.0,
        _ if number.is_empty() => {
            return Err(UnitError::Number {
                text: text.to_owned(),
                expected: FRACTION,
            });
        }
        _ => {
            return Err(UnitError::Unit {
                text: text.to_owned(),
                expected: FRACTION,
            });
        }
    };
    let Ok(value) = number.parse::<f64>() else {
        return Err(UnitError::Number {
            text: text.to_owned(),
            expected: FRACTION,
        });
    };
    let fraction = value / divisor;
    if !(0.0..=1.0).contains(&fraction) {
        return Err(UnitError::Range {
            text: text.to_owned(),
            expected: FRACTION,
        });
    }
    Ok(fraction)
}

/// Octets: a decimal number and nothing, `k`, `kB`, `M`, `MB`, `G`, `GB` (powers of 1000) or `KiB`, `MiB`, `GiB` (powers of
/// 1024), in any case.
///
/// # Errors
/// Not a number, an unknown unit, or beyond what a `usize` holds.
pub fn parse_octets(text: &str) -> Result<usize, UnitError> {
    let octets = scale(text, &text.trim().to_ascii_lowercase(), OCTET_UNITS, OCTETS)?;
    usize::try_from(octets).map_err(|_| UnitError::Range {
        text: text.to_owned(),
        expected: OCTETS,
    })
}

/// The leading digits and points, and the rest.
fn split(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    text.split_at(end)
}

/// As [`split`], with a power of ten as in `1e-6` counted as part of the number.
fn split_scientific(text: &str) -> (&str, &str) {
    let (number, rest) = split(text);
    let Some(power) = rest.strip_prefix(['e', 'E']) else {
        return (number, rest);
    };
    let digits = power.strip_prefix(['-', '+']).unwrap_or(power);
    let count = digits.chars().take_while(char::is_ascii_digit).count();
    if number.is_empty() || count == 0 {
        return (number, rest);
    }
    text.split_at(text.len() - digits.len() + count)
}

/// The number times its unit, exactly, rounded down. `original` is for the error message.
fn scale(
    original: &str,
    text: &str,
    units: &[(&str, u64)],
    expected: &'static str,
) -> Result<u64, UnitError> {
    let (number, unit) = split(text);
    let bad_number = || UnitError::Number {
        text: original.to_owned(),
        expected,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(bad_number());
    }
    let unit = unit.trim();
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::Unit {
            text: original.to_owned(),
            expected,
        });
    };
    let too_large = || UnitError::Range {
        text: original.to_owned(),
        expected,
    };
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| too_large())?
    };
    // Eighteen decimals are finer than any unit here; what is behind them cannot change the result by one.
    let fraction = &fraction[..fraction.len().min(18)];
    let decimals: u64 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().map_err(|_| bad_number())?
    };
    let part = u128::from(decimals) * u128::from(factor) / 10u128.pow(fraction.len() as u32);
    u64::try_from(u128::from(whole) * u128::from(factor) + part).map_err(|_| too_large())
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
