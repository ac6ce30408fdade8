//! Heads before payloads, one sender at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::FrameMemory;

fn filled(room: usize, payload: usize, octets: usize) -> FrameMemory {
    let mut memory = FrameMemory::new(room, payload, octets);
    for (index, frame) in memory.frames_mut(0).enumerate() {
        frame.fill(index as u8 + 1);
    }
    memory
}

fn shown(memory: &FrameMemory, first: usize, heads: &[u8]) -> Option<Vec<u8>> {
    let mut seen = None;
    let did = memory.with_heads(first, heads, &mut |octets| seen = Some(octets.to_vec()));
    assert_eq!(did, seen.is_some());
    seen
}

#[test]
fn heads_stand_before_payloads_and_the_last_may_be_short() {
    let memory = filled(2, 3, 8);
    assert_eq!((memory.frames(), memory.octets()), (3, 8));
    assert_eq!(
        shown(&memory, 0, b"abcdef").as_deref(),
        Some(&b"ab\x01\x01\x01cd\x02\x02\x02ef\x03\x03"[..])
    );
    assert_eq!(shown(&memory, 1, b"xy").as_deref(), Some(&b"xy\x02\x02\x02"[..]));
    // The payloads are what they were.
    assert_eq!(memory.frame(2), [3, 3]);
    assert!(memory.frame(3).is_empty());
}

#[test]
fn frames_are_filled_from_any_on() {
    let mut memory = filled(2, 3, 8);
    memory.frames_mut(1).for_each(|frame| frame.fill(9));
    let payloads: Vec<_> = (0..3).map(|index| memory.frame(index).to_vec()).collect();
    assert_eq!(payloads, [vec![1; 3], vec![9; 3], vec![9; 2]]);
    assert_eq!(
        memory.frames_mut(3).count() + memory.frames_mut(usize::MAX).count(),
        0
    );
    assert_eq!(filled(2, 3, 0).frames_mut(0).count(), 0);
}

#[test]
fn usual_heads_stand_where_others_do() {
    let memory = filled(32, 5, 10);
    let heads: Vec<u8> = (0..64).collect();
    let seen = shown(&memory, 0, &heads).unwrap();
    assert_eq!(seen, [&heads[..32], &[1; 5], &heads[32..], &[2; 5]].concat());
}

#[test]
fn what_is_not_there_is_not_shown() {
    let memory = filled(2, 3, 8);
    assert_eq!(shown(&memory, 3, b"ab"), None);
    assert_eq!(shown(&memory, 2, b"abcd"), None);
    assert_eq!(shown(&memory, usize::MAX, b"ab"), None);
    assert_eq!(shown(&memory, 0, b"a"), None);
    assert_eq!(shown(&filled(2, 3, 0), 0, b"ab"), None);
    assert_eq!(shown(&filled(0, 3, 8), 0, b"a"), None);
}

#[test]
fn one_at_a_time_and_again_after_a_panic() {
    let memory = filled(1, 1, 2);
    memory.with_heads(0, b"a", &mut |_| assert_eq!(shown(&memory, 1, b"b"), None));
    let broken = catch_unwind(AssertUnwindSafe(|| {
        memory.with_heads(0, b"a", &mut |_| panic!("visitor"))
    }));
    assert!(broken.is_err());
    assert_eq!(shown(&memory, 1, b"b").as_deref(), Some(&b"b\x02"[..]));
}

#[test]
fn threads_that_send_never_see_each_others_heads() {
    let memory = filled(4, 4, 64);
    std::thread::scope(|scope| {
        for name in [b'x', b'y'] {
            let memory = &memory;
            scope.spawn(move || {
                let heads = [name; 64];
                let mut seen = 0;
                while seen < 1_000 {
                    memory.with_heads(0, &heads, &mut |octets| {
                        seen += 1;
                        assert!(octets.chunks_exact(8).all(|frame| frame[..4] == [name; 4]));
                    });
                    assert_eq!(memory.frame(3), [4; 4]);
                }
            });
        }
    });
}
