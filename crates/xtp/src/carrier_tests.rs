//! What errors and marks of the network mean.

use super::*;

#[test]
fn payload_leaves_room_for_headers() {
    let four: IpAddr = "10.0.0.1".parse().expect("an ip");
    let six: IpAddr = "fe80::1".parse().expect("an ip");
    assert_eq!(payload_of(1_500, four), Some(1_472));
    assert_eq!(payload_of(1_500, six), Some(1_452));
    assert_eq!(payload_of(0, four), None, "a router that does not tell");
    assert_eq!(payload_of(28, four), None);
}

#[test]
fn errors_of_earlier_datagrams_do_not_end_the_socket() {
    for kind in [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::HostUnreachable,
        io::ErrorKind::Interrupted,
    ] {
        assert!(is_transient(&kind.into()), "{kind}");
    }
    for kind in [
        io::ErrorKind::NotConnected,
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::InvalidInput,
    ] {
        assert!(!is_transient(&kind.into()), "{kind}");
    }
}

#[test]
fn ecn_marks_survive_both_ways() {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        assert_eq!(from_io(to_io(ecn)), ecn);
    }
}
