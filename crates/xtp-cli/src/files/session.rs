//! One client of the file server, from its greeting to its end.

use std::sync::Arc;
use std::time::Duration;

use xtp::{OpenOptions, Stream, Tuning, service_numbers};

use super::channel::{Inbox, Outbox};
use super::links::Links;
use super::list;
use super::location::last_name;
use super::names::{RelPath, shown};
use super::partial::Claims;
use super::pattern::{Excludes, PATTERN_LIMIT};
use super::place::Target;
use super::problem::{Code, Fault, Problem, violation};
use super::receiver::receive;
use super::record::{MESSAGE_LIMIT, Record, VERSION, Wish};
use super::root::Root;
use super::sender::{Offer, Sender};
use super::tally::Tally;
use super::walk::Source;

/// Longest wait for the greeting of a client.
pub(crate) const GREETING: Duration = Duration::from_secs(20);
/// Paths one client may name.
pub(crate) const SOURCE_LIMIT: usize = 65_536;
/// Octets of paths one client may name.
const SOURCE_MEMORY: usize = 16 << 20;

/// Octets under way in each direction.
const WINDOW: u64 = 8 << 20;
/// Silence after which the other side is asked whether it lives.
const KEEPALIVE: Duration = Duration::from_secs(3);
/// How long a server waits for an answer, and a client that was told nothing else: a link may be down, the other side
/// stopped, and the copy goes on.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The options of an end of a file association that waits `patience` for the other one: until it asks, and from then on.
pub(crate) fn tuning(patience: Duration) -> Tuning {
    let ask = KEEPALIVE.min(patience / 4);
    let mut tuning = Tuning::default();
    tuning.recv_capacity = WINDOW;
    tuning.send_capacity = WINDOW;
    tuning.keepalive = Some(ask);
    tuning.timeout = patience - ask;
    tuning
}

/// How a client opens the association.
pub(crate) fn open_options(patience: Duration) -> OpenOptions {
    let mut options = OpenOptions::new(service_numbers::FILES);
    options.tuning = tuning(patience);
    options
}

/// What an endpoint of a file association must allow.
pub(crate) fn configure(config: &mut xtp::Config) {
    config.message_limit = MESSAGE_LIMIT;
}

/// What all clients of a server share.
pub(crate) struct Service {
    pub(crate) root: Arc<Root>,
    pub(crate) read_only: bool,
    pub(crate) claims: Claims,
    /// Owners and set-ID bits are kept where a client asks for it.
    pub(crate) owner: bool,
}

impl Service {
    /// Serves one client to its end.
    ///
    /// # Errors
    /// If the session ends early. Problems with single files are in the tally.
    pub(crate) fn session(&self, stream: &Stream, tally: &Tally) -> Result<(), Fault> {
        let mut inbox = Inbox::new(stream);
        let mut outbox = Outbox::new(stream);
        stream.set_read_timeout(Some(GREETING));
        let job = match self.greet(&mut inbox) {
            Ok(job) => job,
            Err(fault) => {
                if let Fault::Here(problem) = &fault {
                    outbox.fatal(problem);
                }
                return Err(fault);
            }
        };
        stream.set_read_timeout(None);
        outbox.push(&Record::Welcome { version: VERSION })?;
        outbox.flush()?;
        match job {
            Job::Receive(target) => receive(outbox, &mut inbox, target, &self.claims, tally),
            Job::Send(offer) => Sender::new(stream, offer, tally).run(),
            Job::List(paths, itself) => {
                tally.takes_turn();
                list::send(&mut outbox, &self.root, &paths, itself, tally)
            }
        }
    }

    fn greet(&self, inbox: &mut Inbox<'_>) -> Result<Job, Fault> {
        let Record::Hello { wish, .. } = inbox.expect()? else {
            return Err(violation("began without a greeting").into());
        };
        if matches!(wish, Wish::Put { .. }) && self.read_only {
            let text = "the server takes no files (it was started with --read-only)";
            return Err(Problem::new(Code::ReadOnly, text).into());
        }
        let (paths, excludes) = named(inbox)?;
        match wish {
            Wish::Put {
                target,
                several,
                slash,
                mut options,
            } => {
                options.owner &= self.owner;
                Ok(Job::Receive(Target {
                    root: Arc::clone(&self.root),
                    path: RelPath::from_user(&target)?,
                    several,
                    slash,
                    prefix: String::new(),
                    names: None,
                    options,
                    excludes,
                }))
            }
            Wish::Get { options } => {
                let follow = options.links == Links::Follow;
                let sources = paths.iter().map(|path| self.source(path, follow));
                Ok(Job::Send(Offer {
                    sources: sources.collect::<Result<_, _>>()?,
                    missed: Vec::new(),
                    excludes,
                    options,
                }))
            }
            Wish::List { itself } => Ok(Job::List(paths, itself)),
            Wish::Cast { .. } | Wish::Beside => {
                Err(violation("greeted as the transmitter or receiver of a group does").into())
            }
        }
    }

    fn source(&self, path: &[u8], follow: bool) -> Result<Source, Problem> {
        let start = RelPath::from_user(path)?;
        Ok(Source {
            root: Arc::clone(&self.root),
            follow,
            label: shown(start.as_bytes()),
            start,
            name: source_name(path),
        })
    }
}

/// What a client names after its greeting: paths, and what to leave out.
fn named(inbox: &mut Inbox<'_>) -> Result<(Vec<Vec<u8>>, Excludes), Fault> {
    let (mut paths, mut excludes) = (Vec::new(), Excludes::default());
    let (mut memory, mut only) = (0, 0);
    loop {
        let record = inbox.expect()?;
        match record {
            Record::Source { path } => {
                memory += path.len();
                if paths.len() >= SOURCE_LIMIT || memory > SOURCE_MEMORY {
                    let text = "too many sources in one copy; name directories, or copy parts";
                    return Err(Problem::new(Code::Limit, text).into());
                }
                paths.push(path);
            }
            Record::Exclude { ref pattern } | Record::Include { ref pattern } => {
                if excludes.len() >= PATTERN_LIMIT {
                    let text = format!("more than {PATTERN_LIMIT} patterns");
                    return Err(Problem::new(Code::Limit, text).into());
                }
                excludes.filter(pattern, matches!(record, Record::Include { .. }));
            }
            Record::Only { path, whole } => {
                memory += path.len();
                only += 1;
                if only > SOURCE_LIMIT || memory > SOURCE_MEMORY {
                    return Err(Problem::new(Code::Limit, "too long a list of files; copy parts").into());
                }
                excludes.only(&RelPath::from_peer(&path)?, whole);
            }
            Record::Start => return Ok((paths, excludes)),
            _ => return Err(violation("named something else than a source").into()),
        }
    }
}

/// What a session does after the greeting.
enum Job {
    Receive(Target),
    Send(Offer),
    List(Vec<Vec<u8>>, bool),
}

/// What a source is called at the target: both ends derive it in the same way from the path as it was written.
pub(crate) fn source_name(path: &[u8]) -> Vec<u8> {
    last_name(path).unwrap_or_default().to_vec()
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
