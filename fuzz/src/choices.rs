//! An input as a row of choices.

/// Takes numbers from the front of an input; zeros follow its end.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// All choices of an input.
    pub fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// Whether the input is used up.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One octet.
    pub fn octet(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// Two octets.
    pub fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.octet(), self.octet()])
    }

    /// A number of any size, small ones in few octets: a mantissa of one octet and a shift.
    pub fn number(&mut self) -> u64 {
        let (mantissa, shift) = (u64::from(self.octet()), u32::from(self.octet() % 64));
        mantissa.wrapping_shl(shift)
    }

    /// One of `count` things; `count` is at least 1.
    pub fn index(&mut self, count: usize) -> usize {
        usize::from(self.octet()) % count
    }

    /// Up to `count` octets as they are.
    pub fn octets(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
