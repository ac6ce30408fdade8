//! One association that brings a message, messages, or a stream.

use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{Chunk, Error, Incoming, PollSet, service};

use super::sink::Sink;
use crate::common::{Failure, Outcome, peer_text, size_text, span_text};

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
    pending: Vec<u8>,
    since: Instant,
    /// Its address was proved when it was asked last.
    pub(super) proved: bool,
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
            since: Instant::now(),
            proved: incoming.is_proved(),
            incoming,
        }
    }

    /// Asks whether its address is proved by now.
    pub(super) fn is_proved_now(&mut self) -> bool {
        self.proved |= self.incoming.is_proved();
        self.proved
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

    /// Octets waiting in memory.
    pub(super) fn held(&self) -> usize {
        self.pending.len()
    }

    /// Takes what is there.
    ///
    /// # Errors
    /// If the output fails; what is wrong with the association ends the association only.
    pub(super) fn step(&mut self, sink: &mut Sink<'_>, limit: usize) -> Result<Step, Failure> {
        let mut moved = 0;
        while moved < TURN {
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
                    self.take(&bytes, end_of_message, sink)?;
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
                Ok(None) => return self.complete(sink).map(|()| Step::Ended(None)),
                Err(Error::WouldBlock) => {
                    if !self.whole {
                        self.release(sink)?;
                    }
                    return Ok(if moved > 0 { Step::Moved } else { Step::Nothing });
                }
                Err(error) => {
                    self.release(sink)?;
                    let doing = format!("from {}: incomplete after {} octets", self.peer, self.octets);
                    return Ok(Step::Ended(Some(Failure::of(&doing, &error))));
                }
            }
        }
        Ok(Step::Moved)
    }

    fn take(&mut self, bytes: &Bytes, end_of_message: bool, sink: &mut Sink<'_>) -> Outcome {
        self.octets += bytes.len() as u64;
        sink.keep(&mut self.shown, bytes);
        self.pending.extend_from_slice(bytes);
        if self.whole {
            return Ok(());
        }
        if end_of_message {
            self.messages += 1;
            sink.message(&self.pending)?;
            self.pending.clear();
        } else if self.pending.len() > HELD {
            self.release(sink)?;
        }
        Ok(())
    }

    /// Writes the beginning of a message whose end is not there yet. What is there of a whole message is dropped.
    fn release(&mut self, sink: &mut Sink<'_>) -> Outcome {
        if self.whole || self.pending.is_empty() {
            return Ok(());
        }
        sink.octets_of_stream(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    fn complete(&mut self, sink: &mut Sink<'_>) -> Outcome {
        if !self.whole {
            return self.release(sink);
        }
        self.messages = 1;
        sink.message(&self.pending)?;
        self.pending = Vec::new();
        Ok(())
    }

    /// Lets go of it: in good order if it was complete, else so that the sender notices.
    pub(super) fn leave(self, complete: bool) {
        if !complete {
            self.incoming.reject(0, "");
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
