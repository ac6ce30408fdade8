//! One host: an engine, the way its owner drives it, and what its user holds.
//!
//! Every call of an engine is made here, each in two ways: by the general calls alone, or by the sequences with shortcuts
//! that the facade uses. What a caller is told in place of an event is noted as that event, so that both ways have to
//! tell the same.

use super::calls::{Link, Way};
use super::world::{Flying, Told};
use crate::{
    Confirm, ContextId, Driver, Engine, Error, Event, ListenerId, MarkAt, MarkId, OpenOptions, Read, Setting,
    Time,
};
use bytes::Bytes;
use std::collections::HashMap;
use std::net::SocketAddr;
use xtp_wire::service;

/// When what a turn left undone is done.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Bookkeeping {
    /// By the next call.
    Later,
    /// Now, and what is over is put away.
    Idle,
    /// Now.
    Now,
}

/// An association somebody holds.
pub(super) struct Held {
    pub(super) id: ContextId,
    pub(super) service: u8,
    /// `Readable` was told, and nothing was found empty since.
    pub(super) announced: bool,
    /// Octets of a message that was read in part.
    pub(super) partial: Vec<u8>,
    pub(super) mark: Option<MarkId>,
}

impl Held {
    pub(super) fn new(id: ContextId, service: u8) -> Self {
        Self {
            id,
            service,
            announced: false,
            partial: Vec::new(),
            mark: None,
        }
    }

    pub(super) fn lasts(&self) -> bool {
        !matches!(
            self.service,
            service::DATAGRAM | service::ACKNOWLEDGED | service::TRANSACTION
        )
    }
}

/// An engine and its user.
pub(super) struct Host {
    pub(super) driver: Driver,
    pub(super) way: Way,
    pub(super) listeners: Vec<ListenerId>,
    /// The listener its user waits at, by its place.
    pub(super) expects: usize,
    /// Oldest first.
    pub(super) held: Vec<Held>,
    /// Let go of last.
    pub(super) released: Option<ContextId>,
    /// Under way to this host.
    pub(super) arriving: Vec<Flying>,
    /// What it sent since somebody looked.
    pub(super) sent: Vec<(SocketAddr, Flying)>,
    /// What its user was told since somebody looked.
    pub(super) told: Vec<Told>,
    /// Associations by the order in which they were heard of: which slot one gets depends on when another was put away.
    names: HashMap<ContextId, usize>,
    /// How many steps were taken by a shortcut, by kind.
    pub(super) taken: [u64; Shortcut::COUNT],
}

/// A shortcut, to be counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Shortcut {
    First,
    Respond,
    Answer,
    End,
    Release,
    Message,
    Train,
    Send,
    Tagged,
    Run,
    /// The engine has a note of an association in place of a context: pending answers, ends.
    Noted,
    /// Packets that left before the bookkeeping.
    Ahead,
}

impl Shortcut {
    pub(super) const COUNT: usize = 12;
}

impl Host {
    pub(super) fn new(engine: Engine, way: Way) -> Self {
        Self {
            driver: Driver::new(engine),
            way,
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

    pub(super) fn name(&mut self, id: ContextId) -> usize {
        let next = self.names.len();
        *self.names.entry(id).or_insert(next)
    }

    pub(super) fn tell_event(&mut self, id: ContextId, event: Event) {
        let name = self.name(id);
        self.told.push(Told::Event(name, event));
    }

    pub(super) fn tell(&mut self, what: &'static str, outcome: impl core::fmt::Debug) {
        self.told.push(Told::Returned(what, format!("{outcome:?}")));
    }

    pub(super) fn took(&mut self, shortcut: Shortcut) {
        self.taken[shortcut as usize] += 1;
    }

    /// The association `back` places before the newest.
    pub(super) fn index(&self, back: usize) -> Option<usize> {
        let count = self.held.len();
        (count > 0).then(|| count - 1 - back % count)
    }

    pub(super) fn id(&self, back: usize) -> Option<ContextId> {
        self.index(back).map(|at| self.held[at].id)
    }

    pub(super) fn find(&mut self, id: ContextId) -> Option<&mut Held> {
        self.held.iter_mut().find(|held| held.id == id)
    }

    // --- what leaves and what is told

    pub(super) fn carry(&mut self, link: Link) {
        self.sent.extend(link.sent);
    }

    pub(super) fn take_events(&mut self) {
        while let Some((id, event)) = self.driver.poll_event() {
            self.note_event(id, event);
        }
    }

    /// The same, where its user is about to read what came for `user`; whether more of that is there than was handed to it.
    pub(super) fn take_events_beside(&mut self, user: ContextId) -> bool {
        let mut more = false;
        while let Some((id, event)) = self.driver.poll_event() {
            match (id, &event) {
                (id, Event::Readable) if id == user => more = true,
                _ => self.note_event(id, event),
            }
        }
        more
    }

    fn note_event(&mut self, id: ContextId, event: Event) {
        match event {
            Event::Accepted { service, .. } => {
                self.held.push(Held::new(id, service));
                self.tell_event(id, event);
                if self.held.last().is_some_and(Held::lasts) {
                    let taken = self.driver.command().accepted(id);
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

    pub(super) fn turn(&mut self, now: Time, when: Bookkeeping) {
        let link = self.flush(now);
        self.carry(link);
        self.finish(now, when);
        self.take_events();
    }

    /// Does what a turn left undone.
    pub(super) fn finish(&mut self, now: Time, when: Bookkeeping) {
        self.settle(now, when);
        if self.driver.view().stats().pending > 0 {
            self.took(Shortcut::Noted);
        }
    }

    /// Whether there is something to do in a turn; what the last one left undone is done before anything is asked.
    pub(super) fn is_pressing(&mut self, now: Time) -> bool {
        self.settle(now, Bookkeeping::Now);
        self.driver.is_pressing(now)
    }

    /// Whether its driver would sleep beyond `now`, if it was asked when to wake.
    pub(super) fn would_sleep(&mut self, now: Time) -> bool {
        self.settle(now, Bookkeeping::Now);
        self.driver.deadline().is_none_or(|at| at > now)
    }

    // --- opening

    pub(super) fn open_message(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        mut data: Bytes,
    ) {
        let service = options.service;
        let opened = self.begin(now, peer, options, &mut data);
        let named = opened.as_ref().map(|id| self.name(*id));
        self.tell("open message", (named, data.len()));
        self.held.extend(opened.ok().map(|id| Held::new(id, service)));
    }

    pub(super) fn open_and_send(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        let id = self.driver.command().open(now, peer, options)?;
        let sent = self
            .driver
            .command()
            .send(now, id, data.clone(), true)
            .and_then(|accepted| {
                let _ = data.split_to(accepted.min(data.len()));
                match data.is_empty() {
                    true => self.driver.command().close_writer(now, id),
                    false => Ok(()),
                }
            });
        match sent {
            Ok(()) => Ok(id),
            Err(error) => {
                self.driver.command().release(now, id)?;
                Err(error)
            }
        }
    }

    pub(super) fn open(&mut self, now: Time, peer: SocketAddr, options: OpenOptions) {
        let service = options.service;
        let opened = self.driver.command().open(now, peer, options);
        let named = opened.as_ref().map(|id| self.name(*id));
        self.tell("open", named);
        self.held.extend(opened.ok().map(|id| Held::new(id, service)));
    }

    // --- commands

    pub(super) fn accept(&mut self, back: usize) {
        if let Some(id) = self.id(back) {
            let taken = self.driver.command().accepted(id);
            self.tell("accepted", taken);
        }
    }

    /// What can be read of an association up to `max` octets or the end of a message, as one: in which pieces octets lie is
    /// nobody's business.
    pub(super) fn read(&mut self, now: Time, id: ContextId, max: usize) {
        let max = max.max(1);
        let mut read = self.driver.command().read(now, id, max);
        let mut behind = None;
        while let Ok(Read::Data {
            offset,
            bytes,
            eom: false,
        }) = &read
            && bytes.len() < max
            && behind.is_none()
        {
            match self.driver.command().read(now, id, max - bytes.len()) {
                Ok(Read::Data { bytes: more, eom, .. }) => {
                    read = Ok(Read::Data {
                        offset: *offset,
                        bytes: [&bytes[..], &more[..]].concat().into(),
                        eom,
                    });
                }
                other => behind = Some(other),
            }
        }
        for read in [Some(read), behind].into_iter().flatten() {
            if matches!(read, Ok(Read::Pending)) {
                self.found_nothing(id);
            }
            self.tell_read(&read);
        }
    }

    pub(super) fn read_once(&mut self, now: Time, back: usize, max: usize) {
        match self
            .index(back)
            .map(|at| (self.held[at].id, self.held[at].lasts()))
        {
            Some((id, true)) => self.read_on(now, id, max),
            Some((id, false)) => self.read(now, id, max),
            None => {}
        }
    }

    /// Reads up to `max` octets.
    pub(super) fn read_on(&mut self, now: Time, id: ContextId, max: usize) {
        let mut left = max;
        while left > 0 {
            match self.driver.command().read(now, id, left) {
                Ok(Read::Data { bytes, eom, .. }) => {
                    left -= bytes.len();
                    self.note_octets(id, &bytes, eom);
                }
                Ok(Read::Pending) => return self.found_nothing(id),
                Ok(Read::Tag { tag, .. }) => self.tell("read a tag", Ok::<_, Error>(tag)),
                read => {
                    let over = !matches!(read, Ok(Read::Gap { .. }));
                    self.tell_read(&read);
                    if over {
                        return;
                    }
                }
            }
        }
    }

    pub(super) fn found_nothing(&mut self, id: ContextId) {
        if let Some(held) = self.find(id) {
            held.announced = false;
        }
    }

    pub(super) fn note_octets(&mut self, id: ContextId, octets: &[u8], eom: bool) {
        let Some(held) = self.find(id) else { return };
        held.partial.extend_from_slice(octets);
        if eom {
            let message = std::mem::take(&mut held.partial);
            let name = self.name(id);
            self.told.push(Told::Message(name, message));
        }
    }

    pub(super) fn tell_read(&mut self, read: &Result<Read, Error>) {
        match read {
            Ok(Read::Data { offset, bytes, eom }) => {
                self.told.push(Told::Read(*offset, bytes.to_vec(), *eom));
            }
            other => self.tell("read", other),
        }
    }

    pub(super) fn send(&mut self, now: Time, back: usize, data: Bytes, eom: bool) {
        if let Some(id) = self.id(back) {
            let sent = self.driver.command().send(now, id, data, eom);
            self.tell("send", sent);
        }
    }

    /// A message, and the turn it leaves in; some behind a tag.
    pub(super) fn send_message(&mut self, now: Time, back: usize, data: Bytes, when: Bookkeeping) {
        let Some(id) = self.id(back) else { return };
        let mut rest = data.clone();
        let tagged = data.len() < 2_000 && data.len().is_multiple_of(3);
        let tag = tagged.then_some(data.len() as u64);
        if let Some(link) = self.hand_out(now, id, tag, &mut rest) {
            assert!(rest.is_empty() && link.trains == 1);
            self.took(match tag {
                Some(_) => Shortcut::Tagged,
                None => Shortcut::Send,
            });
            if tag.is_some() {
                self.tell("tag", Ok::<_, Error>(()));
            }
            self.tell("send", Ok::<_, Error>(data.len()));
            self.carry(link);
            self.finish(now, when);
            return self.take_events();
        }
        assert_eq!(rest.len(), data.len(), "something was done");
        if let Some(tag) = tag {
            self.command("tag", back, |engine, id| engine.send_tag(now, id, tag));
        }
        self.send(now, back, data, true);
        self.turn(now, when);
    }

    /// The answer to the newest association, which ends what its user has to say.
    pub(super) fn respond(&mut self, now: Time, data: Bytes, unconfirmed: bool, when: Bookkeeping) {
        let Some(id) = self.id(0) else { return };
        let mut rest = data.clone();
        if let Some(link) = self.answer_at_once(now, id, &mut rest, unconfirmed) {
            assert!(rest.is_empty() && !link.sent.is_empty());
            self.took(Shortcut::Respond);
            if unconfirmed {
                self.tell("unconfirmed", Ok::<_, Error>(()));
            }
            self.tell("send", Ok::<_, Error>(data.len()));
            self.tell("close", Ok::<_, Error>(()));
            self.carry(link);
            self.finish(now, when);
            return self.take_events();
        }
        assert_eq!(rest.len(), data.len(), "something was done");
        if unconfirmed {
            let set = self
                .driver
                .command()
                .set(now, id, Setting::UnconfirmedResponse(true));
            self.tell("unconfirmed", set);
        }
        self.send(now, 0, data, true);
        self.close(now, 0);
        self.turn(now, when);
    }

    pub(super) fn close(&mut self, now: Time, back: usize) {
        if let Some(id) = self.id(back) {
            let closed = self.driver.command().close_writer(now, id);
            self.tell("close", closed);
        }
    }

    /// A mark behind the `octets` octets that were sent.
    pub(super) fn mark_at(&mut self, now: Time, back: usize, octets: u64, what: Confirm) {
        let Some(at) = self.index(back) else { return };
        let marked = self
            .driver
            .command()
            .mark(now, self.held[at].id, MarkAt::Offset(octets), what);
        self.held[at].mark = marked.as_ref().ok().copied();
        self.tell("mark", marked);
    }

    pub(super) fn release(&mut self, now: Time, back: usize) {
        let Some(at) = self.index(back) else { return };
        let id = self.held.remove(at).id;
        let released = match self.way.is_short() && self.driver.command().release_at_once(now, id) {
            true => {
                self.took(Shortcut::Release);
                Ok(())
            }
            false => self.driver.command().release(now, id),
        };
        self.released = Some(id);
        self.tell("release", released);
    }

    /// What an association cost, as whoever ends it asks.
    pub(super) fn final_stats(&mut self, back: usize) {
        let Some(id) = self.id(back) else { return };
        let known = self
            .driver
            .view()
            .parting_stats(id)
            .filter(|_| self.way.is_short());
        let stats = known.map(Ok).unwrap_or_else(|| {
            self.driver.command().catch_up();
            self.driver.view().context(id).map(|context| context.stats())
        });
        self.take_events();
        let stats = stats.map(|mut stats| {
            stats.octets_copied = 0;
            stats
        });
        self.tell("final stats", stats);
    }

    pub(super) fn readable(&mut self, back: usize) {
        let Some(id) = self.id(back) else { return };
        if self.way.is_short() {
            self.driver.command().catch_up();
            self.take_events();
        }
        let readable = self.driver.view().context(id).map(|context| context.readable());
        self.tell("readable", readable);
    }

    /// Any other command.
    pub(super) fn command<R: core::fmt::Debug>(
        &mut self,
        what: &'static str,
        back: usize,
        act: impl FnOnce(&mut Engine, ContextId) -> R,
    ) {
        if let Some(id) = self.id(back) {
            let outcome = act(self.driver.command(), id);
            self.tell(what, outcome);
        }
    }

    /// Everything there is to ask, when nothing is left undone.
    pub(super) fn audit(&mut self, parks: bool) -> Vec<String> {
        self.driver.command().catch_up();
        self.take_events();
        let mut stats = self.driver.view().stats();
        self.taken[Shortcut::Ahead as usize] = stats.express;
        // How much an exchange of small messages keeps is looked at now and then only.
        (stats.express, stats.pending, stats.memory) = (0, 0, 0);
        if parks {
            (stats.parked, stats.parkings) = (0, 0);
        }
        let mut found = vec![format!("{stats:?}")];
        found.push(format!("full: {}", self.driver.view().is_full()));
        for held in &self.held {
            let (engine, id): (&Engine, _) = (self.driver.view(), held.id);
            let counted = engine
                .context(id)
                .map(|context| context.stats())
                .map(|mut stats| {
                    // Side by side in a train, packets cost a copy more.
                    stats.octets_copied = 0;
                    stats
                });
            let rest = (
                engine.context(id).map(|context| context.readable()),
                engine.context(id).map(|context| context.writable()),
                engine.octets_acknowledged(id),
            );
            let more = (
                engine.context(id).ok().and_then(|context| context.close_reason()),
                engine.context(id).map(|context| context.peer()),
                engine.owes_delivery(id),
            );
            let name = self.names.get(&id);
            found.push(format!("{name:?}: {counted:?} {rest:?} {more:?}"));
        }
        found
    }
}
