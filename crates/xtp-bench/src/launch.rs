//! Processes that measure: started, heard, ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::Error;
use crate::job::{Job, Outcome, Said, Told};
use crate::stage::Place;

/// How often an interruption is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Longest a worker may take to be ready, or to sum up when told to stop.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Where remarks go that are of use while something is measured.
#[derive(Clone, Default)]
pub struct Remarks(Option<Arc<dyn Fn(String) + Send + Sync>>);

impl Remarks {
    /// To this function.
    pub fn to(say: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(say)))
    }

    pub(crate) fn say(&self, text: String) {
        if let Some(say) = &self.0 {
            say(text);
        }
    }
}

impl std::fmt::Debug for Remarks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Remarks").finish_non_exhaustive()
    }
}

/// How workers are started: this program with these arguments has to call [`worker`](crate::worker).
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Set by the caller to end the run early.
    pub interrupted: Arc<AtomicBool>,
    /// Where remarks go.
    pub remarks: Remarks,
}

impl Launcher {
    /// Fails if the caller wants the run to end.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Relaxed) {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// A running worker; killed when dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    who: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<thread::JoinHandle<String>>,
    interrupted: Arc<AtomicBool>,
}

impl Worker {
    /// Starts a worker in a place and hands it its job.
    pub(crate) fn start(launcher: &Launcher, place: &Place, job: &Job) -> Result<Self, Error> {
        let who = format!("{} {} {:?}", job.experiment, job.transport, job.role).to_lowercase();
        let mut command = place.command(&launcher.program);
        command
            .args(&launcher.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Error::io(format_args!("start {}", launcher.program.display()), error))?;
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let stderr = child.stderr.take().map(|mut stderr| {
            thread::spawn(move || {
                let mut octets = Vec::new();
                // What was read before a failure is all there is.
                let _ = stderr.read_to_end(&mut octets);
                String::from_utf8_lossy(&octets).into_owned()
            })
        });
        let mut worker = Self {
            who,
            stdin: child.stdin.take(),
            child,
            lines,
            stderr,
            interrupted: Arc::clone(&launcher.interrupted),
        };
        worker.write(job)?;
        Ok(worker)
    }

    /// Waits until it can be reached and returns where.
    pub(crate) fn ready(&mut self) -> Result<String, Error> {
        match self.next(PATIENCE)? {
            Said::Ready { address } => Ok(address),
            Said::Error(said) => Err(self.failed(said)),
            Said::Outcome(_) => Err(self.failed("done before it was ready".to_owned())),
        }
    }

    /// Tells it something.
    pub(crate) fn tell(&mut self, told: &Told) -> Result<(), Error> {
        self.write(told)
    }

    /// Waits for its outcome.
    pub(crate) fn outcome(&mut self, limit: Duration) -> Result<Outcome, Error> {
        match self.next(limit)? {
            Said::Outcome(outcome) => Ok(*outcome),
            Said::Error(said) => Err(self.failed(said)),
            Said::Ready { .. } => Err(self.failed("ready twice".to_owned())),
        }
    }

    /// Tells it to stop and waits for its outcome.
    pub(crate) fn stop(&mut self) -> Result<Outcome, Error> {
        // It may have ended already; then its last line says why.
        let _ = self.tell(&Told::Stop);
        self.outcome(PATIENCE)
    }

    /// Its outcome if it has come; does not wait.
    pub(crate) fn try_outcome(&mut self) -> Option<Result<Outcome, Error>> {
        match self.lines.try_recv() {
            Ok(line) => Some(match self.understood(&line) {
                Ok(Said::Outcome(outcome)) => Ok(*outcome),
                Ok(Said::Error(said)) => Err(self.failed(said)),
                Ok(Said::Ready { .. }) => Err(self.failed("ready twice".to_owned())),
                Err(error) => Err(error),
            }),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(self.vanished())),
        }
    }

    fn understood(&self, line: &str) -> Result<Said, Error> {
        serde_json::from_str(line)
            .map_err(|error| self.failed(format!("said '{line}', which is no answer: {error}")))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), Error> {
        let failed = |error| Error::io(format_args!("talk to {}", self.who), error);
        let mut text = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        match &mut self.stdin {
            None => Ok(()),
            Some(stdin) => stdin
                .write_all(&text)
                .and_then(|()| stdin.flush())
                .map_err(failed),
        }
    }

    fn next(&mut self, limit: Duration) -> Result<Said, Error> {
        let begin = Instant::now();
        loop {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => return self.understood(&line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.vanished()),
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if begin.elapsed() > limit {
                return Err(Error::Silent {
                    who: self.who.clone(),
                    seconds: limit.as_secs_f64(),
                });
            }
        }
    }

    fn failed(&self, said: String) -> Error {
        Error::Worker {
            who: self.who.clone(),
            said,
        }
    }

    /// Ended without a word; standard error may have some.
    fn vanished(&mut self) -> Error {
        let status = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let said = self.stderr.take().and_then(|thread| thread.join().ok());
        let said = said.unwrap_or_default();
        self.failed(format!("ended ({status}) {}", said.trim()))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the two parties of a round measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pair {
    pub(crate) client: Outcome,
    pub(crate) server: Outcome,
}

/// Starts a server, then a client against it; returns what both measured. `job` is the client's, with its place's
/// address and interface, role and processor filled in here for each.
pub(crate) fn pair(
    launcher: &Launcher,
    client_place: &Place,
    server_place: &Place,
    job: &Job,
) -> Result<Pair, Error> {
    launcher.check()?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at = |place: &Place, role, core| Job {
        role,
        core: (cores > 1).then_some(core),
        bind: place.address,
        interface: place.interface.clone(),
        ..job.clone()
    };
    let server_job = at(server_place, crate::job::Role::Server, 1);
    let mut server = Worker::start(launcher, server_place, &server_job)?;
    let mut client_job = at(client_place, crate::job::Role::Client, 0);
    client_job.peer = server.ready()?;
    let mut client = Worker::start(launcher, client_place, &client_job)?;
    let limit = Duration::from_secs_f64(job.seconds) + PATIENCE;
    let client = match client.outcome(limit) {
        Ok(outcome) => outcome,
        // What the server has to say may be the cause.
        Err(error @ Error::Interrupted) => return Err(error),
        Err(error) => return Err(blame(error, server.stop())),
    };
    Ok(Pair {
        client,
        server: server.stop()?,
    })
}

/// The client's failure, with the server's if it failed too.
fn blame(error: Error, server: Result<Outcome, Error>) -> Error {
    match (error, server) {
        (Error::Worker { who, said }, Err(other)) => Error::Worker {
            who,
            said: format!("{said} ({other})"),
        },
        (error, _) => error,
    }
}
