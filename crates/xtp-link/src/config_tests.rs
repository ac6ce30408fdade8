//! Ranges of the settings.

use super::*;

/// The default with one probability set.
fn with_probability(name: &str, value: f64) -> LinkConfig {
    let mut config = LinkConfig::default();
    let mut gilbert = [0.5; 4];
    match name {
        "loss" => config.loss = Loss::Random(value),
        "bit_error_rate" => config.bit_error_rate = value,
        "duplicate" => config.duplicate = value,
        "reorder" => config.reorder = value,
        "corrupt" => config.corrupt = value,
        state => {
            let names = ["p_good_to_bad", "p_bad_to_good", "loss_good", "loss_bad"];
            gilbert[names
                .iter()
                .position(|name| *name == state)
                .expect("a known name")] = value;
            let [p_good_to_bad, p_bad_to_good, loss_good, loss_bad] = gilbert;
            config.loss = Loss::GilbertElliott {
                p_good_to_bad,
                p_bad_to_good,
                loss_good,
                loss_bad,
            };
        }
    }
    config
}

#[test]
fn default_is_valid_and_each_probability_is_checked() {
    assert_eq!(LinkConfig::default().validate(), Ok(()));
    let names = [
        "loss",
        "p_good_to_bad",
        "p_bad_to_good",
        "loss_good",
        "loss_bad",
        "bit_error_rate",
        "duplicate",
        "reorder",
        "corrupt",
    ];
    for expected in names {
        for value in [0.0, 0.3, 1.0] {
            assert_eq!(with_probability(expected, value).validate(), Ok(()));
        }
        for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            match with_probability(expected, value).validate() {
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
