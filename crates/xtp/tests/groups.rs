//! Groups through the whole stack: real sockets, one transmitter and several receivers, each an endpoint of its own.
//!
//! Groups are those of the loopback interface, whose packets no other host gets.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use xtp::{
    Cast, CastOptions, Config, Confirm, Cycle, DropReason, Endpoint, Error, GroupClose, GroupEvent,
    GroupParty, Interface, JoinOptions, MemberReport, MemberState, Require, Subscription,
};

fn here() -> Endpoint {
    Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap())).expect("bound")
}

fn loopback() -> Interface {
    Interface::Address("127.0.0.1".parse().unwrap())
}

fn cast_options(expect: u32) -> CastOptions {
    CastOptions::new().interface(loopback()).expect(expect)
}

fn join_options() -> JoinOptions {
    JoinOptions::new().interface(loopback())
}

/// Octets that repeat only after a long while.
fn octets(count: usize) -> Vec<u8> {
    (0..count as u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

/// Where a receiver listens, and how its part is told.
struct Party {
    endpoint: Endpoint,
    group: Option<SocketAddr>,
}

impl Party {
    fn join(&self, options: JoinOptions) -> Subscription {
        self.endpoint.join(self.group, options).expect("joined")
    }
}

/// So many receivers of `group`, or each at its own address.
fn parties(count: usize, group: Option<&str>) -> (Vec<Party>, xtp::Target) {
    let group: Option<SocketAddr> = group.map(|group| group.parse().unwrap());
    let parties: Vec<_> = (0..count)
        .map(|_| Party {
            endpoint: here(),
            group,
        })
        .collect();
    let target = match group {
        Some(group) => group.into(),
        None => parties
            .iter()
            .map(|party| party.endpoint.local_addr())
            .collect::<Vec<_>>()
            .into(),
    };
    (parties, target)
}

fn all_done(members: &[MemberReport], count: usize, octets: u64) {
    assert_eq!(members.len(), count, "{members:?}");
    for member in members {
        assert_eq!(member.state, MemberState::Done(false), "{member:?}");
        assert_eq!(member.octets, octets, "{member:?}");
    }
}

fn everybody_gets_the_same(group: Option<&str>, options: CastOptions) {
    let (parties, target) = parties(3, group);
    let data = octets(300_000);
    let receiving: Vec<_> = parties
        .into_iter()
        .map(|party| {
            let mut subscription = party.join(join_options());
            thread::spawn(move || {
                let mut got = Vec::new();
                subscription.read_to_end(&mut got).expect("read to the end");
                subscription.close().expect("the transmitter knows");
                got
            })
        })
        .collect();
    let transmitter = here();
    let mut cast = transmitter.cast(target, options).expect("cast");
    cast.write_all(&data).expect("written");
    let members = cast.finish().expect("finished");
    all_done(&members, 3, data.len() as u64);
    for receiver in receiving {
        assert!(receiver.join().unwrap() == data);
    }
    let stats = cast.stats().unwrap();
    assert_eq!(stats.position, data.len() as u64);
    assert_eq!(stats.acknowledged, data.len() as u64);
    assert!(
        stats.data_packets >= 206 && stats.feedback_packets >= 6,
        "{stats:?}"
    );
}

#[test]
fn everybody_of_a_list_gets_the_same() {
    everybody_gets_the_same(None, cast_options(3));
}

#[test]
fn everybody_of_a_group_gets_the_same() {
    everybody_gets_the_same(Some("239.77.1.1:36036"), cast_options(3));
}

/// Receivers answer to the group, which their transmitter receives as well (mode B).
#[test]
fn everybody_answers_to_the_group() {
    let options = cast_options(3).buckets(2).cycle(Cycle::Message).classic();
    everybody_gets_the_same(Some("239.77.1.9:36209"), options.rate(20_000_000));
    everybody_gets_the_same(Some("239.77.1.9:36210"), cast_options(3).buckets(8));
}

/// All groups of an endpoint, each with what is known of it.
#[test]
fn groups_at_a_glance() {
    let group: SocketAddr = "239.77.1.40:36036".parse().unwrap();
    let (sender, receiver) = (here(), here());
    assert_eq!(receiver.groups(10), []);
    let listener = receiver.listen_group(group, join_options()).expect("free");
    let subscription = receiver.join(group, join_options()).expect("joined");
    let driver = receiver.spawn_driver().expect("a thread");
    let waiting = receiver.groups(10);
    assert_eq!(waiting.len(), 2);
    assert!(
        waiting
            .iter()
            .all(|report| report.address == Some(group) && !report.is_over)
    );
    assert!(matches!(waiting[0].party, GroupParty::Listener));
    assert_eq!(receiver.groups(1).len(), 1);
    drop(listener);
    let cast = sender.cast(group, cast_options(1)).expect("begun");
    cast.wait_started().expect("one joined");
    cast.send_message("to all").expect("room");
    let GroupParty::Transmitter {
        has_started, members, ..
    } = &sender.groups(1)[0].party
    else {
        panic!("a transmitter");
    };
    assert!(*has_started && members.len() == 1, "{members:?}");
    assert_eq!(
        subscription.recv_message().expect("there").as_deref(),
        Some(&b"to all"[..])
    );
    let reports = receiver.groups(10);
    let GroupParty::Receiver { stats, readable, .. } = &reports[0].party else {
        panic!("a receiver");
    };
    assert_eq!((reports[0].number, *readable), (subscription.number(), 0));
    assert_eq!(
        stats.transmitter.map(|from| from.port()),
        Some(sender.local_addr().port())
    );
    thread::scope(|scope| {
        scope.spawn(|| subscription.close().expect("all"));
        cast.finish().expect("done");
    });
    drop((cast, driver));
    assert_eq!(sender.groups(10), []);
}

#[test]
fn messages_and_tags_keep_their_places() {
    let (mut parties, target) = parties(1, Some("239.77.1.2:36036"));
    let party = parties.remove(0);
    let subscription = party.join(join_options());
    let receiving = thread::spawn(move || {
        let mut seen = Vec::new();
        while let Some(item) = subscription.recv_chunk().expect("received") {
            match item {
                xtp::Chunk::Data {
                    bytes,
                    end_of_message,
                    ..
                } => seen.push((String::from_utf8_lossy(&bytes).into_owned(), end_of_message)),
                xtp::Chunk::Tag { tag, .. } => seen.push((format!("#{tag}"), false)),
                other => panic!("{other:?}"),
            }
        }
        seen
    });
    let transmitter = here();
    let cast = transmitter.cast(target, cast_options(1)).expect("cast");
    cast.send_message("one").unwrap();
    cast.tag(7).unwrap();
    cast.send_message("two").unwrap();
    assert!(matches!(cast.send_message(""), Err(Error::Command(_))));
    all_done(&cast.finish().expect("finished"), 1, 14);
    let seen = receiving.join().unwrap();
    let whole: String = seen
        .iter()
        .map(|(text, end)| format!("{text}{}", if *end { "|" } else { "" }))
        .collect();
    assert_eq!(whole, "one|#7two|");
}

#[test]
fn two_receivers_of_one_endpoint_share_a_socket() {
    let group: SocketAddr = "239.77.1.3:36036".parse().unwrap();
    let endpoint = here();
    let subscriptions = [
        endpoint.join(group, join_options().name("a".to_owned())).unwrap(),
        endpoint.join(group, join_options().name("b".to_owned())).unwrap(),
    ];
    assert_eq!(memberships(group), 1);
    let transmitter = here();
    let cast = transmitter.cast(group, cast_options(2)).expect("cast");
    let [first, second] = subscriptions;
    let receiving: Vec<_> = [first, second]
        .into_iter()
        .map(|subscription| {
            thread::spawn(move || {
                let message = subscription.recv_message().expect("received").expect("a message");
                subscription.close().expect("the transmitter knows");
                message
            })
        })
        .collect();
    cast.send_message("both of you").unwrap();
    let members = cast.finish().expect("finished");
    all_done(&members, 2, 11);
    let mut names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b"]);
    for receiver in receiving {
        assert_eq!(receiver.join().unwrap(), "both of you");
    }
    assert_eq!(memberships(group), 0, "the last subscription left the group");
}

/// The kernel's list of memberships.
fn memberships(group: SocketAddr) -> usize {
    let std::net::IpAddr::V4(four) = group.ip() else {
        panic!("an IPv4 group");
    };
    let name = format!("{:08X}", u32::from_ne_bytes(four.octets()));
    let list = std::fs::read_to_string("/proc/self/net/igmp").expect("the kernel's list");
    list.lines().filter(|line| line.contains(&name)).count()
}

/// With [`Confirm::Delivered`] who has everything is done when its program says so; who rejects is out.
#[test]
fn programs_confirm_and_reject() {
    let (parties, target) = parties(2, None);
    let receiving: Vec<_> = parties
        .into_iter()
        .enumerate()
        .map(|(number, party)| {
            let name = ["content", "choosy"][number].to_owned();
            let subscription = party.join(join_options().name(name).confirm(Confirm::Delivered));
            thread::spawn(move || {
                let message = subscription.recv_message().expect("received").expect("a message");
                assert_eq!(subscription.recv_message().expect("the end"), None);
                match number {
                    0 => subscription.confirm().unwrap(),
                    _ => subscription.reject("not what I ordered").unwrap(),
                }
                (message, subscription.close())
            })
        })
        .collect();
    let transmitter = here();
    let options = cast_options(2).confirm(Confirm::Delivered);
    let cast = transmitter.cast(target, options).expect("cast");
    cast.send_message("take it").unwrap();
    let members = cast.finish().expect("finished");
    for member in &members {
        match member.name.as_str() {
            "content" => assert_eq!(member.state, MemberState::Done(false)),
            "choosy" => {
                assert_eq!(member.state, MemberState::Dropped(DropReason::Rejected));
                assert_eq!(member.text, "not what I ordered");
            }
            other => panic!("{other}"),
        }
    }
    let outcomes: Vec<_> = receiving
        .into_iter()
        .map(|receiver| receiver.join().unwrap())
        .collect();
    assert!(outcomes.iter().all(|(message, _)| message == "take it"));
    assert!(outcomes[0].1.is_ok(), "{outcomes:?}");
    assert!(matches!(outcomes[1].1, Err(Error::Group(_))), "{outcomes:?}");
    let events = events(&cast);
    let joined = events
        .iter()
        .filter(|event| matches!(event, GroupEvent::Joined(_)))
        .count();
    let done = events
        .iter()
        .filter(|event| matches!(event, GroupEvent::Done(_)))
        .count();
    let dropped = events
        .iter()
        .filter(|event| matches!(event, GroupEvent::Dropped(..)))
        .count();
    assert_eq!((joined, done, dropped), (2, 1, 1), "{events:?}");
}

fn events(cast: &Cast) -> Vec<GroupEvent> {
    std::iter::from_fn(|| cast.try_event().expect("no failure")).collect()
}

#[test]
fn nobody_comes() {
    let transmitter = here();
    let group: SocketAddr = "239.77.1.4:36036".parse().unwrap();
    let options = cast_options(1).wait(Duration::from_millis(50));
    let cast = transmitter.cast(group, options).expect("cast");
    assert!(matches!(
        cast.wait_started(),
        Err(Error::Group(GroupClose::Nobody))
    ));
    assert!(matches!(cast.finish(), Err(Error::Group(GroupClose::Nobody))));
}

#[test]
fn what_a_call_may_not_ask() {
    let endpoint = here();
    let group: SocketAddr = "239.77.1.5:36036".parse().unwrap();
    let unicast: SocketAddr = "127.0.0.1:36036".parse().unwrap();
    assert!(matches!(
        endpoint.join(unicast, join_options()),
        Err(Error::Socket(_))
    ));
    let nowhere = JoinOptions::new().interface(Interface::Name("nowhere0".to_owned()));
    assert!(matches!(endpoint.join(group, nowhere), Err(Error::Socket(_))));
    let mut long = join_options();
    long.group.name = "x".repeat(65);
    assert!(matches!(endpoint.join(group, long), Err(Error::Command(_))));
    assert_eq!(memberships(group), 0, "who may not join is no member");
    assert!(matches!(
        endpoint.cast(group, cast_options(1).require(Require::AnyOf(0))),
        Err(Error::Command(_))
    ));
    assert!(matches!(
        endpoint.cast(Vec::<SocketAddr>::new(), cast_options(1)),
        Err(Error::Command(_))
    ));
    let first = endpoint.cast(group, cast_options(1)).expect("the first");
    let farther = cast_options(1).hops(2);
    assert!(matches!(
        endpoint.cast(group, farther.clone()),
        Err(Error::GroupSending)
    ));
    drop(first);
    drop(
        endpoint
            .cast(group, farther)
            .expect("nobody transmits in another way any more"),
    );
}

/// A waiting call notices a group that another thread joins meanwhile.
#[test]
fn a_sleeper_wakes_for_a_new_group() {
    let endpoint = here();
    let sleeping = endpoint.clone();
    let listener = endpoint.listen(99).unwrap();
    let sleeper = thread::spawn(move || {
        // Drives the endpoint for everybody until it is interrupted.
        let outcome = listener.recv_message();
        assert!(outcome.is_err_and(|error| error.is_interrupted()));
    });
    let group: SocketAddr = "239.77.1.6:36036".parse().unwrap();
    let transmitter = here();
    let cast = transmitter.cast(group, cast_options(1)).expect("cast");
    cast.send_message("hello").unwrap();
    let finishing = thread::spawn(move || cast.finish());
    let subscription = endpoint.join(group, join_options()).expect("joined");
    assert_eq!(
        subscription.recv_message().unwrap().as_deref(),
        Some(&b"hello"[..])
    );
    subscription.close().expect("the transmitter knows");
    all_done(&finishing.join().unwrap().expect("finished"), 1, 5);
    sleeping.interrupt();
    sleeper.join().unwrap();
}

/// The thread of a driver alone moves a group whose program is elsewhere.
#[test]
fn a_driver_thread_reads_groups() {
    let group: SocketAddr = "239.77.1.7:36036".parse().unwrap();
    let endpoint = here();
    let driver = endpoint.spawn_driver().unwrap();
    let subscription = endpoint.join(group, join_options()).expect("joined");
    let transmitter = here();
    let cast = transmitter.cast(group, cast_options(1)).expect("cast");
    cast.send_message("taken by the driver").unwrap();
    // Nobody reads meanwhile.
    all_done(&cast.finish().expect("finished"), 1, 19);
    assert!(subscription.is_complete());
    let message = subscription.recv_message().unwrap();
    assert_eq!(message.as_deref(), Some(&b"taken by the driver"[..]));
    drop(driver);
}
