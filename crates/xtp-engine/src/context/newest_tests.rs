//! Which packet is the newest, and which one flips EDGE.

use super::*;

const AT: fn(u64) -> Time = Time::from_nanos;

#[test]
fn the_newest_packet_is_known_across_the_wrap_and_overtaken_ones_are_not_it() {
    let mut newest = NewestPacket::none(Time::ZERO);
    assert_eq!((newest.sync(), newest.echo()), (None, 0));
    assert!(!newest.is_before(7), "nothing came");
    assert!(newest.note(u32::MAX - 1, true, AT(1)));
    assert_eq!((newest.echo(), newest.edge()), (u32::MAX - 1, true));
    assert!(newest.is_before(1) && !newest.is_before(u32::MAX - 1));
    assert!(newest.note(1, false, AT(2)), "it has wrapped");
    assert_eq!((newest.echo(), newest.at()), (1, AT(2)));
    for old in [1, 0, u32::MAX, u32::MAX - 1] {
        assert!(!newest.note(old, false, AT(3)), "{old} was overtaken");
    }
    assert_eq!((newest.echo(), newest.at()), (1, AT(2)));
    newest.forget();
    assert_eq!(newest.sync(), None);
}

#[test]
fn a_packet_is_gapless_behind_the_newest_before_it() {
    let mut newest = NewestPacket::none(Time::ZERO);
    for (sync, gapless) in [(5, true), (6, true), (8, false), (7, false), (9, true)] {
        newest.note(sync, false, AT(1));
        assert_eq!(newest.is_gapless(), gapless, "{sync}");
    }
}

#[test]
fn edge_is_flipped_by_the_newest_level_alone() {
    let mut newest = NewestPacket::none(Time::ZERO);
    newest.note(5, false, AT(1));
    assert!(!newest.flips(5, true), "it said so itself");
    assert!(!newest.flips(6, false));
    assert!(newest.flips(8, true));
    assert!(!newest.flips(7, false), "overtaken");
    assert!(newest.edge());
    newest.note_run(12, AT(2));
    assert!(!newest.flips(11, false), "the run was later");
    assert!(newest.flips(13, false));
}
