//! Chunks, boundaries and memory of the octets in order.

use super::*;

fn data(item: Option<Item>) -> (u64, Vec<u8>, bool) {
    match item {
        Some(Item::Data { seq, bytes, eom }) => (seq, bytes.to_vec(), eom),
        other => panic!("no data: {other:?}"),
    }
}

#[test]
fn data_never_crosses_a_boundary() {
    let mut ready = Ready::new(10);
    ready.push(Payload::Copy(b"abc"));
    ready.mark_eom();
    ready.push(Payload::Copy(b"de"));
    ready.push_tag(5);
    ready.push(Payload::Copy(b"f"));
    ready.push_gap(4);
    ready.push_gap(6);
    ready.push(Payload::Copy(b"gh"));
    assert_eq!((ready.start(), ready.end(), ready.stored()), (10, 36, 16));
    assert_eq!(ready.read(0), None);
    assert_eq!(data(ready.read(2)), (10, b"ab".to_vec(), false));
    assert_eq!(data(ready.read(99)), (12, b"c".to_vec(), true));
    assert_eq!(data(ready.read(99)), (13, b"de".to_vec(), false));
    assert_eq!(ready.read(99), Some(Item::Tag { seq: 15, tag: 5 }));
    assert_eq!(data(ready.read(99)), (23, b"f".to_vec(), false));
    assert_eq!(ready.read(99), Some(Item::Gap { seq: 24, len: 10 }));
    assert_eq!(data(ready.read(99)), (34, b"gh".to_vec(), false));
    assert_eq!(ready.read(99), None);
    assert_eq!((ready.start(), ready.stored()), (36, 0));
}

#[test]
fn plain_reading_takes_whole_chunks_and_stops_before_whatever_is_not_octets() {
    let chunk = |octet: u8| Bytes::from(vec![octet; SHARE_MIN]);
    let (len, mark) = (SHARE_MIN as u64, |ready: &mut Ready, what: u8| match what {
        0 => ready.mark_eom(),
        1 => ready.push_tag(5),
        2 => ready.push_gap(9),
        _ => {}
    });
    for what in 0..4 {
        let mut ready = Ready::new(7);
        (0..4).for_each(|octet| ready.push(Payload::Shared(chunk(octet))));
        mark(&mut ready, what);
        (4..6).for_each(|octet| ready.push(Payload::Shared(chunk(octet))));
        let mut taken = Vec::new();
        // Not a part of a chunk, and no more than asked for.
        ready.read_plain(len - 1, |seq, bytes| taken.push((seq, bytes)));
        assert_eq!(taken, []);
        ready.read_plain(3 * len - 1, |seq, bytes| taken.push((seq, bytes)));
        assert_eq!(taken, [(7, chunk(0).into()), (7 + len, chunk(1).into())]);
        ready.read_plain(u64::MAX - 100, |seq, bytes| taken.push((seq, bytes)));
        // The last one before the end of a message carries the mark.
        let expected = [3, 4, 4, 6][what as usize];
        assert_eq!(taken.len(), expected, "{what}");
        assert_eq!(ready.start(), 7 + expected as u64 * len);
        match (what, ready.read(99_999)) {
            (0, Some(Item::Data { bytes, eom: true, .. })) => assert_eq!(bytes, chunk(3)),
            (1, Some(Item::Tag { tag: 5, .. })) | (2, Some(Item::Gap { len: 9, .. })) | (3, None) => {}
            (_, other) => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn a_run_is_read_as_if_its_packets_had_come_one_by_one() {
    let (head, len) = (32, SHARE_MIN + 5);
    for count in [0, 1, 2, 7] {
        let run: Bytes = (0..count * (head + len)).map(|at| (at % 251) as u8).collect();
        let (mut one, mut other) = (Ready::new(3), Ready::new(3));
        for ready in [&mut one, &mut other] {
            // Copied octets that wait go before it.
            ready.push(Payload::Copy(b"before"));
        }
        one.push_run(run.clone(), head, len);
        for packet in run.chunks(head + len) {
            other.push(Payload::Shared(run.slice_ref(&packet[head..])));
        }
        assert_eq!((one.end(), one.stored()), (other.end(), other.stored()));
        for _ in 0..count + 2 {
            assert_eq!(one.read(99_999), other.read(99_999), "{count}");
        }
        assert!(one.is_empty());
    }
}

#[test]
fn a_run_is_read_in_any_portions() {
    let (head, len, count) = (32, SHARE_MIN, 7);
    let run: Bytes = (0..count * (head + len)).map(|at| (at % 251) as u8).collect();
    let octets: Vec<u8> = run
        .chunks(head + len)
        .flat_map(|packet| packet[head..].to_vec())
        .collect();
    for portion in [1, 100, len - 1, len, len + 1, 2 * len + 5, 99_999] {
        let mut ready = Ready::new(3);
        ready.push_run(run.clone(), head, len);
        let (mut read, mut plainly) = (Vec::new(), true);
        while !ready.is_empty() {
            assert_eq!(ready.start(), 3 + read.len() as u64);
            let before = read.len();
            if plainly {
                ready.read_plain(portion as u64, |seq, part| {
                    assert_eq!(seq, 3 + read.len() as u64);
                    part.parts().for_each(|part| read.extend_from_slice(part));
                });
                // Whole packets, and as many as fit.
                let left = (octets.len() - before) / len * len;
                let whole = (octets.len() - before).is_multiple_of(len);
                assert!(!whole || read.len() - before == left.min(portion / len * len));
            } else if let Some(Item::Data { bytes, .. }) = ready.read(portion) {
                assert!(bytes.len() <= portion && !bytes.is_empty());
                read.extend_from_slice(&bytes);
            }
            assert_eq!(ready.stored() as usize, octets.len() - read.len());
            plainly = !plainly;
        }
        assert_eq!(read, octets, "{portion}");
    }
}

#[test]
fn a_message_that_is_only_a_tag_ends_with_no_octets() {
    let mut ready = Ready::new(0);
    ready.push_tag(1);
    ready.mark_eom();
    ready.push_tag(2);
    ready.push(Payload::Copy(b"x"));
    assert_eq!(ready.read(9), Some(Item::Tag { seq: 0, tag: 1 }));
    assert_eq!(data(ready.read(9)), (8, Vec::new(), true));
    assert_eq!(ready.read(9), Some(Item::Tag { seq: 8, tag: 2 }));
    assert_eq!(data(ready.read(9)), (16, b"x".to_vec(), false));
}

#[test]
fn a_reader_that_keeps_up_uses_the_same_memory_again() {
    let mut ready = Ready::new(0);
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..10_000 {
        ready.push(Payload::Copy(&[7; 100]));
        match ready.read(100) {
            Some(Item::Data { bytes, .. }) => places.insert(bytes.as_ptr() as usize),
            other => panic!("{other:?}"),
        };
    }
    assert!(
        places.len() <= 5,
        "100 octets fit five times into 512, not at {} places",
        places.len()
    );
}

#[test]
fn the_octets_of_a_packet_stay_together() {
    let mut ready = Ready::new(0);
    let mut packets = Vec::new();
    for number in 0..100usize {
        let packet = vec![number as u8; 1 + number * 97 % 1500];
        ready.push(Payload::Copy(&packet));
        ready.mark_eom();
        packets.push(packet);
    }
    for packet in packets {
        let (_, octets, eom) = data(ready.read(usize::MAX));
        assert!(eom);
        assert_eq!(octets, packet);
    }
}

#[test]
fn tiny_packets_share_chunks() {
    let mut ready = Ready::new(0);
    for _ in 0..4096 {
        ready.push(Payload::Copy(b"x"));
        ready.push(Payload::Shared(Bytes::from_static(b"y")));
        ready.push_kept(Bytes::from_static(b"z"));
    }
    assert_eq!(ready.stored(), 3 * 4096);
    assert!(ready.chunks.len() <= 8, "{} chunks", ready.chunks.len());
}

#[test]
fn large_shared_payloads_are_not_copied() {
    let packet = Bytes::from(vec![1; SHARE_MIN]);
    let mut ready = Ready::new(0);
    ready.push(Payload::Copy(b"before"));
    ready.push(Payload::Shared(packet.clone()));
    ready.push(Payload::Copy(b"behind"));
    assert_eq!(data(ready.read(9999)).1, b"before");
    match ready.read(9999) {
        Some(Item::Data { bytes, .. }) => assert_eq!(bytes.as_ptr(), packet.as_ptr()),
        other => panic!("{other:?}"),
    }
    assert_eq!(data(ready.read(9999)).1, b"behind");
}

#[test]
fn discarding_forgets_octets_and_boundaries() {
    let mut ready = Ready::new(3);
    ready.push(Payload::Copy(&[1; 5000]));
    ready.mark_eom();
    ready.push_tag(1);
    ready.push_gap(2);
    ready.discard_all();
    assert_eq!((ready.start(), ready.end(), ready.stored()), (5013, 5013, 0));
    assert_eq!(ready.read(1), None);
    ready.push(Payload::Copy(b"z"));
    assert_eq!(data(ready.read(1)), (5013, b"z".to_vec(), false));
}

#[test]
fn packets_for_which_room_was_made_are_read_as_one() {
    for (before, part) in [(0, 100), (0, 1_440), (10, 1_440), (0, 30_000)] {
        let mut ready = Ready::new(0);
        ready.push(Payload::Copy(&vec![9; before]));
        ready.reserve(3 * part);
        (0..3).for_each(|_| ready.push(Payload::Copy(&vec![1; part])));
        ready.mark_eom();
        if before > 0 && 3 * part > CHUNK {
            assert_eq!(data(ready.read(9_999)).1, vec![9; before]);
        }
        let (_, octets, eom) = data(ready.read(usize::MAX));
        assert!(eom && octets.len() >= 3 * part, "{} of {part}", octets.len());
    }
    // Nothing of memory of its own is kept.
    let mut ready = Ready::new(0);
    ready.reserve(30_000);
    ready.push(Payload::Copy(&[1; 30_000]));
    match ready.read(usize::MAX) {
        Some(Item::Data { bytes, .. }) => assert!(bytes.is_unique()),
        other => panic!("{other:?}"),
    }
}
