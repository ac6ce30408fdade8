//! An association of one message begins with its packet: FIRST leaves from a template, the context is made while it is
//! under way.
//!
//! What the caller asked for is noted, and later done by the functions that would have done it at once, with the times
//! of then; the packet they build is the one that has left. The template is the last FIRST to the same peer with the
//! same options, of which a few fields differ from one association to the next.

use super::Engine;
use super::opening::Prepared;
use super::stay::PATIENCE;
use crate::context::{COPY_LIMIT, Env};
use crate::error::Error;
use crate::event::ContextId;
use crate::options::OpenOptions;
use crate::time::Time;
use crate::transmit::{Ecn, Route, TransmitBatch};
use bytes::Bytes;
use core::net::SocketAddr;
use core::num::NonZeroU64;
use xtp_wire::{FirstPlaces, Header, Key, Token};

/// Octets of the first message of its kind, which may need more than one packet.
const FIRST_LIMIT: usize = super::guest::SHORT;

/// An association that was asked for and is not made yet.
pub(super) struct Launch {
    pub(super) peer: SocketAddr,
    options: OpenOptions,
    pub(super) prepared: Prepared,
    pub(super) data: Bytes,
    asked: Time,
    /// When its FIRST left.
    pub(super) left: Option<Time>,
    /// The slot that is kept for it, if it is.
    pub(super) slot: Option<u32>,
    /// Only its answer is awaited.
    pub(super) waits: Option<Waits>,
}

/// One of which only the answer is awaited: it may stay a note (`errand`).
pub(super) struct Waits {
    pub(super) slot: u32,
    pub(super) until: Time,
    /// FIRST that left, to compare.
    pub(super) first: Vec<u8>,
}

/// The last FIRST of its kind.
pub(super) struct Template {
    peer: SocketAddr,
    options: OpenOptions,
    token: Option<Token>,
    instance: Option<NonZeroU64>,
    header: Header,
    /// Address and specifier.
    head: Vec<u8>,
    places: FirstPlaces,
    /// Most octets of data that fit.
    room: usize,
}

impl Launch {
    pub(super) fn has_left(&self) -> bool {
        self.left.is_some()
    }

    /// Whether it is counted among the associations.
    pub(super) fn has_slot(&self) -> bool {
        self.waits.is_some() || self.slot.is_some()
    }
}

impl Engine {
    /// [`open`](Self::open), [`send`](Self::send) of one message and [`close_writer`](Self::close_writer) in one: what a
    /// one-shot or a request begins with. What was accepted is gone from `data`; if something is left, the writer is not
    /// closed. The association may be made only after its packet has left: between this and
    /// [`catch_up`](Self::catch_up) nothing may be asked of the engine about it, commands are free.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); the association is released if the message cannot be queued.
    pub fn open_ahead(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        let simple = self.config.express
            && !self.memory.is_rationed()
            && !options.one_way
            && !options.tuning.no_error
            && options.expected_answer == 0
            && !data.is_empty();
        let room = self
            .template
            .as_ref()
            .map_or(FIRST_LIMIT, |template| template.room);
        let long = data.len() > room || data.len() as u64 > options.tuning.send_capacity;
        if !simple || long {
            let id = self.open(now, peer, options)?;
            if let Err(error) = self.submit(now, id, data) {
                self.release(now, id)?;
                return Err(error);
            }
            return Ok(id);
        }
        // The books of the association before may wait until this one's packet is under way.
        match self.is_parting() && self.parting_may_wait(now) {
            true => self.now = self.now.max(now),
            false => self.advance(now),
        }
        let prepared = self.prepare(peer, &options)?;
        let id = prepared.identity.id;
        self.launch = Some(Launch {
            peer,
            options,
            prepared,
            data: std::mem::take(data),
            asked: self.now,
            left: None,
            slot: None,
            waits: None,
        });
        Ok(id)
    }

    fn submit(&mut self, now: Time, id: ContextId, data: &mut Bytes) -> Result<(), Error> {
        let accepted = self.send(now, id, data.clone(), true)?;
        let _ = data.split_to(accepted.min(data.len()));
        match data.is_empty() {
            true => self.close_writer(now, id),
            false => Ok(()),
        }
    }

    /// Sends FIRST of what was asked for, if that is all there is to do.
    pub(super) fn flush_launch(&mut self, out: &mut TransmitBatch) -> bool {
        let over = self.lone_that_is_over();
        let idle = (self.scheduler.is_empty() || over.is_some())
            && self.replies.is_empty()
            && self.next_timer().is_none_or(|at| at > self.now);
        let now = self.now;
        let Some(launch) = self
            .launch
            .as_mut()
            .filter(|launch| idle && launch.left.is_none() && now < launch.asked + PATIENCE)
        else {
            return false;
        };
        let known = self.template.as_ref().filter(|template| template.fits(launch));
        if known.is_none() && over.is_some() {
            return false;
        }
        launch.left = Some(now);
        out.begin();
        if let Some(template) = known {
            let at = out.arena.len();
            template.write(launch, out);
            self.note_left(out, at);
            self.let_wait();
            if let Some(slot) = over {
                self.see_off(slot, out);
            }
            return true;
        }
        // The first of its kind: as long as ever, and remembered.
        let launch = self.launch.take();
        if let Some(launch) = launch {
            let before = out.begin();
            self.templates += 1;
            self.perform(&launch, Some(&mut *out));
            self.stats.sent += out.datagrams_from(before) as u64;
            self.template = Template::of(&launch, out, before).map(|template| Template {
                room: self.room_of_first(launch.prepared.identity.id, template.head.len()),
                ..template
            });
        }
        true
    }

    /// The only context that is to have a turn, if all that is left to do about it is to put it away.
    fn lone_that_is_over(&self) -> Option<u32> {
        let slot = self.scheduler.lone()?;
        let context = self.contexts.awake(slot)?;
        (context.is_disposable() && context.is_quiet_for_good(self.now)).then_some(slot)
    }

    /// Its turn, once what was launched has the slot it was promised.
    fn see_off(&mut self, slot: u32, out: &mut TransmitBatch) {
        if self.launch.as_ref().is_some_and(|launch| launch.waits.is_none()) {
            self.settle_launch();
        }
        self.scheduler.remove(slot);
        self.turn(slot, out);
        self.settle_last();
    }

    fn room_of_first(&self, id: ContextId, ahead: usize) -> usize {
        let slot = self.contexts.find(id);
        let context = slot.and_then(|slot| self.contexts.awake(slot));
        context.map_or(0, |context| context.room_of_first(ahead))
    }

    /// Makes the association that was asked for.
    pub(super) fn settle_launch(&mut self) {
        if let Some(launch) = self.launch.take() {
            self.perform(&launch, None);
        }
    }

    /// What opening, sending and closing do, and the turn after it if there was one: into `out`, or for nothing but what
    /// it leaves behind.
    pub(super) fn perform(&mut self, launch: &Launch, out: Option<&mut TransmitBatch>) {
        let now = std::mem::replace(&mut self.now, launch.asked);
        let kept = launch.waits.as_ref().map(|waits| waits.slot).or(launch.slot);
        let slot = kept.unwrap_or_else(|| self.contexts.hold());
        self.contexts.fill(slot);
        self.place(slot, &launch.prepared, launch.peer, &launch.options);
        // What left promised what it states, whatever memory has become since.
        if launch.left.is_none() {
            self.ration_opening(slot);
        }
        if let Some(context) = self.contexts.at(slot) {
            // A context that was just made takes what fits its FIRST.
            let _ = context.send(launch.data.clone(), true);
            let _ = context.close_writer();
        }
        match launch.left {
            Some(left) => {
                let own = std::mem::take(&mut self.left);
                let expected = launch.waits.as_ref().map_or(&own, |waits| &waits.first);
                self.turn_of_then(slot, left, out, expected);
                self.left = own;
                self.launched = Some((slot, self.templates));
            }
            None => self.mark_dirty(slot),
        }
        self.now = now;
    }

    /// The user of an association asks for more than others did, or it is another in that slot: what it will say is not
    /// known from them, nor does it tell anything of those that follow.
    pub(super) fn expect_nothing_usual_of(&mut self, slot: u32) {
        self.launched.take_if(|(launched, _)| *launched == slot);
    }

    /// A packet left ahead; its octets in the arena begin at `at`.
    pub(super) fn note_left(&mut self, out: &TransmitBatch, at: usize) {
        self.stats.sent += 1;
        self.stats.express += 1;
        super::guest::copy_of(&mut self.left, &out.arena[at..]);
    }

    /// The turn a context had at `left`, whose packet has left already unless `out` takes it.
    pub(super) fn turn_of_then(
        &mut self,
        slot: u32,
        left: Time,
        out: Option<&mut TransmitBatch>,
        expected: &[u8],
    ) {
        self.now = left;
        let mut scratch = std::mem::take(&mut self.scratch);
        let (target, repeats) = match out {
            Some(out) => (out, false),
            None => (&mut scratch, true),
        };
        if let Some(context) = self.contexts.at(slot) {
            let mut env = Env {
                now: left,
                config: &self.config,
                events: &mut self.events,
                rng: &mut self.rng,
            };
            context.dirty = false;
            context.flush(&mut env, target);
        }
        debug_assert!(!repeats || target.arena == expected, "another packet has left");
        scratch.clear();
        self.scratch = scratch;
        self.settle(slot);
        self.park_some(1);
    }
}

impl Template {
    /// What left in the one train from number `before` on, if it may serve again.
    fn of(launch: &Launch, out: &TransmitBatch, before: usize) -> Option<Self> {
        let (train, packet) = out.only_from(before)?;
        if train.count != 1 || train.src.is_some() || train.ecn != Ecn::NotEct {
            return None;
        }
        let opening = &launch.prepared.opening;
        let (header, body) = Header::split(packet).ok()?;
        let head = &body[..(header.dlen as usize).checked_sub(launch.data.len())?];
        Some(Self {
            peer: launch.peer,
            options: launch.options.clone(),
            token: opening.token,
            instance: opening.instance,
            header,
            head: head.to_vec(),
            places: FirstPlaces::of(head)?,
            room: 0,
        })
    }

    fn fits(&self, launch: &Launch) -> bool {
        self.peer == launch.peer
            && self.token == launch.prepared.opening.token
            && self.instance == launch.prepared.opening.instance
            && !launch.prepared.legacy
            && launch.data.len() <= self.room
            && self.options == launch.options
    }

    /// The packet, into `out`.
    #[inline]
    fn write(&self, launch: &Launch, out: &mut TransmitBatch) {
        let Prepared {
            identity, opening, ..
        } = &launch.prepared;
        let data = &launch.data;
        let header = Header {
            key: Key::own(identity.key),
            sync: identity.sync.wrapping_add(1),
            ..self.header
        };
        let change = |body: &mut [u8]| {
            if let Some(client) = opening.client {
                self.places.put(body, opening.time, client);
            }
        };
        let at = out.write_like(header, &self.head, change, [&data[..]]);
        let route = Route {
            dst: launch.peer,
            src: None,
            ecn: Ecn::NotEct,
        };
        out.push_message(route, at, data, data.len() <= COPY_LIMIT);
    }
}
