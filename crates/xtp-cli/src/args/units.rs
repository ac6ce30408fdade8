//! Durations, rates and sizes as people write them.

use std::time::Duration;

/// Longest duration that is understood, seconds: 500 years. Behind any moment there is room for it, and for a few more.
const LONGEST: f64 = 500.0 * 365.25 * 86_400.0;

/// A duration: a number with `us`, `ms`, `s`, `m`, `h`, or bare seconds.
///
/// # Errors
/// A sentence that says what would be right.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text).ok_or_else(|| wrong(text, "500ms, 5s, 2m or 1h"))?;
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        _ => return Err(wrong(text, "500ms, 5s, 2m or 1h")),
    };
    let too_long = || wrong(text, "a duration of at most 500 years");
    let seconds = (number * seconds <= LONGEST).then_some(number * seconds);
    Duration::try_from_secs_f64(seconds.ok_or_else(too_long)?).map_err(|_| too_long())
}

/// A rate in octets a second: bits with `bit`, `kbit`, `mbit`, `gbit` (powers of 1000), octets as in [`size`];
/// `/s` may follow. `mbps` is refused: some mean bits by it, some octets.
///
/// # Errors
/// A sentence that says what would be right.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    let help = "10mbit, 5MB, 512KiB or octets a second";
    let bare = text.strip_suffix("/s").unwrap_or(text);
    let (number, unit) = split(bare).ok_or_else(|| wrong(text, help))?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "bit" => 0.125,
        "kbit" => 125.0,
        "mbit" => 125e3,
        "gbit" => 125e6,
        other => octets(other).ok_or_else(|| wrong(text, help))?,
    };
    match whole(number * factor) {
        Some(rate) if rate > 0 => Ok(rate),
        _ => Err(wrong(text, "a rate of at least one octet a second")),
    }
}

/// A size in octets: a number with `k`, `kB`, `M`, `MB`, `G` (powers of 1000), `KiB`, `MiB`, `GiB` (powers of 1024).
///
/// # Errors
/// A sentence that says what would be right.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let help = "a number of octets such as 1000, 64KiB or 5MB";
    let (number, unit) = split(text).ok_or_else(|| wrong(text, help))?;
    let factor = octets(&unit.to_ascii_lowercase()).ok_or_else(|| wrong(text, help))?;
    whole(number * factor)
        .and_then(|octets| usize::try_from(octets).ok())
        .ok_or_else(|| wrong(text, "a size that fits the machine"))
}

fn octets(unit: &str) -> Option<f64> {
    Some(match unit {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

/// Number and unit; `None` unless there is a finite number of zero or more.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim()))
}

fn whole(number: f64) -> Option<u64> {
    // Below 2^53 every whole number is exact, and no rate or size is larger.
    (number.is_finite() && (0.0..9e15).contains(&number)).then(|| number.round() as u64)
}

fn wrong(text: &str, right: &str) -> String {
    format!("'{text}' should be {right}")
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
