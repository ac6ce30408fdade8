//! What a crate's code may use: `unsafe`, allocation, clocks, sockets, threads, globals.

use super::Finding;
use super::imports::imports;
use super::source::{Source, has_word};

/// What the engine's code must not name, and what to do instead. A path counts wherever it stands, written
/// out or imported.
const ENGINE: &[(&str, &str)] = &[
    ("std::net::UdpSocket", "the driver owns the sockets"),
    ("std::net::TcpStream", "the driver owns the sockets"),
    ("std::net::TcpListener", "the driver owns the sockets"),
    ("std::os", "system calls belong to xtp-io"),
    ("std::fs", "the engine knows no files"),
    ("std::env", "settings reach the engine through its configuration"),
    ("std::process", "the engine knows no processes"),
    ("std::io", "the engine does no input or output"),
    ("std::time::Instant", "take the time from the driver"),
    ("std::time::SystemTime", "take the UTC offset from the driver"),
    ("std::thread", "the driver owns the threads"),
    ("std::sync::Mutex", "the engine belongs to one caller at a time"),
    ("std::sync::RwLock", "the engine belongs to one caller at a time"),
    ("std::sync::Condvar", "the engine never waits"),
    ("std::sync::mpsc", "the engine hands out events, not channels"),
    (
        "std::collections::HashMap",
        "use hashbrown with the endpoint's keyed hasher",
    ),
    (
        "std::collections::HashSet",
        "use hashbrown with the endpoint's keyed hasher",
    ),
    (
        "std::collections::hash_map",
        "use hashbrown with the endpoint's keyed hasher",
    ),
];

/// Words the engine's code must not contain.
const ENGINE_WORDS: &[(&str, &str)] = &[
    ("getrandom", "the seed is part of the endpoint's configuration"),
    ("rand::rng", "the seed is part of the endpoint's configuration"),
    ("thread_rng", "the seed is part of the endpoint's configuration"),
    ("from_os_rng", "the seed is part of the endpoint's configuration"),
    (
        "RandomState",
        "the hasher's key is part of the endpoint's configuration",
    ),
    ("static mut", "the engine has no globals"),
    ("OnceLock", "the engine has no globals"),
    ("LazyLock", "the engine has no globals"),
    ("OnceCell", "the engine has no globals"),
    ("thread_local", "the engine has no globals"),
];

/// What the wire crate must not name.
const WIRE: &[(&str, &str)] = &[
    ("std", "the wire crate is `core` only"),
    ("alloc", "the wire crate never allocates"),
];

pub(super) fn check(file: &Source, is_test: bool, findings: &mut Vec<Finding>) {
    check_unsafe(file, findings);
    check_root(file, findings);
    let in_src = file.path.contains("/src/");
    match file.crate_name() {
        Some("xtp-core" | "xtp-congestion" | "xtp-group" | "xtp-engine" | "xtp-mesh")
            if in_src && !is_test =>
        {
            check_paths(file, ENGINE, findings);
            check_engine_words(file, findings);
        }
        Some("xtp-wire") if in_src && !is_test => check_wire(file, findings),
        _ => {}
    }
}

fn is_ffi(name: &str) -> bool {
    name.ends_with("-ffi")
}

fn check_unsafe(file: &Source, findings: &mut Vec<Finding>) {
    let allowed = file.path.starts_with("crates/xtp-io/src/sys") || file.crate_name().is_some_and(is_ffi);
    if allowed {
        return;
    }
    for (line, code) in file.code_lines() {
        if has_word(code, "unsafe") {
            let message =
                "`unsafe` belongs to the system-call module of xtp-io or to an FFI crate: move it there";
            findings.push(Finding::new(&file.path, line, message));
        }
    }
}

/// Crate roots forbid unsafe code, except where it may stand.
fn check_root(file: &Source, findings: &mut Vec<Finding>) {
    let inside = file
        .path
        .strip_prefix("crates/")
        .and_then(|path| path.split_once('/'))
        .map(|(_, inside)| inside);
    let inside = inside.or_else(|| file.path.strip_prefix("xtask/"));
    let is_root = inside.is_some_and(|inside| {
        matches!(inside, "src/lib.rs" | "src/main.rs")
            || inside
                .strip_prefix("src/bin/")
                .is_some_and(|name| !name.contains('/'))
    });
    let excepted = file
        .crate_name()
        .is_some_and(|name| name == "xtp-io" || is_ffi(name));
    if is_root && !excepted && !file.code.contains("#![forbid(unsafe_code)]") {
        findings.push(Finding::new(
            &file.path,
            1,
            "add `#![forbid(unsafe_code)]` to the crate root",
        ));
    }
}

fn check_paths(file: &Source, forbidden: &[(&str, &str)], findings: &mut Vec<Finding>) {
    let mut report = |line: usize, path: &str, reason: &str| {
        let message = format!(
            "{} must not use `{path}`: {reason}",
            file.crate_name().unwrap_or("this crate")
        );
        let finding = Finding::new(&file.path, line, message);
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    };
    for &(path, reason) in forbidden {
        for import in imports(file) {
            if import.path == path || import.path.starts_with(&format!("{path}::")) {
                report(import.line, path, reason);
            }
        }
        for (line, code) in file.code_lines() {
            if has_word(code, path) && !code.trim_start().starts_with("use ") {
                report(line, path, reason);
            }
        }
    }
}

fn check_engine_words(file: &Source, findings: &mut Vec<Finding>) {
    for (line, code) in file.code_lines() {
        for &(word, reason) in ENGINE_WORDS {
            if has_word(code, word) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("the engine must not use `{word}`: {reason}"),
                ));
            }
        }
    }
}

fn check_wire(file: &Source, findings: &mut Vec<Finding>) {
    let mut for_tests = false;
    for (line, code) in file.code_lines() {
        for &(name, reason) in WIRE {
            let named =
                has_word(code, &format!("{name}::")) || has_word(code, &format!("extern crate {name}"));
            if named && !for_tests {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("xtp-wire must not use `{name}`: {reason}"),
                ));
            }
        }
        for_tests = code.trim().starts_with("#[cfg(test)]");
    }
    if file.path == "crates/xtp-wire/src/lib.rs" && !file.code.contains("no_std") {
        findings.push(Finding::new(
            &file.path,
            1,
            "add `#![no_std]`: the wire crate is `core` only",
        ));
    }
}

#[cfg(test)]
#[path = "purity_tests.rs"]
mod tests;
