//! Manners as people write them, and what the emulator makes of them.

use std::time::Duration;

use xtp_linkem::{Loss, Policer};

use super::super::cell::Cell;

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_link_with_manners_is_written_as_it_is_read() {
    for name in [
        "100mbit-40ms-0%-jitter10ms",
        "100mbit-40ms-0%-overtaking2.5ms",
        "100mbit-40ms-1.3%-bursts10",
        "500mbit-40ms-0%-policer50mbit",
        "500mbit-40ms-0%-policer50mbit-bucket160ms",
        "100mbit-40ms-0%-swing50mbit",
        "100mbit-40ms-0%-queue0.5",
        "100mbit-40ms-1%-jitter10ms-bursts3-queue5",
    ] {
        assert_eq!(Cell::parse(name).expect(name).name(), name);
    }
}

#[test]
fn what_is_no_manner_is_refused() {
    for manner in [
        "jitter",
        "jitter10",
        "jitter41ms",
        "jitter1ms-overtaking1ms",
        "bursts10",
        "bursts0",
        "policer0bit",
        "bucket5ms",
        "swing",
        "queue0",
        "storm5",
        "",
    ] {
        let name = format!("100mbit-40ms-0%-{manner}");
        let error = Cell::parse(&name).expect_err(&name).to_string();
        assert!(error.contains("-jitter10ms"), "{error}");
    }
}

#[test]
fn the_emulator_gets_them_in_both_directions() {
    let links = |name: &str| {
        let config = Cell::parse(name).expect("a link").config(1);
        assert_eq!(config.left_to_right, config.right_to_left);
        config.left_to_right
    };
    let link = links("100mbit-40ms-0%-jitter10ms");
    assert_eq!((link.delay, link.jitter, link.in_order), (15 * MS, 10 * MS, true));
    assert!(!links("100mbit-40ms-0%-overtaking10ms").in_order);
    assert_eq!(links("100mbit-40ms-0%-queue5").queue_octets, Some(2_500_000));
    let policer = Policer {
        rate_bits_per_s: 50_000_000,
        burst_octets: 250_000,
    };
    assert_eq!(links("500mbit-40ms-0%-policer50mbit").policer, Some(policer));
    let burst = links("500mbit-40ms-0%-policer50mbit-bucket5ms").policer;
    assert_eq!(burst.map(|policer| policer.burst_octets), Some(31_250));
    match links("100mbit-40ms-1.3%-bursts10").loss {
        Loss::GilbertElliott {
            p_good_to_bad,
            p_bad_to_good,
            ..
        } => {
            let lost = p_good_to_bad / (p_good_to_bad + p_bad_to_good);
            assert!((lost - 0.013).abs() < 1e-9 && p_bad_to_good == 0.1, "{lost}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_link_that_swings_has_another_rate_and_the_same_queue() {
    let cell = Cell::parse("100mbit-40ms-0%-swing20mbit").expect("a link");
    let [full, other] = cell.swings(1).expect("it swings");
    assert_eq!(full.rate_bits_per_s, Some(100_000_000));
    assert_eq!(other.rate_bits_per_s, Some(20_000_000));
    assert_eq!(
        (full.queue_octets, other.queue_octets),
        (Some(500_000), Some(500_000))
    );
    assert!(Cell::clean(100_000_000, 40).swings(1).is_none());
}
