//! `xtp cp - xtp://...`: standard input becomes a file whose size is unknown before its end.

use std::time::{SystemTime, UNIX_EPOCH};

use super::channel::{Inbox, Outbox};
use super::content_hash::ContentHash;
use super::problem::{Code, Fault, Problem, violation};
use super::record::{Entry, Kind, Owner, Record, Stamp};
use super::tally::Tally;
use crate::common::{Common, Input, Piece};

/// What it is called where the target is a directory.
const NAME: &[u8] = b"stdin";
/// Permission bits of what is made of it, as most programs make files.
const MODE: u32 = 0o644;

/// Sends standard input to its end, and waits until it is in place.
///
/// # Errors
/// If it cannot be read or stored, or the session ends.
pub(crate) fn send_stdin(
    outbox: &mut Outbox<'_>,
    inbox: &mut Inbox<'_>,
    common: &Common,
    tally: &Tally,
) -> Result<(), Fault> {
    let outcome = send(outbox, inbox, common, tally);
    if let Err(Fault::Here(problem)) = &outcome {
        outbox.fatal(problem);
    }
    outcome
}

fn send(outbox: &mut Outbox<'_>, inbox: &mut Inbox<'_>, common: &Common, tally: &Tally) -> Result<(), Fault> {
    outbox.push(&Record::Entry(entry()))?;
    outbox.flush()?;
    match inbox.expect()? {
        Record::Want { id: 0, .. } => {
            if let Some(problem) = content(outbox, inbox, common, tally)? {
                tally.problem(tally.told(problem));
            } else {
                tally.files.add(1);
            }
        }
        Record::Failed { problem, .. } => tally.problem(tally.told(problem)),
        _ => return Err(violation("answered with a record that is no answer").into()),
    }
    outbox.push(&Record::Finish)?;
    outbox.flush()?;
    match inbox.expect()? {
        Record::Finished => Ok(()),
        _ => Err(violation("answered after the end").into()),
    }
}

/// All content; what the receiver says if it cannot store it.
fn content(
    outbox: &mut Outbox<'_>,
    inbox: &mut Inbox<'_>,
    common: &Common,
    tally: &Tally,
) -> Result<Option<Problem>, Fault> {
    let unread = |failure: crate::common::Failure| Problem::new(Code::Io, failure.message);
    let input = Input::open(common).map_err(unread)?;
    let mut hash = ContentHash::new(false);
    outbox.push(&Record::Begin { id: 0, offset: 0 })?;
    loop {
        match input.next(common) {
            Piece::Data(octets) => {
                hash.update(&octets);
                let count = octets.len() as u64;
                outbox.piece(0, octets)?;
                tally.offered.add(count);
                tally.sent.add(count);
                tally.settled.add(count);
            }
            Piece::End => break,
            Piece::Failed(error) => return Err(Problem::io("cannot read standard input", &error).into()),
            Piece::Interrupted => return Err(Fault::Stopped),
        }
        match inbox.try_next()? {
            None => {}
            Some(Record::Failed { problem, .. }) => return Ok(Some(problem)),
            Some(_) => return Err(violation("answered with a record that is no answer").into()),
        }
    }
    let hash = hash.value();
    outbox.push(&Record::End { id: 0, hash })?;
    outbox.flush()?;
    match inbox.expect()? {
        Record::Done { id: 0 } => Ok(None),
        Record::Failed { problem, .. } => Ok(Some(problem)),
        _ => Err(violation("answered with a record that is no answer").into()),
    }
}

fn entry() -> Entry {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Entry {
        id: 0,
        source: 0,
        path: Vec::new(),
        name: NAME.to_vec(),
        kind: Kind::Stream,
        stored: None,
        hash: None,
        mode: MODE,
        owner: Owner {
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        },
        modified: Stamp {
            seconds: i64::try_from(now.as_secs()).unwrap_or(0),
            nanos: now.subsec_nanos(),
        },
    }
}
