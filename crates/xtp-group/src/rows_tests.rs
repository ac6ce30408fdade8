//! Accounts of rows against one that remembers every row for ever, and the claim itself: nothing is sent twice for one need.

use proptest::prelude::*;

use super::*;

#[test]
fn a_report_is_given_what_it_could_not_have_seen() {
    let mut account = RowAccount::new(64);
    assert_eq!(account.report(3, 100), 3);
    assert_eq!(account.report(3, 100), 0, "they wait");
    assert_eq!(account.report(5, 100), 2, "a needier one");
    let first: Vec<_> = (101..=103).filter_map(|sync| account.send(sync)).collect();
    assert_eq!(first.iter().map(|next| next.row).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(first.iter().all(|next| !next.last));
    assert_eq!(account.report(3, 100), 0, "three are under way, two wait");
    assert_eq!(
        account.report(3, 103),
        1,
        "it has seen all three and needs three still: two wait"
    );
    assert_eq!(account.scheduled(), 3);
    let rest: Vec<_> = (104..=107).filter_map(|sync| account.send(sync)).collect();
    assert_eq!(
        rest.iter().map(|next| next.last).collect::<Vec<_>>(),
        [false, false, true]
    );
    assert_eq!(account.send(108), None);
}

#[test]
fn syncs_wrap() {
    let mut account = RowAccount::new(8);
    account.report(2, u32::MAX - 1);
    account.send(u32::MAX);
    account.send(0);
    assert_eq!(
        account.report(2, u32::MAX),
        1,
        "the first was seen, the second not"
    );
    assert_eq!(account.report(2, 0), 1, "both were seen, one waits");
}

#[test]
fn rows_come_round_and_a_liar_gets_no_more_than_there_are() {
    let mut account = RowAccount::new(3);
    assert_eq!(account.report(u16::MAX, 9), 3);
    let rows: Vec<u8> = (10..20)
        .filter_map(|sync| Some(account.send(sync)?.row))
        .collect();
    assert_eq!(rows, [0, 1, 2]);
    assert_eq!(account.report(u16::MAX, 9), 0, "all three are under way");
    assert_eq!(account.report(2, 20), 2, "all were lost");
    assert_eq!(account.send(21).map(|next| next.row), Some(0));
    account.schedule(u16::MAX);
    assert_eq!(account.scheduled(), 3);
}

/// Every row ever sent.
#[derive(Default)]
struct Remembers {
    sent: Vec<u32>,
    waits: usize,
}

impl Remembers {
    fn report(&mut self, need: usize, echo: u32, rows: usize) -> usize {
        let unseen = self.sent.iter().filter(|sync| **sync > echo).count();
        // More rows than there are can not be of use, and the account remembers no more of them.
        let added = need.min(rows).saturating_sub(unseen.min(rows) + self.waits);
        self.waits += added;
        added
    }
}

#[derive(Debug, Clone)]
enum Step {
    Report { need: u16, back: u32 },
    Send,
    Other(u32),
    Proactive(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_u16..20, 0_u32..60).prop_map(|(need, back)| Step::Report { need, back }),
        4 => Just(Step::Send),
        1 => (1_u32..20).prop_map(Step::Other),
        1 => (0_u16..3).prop_map(Step::Proactive),
    ]
}

proptest! {
    #[test]
    fn as_one_that_remembers_all(rows in 1_u8..20, steps in prop::collection::vec(step(), 0..200)) {
        let (mut account, mut model, mut sync) = (RowAccount::new(rows), Remembers::default(), 1000_u32);
        for step in steps {
            match step {
                Step::Report { need, back } => {
                    let expected = model.report(need.into(), sync - back, rows.into());
                    prop_assert_eq!(usize::from(account.report(need, sync - back)), expected);
                }
                Step::Send => {
                    sync += 1;
                    let next = account.send(sync);
                    prop_assert_eq!(next.is_some(), model.waits > 0);
                    if let Some(next) = next {
                        prop_assert_eq!(usize::from(next.row), model.sent.len() % usize::from(rows));
                        model.sent.push(sync);
                        model.waits -= 1;
                        prop_assert_eq!(next.last, model.waits == 0);
                    }
                }
                Step::Other(packets) => sync += packets,
                Step::Proactive(more) => {
                    account.schedule(more);
                    model.waits = (model.waits + usize::from(more)).min(rows.into());
                }
            }
            prop_assert_eq!(usize::from(account.scheduled()), model.waits);
        }
    }

    /// Receivers that each lost some of a block and see each row or not: all become whole, and no more rows leave than the
    /// neediest lost, plus those that were lost themselves on the way to whoever was the neediest of its round.
    #[test]
    fn nobody_is_sent_what_is_on_its_way(
        lost in prop::collection::vec(0_u16..12, 1..6),
        drops in prop::collection::vec(any::<[u8; 6]>(), 64),
        delay in 0_usize..6,
    ) {
        let mut account = RowAccount::new(64);
        let mut need: Vec<u16> = lost;
        let mut seen = vec![0_u32; need.len()];
        let (mut sync, mut total, mut wire) = (0_u32, 0, VecDeque::new());
        let most: u16 = need.iter().copied().max().unwrap_or(0);
        let mut lost_rows = 0;
        for round in 0..400 {
            for (receiver, need) in need.iter().enumerate().filter(|(_, need)| **need > 0) {
                account.report(*need, seen[receiver]);
            }
            sync += 1;
            wire.push_back((sync, account.send(sync).is_some()));
            total += u16::from(wire.back().is_some_and(|(_, row)| *row));
            if wire.len() <= delay {
                continue;
            }
            let (arrived, row) = wire.pop_front().expect("longer than the delay");
            let drop = if round < drops.len() { drops[round] } else { [255; 6] };
            for receiver in 0..need.len() {
                if drop[receiver] < 64 {
                    lost_rows += u16::from(row);
                    continue;
                }
                seen[receiver] = arrived;
                need[receiver] = need[receiver].saturating_sub(u16::from(row));
            }
        }
        prop_assert!(need.iter().all(|need| *need == 0), "all are whole");
        prop_assert!(total <= most + lost_rows, "{} rows for {} and {} lost", total, most, lost_rows);
    }
}
