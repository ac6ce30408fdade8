//! Stretches of frames: how they are cut, shared and divided.

use smallvec::SmallVec;

use super::testing::frames;
use super::*;

fn octets(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 3) as u8).collect()
}

#[test]
fn every_stretch_is_shared_frame_by_frame() {
    let all = octets(25);
    let whole = Framed::new(frames(4, 10, &all));
    for from in 0..=25 {
        for len in 0..=25 - from {
            let mut stretch = whole.clone();
            stretch.advance(from);
            stretch.truncate(len);
            assert_eq!((stretch.len(), stretch.is_empty()), (len, len == 0));
            let mut out = SmallVec::new();
            stretch.share(0..len, &mut out);
            assert_eq!(out.concat(), all[from..from + len]);
            let touched = if len == 0 {
                0
            } else {
                (from + len - 1) / 10 - from / 10 + 1
            };
            assert_eq!(out.len(), touched, "{from} {len}");
        }
    }
}

#[test]
fn it_ends_with_whole_frames_or_with_all() {
    let mut stretch = Framed::new(frames(4, 10, &octets(25)));
    assert_eq!(
        [9, 10, 19, 20, 24, 25, 99].map(|room| stretch.whole(room)),
        [0, 10, 10, 20, 20, 25, 25]
    );
    stretch.advance(3);
    assert_eq!(
        [6, 7, 16, 17, 22].map(|room| stretch.whole(room)),
        [0, 7, 7, 17, 22]
    );
    assert_eq!([0, 6, 7, 20].map(|at| stretch.frame_end(at)), [7, 7, 17, 22]);
    assert!(stretch.frame_at(0).is_none());
    assert_eq!(stretch.frame_at(7).map(|(_, index)| index), Some(1));
}
