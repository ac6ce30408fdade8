//! Every option says what it is called.

use super::*;

#[test]
fn transmitters_options_are_what_was_said() {
    let fec = Fec {
        symbols: 32,
        rows: 40,
        proactive: 2,
    };
    let options = CastOptions::new()
        .service_number(7)
        .require(Require::List(vec!["a".to_owned()]))
        .expect(3)
        .size(9)
        .wait(Duration::from_secs(1))
        .slow(Slow::Drop)
        .patience(Duration::from_secs(2))
        .keep(5)
        .confirm(Confirm::Delivered)
        .fec(Some(fec))
        .rate(1_000_000)
        .datagram(1_000)
        .window(1 << 20)
        .max_members(4)
        .from_start(false)
        .hops(6);
    let mut expected = group::TransmitterOptions::default();
    expected.service_number = 7;
    expected.require = Require::List(vec!["a".to_owned()]);
    expected.expect = Some(3);
    expected.size = Some(9);
    expected.wait = Duration::from_secs(1);
    expected.slow = Slow::Drop;
    expected.patience = Duration::from_secs(2);
    expected.keep = 5;
    expected.confirm = Confirm::Delivered;
    expected.fec = Some(fec);
    expected.rate.octets_per_second = 1_000_000;
    expected.rate.burst = 16 << 10;
    expected.datagram = 1_000;
    expected.window = 1 << 20;
    expected.max_members = 4;
    expected.from_start = false;
    assert_eq!(options.group, expected);
    assert_eq!((options.hops, options.history.is_none()), (6, true));
    assert_eq!(options.clone().burst(99).group.rate.burst, 99);
    assert_eq!(options.rate(0).group.rate.burst, 16 << 10, "once said it stays");
}

/// What is said of buckets makes it mode B, and keeps what else was said of them.
#[test]
fn buckets_are_said_piece_by_piece() {
    let options = CastOptions::new().buckets(7).cycle(Cycle::Message).classic();
    let said = BucketOptions {
        buckets: 7,
        cycle: Cycle::Message,
        classic: true,
        ..BucketOptions::default()
    };
    assert_eq!(options.group.mode, Mode::Bucket(said));
    let unicast = options.mode(Mode::Unicast);
    assert_eq!(unicast.group.mode, Mode::Unicast);
}

/// Options with the same function are the same; with one that only does the same they are not.
#[test]
fn a_past_is_compared_by_which_it_is() {
    let options = CastOptions::new().history(|_, _| None);
    assert_eq!(options.clone(), options);
    assert_ne!(CastOptions::new().history(|_, _| None), options);
    assert!(format!("{options:?}").contains("History"));
}

#[test]
fn receivers_options_are_what_was_said() {
    let options = JoinOptions::new()
        .service_number(7)
        .name("me".to_owned())
        .capacity(1 << 20)
        .confirm(Confirm::Delivered)
        .source("10.0.0.1".parse().unwrap())
        .hops(3);
    let mut expected = group::ReceiverOptions::default();
    expected.service_number = 7;
    expected.name = "me".to_owned();
    expected.capacity = 1 << 20;
    expected.confirm = Confirm::Delivered;
    expected.source = Some("10.0.0.1".parse().unwrap());
    assert_eq!(options.group, expected);
    assert_eq!(options.hops, 3);
}
