//! Tests of the controllers through the common trait.

use proptest::prelude::*;

use super::*;

const SEGMENT: u32 = 1_000;
const RTT: Duration = Duration::from_millis(100);
const LOST: Lost = Lost {
    octets: 1_000,
    gaps: 1,
};

fn cubic() -> CongestionControl {
    CongestionControl::new(CongestionKind::Cubic, SEGMENT)
}

/// An acknowledgement of a full window's worth of octets.
fn ack(control: &CongestionControl, now: Time, octets: u64) -> Ack {
    let in_flight_before = control.window();
    Ack {
        now,
        echo: 0,
        octets,
        rtt: Some(RTT),
        srtt: Some(RTT),
        in_flight_before,
        app_limited: false,
    }
}

/// One round trip, acknowledged in quarters.
fn round(control: &mut CongestionControl, now: &mut Time) {
    let window = control.window();
    for _ in 0..4 {
        *now = *now + RTT / 4;
        let ack = ack(control, *now, window / 4);
        control.on_ack(ack);
    }
}

/// Loss of something sent just now.
fn lose(control: &mut CongestionControl, now: Time) {
    control.on_loss(now, now, LOST, control.window());
}

#[test]
fn fixed_never_limits() {
    let mut control = CongestionControl::new(CongestionKind::Fixed, SEGMENT);
    let mut now = Time::ZERO;
    round(&mut control, &mut now);
    lose(&mut control, now);
    control.on_ce(now, now);
    control.on_timeout();
    control.on_idle(9);
    control.on_path_change();
    control.set_segment(1);
    assert_eq!(
        (control.window(), control.pacing_rate(Some(RTT))),
        (u64::MAX, None)
    );
}

#[test]
fn starts_with_ten_packets_and_doubles() {
    let mut control = CongestionControl::new(CongestionKind::Cubic, SEGMENT);
    let mut now = Time::ZERO;
    assert_eq!(control.window(), 10_000);
    for expected in [20_000, 40_000, 80_000] {
        round(&mut control, &mut now);
        assert_eq!(control.window(), expected);
    }
}

#[test]
fn paces_twice_the_window_in_slow_start_and_a_quarter_more_after() {
    let mut control = cubic();
    assert_eq!(control.pacing_rate(None), None);
    assert_eq!(control.pacing_rate(Some(RTT)), Some(200_000));
    lose(&mut control, Time::from_nanos(1));
    assert_eq!(control.window(), 7_000);
    assert_eq!(control.pacing_rate(Some(RTT)), Some(87_500));
    assert_eq!(control.pacing_rate(Some(Duration::ZERO)), Some(8_750_000_000));
}

#[test]
fn reacts_once_a_round_trip() {
    let mut control = cubic();
    let (sent, now) = (Time::from_nanos(500), Time::from_nanos(1_000));
    control.on_loss(now, sent, LOST, 10_000);
    control.on_loss(now + RTT, now, LOST, 10_000);
    control.on_ce(now + RTT, sent);
    assert_eq!(control.window(), 7_000);
    control.on_ce(now + RTT, now + Duration::from_nanos(1));
    assert_eq!(control.window(), 4_900);
    for turn in 2..40 {
        lose(&mut control, now + RTT * turn);
    }
    assert_eq!(control.window(), 2_000, "never below two packets");
}

#[test]
fn cubic_is_back_at_the_old_window_after_k() {
    let mut control = cubic();
    let mut now = Time::ZERO;
    while control.window() < 1_000_000 {
        round(&mut control, &mut now);
    }
    let top = control.window() as f64;
    lose(&mut control, now);
    assert_eq!(control.window(), (top * 0.7) as u64);
    // K = cbrt(w_max (1 - beta) / C) in segments and seconds.
    let k = (top / 1_000.0 * 0.3 / 0.4).cbrt();
    let start = now;
    while now.since(start).as_secs_f64() < k {
        assert!((control.window() as f64) < top * 1.01);
        round(&mut control, &mut now);
    }
    let at_k = control.window() as f64;
    assert!((0.97..1.03).contains(&(at_k / top)), "{at_k} of {top}");
    // Then convex: the second K gains far more than the first half second.
    round(&mut control, &mut now);
    let plateau = control.window() as f64 - at_k;
    while now.since(start).as_secs_f64() < 2.0 * k {
        round(&mut control, &mut now);
    }
    assert!(control.window() as f64 - top > 20.0 * plateau);
}

#[test]
fn growth_per_round_is_at_most_half() {
    let mut control = cubic();
    let mut now = Time::from_nanos(1);
    lose(&mut control, now);
    round(&mut control, &mut now);
    now = now + Duration::from_secs(1_000);
    let before = control.window();
    let ack = ack(&control, now, before);
    control.on_ack(ack);
    assert!(control.window() > before && control.window() <= before * 3 / 2);
}

#[test]
fn small_windows_grow_like_reno() {
    let mut control = cubic();
    let mut now = Time::from_nanos(1);
    lose(&mut control, now);
    let before = control.window();
    // Ten rounds at a short round trip: cubic alone would gain far less than alpha = 0.53 segments a round.
    for _ in 0..10 {
        now = now + Duration::from_millis(2);
        let window = control.window();
        let srtt = Some(Duration::from_millis(2));
        let ack = Ack {
            echo: 0,
            now,
            octets: window,
            rtt: srtt,
            srtt,
            in_flight_before: window,
            app_limited: false,
        };
        control.on_ack(ack);
    }
    let gained = control.window() - before;
    assert!((4_500..10_000).contains(&gained), "{gained}");
}

#[test]
fn fast_convergence_lowers_the_plateau() {
    let settle = |losses: u32| {
        let mut control = cubic();
        let mut now = Time::ZERO;
        while control.window() < 640_000 {
            round(&mut control, &mut now);
        }
        for _ in 0..losses {
            now = now + RTT;
            lose(&mut control, now);
        }
        let CongestionControl::Cubic(inner) = control else {
            panic!("not cubic")
        };
        inner.plateau()
    };
    assert_eq!(settle(1), 640_000);
    // The second time the window (448 000) was below the plateau: (1 + beta)/2 of it.
    assert_eq!(settle(2), 380_800);
}

#[test]
fn growing_delay_ends_slow_start() {
    let mut control = cubic();
    let (mut now, mut rounds) = (Time::ZERO, 0);
    for turn in 0..20u32 {
        let window = control.window();
        let rtt = RTT + Duration::from_millis(30) * turn.saturating_sub(3);
        for _ in 0..4 {
            now = now + rtt / 4;
            let ack = Ack {
                echo: 0,
                now,
                octets: window / 4,
                rtt: Some(rtt),
                srtt: Some(rtt),
                in_flight_before: control.window(),
                app_limited: false,
            };
            control.on_ack(ack);
        }
        rounds += u32::from(control.window() > window * 3 / 2);
    }
    assert!((3..8).contains(&rounds), "doubled {rounds} times");
    assert!(control.window() < 10_000 << 9, "{}", control.window());
}

#[test]
fn no_growth_unless_the_window_is_the_limit() {
    let mut control = cubic();
    let mut now = Time::from_nanos(1);
    let limited = |control: &mut CongestionControl, now: Time| {
        let full = ack(control, now, 5_000);
        control.on_ack(Ack {
            app_limited: true,
            ..full
        });
        control.on_ack(Ack {
            in_flight_before: control.window() / 2 - 1,
            ..full
        });
    };
    limited(&mut control, now);
    assert_eq!(control.window(), 10_000);
    lose(&mut control, now);
    round(&mut control, &mut now);
    let before = control.window();
    for _ in 0..1_000 {
        now = now + RTT;
        limited(&mut control, now);
    }
    assert_eq!(control.window(), before);
    // And the hundred seconds do not come as one leap afterwards.
    round(&mut control, &mut now);
    assert!(
        control.window() - before <= 2_000,
        "{}",
        control.window() - before
    );
}

#[test]
fn timeout_idle_and_path_change() {
    let mut control = cubic();
    let mut now = Time::ZERO;
    for _ in 0..5 {
        round(&mut control, &mut now);
    }
    assert_eq!(control.window(), 320_000);
    let grown = control.clone();
    control.on_idle(0);
    assert_eq!(control.window(), 320_000);
    control.on_idle(2);
    assert_eq!(control.window(), 80_000);
    control.on_idle(u32::MAX);
    assert_eq!(control.window(), 10_000);
    control = grown.clone();
    control.on_timeout();
    assert_eq!(control.window(), 10_000);
    for _ in 0..6 {
        round(&mut control, &mut now);
    }
    assert!(
        control.window() < 320_000,
        "slow start ends at the threshold of the timeout"
    );
    control = grown;
    control.on_path_change();
    assert_eq!(control.window(), 10_000);
    let mut small = cubic();
    for turn in 1..9 {
        lose(&mut small, now + RTT * turn);
    }
    small.on_idle(5);
    assert_eq!(small.window(), 2_000, "idleness does not raise a small window");
}

#[test]
fn segment_size_scales_what_was_not_learnt() {
    let mut control = cubic();
    control.set_segment(1_440);
    assert_eq!(control.window(), 14_400);
    lose(&mut control, Time::from_nanos(1));
    control.set_segment(8_940);
    assert_eq!(control.window(), 17_880);
    control.set_segment(0);
    assert_eq!(control.window(), 17_880);
}

#[derive(Clone, Debug)]
enum Step {
    Ack(u64, bool, Option<u64>),
    Loss(u64),
    Ce,
    Timeout,
    Idle(u32),
    Path,
    Segment(u32),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u64..5_000_000, any::<bool>(), prop::option::of(0u64..2_000_000_000))
            .prop_map(|(octets, limited, rtt)| Step::Ack(octets, limited, rtt)),
        1 => (0u64..1_000_000_000).prop_map(Step::Loss),
        1 => Just(Step::Ce),
        1 => Just(Step::Timeout),
        1 => any::<u32>().prop_map(Step::Idle),
        1 => Just(Step::Path),
        1 => (0u32..70_000).prop_map(Step::Segment),
        3 => (0u64..100_000_000_000).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn the_window_stays_sane(steps in prop::collection::vec(step(), 0..200)) {
        let (mut control, mut now, mut segment) = (cubic(), Time::ZERO, u64::from(SEGMENT));
        for step in steps {
            let before = control.window();
            match step {
                Step::Ack(octets, app_limited, rtt) => {
                    let rtt = rtt.map(Duration::from_nanos);
                    control.on_ack(Ack { now, echo: 0, octets, rtt, srtt: rtt, in_flight_before: before, app_limited });
                    prop_assert!(control.window() >= before);
                    prop_assert!(!app_limited || control.window() == before);
                    prop_assert!(control.window() <= before + octets.max(before / 2) + 1);
                }
                Step::Loss(age) => {
                    control.on_loss(now, now - Duration::from_nanos(age), LOST, before);
                    prop_assert!(control.window() <= before.max(2 * segment));
                }
                Step::Ce => control.on_ce(now, now),
                Step::Timeout => control.on_timeout(),
                Step::Idle(periods) => control.on_idle(periods),
                Step::Path => control.on_path_change(),
                Step::Segment(octets) => { segment = u64::from(octets.max(1)); control.set_segment(octets); }
                Step::Wait(nanos) => now = now + Duration::from_nanos(nanos),
            }
            prop_assert!(control.window() >= 2 * segment && control.window() < 1 << 50);
            prop_assert!(control.pacing_rate(Some(Duration::ZERO)).is_some());
        }
    }
}
