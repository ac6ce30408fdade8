//! What a refusal of the kernel means, and how long its answers are believed.

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
fn a_refusal_names_a_shorter_datagram_or_the_end_of_them() {
    use OversizeOutcome::{Fits, Narrow};
    let silent = usize::MAX;
    for (octets, carries, expected) in [
        (1_200, 1_172, Fits(Some(1_172))),
        (1_200, 548, Fits(Some(548))),
        (1_200, 272, Fits(Some(548))),
        // A route that promises more than its interface carries, or a kernel that says nothing.
        (1_200, 1_472, Fits(Some(548))),
        (1_200, silent, Fits(Some(548))),
        (1_201, silent, Fits(None)),
        (65_507, silent, Fits(None)),
        (549, silent, Fits(Some(548))),
        (548, 272, Narrow(272)),
        (548, silent, Narrow(547)),
        (300, 1_472, Narrow(299)),
        (1, silent, Narrow(0)),
    ] {
        assert_eq!(judge(octets, carries), expected, "{octets} where {carries} fit");
    }
}

#[test]
fn each_refusal_leads_to_a_shorter_datagram() {
    for octets in 549..3_000 {
        for carries in [1, 300, 548, 549, 1_200, 1_472, usize::MAX] {
            match judge(octets, carries) {
                OversizeOutcome::Fits(Some(fits)) => assert!(fits < octets && fits >= LEAST_DATAGRAM),
                OversizeOutcome::Fits(None) => assert!(octets > BASE_DATAGRAM),
                OversizeOutcome::Narrow(_) => panic!("{octets} may be shorter still"),
            }
        }
    }
}

#[test]
fn an_answer_is_believed_for_a_second() {
    let any = "127.0.0.1:0".parse().expect("an address");
    let socket = UdpSocket::bind(any, &xtp_io::SocketOptions::default()).expect("loopback");
    let (mut routes, peer) = (RouteMtus::default(), socket.local_addr());
    let now = Time::ZERO + Duration::from_secs(5);
    assert!(routes.fits(now, peer, LEAST_DATAGRAM) && !routes.fits(now, peer, LEAST_DATAGRAM + 1));
    let (carries, asked) = routes.carries(now, &socket, peer, None);
    assert!(asked && carries >= LEAST_DATAGRAM, "{carries}");
    assert!(routes.is_fresh(now, peer) && routes.fits(now, peer, carries) && carries > 1_400);
    let before = now + BELIEVED - Duration::from_nanos(1);
    assert_eq!(routes.carries(before, &socket, peer, None), (carries, false));
    let after = now + BELIEVED;
    assert!(!routes.is_fresh(after, peer) && !routes.fits(after, peer, carries));
    assert_eq!(routes.carries(after, &socket, peer, None), (carries, true));
}
