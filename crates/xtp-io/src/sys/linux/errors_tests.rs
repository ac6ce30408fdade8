//! Reports of every kind, as the kernel writes them.

use std::net::{IpAddr, Ipv6Addr};

use super::super::super::cmsg::{ControlBuffer, ControlMessage};
use super::{ErrorReport, report};
use crate::error::SocketErrorKind;

/// A `sock_extended_err` with error number and information, and a socket address behind it.
fn extended(code: i32, info: u32, address: &[u8]) -> Vec<u8> {
    let mut octets = code.to_ne_bytes().to_vec();
    octets.extend([2, 3, 3, 0]);
    octets.extend(info.to_ne_bytes());
    octets.extend([0; 4]);
    octets.extend(address);
    octets
}

fn read(level: i32, kind: i32, value: &[u8]) -> Option<ErrorReport> {
    let mut control = ControlBuffer::<128>::new();
    let used = control.push(0, level, kind, value);
    control
        .messages(used)
        .find_map(|message: ControlMessage<'_>| report(&message))
}

fn read4(code: i32, info: u32) -> Option<ErrorReport> {
    read(libc::SOL_IP, libc::IP_RECVERR, &extended(code, info, &[0; 16]))
}

#[test]
fn every_error_number_has_its_kind() {
    use SocketErrorKind::{MessageTooBig, Other, Unreachable};
    for code in [
        libc::ECONNREFUSED,
        libc::EHOSTUNREACH,
        libc::ENETUNREACH,
        libc::EACCES,
    ] {
        assert_eq!(read4(code, 0), Some((Unreachable, code, None)));
    }
    assert_eq!(
        read4(libc::EMSGSIZE, 1280),
        Some((MessageTooBig { mtu: 1280 }, libc::EMSGSIZE, None))
    );
    assert_eq!(read4(libc::EPROTO, 0), Some((Other, libc::EPROTO, None)));
}

#[test]
fn the_reporter_is_read_in_both_families() {
    let mut four = (libc::AF_INET as u16).to_ne_bytes().to_vec();
    four.extend([0, 0, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let value = extended(libc::EHOSTUNREACH, 0, &four);
    let (_, _, reporter) = read(libc::SOL_IP, libc::IP_RECVERR, &value).expect("a report");
    assert_eq!(reporter, Some(IpAddr::from([192, 0, 2, 1])));

    let ip: Ipv6Addr = "2001:db8::1".parse().expect("an address");
    let mut six = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
    six.extend([0; 6]);
    six.extend(ip.octets());
    six.extend([0; 4]);
    let value = extended(libc::EHOSTUNREACH, 0, &six);
    let (_, _, reporter) = read(libc::SOL_IPV6, libc::IPV6_RECVERR, &value).expect("a report");
    assert_eq!(reporter, Some(IpAddr::V6(ip)));
}

#[test]
fn other_messages_and_short_ones_are_no_reports() {
    let value = extended(libc::ECONNREFUSED, 0, &[]);
    assert_eq!(read(libc::SOL_IP, libc::IP_TOS, &value), None);
    assert_eq!(read(libc::SOL_IP, libc::IP_RECVERR, &value[..3]), None);
    assert_eq!(
        read(
            libc::SOL_IP,
            libc::IP_RECVERR,
            &extended(libc::EMSGSIZE, 0, &[])[..8]
        ),
        None
    );
    let (_, code, reporter) = read(libc::SOL_IP, libc::IP_RECVERR, &value).expect("a report");
    assert_eq!((code, reporter), (libc::ECONNREFUSED, None));
}
