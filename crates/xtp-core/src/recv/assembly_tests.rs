//! Datagrams of several packets: every order, duplicates, overlaps and limits.

use proptest::prelude::*;

use super::*;

fn datagram(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 % 251) as u8).collect()
}

#[test]
fn one_packet_is_not_copied() {
    let packet = Bytes::from(datagram(100));
    let mut assembly = Assembly::new(5);
    assert!(!assembly.is_complete());
    assert_eq!(
        assembly.insert(5, Payload::Shared(packet.clone()), Some(105)),
        Ok(())
    );
    assert!(assembly.is_complete());
    assert_eq!(assembly.held(), 100);
    assert_eq!(assembly.into_bytes().as_ptr(), packet.as_ptr());
}

#[test]
fn an_empty_datagram_is_complete_at_once() {
    let mut assembly = Assembly::new(5);
    assert_eq!(assembly.insert(5, Payload::Copy(&[]), Some(5)), Ok(()));
    assert!(assembly.is_complete());
    assert!(assembly.into_bytes().is_empty());
}

#[test]
fn nothing_is_complete_before_the_last_packet_is_known() {
    let all = datagram(30);
    let mut assembly = Assembly::new(0);
    for seq in [0, 10] {
        assembly
            .insert(seq, Payload::Copy(&all[seq as usize..][..10]), None)
            .expect("short");
        assert!(!assembly.is_complete());
    }
    assembly
        .insert(20, Payload::Copy(&all[20..]), Some(30))
        .expect("short");
    assert!(assembly.is_complete());
    assert_eq!(assembly.into_bytes(), all);
}

#[test]
fn a_datagram_above_the_limit_is_refused_without_being_held() {
    let mut assembly = Assembly::new(9);
    let limit = 9 + MAX_OCTETS as u64;
    assert_eq!(
        assembly.insert(limit, Payload::Copy(b"x"), None),
        Err(OversizedDatagram)
    );
    assert_eq!(
        assembly.insert(9, Payload::Copy(b"x"), Some(limit + 1)),
        Err(OversizedDatagram)
    );
    assert_eq!(
        assembly.insert(u64::MAX, Payload::Copy(b"xy"), None),
        Err(OversizedDatagram)
    );
    assert_eq!(assembly.held(), 0);
    assert_eq!(
        assembly.insert(limit - 1, Payload::Copy(b"x"), Some(limit)),
        Ok(())
    );
    let most = vec![1; MAX_OCTETS];
    assert_eq!(
        assembly.insert(9, Payload::Copy(&most[..MAX_OCTETS - 1]), None),
        Ok(())
    );
    assert!(assembly.is_complete());
    let whole = assembly.into_bytes();
    assert_eq!(whole.len(), MAX_OCTETS);
    assert_eq!(whole.last(), Some(&b'x'));
}

#[test]
fn overlapping_early_packets_are_bounded() {
    let packet = vec![1; 60_000];
    let mut assembly = Assembly::new(0);
    let accepted = (1..1000u64).take_while(|&seq| assembly.insert(seq, Payload::Copy(&packet), None).is_ok());
    assert_eq!(accepted.count(), MAX_OCTETS / packet.len());
    let mut assembly = Assembly::new(0);
    let accepted =
        (1..=9000u64).take_while(|seq| assembly.insert(2 * seq, Payload::Copy(b"x"), None).is_ok());
    assert_eq!(accepted.count(), MAX_PIECES);
    assert!(assembly.held() >= MAX_PIECES * PIECE_COST);
}

#[test]
fn of_two_early_packets_at_one_position_the_longer_counts() {
    let all = datagram(30);
    let mut assembly = Assembly::new(0);
    for until in [12, 20, 15] {
        assembly
            .insert(10, Payload::Copy(&all[10..until]), None)
            .expect("short");
    }
    assert_eq!(assembly.held(), 10 + PIECE_COST);
    assembly
        .insert(0, Payload::Copy(&all[..10]), None)
        .expect("short");
    assert_eq!(assembly.held(), 20, "nothing is early any more");
    assembly
        .insert(20, Payload::Copy(&all[20..]), Some(30))
        .expect("short");
    assert!(assembly.is_complete());
    assert_eq!(assembly.into_bytes(), all);
}

proptest! {
    #[test]
    fn any_packets_in_any_order_make_the_datagram(
        len in 1usize..3000,
        start in prop_oneof![Just(0u64), 0..1u64 << 62],
        parts in prop::collection::vec((0usize..3000, 1usize..1500, any::<bool>()), 0..40),
        order in any::<u64>(),
    ) {
        let all = datagram(len);
        let mut parts: Vec<(usize, usize, bool)> =
            parts.into_iter().map(|(from, size, shared)| (from % len, (from % len + size).min(len), shared)).collect();
        // Whatever the random parts left out.
        parts.extend((0..len).step_by(700).map(|from| (from, len.min(from + 700), from % 3 == 0)));
        let count = parts.len();
        parts.rotate_left(order as usize % count);
        let mut assembly = Assembly::new(start);
        let mut there = vec![false; len];
        let mut ended = false;
        for (from, until, shared) in parts {
            let data = if shared {
                Payload::Shared(Bytes::copy_from_slice(&all[from..until]))
            } else {
                Payload::Copy(&all[from..until])
            };
            let end = (until == len).then_some(start + len as u64);
            prop_assert_eq!(assembly.insert(start + from as u64, data, end), Ok(()));
            there[from..until].fill(true);
            ended |= until == len;
            prop_assert_eq!(assembly.is_complete(), ended && there.iter().all(|&octet| octet));
        }
        prop_assert!(assembly.is_complete());
        prop_assert_eq!(assembly.into_bytes(), all);
    }
}
