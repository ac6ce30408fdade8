//! Ranges of the settings.

use super::*;

#[test]
fn default_is_valid_and_each_probability_is_checked() {
    assert_eq!(LinkConfig::default().validate(), Ok(()));
    let bad = [-0.1, 1.1, f64::NAN, f64::INFINITY];
    for value in bad {
        let gilbert = |index: usize| {
            let mut p = [0.5; 4];
            p[index] = value;
            Loss::GilbertElliott {
                p_good_to_bad: p[0],
                p_bad_to_good: p[1],
                loss_good: p[2],
                loss_bad: p[3],
            }
        };
        let perfect = LinkConfig::default;
        let cases = [
            (
                "loss",
                LinkConfig {
                    loss: Loss::Random(value),
                    ..perfect()
                },
            ),
            (
                "p_good_to_bad",
                LinkConfig {
                    loss: gilbert(0),
                    ..perfect()
                },
            ),
            (
                "p_bad_to_good",
                LinkConfig {
                    loss: gilbert(1),
                    ..perfect()
                },
            ),
            (
                "loss_good",
                LinkConfig {
                    loss: gilbert(2),
                    ..perfect()
                },
            ),
            (
                "loss_bad",
                LinkConfig {
                    loss: gilbert(3),
                    ..perfect()
                },
            ),
            (
                "bit_error_rate",
                LinkConfig {
                    bit_error_rate: value,
                    ..perfect()
                },
            ),
            (
                "duplicate",
                LinkConfig {
                    duplicate: value,
                    ..perfect()
                },
            ),
            (
                "reorder",
                LinkConfig {
                    reorder: value,
                    ..perfect()
                },
            ),
            (
                "corrupt",
                LinkConfig {
                    corrupt: value,
                    ..perfect()
                },
            ),
        ];
        for (expected, config) in cases {
            match config.validate() {
                Err(ConfigError::Probability { name, .. }) => assert_eq!(name, expected),
                other => panic!("{expected} = {value}: {other:?}"),
            }
        }
    }
}

#[test]
fn zeros_and_long_times_are_refused() {
    let zeros = [
        (
            "rate_bits_per_s",
            LinkConfig {
                rate_bits_per_s: Some(0),
                ..LinkConfig::default()
            },
        ),
        (
            "queue_octets",
            LinkConfig {
                queue_octets: Some(0),
                ..LinkConfig::default()
            },
        ),
        (
            "mtu",
            LinkConfig {
                mtu: Some(0),
                ..LinkConfig::default()
            },
        ),
    ];
    for (name, config) in zeros {
        assert_eq!(config.validate(), Err(ConfigError::Zero { name }));
    }
    let value = MAX_DELAY + Duration::from_nanos(1);
    let longs = [
        (
            "delay",
            LinkConfig {
                delay: value,
                ..LinkConfig::default()
            },
        ),
        (
            "jitter",
            LinkConfig {
                jitter: value,
                ..LinkConfig::default()
            },
        ),
        (
            "reorder_delay",
            LinkConfig {
                reorder_delay: value,
                ..LinkConfig::default()
            },
        ),
    ];
    for (name, config) in longs {
        assert_eq!(config.validate(), Err(ConfigError::TooLong { name, value }));
    }
}

#[test]
fn errors_say_what_to_do() {
    let error = LinkConfig {
        duplicate: 2.0,
        ..LinkConfig::default()
    }
    .validate();
    let text = error.map_err(|error| error.to_string());
    assert_eq!(
        text,
        Err("duplicate is 2: give a probability from 0 to 1".to_owned())
    );
}

#[test]
fn default_queue_is_the_bandwidth_delay_product_but_not_below_256_kb() {
    assert_eq!(
        LinkConfig::default_queue(1_000_000_000, Duration::from_millis(100)),
        12_500_000
    );
    assert_eq!(
        LinkConfig::default_queue(1_000_000, Duration::from_millis(1)),
        256_000
    );
}
