//! Counters as the kernel prints them.

use super::{Meter, packets_in, softirq_ticks};

const TABLE: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000      40    0    0    0     0          0         0     1000      40    0    0    0     0       0          0
 veth0:12345678  100    0    0    0     0          0         0   654321      23    0    0    0     0       0          0
";

#[test]
fn a_packet_on_loopback_counts_once() {
    assert_eq!(packets_in(TABLE, "lo"), Some(40));
    assert_eq!(packets_in(TABLE, "veth0"), Some(123));
    assert_eq!(packets_in(TABLE, "eth0"), None);
    assert_eq!(packets_in("", "lo"), None);
}

#[test]
fn softirq_is_the_seventh_number() {
    let stat = "cpu  1 2 3 4 5 6 77 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
    assert_eq!(softirq_ticks(stat), 77);
    assert_eq!(softirq_ticks("intr 5\n"), 0);
}

#[test]
fn packets_are_counted_on_a_real_interface() {
    let meter = Meter::start("lo");
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let there = receiver.local_addr().expect("bound");
    for _ in 0..10 {
        sender.send_to(b"counted", there).expect("sends");
    }
    let reading = meter.read();
    // Other programs may use the interface meanwhile.
    assert!(reading.packets.expect("an interface") >= 10, "{reading:?}");
    assert_eq!(Meter::start("no-such-interface").read().packets, None);
}
