//! What this host offers to the suites.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shard::Shard;

/// What a suite may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Effective user 0.
    Root,
    /// `ip netns add` works.
    Namespaces,
    /// There is a TUN driver.
    Tun,
    /// tshark is installed.
    Tshark,
    /// strace is installed, and may trace.
    Strace,
}

/// This host.
#[derive(Debug)]
pub(super) struct Host {
    root: PathBuf,
    is_root: bool,
    namespaces: Option<String>,
    tshark: bool,
    strace: bool,
    /// The part of its cases that a suite of many runs; `None` for all.
    part: Option<Shard>,
}

impl Host {
    /// Finds out what there is.
    pub(super) fn probe(root: &Path, part: Option<Shard>) -> Self {
        let is_root = output("id", &["-u"]).is_ok_and(|user| user.trim() == "0");
        Self {
            root: root.to_owned(),
            is_root,
            namespaces: if is_root {
                probe_namespaces()
            } else {
                Some("need root".to_owned())
            },
            tshark: output("tshark", &["--version"]).is_ok(),
            strace: output("strace", &["-c", "-o", "/dev/null", "true"]).is_ok(),
            part,
        }
    }

    /// Why this host lacks `need`; `None` if it has it.
    pub(super) fn lacks(&self, need: Need) -> Option<String> {
        match need {
            Need::Root => (!self.is_root).then(|| "not root".to_owned()),
            Need::Namespaces => self
                .namespaces
                .as_ref()
                .map(|reason| format!("network namespaces: {reason}")),
            Need::Tun => (!Path::new("/dev/net/tun").exists()).then(|| "no /dev/net/tun".to_owned()),
            Need::Strace => (!self.strace).then(|| "strace not installed or not allowed".to_owned()),
            Need::Tshark => (!self.tshark).then(|| "tshark not installed".to_owned()),
        }
    }

    /// Whether the case of this name runs.
    pub(super) fn runs(&self, case: &str) -> bool {
        self.part.is_none_or(|part| part.contains(case))
    }

    /// The repository.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A program of this workspace, built in release with its defaults.
    pub(super) fn program(&self, package: &str, name: &str) -> Result<PathBuf, String> {
        self.build(&["--release", "--package", package, "--bin", name])?;
        Ok(self.target().join("release").join(name))
    }

    /// An example of this workspace, built with the features of the tests, so that nothing is built a second time.
    pub(super) fn example(&self, name: &str) -> Result<PathBuf, String> {
        self.build(&[
            "--workspace",
            "--features",
            "xtp-transport/tokio,xtp-transport/capture",
            "--example",
            name,
        ])?;
        Ok(self.target().join("debug").join("examples").join(name))
    }

    fn build(&self, words: &[&str]) -> Result<(), String> {
        let status = Command::new("cargo")
            .args(["build", "--quiet"])
            .args(words)
            .current_dir(&self.root)
            .status()
            .map_err(|error| format!("cargo: {error}"))?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("cargo build {} failed", words.join(" "))),
        }
    }

    /// An empty folder for the files of a suite, among what cargo builds.
    pub(super) fn scratch(&self, suite: &str) -> Result<PathBuf, String> {
        let folder = self.target().join("real").join(suite);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from)
    }
}

fn probe_namespaces() -> Option<String> {
    let name = format!("xtask-probe-{}", std::process::id());
    match output("ip", &["netns", "add", &name]) {
        Ok(_) => output("ip", &["netns", "del", &name]).err(),
        Err(error) => Some(error),
    }
}

/// Runs a program to its end; its output, or in one line why it failed.
pub(super) fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!(
                "{program} {}: {}",
                arguments.join(" "),
                said.lines().next().unwrap_or("failed")
            ))
        }
        Err(error) => Err(format!("{program}: {error}")),
    }
}
