//! Fields of records: big-endian numbers, and octet strings behind their length.

use bytes::{Buf, Bytes};

use super::problem::{Code, Problem, violation};

/// Appends fields to a message under construction.
pub(crate) struct Put<'a>(pub(crate) &'a mut Vec<u8>);

impl Put<'_> {
    pub(crate) fn u8(self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u16(self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn i64(self, value: i64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// Octets whose number the reader knows.
    pub(crate) fn raw(self, octets: &[u8]) -> Self {
        self.0.extend_from_slice(octets);
        self
    }

    /// A 16-bit length and the octets. What is longer than that is cut: callers check their limits before.
    pub(crate) fn short(self, octets: &[u8]) -> Self {
        let len = u16::try_from(octets.len()).unwrap_or(u16::MAX);
        self.u16(len).raw(&octets[..usize::from(len)])
    }
}

/// Takes fields from the front of a message.
pub(crate) struct Take<'a>(pub(crate) &'a mut Bytes);

fn truncated() -> Problem {
    violation("sent a record that ends too early")
}

impl Take<'_> {
    fn need(&self, octets: usize) -> Result<(), Problem> {
        if self.0.len() < octets {
            return Err(truncated());
        }
        Ok(())
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Problem> {
        self.need(1)?;
        Ok(self.0.get_u8())
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Problem> {
        self.need(2)?;
        Ok(self.0.get_u16())
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Problem> {
        self.need(4)?;
        Ok(self.0.get_u32())
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Problem> {
        self.need(8)?;
        Ok(self.0.get_u64())
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Problem> {
        self.need(8)?;
        Ok(self.0.get_i64())
    }

    pub(crate) fn raw(&mut self, octets: usize) -> Result<Bytes, Problem> {
        self.need(octets)?;
        Ok(self.0.split_to(octets))
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        self.need(N)?;
        let mut array = [0; N];
        self.0.copy_to_slice(&mut array);
        Ok(array)
    }

    /// A 16-bit length, at most `limit`, and the octets.
    pub(crate) fn short(&mut self, limit: usize) -> Result<Bytes, Problem> {
        let len = usize::from(self.u16()?);
        if len > limit {
            return Err(Problem::new(
                Code::Protocol,
                format!("the peer sent a field of {len} octets where {limit} are allowed"),
            ));
        }
        self.raw(len)
    }
}
