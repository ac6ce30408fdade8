//! Receivers notice what is wrong.

use super::{PERIOD, PIECE, RECEIVED, Record, content, place};

#[test]
fn what_was_sent_is_counted() {
    let content = content();
    let mut record = Record::new();
    let mut offset = 0_u64;
    // Past the period, in pieces that do not divide it.
    while offset < 2 * PERIOD as u64 {
        let at = place(offset);
        record
            .came(&content[at..at + 70_000])
            .unwrap_or_else(|problem| panic!("{}", problem.0));
        offset += 70_000;
    }
    assert_eq!(record.octets(), offset);
    let outcome = record.outcome();
    assert_eq!(outcome.octets, offset);
    let points = &outcome.curves[RECEIVED];
    assert_eq!(points.last().expect("points").1, offset as f64);
    assert!(points.is_sorted());
}

#[test]
fn octets_at_a_wrong_place_are_noticed() {
    let content = content();
    let mut record = Record::new();
    assert!(record.came(&content[..1_000]).is_ok());
    assert!(record.came(&content[1_001..2_000]).is_err());
    let mut again = Record::new();
    assert!(again.came(&content[..1_000]).is_ok());
    assert!(again.came(&content[..1_000]).is_err());
}

#[test]
fn a_piece_fits_wherever_it_begins() {
    let content = content();
    assert_eq!(content.len(), PERIOD + PIECE);
    assert_eq!(content[..PIECE], content[PERIOD..]);
    assert_eq!(place(3 * PERIOD as u64 + 5), 5);
}
