//! What the portable back end tells and what it cannot know.

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use xtp_io::{Backend, EcnCodepoint, SendOutcome, SendTrain, UdpSocket};

use crate::support::{bind, bind4, options, receive_each};

/// Sends one datagram to `dst` and returns the destination its receiver saw.
fn destination_seen(sender: &UdpSocket, receiver: &UdpSocket, dst: SocketAddr) -> Option<IpAddr> {
    let pieces = [IoSlice::new(b"plain")];
    let train = SendTrain {
        class: EcnCodepoint::Ce.into(),
        ..SendTrain::new(dst, 5, &pieces)
    };
    assert_eq!(sender.send(&train).expect("sent"), SendOutcome::Sent);
    let mut seen = None;
    receive_each(receiver, 1, |datagram| {
        assert_eq!(
            (datagram.src, datagram.data),
            (sender.local_addr(), &b"plain"[..])
        );
        assert_eq!((datagram.interface, datagram.ecn), (None, EcnCodepoint::NotEct));
        seen = datagram.dst;
    });
    seen
}

#[test]
fn the_plain_back_end_tells_what_it_knows() {
    let plain = options(|o| o.backend = Backend::Plain);
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (sender, bound) = (bind4(&plain), bind4(&plain));
    assert_eq!(
        destination_seen(&sender, &bound, bound.local_addr()),
        Some(localhost)
    );
    let any = bind(IpAddr::V4(Ipv4Addr::UNSPECIFIED), &plain);
    let dst = SocketAddr::new(localhost, any.local_addr().port());
    assert_eq!(
        destination_seen(&sender, &any, dst),
        None,
        "bound to every address, it cannot know"
    );
}

#[test]
fn the_plain_back_end_claims_no_offloads() {
    let socket = bind4(&options(|o| o.backend = Backend::Plain));
    let found = socket.capabilities();
    assert_eq!((found.backend, found.max_segments), ("plain", 1));
    assert!(!(found.gso || found.gro || found.sendmmsg || found.recvmmsg || found.ecn));
    assert!(!(found.pktinfo || found.error_queue || found.dont_fragment || found.rxq_overflow));
    assert!(!socket.gso_active());
}
