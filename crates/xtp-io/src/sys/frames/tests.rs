//! Heads before payloads, one sender at a time; blocks of frames, some of them lent.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::memory::FrameStorage;
use super::{FrameMemory, FrameRegion, MAX_DATAGRAM, MAX_SEGMENTS, PAGE, WORTHWHILE};

fn filled(room: usize, payload: usize, octets: usize) -> FrameMemory {
    let mut memory = FrameMemory::new(room, payload, octets);
    for (index, frame) in memory.frames_mut(0).enumerate() {
        frame.fill((index as u8).wrapping_add(1));
    }
    memory
}

fn shown(memory: &FrameMemory, first: usize, heads: &[u8]) -> Option<Vec<u8>> {
    let mut seen = None;
    let did = memory.with_heads(first, heads, &mut |octets| {
        seen = Some(octets.to_vec());
        false
    });
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
    memory.with_heads(0, b"a", &mut |_| {
        assert_eq!(shown(&memory, 1, b"b"), None);
        false
    });
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
                while seen < if cfg!(miri) { 20 } else { 1_000 } {
                    memory.with_heads(0, &heads, &mut |octets| {
                        seen += 1;
                        assert!(octets.chunks_exact(8).all(|frame| frame[..4] == [name; 4]));
                        false
                    });
                    assert_eq!(memory.frame(3), [4; 4]);
                }
            });
        }
    });
}

/// How many frames a block has where memory so laid out is lent.
fn in_blocks(room: usize, payload: usize, octets: usize) -> Option<usize> {
    let together = (MAX_DATAGRAM / (room + payload)).min(MAX_SEGMENTS);
    let worthwhile = octets >= WORTHWHILE && together * (room + payload) >= WORTHWHILE;
    (cfg!(target_os = "linux") && room > 0 && worthwhile).then_some(together)
}

/// Compares a memory with what is said of it.
fn check_layout(room: usize, payload: usize, octets: usize) {
    let case = format!("{room} {payload} {octets}");
    let mut memory = FrameMemory::new(room, payload, octets);
    let frames = octets.div_ceil(payload);
    let blocks = in_blocks(room, payload, octets);
    let together = blocks.unwrap_or(frames.max(1));
    assert_eq!(memory.lends(), blocks.is_some(), "{case}");
    assert_eq!(
        (memory.room(), memory.payload(), memory.octets(), memory.frames()),
        (room, payload, octets, frames)
    );
    let mut places = Vec::new();
    for index in 0..frames {
        let frame = memory.frame(index);
        assert_eq!(
            frame.len(),
            payload.min(octets - index * payload),
            "{case}: {index}"
        );
        let begin = frame.as_ptr() as usize;
        places.push(begin - room..begin + frame.len());
        let expected = (together - index % together).min(frames - index);
        assert_eq!(memory.together(index), expected, "{case}: {index}");
    }
    for index in [frames, frames + 1, frames + together, usize::MAX] {
        assert_eq!(memory.together(index), 0, "{case}: {index}");
        assert!(memory.frame(index).is_empty(), "{case}: {index}");
    }
    for (index, pair) in places.windows(2).enumerate() {
        // Side by side, or a block later, and never in one another.
        assert!(pair[0].end <= pair[1].start, "{case}: {index}");
        let block_ends = (index + 1) % together == 0;
        assert!(block_ends || pair[0].end == pair[1].start, "{case}: {index}");
    }
    if blocks.is_some() {
        let block = (together * (room + payload)).next_multiple_of(PAGE);
        for (index, place) in places.iter().step_by(together).enumerate() {
            assert_eq!(place.start % PAGE, 0, "{case}: {index}");
            assert_eq!(place.start, places[0].start + index * block, "{case}: {index}");
        }
    }
    let place = |frame: &[u8]| (frame.as_ptr() as usize, frame.len());
    let there: Vec<_> = (0..frames).map(|index| place(memory.frame(index))).collect();
    for first in (0..frames + 2).chain([frames + together, usize::MAX]) {
        let filled = memory.frames_mut(first).map(|frame| place(frame));
        assert!(
            filled.eq(there.iter().copied().skip(first)),
            "{case}: from {first}"
        );
    }
    assert!(
        memory
            .frames_mut(0)
            .all(|frame| *frame == vec![0; frame.len()][..])
    );
}

#[test]
fn frames_lie_where_the_layout_says() {
    let cases = [
        // Trains of common datagrams: none, part of one block, a whole one, and one more octet.
        (32, 1_440, 0),
        (32, 1_440, 1),
        (32, 1_440, WORTHWHILE - 1),
        (32, 1_440, WORTHWHILE),
        (32, 1_440, 44 * 1_440 - 1),
        (32, 1_440, 44 * 1_440),
        (32, 1_440, 44 * 1_440 + 1),
        (32, 1_440, 500_000),
        // A frame a block, and as long as can be.
        (32, 65_440, 65_440),
        (32, 65_440, 10 * 65_440 + 1),
        (32, MAX_DATAGRAM - 32, 300_000),
        (32, MAX_DATAGRAM - 31, 300_000),
        (1, MAX_DATAGRAM, 300_000),
        (40, 8_912, 400_000),
        (48, 32_705, 100_000),
        (7, 33_333, 100_001),
        // As many as a train has, whole pages, and trains that are too short.
        (12, 500, 32_000),
        (12, 500, 100_000),
        (24, 1_000, 200_001),
        (16, 496, 100_000),
        (16, 495, 100_000),
        (1, 1, 300),
        (3, 100, 33_000),
        // No room, and more room than payload.
        (0, 1_440, 200_000),
        (0, 65_507, 200_000),
        (0, 1, 9),
        (1_400, 600, 100_000),
        (65_000, 507, 40_000),
        (2, 3, 8),
    ];
    // Miri takes a thousand times as long: the small ones, some of them in blocks.
    let small = |octets: usize, payload: usize| octets <= 100_001 && octets / payload < 12;
    for (room, payload, octets) in cases {
        if !cfg!(miri) || small(octets, payload) {
            check_layout(room, payload, octets);
        }
    }
}

#[test]
fn frames_lie_where_the_layout_says_whatever_it_is() {
    let mut state = 1_u32;
    let mut below = |limit: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) % limit) as usize
    };
    // The same: a few small ones.
    let (rounds, magnitudes) = if cfg!(miri) { (5, 4) } else { (150, 13) };
    for _ in 0..rounds {
        let magnitude = 4 + below(magnitudes);
        let payload = 1 + below(1 << magnitude);
        check_layout(
            below(70),
            payload,
            below(if cfg!(miri) { 9 } else { 200 }).min(200_000 / payload) * payload
                + below(2_000).min(payload),
        );
    }
}

/// Memory to be lent, of three blocks of 44 frames and one of 10; `None` where there is none.
fn lending() -> Option<FrameMemory> {
    let memory = filled(32, 1_440, 142 * 1_440);
    assert!(!memory.is_lent());
    memory.lends().then_some(memory)
}

/// Shows `count` frames to somebody who goes on referring to them or does not.
fn lend(memory: &FrameMemory, first: usize, count: usize, kept: bool) -> bool {
    let heads = vec![0xee; count * memory.room()];
    memory.with_heads(first, &heads, &mut |octets| {
        assert_eq!(octets.len(), count * (memory.room() + memory.payload()));
        kept
    })
}

#[test]
fn a_block_that_stays_in_its_pages_stays_lent() {
    let Some(mut memory) = lending() else { return };
    // Memory of the allocator has no pages to exchange: the same as a system without free ones.
    memory.memory = FrameStorage::lines(memory.layout.size);
    assert!(lend(&memory, 0, 2, true));
    memory.abandon(0, 2);
    assert!(memory.is_lent());
    assert!(!lend(&memory, 0, 1, false));
}

#[test]
fn frames_of_two_blocks_are_not_shown_together() {
    let Some(memory) = lending() else { return };
    for (first, count) in [
        (43, 2),
        (0, 45),
        (87, 2),
        (44, 64),
        (131, 12),
        (132, 11),
        (142, 1),
    ] {
        assert!(!lend(&memory, first, count, true), "{first} {count}");
    }
    assert!(!memory.is_lent());
    for (first, count) in [(0, 44), (43, 1), (44, 44), (86, 2), (132, 10)] {
        let heads: Vec<u8> = (0..count * 32).map(|at| at as u8).collect();
        let seen = shown(&memory, first, &heads).expect("shown");
        for (index, frame) in seen.chunks(1_472).enumerate() {
            assert_eq!(frame[..32], heads[index * 32..][..32]);
            assert_eq!(frame[32..], [(first + index) as u8 + 1; 1_440]);
        }
    }
}

#[test]
fn what_is_lent_is_not_written_until_it_is_given_back() {
    let Some(memory) = lending() else { return };
    assert!(lend(&memory, 3, 5, false));
    assert!(!memory.is_lent());
    assert!(lend(&memory, 3, 5, true));
    assert!(memory.is_lent());
    // Whatever has a part in them is refused, and is not shown.
    for (first, count) in [(3, 1), (7, 1), (0, 4), (7, 3), (3, 5), (0, 44)] {
        assert_eq!(
            shown(&memory, first, &vec![1; count * 32]),
            None,
            "{first} {count}"
        );
    }
    // Others are not, before, after, and at the same place of other blocks.
    for (first, count) in [(0, 3), (8, 36), (47, 5), (91, 5), (135, 5)] {
        assert!(lend(&memory, first, count, false), "{first} {count}");
    }
    // Some of it comes back, and so does some that was never lent.
    memory.give_back(4, 2);
    memory.give_back(47, 5);
    memory.give_back(9, 0);
    memory.give_back(3, 0);
    memory.give_back(142, 1);
    memory.give_back(usize::MAX, 1);
    for (index, free) in [
        (2, true),
        (3, false),
        (4, true),
        (5, true),
        (6, false),
        (7, false),
        (8, true),
    ] {
        assert_eq!(lend(&memory, index, 1, false), free, "{index}");
    }
    // What was kept by one is not let go of by another's look.
    assert!(memory.is_lent());
    memory.give_back(3, 1);
    memory.give_back(6, 2);
    assert!(!memory.is_lent());
    assert!(lend(&memory, 0, 44, false));
    // The payloads were never touched.
    assert!((0..142).all(|index| memory.frame(index) == [index as u8 + 1; 1_440]));
}

#[test]
fn a_block_of_as_many_frames_as_a_train_has_is_lent_whole() {
    let memory = filled(12, 500, 2 * 64 * 500);
    if !memory.lends() {
        return;
    }
    for first in [0, 64] {
        assert_eq!(memory.together(first), 64);
        assert!(lend(&memory, first, 64, true));
        for index in first..first + 64 {
            assert!(!lend(&memory, index, 1, false), "{index}");
        }
    }
    memory.give_back(0, 64);
    assert!(lend(&memory, 0, 64, false) && !lend(&memory, 64, 64, false));
    memory.give_back(127, 1);
    assert!(lend(&memory, 127, 1, true) && !lend(&memory, 126, 1, false));
    // More than there are from there on are as many as there are.
    memory.give_back(64, usize::from(u8::MAX));
    assert!(!memory.is_lent());
}

#[test]
fn who_does_not_lend_forgets_who_refers_to_what() {
    for (room, payload, octets) in [
        (0, 1_440, 200_000),
        (32, 1_440, 30_000),
        (32, 100, 200_000),
        (2, 3, 8),
    ] {
        let mut memory = filled(room, payload, octets);
        assert!(!memory.lends());
        for _ in 0..2 {
            assert_eq!(lend(&memory, 0, 1, true), room > 0);
        }
        assert!(!memory.is_lent());
        memory.give_back(0, 1);
        memory.abandon(0, 1);
        memory.renew();
        assert_eq!(memory.frame(0), vec![1; payload]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri moves no pages to a place that is asked for")]
fn what_is_abandoned_stays_where_it_is_for_its_readers() {
    let Some(memory) = lending() else { return };
    let places: Vec<_> = (0..142).map(|index| memory.frame(index).as_ptr()).collect();
    let (done, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                for index in 40..142 {
                    let frame = memory.frame(index);
                    assert!(frame.iter().all(|&octet| octet == index as u8 + 1), "{index}");
                }
                rounds.fetch_add(1, Ordering::Release);
            }
        });
        // Let go also if something here fails, or the reader would go on for ever.
        let finished = catch_unwind(AssertUnwindSafe(|| {
            let mut count = 0;
            while count < 300 || rounds.load(Ordering::Acquire) < 20 && !reader.is_finished() {
                count += 1;
                let first = [44, 88, 132][count % 3];
                assert!(lend(&memory, first, 10, true));
                assert!(lend(&memory, first - 4, 4, true));
                memory.abandon(first, 10);
                // The block is another, but who refers to other frames was not asked.
                assert!(lend(&memory, first, 10, false));
                assert!(!lend(&memory, first - 4, 4, false));
                memory.give_back(first - 4, 4);
            }
        }));
        done.store(true, Ordering::Release);
        finished.expect("abandoned");
    });
    assert!(!memory.is_lent());
    for (index, place) in places.iter().enumerate() {
        assert_eq!(memory.frame(index).as_ptr(), *place);
        assert_eq!(memory.frame(index), [index as u8 + 1; 1_440]);
    }
    // The last block, and what is none.
    memory.abandon(132, 10);
    memory.abandon(142, 1);
    memory.abandon(usize::MAX, 1);
    assert_eq!(memory.frame(141), [142; 1_440]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri moves no pages to a place that is asked for")]
fn what_is_being_shown_is_not_abandoned() {
    let Some(memory) = lending() else { return };
    assert!(lend(&memory, 0, 1, true));
    memory.with_heads(1, &[1; 32], &mut |octets| {
        memory.abandon(0, 1);
        assert_eq!(octets[..32], [1; 32]);
        false
    });
    assert!(!lend(&memory, 0, 1, false));
    memory.abandon(0, 1);
    assert!(lend(&memory, 0, 1, false));
}

#[test]
fn renewed_memory_is_new_only_where_somebody_refers_to_the_old() {
    let Some(mut memory) = lending() else { return };
    let place = memory.frame(0).as_ptr();
    assert!(lend(&memory, 44, 44, true));
    memory.give_back(44, 44);
    memory.renew();
    assert_eq!(memory.frame(0).as_ptr(), place);
    assert!((0..142).all(|index| memory.frame(index) == [index as u8 + 1; 1_440]));
    assert!(lend(&memory, 141, 1, true));
    memory.renew();
    assert!(!memory.is_lent());
    assert!((0..142).all(|index| memory.frame(index) == [0; 1_440]));
    // It serves as before, if the system had other pages.
    for (index, frame) in memory.frames_mut(0).enumerate() {
        frame.fill(index as u8);
    }
    assert_eq!((memory.frames(), memory.together(43)), (142, 1));
    assert!(lend(&memory, 132, 10, memory.lends()));
    assert_eq!(memory.is_lent(), memory.lends());
    assert!((0..142).all(|index| memory.frame(index) == [index as u8; 1_440]));
}

#[test]
fn memory_of_a_region_lies_side_by_side_and_is_like_any_other() {
    let mut region = FrameRegion::default();
    let octets = 2 * 44 * 1_440;
    let mut memories: Vec<_> = (0..16_u8)
        .map(|number| {
            let mut memory = FrameMemory::within(&mut region, 32, 1_440, octets);
            memory.frames_mut(0).for_each(|frame| frame.fill(number));
            memory
        })
        .collect();
    drop(region);
    let places = || memories.iter().map(|memory| memory.frame(0).as_ptr() as usize);
    let (first, last) = (places().min().unwrap(), places().max().unwrap());
    if memories[0].lends() {
        assert!(last - first < 2 << 20, "one large page: {first:#x} to {last:#x}");
    }
    let heads = [9; 44 * 32];
    assert!(memories[3].with_heads(0, &heads, &mut |_| true));
    // What is lent is renewed elsewhere; nobody else's octets change.
    let lent = memories[3].lends();
    memories[3].renew();
    assert!(!lent || memories[3].frame(0) == [0; 1_440]);
    memories.remove(3);
    for (memory, number) in memories.iter().zip([0_u8, 1, 2].into_iter().chain(4..)) {
        assert!((0..memory.frames()).all(|index| memory.frame(index) == [number; 1_440]));
    }
}
