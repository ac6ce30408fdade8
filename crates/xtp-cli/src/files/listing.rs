//! The client's side of lists: `xtp ls`, and what patterns in the sources of `xtp cp` stand for.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use serde::Serialize;
use xtp::Stream;

use super::channel::{Inbox, Outbox};
use super::client::Client;
use super::location::{Location, Plan};
use super::names::{RelPath, shown};
use super::pattern::{is_pattern, matches_name};
use super::problem::{Fault, Problem, violation};
use super::record::{Entry, Kind, Record, Stamp, Wish};
use super::session::SOURCE_LIMIT;
use super::tally::Tally;
use crate::args::LsArgs;
use crate::common::{Address, Common, Failure, Outcome, Status, base64};

/// Longest wait for the close of an association whose outcome is known.
const FAREWELL: Duration = Duration::from_millis(500);

/// Lists what a server has.
pub(crate) fn ls(args: &LsArgs, common: &Common) -> Outcome {
    let (authority, paths) = there(&args.paths)?;
    let address = Address::peer(&authority, xtp::service_numbers::FILES)?;
    let client = Client::new(common, address, format!("cannot list xtp://{authority}/"))?;
    let listed = ask(&client, &paths, args.directory)?;
    let several = paths.len() > 1 || paths.iter().any(|path| is_pattern(path));
    let mut object = Object {
        ok: true,
        entries: Vec::new(),
    };
    for (entry, above) in listed
        .entries
        .iter()
        .map(|entry| (entry, above(entry, &paths, several)))
    {
        let name = match above {
            Some(above) if entry.path.len() > above => &entry.path[above..],
            _ => &entry.path[..],
        };
        if common.out.is_json() {
            object.entries.push(Line::of(entry));
        } else if args.null {
            let mut octets = match args.long {
                true => details(entry).into_bytes(),
                false => Vec::new(),
            };
            octets.extend_from_slice(name);
            octets.push(0);
            common.out.raw(&octets)?;
        } else if args.long {
            common.out.line(long(entry, name))?;
        } else {
            common.out.line(plain(entry, name))?;
        }
    }
    let mut worst = None;
    for (_, problem) in &listed.problems {
        common
            .out
            .error(format_args!("xtp://{authority}/{}", problem.text));
        if problem.code.is_failure() {
            worst = Some(problem.status());
        }
    }
    object.ok = worst.is_none();
    if common.out.is_json() {
        common.out.object(&object)?;
    }
    worst.map_or(Ok(()), |status| Err(Failure::new(status, "")))
}

/// Server and paths; all on one server.
fn there(arguments: &[OsString]) -> Result<(String, Vec<Vec<u8>>), Failure> {
    let (mut host, mut paths) = (None, Vec::new());
    for argument in arguments {
        let Location::There { authority, path } = Location::parse(argument)? else {
            return Err(Failure::usage(
                "ls lists what a server has: xtp ls xtp://host[:port]/path",
            ));
        };
        if host.get_or_insert_with(|| authority.clone()) != &authority {
            return Err(Failure::usage(
                "the paths are on different servers; list one at a time",
            ));
        }
        paths.push(path);
    }
    Ok((host.unwrap_or_default(), paths))
}

/// Leading octets of an entry's path that all entries share: those of the one directory that was named.
fn above(entry: &Entry, paths: &[Vec<u8>], several: bool) -> Option<usize> {
    let path = RelPath::from_user(paths.get(entry.source as usize)?).ok()?;
    let inside = !several && entry.path != path.as_bytes();
    match path.is_root() {
        true => None,
        false => inside.then(|| path.as_bytes().len() + 1),
    }
}

/// What a server said.
pub(crate) struct Listed {
    pub(crate) entries: Vec<Entry>,
    /// With the number of the path.
    pub(crate) problems: Vec<(u32, Problem)>,
}

/// Asks a server what it has at `paths`.
///
/// # Errors
/// If no server answers, or the session breaks off.
pub(crate) fn ask(client: &Client<'_>, paths: &[Vec<u8>], itself: bool) -> Result<Listed, Failure> {
    let stream = client.connect()?;
    match listed(client, &stream, paths, itself) {
        Ok(listed) => {
            let _ = stream.close_timeout(FAREWELL);
            Ok(listed)
        }
        // A list is not continued after an outage.
        Err(Fault::Net(error)) => Err(Failure::of(&client.doing, &error)),
        Err(fault) => Err(client.explain(fault)),
    }
}

fn listed(client: &Client<'_>, stream: &Stream, paths: &[Vec<u8>], itself: bool) -> Result<Listed, Fault> {
    let mut inbox = Inbox::new(stream);
    let mut outbox = Outbox::new(stream);
    let wish = Wish::List { itself };
    let begun = Instant::now();
    client.greet(stream, (&mut outbox, &mut inbox), wish, paths, &[])?;
    let mut listed = Listed {
        entries: Vec::new(),
        problems: Vec::new(),
    };
    loop {
        // For the list together, however slowly it comes.
        let left = client
            .common
            .timeout()
            .map(|limit| limit.saturating_sub(begun.elapsed()));
        stream.set_read_timeout(left);
        match inbox.expect()? {
            Record::Entry(entry) => {
                RelPath::from_peer(&entry.path)?;
                listed.entries.push(entry);
            }
            Record::Note {
                source, mut problem, ..
            } => {
                problem.there = true;
                listed.problems.push((source, problem));
            }
            Record::Finish => break,
            _ => return Err(violation("sent a record that a list does not have").into()),
        }
    }
    Ok(listed)
}

/// Replaces patterns among the sources on a server by what they stand for.
///
/// # Errors
/// If no server answers, or a pattern matches nothing.
pub(crate) fn expand(client: &Client<'_>, plan: &mut Plan, tally: &Tally) -> Outcome {
    let Plan::Get { sources, .. } = plan else {
        return Ok(());
    };
    let patterns: Vec<_> = sources.iter().filter(|path| is_pattern(path)).cloned().collect();
    if patterns.is_empty() {
        return Ok(());
    }
    let listed = ask(client, &patterns, true)?;
    let mut found = vec![Vec::new(); patterns.len()];
    for entry in listed.entries {
        let number = entry.source as usize;
        let meant = patterns
            .get(number)
            .is_some_and(|pattern| is_meant(pattern, &entry.path));
        if !meant {
            return Err(client.explain(violation("named a file that nobody asked for").into()));
        }
        found[number].push(entry.path);
    }
    // What stands for nothing is a failure of its own, and the others are copied.
    for (_, problem) in listed.problems {
        tally.problem(tally.told(problem));
    }
    let (mut number, mut all) = (0, Vec::new());
    for source in std::mem::take(sources) {
        if is_pattern(&source) {
            all.append(&mut found[number]);
            number += 1;
        } else {
            all.push(source);
        }
    }
    *sources = all;
    match sources.len() {
        0 => {
            let problems = tally.problems(0);
            let text = problems
                .first()
                .map_or("nothing has such a name", |first| &first.text);
            let status = problems.first().map_or(Status::Failed, |first| first.status());
            Err(Failure::new(status, format!("{}: {text}", client.doing)))
        }
        count if count > SOURCE_LIMIT => Err(Failure::failed(format!(
            "{}: the patterns stand for {count} names, more than {SOURCE_LIMIT}; copy parts",
            client.doing
        ))),
        _ => Ok(()),
    }
}

/// Whether a path is what a pattern stands for, or is named as the pattern is.
fn is_meant(pattern: &[u8], path: &[u8]) -> bool {
    let names = |path| -> Vec<&[u8]> { <[u8]>::split(path, |octet| *octet == b'/').collect() };
    let Ok(pattern) = RelPath::from_user(pattern) else {
        return false;
    };
    let (parts, names) = (names(pattern.as_bytes()), names(path));
    parts.len() == names.len()
        && parts
            .iter()
            .zip(names)
            .all(|(part, name)| *part == name || matches_name(part, name))
}

/// The object of `--json`.
#[derive(Serialize)]
struct Object {
    ok: bool,
    entries: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    path: String,
    /// Where the path is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    kind: &'static str,
    size: u64,
    mode: String,
    user: u32,
    group: u32,
    /// Since 1970.
    seconds: i64,
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_base64: Option<String>,
}

/// Octets as JSON carries them: as they are, or where they are no text for people and in base 64.
fn carried(octets: &[u8]) -> (String, Option<String>) {
    match std::str::from_utf8(octets) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (shown(octets), Some(base64(octets))),
    }
}

impl Line {
    fn of(entry: &Entry) -> Self {
        let (kind, target) = match &entry.kind {
            Kind::Directory => ("directory", None),
            Kind::File { .. } | Kind::Stream => ("file", None),
            Kind::Link { target } => ("link", Some(carried(target))),
        };
        let (path, path_base64) = carried(&entry.path);
        let (target, target_base64) = target.map_or((None, None), |(text, octets)| (Some(text), octets));
        Self {
            path,
            path_base64,
            target_base64,
            kind,
            size: entry.kind.size(),
            mode: format!("{:04o}", entry.mode),
            user: entry.owner.user,
            group: entry.owner.group,
            seconds: entry.modified.seconds,
            target,
        }
    }
}

fn plain(entry: &Entry, name: &[u8]) -> String {
    let slash = if entry.kind == Kind::Directory { "/" } else { "" };
    format!("{}{slash}", shown(name))
}

/// A line as `ls -ln` prints it, with the time in UTC.
fn long(entry: &Entry, name: &[u8]) -> String {
    let target = match &entry.kind {
        Kind::Link { target } => format!(" -> {}", shown(target)),
        _ => String::new(),
    };
    format!("{}{}{target}", details(entry), plain(entry, name))
}

/// What stands before its name.
fn details(entry: &Entry) -> String {
    let kind = match &entry.kind {
        Kind::Directory => 'd',
        Kind::File { .. } | Kind::Stream => '-',
        Kind::Link { .. } => 'l',
    };
    format!(
        "{kind}{} {:>5} {:>5} {:>12} {} ",
        rights(entry.mode),
        entry.owner.user,
        entry.owner.group,
        entry.kind.size(),
        date(entry.modified)
    )
}

/// `rwxr-xr-x`, with the set-ID and sticky bits where `ls` shows them.
fn rights(mode: u32) -> String {
    let mut text = String::with_capacity(9);
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// Day and time, in UTC, by the Gregorian calendar.
fn date(stamp: Stamp) -> String {
    const DAY: i64 = 86_400;
    // Days since 1 March of the year 0, in eras of 400 years: leap days come last in each.
    let days = stamp.seconds.div_euclid(DAY) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let (year, second) = (year + era * 400 + later, stamp.seconds.rem_euclid(DAY));
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        second / 3_600,
        second / 60 % 60
    )
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
