//! Messages are read as written, and no damage goes unnoticed.

use super::{HEADER, Message};

const MESSAGE: Message = Message {
    from: 3,
    to: 0x0201,
    channel: 25,
    step: 77,
    word: 0x0123_4567_89ab_cdef,
};

#[test]
fn what_is_written_is_read() {
    for size in [HEADER, HEADER + 1, 64, 1_000] {
        let mut octets = vec![0; size];
        MESSAGE.write(&mut octets);
        let read = Message::read(&octets, size).map_err(|problem| problem.0);
        assert_eq!(read, Ok(MESSAGE));
    }
}

#[test]
fn no_octet_can_change_unnoticed() {
    let mut octets = vec![0; 64];
    MESSAGE.write(&mut octets);
    for at in 0..octets.len() {
        let mut damaged = octets.clone();
        damaged[at] ^= 0x40;
        assert!(Message::read(&damaged, 64).is_err(), "octet {at}");
    }
}

#[test]
fn another_length_is_noticed() {
    let mut octets = vec![0; 64];
    MESSAGE.write(&mut octets);
    assert!(Message::read(&octets[..63], 64).is_err());
    assert!(Message::read(&octets[..63], 63).is_err());
    assert!(Message::read(&octets[..3], 64).is_err());
}
