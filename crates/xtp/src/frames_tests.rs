//! Filling, freezing and getting the memory back.

use std::io::{Read, Write};

use super::{FrameBuffer, FrameBytes};

fn octets(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 7 % 251) as u8).collect()
}

/// What would be sent, frame by frame.
fn frames(data: &FrameBytes) -> Vec<Vec<u8>> {
    (0..)
        .map(|index| data.memory.memory.frame(index).to_vec())
        .take_while(|frame| !frame.is_empty())
        .collect()
}

#[test]
fn frames_are_what_packets_carry() {
    let mut buffer = FrameBuffer::new(100, 250);
    assert_eq!(buffer.write(&octets(300)).unwrap(), 250);
    assert_eq!(buffer.write(b"x").unwrap(), 0);
    assert_eq!(buffer.unfilled().count(), 0);
    let data = buffer.freeze();
    assert_eq!((data.len(), data.packet()), (250, 100));
    let frames = frames(&data);
    assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
    assert_eq!(frames.concat(), octets(250));
}

#[test]
fn long_packets_fill_whole_lines() {
    let data = FrameBuffer::new(65_475, 70_000);
    assert_eq!(data.shared.memory.payload(), 65_440);
    assert_eq!(FrameBuffer::new(1_440, 70_000).shared.memory.payload(), 1_440);
}

#[test]
fn it_is_filled_from_a_reader_piece_by_piece() {
    let source = octets(1_000);
    let mut buffer = FrameBuffer::new(64, 600);
    let mut reader = source.as_slice();
    assert_eq!(buffer.read_from(&mut reader.by_ref().take(70)).unwrap(), 70);
    assert_eq!(buffer.read_from(&mut reader).unwrap(), 530);
    assert_eq!(buffer.read_from(&mut reader).unwrap(), 0);
    assert_eq!((buffer.len(), reader.len()), (600, 400));
    assert_eq!(frames(&buffer.freeze()).concat(), octets(600));
}

#[test]
fn it_is_filled_in_place() {
    let mut buffer = FrameBuffer::new(4, 10);
    buffer.write_all(b"ab").unwrap();
    let places: Vec<usize> = buffer.unfilled().map(|place| place.len()).collect();
    assert_eq!(places, [2, 4, 2]);
    for (place, octet) in buffer.unfilled().zip(*b"cde") {
        place.fill(octet);
    }
    buffer.advance(7);
    assert_eq!(frames(&buffer.freeze()).concat(), b"abccddddee");
}

#[test]
fn the_memory_comes_back_to_its_last_owner() {
    let mut buffer = FrameBuffer::new(10, 30);
    buffer.write_all(b"hello").unwrap();
    let data = buffer.freeze();
    let other = data.clone();
    let data = data.reclaim().unwrap_err();
    drop(other);
    let buffer = data.reclaim().unwrap();
    assert_eq!((buffer.len(), buffer.capacity()), (0, 30));
}

#[test]
fn nothing_fits_nothing() {
    let mut buffer = FrameBuffer::new(0, 0);
    assert_eq!(buffer.write(b"x").unwrap(), 0);
    buffer.advance(5);
    assert!(buffer.is_empty() && buffer.freeze().is_empty());
}
