//! One client of the file server, from its greeting to its end.

use std::sync::Arc;
use std::time::Duration;

use xtp::{OpenOptions, Stream, Tuning, ports};

use super::channel::{Inbox, Outbox};
use super::location::last_name;
use super::names::{RelPath, shown};
use super::partial::Claims;
use super::place::Target;
use super::problem::{Code, Fault, Problem, violation};
use super::receiver::receive;
use super::record::{MESSAGE_LIMIT, Record, VERSION, Wish};
use super::root::Root;
use super::sender::Sender;
use super::tally::Tally;
use super::walk::Source;

/// Longest wait for the greeting of a client.
pub(crate) const GREETING: Duration = Duration::from_secs(20);
/// Paths one client may name.
const SOURCE_LIMIT: usize = 65_536;
/// Octets of paths one client may name.
const SOURCE_MEMORY: usize = 16 << 20;

/// Octets under way in each direction.
const WINDOW: u64 = 8 << 20;
/// Silence after which the other side is asked whether it lives, and how long it may take to answer: together less
/// than the 15 s in which a dead peer is to be noticed.
const KEEPALIVE: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(9);

/// The options of an end of a file association.
pub(crate) fn tuning() -> Tuning {
    let mut tuning = Tuning::default();
    tuning.recv_capacity = WINDOW;
    tuning.send_capacity = WINDOW;
    tuning.keepalive = Some(KEEPALIVE);
    tuning.timeout = PATIENCE;
    tuning
}

/// How a client opens the association.
pub(crate) fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new(ports::FILES);
    options.tuning = tuning();
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
            Job::Send(sources) => Sender::new(stream, sources, tally, true).run(),
        }
    }

    fn greet(&self, inbox: &mut Inbox<'_>) -> Result<Job, Fault> {
        let Record::Hello { wish, .. } = inbox.expect()? else {
            return Err(violation("began without a greeting").into());
        };
        match wish {
            Wish::Put { .. } if self.read_only => {
                let text = "the server takes no files (it was started with --read-only)";
                Err(Problem::new(Code::ReadOnly, text).into())
            }
            Wish::Put {
                target,
                several,
                slash,
            } => Ok(Job::Receive(Target {
                root: Arc::clone(&self.root),
                path: RelPath::from_user(&target)?,
                several,
                slash,
                prefix: String::new(),
                names: None,
            })),
            Wish::Get => self.sources(inbox),
            Wish::Cast { .. } => Err(violation("greeted as the transmitter of a group does").into()),
        }
    }

    fn sources(&self, inbox: &mut Inbox<'_>) -> Result<Job, Fault> {
        let mut sources = Vec::new();
        let mut memory = 0;
        loop {
            match inbox.expect()? {
                Record::Source { path } => {
                    memory += path.len();
                    if sources.len() >= SOURCE_LIMIT || memory > SOURCE_MEMORY {
                        let text = "too many sources in one copy; name directories, or copy parts";
                        return Err(Problem::new(Code::Limit, text).into());
                    }
                    let start = RelPath::from_user(&path)?;
                    sources.push(Source {
                        root: Arc::clone(&self.root),
                        label: shown(start.as_bytes()),
                        start,
                        name: source_name(&path),
                    });
                }
                Record::Start => return Ok(Job::Send(sources)),
                _ => return Err(violation("named something else than a source").into()),
            }
        }
    }
}

/// What a session does after the greeting.
enum Job {
    Receive(Target),
    Send(Vec<Source>),
}

/// What a source is called at the target: both ends derive it in the same way from the path as it was written.
pub(crate) fn source_name(path: &[u8]) -> Vec<u8> {
    last_name(path).unwrap_or_default().to_vec()
}
