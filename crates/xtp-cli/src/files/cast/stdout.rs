//! Content that goes to standard output, or is a stream without a name.

use std::io::Write;

use xtp::Bytes;

use super::{ReturnPath, no_reply};
use crate::common::standard_output;
use crate::files::channel::Inbox;
use crate::files::problem::{Code, Fault, Problem, violation};
use crate::files::record::{Hash, Record};
use crate::files::tally::Tally;

/// Content without a file on its way out.
#[derive(Default)]
pub(super) struct Body {
    hasher: blake3::Hasher,
    octets: u64,
}

impl Body {
    fn piece(
        &mut self,
        inbox: &mut Inbox<'_>,
        len: u32,
        tally: &Tally,
        mut take: impl FnMut(&[Bytes]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        inbox.content(len, |content| {
            for part in &content {
                self.hasher.update(part);
            }
            tally.sent.add(content.iter().map(|part| part.len() as u64).sum());
            tally
                .settled
                .add(content.iter().map(|part| part.len() as u64).sum());
            take(&content)
        })?;
        self.octets += u64::from(len);
        Ok(())
    }
}

/// Pieces of content up to their end, which is verified.
pub(super) fn body(
    inbox: &mut Inbox<'_>,
    tally: &Tally,
    label: &str,
    body: &mut Body,
    mut take: impl FnMut(&[Bytes]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    loop {
        tally.check()?;
        match inbox.expect()? {
            Record::Piece { len, .. } => body.piece(inbox, len, tally, &mut take)?,
            Record::End { hash, .. } if body.hasher.finalize() == hash => return Ok(()),
            Record::End { .. } => return Err(mismatch(label).into()),
            Record::Withdraw { problem, .. } => return Err(Fault::Peer(problem)),
            _ => return Err(violation("sent something else than content").into()),
        }
    }
}

/// One file to standard output.
pub(super) fn to_stdout(inbox: &mut Inbox<'_>, back: &ReturnPath, tally: &Tally) -> Result<(), Fault> {
    let (mut files, mut id) = (0, 0);
    loop {
        match inbox.expect()? {
            Record::Entry(_) if files == 1 => {
                let text = "the sender sends several files; name a directory instead of -";
                return Err(Problem::new(Code::InTheWay, text).into());
            }
            Record::Entry(entry) => {
                (files, id) = (1, entry.id);
                back.send(encoded(&Record::Have {
                    id,
                    offset: 0,
                    prefix: *blake3::hash(&[]).as_bytes(),
                }));
            }
            Record::Whole { hash, content, .. } => whole_out(hash, content, tally)?,
            Record::Begin { offset, .. } => {
                let mut begun = Body::default();
                beginning(back, id, offset, &mut begun, tally)?;
                body(inbox, tally, "the file", &mut begun, write_out)?;
            }
            Record::Skip { .. } => match fetch(back, id)? {
                (_, Record::Whole { hash, content, .. }) => whole_out(hash, content, tally)?,
                (mut its, Record::Begin { offset: 0, .. }) => {
                    body(&mut its, tally, "the file", &mut Body::default(), write_out)?;
                }
                (_, Record::Withdraw { problem, .. }) => return Err(Fault::Peer(problem)),
                _ => return Err(violation("sent something else than content").into()),
            },
            Record::Note { problem, .. } if !problem.code.is_failure() || problem.code == Code::Special => {
                tally.problem(problem)
            }
            Record::Note { problem, .. } | Record::Withdraw { problem, .. } => {
                return Err(Fault::Peer(problem));
            }
            Record::Finish => {
                tally.files.add(files);
                return Ok(());
            }
            _ => return Err(violation("sent a record that a transmitter does not send").into()),
        }
    }
}

fn encoded(record: &Record) -> Vec<u8> {
    let mut message = Vec::new();
    record.encode(&mut message);
    message
}

/// Asks for a file that the group is not sent, or not from its beginning; the reply, and what follows it.
fn fetch(back: &ReturnPath, id: u64) -> Result<(Inbox<'_>, Record), Fault> {
    let prefix = *blake3::hash(&[]).as_bytes();
    let offset = 0;
    back.send(encoded(&Record::Want { id, offset, prefix }));
    let silent = || no_reply("the file");
    let mut inbox = back.inbox().ok_or_else(silent)?;
    match inbox.expect() {
        Err(Fault::Net(error)) => {
            tracing::info!(%error, "the sender does not reply");
            Err(silent().into())
        }
        reply => Ok((inbox, reply?)),
    }
}

/// The first octets of a file of which the group is sent the rest.
fn beginning(back: &ReturnPath, id: u64, until: u64, begun: &mut Body, tally: &Tally) -> Result<(), Fault> {
    if until == 0 {
        return Ok(());
    }
    let mut inbox = match fetch(back, id)? {
        (inbox, Record::Begin { offset: 0, .. }) => inbox,
        (_, Record::Withdraw { problem, .. }) => return Err(Fault::Peer(problem)),
        _ => return Err(violation("sent something else than content").into()),
    };
    while begun.octets < until {
        tally.check()?;
        match inbox.expect()? {
            Record::Piece { len, .. } => begun.piece(&mut inbox, len, tally, write_out)?,
            Record::Withdraw { problem, .. } => return Err(Fault::Peer(problem)),
            _ => return Err(violation("sent something else than content").into()),
        }
    }
    match begun.octets == until {
        true => Ok(()),
        false => Err(violation("sent more of a file than is missing").into()),
    }
}

fn whole_out(hash: Hash, content: Bytes, tally: &Tally) -> Result<(), Fault> {
    if blake3::hash(&content) != hash {
        return Err(mismatch("the file").into());
    }
    tally.sent.add(content.len() as u64);
    write_out(&[content])
}

pub(super) fn write_out(content: &[Bytes]) -> Result<(), Fault> {
    let written = standard_output().and_then(|mut stdout| {
        content.iter().try_for_each(|part| stdout.write_all(part))?;
        stdout.flush()
    });
    written.map_err(|error| Fault::unwritten("cannot write to standard output", &error))
}

fn mismatch(label: &str) -> Problem {
    Problem::new(
        Code::Mismatch,
        format!("{label}: the content that arrived differs from what was sent; have it sent again"),
    )
}
