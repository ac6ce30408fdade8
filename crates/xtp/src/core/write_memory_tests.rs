//! Memory of long writes: used again when it was acknowledged, and given back when nobody writes.

use std::io::Write;

use super::*;

const PACKET: usize = 1_440;

/// Memory that holds something, as if it were under way.
fn written(memory: &mut WriteMemory) -> FrameBytes {
    let mut buffer = memory.room(PACKET);
    buffer.write_all(&[7; 3 * PACKET]).expect("it has room");
    let data = buffer.freeze();
    memory.sent.push_back(data.clone());
    data
}

#[test]
fn what_is_under_way_is_not_written_and_what_arrived_is_used_again() {
    let mut memory = WriteMemory::default();
    let (first, second) = (written(&mut memory), written(&mut memory));
    assert_eq!(memory.sent.len(), 2);
    assert!(!memory.release(), "both are under way");
    assert_eq!((first.len(), second.len()), (3 * PACKET, 3 * PACKET));
    drop(first);
    let room = memory.room(PACKET);
    assert!(room.is_empty() && room.capacity() >= 64 * PACKET);
    assert_eq!(memory.sent.len(), 1, "the first was used again");
    drop(second);
    assert!(memory.release() && memory.sent.is_empty());
}

#[test]
fn memory_of_other_packets_goes() {
    let mut memory = WriteMemory::default();
    drop(written(&mut memory));
    assert_eq!(memory.room(PACKET + 1).packet(), PACKET + 1);
    assert!(memory.sent.is_empty());
}

#[test]
fn memory_for_long_packets_is_used_again_when_it_arrived() {
    let mut memory = WriteMemory::default();
    let put = |memory: &mut WriteMemory, octets: usize| {
        let mut room = memory.plain_room(octets);
        assert!(room.is_empty() && room.capacity() >= octets);
        room.extend_from_slice(&vec![7; octets]);
        let data = room.freeze();
        memory.plain.push_back(data.clone());
        data
    };
    let first = put(&mut memory, 200_000);
    let place = first.as_ptr();
    let second = put(&mut memory, 200_000);
    assert_ne!(second.as_ptr(), place);
    drop(first);
    let third = put(&mut memory, 100_000);
    assert_eq!((third.as_ptr(), memory.plain.len()), (place, 2));
    // What is too short for what is written now goes.
    drop((second, third));
    drop(put(&mut memory, 1_000_000));
    assert!(memory.plain.len() == 1 && memory.release() && memory.plain.is_empty());
}

#[test]
fn a_piece_of_short_writes_is_used_again_when_all_in_it_arrived() {
    const PIECE: usize = 64 << 10;
    let mut memory = WriteMemory::default();
    let mut piece = BytesMut::with_capacity(PIECE);
    let mut write = |piece: &mut BytesMut| {
        if piece.capacity() < PIECE / 4 {
            *piece = memory.short_room(Time::ZERO, std::mem::take(piece), PIECE);
        }
        piece.extend_from_slice(&[7; PIECE / 4]);
        piece.split().freeze()
    };
    let first: Vec<Bytes> = (0..4).map(|_| write(&mut piece)).collect();
    let place = first[0].as_ptr();
    let second: Vec<Bytes> = (0..4).map(|_| write(&mut piece)).collect();
    assert!(first.iter().all(|held| held[..] == [7; PIECE / 4]));
    drop(first);
    let third = write(&mut piece);
    assert_eq!(third.as_ptr(), place);
    assert!(second.iter().all(|held| held[..] == [7; PIECE / 4]));
    assert_eq!(memory.short.len(), 1, "the second");
    assert!(memory.release() && memory.short.is_empty());
}

#[test]
fn who_writes_much_has_large_pages() {
    let mut memory = WriteMemory::default();
    let mut places = Vec::new();
    let held: Vec<_> = (0..OWN + 8)
        .map(|_| {
            let mut buffer = memory.room(PACKET);
            places.push(buffer.unfilled().next().expect("room").as_ptr() as usize);
            memory.sent.push_back(buffer.freeze());
            memory.sent.back().cloned()
        })
        .collect();
    let large = &places[OWN..];
    let span = large.iter().max().unwrap() - large.iter().min().unwrap();
    if cfg!(target_os = "linux") {
        assert!(
            span < 2 << 20,
            "eight pieces of 128 KiB lie within one: {large:x?}"
        );
    }
    assert!(!memory.release());
    drop(held);
    assert!(memory.release());
}

#[test]
fn a_train_is_as_many_whole_packets_as_a_system_call_carries() {
    for packet in [512, 1_168, 1_440, 8_940, 32_000, 65_475] {
        let octets = train(packet);
        assert_eq!(octets % packet, 0, "{packet}");
        let packets = octets / packet;
        assert!(
            packets == MAX_SEGMENTS || (packets + 1) * size::packet(packet) > MAX_DATAGRAM,
            "{packet}"
        );
        assert!(octets <= WRITE_BUFFER);
    }
}
