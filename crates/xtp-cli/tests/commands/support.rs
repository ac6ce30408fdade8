//! Runs of the command, in the foreground and in the background, none of them without end.

use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// After this a run counts as hanging. Generous: nothing is measured by it.
const HANGS: Duration = Duration::from_secs(90);

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text")
    }

    /// The one object on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Packets out and in, as the one object tells.
    pub(crate) fn packets(&self) -> (u64, u64) {
        let object = self.json();
        let count = |name: &str| object[name].as_u64().expect("a count");
        (count("packets_sent"), count("packets_received"))
    }

    /// Ended with `status`.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The one sentence of a failure.
    #[track_caller]
    pub(crate) fn sentence(&self) -> &str {
        let mut lines = self.stderr.lines().filter(|line| line.starts_with("xtp: "));
        let sentence = lines.next().unwrap_or_else(|| panic!("no sentence: {self:?}"));
        assert_eq!(lines.next(), None, "more than one sentence: {self:?}");
        sentence
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtp"));
    command.args(args);
    piped(command)
}

/// The same, which hears SIGHUP: whatever runs the tests may have it ignored, as `nohup` does.
#[cfg(target_os = "linux")]
pub(crate) fn hearing_hangups() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_xtp")]);
    command
}

/// The same where the system allows less: what stands behind `ulimit`.
fn limited(limit: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_xtp")])
        .args(args);
    piped(command)
}

fn piped(mut command: Command) -> Command {
    command
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs to the end with nothing on standard input.
pub(crate) fn xtp(args: &[&str]) -> Done {
    xtp_fed(args, b"")
}

/// Runs to the end with this on standard input.
pub(crate) fn xtp_fed(args: &[&str], input: &[u8]) -> Done {
    let mut running = Running::start(args);
    running.feed(input);
    running.finish()
}

/// A run in the background. Ended when dropped.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Receiver<String>,
    said: Vec<String>,
}

impl Running {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::of(command(args))
    }

    /// The same, whose standard output is a pipe that only the caller reads.
    pub(crate) fn unread(args: &[&str]) -> (Self, PipeReader) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = command(args);
        command.stdout(writer);
        (Self::of(command), reader)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the command starts");
        let stdout = child.stdout.take();
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let collected = thread::spawn(move || {
            let mut octets = Vec::new();
            // What was read before a failure is what a test wants to see.
            let _ = stdout.map(|mut stdout| stdout.read_to_end(&mut octets));
            octets
        });
        Self {
            stdin: child.stdin.take(),
            child,
            stdout: Some(collected),
            stderr: lines,
            said: Vec::new(),
        }
    }

    /// Starts a listener; returns it with the address it says it listens on.
    pub(crate) fn listener(args: &[&str]) -> (Self, String) {
        Self::listening(Self::start(args))
    }

    /// The same, which hears SIGHUP.
    #[cfg(target_os = "linux")]
    pub(crate) fn hearing_listener(args: &[&str]) -> (Self, String) {
        let mut command = hearing_hangups();
        command.args(args);
        Self::listening(Self::of(piped(command)))
    }

    /// The same under a limit of the system.
    pub(crate) fn limited_listener(limit: &str, args: &[&str]) -> (Self, String) {
        Self::listening(Self::of(limited(limit, args)))
    }

    fn listening(mut running: Self) -> (Self, String) {
        let line = running.wait_for("listening on ");
        let address = line.trim_start_matches("listening on ").to_owned();
        (running, address)
    }

    /// Writes to standard input without ending it. Whoever reads may have gone.
    pub(crate) fn write(&mut self, input: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(input).and_then(|()| stdin.flush());
        }
    }

    /// Writes to standard input and ends it.
    pub(crate) fn feed(&mut self, input: &[u8]) {
        self.write(input);
        self.stdin = None;
    }

    /// Waits for a line on standard error that begins like this.
    pub(crate) fn wait_for(&mut self, begin: &str) -> String {
        loop {
            match self.stderr.recv_timeout(HANGS) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.starts_with(begin) {
                        return line;
                    }
                }
                Err(error) => panic!("'{begin}' was not said ({error}), but {:?}", self.said),
            }
        }
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
        assert!(status.success(), "{kill}");
    }

    /// Waits for the end.
    pub(crate) fn finish(mut self) -> Done {
        self.stdin = None;
        let status = self.end();
        let stdout = self.stdout.take().expect("once").join().expect("reads");
        self.said.extend(self.stderr.iter());
        Done {
            status: status.code().unwrap_or(-1),
            stdout,
            stderr: self.said.join("\n"),
        }
    }

    /// Sends SIGINT and waits for the end.
    pub(crate) fn interrupt(self) -> Done {
        self.signal("INT");
        self.finish()
    }

    fn end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            if begin.elapsed() > HANGS {
                let _ = self.child.kill();
                panic!("still running; said {:?}", self.said);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs until it costs what it should, a few times at most: where others have the cores a timer may add a packet to
/// some runs, but no timer of ours adds one to each.
#[track_caller]
pub(crate) fn costs<T: PartialEq + std::fmt::Debug>(expected: &T, mut run: impl FnMut() -> T) {
    const TRIES: usize = 8;
    let mut seen = Vec::new();
    while seen.len() < TRIES && seen.last() != Some(expected) {
        seen.push(run());
    }
    assert_eq!(seen.last(), Some(expected), "{seen:?}");
}

/// An address on loopback that no program serves as long as this lives: its socket is connected to itself and takes nothing
/// from others. A port that was merely given back may be another test's a moment later.
pub(crate) struct Nobody(std::net::UdpSocket);

impl Nobody {
    pub(crate) fn new() -> Self {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket
            .connect(socket.local_addr().expect("bound"))
            .expect("itself");
        Self(socket)
    }

    pub(crate) fn address(&self) -> String {
        self.0.local_addr().expect("bound").to_string()
    }
}

/// Octets without pattern.
pub(crate) fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut octets = Vec::with_capacity(size);
    while octets.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        octets.extend_from_slice(&state.to_le_bytes());
    }
    octets.truncate(size);
    octets
}
