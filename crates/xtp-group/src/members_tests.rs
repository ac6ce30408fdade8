//! The index against a list that is sorted for every question.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Set(u32, u64),
    Remove(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let rseq = prop_oneof![0_u64..6, 0_u64..1000, Just(u64::MAX)];
    prop_oneof![
        6 => (0_u32..24, rseq).prop_map(|(member, rseq)| Step::Set(member, rseq)),
        1 => (0_u32..40).prop_map(Step::Remove),
    ]
}

/// All questions, answered by sorting.
fn compare(index: &MemberIndex, model: &BTreeMap<u32, u64>) -> Result<(), TestCaseError> {
    let mut sorted: Vec<MemberPosition> = model
        .iter()
        .map(|(member, rseq)| MemberPosition {
            rseq: *rseq,
            member: *member,
        })
        .collect();
    sorted.sort_unstable();
    prop_assert_eq!(index.len(), sorted.len());
    prop_assert_eq!(&index.ordered, &sorted);
    for count in 0..=sorted.len() + 1 {
        let reached = |position: u64| sorted.iter().filter(|place| place.rseq >= position).count() >= count;
        let best = sorted
            .iter()
            .map(|place| place.rseq)
            .filter(|position| reached(*position))
            .max();
        prop_assert_eq!(
            index.reached_by(count),
            best.filter(|_| count > 0),
            "{} of {}",
            count,
            sorted.len()
        );
    }
    prop_assert_eq!(
        index.quorum(),
        sorted.get(sorted.len() / 2).map(|place| place.rseq)
    );
    Ok(())
}

proptest! {
    #[test]
    fn as_a_list_that_is_sorted_each_time(steps in prop::collection::vec(step(), 0..60)) {
        let (mut index, mut model) = (MemberIndex::new(), BTreeMap::new());
        for step in steps {
            match step {
                Step::Set(member, rseq) => {
                    index.set(member, rseq);
                    model.insert(member, rseq);
                }
                Step::Remove(member) => prop_assert_eq!(index.remove(member), model.remove(&member)),
            }
            compare(&index, &model)?;
        }
    }
}

/// Every order in which four members reach one of three positions, twice.
#[test]
fn every_order_of_few() {
    for code in 0..12_u32.pow(4) {
        let (mut index, mut model, mut left) = (MemberIndex::new(), BTreeMap::new(), code);
        for _ in 0..4 {
            let (member, rseq) = (left % 4, u64::from(left / 4 % 3));
            left /= 12;
            index.set(member, rseq);
            model.insert(member, rseq);
        }
        compare(&index, &model).unwrap_or_else(|error| panic!("{code}: {error}"));
    }
}

#[test]
fn half_of_an_odd_number_is_more_than_half() {
    let mut index = MemberIndex::new();
    assert_eq!(index.quorum(), None);
    for (member, rseq) in [(0, 10), (1, 20), (2, 30)] {
        index.set(member, rseq);
    }
    assert_eq!(index.quorum(), Some(20), "two of three");
    index.set(3, 40);
    assert_eq!(index.quorum(), Some(30), "two of four");
}
