//! A server process, and copies to and from it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for anything; reached only if something hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The command under test.
pub(crate) fn xtp() -> Command {
    Command::new(env!("CARGO_BIN_EXE_xtp"))
}

/// A running `xtp serve`; killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) addr: SocketAddr,
    lines: Receiver<String>,
}

impl Server {
    pub(crate) fn start(directory: &Path, options: &[&str]) -> Self {
        let mut command = xtp();
        command
            .arg("serve")
            .args(["--listen", "127.0.0.1:0"])
            .args(options)
            .arg(directory);
        Self::of(command)
    }

    /// A server at a port that was used before.
    pub(crate) fn restart(directory: &Path, addr: SocketAddr) -> Self {
        let mut command = xtp();
        command
            .arg("serve")
            .arg("--listen")
            .arg(addr.to_string())
            .arg(directory);
        Self::of(command)
    }

    /// The server some command line starts.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stderr = child.stderr.take().expect("piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let line = lines
            .recv_timeout(PATIENCE)
            .expect("the server says where it listens");
        let addr = line
            .strip_prefix("listening on ")
            .expect("the first line")
            .parse();
        Self {
            child,
            addr: addr.expect("an address"),
            lines,
        }
    }

    /// `xtp://ADDR/path`.
    pub(crate) fn url(&self, path: &str) -> String {
        url(self.addr, path)
    }

    /// The next line on standard error.
    pub(crate) fn line(&self) -> Option<String> {
        self.lines.recv_timeout(PATIENCE).ok()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        signal_to(&self.child, signal);
    }

    /// Waits until it has ended.
    pub(crate) fn wait(&mut self) {
        self.child.wait().expect("it ends");
    }

    /// Kills it the hard way.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `xtp://ADDR/path`.
pub(crate) fn url(addr: SocketAddr, path: &str) -> String {
    format!("xtp://{addr}/{path}")
}

/// What a finished copy said.
pub(crate) struct Copied {
    pub(crate) status: Option<i32>,
    pub(crate) report: Value,
    pub(crate) errors: String,
}

impl Copied {
    pub(crate) fn number(&self, field: &str) -> u64 {
        self.report[field]
            .as_u64()
            .unwrap_or_else(|| panic!("{field} in {}", self.report))
    }

    /// Everything went well.
    pub(crate) fn expect_ok(self) -> Self {
        assert_eq!(self.status, Some(0), "{} {}", self.report, self.errors);
        assert_eq!(self.report["ok"], Value::Bool(true));
        self
    }

    /// It ended with `status` before it had anything to report, and said `words`.
    pub(crate) fn expect_failure_without_report(self, status: i32, words: &str) {
        assert_eq!(self.status, Some(status), "{} {}", self.report, self.errors);
        assert!(self.errors.contains(words), "'{words}' in {}", self.errors);
    }

    /// It ended with `status`, and said `words`.
    pub(crate) fn expect_failure(self, status: i32, words: &str) -> Self {
        assert_eq!(self.status, Some(status), "{} {}", self.report, self.errors);
        assert_eq!(self.report["ok"], Value::Bool(false));
        assert!(self.errors.contains(words), "'{words}' in {}", self.errors);
        self
    }
}

/// `xtp cp --json ARGUMENTS`.
pub(crate) fn cp<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Copied {
    finish(begin(arguments))
}

/// Starts `xtp cp --json ARGUMENTS`.
pub(crate) fn begin<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Child {
    xtp()
        .args(["cp", "--json"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Waits for a copy.
pub(crate) fn finish(mut child: Child) -> Copied {
    let deadline = Instant::now() + PATIENCE;
    // Reports are far below what a pipe holds, so nobody has to read meanwhile.
    let status = loop {
        if let Some(status) = child.try_wait().expect("our child") {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the copy hangs");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut output = Output {
        status,
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    child
        .stdout
        .take()
        .map(|mut pipe| pipe.read_to_end(&mut output.stdout));
    child
        .stderr
        .take()
        .map(|mut pipe| pipe.read_to_end(&mut output.stderr));
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    Copied {
        status: output.status.code(),
        report: serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Sends a process a signal: `STOP`, `CONT`, `INT`, ...
pub(crate) fn signal_to(child: &Child, signal: &str) {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status();
    assert!(status.expect("kill runs").success());
}

/// Runs the command with standard input, and takes what it prints.
pub(crate) fn piped<S: AsRef<std::ffi::OsStr>>(arguments: &[S], input: &[u8]) -> Output {
    let mut child = xtp()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("piped");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Whoever ends early does not read it all.
            let _ = std::io::Write::write_all(&mut stdin, input);
        });
        child.wait_with_output().expect("it ends")
    })
}

/// Octets that look random, different for each seed.
pub(crate) fn content(seed: u64, octets: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut content = Vec::with_capacity(octets + 8);
    while content.len() < octets {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(octets);
    content
}

/// Waits until `file` has at least `octets`.
pub(crate) fn grown(file: &Path, octets: u64) {
    let deadline = Instant::now() + PATIENCE;
    while fs::metadata(file).map_or(0, |seen| seen.len()) < octets {
        assert!(Instant::now() < deadline, "{} does not grow", file.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The path as an argument.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

/// Fails unless both files have the same content.
pub(crate) fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (fs::read(one).expect("there"), fs::read(other).expect("there"));
    assert!(one == other, "{} and {} octets differ", one.len(), other.len());
}
