//! Contexts by slot; a slot's generation makes identifiers unique for ever.
//!
//! A context that is at rest lies packed ([`Parked`]) until somebody wants to change it. The memory of whole ones is
//! used again, so that packing and unpacking do not go through the allocator for it.

use super::initiator::Initiator;
use super::responder::Responder;
use crate::context::{BacklogEntry, Context, Parked, TimeWaitEnd, Tunings};
use crate::event::ContextId;

/// Memory of whole contexts kept for the next ones.
const MAX_POOL: usize = 256;

#[derive(Default)]
enum Occupant {
    #[default]
    Empty,
    Whole(Box<Context>),
    Parked(Parked),
    /// Of one message, and not in need of a context.
    Initiator(Box<Initiator>),
    Responder(Box<Responder>),
    /// Over for its user.
    TimeWait(Box<TimeWaitEnd>),
}

/// An association without a context.
#[derive(Clone, Copy)]
pub(super) enum Pending<'a> {
    Initiator(&'a Initiator),
    Responder(&'a Responder),
}

/// An association that somebody looks at.
#[derive(Clone, Copy)]
pub(super) enum Seen<'a> {
    Whole(&'a Context),
    Parked(&'a Parked),
    Record(Pending<'a>),
}

#[derive(Default)]
struct SlabEntry {
    generation: u32,
    /// On the list of those that may be parked.
    listed: bool,
    body: Occupant,
}

/// All contexts of an engine.
#[derive(Default)]
pub(super) struct Slab {
    places: Vec<SlabEntry>,
    free: Vec<u32>,
    alive: usize,
    whole: usize,
    parkings: u64,
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    pool: Vec<Box<Context>>,
    tunings: Tunings,
    room: Vec<u8>,
}

impl Slab {
    /// The identifier the next context gets.
    pub(super) fn reserve(&mut self) -> ContextId {
        let slot = match self.free.last() {
            Some(slot) => *slot,
            None => {
                self.places.push(SlabEntry::default());
                let slot = (self.places.len() - 1) as u32;
                self.free.push(slot);
                slot
            }
        };
        let generation = self.places[slot as usize].generation;
        ContextId(u64::from(generation) << 32 | u64::from(slot))
    }

    /// Memory for the context reserved last, which begins in it; its slot.
    pub(super) fn insert(&mut self) -> u32 {
        let slot = self.hold();
        self.fill(slot);
        slot
    }

    /// Keeps the slot of the context reserved last for one that may be made later ([`fill`](Self::fill)), or of which only
    /// the time-wait is left ([`put_time_wait`](Self::put_time_wait)): it counts as if it were there. What is there instead is
    /// put there.
    pub(super) fn hold(&mut self) -> u32 {
        self.alive += 1;
        self.whole += 1;
        self.free.pop().unwrap_or_default()
    }

    /// The one whose slot was held is over, and was never made.
    pub(super) fn give_up(&mut self, slot: u32) {
        if let Some(place) = self.places.get_mut(slot as usize) {
            place.generation = place.generation.wrapping_add(1);
            self.free.push(slot);
            self.whole -= 1;
            self.alive -= 1;
        }
    }

    /// Memory for the context whose slot was held.
    pub(super) fn fill(&mut self, slot: u32) {
        self.places[slot as usize].body = Occupant::Whole(house(&mut self.pool));
    }

    /// What an association in a slot that was held is without a context.
    pub(super) fn put_initiator(&mut self, slot: u32, initiator: Box<Initiator>) {
        self.put(slot, Occupant::Initiator(initiator));
    }

    /// The same of one that came.
    pub(super) fn put_responder(&mut self, slot: u32, responder: Box<Responder>) {
        self.put(slot, Occupant::Responder(responder));
    }

    fn put(&mut self, slot: u32, body: Occupant) {
        if let Some(place) = self.places.get_mut(slot as usize) {
            place.body = body;
        }
    }

    /// What is there without a context.
    #[inline]
    pub(super) fn pending(&self, slot: u32) -> Option<Pending<'_>> {
        match &self.places.get(slot as usize)?.body {
            Occupant::Initiator(initiator) => Some(Pending::Initiator(initiator)),
            Occupant::Responder(responder) => Some(Pending::Responder(responder)),
            _ => None,
        }
    }

    /// Octets that whoever is there keeps or promised to keep; one at rest, or over, keeps none.
    #[inline]
    pub(super) fn charge(&self, slot: u32) -> u64 {
        match self.places.get(slot as usize).map(|place| &place.body) {
            Some(Occupant::Whole(context)) => context.charge(),
            Some(Occupant::Initiator(initiator)) => initiator.charge(),
            Some(Occupant::Responder(responder)) => responder.charge(),
            _ => 0,
        }
    }

    /// Whether the one of that generation has no context, and waits for something to come.
    #[inline]
    pub(super) fn waits(&self, slot: u32, generation: u32) -> bool {
        self.generation(slot) == generation
            && match self.pending(slot) {
                Some(Pending::Initiator(_)) => true,
                Some(Pending::Responder(responder)) => !responder.is_over(),
                None => false,
            }
    }

    #[inline]
    pub(super) fn initiator(&self, slot: u32) -> Option<&Initiator> {
        match &self.places.get(slot as usize)?.body {
            Occupant::Initiator(initiator) => Some(initiator),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn initiator_mut(&mut self, slot: u32) -> Option<&mut Initiator> {
        match &mut self.places.get_mut(slot as usize)?.body {
            Occupant::Initiator(initiator) => Some(initiator),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn responder(&self, slot: u32) -> Option<&Responder> {
        match &self.places.get(slot as usize)?.body {
            Occupant::Responder(responder) => Some(responder),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn responder_mut(&mut self, slot: u32) -> Option<&mut Responder> {
        match &mut self.places.get_mut(slot as usize)?.body {
            Occupant::Responder(responder) => Some(responder),
            _ => None,
        }
    }

    /// Takes it out; its slot is held.
    pub(super) fn take_initiator(&mut self, slot: u32) -> Option<Box<Initiator>> {
        let body = &mut self.places.get_mut(slot as usize)?.body;
        match std::mem::take(body) {
            Occupant::Initiator(initiator) => Some(initiator),
            other => {
                *body = other;
                None
            }
        }
    }

    /// The same of one that came.
    pub(super) fn take_responder(&mut self, slot: u32) -> Option<Box<Responder>> {
        let body = &mut self.places.get_mut(slot as usize)?.body;
        match std::mem::take(body) {
            Occupant::Responder(responder) => Some(responder),
            other => {
                *body = other;
                None
            }
        }
    }

    /// Removes a context; the listener in whose backlog it still was, and its place there.
    pub(super) fn remove(&mut self, slot: u32) -> Option<BacklogEntry> {
        self.at(slot)?;
        let place = self.places.get_mut(slot as usize)?;
        let Occupant::Whole(mut memory) = std::mem::take(&mut place.body) else {
            return None;
        };
        let left = memory.leave_backlog();
        keep(&mut self.pool, memory);
        self.whole -= 1;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        self.alive -= 1;
        left
    }

    /// The context, whole: a parked one is unpacked.
    #[inline]
    pub(super) fn at(&mut self, slot: u32) -> Option<&mut Context> {
        if matches!(self.places.get(slot as usize)?.body, Occupant::Parked(_)) {
            self.unpack(slot);
        }
        match &mut self.places.get_mut(slot as usize)?.body {
            Occupant::Whole(memory) => Some(memory),
            _ => None,
        }
    }

    #[cold]
    fn unpack(&mut self, slot: u32) {
        let place = &mut self.places[slot as usize];
        if let Occupant::Parked(parked) = std::mem::take(&mut place.body) {
            let mut memory = house(&mut self.pool);
            parked.unpack_into(&mut memory);
            place.body = Occupant::Whole(memory);
            self.whole += 1;
        }
    }

    /// All contexts that are not parked.
    pub(super) fn all_awake(&self) -> impl Iterator<Item = &Context> {
        self.places.iter().filter_map(|place| match &place.body {
            Occupant::Whole(memory) => Some(&**memory),
            _ => None,
        })
    }

    /// The context, if it is not parked: one that is has nothing incomplete, unread or due.
    #[inline]
    pub(super) fn awake(&self, slot: u32) -> Option<&Context> {
        match &self.places.get(slot as usize)?.body {
            Occupant::Whole(memory) => Some(memory),
            _ => None,
        }
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn awake_mut(&mut self, slot: u32) -> Option<&mut Context> {
        match &mut self.places.get_mut(slot as usize)?.body {
            Occupant::Whole(memory) => Some(memory),
            _ => None,
        }
    }

    /// What is there, to be looked at: a parked one stays parked.
    pub(super) fn seen(&self, slot: u32) -> Option<Seen<'_>> {
        Some(match &self.places.get(slot as usize)?.body {
            Occupant::Empty | Occupant::TimeWait(_) => return None,
            Occupant::Whole(memory) => Seen::Whole(memory),
            Occupant::Parked(parked) => Seen::Parked(parked),
            Occupant::Initiator(initiator) => Seen::Record(Pending::Initiator(initiator)),
            Occupant::Responder(responder) => Seen::Record(Pending::Responder(responder)),
        })
    }

    /// Whether it is the context of a live association whose peer has this key.
    pub(super) fn goes_by(&self, slot: u32, peer_key: u64) -> bool {
        match self.places.get(slot as usize).map(|place| &place.body) {
            Some(Occupant::Whole(context)) => context.is_live() && context.peer_key == Some(peer_key),
            Some(Occupant::Parked(parked)) => parked.lives_under(peer_key),
            _ => false,
        }
    }

    /// Packs a whole context whose rest is complete.
    pub(super) fn park(&mut self, slot: u32) {
        let Some(place) = self.places.get_mut(slot as usize) else {
            return;
        };
        if let Occupant::Whole(_) = &place.body
            && let Occupant::Whole(mut memory) = std::mem::take(&mut place.body)
        {
            place.body = Occupant::Parked(Parked::pack(&mut memory, &mut self.tunings, &mut self.room));
            keep(&mut self.pool, memory);
            self.whole -= 1;
            self.parkings += 1;
        }
    }

    /// Puts the slot on the list; false if it was there.
    pub(super) fn list(&mut self, slot: u32) -> bool {
        let place = self.places.get_mut(slot as usize);
        place.is_some_and(|place| !std::mem::replace(&mut place.listed, true))
    }

    #[inline]
    pub(super) fn is_listed(&self, slot: u32) -> bool {
        self.places.get(slot as usize).is_some_and(|place| place.listed)
    }

    pub(super) fn unlist(&mut self, slot: u32) {
        if let Some(place) = self.places.get_mut(slot as usize) {
            place.listed = false;
        }
    }

    /// The slot of `id`, if that association is still there.
    #[inline]
    pub(super) fn find(&self, id: ContextId) -> Option<u32> {
        let slot = slot_of(id);
        let place = self.places.get(slot as usize)?;
        let there = !matches!(place.body, Occupant::Empty | Occupant::TimeWait(_));
        (u64::from(place.generation) == id.0 >> 32 && there).then_some(slot)
    }

    pub(super) fn alive(&self) -> usize {
        self.alive
    }

    pub(super) fn generation(&self, slot: u32) -> u32 {
        self.places.get(slot as usize).map_or(0, |place| place.generation)
    }

    /// A whole context, or one whose slot was held, becomes what is left of it.
    pub(super) fn put_time_wait(&mut self, slot: u32, end: TimeWaitEnd) {
        let Some(place) = self.places.get_mut(slot as usize) else {
            return;
        };
        if let Occupant::Whole(memory) = std::mem::replace(&mut place.body, Occupant::TimeWait(Box::new(end)))
        {
            keep(&mut self.pool, memory);
        }
        self.whole -= 1;
        self.alive -= 1;
    }

    /// What is left of a context, if that is all.
    pub(super) fn time_wait(&mut self, slot: u32) -> Option<&mut TimeWaitEnd> {
        match &mut self.places.get_mut(slot as usize)?.body {
            Occupant::TimeWait(end) => Some(end),
            _ => None,
        }
    }

    pub(super) fn remove_time_wait(&mut self, slot: u32) -> Option<TimeWaitEnd> {
        let place = self.places.get_mut(slot as usize)?;
        match std::mem::take(&mut place.body) {
            Occupant::TimeWait(end) => {
                place.generation = place.generation.wrapping_add(1);
                self.free.push(slot);
                Some(*end)
            }
            other => {
                place.body = other;
                None
            }
        }
    }

    /// How often a context was parked.
    pub(super) fn parkings(&self) -> u64 {
        self.parkings
    }

    /// Contexts that are not parked.
    pub(super) fn whole(&self) -> usize {
        self.whole
    }
}

/// Stripped memory.
#[expect(clippy::vec_box, reason = "the boxes are what is kept")]
fn house(pool: &mut Vec<Box<Context>>) -> Box<Context> {
    pool.pop().unwrap_or_else(Context::memory)
}

#[expect(clippy::vec_box, reason = "the boxes are what is kept")]
fn keep(pool: &mut Vec<Box<Context>>, mut memory: Box<Context>) {
    if pool.len() < MAX_POOL {
        memory.strip();
        pool.push(memory);
    }
}

fn slot_of(id: ContextId) -> u32 {
    id.0 as u32
}
