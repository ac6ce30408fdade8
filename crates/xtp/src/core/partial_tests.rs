//! Pieces of a message.

use super::*;

#[test]
fn a_message_of_one_piece_is_not_copied() {
    let piece = Bytes::from(vec![7; 100]);
    let message = PartialMessage::default().finish(piece.clone());
    assert_eq!(message.as_ptr(), piece.as_ptr());
}

#[test]
fn pieces_are_joined_in_order_and_forgotten() {
    let mut partial = PartialMessage::default();
    for text in ["one ", "two "] {
        partial.push(Bytes::from_static(text.as_bytes()));
    }
    assert_eq!(partial.finish(Bytes::from_static(b"three")), "one two three");
    assert_eq!(partial.octets(), 0);
    assert_eq!(partial.finish(Bytes::new()), "");
}

/// Nothing is kept of a message that nobody will get.
#[test]
fn what_follows_a_gap_is_counted_only() {
    let mut partial = PartialMessage {
        mutilated: true,
        ..PartialMessage::default()
    };
    partial.push(Bytes::from_static(b"lost"));
    assert_eq!((partial.octets(), partial.pieces.len()), (4, 0));
    assert!(!partial.is_empty());
}
