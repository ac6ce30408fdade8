//! Network namespaces that a process holds, which only waits for its standard input to end: each vanishes with its owner, however that one
//! ends.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::run::run;
use crate::error::Error;

/// How long a new process may take to be in its namespace.
const PATIENCE: Duration = Duration::from_secs(10);

/// A network namespace with its loopback interface up. It ends with this, and leaves no name behind.
#[derive(Debug)]
pub struct HeldNetwork {
    holder: Child,
}

impl HeldNetwork {
    /// Makes one.
    ///
    /// # Errors
    /// [`Error::NotPermitted`], [`Error::NoProgram`] without `unshare`, `nsenter` or `ip`, and what `ip` says.
    pub fn new() -> Result<Self, Error> {
        let spawned = Command::new("unshare")
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let holder = spawned.map_err(|source| Error::NoProgram {
            program: "unshare",
            source,
        })?;
        let mut network = Self { holder };
        network.wait()?;
        let place = network.place();
        run("nsenter", &[&place, "--", "ip", "link", "set", "lo", "up"])?;
        Ok(network)
    }

    /// The process that holds it.
    pub fn process(&self) -> u32 {
        self.holder.id()
    }

    /// The command that runs what follows it there.
    pub fn enter(&self) -> Vec<String> {
        vec!["nsenter".to_owned(), self.place(), "--".to_owned()]
    }

    /// A program to run there, not yet started.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&self.place(), "--"]).arg(program);
        command
    }

    /// Gives it a name for `ip netns`, which lasts until it is deleted.
    pub(super) fn name(&self, name: &str) -> Result<(), Error> {
        run("ip", &["netns", "attach", name, &self.process().to_string()]).map(drop)
    }

    fn place(&self) -> String {
        format!("--net=/proc/{}/ns/net", self.holder.id())
    }

    /// Waits until the holder is in a namespace of its own.
    fn wait(&mut self) -> Result<(), Error> {
        let not_permitted = || Error::NotPermitted {
            what: "make a network namespace",
        };
        let own = fs::read_link("/proc/self/ns/net").map_err(|_| not_permitted())?;
        let theirs = format!("/proc/{}/ns/net", self.holder.id());
        let begin = Instant::now();
        loop {
            match fs::read_link(&theirs) {
                Ok(link) if link != own => return Ok(()),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(not_permitted()),
                _ => {}
            }
            let ended = self.holder.try_wait().is_ok_and(|status| status.is_some());
            if ended || begin.elapsed() > PATIENCE {
                return Err(not_permitted());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for HeldNetwork {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
