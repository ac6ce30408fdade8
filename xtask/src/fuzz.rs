//! `cargo xtask fuzz`: builds every target of `fuzz/` with coverage on the stable toolchain and runs it.
//!
//! No address sanitizer: the code under test forbids `unsafe`, so panics, overflows, hangs and memory growth
//! are what there is to find, and coverage needs no nightly compiler.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// LLVM's coverage pass as libFuzzer wants it.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// An input that takes longer than this many seconds is a hang.
const HANG_SECONDS: u32 = 5;
/// More memory than this many MiB is growth without limit.
const MEMORY_MIB: u32 = 1_024;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let (seconds, wanted) = match words {
        ["--seconds", seconds, rest @ ..] => (
            seconds
                .parse::<u32>()
                .map_err(|_| format!("--seconds {seconds}: give a whole number"))?,
            rest,
        ),
        rest => (30, rest),
    };
    let fuzz = root.join("fuzz");
    let all = targets(&fuzz)?;
    if let Some(unknown) = wanted
        .iter()
        .find(|name| !all.iter().any(|target| target == *name))
    {
        return Err(format!(
            "no fuzz target `{unknown}`; there are: {}",
            all.join(", ")
        ));
    }
    let host = host_triple()?;
    build(&fuzz, &host)?;
    for target in all
        .iter()
        .filter(|target| wanted.is_empty() || wanted.contains(&target.as_str()))
    {
        let started = Instant::now();
        run_target(&fuzz, &host, target, seconds)?;
        println!(
            "fuzz: {target}: nothing found in {} s",
            started.elapsed().as_secs()
        );
    }
    Ok(())
}

/// The target of each file in `fuzz/targets`.
fn targets(fuzz: &Path) -> Result<Vec<String>, String> {
    let folder = fuzz.join("targets");
    let entries = folder
        .read_dir()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .collect();
    names.sort();
    if names.is_empty() {
        Err(format!("{} holds no target", folder.display()))
    } else {
        Ok(names)
    }
}

/// Named to cargo, so that the flags do not reach build scripts, which have no fuzzer to link to.
fn host_triple() -> Result<String, String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn build(fuzz: &Path, host: &str) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--release",
        "--bins",
        "--target",
        host,
        "--target-dir",
        "target",
    ]);
    cargo
        .env("RUSTFLAGS", RUSTFLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .current_dir(fuzz);
    succeed(&mut cargo, "building the fuzz targets")
}

fn run_target(fuzz: &Path, host: &str, target: &str, seconds: u32) -> Result<(), String> {
    let found = fuzz.join("target").join("found").join(target);
    let grown = fuzz.join("target").join("corpus").join(target);
    let seeds = fuzz.join("corpus").join(target);
    for folder in [&found, &grown, &seeds] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut program = Command::new(fuzz.join("target").join(host).join("release").join(target));
    // New inputs go to the first folder, which is not tracked; the seeds are only read.
    program.arg(&grown).arg(&seeds);
    program.arg(format!("-max_total_time={seconds}"));
    program
        .arg(format!("-timeout={HANG_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"));
    program
        .arg(format!("-artifact_prefix={}/", found.display()))
        .arg("-print_final_stats=1");
    program.args(["-verbosity=0", "-seed=1"]);
    succeed(
        &mut program,
        &format!("fuzz target {target} (its input is in {})", found.display()),
    )
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
