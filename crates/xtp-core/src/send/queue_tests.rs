//! The queue against a stream of single octets, and the rules of cutting one by one.

use bytes::Bytes;
use proptest::prelude::*;
use smallvec::SmallVec;

use super::*;
use crate::frames::testing;

fn octets(queue: &SendQueue, seq: u64, len: usize) -> Vec<u8> {
    let mut out = SmallVec::new();
    queue.payload(seq, len, &mut out);
    out.concat()
}

#[test]
fn a_segment_ends_with_its_message() {
    let mut queue = SendQueue::new(100);
    queue.push(Bytes::from_static(b"hello"));
    queue.mark_eom();
    queue.mark_eom();
    queue.push(Bytes::from_static(b"world!"));
    assert_eq!(
        queue.cut(100, 64),
        Some(NextSegment {
            len: 5,
            tag: None,
            eom: true
        })
    );
    assert_eq!(
        queue.cut(100, 4),
        Some(NextSegment {
            len: 4,
            tag: None,
            eom: false
        })
    );
    assert_eq!(
        queue.cut(105, 64),
        Some(NextSegment {
            len: 6,
            tag: None,
            eom: false
        })
    );
    assert_eq!(queue.cut(111, 64), None);
    assert_eq!(queue.cut(99, 64), None, "below what is kept");
    assert_eq!(queue.cut(100, 0), None);
    assert!(queue.eom_at(105));
    assert!(!queue.eom_at(111));
    assert_eq!(octets(&queue, 103, 6), b"loworl");
}

#[test]
fn plain_data_ends_at_a_tag_at_the_end_of_a_message_and_of_everything() {
    let mut queue = SendQueue::new(100);
    assert_eq!(queue.plain_until(100), 100, "nothing");
    queue.push(Bytes::from_static(b"hello"));
    assert_eq!(queue.plain_until(100), 105);
    queue.mark_eom();
    queue.push(Bytes::from_static(b"world!"));
    queue.push_tag(7);
    queue.push(Bytes::from_static(b"tagged"));
    let ends = [
        (100, 105),
        (104, 105),
        (105, 111),
        (110, 111),
        (111, 111),
        (119, 125),
    ];
    for (seq, end) in ends {
        assert_eq!(queue.plain_until(seq), end, "{seq}");
    }
}

#[test]
fn an_eom_without_an_octet_to_carry_it_is_none() {
    let mut queue = SendQueue::new(7);
    queue.mark_eom();
    assert!(!queue.eom_at(7));
    queue.push(Bytes::from_static(b"x"));
    queue.release(8);
    queue.mark_eom();
    assert!(!queue.eom_at(8), "its octet is acknowledged");
}

#[test]
fn a_tag_leads_its_segment_and_ends_the_one_before() {
    let mut queue = SendQueue::new(0);
    queue.push(Bytes::from_static(b"abc"));
    queue.push_tag(7);
    assert_eq!(
        queue.cut(0, 64),
        Some(NextSegment {
            len: 3,
            tag: None,
            eom: false
        })
    );
    assert_eq!(queue.cut(3, 64), None, "the octet it is bound to is missing");
    queue.push(Bytes::from_static(b"defgh"));
    queue.push_tag(8);
    queue.push_tag(9);
    assert_eq!(
        queue.cut(3, 64),
        Some(NextSegment {
            len: 13,
            tag: Some(7),
            eom: false
        })
    );
    assert_eq!(
        queue.cut(3, 10),
        Some(NextSegment {
            len: 10,
            tag: Some(7),
            eom: false
        })
    );
    assert_eq!(
        queue.cut(3, 5),
        Some(NextSegment {
            len: 8,
            tag: Some(7),
            eom: false
        }),
        "never half a tag"
    );
    assert_eq!(octets(&queue, 3, 10), b"de");
    assert_eq!(
        queue.cut(16, 64),
        Some(NextSegment {
            len: 8,
            tag: Some(8),
            eom: false
        })
    );
    assert_eq!(queue.cut(24, 64), None);
    queue.close();
    assert_eq!(
        queue.cut(24, 64),
        Some(NextSegment {
            len: 8,
            tag: Some(9),
            eom: false
        })
    );
    assert_eq!((queue.len(), queue.end()), (32, 32));
}

#[test]
fn a_message_that_is_only_a_tag_leaves_at_once() {
    let mut queue = SendQueue::new(0);
    queue.push_tag(1);
    queue.mark_eom();
    assert_eq!(
        queue.cut(0, 64),
        Some(NextSegment {
            len: 8,
            tag: Some(1),
            eom: true
        })
    );
    assert!(octets(&queue, 0, 8).is_empty());
}

#[test]
fn an_acknowledgement_inside_a_tag_falls_back_to_its_start() {
    let mut queue = SendQueue::new(0);
    queue.push(Bytes::from_static(b"ab"));
    queue.push_tag(0x0102_0304_0506_0708);
    queue.push(Bytes::from_static(b"cd"));
    let floors: Vec<u64> = (0..=12).map(|seq| queue.tag_floor(seq)).collect();
    assert_eq!(floors, [0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 10, 11, 12]);
    // A caller that takes it literally still gets a stream of the right length.
    queue.release(5);
    assert_eq!(
        queue.cut(5, 64),
        Some(NextSegment {
            len: 7,
            tag: None,
            eom: false
        })
    );
    assert_eq!(octets(&queue, 5, 7), [4, 5, 6, 7, 8, b'c', b'd']);
    assert_eq!(octets(&queue, 5, 2), [4, 5]);
}

#[test]
fn truncation_drops_what_was_not_sent_but_never_half_a_tag() {
    let mut queue = SendQueue::new(0);
    queue.push(Bytes::from_static(b"abcdef"));
    queue.mark_eom();
    queue.push_tag(1);
    queue.push(Bytes::from_static(b"gh"));
    queue.mark_eom();
    queue.truncate(100);
    assert_eq!(queue.end(), 16);
    queue.truncate(9);
    assert_eq!(
        (queue.end(), queue.eom_at(6), queue.eom_at(16)),
        (14, true, false)
    );
    queue.truncate(4);
    assert_eq!((queue.end(), queue.len(), queue.eom_at(6)), (4, 4, false));
    queue.push(Bytes::from_static(b"xy"));
    assert_eq!(octets(&queue, 0, 6), b"abcdxy");
    queue.release(3);
    queue.truncate(0);
    assert_eq!((queue.base(), queue.end()), (3, 3));
}

#[test]
fn large_writes_are_kept_by_reference() {
    let data = Bytes::from(vec![5; 100_000]);
    let mut queue = SendQueue::new(0);
    queue.push(data.clone());
    let mut out: SmallVec<[Bytes; 4]> = SmallVec::new();
    queue.payload(1000, 2000, &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].as_ptr(), data[1000..].as_ptr());
}

#[test]
fn tiny_writes_become_few_references() {
    let mut queue = SendQueue::new(0);
    for octet in 0..=255u8 {
        queue.push(Bytes::from(vec![octet; 5]));
    }
    let mut out: SmallVec<[Bytes; 4]> = SmallVec::new();
    queue.payload(0, 1280, &mut out);
    assert!(out.len() <= 2, "{} references", out.len());
    let expected: Vec<u8> = (0..=255u8).flat_map(|octet| [octet; 5]).collect();
    assert_eq!(out.concat(), expected);
}

#[test]
fn octets_still_referenced_by_a_batch_do_not_change() {
    let mut queue = SendQueue::new(0);
    let mut batch: SmallVec<[Bytes; 4]> = SmallVec::new();
    let mut expected = Vec::new();
    for octet in 0..50u8 {
        queue.push(Bytes::from(vec![octet; 3]));
        expected.extend([octet; 3]);
        queue.payload(3 * u64::from(octet), 3, &mut batch);
    }
    assert_eq!(batch.concat(), expected);
    assert_eq!(octets(&queue, 0, 150), expected);
}

/// The stream as single octets: the data octet or the tag it belongs to, and whether a message ends behind it.
#[derive(Clone, Copy, Debug, Default)]
struct Octet {
    data: Option<u8>,
    /// How far it lies behind the beginning of its frame, or of what is left of it.
    frame: Option<usize>,
    tag_start: Option<u64>,
    eom: bool,
}

#[derive(Debug, Default)]
struct Model {
    octets: Vec<Octet>,
    base: usize,
    closed: bool,
}

impl Model {
    fn cut(&self, seq: usize, max: usize) -> Option<NextSegment> {
        if seq < self.base || seq >= self.octets.len() {
            return None;
        }
        let tag = self.octets[seq].tag_start;
        let body = seq + if tag.is_some() { 8 } else { 0 };
        let mut end = body;
        while !(end > seq && self.octets[end - 1].eom)
            && end < self.octets.len().min(seq + max)
            && self.octets[end].tag_start.is_none()
            && !(end > body && self.begins(end))
        {
            end += 1;
        }
        let eom = self.octets[end - 1].eom;
        let lone = tag.is_some() && end == seq + 8 && end == self.octets.len();
        (self.closed || !lone || eom).then_some(NextSegment {
            len: end - seq,
            tag,
            eom,
        })
    }

    /// Whether something begins there that no segment may have in its middle: a frame, or what is behind frames.
    fn begins(&self, at: usize) -> bool {
        self.octets[at].frame == Some(0)
            || self.octets[at].frame.is_none() && self.octets[at - 1].frame.is_some()
    }

    fn tag_floor(&self, seq: usize) -> usize {
        let mut start = seq;
        while start < self.octets.len()
            && start > 0
            && self.octets[start].data.is_none()
            && self.octets[start].tag_start.is_none()
        {
            start -= 1;
        }
        start
    }
}

#[derive(Clone, Debug)]
enum Op {
    Push(usize),
    /// So many octets in frames of so many, the first left out.
    Frames(usize, usize, usize),
    Tag(u64),
    Eom,
    Release(u8),
    Truncate(u8),
    Close,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => prop_oneof![1usize..12, 200usize..700].prop_map(Op::Push),
        3 => (1usize..900, 10usize..300, 0usize..400).prop_map(|(len, payload, from)| Op::Frames(len, payload, from)),
        2 => any::<u64>().prop_map(Op::Tag),
        2 => Just(Op::Eom),
        2 => (0u8..60).prop_map(Op::Release),
        1 => (0u8..60).prop_map(Op::Truncate),
        1 => Just(Op::Close),
    ]
}

fn apply(queue: &mut SendQueue, model: &mut Model, start: u64, op: &Op) {
    match *op {
        Op::Push(len) => {
            let data: Vec<u8> = (0..len).map(|at| (model.octets.len() + at) as u8).collect();
            model.octets.extend(data.iter().map(|&octet| Octet {
                data: Some(octet),
                ..Octet::default()
            }));
            queue.push(Bytes::from(data));
        }
        Op::Frames(len, payload, from) => {
            let data: Vec<u8> = (0..len).map(|at| (at / 3) as u8).collect();
            let mut framed = Framed::new(testing::frames(4, payload, &data));
            framed.advance(from);
            model
                .octets
                .extend(data.iter().enumerate().skip(from).map(|(at, &octet)| Octet {
                    data: Some(octet),
                    frame: Some(if at == from { 0 } else { at % payload }),
                    ..Octet::default()
                }));
            queue.push_framed(framed);
        }
        Op::Tag(tag) => {
            let at = model.octets.len();
            model.octets.extend([Octet::default(); 8]);
            model.octets[at].tag_start = Some(tag);
            queue.push_tag(tag);
        }
        Op::Eom => {
            if model.octets.len() > model.base {
                model.octets.last_mut().expect("not empty").eom = true;
            }
            queue.mark_eom();
        }
        Op::Release(percent) => {
            let kept = model.octets.len() - model.base;
            let below = model
                .tag_floor(model.base + kept * usize::from(percent) / 50)
                .min(model.octets.len());
            model.base = model.base.max(below);
            queue.release(start + below as u64);
        }
        Op::Truncate(percent) => {
            let kept = model.octets.len() - model.base;
            let from = model.tag_floor(model.base + kept * usize::from(percent) / 50);
            model.octets.truncate(from.max(model.base));
            queue.truncate(start + from as u64);
        }
        Op::Close => {
            model.closed = true;
            queue.close();
        }
    }
}

fn compare(queue: &SendQueue, model: &Model, start: u64, max: usize) {
    assert_eq!(queue.start(), start);
    assert_eq!(queue.base(), start + model.base as u64);
    assert_eq!(queue.end(), start + model.octets.len() as u64);
    assert_eq!(queue.len(), model.octets.len() - model.base);
    let mut at = model.base;
    while let Some(cut) = model.cut(at, max) {
        let seq = start + at as u64;
        assert_eq!(queue.cut(seq, max), Some(cut), "at {at}");
        assert_eq!(queue.eom_at(seq + cut.len as u64), cut.eom);
        let expected: Vec<u8> = model.octets[at..at + cut.len]
            .iter()
            .filter_map(|octet| octet.data)
            .collect();
        assert_eq!(octets(queue, seq, cut.len), expected, "at {at}");
        at += cut.len;
    }
    assert_eq!(queue.cut(start + at as u64, max), None, "at {at}");
    compare_even(queue, model, start, max);
}

/// Segments that are said to be equal are what would be cut one by one.
fn compare_even(queue: &SendQueue, model: &Model, start: u64, max: usize) {
    for at in model.base..model.octets.len() {
        let seq = start + at as u64;
        let Some((size, until)) = queue.even(seq, max as u64) else {
            assert!(
                model.octets[at].frame.is_some() || model.octets[at].data.is_none(),
                "at {at}"
            );
            continue;
        };
        for from in (seq..until.saturating_sub(size)).step_by(size as usize) {
            let cut = model.cut((from - start) as usize, size as usize);
            let whole = Some(NextSegment {
                len: size as usize,
                tag: None,
                eom: false,
            });
            assert_eq!(cut, whole, "at {at}");
        }
        if let Some((frames, index)) = queue.frames_at(seq) {
            let frame = frames.frame(index);
            let kept = model.cut(at, frame.len()).map_or(0, |cut| cut.len);
            let here = model.octets[at..at + kept].iter().filter_map(|octet| octet.data);
            assert!(here.zip(frame).all(|(octet, own)| octet == *own), "at {at}");
        }
    }
}

proptest! {
    #[test]
    fn behaves_as_a_stream_of_single_octets(
        start in prop_oneof![Just(0u64), 0..1u64 << 62],
        ops in prop::collection::vec((op(), 16usize..900), 1..60),
    ) {
        let mut queue = SendQueue::new(start);
        let mut model = Model::default();
        for (op, max) in &ops {
            apply(&mut queue, &mut model, start, op);
            compare(&queue, &model, start, *max);
        }
    }

    #[test]
    fn any_part_of_the_stream_can_be_fetched_in_any_order(
        writes in prop::collection::vec(1usize..600, 1..30),
        parts in prop::collection::vec((0usize..10_000, 1usize..2000), 1..30),
    ) {
        let mut queue = SendQueue::new(0);
        let mut all = Vec::new();
        for len in writes {
            let data: Vec<u8> = (0..len).map(|at| ((all.len() + at) / 3) as u8).collect();
            all.extend_from_slice(&data);
            queue.push(Bytes::from(data));
        }
        for (from, len) in parts {
            let from = from % all.len();
            let until = all.len().min(from + len);
            prop_assert_eq!(octets(&queue, from as u64, len), &all[from..until]);
        }
    }
}
