//! The command line of `xtp-relay`.

use std::time::Duration;

use super::*;

fn parse(line: &str) -> Result<Arguments, ArgumentError> {
    parse_arguments(line.split_whitespace().map(str::to_owned))
}

fn config(line: &str) -> (RelayConfig, bool) {
    match parse(line) {
        Ok(Arguments::Run { config, ignore_stdin }) => (*config, ignore_stdin),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn every_option_reaches_both_links() {
    let (config, ignore_stdin) = config(
        "--listen 127.0.0.1:0 --to 127.0.0.1:9 --rate 1gbit --delay 2ms --jitter 1ms --loss 5% --duplicate 1% \
         --reorder 10% --reorder-delay 3ms --corrupt 2% --bit-errors 0.000001 --queue 1MiB --overhead 42 \
         --mtu 1500 --seed 12 --ignore-stdin",
    );
    let expected = LinkConfig {
        rate_bits_per_s: Some(1_000_000_000),
        delay: Duration::from_millis(2),
        jitter: Duration::from_millis(1),
        loss: Loss::Random(0.05),
        bit_error_rate: 0.000_001,
        duplicate: 0.01,
        reorder: 0.1,
        reorder_delay: Duration::from_millis(3),
        corrupt: 0.02,
        queue_octets: Some(1 << 20),
        overhead_octets: 42,
        mtu: Some(1_500),
        ecn_mark_threshold: None,
        in_order: false,
        policer: None,
    };
    assert_eq!((&config.to_server, &config.to_client), (&expected, &expected));
    assert_eq!(
        (config.listen, config.to),
        (([127, 0, 0, 1], 0).into(), ([127, 0, 0, 1], 9).into())
    );
    assert_eq!((config.seed, ignore_stdin), (12, true));
}

#[test]
fn a_rate_brings_the_customary_queue_and_bursts_are_gilbert_elliott() {
    let (config, ignore_stdin) = config("--to [::1]:9 --rate 1gbit --delay 50ms --burst-loss 1%,25%,0.5");
    assert_eq!(config.to_server.queue_octets, Some(12_500_000));
    let bursts = Loss::GilbertElliott {
        p_good_to_bad: 0.01,
        p_bad_to_good: 0.25,
        loss_good: 0.0,
        loss_bad: 0.5,
    };
    assert_eq!(config.to_client.loss, bursts);
    assert!(config.listen.is_ipv6() && !ignore_stdin);
}

#[test]
fn what_cannot_be_followed_is_named() {
    assert!(matches!(parse("--help"), Ok(Arguments::Help)));
    assert!(matches!(parse("--loss 5%"), Err(ArgumentError::NoServer)));
    assert!(matches!(parse("--to"), Err(ArgumentError::NoValue(option)) if option == "--to"));
    assert!(
        matches!(parse("--frobnicate 1"), Err(ArgumentError::Unknown(option)) if option == "--frobnicate")
    );
    assert!(matches!(parse("--loss 5"), Err(ArgumentError::Quantity { option, .. }) if option == "--loss"));
    for line in [
        "--to nowhere",
        "--seed many",
        "--burst-loss 1%,2%",
        "--burst-loss 1%,2%,3%,4%",
    ] {
        assert!(matches!(parse(line), Err(ArgumentError::Value { .. })), "{line}");
    }
}

#[test]
fn the_help_names_every_option() {
    for option in OPTIONS {
        assert!(USAGE.contains(option), "{option}");
    }
}
