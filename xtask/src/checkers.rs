//! `cargo xtask model` and `cargo xtask miri`: what a run of the tests cannot see.
//!
//! `model` builds the shipped code of frames with loom's atomics in place of the standard library's and runs the tests
//! named `model_tests`, each in every order in which its threads may see what others do. `miri` runs tests that make
//! no system call on an interpreter that knows what may be done with memory.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Times a thread is stopped where it could go on, at most: beyond, nothing more is known to be found by small models.
const PREEMPTIONS: &str = "3";

/// The nightly toolchain that Miri comes with, as CI installs it.
const TOOLCHAIN: &str = "+nightly";

/// Cases of each property on Miri.
const CASES: &str = "4";

/// Tests that run on Miri, by package: those of code with `unsafe` in it. Miri takes a hundred times as long, so only those
/// that are short; what is not lent, for it knows no pages that are moved.
const INTERPRETED: &[(&str, &[&str])] = &[(
    "xtp-io",
    &[
        "sys::frames::tests::usual",
        "sys::frames::tests::one_at",
        "sys::frames::tests::what_is_not",
        "sys::frames::tests::frames_are_filled",
        "slab::tests",
        "train::tests",
        "batch::tests",
    ],
)];

/// The tests under the model checker.
pub(crate) fn model(root: &Path) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "test",
        "--quiet",
        "-p",
        "xtp-io",
        "-p",
        "xtp",
        "--lib",
        "--no-fail-fast",
        "model_tests",
    ]);
    cargo
        .env("RUSTFLAGS", "--cfg xtp_loom")
        .env("CARGO_TARGET_DIR", place(root, "model"))
        .env("LOOM_MAX_PREEMPTIONS", PREEMPTIONS);
    succeed(cargo.current_dir(root), "the models")
}

/// The tests on Miri.
pub(crate) fn miri(root: &Path) -> Result<(), String> {
    for (package, filters) in INTERPRETED {
        let mut cargo = Command::new("cargo");
        cargo.args([TOOLCHAIN, "miri", "test", "--quiet", "-p", package, "--lib", "--"]);
        cargo.args(*filters);
        cargo
            .env("CARGO_TARGET_DIR", place(root, "miri"))
            // Tests of properties look for a file of cases that failed before, and take fewer new ones.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation")
            .env("PROPTEST_CASES", CASES);
        succeed(cargo.current_dir(root), &format!("{package} on Miri"))?;
    }
    Ok(())
}

/// A folder of its own, so that ordinary builds keep theirs.
fn place(root: &Path, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join(name)
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
