//! The key of a packet: whose context it is for (§1.1, §2.1).

/// Eight octets: the return bit RTN (bit 63) and a key of 63 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// Bit 63: "this is your key, given back".
    const RETURN: u64 = 1 << 63;

    /// "This is my key" (RTN = 0). Bit 63 of `value` is dropped.
    #[inline]
    #[must_use]
    pub const fn own(value: u64) -> Self {
        Self(value & !Self::RETURN)
    }

    /// "This is your key" (RTN = 1). Bit 63 of `value` is dropped.
    #[inline]
    #[must_use]
    pub const fn returned(value: u64) -> Self {
        Self(value | Self::RETURN)
    }

    /// Whether the key is the receiver's own, given back to it.
    #[inline]
    #[must_use]
    pub const fn is_returned(self) -> bool {
        self.0 & Self::RETURN != 0
    }

    /// The 63 bits of the key.
    #[inline]
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0 & !Self::RETURN
    }

    /// The 64 bits of the field.
    #[inline]
    #[must_use]
    pub const fn to_wire(self) -> u64 {
        self.0
    }

    /// From the 64 bits of the field.
    #[inline]
    #[must_use]
    pub const fn from_wire(field: u64) -> Self {
        Self(field)
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let kind = if self.is_returned() { "returned" } else { "own" };
        write!(f, "Key::{kind}({:#018x})", self.value())
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
