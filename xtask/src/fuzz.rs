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

use crate::pool;
use crate::shard::Shard;

/// LLVM's coverage pass as libFuzzer wants it.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Parts of the inputs of a target that are made up, each of a seed of its own.
const PARTS: u32 = 4;

/// An input that takes longer than this many seconds is a hang, whatever else the machine does.
const HANG_SECONDS: u32 = 60;
/// More memory than this many MiB is growth without limit.
const MEMORY_MIB: u32 = 1_024;

/// Inputs of a target in a fixed run, all parts together: about 20 s of one core.
const RUNS: [(&str, u32); 11] = [
    ("cli_input", 5_000_000),
    ("engine_exchange", 45_000),
    ("engine_first", 300_000),
    ("engine_groups", 20_000),
    ("engine_reassembly", 230_000),
    ("engine_receive", 25_000),
    ("link_units", 6_000_000),
    ("mesh_stream", 20_000),
    ("wire_groups", 12_000_000),
    ("wire_packet", 19_000_000),
    ("wire_shortcuts", 12_000_000),
];

/// How long inputs are made up.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Length {
    /// As many as [`RUNS`] says, always the same.
    Fixed,
    /// One part of them.
    Part(Shard),
    /// For so many seconds, others every time.
    Seconds(u32),
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Arguments {
    length: Length,
    /// Targets; empty for all.
    targets: Vec<String>,
    /// Paths from the root of the repository: targets that use what lies there run in full whatever the part.
    changed: Vec<String>,
}

const USAGE: &str = "\
Usage: cargo xtask fuzz [--seconds N | --part K/N [--changed PATH...]] [TARGET...]

Builds the fuzz targets with coverage, runs every tracked input and then inputs that are made up, the same every time.

  --seconds N        others every time, for N seconds a target
  --part K/N         one of N parts of the fixed inputs, from 0
  --changed PATH...  with --part: all inputs of the targets that use a crate with one of these files

Examples:
  cargo xtask fuzz wire_packet
  cargo xtask fuzz --seconds 600 engine_receive
  cargo xtask fuzz --part 2/4 --changed crates/xtp-wire/src/header.rs
";

/// Builds the targets and runs them, as many at a time as there are cores; an error if one finds something.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), String> {
    let Some(arguments) = parse(words)? else {
        print!("{USAGE}");
        return Ok(());
    };
    let fuzz = root.join("fuzz");
    let all = targets(&fuzz)?;
    let wanted = &arguments.targets;
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(name)) {
        return Err(format!(
            "no fuzz target `{unknown}`; there are: {}",
            all.join(", ")
        ));
    }
    let host = host_triple()?;
    build(&fuzz, &host)?;
    let mut chosen: Vec<(&str, Length)> = Vec::new();
    for target in all
        .iter()
        .filter(|target| wanted.is_empty() || wanted.contains(target))
    {
        let length = match arguments.length {
            Length::Part(_) if uses(&fuzz, target, &arguments.changed)? => Length::Fixed,
            length => length,
        };
        chosen.push((target, length));
    }
    let mut wrong = Vec::new();
    let work = |(target, length): &(&str, Length)| {
        let started = Instant::now();
        let done = run_target(&fuzz, &host, target, *length);
        (target.to_string(), done, started.elapsed().as_secs())
    };
    pool::each(
        &chosen,
        pool::cores(),
        work,
        |(target, done, seconds)| match done {
            Ok(()) => println!("fuzz: {target}: nothing found in {seconds} s"),
            Err(error) => {
                println!("fuzz: {error}");
                wrong.push(target);
            }
        },
    );
    let whole = chosen
        .iter()
        .filter(|(_, length)| *length == Length::Fixed)
        .count();
    if let Length::Part(shard) = arguments.length {
        let (part, parts) = (shard.index(), shard.count());
        println!(
            "ran: part {part} of {parts}, and all inputs of {whole} of {} targets",
            chosen.len()
        );
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("fuzz targets found something: {}", wrong.join(", "))),
    }
}

/// `None` if the usage was asked for.
fn parse(words: &[&str]) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        length: Length::Fixed,
        targets: Vec::new(),
        changed: Vec::new(),
    };
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "--help" | "-h" => return Ok(None),
            "--seconds" => {
                let seconds = words.next().and_then(|word| word.parse().ok());
                arguments.length = Length::Seconds(seconds.ok_or("--seconds: give a whole number")?);
            }
            "--part" => {
                arguments.length = Length::Part(Shard::parse(words.next().unwrap_or(""))?);
            }
            "--changed" => {
                while let Some(path) = words.next_if(|word| !word.starts_with("--")) {
                    arguments.changed.push(path.to_owned());
                }
            }
            option if option.starts_with("--") => {
                return Err(format!("`{option}` is unknown; see `cargo xtask fuzz --help`"));
            }
            target => arguments.targets.push(target.to_owned()),
        }
    }
    Ok(Some(arguments))
}

/// Whether a target, or a crate it names, has one of the changed files.
fn uses(fuzz: &Path, target: &str, changed: &[String]) -> Result<bool, String> {
    let source = fuzz.join("targets").join(format!("{target}.rs"));
    let text = std::fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    let concerns = |path: &String| match path.strip_prefix("crates/").and_then(|path| path.split_once('/')) {
        Some((package, file)) => file.starts_with("src/") && names(&text, package),
        None => path.strip_prefix("fuzz/").is_some_and(|path| {
            path.starts_with("src/")
                || path.contains(&format!("/{target}/"))
                || path == format!("targets/{target}.rs")
        }),
    };
    Ok(changed.iter().any(concerns))
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

/// Whether the source of a target names this crate, or the pair of engines that targets share, which does.
fn names(text: &str, package: &str) -> bool {
    let shared = text.contains("xtp_fuzz")
        && [
            "xtp-core",
            "xtp-congestion",
            "xtp-group",
            "xtp-engine",
            "xtp-wire",
        ]
        .contains(&package);
    shared || text.contains(&format!("{}::", package.replace('-', "_")))
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
    let what = format!("fuzz target {target} (its input is in fuzz/{})", found.display());
    let (first, last, parts) = match length {
        Length::Fixed => (0, PARTS, PARTS),
        Length::Part(shard) => (shard.index(), shard.index() + 1, shard.count()),
        Length::Seconds(seconds) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let seed = now.subsec_nanos() | 1;
            println!("fuzz: {target}: {seconds} s of seed {seed}");
            let mut program = program();
            program
                .args(["-print_final_stats=1", "-verbosity=0"])
                .arg(format!("-seed={seed}"))
                .arg(format!("-max_total_time={seconds}"))
                // New inputs go to the first folder, which is not tracked; the seeds are only read.
                .args([grown, Path::new("corpus").join(target)]);
            return succeed(&mut program, &what);
        }
    };
    let runs = runs_of(target)? / parts;
    for part in first..last {
        let mut program = program();
        program
            .args(["-print_final_stats=1", "-verbosity=0"])
            .arg(format!("-seed={}", part + 1))
            .arg(format!("-runs={runs}"))
            // What depends on addresses in memory, on the clock or on the order of a folder would be chance.
            .args(["-use_cmp=0", "-reload=0"]);
        if !seeds.is_empty() {
            program.arg(format!("-seed_inputs={}", seeds.join(",")));
        }
        succeed(&mut program, &what)?;
    }
    Ok(())
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

#[cfg(test)]
#[path = "fuzz_tests.rs"]
mod tests;
