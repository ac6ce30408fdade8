//! `xtp cast send`: one pass over files or standard input, for all receivers.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use xtp::{
    BucketOptions, Cast, CastOptions, Confirm, Cycle, Error, Fec, GroupClose, MemberReport, Mode, Require,
    Slow, Target, service_numbers,
};

use super::files::{Files, walk};
use super::group::Group;
use super::inquiry::Inquiry;
use super::past::Past;
use super::report::{Ending, Invited, SendReport};
use super::view::View;
use crate::args::{CastSendArgs, CycleArg, ModeArg, SlowArg, WaitArg};
use crate::common::{Common, Failure, Input, Outcome, Piece, Status};
use crate::files::channel::{Outbox, Sink};
use crate::files::links::Links;
use crate::files::local::local_source;
use crate::files::problem::{Code, Fault, Problem};
use crate::files::record::{Record, VERSION, Wish};
use crate::files::session::configure;
use crate::files::tally::Tally;
use crate::files::walk::Source;
use crate::files::watch::Ends;

/// Time to wait for receivers where none are expected.
const JOINERS: Duration = Duration::from_secs(2);
/// Time to wait for expected receivers.
const EXPECTED: Duration = Duration::from_secs(30);
/// Octets kept in memory for receivers that fall behind. For those that lack more, files are read again.
const KEPT: u64 = 64 << 20;

/// Sends and reports.
pub(super) fn send(args: &CastSendArgs, common: &Common) -> Outcome {
    let group = Group::parse(&args.group, &args.both)?;
    let listed = listed(args, &group);
    let options = options(args, common, &listed)?;
    let content = Content::open(&args.path, common)?;
    let past = content.past().map(Arc::new);
    let options = match past.clone() {
        Some(past) => options.history(move |position, most| past.at(position, most)),
        None => options,
    };
    let mut config = common.config(Some(group.bind(args.both.source)));
    configure(&mut config);
    let endpoint = common.endpoint(config)?;
    let doing = format!("cannot send to {}", args.group);
    let failed = |error: &Error| not_sent(error, &doing);
    let cast = endpoint
        .cast(
            group.target,
            options.interface(group.interface).hops(args.both.ttl),
        )
        .map_err(|error| failed(&error))?;
    // Before the driver: no receiver's answer comes to an endpoint that does not listen yet.
    let inquiry = match &content {
        Content::Files(source, _) if !args.no_resume => {
            let inquiry = Inquiry::new(&endpoint, &cast, source.clone(), args.patience, common);
            Some(inquiry.map_err(|error| failed(&error))?)
        }
        _ => None,
    };
    // Of each wait: for receivers, for room, for the last of them.
    cast.set_timeout(common.timeout());
    // Disks and standard input are slow at times; receivers must not take that for a dead sender.
    let driver = endpoint.spawn_driver().map_err(|error| failed(&error))?;
    let tally = Tally::default();
    let done = AtomicBool::new(false);
    let invited = Invited {
        expected: args.expect.unwrap_or(0) as usize,
        listed: &listed,
        to: &args.to,
    };
    let began = OnceLock::new();
    let outcome = std::thread::scope(|scope| {
        let view = View::new(&common.out, &cast, (content.total(), &tally), invited, &began);
        let viewing = scope.spawn(|| view.run(&done));
        let inquiry = inquiry.as_ref();
        // Also where this thread panics: the panic would wait for them.
        let _ends = (
            Ends(&done, viewing.thread()),
            inquiry.map(|inquiry| {
                scope.spawn(|| inquiry.run(scope));
                inquiry.guard()
            }),
        );
        let sink = Sink::Cast(&cast, past.as_deref());
        transmit(&cast, sink, content, inquiry, &tally, common, &began)
    });
    drop(driver);
    let ending = Ending {
        group: &args.group,
        invited,
        any: args.any,
        span: began.get().map(Instant::elapsed).unwrap_or_default(),
    };
    let broken = outcome
        .err()
        .map(|fault| explain(fault, &cast, &doing, &args.group));
    SendReport::new(&cast, &ending).conclude(&common.out, &tally, &ending, broken)
}

/// Why a cast ended early.
fn explain(fault: Fault, cast: &Cast, doing: &str, group: &str) -> Failure {
    match fault {
        Fault::Stopped => Failure::interrupted(),
        Fault::Net(Error::Group(GroupClose::Nobody)) => {
            let busy = cast.stats().is_ok_and(|stats| stats.busy_reports > 0);
            let why = match busy {
                true => "all receivers are busy with other senders; wait longer with --patience".to_owned(),
                false => format!("nobody came; start `xtp cast recv {group}` first, or wait longer"),
            };
            Failure::new(Status::Unreachable, format!("{doing}: {why}"))
        }
        Fault::Net(error) => not_sent(&error, doing),
        Fault::Here(problem) | Fault::Peer(problem) => {
            Failure::new(problem.status(), format!("{doing}: {}", problem.text))
        }
    }
}

fn not_sent(error: &Error, doing: &str) -> Failure {
    match error {
        // Flags that do not go together, or not with this group.
        Error::Command(command) if error.kind() == std::io::ErrorKind::InvalidInput => {
            Failure::usage(format!("{doing}: {command}"))
        }
        other => Failure::of(doing, other),
    }
}

/// The receivers that a list names. All of them are expected, unless a flag names others.
fn listed(args: &CastSendArgs, group: &Group) -> Vec<SocketAddr> {
    let otherwise =
        args.expect.is_some() || args.joiners.is_some() || args.any.is_some() || !args.to.is_empty();
    match &group.target {
        Target::Each(each) if !otherwise => each.clone(),
        _ => Vec::new(),
    }
}

/// What the flags say.
fn options(args: &CastSendArgs, common: &Common, listed: &[SocketAddr]) -> Result<CastOptions, Failure> {
    let mode = match args.mode {
        ModeArg::Bucket => Mode::Bucket(buckets(args)),
        ModeArg::Unicast if args.buckets.is_some() || args.cycle.is_some() || args.classic => {
            return Err(Failure::usage(
                "--buckets, --cycle and --classic belong to --mode bucket; give it, or leave them out",
            ));
        }
        ModeArg::Unicast => Mode::Unicast,
    };
    if args.mode == ModeArg::Bucket && args.proactive.is_some() {
        return Err(Failure::usage(
            "--proactive: --mode bucket repairs by what was lost itself; leave one of them out",
        ));
    }
    let slow = match args.slow {
        Some(SlowArg::Wait) => Slow::Wait,
        Some(SlowArg::Drop) => Slow::Drop,
        Some(SlowArg::Catchup) | None => Slow::CatchUp,
    };
    let keep = args.keep.map_or(KEPT, |octets| octets as u64);
    let fec = Fec::default();
    let proactive = args.proactive.unwrap_or(fec.proactive);
    let (require, expect) = match args.any {
        Some(any) => (Require::AnyOf(any), args.expect),
        None if !args.to.is_empty() => (Require::List(args.to.clone()), u32::try_from(args.to.len()).ok()),
        None if !listed.is_empty() => (Require::All, u32::try_from(listed.len()).ok()),
        None => (Require::All, args.expect),
    };
    let wait = match (args.wait, expect) {
        (_, None) => args.joiners.unwrap_or(JOINERS),
        (WaitArg::For(span), _) => span,
        _ => EXPECTED,
    };
    let mut options = CastOptions::new()
        .service_number(service_numbers::FILES)
        .require(require)
        .wait(wait)
        .slow(slow)
        .patience(args.patience)
        .keep(keep)
        .confirm(Confirm::Delivered)
        .mode(mode)
        .fec((!args.no_fec).then_some(Fec { proactive, ..fec }));
    options.group.expect = expect;
    if let Some(rate) = common.rate() {
        options = options.rate(rate.octets_per_second).burst(rate.burst);
    }
    Ok(options)
}

fn buckets(args: &CastSendArgs) -> BucketOptions {
    let options = BucketOptions::default();
    BucketOptions {
        buckets: args.buckets.unwrap_or(options.buckets),
        cycle: match args.cycle {
            Some(CycleArg::Message) => Cycle::Message,
            Some(CycleArg::Timer) | None => Cycle::Timer,
        },
        classic: args.classic,
        ..options
    }
}

/// What is sent.
enum Content {
    /// Files below a source, so many octets.
    Files(Source, u64),
    /// Standard input.
    Stream,
}

impl Content {
    fn open(path: &OsStr, common: &Common) -> Result<Self, Failure> {
        if path == "-" {
            return Ok(Self::Stream);
        }
        let failed =
            |problem: Problem| Failure::new(problem.status(), format!("cannot send {}", problem.text));
        let source = local_source(path, Links::Keep).map_err(failed)?;
        let mut total = 0;
        for (number, found) in walk(source.clone()).enumerate() {
            common.check()?;
            match found {
                Ok(entry) => total += entry.kind.size(),
                // The one thing that was named.
                Err(missed) if number == 0 => return Err(failed(missed.problem)),
                Err(_) => {}
            }
        }
        Ok(Self::Files(source, total))
    }

    /// What was sent of files can be read again.
    fn past(&self) -> Option<Past> {
        match self {
            Self::Files(source, _) => Some(Past::new(source.clone())),
            Self::Stream => None,
        }
    }

    fn total(&self) -> Option<u64> {
        match self {
            Self::Files(_, total) => Some(*total),
            Self::Stream => None,
        }
    }
}

/// Sends everything when the expected receivers have joined, and waits until each has it; `began` is when the first octet may leave.
fn transmit(
    cast: &Cast,
    sink: Sink<'_>,
    content: Content,
    inquiry: Option<&Inquiry<'_>>,
    tally: &Tally,
    common: &Common,
    began: &OnceLock<Instant>,
) -> Result<Vec<MemberReport>, Fault> {
    cast.wait_started()?;
    let mut outbox = Outbox::to(sink);
    let total = content.total();
    outbox.push(&Record::Hello {
        version: VERSION,
        wish: Wish::Cast {
            unnamed: total.is_none(),
            total: total.unwrap_or(0),
        },
    })?;
    match content {
        Content::Files(source, _) => {
            began.get_or_init(Instant::now);
            Files::new(source, outbox, sink.past(), inquiry, (tally, common)).run()?;
        }
        Content::Stream => stream(&mut outbox, tally, common, began)?,
    }
    Ok(cast.finish()?)
}

/// Standard input to its end.
fn stream(
    outbox: &mut Outbox<'_>,
    tally: &Tally,
    common: &Common,
    began: &OnceLock<Instant>,
) -> Result<(), Fault> {
    let unread = |failure: Failure| Problem::new(Code::Io, failure.message);
    let input = Input::open(common).map_err(unread)?;
    let mut hasher = blake3::Hasher::new();
    outbox.push(&Record::Begin { id: 0, offset: 0 })?;
    loop {
        let piece = input.next(common);
        // What was collected so far leaves with the first piece, or with the end.
        began.get_or_init(Instant::now);
        match piece {
            Piece::Data(octets) => {
                hasher.update(&octets);
                tally.sent.add(octets.len() as u64);
                outbox.piece(0, octets)?;
            }
            Piece::End => break,
            Piece::Failed(error) => return Err(Problem::io("cannot read standard input", &error).into()),
            Piece::Interrupted => return Err(Fault::Stopped),
        }
    }
    let hash = *hasher.finalize().as_bytes();
    outbox.push(&Record::End { id: 0, hash })?;
    outbox.push(&Record::Finish)?;
    outbox.flush()
}
