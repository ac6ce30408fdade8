//! Contexts by slot; a slot's generation makes identifiers unique for ever.

use crate::context::Context;
use crate::event::ContextId;

#[derive(Default)]
struct Place {
    generation: u32,
    context: Option<Box<Context>>,
}

/// All contexts of an engine.
#[derive(Default)]
pub(super) struct Slab {
    places: Vec<Place>,
    free: Vec<u32>,
    alive: usize,
}

impl Slab {
    /// The identifier the next context gets.
    pub(super) fn reserve(&mut self) -> ContextId {
        let slot = match self.free.last() {
            Some(slot) => *slot,
            None => {
                self.places.push(Place::default());
                let slot = (self.places.len() - 1) as u32;
                self.free.push(slot);
                slot
            }
        };
        let generation = self.places[slot as usize].generation;
        ContextId(u64::from(generation) << 32 | u64::from(slot))
    }

    /// Puts `context` where its identifier says; it must be the one reserved last.
    pub(super) fn insert(&mut self, context: Context) -> u32 {
        let slot = slot_of(context.id);
        let reserved = self.free.pop();
        debug_assert_eq!(reserved, Some(slot));
        self.places[slot as usize].context = Some(Box::new(context));
        self.alive += 1;
        slot
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<Box<Context>> {
        let place = self.places.get_mut(slot as usize)?;
        let context = place.context.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(slot);
        self.alive -= 1;
        Some(context)
    }

    pub(super) fn at(&mut self, slot: u32) -> Option<&mut Context> {
        self.places.get_mut(slot as usize)?.context.as_deref_mut()
    }

    pub(super) fn peek(&self, slot: u32) -> Option<&Context> {
        self.places.get(slot as usize)?.context.as_deref()
    }

    /// The slot of `id`, if that context is still there.
    pub(super) fn find(&self, id: ContextId) -> Option<u32> {
        let slot = slot_of(id);
        let place = self.places.get(slot as usize)?;
        (u64::from(place.generation) == id.0 >> 32 && place.context.is_some()).then_some(slot)
    }

    pub(super) fn alive(&self) -> usize {
        self.alive
    }
}

fn slot_of(id: ContextId) -> u32 {
    id.0 as u32
}
