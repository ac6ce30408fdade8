//! Numbers packed into few octets and read back by the same walk over the same fields.
//!
//! A walk visits every field in a fixed order, once with a [`FieldWriter`], later with a [`FieldReader`]. There is one
//! list of fields, not one for writing and one for reading, so the two cannot disagree. Zeros cost one bit, small
//! numbers one octet, moments the distance to the moment visited before.

use crate::time::Time;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use core::time::Duration;

/// Numbers that share an octet of presence bits.
const GROUP: u8 = 8;

/// One direction of the walk.
pub trait Fields {
    /// Whether values are taken, not replaced.
    const WRITES: bool;

    /// Writes the number, or replaces it by the one written.
    fn number(&mut self, value: &mut u64);

    /// The moment visited last, to which the next one is written relative.
    fn base(&mut self) -> &mut u64;

    /// A [`number`](Self::number) of 32 bits.
    fn small(&mut self, value: &mut u32) {
        let mut wide = u64::from(*value);
        self.number(&mut wide);
        *value = wide as u32;
    }

    /// A [`number`](Self::number) that counts things in memory.
    fn size(&mut self, value: &mut usize) {
        let mut wide = *value as u64;
        self.number(&mut wide);
        *value = wide as usize;
    }

    /// A flag as a number of its own; several are cheaper as [`flags`](Self::flags).
    fn flag(&mut self, value: &mut bool) {
        let mut wide = u64::from(*value);
        self.number(&mut wide);
        *value = wide != 0;
    }

    /// Up to 64 flags in one number.
    fn flags(&mut self, values: &mut [&mut bool]) {
        let mut wide = 0;
        for (at, value) in values.iter().enumerate() {
            wide |= u64::from(**value) << at;
        }
        self.number(&mut wide);
        for (at, value) in values.iter_mut().enumerate() {
            **value = wide >> at & 1 != 0;
        }
    }

    /// A moment, in nanoseconds from the one visited before.
    fn time(&mut self, value: &mut Time) {
        let base = *self.base();
        let ahead = value.as_nanos().wrapping_sub(base).cast_signed();
        let mut zigzag = ((ahead << 1) ^ (ahead >> 63)).cast_unsigned();
        self.number(&mut zigzag);
        let ahead = (zigzag >> 1) ^ (zigzag & 1).wrapping_neg();
        *value = Time::from_nanos(base.wrapping_add(ahead));
        *self.base() = value.as_nanos();
    }

    /// A span in nanoseconds, `u64::MAX` at most.
    fn span(&mut self, value: &mut Duration) {
        let mut nanos = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
        self.number(&mut nanos);
        *value = Duration::from_nanos(nanos);
    }

    /// A flag, and the value behind it where there is one.
    fn option<T: Default>(&mut self, value: &mut Option<T>, inner: impl FnOnce(&mut Self, &mut T))
    where
        Self: Sized,
    {
        self.option_or(value, T::default(), inner);
    }

    /// As [`option`](Self::option), where a value to read into has to be given.
    fn option_or<T>(&mut self, value: &mut Option<T>, fresh: T, inner: impl FnOnce(&mut Self, &mut T))
    where
        Self: Sized,
    {
        let mut present = value.is_some();
        self.flag(&mut present);
        if present {
            inner(self, value.get_or_insert(fresh));
        } else {
            *value = None;
        }
    }

    /// One of a few values, by its place among them.
    fn choice<T: Copy + PartialEq>(&mut self, value: &mut T, all: &[T])
    where
        Self: Sized,
    {
        let at = all.iter().position(|one| one == value);
        debug_assert!(at.is_some() || !Self::WRITES, "a value is missing from its list");
        let mut at = at.unwrap_or(0);
        self.size(&mut at);
        *value = all.get(at).copied().unwrap_or(*value);
    }

    /// Address, port, and of IPv6 flow label and scope.
    fn address(&mut self, value: &mut SocketAddr) {
        let mut is_v6 = value.is_ipv6();
        self.flag(&mut is_v6);
        let mut ip = value.ip();
        self.ip(&mut ip);
        let mut rest = match value {
            SocketAddr::V4(v4) => u64::from(v4.port()),
            SocketAddr::V6(v6) => u64::from(v6.port()) | u64::from(v6.scope_id()) << 16,
        };
        self.number(&mut rest);
        let mut flow = match value {
            SocketAddr::V4(_) => 0,
            SocketAddr::V6(v6) => v6.flowinfo(),
        };
        self.small(&mut flow);
        *value = match ip {
            IpAddr::V6(ip) if is_v6 => SocketAddrV6::new(ip, rest as u16, flow, (rest >> 16) as u32).into(),
            ip => SocketAddr::new(ip, rest as u16),
        };
    }

    /// An address without a port.
    fn ip(&mut self, value: &mut IpAddr) {
        let mut is_v6 = value.is_ipv6();
        self.flag(&mut is_v6);
        let bits = match value {
            IpAddr::V4(ip) => u128::from(ip.to_bits()),
            IpAddr::V6(ip) => ip.to_bits(),
        };
        let (mut high, mut low) = ((bits >> 64) as u64, bits as u64);
        self.number(&mut high);
        self.number(&mut low);
        *value = match is_v6 {
            true => Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).into(),
            false => Ipv4Addr::from_bits(low as u32).into(),
        };
    }
}

/// Writes.
#[derive(Default)]
pub struct FieldWriter {
    octets: Vec<u8>,
    mask: usize,
    count: u8,
    base: u64,
}

impl FieldWriter {
    /// Writes into memory that is used again.
    pub fn new(mut octets: Vec<u8>) -> Self {
        octets.clear();
        Self {
            octets,
            ..Self::default()
        }
    }

    /// What was written.
    pub fn into_octets(self) -> Vec<u8> {
        self.octets
    }
}

impl Fields for FieldWriter {
    const WRITES: bool = true;

    fn number(&mut self, value: &mut u64) {
        if self.count.is_multiple_of(GROUP) {
            self.mask = self.octets.len();
            self.octets.push(0);
            self.count = 0;
        }
        let mut rest = *value;
        if rest != 0 {
            self.octets[self.mask] |= 1 << self.count;
            while rest > 0x7f {
                self.octets.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            self.octets.push(rest as u8);
        }
        self.count += 1;
    }

    fn base(&mut self) -> &mut u64 {
        &mut self.base
    }
}

/// Reads what a [`FieldWriter`] wrote.
pub struct FieldReader<'a> {
    octets: core::slice::Iter<'a, u8>,
    mask: u8,
    count: u8,
    base: u64,
}

impl<'a> FieldReader<'a> {
    /// Reads from the beginning.
    pub fn new(octets: &'a [u8]) -> Self {
        Self {
            octets: octets.iter(),
            mask: 0,
            count: 0,
            base: 0,
        }
    }

    fn octet(&mut self) -> u8 {
        let octet = self.octets.next().copied();
        debug_assert!(octet.is_some(), "more is read than was written");
        octet.unwrap_or(0)
    }
}

impl Fields for FieldReader<'_> {
    const WRITES: bool = false;

    fn number(&mut self, value: &mut u64) {
        if self.count.is_multiple_of(GROUP) {
            self.mask = self.octet();
            self.count = 0;
        }
        *value = 0;
        if self.mask >> self.count & 1 != 0 {
            let mut shift = 0;
            loop {
                let octet = self.octet();
                *value |= u64::from(octet & 0x7f) << shift;
                shift += 7;
                if octet < 0x80 || shift > 63 {
                    break;
                }
            }
        }
        self.count += 1;
    }

    fn base(&mut self) -> &mut u64 {
        &mut self.base
    }
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
