//! `xtp cast recv`: what a transmitter sends to its group, into a directory or to standard output.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde::Serialize;
use xtp::{Bytes, Confirm, Endpoint, Error, GroupClose, JoinOptions, Subscription, Target, service_numbers};

use super::ReturnPath;
use super::group::Group;
use super::report::there_already;
use super::stdout::{Body, body, to_stdout, write_out};
use crate::args::CastRecvArgs;
use crate::common::{
    Common, Failure, Outcome, ProgressUnit, Status, peer_text, progress_bar, rate_text, size_text, span_text,
    survive_size_limits,
};
use crate::files::channel::{Inbox, Origin, Outbox, Sink};
use crate::files::disk::check_replaceable;
use crate::files::names::RelPath;
use crate::files::partial::{Claims, Partial};
use crate::files::pattern::Excludes;
use crate::files::place;
use crate::files::problem::{Code, Fault, Problem, violation};
use crate::files::receiver::receive;
use crate::files::record::{CopyOptions, Hash, Record, Stamp, Wish};
use crate::files::report::Viewer;
use crate::files::root::{Attributes, Root};
use crate::files::session::configure;
use crate::files::tally::Tally;
use crate::files::watch::Watch;

/// Transfers that are received at a time, and octets buffered for all of them.
const AT_ONCE: u16 = 8;
const CAPACITY: u64 = 64 << 20;
/// What a stream without a name is called in a directory.
const UNNAMED: &[u8] = b"stdin";

/// The object of `--json`.
#[derive(Serialize)]
struct Report {
    ok: bool,
    bytes: u64,
    /// From the first octet that arrived to the end.
    seconds: f64,
    hash: Option<String>,
    sender: Option<String>,
    files: u64,
    /// Files that were there already.
    unchanged: u64,
    /// Octets that were there from a broken transfer.
    resumed_from: u64,
}

/// Where to.
enum Place {
    Directory(Arc<Root>, String),
    Stdout,
}

/// Receives one transfer, or all that come.
pub(super) fn recv(args: &CastRecvArgs, common: &Common) -> Outcome {
    survive_size_limits()?;
    if args.forever && args.target == "-" {
        return Err(Failure::usage(
            "--forever needs a directory; name one instead of -",
        ));
    }
    let group = Group::parse(&args.group, &args.both)?;
    let place = place_of(args)?;
    let (bind, group_address) = match &group.target {
        Target::Group(address) => (group.bind(None), Some(*address)),
        Target::Each(each) => (own_of(each, &args.group)?, None),
    };
    let mut config = common.config(Some(bind));
    configure(&mut config);
    let endpoint = common.endpoint(config)?;
    let receiver = Receiver {
        args,
        common,
        endpoint: &endpoint,
        group: group_address,
        options: options(args, common, &group),
        place,
        claims: Claims::default(),
    };
    match args.forever {
        true => common.end_of_server(receiver.forever()),
        false => receiver.one(),
    }
}

/// The directory must be there, and nothing leads out of it.
fn place_of(args: &CastRecvArgs) -> Result<Place, Failure> {
    if args.target == "-" {
        return Ok(Place::Stdout);
    }
    let path = Path::new(&args.target);
    let shown = crate::files::names::shown(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()));
    let root = Root::open(path).map_err(|error| Failure::failed(Problem::io(&shown, &error).text))?;
    let prefix = match shown.as_str() {
        "." => String::new(),
        path => format!("{}/", path.trim_end_matches('/')),
    };
    Ok(Place::Directory(Arc::new(root), prefix))
}

/// The address of the list that is this host's.
fn own_of(each: &[SocketAddr], text: &str) -> Result<SocketAddr, Failure> {
    if let [address] = each {
        return Ok(*address);
    }
    let mut own = each
        .iter()
        .filter(|address| std::net::UdpSocket::bind((address.ip(), 0)).is_ok());
    match (own.next(), own.next()) {
        (Some(address), None) => Ok(*address),
        _ => Err(Failure::usage(format!(
            "'{text}': not exactly one of these is this host's; name the one to listen on"
        ))),
    }
}

fn options(args: &CastRecvArgs, common: &Common, group: &Group) -> JoinOptions {
    let mut options = JoinOptions::new()
        .service_number(service_numbers::FILES)
        .interface(group.interface.clone())
        .hops(args.both.ttl)
        .confirm(Confirm::Delivered);
    options.group.source = args.both.source;
    options.group.name = args.name.clone().unwrap_or_default();
    let _ = common;
    options
}

struct Receiver<'a> {
    args: &'a CastRecvArgs,
    common: &'a Common,
    endpoint: &'a Endpoint,
    group: Option<SocketAddr>,
    options: JoinOptions,
    place: Place,
    /// Of all transfers: the newest one to a file takes over what an older one left of it.
    claims: Claims,
}

/// How a transfer ended.
struct End {
    outcome: Result<(), Fault>,
    hash: Option<Hash>,
    /// When the first octet arrived.
    began: Option<Instant>,
}

impl Receiver<'_> {
    /// Receives all transfers that come, several at a time, until it is interrupted, and reports each.
    fn forever(&self) -> Outcome {
        let common = self.common;
        let doing = format!("cannot receive {}", self.args.group);
        let failed = |error: &Error| Failure::of(&doing, error);
        let options = self.options.clone().at_once(AT_ONCE).capacity(CAPACITY);
        let listener = self.endpoint.listen_group(self.group, options);
        let listener = listener.map_err(|error| failed(&error))?;
        let driver = self.endpoint.spawn_driver().map_err(|error| failed(&error))?;
        common
            .out
            .note(format_args!("waiting for a sender to {}", self.args.group));
        let ended = std::thread::scope(|scope| {
            loop {
                match listener.accept() {
                    Ok(subscription) => {
                        let receiving = move || self.one_of_many(&subscription);
                        let thread = std::thread::Builder::new().name("transfer".into());
                        // The subscription goes with its handle: the sender sees that it left.
                        if let Err(error) = thread.spawn_scoped(scope, receiving) {
                            common
                                .out
                                .error(format_args!("no thread for a transfer: {error}"));
                        }
                    }
                    Err(error) => return failed(&error),
                }
            }
        });
        drop(driver);
        Err(ended)
    }

    /// Receives one transfer beside others. `--timeout` bounds each wait of it, not the whole transfer.
    fn one_of_many(&self, subscription: &Subscription) {
        subscription.set_timeout(self.common.timeout());
        let tally = Tally::default();
        let end = self.transfer(subscription, &tally);
        match self.conclude(subscription, &tally, end, false) {
            Err(failure) if failure.status != Status::Interrupted && !failure.message.is_empty() => {
                self.common.out.error(&failure.message);
            }
            _ => {}
        }
    }

    /// Receives one transfer and reports.
    fn one(&self) -> Outcome {
        let common = self.common;
        let doing = format!("cannot receive {}", self.args.group);
        let failed = |error: &Error| Failure::of(&doing, error);
        let subscription = self.endpoint.join(self.group, self.options.clone());
        let subscription = subscription.map_err(|error| failed(&error))?;
        let driver = self.endpoint.spawn_driver().map_err(|error| failed(&error))?;
        common
            .out
            .note(format_args!("waiting for a sender to {}", self.args.group));
        let tally = Tally::default();
        let watch = Watch::new(self.endpoint, common.timeout().map(|span| Instant::now() + span));
        let bar = progress_bar(&common.out, ProgressUnit::Octets, 0, &self.args.group);
        let viewer = Viewer::new(bar, &tally);
        let transfer = || self.transfer(&subscription, &tally);
        // Such a viewer lists nothing.
        let (end, _) = watch.during(viewer, &tally, transfer);
        drop(driver);
        let late = watch.late.load(Ordering::Relaxed);
        self.conclude(&subscription, &tally, end, late)
    }

    /// Takes everything, tells the sender whether it is as it should be, and waits until the sender knows.
    fn transfer(&self, subscription: &Subscription, tally: &Tally) -> End {
        let mut inbox = Inbox::of(Origin::Group(subscription));
        let found = subscription.transmitter().map_err(Fault::from);
        let taken = found
            .and_then(|transmitter| self.take(&mut inbox, transmitter, tally))
            .and_then(|hash| verdict(tally).map(|()| hash));
        let began = inbox.began();
        let (outcome, hash) = match taken {
            Ok(hash) => (Ok(()), hash),
            Err(fault) => (Err(fault), None),
        };
        let told = match &outcome {
            Ok(()) => subscription.confirm(),
            Err(Fault::Here(problem) | Fault::Peer(problem)) => subscription.reject(&problem.short_text()),
            Err(_) => {
                return End { outcome, hash, began };
            }
        };
        // What is here is verified: neither a sender that is lost now nor a signal takes anything away.
        if let Err(error) = told.and_then(|()| subscription.close()) {
            tracing::debug!(%error, "the sender may not know how it went");
        }
        End { outcome, hash, began }
    }

    fn take(
        &self,
        inbox: &mut Inbox<'_>,
        transmitter: SocketAddr,
        tally: &Tally,
    ) -> Result<Option<Hash>, Fault> {
        let Record::Hello {
            wish: Wish::Cast { unnamed, total },
            ..
        } = inbox.expect()?
        else {
            return Err(violation("does not send files").into());
        };
        if unnamed {
            self.unnamed(inbox, tally)?;
        } else {
            let back = ReturnPath::open(self.endpoint, transmitter);
            match &self.place {
                Place::Directory(root, prefix) => {
                    let target = place::Target {
                        root: Arc::clone(root),
                        path: RelPath::default(),
                        several: false,
                        slash: true,
                        prefix: prefix.clone(),
                        names: None,
                        options: CopyOptions {
                            ignore_times: self.args.no_resume,
                            anew: self.args.no_resume,
                            ..CopyOptions::default()
                        },
                        excludes: Excludes::default(),
                    };
                    receive(Outbox::to(Sink::Back(&back)), inbox, target, &self.claims, tally)?;
                }
                Place::Stdout => {
                    tally.offered.add(total);
                    to_stdout(inbox, &back, tally)?;
                }
            }
        }
        match inbox.next()? {
            None => Ok(inbox.digest()),
            Some(_) => Err(violation("went on behind the end").into()),
        }
    }

    /// A stream without name and size.
    fn unnamed(&self, inbox: &mut Inbox<'_>, tally: &Tally) -> Result<(), Fault> {
        let Record::Begin { .. } = inbox.expect()? else {
            return Err(violation("began with something else than its stream").into());
        };
        match &self.place {
            Place::Stdout => body(inbox, tally, "the stream", &mut Body::default(), write_out),
            Place::Directory(root, prefix) => {
                let label = format!("{prefix}{}", String::from_utf8_lossy(UNNAMED));
                let folder = root
                    .folder(&RelPath::default())
                    .map_err(|error| Problem::io(&label, &error))?;
                let seen = folder
                    .find(UNNAMED)
                    .map_err(|error| Problem::io(&label, &error))?;
                seen.map_or(Ok(()), |seen| check_replaceable(&seen, &label))?;
                let partial = Partial::open(&self.claims, &folder, UNNAMED, &label)?;
                partial.clear()?;
                let take = |content: &[Bytes]| Ok(partial.write(content)?);
                body(inbox, tally, &label, &mut Body::default(), take)?;
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                let now = now.unwrap_or_default();
                let modified = Stamp {
                    seconds: i64::try_from(now.as_secs()).unwrap_or(0),
                    nanos: now.subsec_nanos(),
                };
                let attributes = Attributes {
                    mode: 0o644,
                    modified,
                    owner: None,
                };
                partial.seal(true)?;
                partial.install(&attributes)?;
                tally.files.add(1);
                Ok(())
            }
        }?;
        match inbox.expect()? {
            Record::Finish => Ok(()),
            _ => Err(violation("went on behind its stream").into()),
        }
    }

    fn conclude(&self, subscription: &Subscription, tally: &Tally, end: End, late: bool) -> Outcome {
        let span = end.began.as_ref().map(Instant::elapsed).unwrap_or_default();
        let out = &self.common.out;
        let sender = subscription.stats().ok().and_then(|stats| stats.transmitter);
        let is_broken = matches!(end.outcome, Err(Fault::Net(_) | Fault::Stopped));
        let outcome = end.outcome.map_err(|fault| self.explain(fault, late));
        if is_broken && tally.sent.get() > 0 && matches!(self.place, Place::Directory(..)) {
            out.note("what came stays; the same transfer, started again, continues it, and so does `xtp cp` from a server");
        }
        if out.is_json() {
            out.object_line(&Report {
                ok: outcome.is_ok(),
                bytes: tally.sent.get(),
                seconds: span.as_secs_f64(),
                hash: end.hash.map(|hash| blake3::Hash::from(hash).to_hex().to_string()),
                sender: sender.map(peer_text),
                files: tally.files.get(),
                unchanged: tally.unchanged.get(),
                resumed_from: tally.resumed.get(),
            })?;
        }
        if outcome.is_ok() {
            out.note(format_args!(
                "{} from {} in {} ({}), verified{}",
                size_text(tally.sent.get()),
                sender.map(peer_text).unwrap_or_default(),
                span_text(span),
                rate_text(tally.sent.get(), span),
                there_already(tally)
            ));
        }
        outcome
    }

    fn explain(&self, fault: Fault, late: bool) -> Failure {
        let doing = format!("cannot receive {}", self.args.group);
        match fault {
            Fault::Stopped if late => {
                let limit = span_text(self.common.timeout().unwrap_or_default());
                let text = format!("{doing}: not done after {limit}; allow more with --timeout");
                Failure::new(Status::Unreachable, text)
            }
            Fault::Stopped => Failure::interrupted(),
            Fault::Here(problem) | Fault::Peer(problem) => {
                Failure::new(problem.status(), format!("{doing}: {}", problem.text))
            }
            Fault::Net(Error::Group(reason)) => {
                let status = match reason {
                    GroupClose::TransmitterLost => Status::Unreachable,
                    _ => Status::Failed,
                };
                Failure::new(status, format!("{doing}: {reason}"))
            }
            Fault::Net(error) => Failure::of(&doing, &error),
        }
    }
}

/// The worst of what went wrong with single files.
fn verdict(tally: &Tally) -> Result<(), Fault> {
    let mut problems = tally.problems(0);
    // An entry left out on purpose is no loss, and the sender reports special files itself.
    problems.retain(|problem| problem.code.is_failure() && problem.code != Code::Special);
    let worst = problems
        .iter()
        .position(|problem| problem.code == Code::Mismatch)
        .unwrap_or(0);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems.swap_remove(worst).into()),
    }
}
