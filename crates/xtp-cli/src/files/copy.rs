//! `xtp cp`: the client's side of a copy.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use xtp::{CloseReason, Endpoint, Error, Stream};

use super::channel::{Inbox, Outbox};
use super::location::{Plan, last_name, local};
use super::names::{RelPath, shown};
use super::partial::Claims;
use super::place::Target;
use super::problem::{Fault, Problem, violation};
use super::receiver::receive;
use super::record::{Record, VERSION, Wish};
use super::report::{Viewer, conclude};
use super::root::Root;
use super::sender::Sender;
use super::serve::survive_size_limits;
use super::session::{configure, open_options, source_name};
use super::tally::Tally;
use super::walk::Source;
use crate::args::CpArgs;
use crate::common::{Common, Failure, Outcome, ProgressUnit, Status, progress_bar, span_text};

/// How often the bar is drawn and the deadline looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Longest wait for the close of an association whose outcome is known.
const FAREWELL: Duration = Duration::from_millis(500);

/// Copies files.
pub(crate) fn cp(args: &CpArgs, common: &Common) -> Outcome {
    let plan = Plan::of(&args.paths)?;
    survive_size_limits()?;
    let address = plan.address()?;
    let mut config = common.config(None);
    configure(&mut config);
    let endpoint = common.endpoint(config)?;
    let began = Instant::now();
    let tally = Arc::new(Tally::of_client(plan.remote()));
    let stopping = Arc::clone(&tally);
    common.signals.on_caught(move || stopping.stop());
    let mut options = open_options();
    common.tune(&mut options.tuning);
    let doing = match &plan {
        Plan::Put { .. } => format!("cannot copy to {}", plan.remote()),
        Plan::Get { .. } => format!("cannot copy from {}", plan.remote()),
    };
    let stream = endpoint
        .connect(&address.resolve()?, &options, common.timeout())
        .map_err(|error| Failure::of(&doing, &error))?;
    // Disks are slow at times; the server must not take that for a dead client.
    let driver = endpoint
        .spawn_driver()
        .map_err(|error| Failure::of(&doing, &error))?;
    let watch = Watch {
        endpoint: &endpoint,
        deadline: common.timeout().map(|span| began + span),
        late: AtomicBool::new(false),
        done: AtomicBool::new(false),
    };
    let outcome = std::thread::scope(|scope| {
        let bar = progress_bar(&common.out, ProgressUnit::Octets, 0, label(&plan));
        let viewer = Viewer::new(bar, &tally);
        let watching = scope.spawn(|| watch.run(viewer, &tally));
        let outcome = transfer(&plan, &stream, &tally);
        watch.done.store(true, Ordering::Relaxed);
        watching.thread().unpark();
        outcome
    });
    let broken = match outcome {
        Ok(()) => {
            // Everything was confirmed by the other side's program; the close is a courtesy.
            let _ = stream.close_within(FAREWELL);
            None
        }
        Err(fault) => {
            stream.abort();
            Some(explain(&doing, fault, watch.late.load(Ordering::Relaxed), common))
        }
    };
    drop(driver);
    conclude(&common.out, &tally, began, broken)
}

/// Looks after a transfer from aside.
pub(super) struct Watch<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) deadline: Option<Instant>,
    pub(super) late: AtomicBool,
    pub(super) done: AtomicBool,
}

impl Watch<'_> {
    pub(super) fn run(&self, mut viewer: Viewer<'_>, tally: &Tally) {
        while !self.done.load(Ordering::Relaxed) {
            viewer.look();
            if self.deadline.is_some_and(|deadline| deadline <= Instant::now())
                && !self.late.swap(true, Ordering::Relaxed)
            {
                tally.stop();
                self.endpoint.interrupt();
            }
            std::thread::park_timeout(LOOK);
        }
        viewer.end();
        if self.late.load(Ordering::Relaxed) {
            self.endpoint.resume();
        }
    }
}

fn transfer(plan: &Plan, stream: &Stream, tally: &Tally) -> Result<(), Fault> {
    let mut inbox = Inbox::new(stream);
    let mut outbox = Outbox::new(stream);
    match plan {
        Plan::Put { sources, target, .. } => {
            let wish = Wish::Put {
                target: target.clone(),
                several: sources.len() > 1,
                slash: target.ends_with(b"/"),
            };
            greet(&mut outbox, &mut inbox, wish, &[])?;
            let mut found = Vec::new();
            for source in sources {
                match local_source(source) {
                    Ok(source) => found.push(source),
                    Err(problem) => tally.problem(problem),
                }
            }
            Sender::new(stream, found, tally, false).run()
        }
        Plan::Get { sources, target, .. } => {
            let target = local_target(target, sources)?;
            greet(&mut outbox, &mut inbox, Wish::Get, sources)?;
            receive(outbox, &mut inbox, target, &Claims::default(), tally)
        }
    }
}

/// Says what is wanted and waits until the server agrees.
fn greet(outbox: &mut Outbox<'_>, inbox: &mut Inbox<'_>, wish: Wish, paths: &[Vec<u8>]) -> Result<(), Fault> {
    let getting = wish == Wish::Get;
    outbox.push(&Record::Hello {
        version: VERSION,
        wish,
    })?;
    for path in paths {
        outbox.push(&Record::Source { path: path.clone() })?;
    }
    if getting {
        outbox.push(&Record::Start)?;
    }
    outbox.flush()?;
    match inbox.expect()? {
        Record::Welcome { version: VERSION } => Ok(()),
        _ => Err(violation("did not answer the greeting").into()),
    }
}

/// A source on this machine. A path that ends with a slash or a dot stands for the directory itself, even behind a
/// link.
pub(super) fn local_source(path: &OsStr) -> Result<Source, Problem> {
    let octets = path.as_bytes();
    let label = shown(octets);
    let failed = |error: std::io::Error| Problem::io(&label, &error);
    let name = last_name(octets);
    let whole = name.is_none() || octets.ends_with(b"/") || octets.ends_with(b"/.");
    if whole {
        // `dir/.` is the content of dir, `dir/` is dir.
        let name = match name {
            Some(name) if octets.ends_with(b"/") => name.to_vec(),
            _ => Vec::new(),
        };
        return Ok(Source {
            root: Arc::new(Root::open(Path::new(path)).map_err(failed)?),
            start: RelPath::default(),
            name,
            label,
        });
    }
    let name = name.unwrap_or_default();
    Ok(Source {
        root: Arc::new(Root::open(&parent_of(octets)).map_err(failed)?),
        start: RelPath::default().join(name)?,
        name: name.to_vec(),
        label,
    })
}

/// The directory a path with a name at its end is in.
fn parent_of(octets: &[u8]) -> PathBuf {
    let end = octets
        .iter()
        .rposition(|octet| *octet != b'/')
        .map_or(0, |last| last + 1);
    match octets[..end].iter().rposition(|octet| *octet == b'/') {
        Some(0) => PathBuf::from("/"),
        Some(slash) => PathBuf::from(local(&octets[..slash])),
        None => PathBuf::from("."),
    }
}

/// The target on this machine: a directory that is there, or a name in one.
fn local_target(path: &OsStr, sources: &[Vec<u8>]) -> Result<Target, Problem> {
    let octets = path.as_bytes();
    let failed = |error: std::io::Error| Problem::io(shown(octets), &error);
    let (top, below) = match (last_name(octets), Path::new(path).is_dir()) {
        (Some(name), false) => (parent_of(octets), RelPath::default().join(name)?),
        _ => (PathBuf::from(path), RelPath::default()),
    };
    let mut prefix = shown(top.as_os_str().as_bytes());
    if prefix == "." {
        prefix.clear();
    } else if !prefix.ends_with('/') {
        prefix.push('/');
    }
    Ok(Target {
        root: Arc::new(Root::open(&top).map_err(failed)?),
        path: below,
        several: sources.len() > 1,
        slash: octets.ends_with(b"/"),
        prefix,
        names: Some(sources.iter().map(|source| source_name(source)).collect()),
    })
}

/// What the bar is labelled with.
fn label(plan: &Plan) -> &str {
    match plan {
        Plan::Put { sources, .. } if sources.len() == 1 => sources[0].to_str().unwrap_or("1 source"),
        Plan::Put { .. } => "several sources",
        Plan::Get { sources, .. } if sources.len() == 1 => {
            std::str::from_utf8(&sources[0]).unwrap_or("1 source")
        }
        Plan::Get { .. } => "several sources",
    }
}

/// A session's end as the command's failure.
fn explain(doing: &str, fault: Fault, late: bool, common: &Common) -> Failure {
    let again = "run it again and it continues where it stopped";
    match fault {
        Fault::Stopped if late => {
            let limit = common.timeout().unwrap_or_default();
            let text = format!(
                "{doing}: not done after {}; allow more with --timeout, then {again}",
                span_text(limit)
            );
            Failure::new(Status::Unreachable, text)
        }
        Fault::Stopped => Failure::interrupted(),
        Fault::Peer(problem) | Fault::Here(problem) => {
            Failure::new(problem.code.status(), format!("{doing}: {}", problem.text))
        }
        Fault::Net(error) => {
            let (status, what) = match &error {
                Error::Closed(CloseReason::Lost | CloseReason::NobodyListens) => {
                    (Status::Unreachable, "the other side has gone".to_owned())
                }
                Error::Closed(CloseReason::Unreachable) => (
                    Status::Unreachable,
                    "the other side does not answer any more".to_owned(),
                ),
                Error::Closed(CloseReason::Aborted { .. }) => {
                    (Status::Failed, "the other side broke off".to_owned())
                }
                other => (Failure::of(doing, other).status, other.to_string()),
            };
            Failure::new(status, format!("{doing}: {what}; {again}"))
        }
    }
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
