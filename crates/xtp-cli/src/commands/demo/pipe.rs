//! How the two processes of the demo talk about what they do: lines of JSON over the receiver's standard input and
//! output.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::common::{Common, Failure};

/// Where the receiver listens; its first line.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub(super) struct Places {
    pub(super) xtp: SocketAddr,
    pub(super) tcp: SocketAddr,
    pub(super) udp: SocketAddr,
}

/// What the sender asks: what came of everything, once this many exchanges have arrived.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) arrivals: u64,
}

/// What the receiver knows.
#[derive(Copy, Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// Exchanges that arrived, over whatever protocol.
    pub(super) arrivals: u64,
    /// Of these, with other octets than were sent.
    pub(super) damaged: u64,
    /// From sending to arrival, the last one, nanoseconds.
    pub(super) one_way_ns: u64,
    /// Packets the socket layer sent since it began.
    pub(super) packets_out: u64,
}

/// The receiver, as the sender holds it. Ends with it.
pub(super) struct Receiver {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    pub(super) places: Places,
    arrivals: u64,
}

impl Receiver {
    /// Starts this very program once more.
    ///
    /// # Errors
    /// If it cannot be started or does not say where it listens.
    pub(super) fn start(directory: &Path, common: &Common) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::io("cannot find this program to start it again", &error))?;
        let wait = match common.args.wait {
            crate::args::WaitArg::Block => "block",
            crate::args::WaitArg::Spin => "spin",
            crate::args::WaitArg::Adaptive | crate::args::WaitArg::For(_) => "adaptive",
        };
        let mut child = Command::new(program)
            .args(["demo-receiver", "--quiet", "--wait", wait, "--directory"])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::io("cannot start the receiving process", &error))?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(gone());
        };
        let mut answers = BufReader::new(answers);
        let places = read_line(&mut answers)?;
        Ok(Self {
            child,
            questions: Some(questions),
            answers,
            places,
            arrivals: 0,
        })
    }

    /// What it knows once one more exchange has arrived.
    ///
    /// # Errors
    /// If it is gone, or the exchange did not arrive.
    pub(super) fn after_arrival(&mut self) -> Result<Answer, Failure> {
        self.arrivals += 1;
        let answer = self.ask()?;
        if answer.arrivals < self.arrivals {
            return Err(Failure::failed(
                "an exchange did not arrive at the receiving process within a second; is the host too busy?",
            ));
        }
        Ok(answer)
    }

    /// What it knows now.
    ///
    /// # Errors
    /// If it is gone.
    pub(super) fn ask(&mut self) -> Result<Answer, Failure> {
        let question = Question {
            arrivals: self.arrivals,
        };
        let mut line = serde_json::to_string(&question).map_err(|_| gone())?;
        line.push('\n');
        let questions = self.questions.as_mut().ok_or_else(gone)?;
        questions.write_all(line.as_bytes()).map_err(|_| gone())?;
        read_line(&mut self.answers)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // Without questions it ends by itself; if it does not, it is ended.
        drop(self.questions.take());
        for _ in 0..100 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn gone() -> Failure {
    Failure::failed("the receiving process has gone; see its message above")
}

fn read_line<T: for<'a> Deserialize<'a>>(answers: &mut BufReader<ChildStdout>) -> Result<T, Failure> {
    let mut line = String::new();
    answers.read_line(&mut line).map_err(|_| gone())?;
    serde_json::from_str(&line).map_err(|_| gone())
}
