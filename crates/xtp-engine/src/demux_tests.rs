//! The tables of keys and peers.

use core::net::SocketAddr;

use super::{Demux, FRESH, PEER_LIMIT};

fn peer(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], port))
}

fn sorted(demux: &Demux, at: SocketAddr) -> Vec<u32> {
    let mut slots: Vec<_> = demux.by_peer(at).collect();
    slots.sort_unstable();
    slots
}

#[test]
fn own_and_foreign_keys_are_different_worlds() {
    let mut demux = Demux::new([7; 16]);
    assert!(demux.insert_own(5, 1));
    assert!(demux.insert_foreign(peer(1), 5, 2));
    assert!(demux.insert_foreign(peer(2), 5, 3));
    assert_eq!(demux.own(5), Some(1));
    assert_eq!(demux.foreign(peer(1), 5), Some(2));
    assert_eq!(demux.foreign(peer(2), 5), Some(3));
    assert_eq!(demux.foreign(peer(3), 5), None);
    assert_eq!(demux.own(6), None);
}

#[test]
fn a_taken_key_is_not_taken_over() {
    let mut demux = Demux::new([7; 16]);
    assert!(demux.insert_own(5, 1));
    assert!(!demux.insert_own(5, 2));
    assert_eq!(demux.own(5), Some(1));
    assert!(demux.insert_foreign(peer(1), 5, 1));
    assert!(!demux.insert_foreign(peer(1), 5, 2));
    assert_eq!(demux.foreign(peer(1), 5), Some(1));
    assert_eq!(demux.remove_own(5), Some(1));
    assert_eq!(demux.remove_own(5), None);
    assert!(demux.insert_own(5, 2));
    assert_eq!(demux.remove_foreign(peer(1), 5), Some(1));
    assert_eq!(demux.foreign(peer(1), 5), None);
}

#[test]
fn key_zero_is_nobodys() {
    let mut demux = Demux::new([7; 16]);
    assert!(!demux.insert_own(0, 1));
    assert!(!demux.insert_foreign(peer(1), 0, 1));
    assert_eq!((demux.own(0), demux.foreign(peer(1), 0)), (None, None));
}

#[test]
fn contexts_of_a_peer_come_and_go() {
    let mut demux = Demux::new([7; 16]);
    for slot in 0..6 {
        demux.insert_peer(peer(1), slot);
    }
    demux.insert_peer(peer(2), 9);
    assert!(demux.remove_peer(peer(1), 2));
    assert!(!demux.remove_peer(peer(1), 2));
    assert_eq!(sorted(&demux, peer(1)), [0, 1, 3, 4, 5]);
    assert_eq!(sorted(&demux, peer(2)), [9]);
    assert!(demux.remove_peer(peer(2), 9));
    assert!(!demux.remove_peer(peer(2), 9));
    assert_eq!(demux.by_peer(peer(2)).count(), 0);
    for slot in 100..100 + 2 * FRESH as u32 {
        demux.insert_peer(peer(3), slot);
    }
    assert_eq!(demux.peers.len(), 2, "many are found by a table");
    assert_eq!(sorted(&demux, peer(1)), [0, 1, 3, 4, 5]);
    assert_eq!(demux.by_peer(peer(3)).count(), 2 * FRESH);
    for slot in 100..100 + 2 * FRESH as u32 {
        assert!(demux.remove_peer(peer(3), slot));
    }
    assert_eq!(demux.peers.len(), 1, "a peer without contexts costs nothing");
}

#[test]
fn the_contexts_of_a_peer_are_bounded() {
    let mut demux = Demux::new([7; 16]);
    for slot in 0..2 * PEER_LIMIT as u32 {
        demux.insert_peer(peer(1), slot);
    }
    let found = demux.by_peer(peer(1)).count();
    assert!((PEER_LIMIT..=PEER_LIMIT + FRESH).contains(&found), "{found}");
    assert!(demux.remove_peer(peer(1), 0));
    assert!(
        !demux.remove_peer(peer(1), PEER_LIMIT as u32),
        "not found by its peer"
    );
}
