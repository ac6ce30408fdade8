//! Datagrams to groups through real sockets on the loopback interface: who gets them, who confirms, and what that costs.

mod common;

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use common::{LONG, costs, endpoint, pattern};
use xtp::{
    Bytes, CastOptions, Confirm, Endpoint, Error, GroupClose, Interface, JoinOptions, MemberReport,
    MemberState, Require, Target,
};

/// Receivers of each group here.
const RECEIVERS: usize = 3;

fn loopback() -> Interface {
    Interface::Address("127.0.0.1".parse().unwrap())
}

fn cast_options() -> CastOptions {
    CastOptions::new().interface(loopback())
}

/// What a receiver got, whether it ended well, and how many packets left it.
type Got = (Option<Bytes>, bool, u64);

/// Receivers that take one datagram each, and how to reach them.
struct Audience {
    target: Target,
    receiving: Vec<JoinHandle<Got>>,
}

impl Audience {
    /// Of a group, or each at its own address.
    fn new(group: Option<&str>, options: &JoinOptions) -> Self {
        let group: Option<SocketAddr> = group.map(|group| group.parse().unwrap());
        let mut own = Vec::new();
        let receiving = (0..RECEIVERS).map(|_| {
            let endpoint = endpoint();
            own.push(endpoint.local_addr());
            let subscription = endpoint
                .join(group, options.clone().interface(loopback()))
                .expect("joined");
            subscription.set_timeout(Some(LONG));
            thread::spawn(move || {
                let message = subscription.recv_message().expect("received");
                let ends = subscription.recv_message().expect("the end").is_none();
                let closed = subscription.close().is_ok();
                (message, ends && closed, endpoint.stats().packets_sent())
            })
        });
        let receiving = receiving.collect();
        let target = group.map_or_else(|| own.into(), Target::from);
        Self { target, receiving }
    }

    /// What each receiver sent; all of them got `data`.
    fn answers(self, data: &[u8]) -> Vec<u64> {
        let got = self.receiving.into_iter().map(|one| one.join().unwrap());
        got.map(|(message, well, sent)| {
            assert_eq!(message.as_deref(), Some(data));
            assert!(well);
            sent
        })
        .collect()
    }
}

/// Packets that left the transmitter and each receiver.
fn send(group: Option<&str>, options: &CastOptions, how: &JoinOptions) -> (u64, Vec<u64>) {
    let audience = Audience::new(group, how);
    let transmitter = endpoint();
    let data = pattern(1_000);
    let members = transmitter
        .cast_datagram(audience.target.clone(), data.clone(), options)
        .expect("confirmed");
    let confirmed = if options.group.require == Require::Nobody {
        0
    } else {
        RECEIVERS
    };
    assert_eq!(members.len(), confirmed, "{members:?}");
    for MemberReport { state, octets, .. } in members {
        assert_eq!((state, octets), (MemberState::Done(false), 1_000));
    }
    (transmitter.stats().packets_sent(), audience.answers(&data))
}

/// The datagram, an answer of each receiver, and the end.
#[test]
fn a_datagram_to_a_group_costs_an_answer_each_and_an_end() {
    let options = cast_options().expect(RECEIVERS as u32);
    let plain = JoinOptions::new();
    costs((2, vec![1; RECEIVERS]), || {
        send(Some("239.77.5.1:36036"), &options, &plain)
    });
}

/// The same, one copy a receiver; how many will answer is known without having been said.
#[test]
fn a_datagram_to_a_list() {
    let copies = RECEIVERS as u64;
    costs((2 * copies, vec![1; RECEIVERS]), || {
        send(None, &cast_options(), &JoinOptions::new())
    });
}

/// Whoever was asked for delivery confirms it when its program has read the message.
#[test]
fn a_datagram_that_programs_take() {
    let options = cast_options()
        .expect(RECEIVERS as u32)
        .confirm(Confirm::Delivered);
    costs((2, vec![1; RECEIVERS]), || {
        send(Some("239.77.5.2:36036"), &options, &JoinOptions::new())
    });
}

/// One packet in all.
#[test]
fn a_datagram_that_nobody_answers() {
    let options = cast_options().require(Require::Nobody);
    assert_eq!(
        send(Some("239.77.5.3:36036"), &options, &JoinOptions::new()),
        (1, vec![0; RECEIVERS])
    );
}

/// One of those who are expected is not there: the others are in the list, and it is not.
#[test]
fn who_does_not_confirm_is_not_in_the_list() {
    let audience = Audience::new(Some("239.77.5.4:36036"), &JoinOptions::new());
    let options = cast_options()
        .expect(RECEIVERS as u32 + 1)
        .patience(Duration::from_secs(1));
    let members = endpoint()
        .cast_datagram(audience.target.clone(), "hello", &options)
        .expect("some confirmed");
    assert_eq!(members.len(), RECEIVERS, "{members:?}");
    audience.answers(b"hello");
}

/// As many as are asked for are enough, whoever they are.
#[test]
fn any_of_those_who_are_there() {
    let audience = Audience::new(Some("239.77.5.5:36036"), &JoinOptions::new());
    let options = cast_options().require(Require::AnyOf(1));
    let members = endpoint()
        .cast_datagram(audience.target.clone(), "hello", &options)
        .expect("one confirmed");
    assert!((1..=RECEIVERS).contains(&members.len()), "{members:?}");
    audience.answers(b"hello");
}

#[test]
fn a_datagram_to_nobody_and_others_that_can_not_be() {
    let transmitter: Endpoint = endpoint();
    let group: SocketAddr = "239.77.5.6:36036".parse().unwrap();
    let options = cast_options().wait(Duration::from_millis(50));
    let nobody = transmitter.cast_datagram(group, "hello", &options);
    assert!(
        matches!(nobody, Err(Error::Group(GroupClose::Nobody))),
        "{nobody:?}"
    );
    let too_long = transmitter.cast_datagram(group, vec![0; 1_472], &options);
    assert!(
        matches!(too_long, Err(Error::Command(xtp_engine::Error::TooLong { .. }))),
        "{too_long:?}"
    );
    let empty = transmitter.cast_datagram(group, "", &options);
    assert!(
        matches!(empty, Err(Error::Command(xtp_engine::Error::InvalidOption(_)))),
        "{empty:?}"
    );
}
