//! The receiving role, the same for a server that is given files and a client that gets them. One thread takes what
//! arrives, so that the association lives whatever the disk does; the other one works on the disk.

use std::sync::mpsc::{SyncSender, sync_channel};

use bytes::Bytes;

use super::channel::{Inbox, Outbox};
use super::disk::Disk;
use super::partial::Claims;
use super::place::Target;
use super::problem::{Code, Fault, Problem, violation};
use super::record::Record;
use super::tally::Tally;

/// Jobs that may wait for the disk. With content in jobs of some 256 KiB this bounds what is held in memory, and
/// what is lost if the process is killed; what waits for longer is out of the cache, and its memory is missing where more comes in.
/// The stream itself holds what a disk that rests for a moment does not take.
const WAITING: usize = 4;

/// What the network hands to the disk.
pub(crate) enum Job {
    /// All of one message: a thread that is woken for each small file costs more than the file.
    Records(Vec<Record>),
    Content {
        id: u64,
        content: Vec<Bytes>,
    },
}

/// Octets of the stacks of a session's threads: a server has many, and its address space may be limited.
pub(super) const STACK: usize = 512 << 10;

/// Receives everything and puts it in place.
///
/// # Errors
/// If the session ends early. Problems with single files are in the tally.
pub(crate) fn receive(
    outbox: Outbox<'_>,
    inbox: &mut Inbox<'_>,
    target: Target,
    claims: &Claims,
    tally: &Tally,
) -> Result<(), Fault> {
    let (jobs, waiting) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        let disk = std::thread::Builder::new()
            .name("disk".into())
            .stack_size(STACK)
            .spawn_scoped(scope, move || {
                Disk::new(outbox, target, claims, tally).run(&waiting)
            });
        let disk = match disk {
            Ok(disk) => disk,
            Err(error) => return Err(Problem::io("cannot start a thread", &error).into()),
        };
        let mut disk_is_gone = false;
        let taken = take(inbox, &jobs, tally, &mut disk_is_gone);
        drop(jobs);
        let stored = disk.join().unwrap_or_else(|_| {
            let text = "the disk thread panicked";
            Err(Problem::new(Code::Io, text).into())
        });
        // If the disk thread has ended early, its reason is the one that counts.
        match (taken, stored) {
            (_, stored @ Err(_)) if disk_is_gone => stored,
            (Ok(()), stored) => stored,
            (Err(_), Err(fault @ (Fault::Here(_) | Fault::Peer(_)))) => Err(fault),
            (Err(fault), _) => Err(fault),
        }
    })
}

/// Takes records and content up to the end.
fn take(
    inbox: &mut Inbox<'_>,
    jobs: &SyncSender<Job>,
    tally: &Tally,
    disk_is_gone: &mut bool,
) -> Result<(), Fault> {
    let mut hand_on = |job| {
        jobs.send(job).map_err(|_| {
            *disk_is_gone = true;
            Fault::Stopped
        })
    };
    let mut records = Vec::new();
    loop {
        tally.check()?;
        let record = inbox.expect()?;
        let finishes = record == Record::Finish;
        match record {
            Record::Piece { id, len } => {
                if !records.is_empty() {
                    hand_on(Job::Records(std::mem::take(&mut records)))?;
                }
                inbox.content(len, |content| hand_on(Job::Content { id, content }))?;
            }
            record @ (Record::Entry(_)
            | Record::Whole { .. }
            | Record::Begin { .. }
            | Record::End { .. }
            | Record::Hole { .. }
            | Record::Skip { .. }
            | Record::Note { .. }
            | Record::Withdraw { .. }
            | Record::Finish) => records.push(record),
            _ => return Err(violation("sent a record that a sender does not send").into()),
        }
        if inbox.is_between_messages() && !records.is_empty() || finishes {
            hand_on(Job::Records(std::mem::take(&mut records)))?;
        }
        if finishes {
            return Ok(());
        }
    }
}
