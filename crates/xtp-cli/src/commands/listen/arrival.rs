//! One association that brings a message, messages, or a stream.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{Chunk, Error, Incoming, PollSet, service};

use super::sink::Sink;
use crate::common::{Common, Failure, Outcome, PAUSE, Pace, REJECTED, peer_text, size_text, span_text};

/// Octets taken in one turn, so that many senders are served alike.
const TURN: usize = 256 << 10;
/// Octets of a message of a stream that are held back until it is complete or nothing more comes, so that small
/// messages of several senders do not mix.
const HELD: usize = 64 << 10;
/// Octets of a message for each of which a second is added to its time.
const OCTETS_A_SECOND: u64 = 16 << 10;

/// What a turn came to.
pub(super) enum Step {
    /// There was nothing.
    Nothing,
    /// Octets came.
    Moved,
    /// What came fills its memory, and another stream is being written: nothing more is taken until that is over.
    Waits,
    /// It is over; with a failure if something is missing.
    Ended(Option<Failure>),
}

/// An association and what it brought so far.
pub(super) struct Arrival {
    incoming: Incoming,
    pub(super) peer: String,
    /// One message that is shown when it is complete, as opposed to a stream.
    pub(super) whole: bool,
    pub(super) octets: u64,
    pub(super) messages: u64,
    /// The beginning, for `--json`.
    pub(super) shown: Vec<u8>,
    /// Octets of a message, line or stream that is not complete, and not written yet.
    pending: Vec<u8>,
    /// The last octet of the message or line that is under way; `None` before its first.
    last: Option<u8>,
    since: Instant,
    /// Its address was proved when it was asked last.
    pub(super) proved: bool,
    pub(super) source: IpAddr,
    pace: Pace,
    /// How long it had sent too little at the last look.
    stalled: Duration,
}

impl Arrival {
    pub(super) fn new(incoming: Incoming) -> Self {
        Self {
            peer: peer_text(incoming.peer()),
            whole: matches!(incoming.service(), service::DATAGRAM | service::ACKNOWLEDGED),
            octets: 0,
            messages: 0,
            shown: Vec::new(),
            pending: Vec::new(),
            last: None,
            since: Instant::now(),
            source: incoming.peer().ip().to_canonical(),
            pace: Pace::new(Instant::now()),
            stalled: Duration::ZERO,
            proved: incoming.is_proved(),
            incoming,
        }
    }

    /// Asks whether its address is proved by now.
    pub(super) fn is_proved_now(&mut self) -> bool {
        self.proved |= self.incoming.is_proved();
        self.proved
    }

    /// Has its address proved, if it can be: a peer has to answer a change of the rate it may send at (§1.7), which here is none.
    pub(super) fn ask_for_proof(&self, common: &Common) {
        // One that is over is found to be so when it is read.
        let _ = self
            .incoming
            .stream()
            .tuning()
            .set_in_rate(common.rate().unwrap_or_default());
    }

    /// Whether all of it is there.
    pub(super) fn is_complete(&self) -> bool {
        self.incoming.is_complete()
    }

    /// Tells `set` to watch it.
    pub(super) fn watch(&self, set: &PollSet, key: u64) -> xtp::Result<()> {
        set.add(self.incoming.stream(), key)
    }

    /// Tells `set` not to.
    pub(super) fn unwatch(&self, set: &PollSet) {
        set.remove(self.incoming.stream());
    }

    /// Whether it is a message that takes too long: `patience` and a second for every 16 KiB.
    pub(super) fn is_late(&self, patience: Duration) -> bool {
        let added = Duration::from_secs(self.pending.len() as u64 / OCTETS_A_SECOND);
        self.whole && self.since.elapsed() > patience + added
    }

    /// Why it was given up.
    pub(super) fn late(&self, patience: Duration) -> Failure {
        Failure::failed(format!(
            "from {}: a message not complete after {} was refused",
            self.peer,
            span_text(patience)
        ))
    }

    /// The same, where others came.
    pub(super) fn displaced(&self) -> Failure {
        Failure::failed(format!(
            "from {}: gave way to others, because its address is not proved",
            self.peer
        ))
    }

    /// Looks how a stream gets on; one that is held back waits for this end. A message has its time.
    pub(super) fn look(&mut self, held_back: bool, now: Instant) {
        if held_back || self.whole {
            self.pace.rest(self.octets, now);
        }
        self.stalled = self.pace.note(self.octets, now);
    }

    /// How long it has been too slow to keep others waiting, if it has been for long enough.
    pub(super) fn is_idle(&self) -> Option<Duration> {
        (self.stalled >= PAUSE).then_some(self.stalled)
    }

    /// Why it gave way then.
    pub(super) fn idle(&self) -> Failure {
        Failure::failed(format!(
            "from {}: gave way to others, because hardly anything came of it for {}",
            self.peer,
            span_text(PAUSE)
        ))
    }

    /// Octets waiting in memory.
    pub(super) fn held(&self) -> usize {
        self.pending.len()
    }

    /// Takes what is there.
    ///
    /// # Errors
    /// If the output fails; what is wrong with the association ends the association only.
    pub(super) fn step(&mut self, key: u64, sink: &mut Sink<'_>, limit: usize) -> Result<Step, Failure> {
        let mut moved = 0;
        while moved < TURN {
            if !self.whole && self.pending.len() > HELD && !self.release(key, sink)? {
                return Ok(Step::Waits);
            }
            match self.incoming.stream().try_recv_chunk(TURN) {
                Ok(Some(Chunk::Data {
                    bytes,
                    end_of_message,
                    ..
                })) => {
                    moved += bytes.len().max(1);
                    if self.whole && self.pending.len() + bytes.len() > limit {
                        return Ok(Step::Ended(Some(self.too_long(limit))));
                    }
                    self.take(key, &bytes, end_of_message, sink)?;
                }
                // Nobody asked this program to understand tags.
                Ok(Some(Chunk::Tag { .. })) => moved += 1,
                Ok(Some(Chunk::Gap { offset, len })) => {
                    moved += 1;
                    sink.remark(&format!(
                        "from {}: {len} octets are missing at {offset}",
                        self.peer
                    ));
                }
                Ok(Some(_)) => moved += 1,
                Ok(None) => return self.complete(key, sink).map(|()| Step::Ended(None)),
                Err(Error::WouldBlock) => {
                    // What may be followed by more of the same line waits for it, if lines are what is wanted.
                    if !self.whole && !sink.by_lines() {
                        self.release(key, sink)?;
                    }
                    return Ok(if moved > 0 { Step::Moved } else { Step::Nothing });
                }
                Err(error) => {
                    if !self.whole {
                        self.finish(key, sink)?;
                    }
                    let doing = format!("from {}: incomplete after {} octets", self.peer, self.octets);
                    return Ok(Step::Ended(Some(Failure::of(&doing, &error))));
                }
            }
        }
        Ok(Step::Moved)
    }

    fn take(&mut self, key: u64, bytes: &Bytes, end_of_message: bool, sink: &mut Sink<'_>) -> Outcome {
        self.octets += bytes.len() as u64;
        sink.keep(&mut self.shown, bytes);
        self.pending.extend_from_slice(bytes);
        self.last = bytes.last().copied().or(self.last);
        if self.whole {
            return Ok(());
        }
        if end_of_message {
            self.messages += 1;
            return self.end_message(key, sink);
        }
        if sink.by_lines()
            && let Some(end) = self.pending.iter().rposition(|octet| *octet == b'\n')
        {
            let rest = self.pending.split_off(end + 1);
            sink.complete(key, &mut self.pending)?;
            self.pending = rest;
        }
        Ok(())
    }

    /// Writes the beginning of what is not complete yet if no other is being written. What is there of a whole message
    /// stays.
    fn release(&mut self, key: u64, sink: &mut Sink<'_>) -> Result<bool, Failure> {
        match self.pending.is_empty() {
            true => Ok(true),
            false => sink.begin(key, &self.peer, &mut self.pending),
        }
    }

    /// A message ends here.
    fn end_message(&mut self, key: u64, sink: &mut Sink<'_>) -> Outcome {
        if sink.by_lines() && self.last != Some(b'\n') {
            self.pending.push(b'\n');
        }
        self.last = None;
        sink.complete(key, &mut self.pending)
    }

    /// Nothing follows what is pending of a stream. A line without its newline gets one where lines of others may follow.
    pub(super) fn finish(&mut self, key: u64, sink: &mut Sink<'_>) -> Outcome {
        match self.last {
            Some(_) => self.end_message(key, sink),
            None => sink.complete(key, &mut self.pending),
        }
    }

    fn complete(&mut self, key: u64, sink: &mut Sink<'_>) -> Outcome {
        if !self.whole {
            return self.finish(key, sink);
        }
        self.messages = 1;
        self.end_message(key, sink)
    }

    /// Lets go of it: in good order if it was complete, else so that the sender learns why.
    pub(super) fn leave(self, failure: Option<&str>) {
        if let Some(why) = failure {
            // What is behind the name of the sender concerns the sender.
            let why = why.strip_prefix(&format!("from {}: ", self.peer)).unwrap_or(why);
            self.incoming.reject(REJECTED, why);
        }
    }

    fn too_long(&self, limit: usize) -> Failure {
        Failure::failed(format!(
            "from {}: a message longer than {} was refused; allow more with --max-size",
            self.peer,
            size_text(limit as u64)
        ))
    }
}
