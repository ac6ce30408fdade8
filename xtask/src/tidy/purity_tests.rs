//! What a crate's code may use.

use super::*;

fn found(path: &str, is_test: bool, text: &str) -> Vec<(usize, String)> {
    let mut findings = Vec::new();
    check(&Source::new(path, text.to_owned()), is_test, &mut findings);
    findings
        .into_iter()
        .map(|finding| (finding.line, finding.message))
        .collect()
}

fn lines(path: &str, is_test: bool, text: &str) -> Vec<usize> {
    found(path, is_test, text)
        .into_iter()
        .map(|(line, _)| line)
        .collect()
}

#[test]
fn unsafe_stands_in_the_system_calls_and_ffi_crates_only() {
    let text = "//! A.\n// unsafe\nfn a() { unsafe { b() } }\n";
    for path in [
        "crates/xtp-io/src/sys/linux.rs",
        "crates/xtp-io/src/sys.rs",
        "crates/xtp-ffi/src/call.rs",
    ] {
        assert_eq!(lines(path, false, text), [0; 0], "{path}");
    }
    for path in [
        "crates/xtp-io/src/socket.rs",
        "crates/xtp/src/a.rs",
        "xtask/src/a.rs",
        "crates/xtp/tests/a.rs",
    ] {
        assert_eq!(lines(path, true, text), [3], "{path}");
    }
}

#[test]
fn crate_roots_forbid_unsafe_code() {
    for path in [
        "crates/xtp/src/lib.rs",
        "crates/xtp-cli/src/main.rs",
        "crates/a/src/bin/b.rs",
        "xtask/src/main.rs",
    ] {
        assert_eq!(lines(path, false, "//! A.\n"), [1], "{path}");
        assert_eq!(
            lines(path, false, "//! A.\n#![forbid(unsafe_code)]\n"),
            [0; 0],
            "{path}"
        );
    }
    for path in [
        "crates/xtp-io/src/lib.rs",
        "crates/xtp-ffi/src/lib.rs",
        "crates/xtp/src/a.rs",
    ] {
        assert_eq!(lines(path, false, "//! A.\n"), [0; 0], "{path}");
    }
}

#[test]
fn the_engine_has_no_clock_socket_thread_chance_or_global() {
    let path = "crates/xtp-engine/src/a.rs";
    let bad = [
        "use std::time::Instant;",
        "use std::{net::{SocketAddr, UdpSocket}};",
        "let now = std::time::SystemTime::now();",
        "std::thread::sleep(d);",
        "use std::thread;",
        "use std::collections::HashMap;",
        "let key = getrandom::u64();",
        "static mut COUNT: u32 = 0;",
        "static A: OnceLock<u8> = OnceLock::new();",
        "thread_local! {}",
        "let mut r = rand::rng();",
    ];
    for text in bad {
        assert_eq!(lines(path, false, text).first(), Some(&1), "{text}");
        assert_eq!(lines(path, true, text), [0; 0], "a test may: {text}");
        assert_eq!(
            lines("crates/xtp/src/a.rs", false, text),
            [0; 0],
            "the driver may: {text}"
        );
    }
    let good = "use std::time::Duration;\nuse std::net::SocketAddr;\nuse crate::Instant;\nuse hashbrown::HashMap;\n// std::thread\n";
    assert_eq!(lines(path, false, good), [0; 0]);
}

#[test]
fn the_wire_crate_is_core_only() {
    let path = "crates/xtp-wire/src/a.rs";
    assert_eq!(
        lines(
            path,
            false,
            "use std::vec::Vec;\nextern crate alloc;\nuse alloc::vec;\n"
        ),
        [1, 2, 3]
    );
    assert_eq!(
        lines(
            path,
            false,
            "#[cfg(test)]\nextern crate std;\nlet alloc = c.alloc;\nuse core::fmt;\n"
        ),
        [0; 0]
    );
    assert_eq!(lines(path, true, "use std::vec;\n"), [0; 0]);
    let root = "crates/xtp-wire/src/lib.rs";
    assert_eq!(lines(root, false, "//! A.\n#![forbid(unsafe_code)]\n"), [1]);
    assert_eq!(
        lines(root, false, "//! A.\n#![no_std]\n#![forbid(unsafe_code)]\n"),
        [0; 0]
    );
}

#[test]
fn the_message_says_what_and_why() {
    let expected = "xtp-engine must not use `std::time::Instant`: take the time from the driver";
    let found = found(
        "crates/xtp-engine/src/a.rs",
        false,
        "fn a(t: std::time::Instant) {}\n",
    );
    assert_eq!(found, [(1, expected.to_owned())]);
}
