//! Which reports show a member to be deaf.

use super::*;
use core::time::Duration;

const PACKET: u64 = 1_000;

/// A member of which a report comes every 50 ms, while ten packets leave.
struct Reports {
    hearing: Hearing,
    left: u64,
    now: Time,
}

impl Reports {
    fn new() -> Self {
        let mut reports = Self {
            hearing: Hearing::default(),
            left: 0,
            now: Time::ZERO,
        };
        reports.say(0, Shown::Spans(0), 200_000);
        reports
    }

    fn say(&mut self, rseq: u64, shown: Shown, rate: u64) -> bool {
        self.left += 10 * PACKET;
        self.now = self.now + Duration::from_millis(50);
        let after = SendRecord {
            at: self.now,
            octets: self.left,
        };
        self.hearing.note((rseq, shown), rate, after, PACKET, self.now);
        self.hearing.is_deaf()
    }
}

#[test]
fn who_has_nothing_new_of_a_train_is_deaf_until_something_comes() {
    let mut reports = Reports::new();
    let said = [(); 4].map(|()| reports.say(0, Shown::Spans(0), 2_000));
    assert_eq!(said, [false, true, true, true]);
    assert!(!reports.say(0, Shown::Spans(1_000), 22_000), "something came");
    assert!(
        !reports.say(0, Shown::Spans(1_000), 2_000),
        "that is less than a train ago"
    );
    assert!(reports.say(0, Shown::Spans(1_000), 2_000));
}

#[test]
fn whoever_has_a_part_is_not_deaf() {
    let progress = |step: u64| (step * PACKET, Shown::Spans(0));
    let beyond = |step: u64| (0, Shown::Spans(step * PACKET));
    let symbols = |step: u64| (0, Shown::Needs(step));
    for shown in [progress, beyond, symbols] {
        let mut reports = Reports::new();
        for step in 1..20 {
            let (rseq, shown) = shown(step);
            assert!(!reports.say(rseq, shown, 2_000));
        }
    }
    // All but the block that it lacks came to it: that its report does not say, but how much comes.
    let mut reports = Reports::new();
    for _ in 0..20 {
        assert!(!reports.say(0, Shown::Needs(3), 200_000));
    }
}

#[test]
fn what_two_formats_say_is_not_compared() {
    let mut reports = Reports::new();
    reports.say(0, Shown::Needs(0), 2_000);
    let said = [Shown::Spans(0), Shown::Needs(0), Shown::Spans(0)].map(|shown| reports.say(0, shown, 2_000));
    assert_eq!(said, [false, true, true]);
}
