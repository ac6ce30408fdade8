//! What arrives at a host: for whoever it concerns, or for a user who waits for it.

use super::calls::{Offered, Way};
use super::host::{Bookkeeping, Held, Host, Shortcut};
use super::world::Flying;
use crate::{CloseReason, ContextId, Error, Event, Read, Time};
use bytes::Bytes;
use xtp_wire::{Header, Options, service};

impl Host {
    /// Datagrams one by one.
    pub(super) fn receive(&mut self, now: Time, came: &[Flying], shared: bool) {
        for flying in came {
            let backing = shared.then(|| Bytes::copy_from_slice(&flying.octets));
            let data = backing.as_deref().unwrap_or(&flying.octets);
            self.take_in(now, flying.as_datagram(data, backing.as_ref()), data.len());
            self.take_events();
        }
    }

    /// Datagrams as receive offload joins them.
    pub(super) fn receive_joined(&mut self, now: Time, came: &[Flying]) {
        let mut rest = came;
        while let Some(first) = rest.first() {
            let count = joinable(rest);
            let slab = slab_of(&rest[..count]);
            let runs = self.take_in(now, first.as_datagram(&slab, Some(&slab)), first.octets.len());
            self.taken[Shortcut::Run as usize] += runs as u64;
            rest = &rest[count..];
        }
        self.take_events();
    }

    /// Datagrams for a user who waits for the next message of an association; he reads all there is.
    pub(super) fn receive_message(&mut self, now: Time, back: usize, came: &[Flying], shared: bool) {
        let Some(id) = self.id(back) else {
            return self.receive(now, came, shared);
        };
        if !(self.way.is_short() && self.hand_in(now, id, came, shared)) {
            match shared {
                true => self.receive_joined(now, came),
                // As whoever waits: all of it, then its events.
                false => came.iter().for_each(|flying| {
                    self.take_in(now, flying.as_datagram(&flying.octets, None), flying.octets.len());
                }),
            }
            self.take_events();
        }
        self.read_on(now, id, usize::MAX);
    }

    fn hand_in(&mut self, now: Time, id: ContextId, came: &[Flying], shared: bool) -> bool {
        let Some(first) = came.first().filter(|_| joinable(came) == came.len()) else {
            return false;
        };
        let slab = slab_of(came);
        let stride = first.octets.len();
        let datagram = first.as_datagram(&slab, shared.then_some(&slab));
        let message = match self.offer_message(now, id, &datagram, stride) {
            Offered::Taken(message, _) => message,
            Offered::General => {
                self.take_events();
                return true;
            }
            Offered::Passed => return false,
        };
        self.took(match came.len() {
            1 => Shortcut::Message,
            _ => Shortcut::Train,
        });
        if self
            .find(id)
            .is_some_and(|held| !std::mem::replace(&mut held.announced, true))
        {
            self.tell_event(id, Event::Readable);
        }
        let more = self.take_events_beside(id);
        if let Some(tag) = message.tag {
            self.tell("read a tag", Ok::<_, Error>(tag));
        }
        self.note_octets(id, &message.data, true);
        if !more {
            // He asks for no more, and would find nothing.
            self.found_nothing(id);
        }
        true
    }

    /// A datagram for a user who waits for an association that comes with its message.
    pub(super) fn receive_first(
        &mut self,
        now: Time,
        came: &Flying,
        limit: usize,
        shared: bool,
        when: Bookkeeping,
    ) {
        let before = self.held.len();
        let welcomed = match self.way.is_short() {
            true => self.welcome(now, came, limit, shared, when),
            false => Welcome::Nobody,
        };
        match welcomed {
            Welcome::Nobody => self.receive(now, core::slice::from_ref(came), shared),
            Welcome::Engine => {}
            Welcome::User => return,
        }
        let Some(held) = self.held.get(before) else {
            return self.turn(now, when);
        };
        let (id, answered) = (held.id, held.service == service::TRANSACTION);
        if held.lasts() {
            return;
        }
        let taken = self.driver.command().accepted(id);
        self.tell("accepted", taken);
        self.read(now, id, limit);
        if !answered {
            self.turn(now, when);
        }
    }

    /// Offers it to the user; who took it.
    fn welcome(
        &mut self,
        now: Time,
        came: &Flying,
        limit: usize,
        shared: bool,
        when: Bookkeeping,
    ) -> Welcome {
        let Some(listener) = self.listeners.get(self.expects).copied() else {
            return Welcome::Nobody;
        };
        let backing = shared.then(|| Bytes::copy_from_slice(&came.octets));
        let datagram = came.as_datagram(backing.as_deref().unwrap_or(&came.octets), backing.as_ref());
        let (welcomed, link) = match self.offer_first(now, listener, &datagram, limit) {
            Offered::Taken(welcomed, link) => (welcomed, link),
            Offered::Passed => {
                self.took(Shortcut::End);
                return Welcome::User;
            }
            Offered::General => {
                self.take_events();
                return Welcome::Engine;
            }
        };
        self.took(Shortcut::First);
        let (id, service, port) = (welcomed.id, welcomed.service, welcomed.port);
        let accepted = Event::Accepted {
            listener,
            peer: came.src,
            service,
            port,
        };
        self.held.push(Held::new(id, service));
        self.tell_event(id, accepted);
        self.tell_event(id, Event::Readable);
        self.tell("accepted", Ok::<_, Error>(()));
        self.tell_read(&Ok(Read::Data {
            offset: 0,
            bytes: welcomed.message,
            eom: true,
        }));
        let answered = !link.sent.is_empty();
        self.carry(link);
        if answered {
            self.finish(now, when);
        }
        self.take_events();
        Welcome::User
    }

    /// A datagram for a user who waits for the answer to the association he opened last.
    pub(super) fn receive_answer(
        &mut self,
        now: Time,
        came: &Flying,
        limit: usize,
        shared: bool,
        when: Bookkeeping,
    ) {
        let Some(held) = self.held.last() else {
            return self.receive(now, core::slice::from_ref(came), shared);
        };
        let (id, asks) = (held.id, held.service == service::TRANSACTION);
        let granted = match self.way.is_short() {
            true => self.grant(now, came, if asks { limit } else { 0 }, shared, when),
            false => None,
        };
        match granted {
            Some(true) => return,
            Some(false) => {}
            None => self.receive(now, core::slice::from_ref(came), shared),
        }
        if asks {
            self.read(now, id, limit);
        }
        self.turn(now, when);
    }

    /// Offers it to the user: true if it was what he waits for, false if the engine took it; else nobody did.
    fn grant(
        &mut self,
        now: Time,
        came: &Flying,
        limit: usize,
        shared: bool,
        when: Bookkeeping,
    ) -> Option<bool> {
        let held = self.held.last()?;
        let (id, asks) = (held.id, held.service == service::TRANSACTION);
        let backing = shared.then(|| Bytes::copy_from_slice(&came.octets));
        let datagram = came.as_datagram(backing.as_deref().unwrap_or(&came.octets), backing.as_ref());
        let (message, link) = match self.offer_answer(now, id, &datagram, limit) {
            Offered::Taken(message, link) => (message, link),
            Offered::Passed => panic!("an end to whoever waits for an answer"),
            Offered::General => {
                self.take_events();
                return Some(false);
            }
        };
        self.took(Shortcut::Answer);
        self.tell_event(id, Event::Heard);
        self.tell_event(id, Event::Readable);
        let closed = Event::Closed(CloseReason::Normal);
        // An answer that is the end says so before it is read.
        let ends = Header::parse(&came.octets).is_ok_and(|header| header.options.contains(Options::END));
        if ends {
            assert!(link.sent.is_empty(), "an end was answered");
            self.tell_event(id, closed.clone());
        }
        if asks {
            let (offset, bytes, eom) = (0, message, true);
            self.tell_read(&Ok(match bytes.is_empty() {
                true => Read::End,
                false => Read::Data { offset, bytes, eom },
            }));
        }
        self.carry(link);
        self.finish(now, when);
        if !ends {
            self.tell_event(id, closed);
        }
        self.take_events();
        Some(true)
    }

    /// A datagram for one who waits for what comes next, while the end of the last association is under way; its user goes
    /// with it, if he `goes`: as often before it as after.
    pub(super) fn receive_end(&mut self, now: Time, came: &Flying, goes: bool, when: Bookkeeping) {
        let first = goes && came.octets.last().is_some_and(|octet| octet.is_multiple_of(2));
        if first {
            self.release(now, 0);
            self.turn(now, when);
        }
        let goes = goes && !first;
        let waits = self.listeners.get(self.expects).copied();
        let passed = match waits.filter(|_| self.way == Way::Shortcuts) {
            Some(listener) => {
                // No message is as short as what he takes.
                let offered = self.offer_first(now, listener, &came.as_datagram(&came.octets, None), 0);
                self.take_events();
                matches!(offered, Offered::Passed)
            }
            None => {
                self.receive(now, core::slice::from_ref(came), false);
                false
            }
        };
        if passed {
            self.took(Shortcut::End);
        }
        if goes {
            self.release(now, 0);
        }
        if goes || !passed {
            self.turn(now, when);
        }
    }
}

/// Who took a datagram that was offered to whoever waits for an association.
enum Welcome {
    User,
    Engine,
    Nobody,
}

/// How many of these come joined: of one sender and one length, but for the last.
fn joinable(came: &[Flying]) -> usize {
    let Some(first) = came.first() else { return 0 };
    let mut count = 1;
    for next in &came[1..] {
        let whole = came[count - 1].octets.len() == first.octets.len();
        if !whole
            || !next.is_beside(first)
            || next.octets.len() > first.octets.len()
            || next.octets.is_empty()
        {
            break;
        }
        count += 1;
    }
    count
}

fn slab_of(came: &[Flying]) -> Bytes {
    let mut slab = Vec::new();
    came.iter()
        .for_each(|flying| slab.extend_from_slice(&flying.octets));
    slab.into()
}
