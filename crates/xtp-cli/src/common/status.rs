//! `--status`: what this process has open, told to `xtp top` over a socket in the user's runtime directory.
//!
//! Each connection is sent one line of JSON, a [`Snapshot`], and closed. The socket is in a directory that only the user may enter;
//! nothing is taken from it, and it is removed when the command ends.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use xtp::{AssociationHolder, AssociationReport, Endpoint};

use super::group_status::GroupLine;
use super::{Failure, peer_text};

/// Associations told of an endpoint, and groups; of more associations only how many there are.
const MOST: usize = 1_000;
/// A reader that takes longer is left.
const PATIENCE: Duration = Duration::from_secs(1);

/// A process at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) pid: u32,
    /// Its command line.
    pub(crate) command: String,
    /// Seconds since its socket was made.
    pub(crate) seconds: f64,
    pub(crate) endpoints: Vec<EndpointLine>,
}

/// One of its endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EndpointLine {
    pub(crate) address: String,
    pub(crate) packets_sent: u64,
    pub(crate) packets_received: u64,
    /// All associations.
    pub(crate) count: usize,
    /// The first of them.
    pub(crate) associations: Vec<AssociationLine>,
    /// Transmitters and receivers of groups.
    pub(crate) groups: Vec<GroupLine>,
}

/// One of its associations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AssociationLine {
    pub(crate) number: u64,
    pub(crate) peer: String,
    pub(crate) round_trip_ms: Option<f64>,
    pub(crate) octets_sent: u64,
    pub(crate) octets_received: u64,
    /// Octets that left and are not acknowledged.
    pub(crate) in_flight: u64,
    /// Octets written that have not left.
    pub(crate) queued: u64,
    /// Octets that leave before an acknowledgement comes, at most.
    pub(crate) congestion_window: Option<u64>,
    pub(crate) packets_sent: u64,
    pub(crate) packets_lost: u64,
    pub(crate) octets_sent_again: u64,
    /// What it waits for.
    pub(crate) waits_for: String,
}

impl AssociationLine {
    fn of(report: &AssociationReport) -> Self {
        let stats = &report.stats;
        let in_flight = stats.octets_sent.saturating_sub(stats.octets_acknowledged);
        Self {
            number: report.number,
            peer: peer_text(report.peer),
            round_trip_ms: stats.rtt.map(|span| span.as_secs_f64() * 1e3),
            octets_sent: stats.octets_sent,
            octets_received: stats.octets_received,
            in_flight,
            queued: report.unacknowledged.saturating_sub(in_flight),
            congestion_window: stats.congestion_window,
            packets_sent: stats.packets_sent,
            packets_lost: stats.packets_lost,
            octets_sent_again: stats.octets_retransmitted,
            waits_for: waits_for(report).to_owned(),
        }
    }
}

/// What keeps an association from going on: the first of these that is true.
fn waits_for(report: &AssociationReport) -> &'static str {
    match report {
        _ if report.is_over => "the program to notice its end",
        _ if !report.is_heard => "the peer's first answer",
        _ if report.holder == AssociationHolder::Listener => "the program to accept it",
        _ if report.readable > 0 => "the program to read",
        _ if report.writable == 0 => "its full queue to leave",
        _ if report.unacknowledged > 0 => "the peer to acknowledge",
        _ if report.holder == AssociationHolder::Background => "the peer to confirm the end",
        _ => "either program to write",
    }
}

/// The socket of a process.
pub(crate) struct StatusSocket {
    path: PathBuf,
    endpoints: Arc<Mutex<Vec<Endpoint>>>,
}

impl StatusSocket {
    /// Makes the socket, and a thread that answers on it.
    ///
    /// # Errors
    /// If there is no directory for it that only this user can enter.
    pub(crate) fn open() -> Result<Self, Failure> {
        let directory = directory();
        private(&directory)?;
        let pid = std::process::id();
        let path = directory.join(format!("{pid}.status"));
        let failed = |error| Failure::io(format_args!("cannot make {}", path.display()), &error);
        // Of a process that had this number before.
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(failed)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let endpoints: Arc<Mutex<Vec<Endpoint>>> = Arc::default();
        let known = Arc::clone(&endpoints);
        let begin = Instant::now();
        let answering = move || {
            for stream in listener.incoming() {
                let told = stream.and_then(|stream| tell(&stream, &snapshot(pid, begin, &lock(&known))));
                if let Err(error) = told {
                    tracing::debug!(%error, "a reader of the status got none");
                }
            }
        };
        std::thread::Builder::new()
            .name("status".into())
            .spawn(answering)
            .map_err(failed)?;
        Ok(Self { path, endpoints })
    }

    /// Tells of this endpoint too.
    pub(crate) fn add(&self, endpoint: &Endpoint) {
        lock(&self.endpoints).push(endpoint.clone());
    }

    /// Lets go of the endpoints, so that they end.
    pub(crate) fn release(&self) {
        lock(&self.endpoints).clear();
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for StatusSocket {
    fn drop(&mut self) {
        self.release();
    }
}

fn snapshot(pid: u32, begin: Instant, endpoints: &[Endpoint]) -> Snapshot {
    let command: Vec<String> = std::env::args_os()
        .map(|word| crate::files::names::shown(std::os::unix::ffi::OsStrExt::as_bytes(word.as_os_str())))
        .collect();
    Snapshot {
        pid,
        command: command.join(" "),
        seconds: begin.elapsed().as_secs_f64(),
        endpoints: endpoints
            .iter()
            .map(|endpoint| {
                let stats = endpoint.stats();
                let associations = endpoint.associations(MOST);
                EndpointLine {
                    address: peer_text(endpoint.local_addr()),
                    packets_sent: stats.packets_sent(),
                    packets_received: stats.packets_received(),
                    count: stats.engine.contexts.max(associations.len()),
                    associations: associations.iter().map(AssociationLine::of).collect(),
                    groups: endpoint.groups(MOST).iter().map(GroupLine::of).collect(),
                }
            })
            .collect(),
    }
}

fn tell(mut stream: &UnixStream, snapshot: &Snapshot) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(snapshot)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Where sockets are: below the user's runtime directory, or else below the one for temporary files.
pub(crate) fn directory() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match runtime.filter(|path| path.is_absolute()) {
        Some(path) => path.join("xtp"),
        None => {
            let user = rustix::process::geteuid().as_raw();
            std::env::temp_dir().join(format!("xtp-{user}"))
        }
    }
}

/// Makes a directory that only this user can enter, or looks whether it is one.
fn private(directory: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::io(
            format_args!("cannot make {}, where status sockets are", directory.display()),
            &error,
        )
    };
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let seen = fs::symlink_metadata(directory).map_err(failed)?;
    let is_own =
        seen.is_dir() && seen.uid() == rustix::process::geteuid().as_raw() && seen.mode() & 0o077 == 0;
    match is_own {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "{} is no directory of yours that nobody else may enter; remove it, or set XDG_RUNTIME_DIR",
            directory.display()
        ))),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
