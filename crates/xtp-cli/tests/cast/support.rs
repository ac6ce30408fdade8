//! Senders and receivers of groups as processes, on the loopback interface.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for anything; reached only if something hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command that runs; killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    output: Option<JoinHandle<Vec<u8>>>,
    said: String,
}

/// What a command that ended said.
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) output: Vec<u8>,
    pub(crate) said: String,
}

impl Running {
    pub(crate) fn start<S: AsRef<OsStr>>(arguments: &[S], directory: &Path, input: Stdio) -> Self {
        Self::writing(arguments, directory, input, Stdio::piped())
    }

    /// The same with its standard output to somewhere.
    pub(crate) fn writing<S: AsRef<OsStr>>(
        arguments: &[S],
        directory: &Path,
        input: Stdio,
        output: Stdio,
    ) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_xtp"))
            .arg("cast")
            .args(arguments)
            .current_dir(directory)
            .stdin(input)
            .stdout(output)
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
        let stdout = child.stdout.take();
        let output = std::thread::spawn(move || {
            let mut octets = Vec::new();
            if let Some(mut stdout) = stdout {
                stdout.read_to_end(&mut octets).expect("readable");
            }
            octets
        });
        Self {
            child,
            lines,
            output: Some(output),
            said: String::new(),
        }
    }

    /// Waits until it says something with `words` in it on standard error.
    pub(crate) fn until(&mut self, words: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("'{words}' is not in {}", self.said));
            self.said.push_str(&line);
            self.said.push('\n');
            if line.contains(words) {
                return;
            }
        }
    }

    /// Ends its standard input.
    pub(crate) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let number = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &number]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("our child") {
                Some(status) => break status,
                None => assert!(Instant::now() < deadline, "the command hangs: {}", self.said),
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let output = self.output.take().map(|output| output.join().expect("read"));
        while let Ok(line) = self.lines.recv() {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        Ended {
            status: status.code(),
            output: output.unwrap_or_default(),
            said: std::mem::take(&mut self.said),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// It ended with `status`.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(
            self.status,
            Some(status),
            "{}{}",
            String::from_utf8_lossy(&self.output),
            self.said
        );
        self
    }

    /// The object of `--json`, which is the last line.
    pub(crate) fn report(&self) -> Value {
        let text = std::str::from_utf8(&self.output).expect("text");
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// A receiver that waits for its sender.
pub(crate) fn recv(group: &str, target: &str, options: &[&str], directory: &Path) -> Running {
    let mut arguments = vec!["recv", group, target, "--interface", "127.0.0.1", "--json"];
    if target == "-" {
        arguments.pop();
    }
    arguments.extend(options);
    let mut running = Running::start(&arguments, directory, Stdio::null());
    running.until("waiting for a sender");
    running
}

/// A sender.
pub(crate) fn send(path: &str, group: &str, options: &[&str], directory: &Path) -> Running {
    let mut arguments = vec!["send", path, group, "--interface", "127.0.0.1", "--json"];
    arguments.extend(options);
    Running::start(&arguments, directory, Stdio::null())
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
