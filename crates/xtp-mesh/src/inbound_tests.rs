//! Streams cut at any place.

use super::*;
use proptest::prelude::*;

const TAGS: (u64, u64) = (3, 4);

fn eager(length: u64) -> Record {
    let (tag, word) = TAGS;
    Record::Eager { length, tag, word }
}

fn preface(lane: Lane) -> Preface {
    Preface {
        lane,
        session: 9,
        believed: 0,
        next: 0,
    }
}

/// A stream's octets.
fn stream(lane: Lane, records: &[Record]) -> Vec<u8> {
    let mut octets = preface(lane).encode().to_vec();
    for record in records {
        octets.extend(record.encode());
        octets.extend((0..record.payload()).map(|at| at as u8));
    }
    octets
}

/// All items of a stream that comes in pieces of these sizes, payloads of a record joined.
fn items(octets: &[u8], sizes: &[usize]) -> Result<Vec<(Item, Vec<u8>)>, Fault> {
    let (mut inbound, mut all, mut at) = (Inbound::new(), Vec::new(), 0);
    for size in sizes.iter().copied().chain([octets.len()]) {
        let end = (at + size).min(octets.len());
        let mut piece = Bytes::copy_from_slice(&octets[at..end]);
        at = end;
        while let Some(item) = inbound.next(&mut piece)? {
            match (item, all.last_mut()) {
                (Item::Payload { octets, .. }, Some((_, payload))) => {
                    let payload: &mut Vec<u8> = payload;
                    payload.extend_from_slice(&octets);
                }
                (item, _) => all.push((item, Vec::new())),
            }
        }
        assert!(piece.is_empty());
    }
    Ok(all)
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_does_not_matter(
        lengths in proptest::collection::vec(0..100_u64, 0..6),
        sizes in proptest::collection::vec(0..50_usize, 0..40),
        serial in 0..1_000_u64,
    ) {
        let records: Vec<Record> = lengths.iter().map(|length| eager(*length)).collect();
        let all: Vec<Record> = [Record::Start { serial }].into_iter().chain(records.clone()).collect();
        let found = items(&stream(Lane::Express, &all), &sizes).unwrap();
        prop_assert_eq!(&found[0].0, &Item::Preface(preface(Lane::Express)));
        prop_assert_eq!(found.len(), records.len() + 1);
        for (n, record) in records.iter().enumerate() {
            prop_assert_eq!(&found[n + 1].0, &Item::Record(serial + n as u64, *record));
            let expected: Vec<u8> = (0..record.payload()).map(|at| at as u8).collect();
            prop_assert_eq!(&found[n + 1].1, &expected);
        }
    }
}

#[test]
fn records_stand_where_they_may() {
    let start = Record::Start { serial: 5 };
    let chunk = Record::Chunk {
        id: 1,
        offset: 0,
        length: 3,
    };
    let cut = |lane, records: &[Record]| items(&stream(lane, records), &[]).map(|all| all.len());
    assert_eq!(cut(Lane::Express, &[start, eager(1)]), Ok(2));
    assert_eq!(cut(Lane::Bulk, &[start, chunk]), Ok(2));
    assert_eq!(cut(Lane::Bulk, &[start, eager(1)]), Err(Fault::Place));
    assert_eq!(cut(Lane::Express, &[start, chunk]), Err(Fault::Place));
    assert_eq!(cut(Lane::Express, &[eager(1)]), Err(Fault::Place));
    assert_eq!(cut(Lane::Express, &[start, start]), Err(Fault::Place));
    let last = Record::Start { serial: u64::MAX };
    assert_eq!(cut(Lane::Express, &[last, eager(1)]), Err(Fault::Place));
}
