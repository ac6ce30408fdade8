//! GF(2^8) with the polynomial 0x11D, and the weights of the code (§9.5).

/// What x^8 is: the polynomial without its highest term.
pub(super) const REDUCTION: u8 = 0x1d;

/// Logarithms to the base 2 of everything but 0 (whose entry means nothing).
const LOG: [u8; 256] = LOG_AND_POWER.0;
/// Powers of 2, twice around, so that a sum of two logarithms needs no division.
const POWER: [u8; 512] = LOG_AND_POWER.1;

#[expect(clippy::cast_possible_truncation, reason = "the exponent is below 255")]
const LOG_AND_POWER: ([u8; 256], [u8; 512]) = {
    let (mut log, mut power) = ([0; 256], [0; 512]);
    let (mut value, mut exponent) = (1_u8, 0);
    while exponent < 255 {
        log[value as usize] = exponent as u8;
        power[exponent] = value;
        power[exponent + 255] = value;
        value = doubled(value);
        exponent += 1;
    }
    (log, power)
};

/// 2 a.
#[inline]
pub(super) const fn doubled(a: u8) -> u8 {
    // 0xff where the highest bit is set: without a branch, so that many are doubled at once.
    let overflow = 0_u8.wrapping_sub(a >> 7);
    (a << 1) ^ (overflow & REDUCTION)
}

/// a b.
pub(super) const fn product(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    POWER[LOG[a as usize] as usize + LOG[b as usize] as usize]
}

/// 1 / a; of 0, which has none, 0.
pub(super) const fn inverse(a: u8) -> u8 {
    if a == 0 {
        return 0;
    }
    POWER[255 - LOG[a as usize] as usize]
}

/// By how much symbol `column` counts in row `row`: 1 / ((255 - row) xor column). The two numbers never meet where
/// `row + column` is below 255.
pub(super) const fn weight(row: u8, column: u8) -> u8 {
    inverse((255 - row) ^ column)
}

#[cfg(test)]
#[path = "field_tests.rs"]
mod tests;
