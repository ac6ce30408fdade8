//! The programs that must notice a mutant: test binaries, and the simulator with some seeds.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::kind::Kind;

/// Memory of a killer, in KiB: a mutant may make something grow without end.
const MEMORY_KIB: u64 = 4 << 20;
/// Seconds of processor time a killer gets beside three times what it takes without a mutant.
const PATIENCE: u64 = 20;
/// Seconds by the clock a killer gets beside ten times what it takes without a mutant: tests of sockets and programs may
/// wait for ever without any processor time.
const CLOCK_PATIENCE: u64 = 90;
/// The same for one test, which takes a few at most. A busy host may take it for a hang; then it does not pass without the
/// mutant either, and all are asked.
const ALONE_PATIENCE: u64 = 20;

/// Seeds of the two worlds that run in step: enough to notice a mutant, and not a minute for each that lives.
const WORLDS: u64 = 300;

/// The test of the two worlds that runs seeds.
const WORLDS_TEST: &str = "worlds_tests::shortcuts_and_general_calls_are_one_engine";

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
    /// Time by the clock it may take.
    clock_limit: Duration,
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
        // A group of its own, so that programs it started end with it.
        let mut child = Command::new("sh")
            .process_group(0)
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
        let (failed, running) = listen(&mut child, self.clock_limit);
        if let Some(test) = failed {
            // Nothing is left to learn from it.
            kill_group(child.id());
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
        self.clock_limit = Duration::from_secs(CLOCK_PATIENCE + (10.0 * seconds) as u64);
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
        alone.clock_limit = Duration::from_secs(ALONE_PATIENCE);
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

/// Ends a killer and the programs it started.
fn kill_group(leader: u32) {
    // The shell's own command: `kill` of a group is a system call that only unsafe code can make.
    let _ = Command::new("sh")
        .args(["-c", &format!("kill -s KILL -- -{leader}")])
        .status();
}

/// Reads what a killer says until something failed; if nothing did, what ran last. A killer that is at it for longer
/// than `limit` is killed.
fn listen(child: &mut Child, limit: Duration) -> (Option<String>, String) {
    let Some(output) = child.stdout.take() else {
        return (None, String::new());
    };
    let leader = child.id();
    let (ended, watched) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                kill_group(leader);
            }
        });
        let heard = read(output);
        drop(ended);
        heard
    })
}

fn read(output: ChildStdout) -> (Option<String>, String) {
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

/// Builds the killers of these kinds in the copy, all with one call of cargo.
pub(super) fn build(copy: &Path, target: &Path, seeds: u64, kinds: &[Kind]) -> Result<Vec<Killer>, String> {
    let packages: BTreeSet<&str> = kinds.iter().flat_map(|kind| kind.packages()).copied().collect();
    let mut words = vec!["build", "--message-format=json-render-diagnostics"];
    words.extend(
        packages
            .into_iter()
            .flat_map(|package| ["-p", published(package)]),
    );
    if kinds.iter().any(|kind| *kind != Kind::Seeds) {
        words.push("--tests");
    }
    if kinds.contains(&Kind::Seeds) {
        words.extend(["--example", "seeds"]);
    }
    if kinds.contains(&Kind::Facade) {
        words.extend(["--features", "xtp-transport/tokio,xtp-transport/capture"]);
    }
    let output = Command::new("cargo")
        .args(words)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("CARGO_TERM_QUIET")
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the mutants do not build:\n{said}"));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let mut programs: Vec<TestProgram> = said.lines().filter_map(executable).collect();
    programs.sort_by_key(|program| (program.package.clone(), program.name.clone()));
    let killers = programs.iter().flat_map(|program| killers(copy, program, seeds));
    let killers: Vec<Killer> = killers.filter(|killer| kinds.contains(&killer.kind)).collect();
    match kinds
        .iter()
        .find(|kind| killers.iter().all(|killer| killer.kind != **kind))
    {
        None => Ok(killers),
        Some(kind) => Err(format!("cargo built no program of the kind `{}`", kind.name())),
    }
}

/// The name of the package in a folder of `crates`.
fn published(folder: &str) -> &str {
    match folder {
        "xtp" => "xtp-transport",
        _ => folder,
    }
}

/// The killers that a program is.
fn killers(copy: &Path, program: &TestProgram, seeds: u64) -> Vec<Killer> {
    let TestProgram { package, name, .. } = program;
    let Some(kind) = Kind::of_program(package, name) else {
        return Vec::new();
    };
    let killer = |name: String, words: &[&str]| Killer {
        kind,
        name,
        program: program.executable.clone(),
        folder: copy.join("crates").join(package),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        worlds: (0, WORLDS),
        limit: u64::from(u32::MAX),
        clock_limit: Duration::from_secs(u64::from(u32::MAX)),
        reaches: None,
    };
    let whole = format!("{package} {name}");
    let one = "--test-threads=1";
    match kind {
        Kind::Seeds => vec![killer(
            "seeds".to_owned(),
            &["1", &seeds.to_string(), "--fail-fast"],
        )],
        // The seeds of the two worlds are a killer of their own, told one by one.
        Kind::Units if package == "xtp-engine" => vec![
            killer("worlds".to_owned(), &[WORLDS_TEST, "--exact", "--nocapture", one]),
            killer(whole, &["--skip", WORLDS_TEST, one]),
        ],
        Kind::Wire
        | Kind::Engine
        | Kind::Units
        | Kind::Proofs
        | Kind::Sockets
        | Kind::Facade
        | Kind::Files => {
            vec![killer(whole, &[one])]
        }
    }
}

/// A program that cargo built.
#[derive(Debug, PartialEq, Eq)]
struct TestProgram {
    package: String,
    /// Its source, below the folder of the package.
    name: String,
    executable: PathBuf,
}

/// The program that a message of cargo (a line of JSON) is about; `None` for other messages and for libraries.
fn executable(line: &str) -> Option<TestProgram> {
    let folder = Path::new(field(line, "manifest_path")?).parent()?;
    let name = Path::new(field(line, "src_path")?).strip_prefix(folder).ok()?;
    Some(TestProgram {
        package: folder.file_name()?.to_str()?.to_owned(),
        name: name.to_str()?.to_owned(),
        executable: field(line, "executable")?.into(),
    })
}

/// A string without escapes in a line of JSON. A quotation mark inside another string is escaped, so that no string
/// looks like a field.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, value) = line.split_once(&format!("\"{name}\":\""))?;
    let value = &value[..value.find('"')?];
    (!value.contains('\\')).then_some(value)
}

#[cfg(test)]
#[path = "killer_tests.rs"]
mod tests;
