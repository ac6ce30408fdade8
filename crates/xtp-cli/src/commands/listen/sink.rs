//! What is written, and in which order: octets of one message, line or stream are never mixed with those of another.
//!
//! Where all go to one place, one *has the floor* while it is written and not complete. What others complete meanwhile waits
//! in a queue, and what they have begun waits with them.

use std::collections::VecDeque;
use std::time::Instant;

use serde::Serialize;

use super::arrival::Arrival;
use super::target::Target;
use crate::args::ListenArgs;
use crate::common::{Common, Failure, Outcome, Payload};

/// Items in the object of `--json` at most.
const ITEMS: usize = 10_000;
/// Octets of content in the object of `--json` at most, all items together.
const SHOWN: usize = 16 << 20;
/// What waits in the queue at most, as a number; as octets it is the longest message accepted.
const QUEUED: usize = 4_096;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// Who is being written.
struct Floor {
    key: u64,
    peer: String,
    /// Somebody waits for its end.
    wanted: bool,
    /// It was asked to prove its address, because somebody waits.
    asked: Option<Instant>,
}

/// The output and the account of it.
pub(super) struct Sink<'a> {
    common: &'a Common,
    lines: bool,
    once: bool,
    target: Target,
    floor: Option<Floor>,
    /// Complete, but not written, because another has the floor.
    queue: VecDeque<Vec<u8>>,
    queued: usize,
    most_queued: usize,
    /// The floor was wanted and became free.
    freed: bool,
    /// It was said why something does not appear.
    told: bool,
    shown: usize,
    entries: Vec<Entry>,
    finished: u64,
    incomplete: u64,
    octets: u64,
    failure: Option<Failure>,
}

impl<'a> Sink<'a> {
    pub(super) fn open(args: &ListenArgs, common: &'a Common) -> Result<Self, Failure> {
        Ok(Self {
            common,
            lines: args.lines,
            once: args.once,
            target: Target::open(args.output.as_deref(), common.out.is_json())?,
            floor: None,
            queue: VecDeque::new(),
            queued: 0,
            most_queued: args.max_size,
            freed: false,
            told: false,
            shown: 0,
            entries: Vec::new(),
            finished: 0,
            incomplete: 0,
            octets: 0,
            failure: None,
        })
    }

    /// Whether streams take turns line by line.
    pub(super) fn by_lines(&self) -> bool {
        self.lines
    }

    /// Writes a whole message or line, or the rest of one or of a stream; nothing is left in `octets`. It waits in the
    /// queue if another has the floor.
    pub(super) fn complete(&mut self, key: u64, octets: &mut Vec<u8>) -> Outcome {
        let unit = std::mem::take(octets);
        if self.must_wait(key) {
            if !unit.is_empty() {
                self.queued += unit.len();
                self.queue.push_back(unit);
            }
            self.want();
            return Ok(());
        }
        self.target.write(key, &unit)?;
        self.yield_floor(key)
    }

    /// Writes what is not complete yet, and takes the floor for the rest; false if another has it.
    pub(super) fn begin(&mut self, key: u64, peer: &str, octets: &mut Vec<u8>) -> Result<bool, Failure> {
        if self.must_wait(key) {
            self.want();
            self.tell(peer);
            return Ok(false);
        }
        if self.target.is_shared() && self.floor.is_none() {
            self.floor = Some(Floor {
                key,
                peer: peer.to_owned(),
                wanted: false,
                asked: None,
            });
        }
        self.target.write(key, octets)?;
        octets.clear();
        Ok(true)
    }

    /// Whether another has the floor.
    pub(super) fn must_wait(&self, key: u64) -> bool {
        self.floor.as_ref().is_some_and(|floor| floor.key != key)
    }

    /// Whether it is being written.
    pub(super) fn has_floor(&self, key: u64) -> bool {
        self.floor.as_ref().is_some_and(|floor| floor.key == key)
    }

    /// Whether so much waits that nobody but who has the floor is looked at.
    pub(super) fn is_full(&self) -> bool {
        self.queued > self.most_queued || self.queue.len() > QUEUED
    }

    /// Octets that wait.
    pub(super) fn queued(&self) -> usize {
        self.queued
    }

    /// Whether somebody waited for the floor and it became free since the last call.
    pub(super) fn was_freed(&mut self) -> bool {
        std::mem::take(&mut self.freed)
    }

    /// Somebody waits for the floor.
    pub(super) fn want(&mut self) {
        if let Some(floor) = &mut self.floor {
            floor.wanted = true;
        }
    }

    /// Who has the floor, if somebody waits for it, and since when it has been asked for a proof.
    pub(super) fn wanted(&mut self) -> Option<(u64, &mut Option<Instant>)> {
        let floor = self.floor.as_mut().filter(|floor| floor.wanted);
        floor.map(|floor| (floor.key, &mut floor.asked))
    }

    /// Nothing more comes of this one: others may begin.
    pub(super) fn yield_floor(&mut self, key: u64) -> Outcome {
        if self.floor.is_none() || self.must_wait(key) {
            return Ok(());
        }
        self.freed |= self.floor.take().is_some_and(|floor| floor.wanted);
        self.told = false;
        self.drain()
    }

    fn drain(&mut self) -> Outcome {
        for unit in std::mem::take(&mut self.queue) {
            self.queued -= unit.len();
            self.target.write_shared(&unit)?;
        }
        Ok(())
    }

    /// Says once for each that has the floor why others do not appear.
    fn tell(&mut self, peer: &str) {
        if let Some(floor) = self.floor.as_ref().filter(|_| !self.told) {
            let first = &floor.peer;
            self.common.out.note(format_args!(
                "from {peer}: waits until the stream from {first} ends; --lines lets streams take turns, --output DIR keeps \
                 each in a file of its own"
            ));
            self.told = true;
        }
    }

    /// Keeps octets for the object of `--json`, as far as there is room.
    pub(super) fn keep(&mut self, shown: &mut Vec<u8>, octets: &[u8]) {
        if matches!(self.target, Target::Object) {
            let kept = octets.len().min(SHOWN.saturating_sub(self.shown));
            self.shown += kept;
            shown.extend_from_slice(&octets[..kept]);
        }
    }

    pub(super) fn remark(&self, text: &str) {
        self.common.out.note(text);
    }

    /// Whether each has a file of its own.
    pub(super) fn has_files(&self) -> bool {
        self.target.is_directory()
    }

    /// Why the file of this association cannot be written; the other associations have files of their own.
    pub(super) fn failure(&mut self, key: u64, peer: &str) -> Option<Failure> {
        let failure = self.target.failure(key)?;
        Some(of_peer(peer, failure))
    }

    /// An association is over; what was wrong with it in the end.
    pub(super) fn finish(
        &mut self,
        key: u64,
        arrival: &Arrival,
        failure: Option<Failure>,
    ) -> Result<Option<Failure>, Failure> {
        self.finished += 1;
        self.octets += arrival.octets;
        let failure = failure.or_else(|| self.failure(key, &arrival.peer));
        let (file, failure) = match self.target.end(key, &arrival.peer, failure.is_none()) {
            Ok(file) => (file, failure),
            Err(unnamed) => (None, failure.or_else(|| Some(of_peer(&arrival.peer, unnamed)))),
        };
        let complete = failure.is_none();
        self.incomplete += u64::from(!complete);
        if self.common.out.is_json() && self.entries.len() < ITEMS {
            let content = matches!(self.target, Target::Object);
            self.entries.push(Entry {
                from: arrival.peer.clone(),
                kind: if arrival.whole { "message" } else { "stream" },
                messages: arrival.messages,
                octets: arrival.octets,
                complete,
                content: content.then(|| Payload::of(&arrival.shown, arrival.octets)),
                file,
            });
        }
        let told = failure.as_ref().map(|failure| failure.message.clone());
        if self.once && self.failure.is_none() {
            self.failure = failure;
        }
        self.yield_floor(key)?;
        Ok(told.map(Failure::failed))
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

    /// Nothing more comes: what waits is written behind what was begun.
    pub(super) fn flush(&mut self) -> Outcome {
        self.floor = None;
        self.drain()
    }

    /// Nothing more comes of this one, which was not complete.
    pub(super) fn cut(&mut self, key: u64, arrival: &Arrival) {
        let unwritten = self.failure(key, &arrival.peer);
        let unnamed = match self.target.is_open(key) {
            true => self.target.end(key, &arrival.peer, false).err(),
            false => None,
        };
        if let Some(failure) = unwritten.or(unnamed) {
            self.common.out.note(&failure.message);
        }
    }
}

/// A failure that concerns one peer alone.
fn of_peer(peer: &str, failure: Failure) -> Failure {
    Failure::new(failure.status, format!("from {peer}: {}", failure.message))
}
