//! LLVM's coverage programs: rustup's, or a system's of at least the compiler's version.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the two programs are.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) profdata: PathBuf,
    pub(super) cov: PathBuf,
}

/// Finds programs that can read what this compiler's programs write.
pub(super) fn find() -> Result<Tools, String> {
    let mut rustc = Command::new("rustc");
    let sysroot = output(rustc.args(["--print", "sysroot"]))?;
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = field(&version, "host: ").ok_or("rustc -vV names no host")?;
    let major = field(&version, "LLVM version: ")
        .and_then(major_version)
        .ok_or("rustc -vV names no version of LLVM")?;
    let own = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(host)
        .join("bin");
    let folders = [
        own,
        PathBuf::from(format!("/usr/lib/llvm-{major}/bin")),
        PathBuf::new(),
    ];
    for folder in folders {
        let tools = Tools {
            profdata: folder.join("llvm-profdata"),
            cov: folder.join("llvm-cov"),
        };
        if version_of(&tools.cov).is_some_and(|found| found >= major) && tools_pair(&tools) {
            return Ok(tools);
        }
    }
    Err(format!(
        "llvm-cov and llvm-profdata of LLVM {major} or later are missing: run `rustup component add llvm-tools`, \
         or install Debian's package llvm-{major}"
    ))
}

/// The standard output of a program that ended well.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{name}: {}", said.trim()))
    }
}

fn tools_pair(tools: &Tools) -> bool {
    let merge = Command::new(&tools.profdata).args(["merge", "--help"]).output();
    merge.is_ok_and(|output| output.status.success())
}

fn version_of(cov: &Path) -> Option<u32> {
    let text = output(Command::new(cov).arg("--version")).ok()?;
    text.lines()
        .find_map(|line| line.split_once("LLVM version "))
        .and_then(|(_, version)| major_version(version))
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

fn major_version(text: &str) -> Option<u32> {
    text.trim().split('.').next()?.parse().ok()
}
