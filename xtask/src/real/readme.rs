//! Suite `readme`: the commands of README.md's section "The command", pasted into a shell as they stand there.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::host::{Host, output};

/// Heading of the section.
const SECTION: &str = "## The command";
/// The commands say of themselves that they take a minute; a busy machine takes longer.
const LIMIT: Duration = Duration::from_secs(300);
/// What some of the commands must have said.
const SAID: [&str; 3] = ["hello", "9", "seq=3"];

pub(super) fn run(host: &Host) -> Result<String, String> {
    let program = host.program("xtp-cli", "xtp")?;
    let folder = host.scratch("readme")?;
    let readme = host.root().join("README.md");
    let text = std::fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let block = commands(&text).ok_or("README.md has no shell block below \"The command\"")?;
    let said = paste(block, &program, &folder)?;
    if let Some(missing) = SAID.iter().find(|word| !said.contains(**word)) {
        return Err(format!("nothing said `{missing}`: {}", last_lines(&said)));
    }
    let [big, copy] = ["shared/big.iso", "copy.iso"].map(|name| std::fs::read(folder.join(name)));
    match (big, copy) {
        (Ok(big), Ok(copy)) if big == copy => Ok(format!("{} commands", block.trim().lines().count())),
        _ => Err("copy.iso is not what was copied".to_owned()),
    }
}

/// The first shell block of the section.
fn commands(text: &str) -> Option<&str> {
    let section = text.split_once(SECTION)?.1;
    let section = section.split("\n## ").next()?;
    let block = section.split_once("```sh\n")?.1;
    Some(block.split_once("```")?.0)
}

/// Runs `block` in `folder` by a shell with jobs that ends at the first failure; what was said.
fn paste(block: &str, program: &Path, folder: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("bash: {error}");
    let log = folder.join("said");
    let out = File::create(&log).map_err(failed)?;
    let err = out.try_clone().map_err(failed)?;
    let places = std::env::var_os("PATH").unwrap_or_default();
    let own = program.parent().map(Path::to_path_buf);
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&places)));
    let mut shell = Command::new("bash")
        .arg("-c")
        .arg(format!("set -em\n{block}"))
        .current_dir(folder)
        .env("PATH", path.map_err(|error| error.to_string())?)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let begin = Instant::now();
    let status = loop {
        match shell.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if begin.elapsed() > LIMIT => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.is_none() {
        // With all it started in its own group; jobs have groups of their own, but end with their shell.
        let _ = output("kill", &["-TERM", &format!("-{}", shell.id())]);
        let _ = shell.wait();
    }
    let said = std::fs::read_to_string(&log).map_err(failed)?;
    match status {
        Some(status) if status.success() => Ok(said),
        Some(status) => Err(format!("{status}: {}", last_lines(&said))),
        None => Err(format!("not over after {LIMIT:?}: {}", last_lines(&said))),
    }
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
#[path = "readme_tests.rs"]
mod tests;
