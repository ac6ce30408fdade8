//! Streams whose octets came while their user slept: an event told of them, the user read them, and writes again.

use super::*;
use crate::Read;
use crate::event::ContextId;

const TURNS: usize = 100;

/// What came at `me` is read by `id`'s user, all of it.
fn read(pair: &mut Pair, me: usize, id: ContextId) -> usize {
    pair.arrive(me);
    while pair.ends[me].poll_event().is_some() {}
    match pair.ends[me].command().read(pair.now, id, usize::MAX) {
        Ok(Read::Data { bytes, .. }) => bytes.len(),
        other => panic!("{other:?}"),
    }
}

/// Writes as a stream's user does: at once if nothing is under way; whether it left so.
fn write(pair: &mut Pair, me: usize, id: ContextId, written: &mut u64) -> bool {
    let mut data = Bytes::from_static(b"some octets");
    let len = data.len() as u64;
    let now = pair.now;
    let alone = pair.ends[me].unacknowledged(id, *written) == 0;
    let link = &mut pair.links[me];
    *written += len;
    if alone && pair.ends[me].hand_out(now, id, (None, &mut data), Unit::Octets, link) {
        return true;
    }
    pair.ends[me].command().send(now, id, data, false).expect("room");
    pair.turn(me);
    false
}

/// Packets of both ends that went the general way.
fn planned(pair: &Pair) -> u64 {
    let of = |end: &Driver| end.view().stats().sent - end.view().stats().express;
    pair.ends.iter().map(of).sum()
}

#[test]
fn asking_what_is_acknowledged_keeps_no_octets_from_the_short_way() {
    let mut pair = Pair::new();
    pair.ends[1]
        .command()
        .listen(ListenOptions::every_service(PORT + 1))
        .expect("a free port");
    let here = pair.ends[0]
        .command()
        .open(pair.now, address(1), paradigm::stream(PORT + 1))
        .expect("room");
    let mut written = [0; 2];
    write(&mut pair, 0, here, &mut written[0]);
    pair.arrive(1);
    pair.turn(1);
    let there = pair.accepted();
    let ids = [here, there];
    assert!(matches!(
        pair.ends[1].command().read(pair.now, there, usize::MAX),
        Ok(Read::Data { .. })
    ));
    let mut before = 0;
    for turn in 0..2 * TURNS {
        // The first round trips prove the addresses.
        if turn == TURNS {
            before = planned(&pair);
        }
        let me = 1 - turn % 2;
        let at_once = write(&mut pair, me, ids[me], &mut written[me]);
        assert!(at_once || turn < TURNS, "turn {turn}");
        assert_eq!(read(&mut pair, 1 - me, ids[1 - me]), 11);
    }
    assert_eq!(planned(&pair), before, "of {TURNS} packets");
}
