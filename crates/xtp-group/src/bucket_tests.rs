//! Buckets against sets of octets and lists that forget nothing.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn reply(member: u32, echo: u32, rseq: u64, spans: &[(u64, u64)]) -> BucketReply {
    BucketReply {
        member,
        echo,
        rseq,
        alloc: rseq + 100,
        round_trip: Some(MS * (member + 1)),
        spans: SmallVec::from_slice(spans),
    }
}

#[test]
fn a_reply_is_filed_by_the_question_it_has_seen() {
    let mut buckets = Buckets::new(3);
    for (sync, at) in [(10, 0), (20, 1), (30, 2)] {
        assert_eq!(buckets.open(sync, Time::ZERO + MS * at), None);
    }
    assert!(!buckets.reply(&reply(0, 9, 5, &[])), "it has seen none of them");
    assert!(buckets.reply(&reply(0, 25, 50, &[])), "the second");
    assert!(!buckets.reply(&reply(64, 25, 0, &[])), "no such member");
    assert!(buckets.reply(&reply(1, 29, 40, &[(60, 70)])));
    assert_eq!(
        buckets.open(40, Time::ZERO + MS * 3),
        None,
        "nobody answered the first"
    );
    let oldest = buckets
        .open(50, Time::ZERO + MS * 4)
        .expect("two answered the second");
    assert_eq!(
        (oldest.sync, oldest.answered, oldest.rseq, oldest.alloc),
        (20, 0b11, 40, 140)
    );
    assert_eq!(oldest.round_trip, Some(MS * 2));
    assert!(oldest.spans().is_empty(), "the other has nothing beyond its 50");
}

#[test]
fn ripe_are_the_oldest_first() {
    let mut buckets = Buckets::new(4);
    let (start, patience) = (Time::ZERO, MS * 10);
    assert_eq!(
        (buckets.ripe(start, 1, patience), buckets.deadline(patience)),
        (None, None)
    );
    buckets.open(1, start);
    buckets.open(2, start + MS);
    buckets.reply(&reply(0, 2, 7, &[]));
    buckets.reply(&reply(1, 2, 9, &[]));
    assert_eq!(
        buckets.ripe(start + MS * 9, 0b11, patience),
        None,
        "the oldest waits for both"
    );
    assert_eq!(buckets.deadline(patience), Some(start + MS * 10));
    let late = buckets
        .ripe(start + MS * 10, 0b11, patience)
        .expect("too old to wait");
    assert_eq!((late.answered, late.rseq), (0, u64::MAX));
    let full = buckets
        .ripe(start + MS * 10, 0b11, patience)
        .expect("both answered");
    assert_eq!((full.answered, full.rseq), (0b11, 7));
}

#[test]
fn at_least_one_bucket() {
    let mut buckets = Buckets::new(0);
    assert_eq!(buckets.open(1, Time::ZERO), None);
    assert!(buckets.reply(&reply(0, 1, 3, &[])));
    assert!(buckets.open(2, Time::ZERO).is_some());
}

#[test]
fn more_ranges_than_are_kept_claim_less() {
    let spans: Vec<(u64, u64)> = (1..=100).map(|at| (at * 10, at * 10 + 5)).collect();
    let mut buckets = Buckets::new(1);
    buckets.open(1, Time::ZERO);
    buckets.reply(&reply(0, 1, 5, &spans));
    let bucket = buckets.ripe(Time::ZERO, 1, MS).expect("its only member answered");
    assert_eq!(
        bucket.spans()[..],
        spans[..MOST_RANGES - 1],
        "one more is what lies below rseq"
    );
}

/// Ascending ranges apart from each other, out of a set of octets.
fn ranges(octets: &BTreeSet<u64>) -> SmallVec<[(u64, u64); 4]> {
    let mut ranges: SmallVec<[(u64, u64); 4]> = SmallVec::new();
    for octet in octets {
        match ranges.last_mut() {
            Some((_, right)) if right == octet => *right += 1,
            _ => ranges.push((*octet, octet + 1)),
        }
    }
    ranges
}

/// A reply, and all octets its member has.
fn any_reply(member: u32) -> impl Strategy<Value = (BucketReply, BTreeSet<u64>)> {
    let parts = (
        0_u32..6,
        0_u64..12,
        prop::collection::btree_set(0_u64..30, 0..20),
        0_u64..3,
    );
    parts.prop_map(move |(echo, rseq, beyond, room)| {
        let beyond: BTreeSet<u64> = beyond.into_iter().filter(|octet| *octet > rseq).collect();
        let said = BucketReply {
            alloc: rseq + room,
            ..reply(member, echo, rseq, &ranges(&beyond))
        };
        (said, (0..rseq).chain(beyond).collect())
    })
}

const PATIENCE: Duration = Duration::from_millis(7);

/// A question, and all replies to it.
#[derive(Debug, Clone, Default)]
struct Question {
    sync: u32,
    at: Time,
    replies: Vec<(u32, u64)>,
    taken: bool,
}

impl Question {
    fn who(&self) -> u64 {
        self.replies.iter().fold(0, |who, (member, _)| who | 1 << member)
    }

    fn is_ripe(&self, now: Time, members: u64) -> bool {
        members & !self.who() == 0 || now >= self.at + PATIENCE
    }
}

#[derive(Debug, Default)]
struct Questions {
    asked: Vec<Question>,
}

impl Questions {
    fn open(&self) -> Vec<Question> {
        self.asked.iter().filter(|asked| !asked.taken).cloned().collect()
    }

    /// Takes the oldest that is open if so; its number, who answered, and the least they have.
    fn take_if(&mut self, so: impl Fn(&[Question]) -> bool) -> Option<(u32, u64, u64)> {
        let open = self.open();
        if !so(&open) {
            return None;
        }
        let oldest = self.asked.iter_mut().find(|asked| !asked.taken)?;
        oldest.taken = true;
        let least = oldest.replies.iter().map(|(_, rseq)| *rseq).min();
        Some((oldest.sync, oldest.who(), least.unwrap_or(u64::MAX)))
    }
}

fn seen(bucket: &Bucket) -> (u32, u64, u64) {
    (bucket.sync, bucket.answered, bucket.rseq)
}

#[derive(Debug, Clone)]
enum Step {
    Open,
    Reply(BucketReply),
    Ripe(u64),
    Wait(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let said =
        (0_u32..2, 0_u32..30, 0_u64..50).prop_map(|(member, echo, rseq)| reply(member, echo, rseq, &[]));
    prop_oneof![
        3 => Just(Step::Open),
        5 => said.prop_map(Step::Reply),
        2 => (1_u64..4).prop_map(Step::Ripe),
        2 => (0_u32..5).prop_map(Step::Wait),
    ]
}

proptest! {
    /// What a bucket says everybody has is what is in all sets.
    #[test]
    fn what_all_have(one in any_reply(0), two in any_reply(1), three in any_reply(2)) {
        let mut buckets = Buckets::new(1);
        buckets.open(0, Time::ZERO);
        for (said, _) in [&one, &two, &three] {
            buckets.reply(said);
        }
        let bucket = buckets.ripe(Time::ZERO, 0b111, MS).expect("all answered");
        let all: BTreeSet<u64> = one.1.iter().copied().filter(|octet| two.1.contains(octet) && three.1.contains(octet)).collect();
        let claimed = (0..bucket.rseq).chain(bucket.spans().into_iter().flat_map(|(left, right)| left..right));
        prop_assert_eq!(claimed.collect::<BTreeSet<_>>(), all);
        prop_assert_eq!(bucket.alloc, one.0.alloc.min(two.0.alloc).min(three.0.alloc));
    }

    /// A reply is kept back exactly if the bucket would be the same without it, and it has seen nothing newer.
    #[test]
    fn damping_loses_nothing(heard in any_reply(0), mine in any_reply(1)) {
        let less = heard.1.is_subset(&mine.1) && heard.0.rseq <= mine.0.rseq && heard.0.alloc <= mine.0.alloc;
        let as_new = heard.0.echo >= mine.0.echo;
        prop_assert_eq!(heard.0.says_it_all(&mine.0), less && as_new);
        if heard.0.says_it_all(&mine.0) {
            let filed = |replies: &[&BucketReply]| {
                let mut buckets = Buckets::new(1);
                buckets.open(0, Time::ZERO);
                replies.iter().for_each(|said| assert!(buckets.reply(said)));
                let bucket = buckets.ripe(Time::ZERO, 1, MS).expect("the first answered");
                (bucket.rseq, bucket.alloc, bucket.spans())
            };
            prop_assert_eq!(filed(&[&heard.0]), filed(&[&heard.0, &mine.0]));
        }
    }

    /// The ring against a list of all questions that forgets nothing, and of all replies to each.
    #[test]
    fn as_a_list_of_all_questions(count in 1_usize..5, steps in prop::collection::vec(step(), 0..80)) {
        let (mut buckets, mut model, mut now) = (Buckets::new(count), Questions::default(), Time::ZERO);
        for step in steps {
            match step {
                Step::Open => {
                    model.asked.push(Question { sync: model.asked.len() as u32 + 1, at: now, ..Question::default() });
                    let oldest = model.take_if(|open| open.len() > count);
                    let opened = buckets.open(model.asked.len() as u32, now);
                    prop_assert_eq!(opened.map(|bucket| seen(&bucket)), oldest.filter(|(_, who, _)| *who != 0));
                }
                Step::Reply(said) => {
                    let to = model.asked.iter_mut().rev().find(|asked| !asked.taken && asked.sync <= said.echo);
                    prop_assert_eq!(buckets.reply(&said), to.is_some());
                    if let Some(asked) = to {
                        asked.replies.push((said.member, said.rseq));
                    }
                }
                Step::Ripe(members) => {
                    let ripe = model.take_if(|open| {
                        open.iter().any(|one| one.who() != 0) && open.first().is_some_and(|one| one.is_ripe(now, members))
                    });
                    prop_assert_eq!(buckets.ripe(now, members, PATIENCE).map(|bucket| seen(&bucket)), ripe);
                }
                Step::Wait(time) => now = now + MS * time,
            }
            let open = model.open();
            prop_assert_eq!(buckets.is_unanswered(), !open.is_empty() && open.iter().all(|one| one.who() == 0));
            let late = open.iter().filter(|one| one.who() & 0b11 != 0b11).map(|one| one.at + PATIENCE).max();
            prop_assert_eq!(buckets.all_ripe_at(0b11, PATIENCE), late);
            let first = open.first().filter(|_| !buckets.is_unanswered()).map(|one| one.at + PATIENCE);
            prop_assert_eq!(buckets.deadline(PATIENCE), first);
        }
    }
}
