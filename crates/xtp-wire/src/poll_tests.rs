//! Slices: who is asked.

use super::*;

const POLL: GroupPoll = GroupPoll {
    modulus: 1,
    remainder: 0,
    size: 10,
    grtt_us: 1500,
    feedback_rate: 2000,
    hold_us: 250_000,
};

#[test]
fn the_slices_of_a_modulus_ask_everybody_once() {
    for modulus in [1, 2, 3, 16, 1000, 65_534, GroupPoll::ALONE] {
        for key in [0, 1, 15, 16, 0xfffe, 0xffff, 0x7edc_ba98_7654_3210, u64::MAX >> 1] {
            let asked = (0..modulus).filter(|remainder| {
                GroupPoll {
                    modulus,
                    remainder: *remainder,
                    ..POLL
                }
                .asks(key)
            });
            assert_eq!(asked.count(), 1, "modulus {modulus}, key {key:x}");
        }
    }
}

#[test]
fn one_alone_is_asked_by_its_low_sixteen_bits() {
    let keys = [0x7000_0000_0000_0000, 0x1234, 0x7fff_ffff_ffff_fffe];
    for key in keys {
        let poll = POLL.alone(key);
        assert!(poll.remainder < poll.modulus);
        for other in keys {
            assert_eq!(poll.asks(other), other == key, "{other:x} of {key:x}");
        }
    }
    // What no sixteen bits can tell apart: a remainder of zero is that of all ones, too.
    assert!(POLL.alone(0xffff).asks(0));
}

#[test]
fn a_slice_that_can_not_be_is_neither_read_nor_written() {
    let mut octets = [0xff; POLL_LEN];
    for (modulus, remainder) in [(0, 0), (0, 1), (1, 1), (16, 16), (16, 0xffff)] {
        octets[..2].copy_from_slice(&u16::to_be_bytes(modulus));
        octets[2..4].copy_from_slice(&u16::to_be_bytes(remainder));
        assert_eq!(GroupPoll::take(&octets), Err(WireError::BadGroup));
        let poll = GroupPoll {
            modulus,
            remainder,
            ..POLL
        };
        assert_eq!(poll.encode(&mut octets.clone()), Err(EncodeError::Invalid));
    }
    assert!(!GroupPoll { modulus: 0, ..POLL }.asks(7), "and asks nobody");
}

#[test]
fn the_reserved_word_is_not_looked_at_and_written_as_zero() {
    let mut octets = [0xaa; POLL_LEN + 1];
    assert_eq!(POLL.encode(&mut octets), Ok(POLL_LEN));
    assert_eq!(octets[20..], [0, 0, 0, 0, 0xaa]);
    octets[20] = 0xff;
    assert_eq!(GroupPoll::take(&octets), Ok((POLL, &[0xaa][..])));
    assert_eq!(
        GroupPoll::take(&octets[..POLL_LEN - 1]),
        Err(WireError::BadLength)
    );
    assert_eq!(
        POLL.encode(&mut octets[..POLL_LEN - 1]),
        Err(EncodeError::BufferTooSmall)
    );
}
