//! Comparison of numbers that wrap: sync and echo (RFC 1982 on 32 bits; §0.3).

/// Whether `a` is newer than `b`.
///
/// Two numbers exactly 2^31 apart have no order: neither is newer. Writers stop long before
/// (§2.9), so such a pair only comes from outside and is then simply not believed.
#[inline]
#[must_use]
pub const fn serial_gt(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
}

/// The newer of two; the first where they have no order.
#[inline]
#[must_use]
pub const fn serial_max(a: u32, b: u32) -> u32 {
    if serial_gt(b, a) { b } else { a }
}

#[cfg(test)]
#[path = "serial_tests.rs"]
mod tests;
