//! Who may write between payloads, and when again.

use xtp_engine::Frames;
use xtp_io::FrameMemory;

use super::testing::owners;
use super::{Arc, Owner, Sending, SharedFrames};

const ROOM: usize = 32;
const PAYLOAD: usize = 1_440;
/// Frames of a block.
const TOGETHER: usize = 44;

/// Three blocks and a half.
fn memory() -> Arc<SharedFrames> {
    let mut memory = FrameMemory::new(ROOM, PAYLOAD, PAYLOAD * TOGETHER * 7 / 2);
    memory.frames_mut(0).for_each(|frame| frame.fill(7));
    Arc::new(SharedFrames::new(memory))
}

fn sending(memory: &Arc<SharedFrames>, owner: &Owner) -> Sending {
    let octets = memory.memory.octets();
    Sending::new(memory.clone(), owner.clone(), octets)
}

/// Writes heads before `count` frames from `first` on; what was seen, if it was written. They are lent if that may be.
fn send(frames: &Sending, first: usize, count: usize) -> Option<Vec<u8>> {
    let (heads, mut seen) = (vec![first as u8; ROOM * count], None);
    frames.with_heads(first, &heads, &mut |octets| {
        seen = Some(octets.to_vec());
        frames.lends()
    });
    seen
}

#[test]
fn what_is_lent_is_written_again_when_it_was_acknowledged() {
    let (memory, [owner]) = (memory(), owners());
    assert!(memory.memory.lends(), "this system lends");
    let first = sending(&memory, &owner);
    assert_eq!(
        send(&first, 0, TOGETHER).map(|seen| seen.len()),
        Some(TOGETHER * (ROOM + PAYLOAD))
    );
    assert!(send(&first, TOGETHER, 5).is_some());
    let second = sending(&memory, &owner);
    assert!(send(&second, 10, 3).is_none(), "lent");
    assert!(send(&second, TOGETHER + 5, 3).is_some(), "not lent");
    first.acknowledged(PAYLOAD);
    assert!(send(&second, 10, 3).is_none(), "not all of it was acknowledged");
    first.acknowledged(memory.memory.octets() - PAYLOAD);
    assert!(send(&second, 10, 3).is_some());
    // What the second has lent is not given back by the first.
    assert!(send(&sending(&memory, &owner), TOGETHER + 6, 1).is_none());
}

#[test]
fn what_was_sent_twice_goes_on_elsewhere() {
    let (memory, [owner]) = (memory(), owners());
    let first = sending(&memory, &owner);
    assert!(send(&first, 0, TOGETHER).is_some());
    let place = memory.memory.frame(3).as_ptr();
    first.sent_again();
    assert!(!first.lends(), "nothing more of it");
    first.acknowledged(memory.memory.octets());
    let seen = send(&sending(&memory, &owner), 0, 2).expect("it is not lent any more");
    let frame = [&[0; ROOM][..], &[7; PAYLOAD]].concat();
    assert_eq!(seen, [&frame[..], &frame].concat(), "the same octets");
    assert_eq!(memory.memory.frame(3).as_ptr(), place, "at the same place");
}

#[test]
fn what_was_never_acknowledged_stays_lent() {
    let (memory, [owner]) = (memory(), owners());
    let first = sending(&memory, &owner);
    assert!(send(&first, 0, 1).is_some());
    drop(first);
    assert!(send(&sending(&memory, &owner), 0, 1).is_none());
    let Ok(mut memory) = Arc::try_unwrap(memory) else {
        panic!("nobody else has it");
    };
    assert!(memory.memory.is_lent());
    memory.memory.renew();
    assert!(!memory.memory.is_lent());
    assert!(
        memory.memory.frame(0).iter().all(|&octet| octet == 0),
        "other pages"
    );
}

#[test]
fn another_association_writes_nothing_into_what_was_lent() {
    let (memory, [owner, other]) = (memory(), owners());
    // Never lent, it is anybody's.
    assert!(send(&sending(&memory, &owner), 0, 1).is_some());
    let stranger = sending(&memory, &other);
    assert!(!stranger.lends());
    assert!(send(&stranger, 3, 1).is_none());
    assert_eq!(stranger.frame(3), [7; PAYLOAD], "read it may");
}

#[test]
fn short_memory_is_not_lent() {
    let (memory, [owner]) = (FrameMemory::new(ROOM, 100, 1_000), owners());
    let frames = sending(&Arc::new(SharedFrames::new(memory)), &owner);
    assert!(!frames.lends());
    assert!(send(&frames, 0, 10).is_some());
    assert!(send(&frames, 0, 10).is_some());
}
