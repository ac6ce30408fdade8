//! `cargo xtask miri`: tests that make no system call, on an interpreter that knows what may be done with memory.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::checkers::{is_ci, place, succeed};

/// The toolchain that Miri comes with: a nightly of one day, so that nothing changes by itself. It stands here only.
const TOOLCHAIN: &str = "nightly-2026-10-30";

/// Cases of each property on Miri.
const CASES: &str = "2";

/// Some tests of a package.
struct Tests {
    package: &'static str,
    /// Beginnings of their names; none for all.
    only: &'static [&'static str],
    /// Those of them that are left out.
    without: &'static [&'static str],
}

/// What runs on Miri, which takes a thousand times as long: how packets are read and written, the data structures of the engine, and
/// those of the socket layer with `unsafe` in them, as far as it asks the system for nothing. Miri moves no pages
/// to a place that is asked for, so what is lent there is not abandoned (`sys::linux::pages`).
const TESTS: [Tests; 3] = [
    Tests {
        package: "xtp-io",
        only: &[
            "sys::frames::tests::",
            "slab::tests::",
            "train::tests::",
            "batch::tests::",
        ],
        without: &[],
    },
    Tests {
        package: "xtp-wire",
        only: &[],
        // Every remainder of 65 535, hundreds of generated octets, a segment of 64 KiB: minutes each.
        without: &[
            "the_slices_of_a_modulus",
            "group::tests::any_packet",
            "a_specifier_longer_than",
        ],
    },
    Tests {
        package: "xtp-core",
        // The others are long, and it has no `unsafe`.
        only: &["send::ring::", "recv::octets::", "frames::tests::it"],
        // Ten thousand rounds.
        without: &["trains_do_not_push_out"],
    },
];

/// The packages with tests that run on Miri.
pub(crate) const PACKAGES: [&str; TESTS.len()] = [TESTS[0].package, TESTS[1].package, TESTS[2].package];

/// The tests on Miri of these packages, or of all.
pub(crate) fn run(root: &Path, packages: &[&str]) -> Result<(), String> {
    if let Some(unknown) = packages.iter().find(|package| !PACKAGES.contains(package)) {
        return Err(format!(
            "no tests of `{unknown}` run on Miri; there are: {}",
            PACKAGES.join(", ")
        ));
    }
    install()?;
    let chosen = |tests: &&Tests| packages.is_empty() || packages.contains(&tests.package);
    for tests in TESTS.iter().filter(chosen) {
        println!("ran: {}", tests.package);
        let mut cargo = Command::new("cargo");
        let toolchain = format!("+{TOOLCHAIN}");
        cargo.args([
            &toolchain,
            "miri",
            "test",
            "--quiet",
            "-p",
            tests.package,
            "--lib",
            "--",
        ]);
        cargo.args(tests.only);
        cargo.args(tests.without.iter().flat_map(|name| ["--skip", name]));
        cargo
            .env("CARGO_TARGET_DIR", place(root, "miri"))
            // Tests of properties look for a file of cases that failed before, and take fewer new ones.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .env("PROPTEST_CASES", CASES)
            // To say where a panic came from takes as long as a test.
            .env("RUST_BACKTRACE", "0");
        succeed(cargo.current_dir(root), &format!("{} on Miri", tests.package))?;
    }
    Ok(())
}

/// Has the toolchain: CI installs what is missing, people are told how.
fn install() -> Result<(), String> {
    let has = |words: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(["run", TOOLCHAIN]).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let words = [
        "toolchain",
        "install",
        TOOLCHAIN,
        "--profile",
        "minimal",
        "--component",
        "miri",
        "--component",
        "rust-src",
    ];
    if has(&["cargo", "miri", "--version"]) {
        return Ok(());
    }
    let by_hand = format!("rustup {}", words.join(" "));
    if !is_ci() {
        return Err(format!("Miri of {TOOLCHAIN} is not installed: {by_hand}"));
    }
    succeed(
        Command::new("rustup").args(words),
        &format!("`{by_hand}`, for Miri"),
    )
}
