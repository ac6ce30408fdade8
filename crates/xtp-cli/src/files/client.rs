//! A client of a file server: how it gets there, what it says first, and how it comes back after an outage.

use std::time::{Duration, Instant};

use xtp::{CloseReason, DriverThread, Endpoint, Error, OpenOptions, Stream};

use super::channel::{Inbox, Outbox};
use super::pattern::{Excludes, Filter};
use super::problem::{Code, Fault, violation};
use super::record::{Record, VERSION, Wish};
use super::session::{PATIENCE, configure, open_options};
use super::tally::Tally;
use crate::common::{Address, Common, Failure, Status, span_text};

/// Longest single attempt to come back: what answers at all does so sooner, and a new attempt asks at once.
const ATTEMPT: Duration = Duration::from_secs(3);
/// Time between attempts, which may be refused at once.
const PAUSE: Duration = Duration::from_millis(100);
/// Sessions in a row that may break off in disorder without any progress: more is no accident.
const DISORDER: u32 = 3;

/// The client's end.
pub(crate) struct Client<'a> {
    pub(crate) common: &'a Common,
    pub(crate) endpoint: Endpoint,
    address: Address,
    options: OpenOptions,
    /// "cannot copy to xtp://...".
    pub(crate) doing: String,
    /// Disks are slow at times; the server must not take that for a dead client.
    _driver: DriverThread,
}

impl<'a> Client<'a> {
    /// An endpoint for talking to the server at `address`.
    ///
    /// # Errors
    /// If it cannot be bound.
    pub(crate) fn new(common: &'a Common, address: Address, doing: String) -> Result<Self, Failure> {
        let mut config = common.config(None);
        configure(&mut config);
        let endpoint = common.endpoint(config)?;
        let mut options = open_options(common.timeout().unwrap_or(PATIENCE));
        common.tune(&mut options.tuning);
        let driver = endpoint
            .spawn_driver()
            .map_err(|error| Failure::of(&doing, &error))?;
        Ok(Self {
            common,
            endpoint,
            address,
            options,
            doing,
            _driver: driver,
        })
    }

    /// The first association.
    ///
    /// # Errors
    /// If no server answers.
    pub(crate) fn connect(&self) -> Result<Stream, Failure> {
        self.endpoint
            .connect(&self.address.resolve()?[..], &self.options, self.common.timeout())
            .map_err(|error| Failure::of(&self.doing, &error))
    }

    /// Says what is wanted and waits until the server agrees. A host that answers is no server yet: one that says nothing is waited
    /// for as long as an outage.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn greet(
        &self,
        stream: &Stream,
        (outbox, inbox): (&mut Outbox<'_>, &mut Inbox<'_>),
        wish: Wish,
        paths: &[Vec<u8>],
        excludes: &[Filter],
    ) -> Result<(), Fault> {
        stream.set_read_timeout(Some(self.patience()));
        greet(outbox, inbox, wish, paths, excludes)?;
        stream.set_read_timeout(None);
        Ok(())
    }

    /// Another association, as soon as the server is there again; `None` if it is not there at `deadline`.
    ///
    /// # Errors
    /// If the command is interrupted meanwhile.
    pub(crate) fn come_back(&self, deadline: Instant, tally: &Tally) -> Result<Option<Stream>, Fault> {
        loop {
            std::thread::sleep(PAUSE);
            tally.check()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            // A name may lead elsewhere by now, or nowhere while the network is away.
            let outcome = match self.address.resolve() {
                Ok(addresses) => {
                    self.endpoint
                        .connect(&addresses[..], &self.options, Some(left.min(ATTEMPT)))
                }
                Err(failure) => {
                    tracing::info!("{}", failure.message);
                    Err(Error::WouldBlock)
                }
            };
            match outcome {
                Ok(stream) => return Ok(Some(stream)),
                Err(error) if error.is_interrupted() => return Err(Fault::Stopped),
                Err(error) => tracing::info!(%error, "the server is not back yet"),
            }
        }
    }

    /// A session's end as the command's failure.
    pub(crate) fn explain(&self, fault: Fault) -> Failure {
        explain(&self.doing, fault, self.common.timeout().unwrap_or(PATIENCE))
    }

    /// How long an outage may last.
    pub(crate) fn patience(&self) -> Duration {
        self.common.timeout().unwrap_or(PATIENCE)
    }
}

/// Says what is wanted and waits until the server agrees.
///
/// # Errors
/// If it does not.
fn greet(
    outbox: &mut Outbox<'_>,
    inbox: &mut Inbox<'_>,
    wish: Wish,
    paths: &[Vec<u8>],
    excludes: &[Filter],
) -> Result<(), Fault> {
    let version = VERSION;
    outbox.push(&Record::Hello { version, wish })?;
    for path in paths {
        outbox.push(&Record::Source { path: path.clone() })?;
    }
    for filter in excludes {
        outbox.push(&match filter.clone() {
            Filter::Include(pattern) => Record::Include { pattern },
            Filter::Exclude(pattern) => Record::Exclude { pattern },
            Filter::Only(path, whole) => Record::Only {
                path: path.as_bytes().to_vec(),
                whole,
            },
        })?;
    }
    outbox.push(&Record::Start)?;
    outbox.flush()?;
    match inbox.expect()? {
        Record::Welcome { version: VERSION } => Ok(()),
        _ => Err(violation("did not answer the greeting").into()),
    }
}

/// Patterns as they stand behind `--include` and `--exclude`.
pub(crate) fn excludes_of(filters: &[Filter]) -> Excludes {
    let mut excludes = Excludes::default();
    for filter in filters {
        match filter {
            Filter::Include(pattern) => excludes.filter(pattern, true),
            Filter::Exclude(pattern) => excludes.filter(pattern, false),
            Filter::Only(path, whole) => excludes.only(path, *whole),
        }
    }
    excludes
}

/// Which ends of sessions are outages, and when there were too many.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    /// Since when nothing has come through.
    since: Option<Instant>,
    /// Sessions in a row that ended in disorder.
    disorder: u32,
    /// Octets sent when the last session ended.
    sent: u64,
}

impl Outages {
    /// When to give up waiting for the other side after `fault` has ended a session, which `heard` from it last; `None`
    /// if the copy cannot go on in another session.
    pub(crate) fn deadline(
        &mut self,
        fault: &Fault,
        heard: Instant,
        patience: Duration,
        tally: &Tally,
    ) -> Option<Instant> {
        let sent = tally.sent.get();
        if sent != self.sent {
            (self.disorder, self.since) = (0, None);
        }
        self.sent = sent;
        match fault {
            // That was as long as an outage may last.
            Fault::Net(Error::Closed(CloseReason::LocalAbort) | Error::Timeout { .. }) => return None,
            Fault::Net(_) => {}
            // Damaged on the way: the version was agreed upon.
            Fault::Here(problem) | Fault::Peer(problem)
                if matches!(problem.code, Code::Protocol | Code::Version) =>
            {
                self.disorder += 1;
                if self.disorder > DISORDER {
                    return None;
                }
            }
            _ => return None,
        }
        // A server that accepts associations and makes no progress counts as absent, too.
        Some(*self.since.get_or_insert(heard) + patience)
    }
}

fn explain(doing: &str, fault: Fault, patience: Duration) -> Failure {
    let again = "run it again and it continues where it stopped";
    match fault {
        Fault::Stopped => Failure::interrupted(),
        Fault::Peer(problem) | Fault::Here(problem) => {
            Failure::new(problem.status(), format!("{doing}: {}", problem.text))
        }
        Fault::Net(error) => {
            let (status, what) = match &error {
                Error::Closed(
                    CloseReason::Lost
                    | CloseReason::NobodyListens
                    | CloseReason::Unreachable
                    | CloseReason::Refused(_)
                    | CloseReason::Aborted { .. },
                ) => (
                    Status::Unreachable,
                    format!(
                        "the other side has gone, and was not back within {}; allow more with --timeout, or",
                        span_text(patience)
                    ),
                ),
                Error::Timeout { after, .. } => (
                    Status::Unreachable,
                    format!(
                        "the other side's host answers, and its program did nothing for {}; allow more with --timeout, or",
                        span_text(*after)
                    ),
                ),
                other => (Failure::of(doing, other).status, format!("{other};")),
            };
            Failure::new(status, format!("{doing}: {what} {again}"))
        }
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
