//! Records there and back, and what is refused.

use super::*;
use proptest::prelude::*;

fn record() -> impl Strategy<Value = Record> {
    let words = any::<(u64, u64)>();
    prop_oneof![
        any::<u64>().prop_map(|serial| Record::Start { serial }),
        Just(Record::Join),
        (0..=EAGER_LIMIT, words).prop_map(|(length, (tag, word))| Record::Eager { length, tag, word }),
        (0..=LONGEST, words).prop_map(|(length, (tag, word))| Record::Announce { length, tag, word }),
        words.prop_map(|(id, octets)| Record::Pull { id, octets }),
        words.prop_map(|(octets, messages)| Record::Credit { octets, messages }),
        (words, 1..=CHUNK_LIMIT).prop_map(|((id, offset), length)| Record::Chunk { id, offset, length }),
    ]
}

proptest! {
    #[test]
    fn a_record_is_what_was_written(record in record()) {
        prop_assert_eq!(Record::decode(&record.encode()), Ok(record));
    }

    #[test]
    fn whatever_is_taken_is_written_the_same(octets in any::<[u8; 32]>(), kind in 0..9_u8) {
        let mut octets = octets;
        octets[..8].copy_from_slice(&[kind, 0, 0, 0, 0, 0, 0, 0]);
        if let Ok(record) = Record::decode(&octets) {
            prop_assert_eq!(record.encode(), octets);
        }
    }

    #[test]
    fn a_preface_is_what_was_written(bulk: bool, session in 1..u64::MAX, believed: u64, next: u64) {
        let lane = Lane::ALL[usize::from(bulk)];
        let preface = Preface { lane, session, believed, next };
        prop_assert_eq!(Preface::decode(&preface.encode()), Ok(preface));
    }
}

#[test]
fn what_no_record_may_be_is_refused() {
    let with = |record: Record, at: usize, octet: u8| {
        let mut octets = record.encode();
        octets[at] = octet;
        Record::decode(&octets)
    };
    let start = Record::Start { serial: 1 };
    assert_eq!(with(start, 0, 0), Err(Fault::Kind));
    assert_eq!(with(start, 0, 8), Err(Fault::Kind));
    (1..8).for_each(|at| assert_eq!(with(start, at, 1), Err(Fault::Reserved), "{at}"));
    (16..32).for_each(|at| assert_eq!(with(start, at, 1), Err(Fault::Reserved), "{at}"));
    let refused = |record: Record| Record::decode(&record.encode());
    let (tag, word) = (u64::MAX, 0);
    for (record, fine) in [
        (
            Record::Eager {
                length: EAGER_LIMIT,
                tag,
                word,
            },
            true,
        ),
        (
            Record::Eager {
                length: EAGER_LIMIT + 1,
                tag,
                word,
            },
            false,
        ),
        (
            Record::Announce {
                length: LONGEST,
                tag,
                word,
            },
            true,
        ),
        (
            Record::Announce {
                length: LONGEST + 1,
                tag,
                word,
            },
            false,
        ),
        (
            Record::Chunk {
                id: 0,
                offset: 0,
                length: 0,
            },
            false,
        ),
        (
            Record::Chunk {
                id: 0,
                offset: 0,
                length: CHUNK_LIMIT + 1,
            },
            false,
        ),
    ] {
        let expected = if fine { Ok(record) } else { Err(Fault::Length) };
        assert_eq!(refused(record), expected);
    }
}

#[test]
fn what_no_preface_may_be_is_refused() {
    let preface = Preface {
        lane: Lane::Bulk,
        session: 7,
        believed: 0,
        next: 3,
    };
    for (at, octet) in [(0, b'x'), (3, 0), (4, 0), (4, 2), (5, 2), (6, 1), (7, 1), (15, 0)] {
        let mut octets = preface.encode();
        octets[at] = octet;
        assert_eq!(Preface::decode(&octets), Err(Fault::Preface), "{at}");
    }
}
