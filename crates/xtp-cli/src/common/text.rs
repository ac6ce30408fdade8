//! Sizes, spans and contents in words.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::Serialize;

/// A size with a unit of 1024: `64.0 MiB`.
pub(crate) fn size_text(octets: u64) -> String {
    let mut size = octets as f64;
    for unit in ["octets", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return if unit == "octets" {
                format!("{octets} octets")
            } else {
                format!("{size:.1} {unit}")
            };
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// A rate: `12.3 MiB/s`.
pub(crate) fn rate_text(octets: u64, span: Duration) -> String {
    let rate = octets as f64 / span.as_secs_f64().max(1e-9);
    format!("{}/s", size_text(rate as u64))
}

/// A span with three digits or so: `12.3 ms`.
pub(crate) fn span_text(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        _ if seconds >= 100.0 => format!("{seconds:.0} s"),
        _ if seconds >= 1.0 => format!("{} s", trimmed(seconds)),
        _ if seconds >= 1e-3 => format!("{} ms", trimmed(seconds * 1e3)),
        _ => format!("{} us", trimmed(seconds * 1e6)),
    }
}

fn trimmed(number: f64) -> String {
    let digits = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A socket address as people know it: IPv4 is not dressed up as IPv6.
pub(crate) fn peer_text(addr: SocketAddr) -> String {
    match addr.ip().to_canonical() {
        IpAddr::V4(four) => SocketAddr::from((four, addr.port())).to_string(),
        // With the interface of a link-local one.
        IpAddr::V6(_) => addr.to_string(),
    }
}

/// Octets in base 64 (RFC 4648), with padding.
pub(crate) fn base64(octets: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(octets.len().div_ceil(3) * 4);
    for group in octets.chunks(3) {
        let number = group
            .iter()
            .fold(0, |number, octet| number << 8 | u32::from(*octet));
        let number = number << (8 * (3 - group.len()));
        for digit in 0..4 {
            let bits = number >> (18 - 6 * digit) & 63;
            let is_there = digit <= group.len();
            text.push(if is_there {
                char::from(DIGITS[bits as usize])
            } else {
                '='
            });
        }
    }
    text
}

/// Octets in a JSON object: as text if they are UTF-8, else in hexadecimal.
#[derive(Serialize)]
pub(crate) struct Payload {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    octets: u64,
    /// Only the beginning is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl Payload {
    /// The beginning `shown` of `total` octets.
    pub(crate) fn of(shown: &[u8], total: u64) -> Self {
        let truncated = (shown.len() as u64) < total;
        let text = match std::str::from_utf8(shown) {
            Ok(text) => Some(text.to_owned()),
            // The cut may have gone through a character.
            Err(error) if truncated && error.error_len().is_none() => {
                Some(String::from_utf8_lossy(&shown[..error.valid_up_to()]).into_owned())
            }
            Err(_) => None,
        };
        let hex = text
            .is_none()
            .then(|| shown.iter().map(|octet| format!("{octet:02x}")).collect());
        Self {
            text,
            hex,
            octets: total,
            truncated,
        }
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
