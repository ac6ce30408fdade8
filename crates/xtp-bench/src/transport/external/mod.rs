//! Programs of others, when they are installed: run as parties of their own, what they print read.
//!
//! They wait, and choose their moment to start and stop the clock, in their own way; processor time is that of the
//! whole program, its beginning and end included.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::console::{Console, Stop};
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::meter::Meter;

mod fi_pingpong;
mod iperf3;
mod ucx_perftest;

pub(super) use fi_pingpong::FI_PINGPONG;
pub(super) use iperf3::IPERF3;
pub(super) use ucx_perftest::UCX_PERFTEST;

/// How often it is looked whether a program has come further.
const LOOK: Duration = Duration::from_millis(5);
/// How long a server may take until it listens, and until it ends when its client has.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a client may take beyond the time it measures.
const OVERHEAD: Duration = Duration::from_secs(15);

/// Why a program cannot be measured: it is not in the search path.
fn missing(program: &str, package: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let present = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    (!present).then(|| format!("'{program}' is not installed (Debian has it in {package})"))
}

/// What a program printed, and what it cost.
struct Ran {
    stdout: String,
    cpu_s: f64,
}

/// A running program; killed when dropped.
struct Program {
    name: &'static str,
    child: Child,
    stdout: thread::JoinHandle<String>,
    stderr: thread::JoinHandle<String>,
}

impl Program {
    /// Starts it. It dies with this process, however that one ends.
    fn start(name: &'static str, args: &[String], environment: &[(&str, &str)]) -> Worked<Self> {
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--", name])
            .args(args)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = command.spawn();
        let mut child = started.map_err(|error| Problem::new(format!("cannot start {name}: {error}")))?;
        let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
        Ok(Self {
            name,
            child,
            stdout,
            stderr,
        })
    }

    /// Waits until it listens on a TCP port of this namespace.
    fn listens(&mut self, port: u16) -> Worked<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
            let mut tables = tables
                .iter()
                .filter_map(|file| std::fs::read_to_string(file).ok());
            if tables.any(|table| is_listening(&table, port)) {
                return Ok(());
            }
            if self.child.try_wait()?.is_some() || Instant::now() >= end {
                return Err(Problem::new(format!(
                    "{} does not listen on port {port}",
                    self.name
                )));
            }
            thread::sleep(LOOK);
        }
    }

    /// Waits for its end: as long as `limit` and, once told to stop, no longer than it takes to end by itself.
    fn end(mut self, stop: &Stop, limit: Duration) -> Worked<Ran> {
        let mut end = Instant::now() + limit;
        let mut stopped = false;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            let now = Instant::now();
            if stop.is_set() && !stopped {
                stopped = true;
                end = end.min(now + PATIENCE);
            }
            if now >= end {
                // It may just have ended.
                let _ = self.child.kill();
                self.child.wait()?;
                return Err(Problem::new(format!("{} did not end in time", self.name)));
            }
            thread::sleep(LOOK);
        };
        let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
        let (stdout, stderr) = (text(self.stdout), text(self.stderr));
        if !status.success() {
            let said = [stdout, stderr].map(|text| last_line(&text).to_owned()).join(" ");
            let why = format!("{} ended ({status}): {}", self.name, said.trim());
            return Err(Problem::new(why));
        }
        let cpu_s = children_seconds(&std::fs::read_to_string("/proc/self/stat")?);
        Ok(Ran {
            stdout,
            cpu_s: cpu_s.unwrap_or(0.0),
        })
    }
}

/// The line that says most where something failed.
fn last_line(text: &str) -> &str {
    text.lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("")
        .trim()
}

/// What a program printed makes no sense.
fn unread(name: &str, text: &str) -> Problem {
    Problem::new(format!("{name} printed no figures: '{}'", last_line(text)))
}

/// Reads a pipe to its end on a thread, so that the program never waits for a reader.
fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut octets = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before a failure is all there is.
            let _ = pipe.read_to_end(&mut octets);
        }
        String::from_utf8_lossy(&octets).into_owned()
    })
}

/// Whether `/proc/net/tcp` has a listener on a port.
fn is_listening(table: &str, port: u16) -> bool {
    const LISTEN: &str = "0A";
    table.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let local = fields.next().and_then(|address| address.rsplit_once(':'));
        let here = local.is_some_and(|(_, text)| u16::from_str_radix(text, 16) == Ok(port));
        here && fields.nth(1) == Some(LISTEN)
    })
}

/// User and system time of the children this process has waited for, of `/proc/self/stat`.
fn children_seconds(stat: &str) -> Option<f64> {
    // The name before it may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let (user, system) = (ticks()?, ticks()?);
    Some((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// A port nobody uses at the moment.
fn free_port(job: &Job) -> Worked<u16> {
    Ok(TcpListener::bind(job.any_port())?.local_addr()?.port())
}

/// Runs a server until its client is done; says where it is as soon as it listens.
fn serve(console: &mut Console, job: &Job, port: u16, mut program: Program) -> Worked<(String, Outcome)> {
    program.listens(port)?;
    let meter = Meter::start(&job.interface);
    console.ready(std::net::SocketAddr::from((job.bind, port)))?;
    let limit = Duration::from_secs_f64(job.seconds) + OVERHEAD;
    let ran = program.end(&console.stop(), limit)?;
    let outcome = Outcome {
        cpu_s: ran.cpu_s,
        softirq_s: meter.read().softirq_s,
        ..Outcome::default()
    };
    Ok((ran.stdout, outcome))
}

/// Runs a client to its end, with a meter around it.
fn measure(
    console: &Console,
    job: &Job,
    program: impl FnOnce() -> Worked<Program>,
) -> Worked<(String, Outcome)> {
    let meter = Meter::start(&job.interface);
    let limit = Duration::from_secs_f64(job.seconds) + OVERHEAD;
    let ran = program()?.end(&console.stop(), limit)?;
    let reading = meter.read();
    let outcome = Outcome {
        seconds: reading.seconds,
        cpu_s: ran.cpu_s,
        softirq_s: reading.softirq_s,
        packets: reading.packets,
        note: Some("waits in its own way".to_owned()),
        ..Outcome::default()
    };
    Ok((ran.stdout, outcome))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
