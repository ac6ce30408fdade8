//! From the first announcement to the end of the stream.

use super::script::*;
use crate::{GroupClose, GroupEvent};
use xtp_core::user::Read;
use xtp_wire::Options;

/// Length of a stream of two blocks and a half.
const WHOLE: u64 = 2 * BLOCK + 150;

fn rest(script: &mut Script) {
    script.data(2 * BLOCK, 100);
    script.data_with(2 * BLOCK + 100, 50, Options::WCLOSE | Options::EOM);
}

#[test]
fn a_stream_in_order_is_read_confirmed_and_closed() {
    let mut script = Script::member(options());
    assert_eq!(script.events(), [GroupEvent::Found(TRANSMITTER)]);
    script.block_without(0, &[]);
    assert_eq!(script.events(), [GroupEvent::Readable]);
    script.block_without(1, &[]);
    rest(&mut script);
    assert_eq!(script.events(), [GroupEvent::Complete]);
    script.poll(WHOLE, Options::WCLOSE);
    let said = script.run(100);
    let [
        (
            _,
            ReceiverPacket::Spans {
                control,
                options,
                spans,
                asked: true,
                ..
            },
        ),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!(
        (control.rseq, control.echo, &spans[..]),
        (WHOLE, script.sync, &[][..])
    );
    assert_eq!(*options, Options::RCLOSE, "said once, and not again unasked");
    let (octets, end) = script.read();
    assert_eq!((octets.len() as u64, end), (WHOLE, Read::End));
    script.let_go(WHOLE);
    assert_eq!(script.events(), [GroupEvent::Closed(GroupClose::Normal)]);
    assert_eq!(script.run(60_000), [], "and nothing more is said");
}

#[test]
fn what_came_out_of_order_is_read_in_order() {
    let mut script = Script::member(options());
    rest(&mut script);
    script.block_without(1, &[]);
    assert_eq!(script.read(), (vec![], Read::Pending));
    script.block_without(0, &[]);
    let (octets, end) = script.read();
    assert_eq!((octets.len() as u64, end), (WHOLE, Read::End));
}

#[test]
fn lost_symbols_are_asked_for_and_computed() {
    let mut script = Script::member(options());
    script.block_without(0, &[1, 2]);
    script.block_without(1, &[]);
    let said = script.run(20);
    let [
        (
            _,
            ReceiverPacket::Need {
                control,
                blocks,
                asked: false,
            },
        ),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((control.rseq, &blocks[..]), (100, &[(0, 2, 4)][..]));
    script.row(0, 0);
    assert_eq!(
        script.read().0.len(),
        100,
        "one row is not enough for two symbols"
    );
    script.row(0, 3);
    assert_eq!(script.read().0.len() as u64, 2 * BLOCK - 100);
    let stats = script
        .host
        .subscription_stats(script.now, script.id)
        .expect("it is there");
    assert_eq!((stats.octets, stats.decoded), (2 * BLOCK, 200));
}

#[test]
fn the_short_last_block_is_computed_too() {
    let mut script = Script::member(options());
    script.block_without(0, &[]);
    script.block_without(1, &[]);
    script.data(2 * BLOCK, 100);
    script.poll(WHOLE, Options::WCLOSE);
    let said = script.run(0);
    let [
        (
            _,
            ReceiverPacket::Need {
                blocks, asked: true, ..
            },
        ),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!(blocks[..], [(2, 1, 2)]);
    script.row_of(2, 5 - 4, WHOLE, &[], 0);
    let (octets, end) = script.read();
    assert_eq!((octets.len() as u64, end), (WHOLE, Read::End));
}

#[test]
fn without_parity_what_is_missing_is_said_by_ranges() {
    let mut script = Script::new(options());
    script.fec = None;
    script.join();
    script.data(0, 100);
    script.data(200, 100);
    script.poll(300, Options::empty());
    let said = script.run(0);
    let [
        (
            _,
            ReceiverPacket::Spans {
                control,
                spans,
                asked: true,
                ..
            },
        ),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((control.rseq, &spans[..]), (100, &[(200, 300)][..]));
    script.data(100, 100);
    assert_eq!(script.read().0.len(), 300);
    script.data(400, 100);
    for position in [500, 600, 700] {
        script.data(position, 100);
    }
    let said = script.run(40);
    let [
        (
            _,
            ReceiverPacket::Spans {
                control,
                spans,
                asked: false,
                ..
            },
        ),
    ] = &said[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((control.rseq, &spans[..]), (300, &[(400, 800)][..]), "unasked");
}
