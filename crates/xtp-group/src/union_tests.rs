//! The union of what reports miss, against a record octet by octet; and what a report can not make due.

use proptest::prelude::*;
use xtp_wire::Span;

use super::*;

fn stretch(from: u64, to: u64) -> Stretch {
    Stretch { from, to }
}

/// Five packets of ten octets in packets 1 to 5.
fn five() -> MissingUnion {
    let mut union = MissingUnion::new();
    for packet in 0..5 {
        union.sent(stretch(packet * 10, packet * 10 + 10), packet as u32 + 1);
    }
    union
}

#[test]
fn the_union_of_two_reports_leaves_once() {
    let mut union = five();
    let spans = [Span::new(20, 30)];
    assert_eq!(
        union.report(10, Spans::new(10, &spans).unwrap(), 50, (5, u64::MAX)),
        30,
        "10, 30 and 40"
    );
    let spans = [Span::new(40, 50)];
    assert_eq!(
        union.report(20, Spans::new(20, &spans).unwrap(), 50, (5, u64::MAX)),
        10,
        "20; 30 is due already"
    );
    let sent: Vec<_> = (6..).map_while(|sync| union.send(sync)).collect();
    assert_eq!(
        sent,
        [stretch(10, 20), stretch(20, 30), stretch(30, 40), stretch(40, 50)]
    );
    assert_eq!(
        union.report(10, Spans::default(), 50, (5, u64::MAX)),
        0,
        "they left after what the report had seen"
    );
    assert_eq!(
        union.report(10, Spans::default(), 50, (7, u64::MAX)),
        20,
        "the first two it should have seen"
    );
}

#[test]
fn what_can_not_have_arrived_is_not_missed() {
    let mut union = five();
    assert_eq!(
        union.report(0, Spans::default(), 50, (2, u64::MAX)),
        20,
        "it had seen two packets"
    );
    assert_eq!(
        union.report(0, Spans::default(), 35, (5, u64::MAX)),
        10,
        "it answers about the first 35 octets, and has no room for all of the fourth packet"
    );
    assert_eq!(union.due(), 3);
    union.release(15);
    assert_eq!(
        (union.due(), union.sent.len()),
        (2, 4),
        "a packet is forgotten when all of it is there"
    );
    assert_eq!(union.send(6), Some(stretch(10, 20)));
    union.release(50);
    assert!(union.sent.is_empty() && union.send(7).is_none());
}

/// Who asks from a position on is not helped with what it lacks before.
#[test]
fn spans_before_the_first_octet_that_counts_say_nothing() {
    let mut union = five();
    let spans = [Span::new(5, 8), Span::new(25, 30)];
    let spans = Spans::new(0, &spans).unwrap();
    assert_eq!(union.report(25, spans, 50, (5, u64::MAX)), 20, "30 and 40");
}

#[test]
fn what_lies_before_others_is_not_noted() {
    let mut union = five();
    union.sent(stretch(40, 60), 6);
    union.sent(stretch(60, 60), 7);
    union.sent(stretch(70, 60), 8);
    assert_eq!(union.sent.len(), 5);
    union.sent(stretch(55, 60), 9);
    assert_eq!(union.sent.len(), 6);
}

#[test]
fn no_more_than_so_many_are_due_by_one_report() {
    let mut union = five();
    let spans = [Span::new(10, 20)];
    let spans = Spans::new(0, &spans).unwrap();
    assert_eq!(
        union.report(0, spans, 50, (5, 11)),
        11,
        "0 and 20, the second not for all of its octets"
    );
    assert_eq!(union.report(0, spans, 50, (5, 0)), 0);
    assert_eq!(
        union.report(0, spans, 50, (5, 10)),
        10,
        "30, beside those that are due already"
    );
    let sent: Vec<_> = (6..).map_while(|sync| union.send(sync)).collect();
    assert_eq!(sent, [stretch(0, 10), stretch(20, 30), stretch(30, 40)]);
}

#[test]
fn what_leaves_for_another_reason_leaves_once() {
    let mut union = five();
    assert_eq!(union.report(0, Spans::EMPTY, 50, (5, u64::MAX)), 50);
    union.again(stretch(15, 42), 6);
    assert_eq!(union.due(), 3, "two lie wholly in there");
    assert_eq!(union.report(0, Spans::EMPTY, 50, (5, u64::MAX)), 0);
    let sent: Vec<_> = (7..).map_while(|sync| union.send(sync)).collect();
    assert_eq!(sent, [stretch(0, 10), stretch(10, 20), stretch(40, 50)]);
    assert_eq!(union.report(0, Spans::EMPTY, 50, (6, u64::MAX)), 20);
}

/// For each octet the packet in which it left last, and whether it is due.
struct Octets(Vec<(u32, bool)>);

impl Octets {
    fn report(&mut self, had: &[bool], upto: usize, (echo, most): (u32, u64), pieces: &[Stretch]) {
        let mut due = 0;
        for piece in pieces {
            let range = piece.from as usize..piece.to as usize;
            let missing = range
                .clone()
                .any(|octet| piece.to as usize <= upto && !had[octet] && self.0[octet].0 <= echo);
            if missing && due < most && !self.0[range.start].1 {
                due += piece.to - piece.from;
                self.0[range].iter_mut().for_each(|octet| octet.1 = true);
            }
        }
    }
}

fn spans_of(had: &[bool]) -> (u64, Vec<Span>) {
    let rseq = had.iter().position(|had| !had).unwrap_or(had.len());
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for octet in (rseq..had.len()).filter(|octet| had[*octet]) {
        match spans.last_mut() {
            Some((_, right)) if *right == octet => *right += 1,
            _ => spans.push((octet, octet + 1)),
        }
    }
    let spans = spans
        .into_iter()
        .map(|(left, right)| Span::new(left as u64, right as u64));
    (rseq as u64, spans.collect())
}

/// How many octets may become due by one report.
fn most() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(u64::MAX), 1 => 0_u64..10]
}

proptest! {
    #[test]
    fn as_a_record_of_every_octet(
        lengths in prop::collection::vec(1_u64..5, 1..12),
        reports in prop::collection::vec((prop::collection::vec(any::<bool>(), 60), (0_u32..40, most()), 0_usize..60, 0_usize..6), 0..12),
    ) {
        let (mut union, mut pieces, mut model, mut sync) = (MissingUnion::new(), Vec::new(), Octets(Vec::new()), 0_u32);
        for length in lengths {
            let from = model.0.len() as u64;
            sync += 1;
            pieces.push(stretch(from, from + length));
            union.sent(stretch(from, from + length), sync);
            model.0.resize((from + length) as usize, (sync, false));
        }
        for (had, seen, upto, sends) in reports {
            let had = &had[..model.0.len()];
            let (rseq, spans) = spans_of(had);
            let upto = upto.min(had.len());
            union.report(rseq, Spans::new(rseq, &spans).unwrap(), upto as u64, seen);
            model.report(had, upto, seen, &pieces);
            for _ in 0..sends {
                sync += 1;
                let expected = pieces.iter().find(|piece| model.0[piece.from as usize].1);
                prop_assert_eq!(union.send(sync), expected.copied());
                if let Some(piece) = expected {
                    model.0[piece.from as usize..piece.to as usize].fill((sync, false));
                }
            }
            let due = pieces.iter().filter(|piece| model.0[piece.from as usize].1).count();
            prop_assert_eq!(union.due(), due);
        }
    }
}

#[test]
fn packets_that_are_repaired_otherwise_are_forgotten() {
    let mut union = MissingUnion::new();
    for (number, from) in [0, 10, 20, 30, 40].into_iter().enumerate() {
        union.sent(Stretch { from, to: from + 10 }, number as u32);
    }
    assert_eq!(union.report(0, Spans::EMPTY, 50, (5, u64::MAX)), 50);
    let block = Stretch { from: 10, to: 35 };
    assert_eq!(union.within(block), 2, "30 goes on beyond it");
    union.forget(block);
    assert_eq!((union.sent.len(), union.due()), (3, 3));
    let left: Vec<u64> = core::iter::from_fn(|| union.send(6))
        .map(|sent| sent.from)
        .collect();
    assert_eq!(left, [0, 30, 40]);
}
