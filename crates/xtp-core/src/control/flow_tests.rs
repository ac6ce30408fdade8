//! Tests of credit: monotone alloc, window updates, the silly-window rule.

use proptest::prelude::*;

use super::*;

#[test]
fn alloc_never_falls_below_what_was_granted() {
    let mut credit = ReaderCredit::new(1_000, 11_680);
    assert_eq!(credit.alloc(0), 11_680);
    assert_eq!(credit.advertise(10_000), 11_680);
    assert_eq!(credit.advertise(11_000), 12_000);
    assert_eq!(
        (credit.alloc(0), credit.advertised(), credit.capacity()),
        (12_000, 12_000, 1_000)
    );
}

#[test]
fn update_needs_little_left_and_much_to_give() {
    let credit = ReaderCredit::new(16_000, 16_000);
    // Low water is min(2 x 1000, 8000); a quarter of the capacity is 4000.
    assert!(!credit.needs_update(14_000, 14_000, 1_000));
    assert!(credit.needs_update(14_001, 14_000, 1_000));
    assert!(!credit.needs_update(16_000, 3_999, 1_000));
    assert!(credit.needs_update(16_000, 4_000, 1_000));
}

#[test]
fn tiny_capacities_are_updated_too() {
    for capacity in [0, 1, 2, 3, 399] {
        let credit = ReaderCredit::new(capacity, capacity.max(1));
        let full = capacity.max(1);
        assert!(!credit.needs_update(full, 0, 1_168), "capacity {capacity}");
        assert!(credit.needs_update(full, full, 1_168), "capacity {capacity}");
    }
}

#[test]
fn reserve_grants_posted_buffers_only() {
    let mut credit = ReaderCredit::new(1 << 20, 100);
    credit.post(1 << 30);
    assert_eq!(credit.alloc(0), 1 << 20);
    credit.reserve(0);
    credit.reserve(77);
    assert_eq!(credit.alloc(0), 100);
    credit.post(40);
    assert_eq!(credit.alloc(0), 100);
    credit.post(5_000);
    assert_eq!(credit.alloc(0), 5_040);
    // Delivering gives nothing back: the buffers are used up.
    assert_eq!(credit.advertise(5_000), 5_040);
    assert!(!credit.needs_update(5_040, 5_040, 1_000));
    credit.post(10);
    assert!(credit.needs_update(5_040, 5_040, 1_000));
    assert!(!credit.needs_update(5_030, 5_030, 1_000));
    credit.post(2_000);
    assert!(credit.needs_update(5_030, 5_030, 1_000));
    credit.post(u64::MAX);
    assert_eq!(credit.alloc(0), 1 << 40);
}

#[test]
fn what_is_posted_is_granted_as_far_as_the_memory_of_all_allows() {
    let mut credit = ReaderCredit::new(1 << 20, 100);
    credit.reserve(0);
    credit.post(5_000);
    credit.set_share(2_000);
    assert_eq!(credit.advertise(0), 2_000);
    // The rest follows when there is room: until then it is short, also of a rest that is small.
    assert!(!credit.is_short(0, 0, 500), "it has enough");
    assert!(credit.is_short(2_000, 0, 500));
    assert!(!credit.needs_update(2_000, 0, 500));
    credit.set_share(4_990);
    assert!(credit.needs_update(2_000, 0, 500) && !credit.is_short(2_000, 0, 500));
    assert_eq!(credit.advertise(0), 4_990);
    assert!(credit.is_short(4_990, 0, 500), "10 are missing");
    assert!(!credit.is_short(4_989, 0, 500), "it can go on");
    credit.set_share(u64::MAX);
    assert!(credit.needs_update(4_990, 0, 500));
    assert_eq!(credit.advertise(0), 5_000);
    assert!(!credit.is_short(5_000, 0, 500), "nothing else is posted");
}

#[test]
fn a_small_share_is_granted_again_in_steps_of_its_own_size() {
    let mut credit = ReaderCredit::new(1 << 20, 100);
    credit.set_share(2_000);
    assert_eq!(credit.advertise(0), 2_000);
    assert!(!credit.needs_update(900, 900, 1_500), "it has enough");
    assert!(!credit.needs_update(1_200, 900, 1_500), "too little is free");
    assert!(credit.needs_update(1_200, 1_000, 1_500));
}

#[test]
fn dreq_is_answered_when_consumed_and_credit_reported_at_half() {
    let mut credit = ReaderCredit::new(1_000, 1_000);
    assert_eq!(credit.dreq_report(900, 100, 599), None);
    assert_eq!(credit.dreq_report(900, 100, 600), Some(DreqReport::Credit));
    assert_eq!(credit.dreq_report(900, 100, 900), Some(DreqReport::Answer));
    credit.advertise(600);
    assert_eq!(credit.dreq_report(900, 100, 600), None);
}

#[test]
fn writer_credit_grows_only() {
    let mut credit = WriterCredit::new(500, 12_180);
    assert_eq!(credit.max_seen, 11_680);
    assert!(!credit.raise(12_180, 600) && !credit.raise(3, 0));
    assert!(credit.raise(13_000, 12_500));
    assert_eq!((credit.alloc, credit.max_seen), (13_000, 11_680));
    assert!(credit.raise(30_000, 13_000));
    assert_eq!(credit.max_seen, 17_000);
}

#[test]
fn silly_window_rule() {
    let credit = WriterCredit::new(0, 10_000);
    assert_eq!(credit.allows(0, 1_000, 1_000, false), Allowed::Full(1_000));
    assert_eq!(credit.allows(10_000, 1_000, 1_000, true), Allowed::None);
    assert_eq!(credit.allows(10_001, 1, 1_000, true), Allowed::None);
    // 999 octets of credit are too few for a part, but not for an end.
    assert_eq!(credit.allows(9_001, 1_000, 1_000, true), Allowed::Silly);
    assert_eq!(credit.allows(9_001, 500, 1_000, true), Allowed::Full(500));
    assert_eq!(credit.allows(9_001, 500, 1_000, false), Allowed::Silly);

    // A piece that is short for another reason than credit may go.
    assert_eq!(credit.allows(0, 8, 1_000, false), Allowed::Full(8));
    // Half of the largest credit is enough where the reader is small.
    let small = WriterCredit::new(0, 800);
    assert_eq!(small.allows(400, 1_000, 1_000, false), Allowed::Full(400));
    assert_eq!(small.allows(401, 1_000, 1_000, false), Allowed::Silly);
}

/// A reader that granted much at first grants as much as a buffer of its user holds, which is less than a packet.
#[test]
fn a_window_that_became_small_is_filled_soon() {
    let mut credit = WriterCredit::new(0, 20_000);
    credit.raise(22_000, 20_000);
    assert_eq!(credit.allows(20_000, 9_000, 9_000, false), Allowed::Silly);
    let mut words = 0;
    while credit.allows(20_000, 9_000, 9_000, false) == Allowed::Silly {
        credit.is_all(20_000);
        words += 1;
    }
    assert_eq!(words, 3, "a part of its window does not become all of it at once");
    for _ in 0..10 {
        credit.is_all(20_000);
    }
    assert_eq!(credit.max_seen, 2_000);
    // Half of the small window is what half of the large one was.
    assert_eq!(credit.allows(21_001, 9_000, 9_000, false), Allowed::Silly);
    credit.raise(50_000, 22_000);
    assert_eq!(
        credit.max_seen, 28_000,
        "a window that is large again counts at once"
    );
}

proptest! {
    /// A writer and a reader with in-order delivery, no loss and no timers: credit alone never stops them, as long
    /// as the writer's silly-window floor is one the reader's update reaches.
    #[test]
    fn a_stream_never_stands_still(
        maxdata in 1u32..2_000,
        factor in 2u64..9,
        length in 1u64..60_000,
        reads in prop::collection::vec(1u64..5_000, 1..20),
    ) {
        let capacity = u64::from(maxdata) * factor;
        let mut reader = ReaderCredit::new(capacity, capacity);
        let mut writer = WriterCredit::new(0, capacity);
        let (mut next, mut delivered, mut turn, mut updates) = (0, 0, 0, 0u64);
        while delivered < length {
            loop {
                let want = (length - next).min(u64::from(maxdata));
                let Allowed::Full(octets) = writer.allows(next, want, maxdata, next + want == length) else { break };
                next += octets;
            }
            prop_assert!(next <= writer.alloc && next - delivered <= capacity);
            prop_assert!(next > delivered, "stands still at {next} of {length}");
            delivered += reads[turn % reads.len()].min(next - delivered);
            turn += 1;
            if reader.needs_update(next, delivered, maxdata) {
                updates += 1;
                let alloc = reader.advertise(delivered);
                prop_assert!(writer.raise(alloc, next));
            }
        }
        prop_assert!(updates <= 1 + 4 * length / capacity, "{updates} updates");
    }
}

#[test]
fn no_grant_reaches_beyond_what_peers_believe() {
    let mut credit = ReaderCredit::new(u64::MAX, 0);
    assert_eq!(credit.alloc(100), 100 + (1 << 40));
    credit.reserve(0);
    credit.post(u64::MAX);
    assert_eq!(credit.advertise(7), 7 + (1 << 40));
}
