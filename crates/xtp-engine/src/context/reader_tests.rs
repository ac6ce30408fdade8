//! Which packet is the newest.

use crate::context::Context;
use xtp_core::time::Time;

#[test]
fn the_newest_packet_is_known_across_the_wrap_and_overtaken_ones_are_not_it() {
    let mut context = Context::memory();
    let reader = &mut context.reader;
    let at = Time::from_nanos;
    assert!(reader.note_sync(u32::MAX - 1, true, at(1)));
    assert_eq!((reader.echo(), reader.edge_last), (u32::MAX - 1, true));
    assert!(reader.note_sync(1, false, at(2)), "it has wrapped");
    assert_eq!((reader.echo(), reader.sync_in_at), (1, at(2)));
    for old in [1, 0, u32::MAX, u32::MAX - 1] {
        assert!(!reader.note_sync(old, false, at(3)), "{old} was overtaken");
    }
    assert_eq!((reader.echo(), reader.sync_in_at), (1, at(2)));
}
