//! `cargo xtask fuzz`: builds every target of `fuzz/` with coverage on the stable toolchain and runs it.
//!
//! Every tracked input runs once. Then a fixed number of inputs that begin with the tracked ones and a fixed seed, the same
//! on every machine, so that nobody's change is refused for what chance found; or, with `--seconds`, whatever chance brings
//! in that time, for those who look for faults.
//!
//! No address sanitizer: the code under test forbids `unsafe`, so panics, overflows, hangs and memory growth
//! are what there is to find, and coverage needs no nightly compiler.

use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// LLVM's coverage pass as libFuzzer wants it.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// An input that takes longer than this many seconds is a hang, whatever else the machine does.
const HANG_SECONDS: u32 = 60;
/// More memory than this many MiB is growth without limit.
const MEMORY_MIB: u32 = 1_024;

/// Inputs of a target in a fixed run: about 20 s of one core.
const RUNS: [(&str, u32); 10] = [
    ("cli_input", 5_000_000),
    ("engine_exchange", 45_000),
    ("engine_first", 300_000),
    ("engine_groups", 20_000),
    ("engine_reassembly", 230_000),
    ("engine_receive", 25_000),
    ("link_units", 6_000_000),
    ("wire_groups", 12_000_000),
    ("wire_packet", 19_000_000),
    ("wire_shortcuts", 12_000_000),
];

/// How long inputs are made up.
#[derive(Copy, Clone)]
enum Length {
    /// As many as [`RUNS`] says, always the same.
    Fixed,
    /// For so many seconds, others every time.
    Seconds(u32),
}

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let (length, wanted) = match words {
        ["--seconds", seconds, rest @ ..] => (
            seconds
                .parse()
                .map(Length::Seconds)
                .map_err(|_| format!("--seconds {seconds}: give a whole number"))?,
            rest,
        ),
        rest => (Length::Fixed, rest),
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
        run_target(&fuzz, &host, target, length)?;
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

fn run_target(fuzz: &Path, host: &str, target: &str, length: Length) -> Result<(), String> {
    let found = Path::new("target").join("found").join(target);
    let grown = Path::new("target").join("corpus").join(target);
    for folder in [&found, &grown] {
        let folder = fuzz.join(folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let program = || {
        let path = fuzz.join("target").join(host).join("release").join(target);
        let mut program = Command::new(path);
        program
            .current_dir(fuzz)
            .arg(format!("-timeout={HANG_SECONDS}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
            .arg(format!("-artifact_prefix={}/", found.display()));
        program
    };
    let seeds = seeds(fuzz, target)?;
    if !seeds.is_empty() {
        succeed(
            program().args(&seeds),
            &format!("fuzz target {target} with an input of fuzz/corpus"),
        )?;
    }
    let mut program = program();
    program.args(["-print_final_stats=1", "-verbosity=0"]);
    match length {
        Length::Fixed => {
            let runs = runs_of(target)?;
            println!("fuzz: {target}: {runs} inputs of seed 1");
            program.arg("-seed=1").arg(format!("-runs={runs}"));
            // What depends on addresses in memory, on the clock or on the order of a folder would be chance.
            program.args(["-use_cmp=0", "-reload=0"]);
            if !seeds.is_empty() {
                program.arg(format!("-seed_inputs={}", seeds.join(",")));
            }
        }
        Length::Seconds(seconds) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let seed = now.subsec_nanos() | 1;
            println!("fuzz: {target}: {seconds} s of seed {seed}");
            program.arg(format!("-seed={seed}"));
            program.arg(format!("-max_total_time={seconds}"));
            // New inputs go to the first folder, which is not tracked; the seeds are only read.
            program.arg(grown).arg(Path::new("corpus").join(target));
        }
    }
    succeed(
        &mut program,
        &format!("fuzz target {target} (its input is in fuzz/{})", found.display()),
    )
}

/// Tracked inputs of a target in the order of their names, seen from `fuzz`.
fn seeds(fuzz: &Path, target: &str) -> Result<Vec<String>, String> {
    let folder = fuzz.join("corpus").join(target);
    let entries = folder
        .read_dir()
        .map_err(|error| format!("{}: {error}: every target has inputs", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut seeds: Vec<_> = names.map(|name| format!("corpus/{target}/{name}")).collect();
    seeds.sort();
    Ok(seeds)
}

fn runs_of(target: &str) -> Result<u32, String> {
    RUNS.iter()
        .find(|(name, _)| *name == target)
        .map(|(_, runs)| *runs)
        .ok_or_else(|| format!("fuzz target {target} has no number of runs in xtask/src/fuzz.rs"))
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
