//! Messages of one piece and of several.

use super::*;

fn slot() -> Slot {
    Slot::new("127.0.0.1:1".parse().expect("an address"))
}

#[test]
fn one_piece_is_handed_out_as_it_is() {
    let mut slot = slot();
    let piece = Bytes::from(vec![7; 100]);
    slot.partial.push(piece.clone());
    slot.partial_octets = 100;
    let message = slot.take_message();
    assert_eq!(message.as_ptr(), piece.as_ptr());
    assert_eq!((slot.partial.len(), slot.partial_octets), (0, 0));
}

#[test]
fn pieces_are_joined_in_order() {
    let mut slot = slot();
    for text in ["one ", "two ", "three"] {
        slot.partial.push(Bytes::from_static(text.as_bytes()));
        slot.partial_octets += text.len();
    }
    assert_eq!(slot.take_message(), "one two three");
    assert_eq!(slot.take_message(), "");
}
