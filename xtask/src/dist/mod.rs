//! `cargo xtask dist`: what is handed to people who build nothing. One static program, in an archive, a Debian package and
//! the folder of a container image; each is installed in an empty root and run there.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checkers::succeed;

mod check;
mod pack;

/// Where it lies, below the target directory.
const FOLDER: &str = "dist";
/// What it is built for: the C library is in the program, so it runs on any Linux.
const TARGET: &str = "x86_64-unknown-linux-musl";
/// The C compiler of what little C there is (BLAKE3): the host's, which needs no C library for it.
const CC: (&str, &str) = ("CC_x86_64_unknown_linux_musl", "cc");

/// Characters of a line in the text of a tag.
const TAG_COLUMNS: usize = 76;

/// What is packed.
struct Release {
    root: PathBuf,
    /// Where everything goes.
    out: PathBuf,
    version: String,
    /// The static program.
    program: PathBuf,
}

impl Release {
    fn archive(&self) -> PathBuf {
        self.out.join(format!("xtp-{}-x86_64-linux.tar.gz", self.version))
    }

    fn debian(&self) -> PathBuf {
        self.out.join(format!("xtp_{}_amd64.deb", self.version))
    }

    fn container(&self) -> PathBuf {
        self.out.join("container")
    }
}

/// Builds, packs, and tries each in an empty root (which needs root and dpkg; said if it is left out).
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let release = Release {
        root: root.to_owned(),
        out: target.join(FOLDER),
        version: version(root)?,
        program: target.join(TARGET).join("dist/xtp"),
    };
    check_text(&release.version, &read(&text_of(root, &release.version))?)?;
    build(root)?;
    let _ = std::fs::remove_dir_all(&release.out);
    pack::all(&release)?;
    check::all(&release)?;
    for made in [release.archive(), release.debian(), release.container()] {
        println!("made: {}", made.display());
    }
    Ok(())
}

fn build(root: &Path) -> Result<(), String> {
    let mut rustup = Command::new("rustup");
    succeed(
        rustup.args(["target", "add", TARGET]).current_dir(root),
        "`rustup target add`",
    )?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--profile", "dist", "--target", TARGET]);
    cargo.args(["-p", "xtp-cli", "--no-default-features"]);
    if std::env::var_os(CC.0).is_none() {
        cargo.env(CC.0, CC.1);
    }
    succeed(cargo.current_dir(root), "the static program")
}

/// Where the text of a version's tag stands.
fn text_of(root: &Path, version: &str) -> PathBuf {
    root.join(format!("docs/releases/{version}.md"))
}

/// Fails unless a text is one for the tag of `version`: its name, an empty line, and lines that a terminal shows whole.
fn check_text(version: &str, text: &str) -> Result<(), String> {
    let mut lines = text.lines();
    let subject = format!("xtp {version}");
    if lines.next() != Some(&subject) || lines.next() != Some("") || lines.next().is_none() {
        return Err(format!(
            "docs/releases/{version}.md: begin with '{subject}' and an empty line, and say what it is"
        ));
    }
    match text.lines().find(|line| line.chars().count() > TAG_COLUMNS) {
        Some(line) => Err(format!(
            "docs/releases/{version}.md: longer than {TAG_COLUMNS} characters: {line}"
        )),
        None => Ok(()),
    }
}

/// The version all packages have.
fn version(root: &Path) -> Result<String, String> {
    let manifest = read(&root.join("Cargo.toml"))?;
    version_in(&manifest).ok_or_else(|| "Cargo.toml has no version of the workspace's packages".to_owned())
}

fn version_in(manifest: &str) -> Option<String> {
    let (_, section) = manifest.split_once("[workspace.package]")?;
    let line = section.lines().find(|line| line.starts_with("version = "))?;
    line.split('"').nth(1).map(str::to_owned)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = std::fs::copy(from, to).map(drop);
    copied.map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// What a program says that ends well.
fn output(command: &mut Command, what: &str) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| format!("{what}: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!(
            "{what}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

#[cfg(test)]
#[path = "dist_tests.rs"]
mod tests;
