//! `cargo xtask model`: shared memory in every order its threads may see it.
//!
//! It builds the shipped code of frames and of the flusher with loom's atomics in place of the standard library's and runs the tests
//! named `model_tests`, each in every order in which its threads may see what others do.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Times a thread is stopped where it could go on, at most: beyond, nothing more is known to be found by small models.
const PREEMPTIONS: &str = "3";

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

/// A folder of its own, so that ordinary builds keep theirs.
pub(crate) fn place(root: &Path, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join(name)
}

/// Runs a program that must end well.
pub(crate) fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
