//! Messages that wait, are claimed, or cannot be had any more.

use super::*;
use xtp_core::matching::Tags;

fn message(peer: u32, tag: u64, body: Body, length: u64) -> Message {
    Message {
        label: Label {
            peer: PeerNumber(peer),
            tag,
            word: 0,
            length,
        },
        epoch: 0,
        body,
    }
}

fn wanted(token: u64) -> Wanted<Vec<u8>> {
    Wanted {
        memory: Vec::new(),
        token,
    }
}

#[test]
fn octets_that_lie_here_are_counted() {
    let mut receives = Receives::new();
    let whole = || Body::Whole(Parts::from_elem(Bytes::from_static(b"12345"), 1));
    assert!(receives.arrive(message(1, 1, whole(), 5)).is_none());
    assert!(receives.arrive(message(2, 1, whole(), 5)).is_none());
    assert!(
        receives
            .arrive(message(2, 2, Body::Announced(3), 1 << 30))
            .is_none()
    );
    assert_eq!((receives.unexpected(), receives.held()), (3, 10));
    let (claim, label) = receives.claim(From::Any, Tags::Any).unwrap();
    assert_eq!(
        (label.peer, receives.unexpected(), receives.held()),
        (PeerNumber(1), 3, 10)
    );
    assert!(receives.redeem(claim).is_some() && receives.redeem(claim).is_none());
    assert!(
        receives
            .post(From::Peer(PeerNumber(2)), Tags::exact(1), wanted(1))
            .is_err()
    );
    assert_eq!((receives.unexpected(), receives.held()), (1, 0));
}

#[test]
fn of_a_lost_peer_what_is_here_stays_and_what_was_announced_goes() {
    let mut receives = Receives::new();
    for peer in [1, 2] {
        receives.arrive(message(peer, 1, Body::Announced(7), 100));
        receives.arrive(message(peer, 2, Body::Whole(Parts::new()), 0));
        receives.arrive(message(peer, 3, Body::Announced(8), 100));
    }
    let (claim, _) = receives.claim(From::Peer(PeerNumber(1)), Tags::exact(3)).unwrap();
    receives
        .post(From::Peer(PeerNumber(1)), Tags::exact(9), wanted(1))
        .unwrap();
    receives.post(From::Any, Tags::exact(9), wanted(2)).unwrap();
    assert!(receives.waits_for(PeerNumber(1)) && !receives.waits_for(PeerNumber(2)));
    assert_eq!(receives.forget_announced(PeerNumber(1)), 2);
    assert_eq!(receives.unexpected(), 4);
    assert!(receives.redeem(claim).is_none());
    assert_eq!(
        receives.peek(From::Any, Tags::exact(2)).map(|label| label.peer),
        Some(PeerNumber(1))
    );
    assert_eq!(
        receives.peek(From::Any, Tags::exact(1)).map(|label| label.peer),
        Some(PeerNumber(2))
    );
    let token = receives.cancel_one_for(PeerNumber(1)).map(|wanted| wanted.token);
    assert_eq!((token, receives.posted()), (Some(1), 1));
    assert!(receives.cancel_one_for(PeerNumber(1)).is_none());
    receives.forget_all(PeerNumber(2));
    assert_eq!(receives.unexpected(), 1);
}
