//! Certificates travel as text.

use super::{hex, unhex};

#[test]
fn octets_survive_being_text() {
    let octets: Vec<u8> = (0..=255).collect();
    assert_eq!(unhex(&hex(&octets)), Some(octets));
}

#[test]
fn what_is_no_text_of_octets_is_refused() {
    for text in ["0", "0g", "zz", "é"] {
        assert_eq!(unhex(text), None, "{text}");
    }
}
