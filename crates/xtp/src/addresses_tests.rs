//! Parsing of the kernel's tables, and the list on this host.

use super::*;

const TRIE: &str = "Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.0
           /24 link UNICAST
        |-- 192.0.2.17
           /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
";

const INET6: &str = "\
00000000000000000000000000000001 01 80 10 80       lo
fe800000000000000042acfffe110002 15 40 20 80     eth0
nonsense
";

#[test]
fn only_local_leaves_count() {
    let found: Vec<Ipv4Addr> = ipv4_of(TRIE).collect();
    assert_eq!(found, [Ipv4Addr::new(192, 0, 2, 17)]);
}

#[test]
fn interface_lines_are_addresses() {
    let found: Vec<Ipv6Addr> = ipv6_of(INET6).collect();
    let expected: [Ipv6Addr; 2] =
        ["::1", "fe80::42:acff:fe11:2"].map(|text| text.parse().expect("an address"));
    assert_eq!(found, expected);
}

#[test]
fn links_have_link_local_addresses() {
    let (index, name) = (0x15, "eth0".to_owned());
    assert_eq!(links_of(INET6), [Link { index, name }]);
}

#[test]
#[cfg(target_os = "linux")]
fn every_address_found_here_is_an_interfaces() {
    for ip in own() {
        assert!(xtp_io::Interface::Address(ip).index().is_ok(), "{ip}");
    }
}
