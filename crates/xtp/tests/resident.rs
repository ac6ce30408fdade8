//! What the system keeps for a process that was flooded, alone in its process: memory of tests beside it would be counted.

// Other allocators keep other things, and other systems tell it elsewhere.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod common;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use common::{LONG, PORT, endpoint};
use xtp_wire::seal;

const SOURCES: u8 = 200;
/// Whole datagrams of each source, at most as many as a listener keeps of one.
const EACH: u64 = 20;
const MOST: u64 = 8 << 20;

/// Octets this process has in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibi = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibi.expect("kB") << 10
}

/// A datagram of a stranger, caught.
fn datagram() -> Vec<u8> {
    let catcher = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
    let address = catcher.local_addr().expect("bound");
    endpoint()
        .send_datagram(address, PORT, vec![1; 100])
        .expect("loopback");
    let mut packet = vec![0; 1_500];
    let length = catcher.recv(&mut packet).expect("loopback");
    packet.truncate(length);
    packet
}

#[test]
fn memory_goes_back_to_the_system_after_a_flood() {
    let server = endpoint();
    let listener = server.listen(PORT).expect("free");
    let (address, mut packet): (SocketAddr, _) = (server.local_addr(), datagram());
    let take = |count: u64| (0..count).for_each(|_| drop(listener.recv_message().expect("one of them")));
    let (mut number, mut taken, mut before, mut most) = (0_u64, 0, 0, 0);
    // What the first few need stays; and two floods take no more than one.
    for sources in [1, SOURCES, SOURCES] {
        for source in 1..=sources {
            let socket = UdpSocket::bind((Ipv4Addr::new(127, 4, 0, source), 0)).expect("loopback");
            for _ in 0..EACH {
                number += 1;
                packet[..8].copy_from_slice(&number.to_be_bytes());
                seal(&mut packet, []);
                socket.send_to(&packet, address).expect("loopback");
            }
            while server.stats().engine.received < number {
                server.progress_timeout(LONG).expect("loopback");
            }
        }
        most = resident();
        // Of the second flood some are dropped where it follows too soon.
        let there = number - server.stats().engine.ignored;
        take(there - taken);
        taken = there;
        // A moment to rest.
        server
            .progress_timeout(Duration::from_millis(50))
            .expect("loopback");
        if before == 0 {
            before = resident();
        }
    }
    let after = resident();
    assert!(most > before + MOST, "nothing was held: {before}, {most}");
    assert!(
        after < before + MOST,
        "{before} before, {most} at most, {after} after"
    );
}
