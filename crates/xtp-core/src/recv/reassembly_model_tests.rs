//! The reader's store against a map of single octets, fed by a writer that cuts, repeats and reorders.

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;

use super::{Item, Payload, Reassembly, spans};

/// What the writer's stream has at each position.
#[derive(Clone, Debug)]
enum Unit {
    /// An octet, and whether a message ends behind it.
    Octet(u8, bool),
    /// A tag of 8 positions, and whether a message ends behind it.
    Tag(u64, bool),
}

impl Unit {
    fn len(&self) -> u64 {
        if matches!(self, Self::Tag(..)) { 8 } else { 1 }
    }

    fn eom(&self) -> bool {
        matches!(self, Self::Octet(_, true) | Self::Tag(_, true))
    }
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        12 => any::<u8>().prop_map(|octet| Unit::Octet(octet, false)),
        2 => any::<u8>().prop_map(|octet| Unit::Octet(octet, true)),
        1 => (any::<u64>(), prop::bool::weighted(0.2)).prop_map(|(tag, eom)| Unit::Tag(tag, eom)),
    ]
}

/// A legal segment: first position, tag, octets, EOM; at most `max` units, from the unit `first` on.
fn cut(stream: &BTreeMap<u64, Unit>, first: usize, max: usize) -> (u64, Option<u64>, Vec<u8>, bool) {
    let mut units = stream
        .iter()
        .skip(first % stream.len())
        .take(max.max(1))
        .peekable();
    let seq = *units.peek().expect("not empty").0;
    let (mut tag, mut octets, mut eom) = (None, Vec::new(), false);
    for (position, unit) in units {
        match unit {
            Unit::Tag(value, _) if *position == seq => tag = Some(*value),
            Unit::Tag(..) => break,
            Unit::Octet(octet, _) => octets.push(*octet),
        }
        eom = unit.eom();
        if eom {
            break;
        }
    }
    (seq, tag, octets, eom)
}

/// Reads all there is and compares it with the stream; `unread` is the next position.
fn read_all(store: &mut Reassembly, stream: &BTreeMap<u64, Unit>, max: usize, unreliable: bool) {
    loop {
        let expected = store.delivered();
        let Some(item) = store.read(max) else {
            assert_eq!(store.delivered(), store.next());
            return;
        };
        match item {
            Item::Data { seq, bytes, eom } => {
                assert_eq!(seq, expected);
                assert!(bytes.len() <= max);
                for (at, &octet) in (seq..).zip(bytes.iter()) {
                    let last = at + 1 == seq + bytes.len() as u64;
                    let Unit::Octet(value, ends) = stream[&at] else {
                        panic!("octet at {at} is a tag")
                    };
                    assert_eq!((octet, eom && last), (value, ends), "at {at}");
                }
                if bytes.is_empty() {
                    let before = stream.range(..seq).next_back().map(|(_, unit)| unit);
                    assert!(eom && matches!(before, Some(Unit::Tag(_, true))));
                }
            }
            Item::Tag { seq, tag } => {
                assert_eq!(seq, expected);
                assert!(
                    matches!(stream[&seq], Unit::Tag(value, _) if value == tag),
                    "tag at {seq}"
                );
            }
            Item::Gap { seq, len } => {
                assert!(unreliable, "gap of {len} at {seq}");
                assert_eq!(seq, expected);
                assert_eq!(store.delivered(), seq + len);
            }
        }
    }
}

/// The positions received, as the naive model knows them.
struct Received(Vec<bool>);

impl Received {
    fn take(&mut self, start: u64, from: u64, until: u64) -> u64 {
        let mut new = 0;
        for there in &mut self.0[(from - start) as usize..(until - start) as usize] {
            new += u64::from(!*there);
            *there = true;
        }
        new
    }

    fn next(&self, start: u64) -> u64 {
        start + self.0.iter().take_while(|&&there| there).count() as u64
    }

    fn spans(&self, start: u64) -> Vec<(u64, u64)> {
        let mut spans: Vec<(u64, u64)> = Vec::new();
        let next = self.next(start);
        for at in (0..self.0.len())
            .filter(|&at| self.0[at])
            .map(|at| start + at as u64)
            .filter(|&at| at > next)
        {
            match spans.last_mut() {
                Some(last) if last.1 == at => last.1 += 1,
                _ => spans.push((at, at + 1)),
            }
        }
        spans
    }
}

fn positions(start: u64, units: Vec<Unit>) -> (BTreeMap<u64, Unit>, u64) {
    let mut end = start;
    let mut stream = BTreeMap::new();
    for unit in units {
        let len = unit.len();
        stream.insert(end, unit);
        end += len;
    }
    (stream, end)
}

#[derive(Clone, Debug)]
struct ReceivedSegment {
    first: usize,
    max: usize,
    shared: bool,
    /// Read with this limit afterwards.
    read: Option<usize>,
}

fn arrival() -> impl Strategy<Value = ReceivedSegment> {
    (
        any::<usize>(),
        1usize..40,
        any::<bool>(),
        prop::option::weighted(0.3, 1usize..50),
    )
        .prop_map(|(first, max, shared, read)| ReceivedSegment {
            first,
            max,
            shared,
            read,
        })
}

fn payload(octets: &[u8], shared: bool) -> Payload<'_> {
    if shared {
        Payload::Shared(Bytes::copy_from_slice(octets))
    } else {
        Payload::Copy(octets)
    }
}

proptest! {
    #[test]
    fn a_reliable_reader_behaves_as_a_map_of_octets(
        start in prop_oneof![Just(0u64), 0..1u64 << 62],
        units in prop::collection::vec(unit(), 1..150),
        arrivals in prop::collection::vec(arrival(), 1..60),
        limit in prop_oneof![3 => Just(4096usize), 1 => 0usize..6],
    ) {
        let (stream, end) = positions(start, units);
        let mut store = Reassembly::new(start);
        store.set_piece_limit(limit);
        let mut received = Received(vec![false; (end - start) as usize]);
        let whole = (0..stream.len()).map(|first| ReceivedSegment { first, max: 40, shared: false, read: None });
        for arrival in arrivals.into_iter().chain(whole) {
            let (seq, tag, octets, eom) = cut(&stream, arrival.first, arrival.max);
            let until = seq + tag.map_or(0, |_| 8) + octets.len() as u64;
            let (next, highest) = (store.next(), store.highest());
            let inserted = store.insert(seq, tag, payload(&octets, arrival.shared), eom);
            let missing = if inserted.dropped == 0 {
                received.take(start, seq, until)
            } else {
                prop_assert!(seq > next, "in order, and yet dropped");
                prop_assert!(store.pieces.len() >= limit);
                // Which parts were kept is the store's choice; that they are the segment's is checked below.
                let kept = spans(&store);
                let inside = kept.iter().map(|span| (span.0.max(seq), span.1.min(until))).filter(|part| part.0 < part.1);
                inside.map(|part| received.take(start, part.0, part.1)).sum()
            };
            prop_assert_eq!(inserted.new_octets, missing);
            prop_assert_eq!(inserted.advanced, store.next() > next);
            prop_assert_eq!(inserted.hole_new, seq > highest && missing > 0);
            prop_assert_eq!(store.next(), received.next(start));
            prop_assert_eq!(spans(&store), received.spans(start));
            prop_assert!(store.pieces.len() < limit + 3, "one insertion may divide into a few pieces");
            let held = received.0.iter().filter(|&&there| there).count() as u64;
            prop_assert_eq!(store.stored_octets(), held - (store.delivered() - start));
            if let Some(max) = arrival.read {
                read_all(&mut store, &stream, max, false);
            }
        }
        prop_assert_eq!(store.next(), end);
        read_all(&mut store, &stream, 1000, false);
        prop_assert_eq!(store.delivered(), end);
    }

    #[test]
    fn an_unreliable_reader_gets_each_octet_or_a_gap(
        start in 0..1u64 << 62,
        units in prop::collection::vec(unit(), 1..150),
        arrivals in prop::collection::vec((arrival(), prop::option::weighted(0.1, 0u64..200)), 1..60),
    ) {
        let (stream, end) = positions(start, units);
        let mut store = Reassembly::new(start);
        let mut next = start;
        for (arrival, skip) in arrivals {
            let (seq, tag, octets, eom) = cut(&stream, arrival.first, arrival.max);
            let until = seq + tag.map_or(0, |_| 8) + octets.len() as u64;
            let inserted = store.insert_unreliable(seq, tag, payload(&octets, arrival.shared), eom);
            prop_assert_eq!(inserted.new_octets, until.saturating_sub(next.max(seq)));
            prop_assert_eq!(inserted.hole_new, seq > next);
            prop_assert_eq!(inserted.advanced, until > next);
            next = next.max(until);
            if let Some(skip) = skip {
                // Only to where a segment may begin.
                let to = stream.range(..=(start + skip).min(end)).next_back().map_or(start, |unit| *unit.0);
                store.skip_to(to);
                next = next.max(to);
            }
            prop_assert_eq!((store.next(), store.highest()), (next, next));
            prop_assert!(!store.has_holes());
            if let Some(max) = arrival.read {
                read_all(&mut store, &stream, max, true);
            }
        }
        read_all(&mut store, &stream, 1000, true);
        prop_assert_eq!((store.delivered(), store.stored_octets()), (next, 0));
    }
}
