//! Messages put together, and the size of what every association has.

use super::*;

fn slot() -> Slot {
    Slot::new(SocketAddr::from(([127, 0, 0, 1], 1)))
}

#[test]
fn a_message_of_one_piece_is_not_copied() {
    let piece = Bytes::from(vec![7; 100]);
    let message = slot().take_message(piece.clone());
    assert_eq!(message.as_ptr(), piece.as_ptr());
}

#[test]
fn pieces_are_joined_in_order_and_forgotten() {
    let mut slot = slot();
    for text in ["one ", "two "] {
        let more = slot.more();
        more.partial.push(Bytes::from_static(text.as_bytes()));
        more.partial_octets += text.len();
    }
    assert_eq!(slot.take_message(Bytes::from_static(b"three")), "one two three");
    assert_eq!(slot.partial_octets(), 0);
    assert_eq!(slot.take_message(Bytes::new()), "");
}

/// A ceiling that only goes down: every association has one, parked or not.
#[test]
fn a_slot_is_small() {
    assert!(size_of::<Slot>() <= 112, "{}", size_of::<Slot>());
}
