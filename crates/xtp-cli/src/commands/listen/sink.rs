//! Where it goes: standard output, a file, or the object of `--json`.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::arrival::Arrival;
use crate::args::ListenArgs;
use crate::common::{Common, Failure, Outcome, Payload};

/// Items in the object of `--json` at most.
const ITEMS: usize = 10_000;
/// Octets of content in the object of `--json` at most, all items together.
const SHOWN: usize = 16 << 20;

/// One message or stream in the object of `--json`.
#[derive(Serialize)]
pub(super) struct Entry {
    from: String,
    kind: &'static str,
    messages: u64,
    octets: u64,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Payload>,
}

/// The output and the account of it.
pub(super) struct Sink<'a> {
    common: &'a Common,
    lines: bool,
    once: bool,
    file: Option<BufWriter<File>>,
    shown: usize,
    entries: Vec<Entry>,
    finished: u64,
    incomplete: u64,
    octets: u64,
    failure: Option<Failure>,
}

impl<'a> Sink<'a> {
    pub(super) fn open(args: &ListenArgs, common: &'a Common) -> Result<Self, Failure> {
        let file = match &args.output {
            None => None,
            Some(path) => {
                let file = File::create(path)
                    .map_err(|error| Failure::io(format_args!("cannot write {}", path.display()), &error))?;
                Some(BufWriter::new(file))
            }
        };
        Ok(Self {
            common,
            lines: args.lines,
            once: args.once,
            file,
            shown: 0,
            entries: Vec::new(),
            finished: 0,
            incomplete: 0,
            octets: 0,
            failure: None,
        })
    }

    /// A whole message, or the end of one.
    pub(super) fn message(&mut self, message: &[u8]) -> Outcome {
        let newline = self.lines && message.last() != Some(&b'\n');
        self.write(message, if newline { b"\n" } else { b"" })
    }

    /// Octets of a stream.
    pub(super) fn octets_of_stream(&mut self, octets: &[u8]) -> Outcome {
        self.write(octets, b"")
    }

    fn write(&mut self, octets: &[u8], tail: &[u8]) -> Outcome {
        let written = if let Some(file) = &mut self.file {
            file.write_all(octets)
                .and_then(|()| file.write_all(tail))
                .and_then(|()| file.flush())
        } else if self.common.out.is_json() {
            Ok(())
        } else {
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(octets)
                .and_then(|()| stdout.write_all(tail))
                .and_then(|()| stdout.flush())
        };
        written.map_err(|error| Failure::io("cannot write what arrived", &error))
    }

    /// Keeps octets for the object of `--json`, as far as there is room.
    pub(super) fn keep(&mut self, shown: &mut Vec<u8>, octets: &[u8]) {
        if self.common.out.is_json() && self.file.is_none() {
            let kept = octets.len().min(SHOWN.saturating_sub(self.shown));
            self.shown += kept;
            shown.extend_from_slice(&octets[..kept]);
        }
    }

    pub(super) fn remark(&self, text: &str) {
        self.common.out.note(text);
    }

    /// An association is over.
    pub(super) fn finish(&mut self, arrival: &Arrival, failure: Option<Failure>) {
        self.finished += 1;
        self.octets += arrival.octets;
        let complete = failure.is_none();
        self.incomplete += u64::from(!complete);
        if self.common.out.is_json() && self.entries.len() < ITEMS {
            let content = self
                .file
                .is_none()
                .then(|| Payload::of(&arrival.shown, arrival.octets));
            self.entries.push(Entry {
                from: arrival.peer.clone(),
                kind: if arrival.whole { "message" } else { "stream" },
                messages: arrival.messages,
                octets: arrival.octets,
                complete,
                content,
            });
        }
        if self.once && self.failure.is_none() {
            self.failure = failure;
        }
    }

    /// How the one association of `--once` ended.
    pub(super) fn first_outcome(&mut self) -> Outcome {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Associations that are over.
    pub(super) fn finished(&self) -> u64 {
        self.finished
    }

    /// Of these, with something missing.
    pub(super) fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// Octets in them.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }

    /// The account for `--json`, once.
    pub(super) fn entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    pub(super) fn flush(&mut self) -> Outcome {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.flush()
            .map_err(|error| Failure::io("cannot write what arrived", &error))
    }
}
