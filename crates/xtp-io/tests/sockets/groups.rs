//! Groups over real sockets, in a network namespace that the test makes: two pairs of interfaces that lead nowhere, on one of each what is
//! sent to a group comes back to the members of this host.
//!
//! The namespace is that of a child process, this program started again by `unshare`; its test is [`inside`].

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::process::Command;

use xtp_io::{
    GroupSending, Interface, IoError, MembershipOptions, SendOutcome, SendTrain, SocketOptions, UdpSocket,
};

use crate::support::receive;

/// Set in the namespace.
const INSIDE: &str = "XTP_IO_TEST_INSIDE";
const SETUP: &str = "ip link set lo up \
    && ip link add g0 type veth peer name h0 && ip link add g1 type veth peer name h1 \
    && ip addr add 10.77.0.1/24 dev g0 && ip addr add 10.77.0.2/24 dev g0 && ip addr add 10.77.1.1/24 dev g1 \
    && ip addr add fd77::1/64 dev g0 nodad && ip addr add fd77::2/64 dev g0 nodad && ip addr add fd77:1::1/64 dev g1 nodad \
    && ip link set h0 up && ip link set h1 up && ip link set g0 up && ip link set g1 up \
    && until ip -6 route show table local | grep -q 'ff00::/8 dev g0' && ip -6 route show table local | grep -q 'ff00::/8 dev g1'; \
       do sleep 0.02; done";

#[test]
fn in_a_namespace() {
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    let may = Command::new("unshare")
        .args(["--net", "--", "ip", "link", "show", "lo"])
        .output();
    if !may.is_ok_and(|shown| shown.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "CI can make namespaces");
        eprintln!("groups left out: only an administrator makes a network namespace");
        return;
    }
    let this = std::env::current_exe().expect("the path of this test");
    let run = format!("{SETUP} && exec \"$0\" --exact groups::inside --include-ignored --nocapture");
    let child = Command::new("unshare")
        .args(["--net", "--", "sh", "-c", &run])
        .arg(this)
        .env(INSIDE, "1")
        .output()
        .expect("a shell in a namespace");
    let said = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by in_a_namespace, in the namespace it makes"]
fn inside() {
    assert!(std::env::var_os(INSIDE).is_some(), "run in_a_namespace");
    for family in [
        Family::new("239.77.0.1:36036", ["10.77.0.1", "10.77.0.2", "10.77.1.1"]),
        Family::new("[ff05::77]:36036", ["fd77::1", "fd77::2", "fd77:1::1"]),
        Family::new("[ff02::77]:36036", ["fd77::1", "fd77::2", "fd77:1::1"]),
    ] {
        everybody_who_joined(&family);
        nobody_here_without_loopback(&family);
        only_its_interface(&family);
        only_its_source(&family);
        only_its_group(&family);
        members_leave_with_their_sockets(&family);
        what_is_no_group(&family);
    }
}

struct Family {
    group: SocketAddr,
    /// Two addresses of g0, one of g1.
    own: [IpAddr; 3],
}

impl Family {
    fn new(group: &str, own: [&str; 3]) -> Self {
        Self {
            group: group.parse().unwrap(),
            own: own.map(|address| address.parse().unwrap()),
        }
    }

    fn join(&self, interface: Interface, source: Option<IpAddr>) -> UdpSocket {
        let options = MembershipOptions {
            interface,
            source,
            socket: SocketOptions::default(),
        };
        UdpSocket::join(self.group, &options).expect("joined")
    }

    fn sender(&self, address: usize, sending: &GroupSending) -> UdpSocket {
        let socket =
            UdpSocket::bind(SocketAddr::new(self.own[address], 0), &SocketOptions::default()).expect("bound");
        socket.send_to_groups(sending).expect("sends to groups");
        socket
    }
}

fn named(name: &str) -> Interface {
    Interface::Name(name.to_owned())
}

fn by(name: &str) -> GroupSending {
    GroupSending {
        interface: named(name),
        ..GroupSending::default()
    }
}

fn say(sender: &UdpSocket, group: SocketAddr, octets: &[u8]) {
    let pieces = [IoSlice::new(octets)];
    let outcome = sender
        .send(&SendTrain::new(group, octets.len(), &pieces))
        .expect("sent");
    assert_eq!(outcome, SendOutcome::Sent);
}

fn everybody_who_joined(family: &Family) {
    let members = [
        family.join(named("g0"), None),
        family.join(Interface::Address(family.own[1]), None),
        family.join(Interface::Index(named("g0").index().unwrap()), None),
    ];
    let sender = family.sender(0, &by("g0"));
    say(&sender, family.group, b"hello");
    for member in &members {
        assert_eq!(receive(member, 1), [b"hello"], "{}", family.group);
        assert_eq!(member.local_addr().ip(), family.group.ip());
    }
}

/// What must not come is sent before what must: only that is there.
fn nobody_here_without_loopback(family: &Family) {
    let member = family.join(named("g0"), None);
    let quiet = GroupSending {
        loopback: false,
        ..by("g0")
    };
    say(&family.sender(0, &quiet), family.group, b"for others");
    say(&family.sender(0, &by("g0")), family.group, b"for all");
    assert_eq!(receive(&member, 1), [b"for all"], "{}", family.group);
}

fn only_its_interface(family: &Family) {
    let (zero, one) = (family.join(named("g0"), None), family.join(named("g1"), None));
    say(&family.sender(2, &by("g1")), family.group, b"on g1");
    say(&family.sender(0, &by("g0")), family.group, b"on g0");
    assert_eq!(receive(&zero, 1), [b"on g0"], "{}", family.group);
    assert_eq!(receive(&one, 1), [b"on g1"], "{}", family.group);
}

fn only_its_source(family: &Family) {
    let one = family.join(named("g0"), Some(family.own[1]));
    let all = family.join(named("g0"), None);
    say(&family.sender(0, &by("g0")), family.group, b"of the first");
    say(&family.sender(1, &by("g0")), family.group, b"of the second");
    assert_eq!(receive(&one, 1), [b"of the second"], "{}", family.group);
    assert_eq!(
        receive(&all, 2),
        [&b"of the first"[..], b"of the second"],
        "{}",
        family.group
    );
}

fn only_its_group(family: &Family) {
    let other = Family {
        group: match family.group {
            SocketAddr::V4(_) => "239.77.0.2:36036".parse().unwrap(),
            SocketAddr::V6(_) => "[ff05::78]:36036".parse().unwrap(),
        },
        ..*family
    };
    let (mine, its) = (family.join(named("g0"), None), other.join(named("g0"), None));
    let sender = family.sender(0, &by("g0"));
    say(&sender, other.group, b"to the other");
    say(
        &sender,
        SocketAddr::new(family.own[0], family.group.port()),
        b"to no group",
    );
    say(&sender, family.group, b"to this one");
    assert_eq!(receive(&mine, 1), [b"to this one"], "{}", family.group);
    assert_eq!(receive(&its, 1), [b"to the other"], "{}", family.group);
}

/// The kernel's list of memberships.
fn memberships(family: &Family) -> usize {
    let (list, group) = match family.group.ip() {
        IpAddr::V4(four) => (
            "/proc/self/net/igmp",
            format!("{:08X}", u32::from_ne_bytes(four.octets())),
        ),
        IpAddr::V6(six) => ("/proc/self/net/igmp6", format!("{:032x}", u128::from(six))),
    };
    let list = std::fs::read_to_string(list).expect("the kernel's list");
    list.lines().filter(|line| line.contains(&group)).count()
}

fn members_leave_with_their_sockets(family: &Family) {
    assert_eq!(memberships(family), 0, "{}", family.group);
    let members = [family.join(named("g0"), None), family.join(named("g1"), None)];
    assert_eq!(memberships(family), 2);
    drop(members);
    assert_eq!(memberships(family), 0);
}

fn what_is_no_group(family: &Family) {
    let join = |address: IpAddr, options: &MembershipOptions| {
        UdpSocket::join(SocketAddr::new(address, 0), options).err()
    };
    let plain = MembershipOptions::default();
    assert!(matches!(
        join(family.own[0], &plain),
        Some(IoError::NotAGroup { .. })
    ));
    let other: IpAddr = if family.group.is_ipv4() {
        "fd77::1"
    } else {
        "10.77.0.1"
    }
    .parse()
    .unwrap();
    let of_other_family = MembershipOptions {
        source: Some(other),
        ..MembershipOptions::default()
    };
    assert!(matches!(
        join(family.group.ip(), &of_other_family),
        Some(IoError::NotAGroup { .. })
    ));
    for interface in [
        named("g9"),
        named(""),
        named("a\0b"),
        Interface::Address("10.99.0.1".parse().unwrap()),
    ] {
        let options = MembershipOptions {
            interface,
            ..MembershipOptions::default()
        };
        let error = join(family.group.ip(), &options).expect("no such interface");
        assert!(matches!(error, IoError::NoInterface { .. }), "{error}");
        assert!(error.to_string().contains("no interface"), "{error}");
    }
}
