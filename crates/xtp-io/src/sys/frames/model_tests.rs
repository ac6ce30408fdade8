//! Every order in which threads may see what others do to frames (`cargo xtask model`).
//!
//! Two that send, the system that reads what it was lent, and who hears of acknowledgements: no room is written while
//! somebody reads it. Put in by hand, each of these was seen to fail: `Relaxed` where `busy` is taken or let go, or letting go
//! of what another holds (`senders_of_the_same_frames_take_turns`); `Relaxed` where a loan is looked for or ended, or no look
//! at all (`what_is_lent_is_not_written_before_it_was_read`); a loan noted by a load and a store
//! (`loans_of_one_block_end_apart`); pages that are not replaced (`who_reads_late_reads_what_was_lent`).

use loom::sync::Arc;
use loom::thread;

use super::FrameMemory;

const ROOM: usize = 32;
/// Of a frame: four of them are a block.
const PAYLOAD: usize = 16_288;

/// Two blocks of four frames.
fn memory() -> Arc<FrameMemory> {
    let memory = FrameMemory::new(ROOM, PAYLOAD, 8 * PAYLOAD);
    assert_eq!((memory.lends(), memory.together(0)), (true, 4));
    Arc::new(memory)
}

/// Whether frames were shown; to somebody who goes on referring to them, or not.
fn send(memory: &FrameMemory, first: usize, count: usize, kept: bool) -> bool {
    memory.with_heads(first, &[1; 4 * ROOM][..count * ROOM], &mut |_| kept)
}

/// Another thread with the memory.
fn beside(
    memory: &Arc<FrameMemory>,
    act: impl FnOnce(&FrameMemory) + Send + 'static,
) -> thread::JoinHandle<()> {
    let memory = Arc::clone(memory);
    thread::spawn(move || act(&memory))
}

fn end(thread: thread::JoinHandle<()>) {
    thread.join().expect("no panic");
}

#[test]
fn senders_of_the_same_frames_take_turns() {
    loom::model(|| {
        let memory = memory();
        let other = beside(&memory, |memory| {
            // Who is kept out lets nobody else in.
            let _ = send(memory, 0, 2, false) || send(memory, 0, 2, false);
        });
        send(&memory, 1, 2, false);
        end(other);
        assert!(send(&memory, 0, 4, false), "nobody is there any more");
    });
}

#[test]
fn what_is_lent_is_not_written_before_it_was_read() {
    loom::model(|| {
        let memory = memory();
        assert!(send(&memory, 0, 2, true));
        let system = memory.refer(0, 2);
        let other = beside(&memory, move |memory| {
            system.read();
            memory.give_back(0, 2);
        });
        send(&memory, 1, 2, false);
        end(other);
        assert!(!memory.is_lent());
        assert!(send(&memory, 0, 2, false));
    });
}

#[test]
fn loans_of_one_block_end_apart() {
    loom::model(|| {
        let memory = memory();
        assert!(send(&memory, 0, 1, true));
        assert!(send(&memory, 1, 1, true));
        let others = [0, 1].map(|first| {
            let system = memory.refer(first, 1);
            beside(&memory, move |memory| {
                system.read();
                memory.give_back(first, 1);
            })
        });
        // Another loan of the block begins meanwhile.
        let lent = send(&memory, 2, 1, true);
        send(&memory, 0, 1, false);
        others.into_iter().for_each(end);
        assert_eq!(memory.is_lent(), lent);
        assert!(lent, "nobody else sends");
        memory.give_back(2, 1);
        assert!(send(&memory, 0, 4, false));
    });
}

#[test]
fn who_reads_late_reads_what_was_lent() {
    loom::model(|| {
        let memory = memory();
        assert!(send(&memory, 0, 2, true));
        // A copy of what was sent twice is under way, and nobody is told when it has gone.
        let system = memory.refer(0, 2);
        let late = thread::spawn(move || system.read());
        let other = beside(&memory, |memory| memory.abandon(0, 2));
        send(&memory, 1, 2, false);
        end(other);
        assert_ne!(send(&memory, 1, 2, false), memory.is_lent());
        end(late);
    });
}

#[test]
fn memory_that_is_filled_again_is_nobody_elses() {
    loom::model(|| {
        let memory = memory();
        assert!(send(&memory, 0, 2, true));
        let system = memory.refer(0, 2);
        let driver = Arc::clone(&memory);
        let other = thread::spawn(move || {
            system.read();
            driver.give_back(0, 2);
            assert_eq!(driver.frame(5).len(), PAYLOAD);
            drop(driver);
        });
        if let Ok(mut memory) = Arc::try_unwrap(memory) {
            memory.renew();
            assert_eq!(memory.frames_mut(0).count(), 8);
        }
        end(other);
    });
}
