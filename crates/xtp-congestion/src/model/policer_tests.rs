//! What shows a policer, and what is only chance.

use super::*;
use core::time::Duration;

const SEGMENT: u64 = 1_000;
const PACKETS: u64 = 200;
const RATE: u64 = 800_000;

/// A round that lost so many of its packets, some in nearly each report.
fn round(lost: u64) -> Round {
    let mut round = Round::default();
    (0..8).for_each(|_| round.sample(Duration::from_millis(20), false));
    (round.lost, round.losses) = (lost * SEGMENT, if lost > 0 { 6 } else { 0 });
    round
}

fn tell(policer: &mut Policer, lost: u64) -> Finding {
    let came = ((PACKETS - lost) * SEGMENT, RATE);
    policer.on_round(&round(lost), came, SEGMENT, lost > PACKETS / 12, false)
}

/// One that showed, to the end of its test.
fn found() -> Policer {
    let mut policer = Policer::default();
    let findings = [60, 60, 60, 40, 0, 0].map(|lost| tell(&mut policer, lost));
    assert_eq!(findings[1], Finding::Lower);
    let lowered = findings.iter().filter(|&&finding| finding != Finding::Nothing);
    assert_eq!(lowered.count(), 1, "not twice for what was lost before");
    policer
}

#[test]
fn lasting_loss_that_ends_at_a_lower_rate_is_a_policers() {
    let mut policer = found();
    assert!(policer.is_known());
    assert_eq!((policer.patience(), policer.limit()), (1, RATE * 9 / 8));
    assert_eq!(tell(&mut policer, 3), Finding::Nothing, "too little");
    assert_eq!(tell(&mut policer, 8), Finding::Lower, "from now on less suffices");
    assert_eq!(policer.patience(), 2);
}

#[test]
fn loss_that_goes_on_is_chance() {
    let mut policer = Policer::default();
    let findings: Vec<_> = (0..REST).map(|_| tell(&mut policer, 60)).collect();
    let count = |what| findings.iter().filter(|&&finding| finding == what).count();
    assert_eq!(count(Finding::Lower), LOWERINGS as usize);
    assert_eq!(count(Finding::Restore), 1);
    assert_eq!((policer.is_known(), policer.limit()), (false, u64::MAX));
}

#[test]
fn a_burst_and_loss_with_a_queue_show_none() {
    let mut policer = Policer::default();
    for lost in [60, 0, 60, 0, 10, 10, 10] {
        assert_eq!(tell(&mut policer, lost), Finding::Nothing);
    }
    let mut few = round(60);
    few.losses = 1;
    for (round, queue) in [(few, false), (round(60), true)] {
        for _ in 0..4 {
            let finding = policer.on_round(&round, (140 * SEGMENT, RATE), SEGMENT, true, queue);
            assert_eq!(finding, Finding::Nothing);
        }
    }
    assert!(!policer.is_known());
}

#[test]
fn it_is_forgotten_when_probes_show_it_no_more() {
    let mut policer = found();
    policer.on_probe();
    assert_eq!((policer.patience(), policer.limit()), (1, u64::MAX), "it showed");
    policer.on_probe();
    assert!(!policer.is_known());
}
