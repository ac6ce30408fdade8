//! Values of one and of two directions.

use super::*;

fn both<T: Copy>(value: T) -> Pair<T> {
    Pair {
        left_to_right: value,
        right_to_left: value,
    }
}

#[test]
fn one_value_is_for_both_and_two_for_one_each() {
    assert_eq!(rates("100mbit"), Ok(both(100_000_000)));
    assert_eq!(rates("100mbit/s"), Ok(both(100_000_000)));
    let different = Pair {
        left_to_right: 100_000_000,
        right_to_left: 1_000_000,
    };
    for text in [
        "100mbit/1mbit",
        "100mbit/s/1mbit",
        "100mbit/1mbit/s",
        "100mbit/s/1mbit/s",
    ] {
        assert_eq!(rates(text), Ok(different), "{text}");
    }
    assert_eq!(
        fractions("0.1%/0"),
        Ok(Pair {
            left_to_right: 0.001,
            right_to_left: 0.0
        })
    );
    assert_eq!(fractions("1e-6"), Ok(both(1e-6)));
    assert_eq!(sizes("256kB"), Ok(both(256_000)));
    assert_eq!(times("20ms"), Ok(both(Duration::from_millis(20))));
}

#[test]
fn what_cannot_be_read_says_what_to_write() {
    for text in ["fast", "1mbit/fast", "/1mbit", "1mbit/1mbit/1mbit", ""] {
        let error = rates(text).expect_err(text);
        assert!(error.contains("100mbit"), "{error}");
    }
    assert!(fractions("200%").is_err());
    assert!(priority("high").is_err());
}

#[test]
fn bursts_are_three_fractions() {
    let loss = Loss::GilbertElliott {
        p_good_to_bad: 0.01,
        p_bad_to_good: 0.25,
        loss_good: 0.0,
        loss_bad: 0.5,
    };
    assert_eq!(bursts("1%,25%,0.5"), Ok(both(loss)));
    assert!(bursts("1%,25%,0.5/0,1,0").is_ok());
    for text in ["1%", "1%,2%", "1%,2%,3%,4%", "1%,2%,x", ""] {
        assert!(bursts(text).is_err(), "{text}");
    }
}
