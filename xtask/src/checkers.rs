//! Checks that other programs do: `cargo xtask model`, `oldest`, `elsewhere`, `packages` and `dependencies`.
//!
//! `model` builds the shipped code of frames and of the flusher with loom's atomics in place of the standard library's and runs the tests
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
        "xtp-transport",
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

/// The oldest compiler that `Cargo.toml` promises, on what ships: tests may use what is newer.
pub(crate) fn oldest(root: &Path) -> Result<(), String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))
        .map_err(|error| format!("Cargo.toml cannot be read: {error}"))?;
    let version = manifest
        .lines()
        .find_map(|line| {
            line.strip_prefix("rust-version = ")?
                .trim()
                .strip_prefix('"')?
                .strip_suffix('"')
        })
        .ok_or("Cargo.toml names no rust-version")?;
    let mut known = Command::new("rustup");
    known.args(["run", version, "rustc", "--version"]);
    if !known.output().is_ok_and(|output| output.status.success()) {
        let mut rustup = Command::new("rustup");
        rustup.args(["toolchain", "install", version, "--profile", "minimal"]);
        succeed(&mut rustup, &format!("installing the toolchain {version}"))?;
    }
    let mut cargo = Command::new("cargo");
    cargo.args([
        &format!("+{version}"),
        "check",
        "--workspace",
        "--exclude",
        "xtask",
        "--all-features",
    ]);
    // A folder of its own: it would wait for the builds of today's compiler, and they for it.
    cargo.env("CARGO_TARGET_DIR", place(root, "oldest"));
    succeed(cargo.current_dir(root), &format!("cargo check of {version}"))
}

/// Systems for which the library is compiled and not run.
const ELSEWHERE: [&str; 4] = [
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "x86_64-unknown-freebsd",
    "x86_64-pc-windows-gnu",
];

/// The library, and what it stands on, for other systems: it compiles there without a warning.
pub(crate) fn elsewhere(root: &Path) -> Result<(), String> {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add"]).args(ELSEWHERE).current_dir(root);
    succeed(&mut rustup, "`rustup target add`")?;
    for target in ELSEWHERE {
        let mut cargo = Command::new("cargo");
        cargo
            .args([
                "check",
                "--quiet",
                "-p",
                "xtp-transport",
                "--all-features",
                "--target",
                target,
            ])
            .env("RUSTFLAGS", "-D warnings")
            .env("CARGO_TARGET_DIR", place(root, "elsewhere"))
            .current_dir(root);
        succeed(&mut cargo, target)?;
        println!("compiled: xtp for {target}");
    }
    Ok(())
}

/// What would be published builds from its packages alone, each with the others as packages.
pub(crate) fn packages(root: &Path) -> Result<(), String> {
    let folder = place(root, "packages");
    // Cargo unpacks each once for a folder and a version, and takes those of an earlier run of the same name for today's.
    let own = folder.join(std::process::id().to_string());
    let mut cargo = Command::new("cargo");
    cargo
        .args(["publish", "--workspace", "--exclude", "xtask"])
        .args(["--dry-run", "--allow-dirty", "--target-dir"])
        .arg(&own)
        .current_dir(root);
    let done = succeed(&mut cargo, "cargo publish --dry-run");
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    done
}

/// Licences, origins and advisories of everything xtp is built from, by cargo-deny and `deny.toml`.
pub(crate) fn dependencies(root: &Path) -> Result<(), String> {
    let deny = |words: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.arg("deny").args(words).current_dir(root);
        cargo
    };
    let is_there = || {
        deny(&["--version"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let by_hand = "cargo install cargo-deny --locked";
    if !is_there() && is_ci() {
        // As long as two minutes of two cores, which is why a change is not held up by it.
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "cargo-deny", "--locked", "--quiet"]);
        succeed(&mut cargo, &format!("`{by_hand}`"))?;
    } else if !is_there() {
        return Err(format!("cargo-deny is not installed: {by_hand}"));
    }
    succeed(&mut deny(&["check", "licenses", "bans", "sources"]), "cargo deny")?;
    // The database of advisories is a repository that not every machine reaches; that it was not asked is said.
    let fetched = deny(&["fetch", "db"])
        .output()
        .is_ok_and(|output| output.status.success());
    match fetched {
        true => succeed(&mut deny(&["check", "advisories"]), "cargo deny"),
        false => {
            println!(
                "ran: licences, bans and sources; advisories NOT: their database cannot be fetched here"
            );
            Ok(())
        }
    }
}

/// Whether this run installs what is missing and may leave nothing out: CI does, people are told.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}
