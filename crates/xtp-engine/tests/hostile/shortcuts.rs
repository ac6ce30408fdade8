//! What the short way has to leave to the general one: with the same odd packets both send the same octets, tell the same
//! events and hand out the same messages.

use super::forge::View;
use super::world::{DELAY, MS, PORT, Sent, World, address, payload};
use std::net::{IpAddr, SocketAddr};
use xtp_engine::{CongestionKind, ContextId, Event, OpenOptions, Rate, paradigm};
use xtp_wire::{Body, Control, DataSegment, Options};

/// A datagram, whence and whereto.
type Odd = (SocketAddr, Option<IpAddr>, Vec<u8>);

/// What came of it.
#[derive(Debug, PartialEq)]
struct Outcome {
    sent: Vec<Sent>,
    events: [Vec<(ContextId, Event)>; 2],
    read: [Vec<u8>; 2],
}

/// An association that lasts, in whose packets nothing is owed; `in_rate`: what the responder states.
pub(crate) fn begun(ahead: bool, options: OpenOptions, in_rate: Rate) -> (World, [ContextId; 2]) {
    let small = |listen: &mut xtp_engine::ListenOptions| {
        listen.tuning.recv_capacity = 64 << 10;
        listen.tuning.recv_capacity_max = Some(64 << 10);
        listen.tuning.in_rate = in_rate;
        listen.tuning.congestion = options.tuning.congestion;
    };
    let mut world = World::with(ahead, |_| {}, small);
    let id = world.open(options);
    world.send(0, id, 100);
    world.run(40 * MS);
    let peer = world.accepted();
    for _ in 0..3 {
        world.read(1, peer);
        world.send(1, peer, 60);
        world.run(4 * DELAY);
        world.read(0, id);
        world.send(0, id, 50);
        world.run(4 * DELAY);
    }
    world.run(40 * MS);
    world.read(1, peer);
    world.flush(1);
    (world, [id, peer])
}

/// `odd` datagrams come to the responder in one turn, and the conversation goes on.
fn outcome(ahead: bool, odd: &dyn Fn(&View) -> Vec<Odd>) -> Outcome {
    let (mut world, [id, peer]) = begun(ahead, paradigm::stream(PORT), Rate::default());
    let view = View::of(&world, 1);
    for (src, dst, octets) in odd(&view) {
        world.receive(1, src, dst, &octets);
    }
    world.flush(1);
    world.run(DELAY);
    let mut read = [Vec::new(), world.read(1, peer)];
    // Some odd packets end the association, which both ways do.
    let _ = world.ends[1].command().send(world.now, peer, payload(70), true);
    world.run(20 * MS);
    read[0] = world.read(0, id);
    Outcome {
        sent: world.sent,
        events: world.events,
        read,
    }
}

fn both_ways_agree(name: &str, odd: &dyn Fn(&View) -> Vec<Odd>) {
    let (general, short) = (outcome(false, odd), outcome(true, odd));
    assert!(
        general.events == short.events,
        "{name}: {:?}\n{:?}",
        general.events,
        short.events
    );
    assert!(general.read == short.read, "{name}: other octets are read");
    assert!(general.sent == short.sent, "{name}: other packets are sent");
}

fn here(octets: Vec<u8>) -> Vec<Odd> {
    vec![(address(0), None, octets)]
}

/// XDATA as expected but for these options.
fn asking(view: &View, options: Options) -> Vec<u8> {
    let body = Body::Xdata {
        control: view.control(),
        delay_us: 0,
        data: DataSegment {
            tag: None,
            data: b"odd",
        },
    };
    view.packet(options, body)
}

#[test]
fn a_message_that_is_not_quite_the_expected_one_goes_the_general_way() {
    let at = |view: &View, sync: u32, seq: u64| View {
        sync: view.sync.wrapping_add(sync),
        seq,
        ..*view
    };
    let expected = |view: &View| view.exchange(view.control(), b"odd");
    both_ways_agree("the expected one", &|view| here(expected(view)));
    both_ways_agree("from elsewhere", &|view| vec![(address(5), None, expected(view))]);
    both_ways_agree("to another address", &|view| {
        vec![(address(0), Some(address(6).ip()), expected(view))]
    });
    both_ways_agree("overtaken", &|view| here(expected(&at(view, u32::MAX, view.seq))));
    both_ways_agree("a duplicate", &|view| here(expected(&at(view, 0, view.seq - 3))));
    both_ways_agree("behind a hole", &|view| {
        here(expected(&at(view, 0, view.seq + 5)))
    });
    both_ways_agree("acknowledges less", &|view| {
        let control = view.control();
        let less = Control {
            rseq: control.rseq - 1,
            ..control
        };
        here(view.exchange(less, b"odd"))
    });
    both_ways_agree("an older echo", &|view| {
        let control = view.control();
        let older = Control {
            echo: control.echo.wrapping_sub(1),
            ..control
        };
        here(view.exchange(older, b"odd"))
    });
    for option in Options::all().iter() {
        both_ways_agree(&format!("{option:?}"), &|view| {
            here(asking(view, option | Options::EOM))
        });
    }
}

/// The packets behind the first of a message, in the same turn.
#[test]
fn the_rest_of_a_message_is_held_against_the_same_rules() {
    type Change = fn(&View) -> Odd;
    let changes: [(&str, Change); 8] = [
        ("the expected one", |view| {
            (address(0), None, next(view, 1, 300, Options::EOM, 200))
        }),
        ("from elsewhere", |view| {
            (address(5), None, next(view, 1, 300, Options::EOM, 200))
        }),
        ("to another address", |view| {
            (
                address(0),
                Some(address(6).ip()),
                next(view, 1, 300, Options::EOM, 200),
            )
        }),
        ("overtaken", |view| {
            (address(0), None, next(view, 0, 300, Options::EOM, 200))
        }),
        ("a duplicate", |view| {
            (address(0), None, next(view, 1, 200, Options::EOM, 50))
        }),
        ("behind a hole", |view| {
            (address(0), None, next(view, 1, 400, Options::EOM, 200))
        }),
        ("asks", |view| {
            (
                address(0),
                None,
                next(view, 1, 300, Options::EOM | Options::SREQ, 200),
            )
        }),
        ("beyond the grant", |view| {
            (address(0), None, next(view, 1, 300, Options::EOM, 70_000))
        }),
    ];
    for (name, change) in changes {
        both_ways_agree(name, &|view| {
            let body = Body::Xdata {
                control: view.control(),
                delay_us: 0,
                data: DataSegment {
                    tag: None,
                    data: &[7; 300],
                },
            };
            let first = view.packet(Options::empty(), body);
            vec![(address(0), None, first), change(view)]
        });
    }
}

/// DATA `by` packets and `from` octets further on.
fn next(view: &View, by: u32, from: u64, options: Options, len: usize) -> Vec<u8> {
    let later = View {
        sync: view.sync.wrapping_add(by),
        ..*view
    };
    later.data(view.seq + from, options, &vec![8; len])
}

/// What the initiator sends when its messages find no reader, no window, or a limit of rate.
fn writer(ahead: bool, kind: CongestionKind, in_rate: Rate, len: usize) -> Outcome {
    let mut options = paradigm::stream(PORT);
    options.tuning.congestion = kind;
    let (mut world, [id, peer]) = begun(ahead, options, in_rate);
    let mut read = [Vec::new(), Vec::new()];
    for round in 0..60 {
        world.send(0, id, len);
        world.flush(0);
        if round % 4 == 3 {
            world.run(2 * DELAY);
        }
    }
    world.run(20 * MS);
    read[1].extend(world.read(1, peer));
    world.flush(1);
    world.run(200 * MS);
    read[1].extend(world.read(1, peer));
    assert!(read[1].len() > 20 * len, "{} octets arrived", read[1].len());
    Outcome {
        sent: world.sent,
        events: world.events,
        read,
    }
}

#[test]
fn credit_window_pace_and_rate_bind_both_ways() {
    let limit = Rate {
        octets_per_second: 400_000,
        burst: 3_000,
    };
    for kind in [
        CongestionKind::Fixed,
        CongestionKind::Cubic,
        CongestionKind::Model,
    ] {
        for rate in [Rate::default(), limit] {
            for len in [300, 1_100, 2_600] {
                let (general, short) = (writer(false, kind, rate, len), writer(true, kind, rate, len));
                assert!(general.events == short.events, "{kind:?} {rate:?} {len}");
                assert!(
                    general.sent == short.sent,
                    "{kind:?} {rate:?} {len}: other packets"
                );
                assert!(
                    general.read == short.read,
                    "{kind:?} {rate:?} {len}: other octets"
                );
            }
        }
    }
}
