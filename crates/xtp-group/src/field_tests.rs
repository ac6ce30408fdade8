//! The field against school multiplication of polynomials.

use super::*;

/// Multiplies as polynomials, then divides by 0x11D.
fn slow_product(a: u8, b: u8) -> u8 {
    let mut sum: u16 = (0..8)
        .filter(|bit| b >> bit & 1 == 1)
        .fold(0, |sum, bit| sum ^ u16::from(a) << bit);
    for bit in (8..16).rev() {
        if sum >> bit & 1 == 1 {
            sum ^= 0x11d << (bit - 8);
        }
    }
    u8::try_from(sum).expect("the remainder has eight bits")
}

#[test]
fn every_product() {
    for a in 0..=255 {
        for b in 0..=255 {
            assert_eq!(product(a, b), slow_product(a, b), "{a} {b}");
        }
        assert_eq!(doubled(a), slow_product(a, 2));
    }
}

#[test]
fn every_inverse() {
    assert_eq!(inverse(0), 0);
    for a in 1..=255 {
        assert_eq!(slow_product(a, inverse(a)), 1, "{a}");
    }
}

#[test]
fn every_weight_of_a_code_that_can_be_is_something() {
    for row in 0..=255_u8 {
        for column in 0..=255_u8 {
            let apart = u16::from(row) + u16::from(column) < 255;
            if apart {
                assert_ne!(weight(row, column), 0, "{row} {column}");
            }
        }
    }
}
