//! One host: an engine, the way its owner drives it, and what its user holds.
//!
//! Every call of an engine is made here, each in two ways: by the general calls alone, or by the sequences with shortcuts
//! that the facade uses. What a caller is told in place of an event is noted as that event, so that both ways have to
//! tell the same.

use crate::world::{Flying, Told};
use bytes::Bytes;
use std::collections::HashMap;
use std::net::SocketAddr;
use xtp_engine::{
    Confirm, ContextId, Engine, Error, Event, ListenerId, MarkId, OpenOptions, Read, Time, TransmitBatch,
};
use xtp_wire::service;

/// When what a turn left undone is done.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Books {
    /// By the next call.
    Later,
    /// Now, but what is only awaited may wait on.
    Idle,
    /// As the facade does: now, unless it can wait.
    UnlessItCanWait,
    /// Now, all of it.
    Now,
}

/// An association somebody holds.
pub(crate) struct Held {
    pub(crate) id: ContextId,
    pub(crate) service: u8,
    /// `Readable` was told, and nothing was found empty since.
    pub(crate) announced: bool,
    /// Octets of a message that was read in part.
    partial: Vec<u8>,
    pub(crate) mark: Option<MarkId>,
}

impl Held {
    pub(crate) fn new(id: ContextId, service: u8) -> Self {
        Self {
            id,
            service,
            announced: false,
            partial: Vec::new(),
            mark: None,
        }
    }

    pub(crate) fn lasts(&self) -> bool {
        !matches!(
            self.service,
            service::DATAGRAM | service::ACKNOWLEDGED | service::TRANSACTION
        )
    }
}

/// An engine and its user.
pub(crate) struct Host {
    pub(crate) engine: Engine,
    /// By shortcuts, where there are any.
    pub(crate) short: bool,
    pub(crate) listeners: Vec<ListenerId>,
    /// The listener its user waits at, by its place.
    pub(crate) expects: usize,
    /// Oldest first.
    pub(crate) held: Vec<Held>,
    /// Let go of last.
    pub(crate) released: Option<ContextId>,
    /// Under way to this host.
    pub(crate) arriving: Vec<Flying>,
    /// What it sent since somebody looked.
    pub(crate) sent: Vec<(SocketAddr, Flying)>,
    /// What its user was told since somebody looked.
    pub(crate) told: Vec<Told>,
    /// Associations by the order in which they were heard of: which slot one gets depends on when another was put away.
    names: HashMap<ContextId, usize>,
    /// How many steps were taken by a shortcut, by kind.
    pub(crate) taken: [u64; Shortcut::COUNT],
}

/// A shortcut, to be counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shortcut {
    First,
    Respond,
    Answer,
    End,
    Release,
    Message,
    Train,
    Send,
    Run,
    /// The engine has a note of an association in place of a context: pending answers, ends.
    Noted,
    /// Packets that left before the books were done.
    Ahead,
}

impl Shortcut {
    pub(crate) const COUNT: usize = 11;
}

impl Host {
    pub(crate) fn new(engine: Engine, short: bool) -> Self {
        Self {
            engine,
            short,
            listeners: Vec::new(),
            expects: 0,
            held: Vec::new(),
            released: None,
            arriving: Vec::new(),
            sent: Vec::new(),
            told: Vec::new(),
            names: HashMap::new(),
            taken: [0; Shortcut::COUNT],
        }
    }

    pub(crate) fn name(&mut self, id: ContextId) -> usize {
        let next = self.names.len();
        *self.names.entry(id).or_insert(next)
    }

    pub(crate) fn tell_event(&mut self, id: ContextId, event: Event) {
        let name = self.name(id);
        self.told.push(Told::Event(name, event));
    }

    pub(crate) fn tell(&mut self, what: &'static str, outcome: impl core::fmt::Debug) {
        self.told.push(Told::Returned(what, format!("{outcome:?}")));
    }

    pub(crate) fn took(&mut self, shortcut: Shortcut) {
        self.taken[shortcut as usize] += 1;
    }

    /// The association `back` places before the newest.
    pub(crate) fn index(&self, back: usize) -> Option<usize> {
        let count = self.held.len();
        (count > 0).then(|| count - 1 - back % count)
    }

    pub(crate) fn id(&self, back: usize) -> Option<ContextId> {
        self.index(back).map(|at| self.held[at].id)
    }

    pub(crate) fn find(&mut self, id: ContextId) -> Option<&mut Held> {
        self.held.iter_mut().find(|held| held.id == id)
    }

    // --- what leaves and what is told

    pub(crate) fn carry(&mut self, out: &TransmitBatch) {
        out.for_each_datagram(|train, octets| {
            let flying = Flying {
                src: train.dst,
                dst: train.src,
                ecn: train.ecn,
                octets: octets.to_vec(),
            };
            self.sent.push((train.dst, flying));
        });
    }

    pub(crate) fn take_events(&mut self) {
        while let Some((id, event)) = self.engine.poll_event() {
            self.note_event(id, event);
        }
    }

    fn note_event(&mut self, id: ContextId, event: Event) {
        match event {
            Event::Accepted { service, .. } => {
                self.held.push(Held::new(id, service));
                self.tell_event(id, event);
                if self.held.last().is_some_and(Held::lasts) {
                    let taken = self.engine.accepted(id);
                    self.tell("accepted", taken);
                }
                return;
            }
            Event::Readable => {
                if let Some(held) = self.find(id) {
                    held.announced = true;
                }
            }
            _ => {}
        }
        self.tell_event(id, event);
    }

    // --- turns

    pub(crate) fn turn(&mut self, now: Time, books: Books) {
        let mut out = TransmitBatch::new();
        match self.short {
            true => self.engine.flush_ahead(now, &mut out),
            false => self.engine.flush(now, &mut out),
        }
        self.carry(&out);
        self.settle(books);
        self.take_events();
    }

    pub(crate) fn settle(&mut self, books: Books) {
        if !self.short {
            return;
        }
        match books {
            Books::Later => {}
            Books::Idle => self.engine.catch_up_idle(),
            Books::UnlessItCanWait => {
                if !self.engine.is_parting() && !self.engine.is_hosting() {
                    self.engine.catch_up_idle();
                }
            }
            Books::Now => self.engine.catch_up(),
        }
        if self.engine.is_hosting() || self.engine.is_waiting() || self.engine.is_parting() {
            self.took(Shortcut::Noted);
        }
    }

    /// Whether there is something to do in a turn; what the last one left undone is done before anything is asked.
    pub(crate) fn is_pressing(&mut self, now: Time) -> bool {
        self.settle(Books::UnlessItCanWait);
        self.engine.is_pressing(now)
    }

    // --- opening

    pub(crate) fn open_message(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        mut data: Bytes,
    ) {
        let service = options.service;
        let opened = match self.short {
            true => self.engine.open_ahead(now, peer, options, &mut data),
            false => self.open_and_send(now, peer, options, &mut data),
        };
        let named = opened.as_ref().map(|id| self.name(*id));
        self.tell("open message", (named, data.len()));
        self.held.extend(opened.ok().map(|id| Held::new(id, service)));
    }

    fn open_and_send(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        let id = self.engine.open(now, peer, options)?;
        let sent = self
            .engine
            .send(now, id, data.clone(), true)
            .and_then(|accepted| {
                let _ = data.split_to(accepted.min(data.len()));
                match data.is_empty() {
                    true => self.engine.close_writer(now, id),
                    false => Ok(()),
                }
            });
        match sent {
            Ok(()) => Ok(id),
            Err(error) => {
                self.engine.release(now, id)?;
                Err(error)
            }
        }
    }

    pub(crate) fn open(&mut self, now: Time, peer: SocketAddr, options: OpenOptions) {
        let service = options.service;
        let opened = self.engine.open(now, peer, options);
        let named = opened.as_ref().map(|id| self.name(*id));
        self.tell("open", named);
        self.held.extend(opened.ok().map(|id| Held::new(id, service)));
    }

    // --- commands

    pub(crate) fn accept(&mut self, back: usize) {
        if let Some(id) = self.id(back) {
            let taken = self.engine.accepted(id);
            self.tell("accepted", taken);
        }
    }

    /// One read of an association.
    pub(crate) fn read(&mut self, now: Time, id: ContextId, max: usize) {
        let read = self.engine.read(now, id, max.max(1));
        if matches!(read, Ok(Read::Pending)) {
            self.found_nothing(id);
        }
        self.tell_read(&read);
    }

    pub(crate) fn read_once(&mut self, now: Time, back: usize, max: usize) {
        match self
            .index(back)
            .map(|at| (self.held[at].id, self.held[at].lasts()))
        {
            // In which pieces the octets of a stream lie is nobody's business.
            Some((id, true)) => self.read_on(now, id, max),
            Some((id, false)) => self.read(now, id, max),
            None => {}
        }
    }

    /// Reads up to `max` octets.
    pub(crate) fn read_on(&mut self, now: Time, id: ContextId, max: usize) {
        let mut left = max;
        while left > 0 {
            match self.engine.read(now, id, left) {
                Ok(Read::Data { bytes, eom, .. }) => {
                    left -= bytes.len();
                    self.note_octets(id, &bytes, eom);
                }
                Ok(Read::Pending) => return self.found_nothing(id),
                read => {
                    let over = !matches!(read, Ok(Read::Tag { .. } | Read::Gap { .. }));
                    self.tell_read(&read);
                    if over {
                        return;
                    }
                }
            }
        }
    }

    pub(crate) fn found_nothing(&mut self, id: ContextId) {
        if let Some(held) = self.find(id) {
            held.announced = false;
        }
    }

    pub(crate) fn note_octets(&mut self, id: ContextId, octets: &[u8], eom: bool) {
        let Some(held) = self.find(id) else { return };
        held.partial.extend_from_slice(octets);
        if eom {
            let message = std::mem::take(&mut held.partial);
            let name = self.name(id);
            self.told.push(Told::Message(name, message));
        }
    }

    pub(crate) fn tell_read(&mut self, read: &Result<Read, Error>) {
        match read {
            Ok(Read::Data { offset, bytes, eom }) => {
                self.told.push(Told::Read(*offset, bytes.to_vec(), *eom));
            }
            other => self.tell("read", other),
        }
    }

    pub(crate) fn send(&mut self, now: Time, back: usize, data: Bytes, eom: bool) {
        if let Some(id) = self.id(back) {
            let sent = self.engine.send(now, id, data, eom);
            self.tell("send", sent);
        }
    }

    /// A message, and the turn it leaves in.
    pub(crate) fn send_message(&mut self, now: Time, back: usize, data: Bytes, books: Books) {
        let Some(id) = self.id(back) else { return };
        let (mut out, mut rest) = (TransmitBatch::new(), data.clone());
        if self.short && self.engine.send_message(now, id, &mut rest, &mut out) {
            assert!(rest.is_empty() && out.trains.len() == 1);
            self.took(Shortcut::Send);
            self.tell("send", Ok::<_, Error>(data.len()));
            self.carry(&out);
            self.settle(books);
            return self.take_events();
        }
        assert!(rest.len() == data.len() && out.is_empty(), "something was done");
        self.send(now, back, data, true);
        self.turn(now, books);
    }

    /// The answer to the newest association, which ends what its user has to say.
    pub(crate) fn respond(&mut self, now: Time, data: Bytes, unconfirmed: bool, books: Books) {
        let Some(id) = self.id(0) else { return };
        let (mut out, mut rest) = (TransmitBatch::new(), data.clone());
        if self.short
            && self
                .engine
                .respond_at_once(now, id, &mut rest, unconfirmed, &mut out)
        {
            assert!(rest.is_empty() && !out.is_empty());
            self.took(Shortcut::Respond);
            if unconfirmed {
                self.tell("unconfirmed", Ok::<_, Error>(()));
            }
            self.tell("send", Ok::<_, Error>(data.len()));
            self.tell("close", Ok::<_, Error>(()));
            self.carry(&out);
            self.settle(books);
            return self.take_events();
        }
        assert!(rest.len() == data.len() && out.is_empty(), "something was done");
        if unconfirmed {
            let set = self.engine.set_unconfirmed_response(now, id, true);
            self.tell("unconfirmed", set);
        }
        self.send(now, 0, data, true);
        self.close(now, 0);
        self.turn(now, books);
    }

    pub(crate) fn close(&mut self, now: Time, back: usize) {
        if let Some(id) = self.id(back) {
            let closed = self.engine.close_writer(now, id);
            self.tell("close", closed);
        }
    }

    /// A mark behind the `octets` octets that were sent.
    pub(crate) fn mark_at(&mut self, now: Time, back: usize, octets: u64, what: Confirm) {
        let Some(at) = self.index(back) else { return };
        let marked = self.engine.mark_at(now, self.held[at].id, octets, what);
        self.held[at].mark = marked.as_ref().ok().copied();
        self.tell("mark", marked);
    }

    pub(crate) fn release(&mut self, now: Time, back: usize) {
        let Some(at) = self.index(back) else { return };
        let id = self.held.remove(at).id;
        let released = match self.short && self.engine.release_at_once(now, id) {
            true => {
                self.took(Shortcut::Release);
                Ok(())
            }
            false => self.engine.release(now, id),
        };
        self.released = Some(id);
        self.tell("release", released);
    }

    /// What an association cost, as whoever ends it asks.
    pub(crate) fn final_stats(&mut self, back: usize) {
        let Some(id) = self.id(back) else { return };
        let known = self.engine.parting_stats(id).filter(|_| self.short);
        let stats = known.map(Ok).unwrap_or_else(|| {
            self.engine.catch_up();
            self.engine.context_stats(id)
        });
        self.take_events();
        let stats = stats.map(|mut stats| {
            stats.octets_copied = 0;
            stats
        });
        self.tell("final stats", stats);
    }

    pub(crate) fn readable(&mut self, back: usize) {
        let Some(id) = self.id(back) else { return };
        if self.short && !self.engine.is_noted(id) {
            self.engine.catch_up();
            self.take_events();
        }
        let readable = self.engine.readable(id);
        self.tell("readable", readable);
    }

    /// Any other command.
    pub(crate) fn command<R: core::fmt::Debug>(
        &mut self,
        what: &'static str,
        back: usize,
        act: impl FnOnce(&mut Engine, ContextId) -> R,
    ) {
        if let Some(id) = self.id(back) {
            let outcome = act(&mut self.engine, id);
            self.tell(what, outcome);
        }
    }

    /// Everything there is to ask, when nothing is left undone.
    pub(crate) fn audit(&mut self, deadline: bool) -> Vec<String> {
        self.engine.catch_up();
        self.take_events();
        let mut stats = self.engine.stats();
        self.taken[Shortcut::Ahead as usize] = stats.express;
        stats.express = 0;
        if !deadline {
            (stats.parked, stats.parkings) = (0, 0);
        }
        let deadline = deadline.then(|| self.engine.deadline());
        let mut found = vec![format!("{stats:?}"), format!("deadline {deadline:?}")];
        found.push(format!("full: {}", self.engine.is_full()));
        for held in &self.held {
            let (engine, id) = (&self.engine, held.id);
            let counted = engine.context_stats(id).map(|mut stats| {
                // Side by side in a train, packets cost a copy more.
                stats.octets_copied = 0;
                stats
            });
            let rest = (
                engine.readable(id),
                engine.writable(id),
                engine.octets_acknowledged(id),
            );
            let more = (engine.close_reason(id), engine.peer(id), engine.owes_delivery(id));
            let name = self.names.get(&id);
            found.push(format!("{name:?}: {counted:?} {rest:?} {more:?}"));
        }
        found
    }
}
