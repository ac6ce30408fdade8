//! Memory on its way through several threads, in every order in which they may see what others do (`cargo xtask model`): its
//! user, who fills, sends and reclaims it; who drives an endpoint, sends trains and hears of acknowledgements; the system,
//! which reads what it was lent.
//!
//! Seen to fail: `may_write` asked before others are kept out, as it once was (`another_writes_nothing_once_it_was_lent`);
//! `reclaim` without `renew`, or `give_back` where something was sent twice (`what_is_filled_again_is_in_nobodys_hands`).

use loom::thread;
use xtp_engine::Frames;
use xtp_io::FrameMemory;

use super::testing::owners;
use super::{Arc, Owner, Sending, SharedFrames};
use crate::frames::{FrameBuffer, FrameBytes};

const ROOM: usize = 32;
/// Of a frame: four of them are a block.
const PAYLOAD: usize = 16_288;

/// A train of `count` frames from `first` on, which is lent where it may be; whether it left as it lies.
fn send(frames: &Sending, first: usize, count: usize) -> bool {
    frames.with_heads(first, &[1; 4 * ROOM][..count * ROOM], &mut |_| frames.lends())
}

#[test]
fn another_writes_nothing_once_it_was_lent() {
    let owners: [Owner; 2] = owners();
    loom::model(move || {
        let memory = FrameMemory::new(ROOM, PAYLOAD, 4 * PAYLOAD);
        let memory = Arc::new(SharedFrames::new(memory));
        let drive = |owner: &Owner| {
            let (memory, owner) = (Arc::clone(&memory), owner.clone());
            move || {
                let frames = Sending::new(Arc::clone(&memory), owner.clone(), 4 * PAYLOAD);
                frames.with_heads(0, &[1; ROOM], &mut |_| {
                    let first = memory.owner.get();
                    assert!(
                        first.is_none_or(|first| *first == owner),
                        "it was lent to another"
                    );
                    frames.lends()
                });
                frames.acknowledged(4 * PAYLOAD);
            }
        };
        let other = thread::spawn(drive(&owners[1]));
        drive(&owners[0])();
        other.join().expect("no panic");
        assert!(memory.owner.get().is_some(), "lent to one of them");
        assert!(!memory.memory.is_lent(), "and given back");
    });
}

/// How an association ends with what it was lent.
#[derive(Copy, Clone)]
enum End {
    Acknowledged,
    /// The same, and some of it was sent twice.
    SentAgain,
    /// It is aborted.
    Left,
}

/// A driver sends a train or two of it, and hears what became of them.
fn drive(bytes: FrameBytes, owner: Owner, end: End) {
    let sending = Sending::new(Arc::clone(&bytes.memory), owner, bytes.octets);
    assert!(send(&sending, 0, 2));
    let system = bytes.memory.memory.refer(0, 2);
    drop(bytes);
    match end {
        End::Acknowledged => {
            send(&sending, 2, 1);
            system.read();
            sending.acknowledged(sending.octets());
        }
        // It is read whenever the system likes.
        End::SentAgain => {
            sending.sent_again();
            thread::spawn(move || system.read());
            sending.acknowledged(sending.octets());
        }
        End::Left => {
            thread::spawn(move || system.read());
        }
    }
}

#[test]
fn what_is_filled_again_is_in_nobodys_hands() {
    for end in [End::Acknowledged, End::SentAgain, End::Left] {
        let [owner] = owners();
        loom::model(move || {
            let mut buffer = FrameBuffer::new(PAYLOAD, 4 * PAYLOAD);
            buffer.advance(4 * PAYLOAD);
            let bytes = buffer.freeze();
            let driver = {
                let (bytes, owner) = (bytes.clone(), owner.clone());
                thread::spawn(move || drive(bytes, owner, end))
            };
            if let Ok(mut buffer) = bytes.reclaim() {
                assert_eq!(buffer.unfilled().count(), 4);
            }
            driver.join().expect("no panic");
        });
    }
}
