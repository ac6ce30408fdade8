//! Memory that a receive names.

/// Where the octets of a message go: each is put there once, from the packet that brought it.
pub trait Memory {
    /// Octets that it takes; of a longer message the rest is not asked for.
    fn room(&self) -> usize;

    /// Puts octets at their place. `at + octets.len()` is at most [`room`](Self::room).
    fn put(&mut self, at: usize, octets: &[u8]);
}

impl Memory for Vec<u8> {
    fn room(&self) -> usize {
        self.len()
    }

    fn put(&mut self, at: usize, octets: &[u8]) {
        if let Some(place) = self.get_mut(at..at.saturating_add(octets.len())) {
            place.copy_from_slice(octets);
        }
    }
}

impl Memory for Box<[u8]> {
    fn room(&self) -> usize {
        self.len()
    }

    fn put(&mut self, at: usize, octets: &[u8]) {
        if let Some(place) = self.get_mut(at..at.saturating_add(octets.len())) {
            place.copy_from_slice(octets);
        }
    }
}
