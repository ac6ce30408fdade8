//! The programs that must notice a mutant: test binaries, and the simulator with some seeds.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::tree::TESTED;

/// Memory of a killer, in KiB: a mutant may make something grow without end.
const MEMORY_KIB: u64 = 4 << 20;
/// Seconds of processor time a killer gets beside three times what it takes without a mutant.
const PATIENCE: u64 = 10;

/// Seeds of the two worlds that run in step: enough to notice a mutant, and not a minute for each that lives.
const WORLDS: u64 = 300;

/// The test of the two worlds that runs seeds.
const WORLDS_TEST: &str = "worlds_tests::shortcuts_and_general_calls_are_one_engine";

/// What kinds of killers there are, the canary must be noticed by each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Tests of `xtp-wire`.
    Wire,
    /// `crates/xtp-engine/tests`.
    Engine,
    /// Tests beside the engine's code.
    Units,
    /// Seeds of the simulator.
    Seeds,
    /// Tests of the simulator.
    Proofs,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Wire, Self::Engine, Self::Units, Self::Seeds, Self::Proofs];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Engine => "engine",
            Self::Units => "units",
            Self::Seeds => "seeds",
            Self::Proofs => "proofs",
        }
    }
}

/// One program.
#[derive(Debug, Clone)]
pub(super) struct Killer {
    pub(super) kind: Kind,
    /// The name of the test program.
    pub(super) name: String,
    program: PathBuf,
    folder: PathBuf,
    words: Vec<String>,
    /// The seeds of the two worlds.
    worlds: (u64, u64),
    /// Processor time it may take, in seconds.
    limit: u64,
    /// The mutants whose places it comes to without a mutant; of any other it can notice nothing.
    reaches: Option<BTreeSet<u32>>,
}

/// How a killer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// It noticed nothing.
    Passed,
    /// This test, or this seed, failed.
    Failed(String),
    /// It died, or took too long: how, and in which test.
    Died(String, String),
}

/// Which mutant a killer runs with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Choice {
    Mutant(u32),
    /// None, and it writes down which places it comes to.
    Trace,
}

impl Killer {
    /// Runs it, until something fails.
    pub(super) fn run(&self, choice: Choice, reached: &Path) -> Result<End, String> {
        // The shell sets limits of the process, and is the process then.
        let script = format!(
            "ulimit -t {} && ulimit -v {MEMORY_KIB} && exec \"$0\" \"$@\"",
            self.limit
        );
        let chosen = match choice {
            Choice::Mutant(number) => number.to_string(),
            Choice::Trace => "trace".to_owned(),
        };
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .arg(&self.program)
            .args(&self.words)
            .current_dir(&self.folder)
            .env("XTP_MUTANT", chosen)
            .env("XTP_MUTANT_REACHED", reached)
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
            .env("RUST_BACKTRACE", "0")
            .env("WORLDS_SEEDS", format!("{}..{}", self.worlds.0, self.worlds.1))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let (failed, running) = listen(&mut child);
        if let Some(test) = failed {
            // Nothing is left to learn from it.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(End::Failed(test));
        }
        let status = child.wait().map_err(|error| format!("{}: {error}", self.name))?;
        Ok(match status.success() {
            true => End::Passed,
            false => End::Died(status.to_string(), running),
        })
    }

    /// Runs it without a mutant, says how long it took, and limits later runs by that.
    pub(super) fn measure(&mut self, reached: &Path) -> Result<f64, String> {
        let _ = std::fs::remove_file(reached);
        let begin = Instant::now();
        match self.run(Choice::Trace, reached)? {
            End::Passed => {}
            End::Failed(what) | End::Died(_, what) => {
                return Err(format!("{} fails without any mutant: {what}", self.name));
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        self.limit = PATIENCE + (3.0 * seconds) as u64;
        let numbers = std::fs::read_to_string(reached).unwrap_or_default();
        self.reaches = Some(numbers.lines().filter_map(|line| line.parse().ok()).collect());
        let _ = std::fs::remove_file(reached);
        Ok(seconds)
    }

    /// Whether it comes to the mutant's place.
    pub(super) fn reaches(&self, mutant: u32) -> bool {
        self.reaches
            .as_ref()
            .is_none_or(|numbers| numbers.contains(&mutant))
    }

    /// The same with one test or seed alone; all of it if `what` names none.
    pub(super) fn alone(&self, what: &str) -> Self {
        let mut alone = self.clone();
        alone.limit = PATIENCE;
        let seed = what.strip_prefix("seed ").and_then(|seed| seed.parse().ok());
        match (self.kind, seed) {
            (_, None) if what.is_empty() => {}
            (Kind::Seeds, Some(seed)) => {
                let seed: u64 = seed;
                alone.words = vec![seed.to_string(), "1".to_owned(), "--fail-fast".to_owned()];
            }
            (_, Some(seed)) => alone.worlds = (seed, seed + 1),
            (_, None) => alone.words = vec![what.to_owned(), "--exact".to_owned()],
        }
        alone
    }
}

/// Reads what a killer says until something failed; if nothing did, what ran last.
fn listen(child: &mut Child) -> (Option<String>, String) {
    let Some(output) = child.stdout.take() else {
        return (None, String::new());
    };
    let mut reader = BufReader::new(output);
    let mut octets = Vec::new();
    loop {
        octets.clear();
        match reader.read_until(b'\n', &mut octets) {
            Ok(0) | Err(_) => return (None, String::new()),
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&octets);
        if let Some(failed) = failure(&line) {
            return (Some(failed), String::new());
        }
        // A line that was not ended is a test that was not.
        if let (false, Some(test)) = (line.ends_with('\n'), line.strip_prefix("test ")) {
            return (None, plain(test.trim_end_matches("... ").trim_end()).to_owned());
        }
    }
}

/// The name of a test, without what the runner puts behind it.
fn plain(test: &str) -> &str {
    test.strip_suffix(" - should panic").unwrap_or(test)
}

/// What failed, if this line of a test program or of the runner of seeds says so.
fn failure(line: &str) -> Option<String> {
    let line = line.trim_end();
    if let Some(test) = line
        .strip_prefix("test ")
        .and_then(|rest| rest.strip_suffix(" ... FAILED"))
    {
        return Some(plain(test).to_owned());
    }
    let seed = match line.split_once("WORLDS_SEED=") {
        Some((_, rest)) => rest.split(' ').next()?,
        None => line.strip_prefix("seed ")?.split_once(" failed:")?.0,
    };
    Some(format!("seed {seed}"))
}

/// Builds the killers of these kinds in the copy.
pub(super) fn build(copy: &Path, target: &Path, seeds: u64, kinds: &[Kind]) -> Result<Vec<Killer>, String> {
    let cargo = |words: &[&str]| {
        let mut command = Command::new("cargo");
        command
            .args(words)
            .current_dir(copy)
            .env("CARGO_TARGET_DIR", target)
            .env("RUSTFLAGS", "--cap-lints=allow")
            .env_remove("CARGO_TERM_QUIET");
        let output = command.output().map_err(|error| format!("cargo: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.success() {
            true => Ok(said),
            false => Err(format!("the mutants do not build:\n{said}")),
        }
    };
    cargo(&["build", "-p", "xtp-sim", "--example", "seeds"])?;
    let killer = |kind, name: String, program, folder, words: &[&str]| Killer {
        kind,
        name,
        program,
        folder,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        worlds: (0, WORLDS),
        limit: u64::from(u32::MAX),
        reaches: None,
    };
    let example = target.join("debug/examples/seeds");
    let words = ["1", &seeds.to_string(), "--fail-fast"];
    let mut killers = vec![killer(
        Kind::Seeds,
        "seeds".to_owned(),
        example,
        copy.to_owned(),
        &words,
    )];
    let wanted = |package: &&str| match *package {
        "xtp-wire" => kinds.contains(&Kind::Wire),
        "xtp-sim" => kinds.contains(&Kind::Proofs),
        _ => kinds.contains(&Kind::Engine) || kinds.contains(&Kind::Units),
    };
    for package in TESTED.into_iter().filter(wanted) {
        let said = cargo(&["test", "--no-run", "--lib", "--tests", "-p", package])?;
        let found: Vec<(String, PathBuf)> = said.lines().filter_map(executable).collect();
        if found.is_empty() {
            return Err(format!("cargo named no test program of {package}:\n{said}"));
        }
        for (name, program) in found {
            let (program, folder) = (copy.join(program), copy.join("crates").join(package));
            let (kind, whole) = (kind(package, &name), format!("{package} {name}"));
            let one = "--test-threads=1";
            if kind == Kind::Units {
                // Its seeds are a killer of their own, told one by one.
                let words = [WORLDS_TEST, "--exact", "--nocapture", one];
                let worlds = killer(kind, "worlds".to_owned(), program.clone(), folder.clone(), &words);
                killers.push(worlds);
                killers.push(killer(
                    kind,
                    whole,
                    program,
                    folder,
                    &["--skip", WORLDS_TEST, one],
                ));
            } else {
                killers.push(killer(kind, whole, program, folder, &[one]));
            }
        }
    }
    Ok(killers)
}

fn kind(package: &str, name: &str) -> Kind {
    match (package, name) {
        ("xtp-wire", _) => Kind::Wire,
        ("xtp-engine", "src/lib.rs") => Kind::Units,
        ("xtp-engine", _) => Kind::Engine,
        _ => Kind::Proofs,
    }
}

/// The source and the program in cargo's line `Executable tests/smoke.rs (target/debug/deps/smoke-1234)`.
fn executable(line: &str) -> Option<(String, PathBuf)> {
    let rest = line.trim_start().strip_prefix("Executable ")?;
    let (name, program) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let name = name.strip_prefix("unittests ").unwrap_or(name);
    Some((name.to_owned(), PathBuf::from(program)))
}

#[cfg(test)]
#[path = "killer_tests.rs"]
mod tests;
