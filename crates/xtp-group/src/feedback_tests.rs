//! Delays of large groups, counted: how many reports, joins and answers come however many there are.

use proptest::prelude::*;

use super::*;

fn group(size: u32) -> Feedback {
    Feedback {
        size,
        rate: 2000,
        round_trip: Duration::from_millis(10),
        hold: Duration::ZERO,
    }
}

/// Numbers that nobody chose, the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// How many of `k` symbols one loses, by the cumulated binomial distribution.
fn losses(k: i32, loss: f64) -> Vec<f64> {
    let mut term = (1.0 - loss).powi(k);
    let mut sum = 0.0;
    (0..=k)
        .map(|lost| {
            sum += term;
            term *= loss / (1.0 - loss) * f64::from(k - lost) / f64::from(lost + 1);
            sum
        })
        .collect()
}

/// Reports of one block: in the order of their delays, unless the transmitter's word on as many rows came before.
fn reports(group: &Feedback, needs: &[u16], most: u16, dice: &mut Dice) -> usize {
    let needy = needs.iter().filter(|need| **need > 0);
    let mut due: Vec<(Duration, u16)> = needy
        .map(|need| (group.need_delay(*need, most, dice.next()), *need))
        .collect();
    due.sort_unstable();
    let (mut said, mut count) = (Vec::<(Duration, u16)>::new(), 0);
    for (at, need) in due {
        if said.iter().any(|(heard, rows)| *heard <= at && *rows >= need) {
            continue;
        }
        count += 1;
        if said.iter().all(|(_, rows)| *rows < need) {
            // Half a round trip there, half of one back.
            said.push((at + group.round_trip, need));
        }
    }
    count
}

fn mean_reports(size: u32, loss: f64) -> f64 {
    let (cumulated, mut dice) = (losses(64, loss), Dice(u64::from(size)));
    let group = group(size);
    let (blocks, mut most, mut total) = (40, 1, 0);
    for _ in 0..blocks {
        let needs: Vec<u16> = (0..size)
            .map(|_| {
                let drawn = share(dice.next());
                cumulated.partition_point(|sum| *sum < drawn) as u16
            })
            .collect();
        total += reports(&group, &needs, most, &mut dice);
        most = needs.iter().copied().max().unwrap_or(0);
    }
    total as f64 / f64::from(blocks)
}

#[test]
fn reports_of_a_block_hardly_grow_with_the_group() {
    for loss in [0.001, 0.01, 0.05] {
        let sizes = [160, 640, 2_560, 10_240];
        let means = sizes.map(|size| mean_reports(size, loss));
        assert!(means.iter().all(|mean| *mean <= 30.0), "{loss}: {means:?}");
        for pair in means.windows(2) {
            // Where hardly anybody reports, four times as many members make up to four times as many reports.
            assert!(pair[1] <= 2.0 * pair[0].max(4.0), "{loss}: {means:?}");
        }
    }
}

/// The most of these moments within one second.
fn most_in_a_second(mut moments: Vec<Duration>) -> usize {
    moments.sort_unstable();
    let second = Duration::from_secs(1);
    let within = |at: usize| moments[at..].partition_point(|moment| *moment < moments[at] + second);
    (0..moments.len()).map(within).max().unwrap_or(0)
}

#[test]
fn joins_of_ten_thousand_come_at_the_rate_that_is_taken() {
    let mut dice = Dice(7);
    let joins = (0..10_000).map(|_| group(10_000).once(dice.next())).collect();
    let most = most_in_a_second(joins);
    assert!(
        (1_700..=2_000).contains(&most),
        "{most}: those that are lost come again"
    );
}

#[test]
fn answers_of_all_slices_come_at_the_rate_that_is_taken() {
    let (group, mut dice) = (group(10_000), Dice(8));
    let modulus = group.slices();
    let answers = (0..10_000_u64).map(|key| {
        let slice = u32::try_from(key % u64::from(modulus)).unwrap();
        group.spread(modulus) * slice + group.slot(modulus, dice.next())
    });
    let most = most_in_a_second(answers.collect());
    assert!((1_900..=2_200).contains(&most), "{most}");
}

#[test]
fn few_members_answer_at_once() {
    for size in 0..=4 {
        let few = Feedback {
            hold: Duration::from_millis(3),
            ..group(size)
        };
        assert_eq!((few.slices(), few.slot(1, u64::MAX)), (1, Duration::ZERO));
        assert_eq!(few.need_delay(1, 9, u64::MAX), few.hold);
    }
    assert!(group(5).slot(1, u64::MAX) > Duration::ZERO);
    assert_eq!(
        group(10_000).slot(GroupPoll::ALONE, u64::MAX),
        Duration::ZERO,
        "asked alone"
    );
}

#[test]
fn who_needs_less_waits_longer() {
    let group = group(1000);
    let quarter = 4 * group.round_trip / 4;
    let drawn = group.need_delay(8, 8, 1 << 63);
    for (need, quarters) in [(9, 0), (7, 1), (5, 3), (4, 4), (1, 4)] {
        assert_eq!(
            group.need_delay(need, 8, 1 << 63),
            drawn + quarter * quarters,
            "{need} of 8"
        );
    }
    assert_eq!(group.need_delay(8, 8, 0), Duration::ZERO, "somebody is first");
    let last = group.need_delay(8, 8, u64::MAX);
    assert!(
        last <= 4 * group.round_trip && last > group.round_trip * 39 / 10,
        "{last:?}"
    );
}

#[test]
fn silence_takes_four_polls_and_half_a_second() {
    let (near, far) = (
        group(10),
        Feedback {
            round_trip: Duration::from_millis(200),
            ..group(10)
        },
    );
    let ms = Duration::from_millis;
    assert!(!near.is_silent(3, ms(10_000)));
    assert!(!near.is_silent(4, ms(499)), "four polls of a short path");
    assert!(near.is_silent(4, ms(500)));
    assert!(!far.is_silent(9, ms(1_599)));
    assert!(far.is_silent(4, ms(1_600)));
}

#[test]
fn what_is_told_as_hold() {
    let ms = Duration::from_millis;
    assert_eq!(hold(ms(1), None), ms(4));
    assert_eq!(hold(ms(1), Some(ms(2))), ms(4));
    assert_eq!(hold(ms(1), Some(ms(30))), ms(30));
    assert_eq!(hold(ms(1), Some(ms(900))), ms(250));
    assert_eq!(
        hold(ms(100), Some(ms(900))),
        ms(400),
        "four round trips, if they are longer"
    );
    assert_eq!(group(10).quiet(), ms(40));
}

proptest! {
    /// Whatever a poll says, nothing overflows and nobody waits for ever.
    #[test]
    fn whatever_is_told(numbers in any::<[u32; 4]>(), modulus in 0..=u16::MAX, need in any::<[u16; 2]>(), random in any::<u64>()) {
        let [size, grtt_us, feedback_rate, hold_us] = numbers;
        let told = Feedback::of(&GroupPoll { modulus, remainder: 0, size, grtt_us, feedback_rate, hold_us });
        let slices = told.slices();
        prop_assert!((1..GroupPoll::ALONE).contains(&slices));
        prop_assert!(told.slot(modulus, random) <= LONGEST && told.once(random) <= LONGEST);
        prop_assert!(told.need_delay(need[0], need[1], random) <= LONGEST);
        prop_assert!(told.answers_until(modulus) > told.next_poll(modulus));
        prop_assert!(told.quiet() <= LONGEST * 4);
        prop_assert!(!told.is_silent(3, Duration::MAX) && told.is_silent(4, LONGEST * 8));
    }

    /// As few slices as let one answer in time.
    #[test]
    fn as_few_slices_as_do(size in 0_u32..1_000_000, rate in 1_u32..100_000, ms in 0_u64..1000) {
        let told = Feedback { rate, round_trip: Duration::from_millis(ms), ..group(size) };
        let (slices, longest) = (told.slices(), SLICE.max(2 * told.round_trip));
        prop_assume!(slices < GroupPoll::ALONE - 1);
        prop_assert!(told.spread(slices) <= longest);
        prop_assert!(slices == 1 || told.spread(slices - 1) + Duration::from_nanos(1) >= longest);
    }
}
