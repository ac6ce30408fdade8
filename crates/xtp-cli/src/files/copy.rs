//! `xtp cp`: a copy from the first word to the last, over as many sessions as the network makes of it.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use xtp::{Error, Stream};

use super::channel::{Inbox, Outbox};
use super::client::{Client, Outages, excludes_of};
use super::links::Links;
use super::listing::expand;
use super::local::{local_source, local_target};
use super::location::Plan;
use super::names::RelPath;
use super::partial::Claims;
use super::pattern::{Filter, PATTERN_LIMIT};
use super::problem::{Code, Fault, Problem, violation};
use super::receiver::receive;
use super::record::{CopyOptions, Wish};
use super::report::{Viewer, conclude};
use super::sender::{Offer, Sender};
use super::stdin::send_stdin;
use super::stdout::{ToStdout, Written};
use super::tally::Tally;
use super::watch::Watch;
use crate::args::{CpArgs, LinksArg};
use crate::common::{Common, Failure, Outcome, ProgressUnit, progress_bar, survive_size_limits};

/// Longest wait for the close of an association whose outcome is known.
const FAREWELL: Duration = Duration::from_millis(500);

/// Copies files.
pub(crate) fn cp(args: &CpArgs, common: &Common) -> Outcome {
    let mut plan = Plan::of(&args.paths)?;
    if args.files_from.is_some() {
        plan.means_content();
    }
    survive_size_limits()?;
    let through = plan.through();
    let streams = through.is_some();
    let job = Job::of(args, &plan, streams)?;
    let doing = match &plan {
        Plan::Put { .. } => format!("cannot copy to {}", plan.remote()),
        Plan::Get { .. } => format!("cannot copy from {}", plan.remote()),
    };
    let client = Client::new(common, plan.address()?, doing)?;
    let began = Instant::now();
    let lists = (args.dry_run || common.args.verbose > 0) && !streams;
    let tally = Arc::new(Tally::of_client(plan.remote(), lists));
    let stopping = Arc::clone(&tally);
    common.signals.on_caught(move || stopping.stop());
    expand(&client, &mut plan, &tally)?;
    let stream = client.connect()?;
    let watch = Watch::new(&client.endpoint, None);
    let bar = progress_bar(&common.out, ProgressUnit::Octets, 0, label(&plan));
    let viewer = Viewer::listing(bar, &tally, &common.out, args.null);
    let written = through.map(Written::new);
    let copying = || job.run(&client, stream, &plan, written, &tally, &watch);
    let (outcome, shown) = watch.during(viewer, &tally, copying);
    let broken = outcome.err().map(|fault| client.explain(fault));
    let broken = broken.or(shown.err());
    conclude(&common.out, &tally, began, broken, args.dry_run)
}

/// How to copy.
struct Job {
    options: CopyOptions,
    excludes: Vec<Filter>,
}

impl Job {
    fn of(args: &CpArgs, plan: &Plan, to_stream: bool) -> Result<Self, Failure> {
        if let Some(sentence) = args.foreign.refusal() {
            return Err(Failure::usage(sentence));
        }
        let filters = &args.filters.0;
        if filters.len() > PATTERN_LIMIT {
            return Err(Failure::usage(format!(
                "more than {PATTERN_LIMIT} --include and --exclude"
            )));
        }
        let streams = plan.is_from_stdin() || to_stream;
        if streams && (args.dry_run || args.delete) {
            return Err(Failure::usage(
                "--dry-run and --delete belong to files; leave them out, or name a file instead of -, a device or a fifo",
            ));
        }
        let mut excludes: Vec<_> = filters
            .iter()
            .map(|(include, pattern)| match include {
                true => Filter::Include(pattern.as_bytes().to_vec()),
                false => Filter::Exclude(pattern.as_bytes().to_vec()),
            })
            .collect();
        if let Some(list) = &args.files_from {
            if streams || args.delete || plan.sources() != 1 {
                return Err(Failure::usage(
                    "--files-from belongs to one source, a directory, and not to --delete",
                ));
            }
            let mut only = listed(list, args)?;
            if only.is_empty() {
                // Of an empty list nothing is copied: all that is not named is left out.
                only.push(Filter::Only(RelPath::default(), false));
            }
            excludes.extend(only);
        }
        // What only root may do is no failure for others; a server decides for itself.
        let may_own = matches!(plan, Plan::Put { .. }) || rustix::process::geteuid().is_root();
        Ok(Self {
            options: CopyOptions {
                dry_run: args.dry_run,
                delete: args.delete,
                unsynced: args.no_sync,
                owner: args.archive && may_own,
                sparse: args.sparse,
                checksum: args.checksum,
                ignore_times: args.ignore_times,
                size_only: args.size_only,
                update: args.update,
                ignore_existing: args.ignore_existing,
                anew: false,
                links: match args.links {
                    _ if args.copy_links => Links::Follow,
                    LinksArg::Keep => Links::Keep,
                    LinksArg::Inside => Links::Inside,
                    LinksArg::Follow => Links::Follow,
                    LinksArg::Skip => Links::Skip,
                },
            },
            excludes,
        })
    }

    /// Copies in one session, and in further ones if an outage ends it.
    fn run(
        &self,
        client: &Client<'_>,
        mut stream: Stream,
        plan: &Plan,
        mut written: Option<Written>,
        tally: &Tally,
        watch: &Watch<'_>,
    ) -> Result<(), Fault> {
        let mut outages = Outages::default();
        loop {
            let session = Arc::new(stream);
            watch.follow(&session, client.common.timeout());
            let fault = match self.session(client, plan, &session, tally, written.as_mut()) {
                Ok(()) => {
                    // Everything was confirmed by the other side's program; the close is a courtesy.
                    let _ = Arc::into_inner(session).map(|stream| stream.close_timeout(FAREWELL));
                    return Ok(());
                }
                Err(_) if watch.was_silent() => {
                    let (what, after) = ("the other side", client.patience());
                    return Err(Error::Timeout { what, after }.into());
                }
                Err(fault) => fault,
            };
            // From then on it is an outage.
            let heard = watch.heard();
            session.abort_shared();
            tally.check()?;
            let fault = match fault {
                // That was agreed upon before.
                Fault::Here(problem) | Fault::Peer(problem)
                    if problem.code == Code::Version && tally.totals().outages > 0 =>
                {
                    violation("did not answer the greeting as before").into()
                }
                other => other,
            };
            let first = matches!(&fault, Fault::Peer(problem) if problem.code == Code::Version);
            let deadline = match outages.deadline(&fault, heard, client.patience(), tally) {
                // What standard input gave is gone.
                Some(deadline) if !plan.is_from_stdin() && !first => deadline,
                _ => return Err(fault),
            };
            tracing::info!(?fault, "the session broke off; waiting for the server");
            match client.come_back(deadline, tally)? {
                Some(back) => stream = back,
                None => return Err(fault),
            }
            tally.begin_again();
        }
    }

    /// One session.
    fn session(
        &self,
        client: &Client<'_>,
        plan: &Plan,
        stream: &Stream,
        tally: &Tally,
        written: Option<&mut Written>,
    ) -> Result<(), Fault> {
        let mut inbox = Inbox::new(stream);
        let mut outbox = Outbox::new(stream);
        let options = self.options;
        match plan {
            Plan::Put { sources, target, .. } => {
                let wish = Wish::Put {
                    target: target.clone(),
                    several: sources.len() > 1,
                    slash: target.ends_with(b"/"),
                    options,
                };
                client.greet(stream, (&mut outbox, &mut inbox), wish, &[], &self.excludes)?;
                if plan.is_from_stdin() {
                    return send_stdin(&mut outbox, &mut inbox, client.common, tally);
                }
                let mut offer = Offer {
                    sources: Vec::new(),
                    missed: Vec::new(),
                    excludes: excludes_of(&self.excludes),
                    options,
                };
                for source in sources {
                    match local_source(source, options.links) {
                        Ok(source) => offer.sources.push(source),
                        Err(problem) => offer.missed.push(problem),
                    }
                }
                Sender::new(stream, offer, tally).run()
            }
            Plan::Get { sources, target, .. } => {
                let Some(written) = written else {
                    let target = local_target(target, sources, options, excludes_of(&self.excludes))?;
                    let wish = Wish::Get { options };
                    client.greet(stream, (&mut outbox, &mut inbox), wish, sources, &self.excludes)?;
                    return receive(outbox, &mut inbox, target, &Claims::default(), tally);
                };
                let left = sources
                    .get(written.sources()..)
                    .ok_or_else(|| violation("sent more files than were asked for"))?;
                client.greet(
                    stream,
                    (&mut outbox, &mut inbox),
                    Wish::Get { options },
                    left,
                    &self.excludes,
                )?;
                ToStdout::new(&mut outbox, &mut inbox, written, tally).run()
            }
        }
    }
}

/// The paths of a list, one a line, or with `-0` each ended by a zero octet.
fn listed(list: &Path, args: &CpArgs) -> Result<Vec<Filter>, Failure> {
    let doing = format!("cannot read {}", list.display());
    let failed = |error: std::io::Error| Failure::failed(Problem::io(&doing, &error).text);
    let octets = match list.as_os_str() == "-" {
        true => {
            let mut octets = Vec::new();
            std::io::stdin().lock().read_to_end(&mut octets).map(|_| octets)
        }
        false => std::fs::read(list),
    };
    let end = if args.null { 0 } else { b'\n' };
    let octets = octets.map_err(failed)?;
    let paths = octets.split(|octet| *octet == end);
    let path = |path| RelPath::from_user(path).map(|path| Filter::Only(path, args.recursive));
    paths
        .filter(|path| !path.is_empty())
        .map(|line| path(line).map_err(|problem| Failure::usage(problem.text)))
        .collect()
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
