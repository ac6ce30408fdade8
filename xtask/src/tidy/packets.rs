//! Who may know how packets look: layouts and checksums belong to `xtp-wire`, option bits to those who carry out the rules.

use super::Finding;
use super::source::{Source, has_word};

/// What only `xtp-wire` names, of the code that ends up in programs, and what others take instead.
const LAYOUT: &[(&str, &str)] = &[
    (
        "HEADER_LEN",
        "`size::packet` and `size::payload` know what a header takes",
    ),
    ("XDATA_HEAD_LEN", "`size::packet` knows what a header takes"),
    ("seal", "`Writer::finish` puts the check field in"),
    ("Checksum", "`Writer::finish` puts the check field in"),
    ("encode_run", "`write_run` writes headers in a row"),
];

/// Crates whose code is held to that; simulators and tests write damaged packets, which nobody else may.
const HELD: &[&str] = &[
    "xtp-core",
    "xtp-congestion",
    "xtp-group",
    "xtp-engine",
    "xtp",
    "xtp-io",
];

/// Memory for packets whose headers lie between their payloads needs to know how much that is.
const LAYS_OUT_MEMORY: &[&str] = &["crates/xtp/src/frames.rs"];

/// The option bits (§1.2).
const BITS: &[&str] = &[
    "NOCHECK", "EDGE", "NOERR", "MULTI", "RES", "SORT", "NOFLOW", "FASTNAK", "SREQ", "DREQ", "RCLOSE",
    "WCLOSE", "EOM", "END", "BTAG",
];

/// Where the rules about option bits are carried out: associations, groups, and what stands in for associations that are
/// not there (`docs/decisions/short-exchanges.md`).
const RULES: &[&str] = &[
    "crates/xtp-wire/",
    "crates/xtp-engine/src/context/",
    "crates/xtp-group/src/",
    "crates/xtp-engine/src/engine/initiator",
    "crates/xtp-engine/src/engine/responder",
    "crates/xtp-engine/src/engine/input.rs",
    "crates/xtp-engine/src/engine/replies.rs",
    "crates/xtp-engine/src/admit/diag.rs",
    "crates/xtp-engine/src/admit/tombstone.rs",
    "crates/xtp-engine/src/listener.rs",
    "crates/xtp-engine/src/plausible.rs",
    "crates/xtp-engine/src/time_wait.rs",
    "crates/xtp/src/core/echo.rs",
];

pub(super) fn check(file: &Source, is_test: bool, findings: &mut Vec<Finding>) {
    let held = file.crate_name().is_some_and(|name| HELD.contains(&name)) && file.path.contains("/src/");
    if !held || is_test {
        return;
    }
    let lays_out = LAYS_OUT_MEMORY.contains(&file.path.as_str());
    let knows_bits = RULES.iter().any(|place| file.path.starts_with(place));
    for (line, code) in file.code_lines() {
        for (word, instead) in LAYOUT {
            let excepted = lays_out && *word == "HEADER_LEN";
            if has_word(code, word) && !excepted {
                let message = format!("`{word}` belongs to xtp-wire: {instead}");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
        if knows_bits {
            continue;
        }
        for bit in BITS {
            let name = format!("Options::{bit}");
            if has_word(code, &name) {
                let message =
                    format!("`{name}` outside the rules of associations and groups: ask those, or xtp-wire");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
}

#[cfg(test)]
#[path = "packets_tests.rs"]
mod tests;
