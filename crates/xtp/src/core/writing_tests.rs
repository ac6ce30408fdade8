//! What waits for room keeps its place, and nothing is closed over it.

use xtp_engine::Event;

use super::*;
use crate::core::brief_testing::brief;
use crate::core::ops;
use crate::endpoint::Endpoint;
use crate::stream::Stream;

/// A stream to nobody with room for `room` octets more, of which `held` wait for room already.
fn filled(room: usize, held: &'static [u8]) -> (Endpoint, Stream) {
    let endpoint = brief();
    let peer = endpoint.local_addr();
    let stream = endpoint
        .open(peer, xtp_engine::OpenOptions::new(9))
        .expect("a context");
    let id = stream.id();
    endpoint.shared.look(|core| {
        let now = core.now();
        core.begin_write(id);
        core.slot(id).expect("open").started = true;
        let whole = writable(core, id).expect("open");
        let mut filling = Bytes::from(vec![0; whole - room]);
        hand_on(core, now, id, &mut filling, false).expect("open");
        assert!(filling.is_empty() && writable(core, id).expect("open") == room);
        if !held.is_empty() {
            core.slot(id).expect("open").more().held = Some((Bytes::from_static(held), false));
        }
    });
    (endpoint, stream)
}

#[test]
fn gathered_octets_are_no_more_than_there_is_room_for() {
    let (endpoint, stream) = filled(10, b"");
    let id = stream.id();
    endpoint.shared.look(|core| {
        let now = core.now();
        assert_eq!(gather(core, now, id, &[7; 6]).expect("open"), 6);
        assert_eq!(gather(core, now, id, &[7; 6]).expect("open"), 4);
        assert_eq!(gather(core, now, id, &[7; 6]).expect("open"), 0);
    });
}

#[test]
fn a_full_train_leaves_at_once_and_a_part_of_one_waits() {
    let (endpoint, stream) = filled(200_000, b"");
    let id = stream.id();
    endpoint.shared.look(|core| {
        let now = core.now();
        let whole = core.train(id).expect("open");
        let room = writable(core, id).expect("open");
        // A stream of short writes waits for its train; the pace says whether this is one.
        let mut taken = 0;
        while taken < whole {
            let rest = (whole - taken).min(100);
            taken += gather(core, now, id, &vec![7; rest]).expect("open");
        }
        assert_eq!(core.slot(id).expect("open").collected(), 0);
        assert_eq!(writable(core, id).expect("open"), room - whole);
    });
}

#[test]
fn a_stream_is_not_closed_over_what_waits_for_room() {
    let (endpoint, stream) = filled(0, b"last");
    let id = stream.id();
    endpoint.shared.look(|core| {
        let now = core.now();
        assert!(ops::close_writer(core, now, id).is_pending());
        assert!(!core.slot(id).expect("open").writer_closed);
        ops::leave_writer(core, now, id);
        assert!(core.slot(id).expect("open").writer_left);
        // Room comes: what waited goes first, and the end behind it.
        core.slot(id).expect("open").more().held = None;
        core.handle(now, id, Event::Writable);
        let slot = core.slot(id).expect("open");
        assert!(slot.writer_closed && !slot.writer_left);
    });
}

#[test]
fn a_stream_that_is_dropped_is_not_closed_over_what_waits_for_room() {
    let (endpoint, stream) = filled(0, b"last");
    let id = stream.id();
    endpoint.shared.look(|core| {
        let now = core.now();
        core.orphan(now, id);
        let slot = core.slot(id).expect("it waits for room");
        assert!(!slot.writer_closed && slot.holds());
    });
}
