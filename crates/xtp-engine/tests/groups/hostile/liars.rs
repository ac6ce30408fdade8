//! A member that does not tell the truth about itself: what it costs the others is bounded (§9.18).

use super::forge::{Told, View, speak};
use super::scene::{Kind, Outcome, PATIENCE, RECEIVERS, SYMBOLS, Scene, options, outside, quiet};
use crate::world::{address, group};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{MemberState, Mode, Slow, TransmitterOptions};
use xtp_wire::{Control, DELAY_NONE, Format, Gnack, GnackBlock, Options, Spans, ToTransmitter, Xcntl};

const SECOND: Duration = Duration::from_secs(1);
/// What a packet takes at the rate of these groups.
const PACKET: Duration = Duration::from_millis(3);
/// Packets of a window of these groups: what one question brings from a member that lacks everything.
const WINDOW: usize = (64 << 10) / 1_400;
/// A tenth of a second, and everybody is looked at each twentieth.
const LEFT_BEHIND: Duration = Duration::from_millis(200);

/// The run with one member more, which joins as all do and then says what `lie` makes of what it knows.
fn beside(options: TransmitterOptions, lie: impl FnMut(&View, Told) -> Vec<Vec<u8>>) -> Outcome {
    beside_one_with_room(1 << 30, options, lie)
}

/// The same, and at first it has so much room.
fn beside_one_with_room(
    room: u64,
    options: TransmitterOptions,
    lie: impl FnMut(&View, Told) -> Vec<Vec<u8>>,
) -> Outcome {
    beside_one_who_speaks_to(address(0), room, options, lie)
}

/// The same, and what it says as a member goes to that address.
fn beside_one_who_speaks_to(
    listener: SocketAddr,
    room: u64,
    mut options: TransmitterOptions,
    mut lie: impl FnMut(&View, Told) -> Vec<Vec<u8>>,
) -> Outcome {
    options.expect = Some(RECEIVERS as u32 + 1);
    Scene::new(options).play(|scene| {
        let view = scene.view();
        if view.key == 0 {
            return;
        }
        let (to, said) = match view.member(outside()) {
            None => (
                address(0),
                vec![view.join_with_room(5, "liar", room, Options::empty())],
            ),
            // Step 4 is for the transmitter alone, whoever it speaks to then.
            Some(told) if listener != address(0) && scene.turn < 8 => {
                (address(0), vec![status(&view, told, 0, 1 << 40)])
            }
            Some(told) => (listener, lie(&view, told)),
        };
        for octets in said {
            scene.world.inject(outside(), to, &octets);
        }
    })
}

fn control(view: &View, rseq: u64, alloc: u64) -> Control {
    Control {
        rseq,
        alloc,
        echo: view.sync,
    }
}

fn status(view: &View, told: Told, rseq: u64, alloc: u64) -> Vec<u8> {
    let status = Xcntl {
        control: control(view, rseq, alloc),
        delay_us: DELAY_NONE,
        ..Xcntl::default()
    };
    speak(told, 2, ToTransmitter::Extended(status), Options::empty())
}

/// It asks for every block there is, again and again, however the blocks are numbered.
fn wants_all(view: &View, told: Told) -> Vec<Vec<u8>> {
    let symbols = u16::from(SYMBOLS);
    let pages = [0, 64].map(|from| {
        let blocks: Vec<GnackBlock> = (from..from + 64)
            .map(|block| GnackBlock::new(block, symbols, symbols))
            .collect();
        let gnack = Gnack::unsolicited(control(view, 0, 1 << 40), 0, &blocks);
        speak(told, 2, ToTransmitter::Need(gnack), Options::empty())
    });
    let nothing = control(view, 0, 1 << 40);
    let holds_nothing = ToTransmitter::Extended(Xcntl {
        control: nothing,
        delay_us: 0,
        spans: Spans::EMPTY,
        ..Xcntl::default()
    });
    let mut said = pages.to_vec();
    said.push(speak(told, 2, holds_nothing, Options::empty()));
    said
}

/// Rows and packets that are sent for somebody who asks for everything: a quarter of the symbols, and two blocks.
#[test]
fn who_asks_for_everything_costs_a_quarter() {
    for kind in [Kind::Coded, Kind::Plain] {
        for slow in [Slow::CatchUp, Slow::Drop] {
            // From the beginning, and suddenly when half has left; in a stream of many windows, and in one that is far shorter.
            for (from, window) in [(0, 64 << 10), (150_000, 64 << 10), (0, 16 << 20)] {
                let mut options = options(kind);
                (options.slow, options.window) = (slow, window);
                let quiet = quiet(options.clone());
                let attacked = beside(options, |view, told| match view.position >= from {
                    true => wants_all(view, told),
                    false => vec![status(view, told, view.position, 1 << 40)],
                });
                attacked.assert_good();
                let what = format!("{kind:?} {slow:?} from {from}, window {window}");
                let symbols = quiet.of(&[Format::Data]);
                // What counts as a block where there are none, and as symbols of a short stream.
                let block = if kind == Kind::Coded {
                    usize::from(SYMBOLS)
                } else {
                    64
                };
                let most = quiet.stream_packets() + symbols.max(64) / 4 + 2 * block;
                let sent = attacked.stream_packets();
                assert!(sent <= most, "{what}: {sent}, at most {most} ({symbols} symbols)");
                assert!(sent > quiet.stream_packets(), "{what}: it was heard");
                // What is sent for it takes its time, and the window waits for it until it is known to be behind.
                let (last, before) = (attacked.last(), quiet.last());
                let more = PACKET * (sent - quiet.stream_packets()) as u32;
                assert!(
                    last <= before + more + LEFT_BEHIND,
                    "{what}: {last:?} instead of {before:?}"
                );
            }
        }
    }
}

/// The same in mode B, where it answers to all: each time it lacks all that left since a moment ago, and keeps near enough to the others. Where
/// the share is not counted it goes on to the end.
#[test]
fn who_asks_all_for_everything_costs_a_quarter() {
    for slow in [Slow::CatchUp, Slow::Drop] {
        for from in [0, 150_000] {
            let mut options = options(Kind::Buckets);
            options.slow = slow;
            let quiet = quiet(options.clone());
            let attacked = beside_one_who_speaks_to(group(1), 1 << 30, options, |view, _| {
                let lacked = if view.position >= from { 20_000 } else { 0 };
                vec![view.to_all(control(view, view.position.saturating_sub(lacked), 1 << 40))]
            });
            attacked.assert_good();
            let what = format!("{slow:?} from {from}");
            let symbols = quiet.of(&[Format::Data]);
            // A quarter, 64 packets that count as a block, and what one question brings.
            let most = quiet.stream_packets() + symbols / 4 + 64 + 16;
            let sent = attacked.stream_packets();
            assert!(sent <= most, "{what}: {sent}, at most {most} ({symbols} packets)");
            assert!(sent > quiet.stream_packets() + 32, "{what}: it was heard, {sent}");
            let (last, before) = (attacked.last(), quiet.last());
            let more = PACKET * (sent - quiet.stream_packets()) as u32;
            assert!(
                last <= before + more + LEFT_BEHIND,
                "{what}: {last:?} instead of {before:?}"
            );
        }
    }
}

/// The same of one that says to all in turn that it has everything and that it has nothing: the window goes by what it said
/// itself, and what it asks for is counted.
#[test]
fn who_contradicts_itself_holds_nobody_up() {
    for classic in [false, true] {
        let mut options = options(Kind::Buckets);
        if let Mode::Bucket(buckets) = &mut options.mode {
            buckets.classic = classic;
        }
        let quiet = quiet(options.clone());
        let mut said = 0;
        let attacked = beside_one_who_speaks_to(group(1), 1 << 30, options, |view, _| {
            said += 1;
            let rseq = if said % 2 == 0 { view.position } else { 0 };
            vec![view.to_all(control(view, rseq, 1 << 40))]
        });
        attacked.assert_good();
        let symbols = quiet.of(&[Format::Data]);
        let (sent, before) = (attacked.stream_packets(), quiet.stream_packets());
        assert!(
            sent <= before + symbols / 4 + 64 + WINDOW,
            "classic {classic}: {sent} instead of {before} ({symbols} packets)"
        );
        let more = PACKET * sent.saturating_sub(before) as u32;
        let (last, usual) = (attacked.last(), quiet.last());
        assert!(
            last <= usual + more + LEFT_BEHIND,
            "classic {classic}: {last:?} instead of {usual:?}"
        );
    }
}

/// It says that it has nothing and lacks nothing: the window waits for it until it is half a window behind, and a tenth of a second.
#[test]
fn who_never_moves_is_left_behind() {
    for kind in [Kind::Coded, Kind::Plain, Kind::Buckets] {
        let quiet = quiet(options(kind));
        let attacked = beside(options(kind), |view, told| vec![status(view, told, 0, 1 << 40)]);
        attacked.assert_good();
        let (last, before) = (attacked.last(), quiet.last());
        assert!(
            last <= before + SECOND / 2,
            "{kind:?}: {last:?} instead of {before:?}"
        );
        let ended = attacked.ended.unwrap();
        // It is heard, so it is given time for all it says it lacks: a second for each 64 KiB.
        assert!(ended <= last + PATIENCE + 6 * SECOND, "{kind:?}: {ended:?}");
        let liar = attacked
            .members
            .iter()
            .find(|one| one.address == outside())
            .unwrap();
        assert!(matches!(liar.state, MemberState::Dropped(_)), "{liar:?}");
    }
}

/// It says that it has all but the last octet: when everything has left, and all others are done, it is given its time and is out.
#[test]
fn who_never_ends_is_not_waited_for_without_end() {
    for kind in [Kind::Coded, Kind::Plain, Kind::Buckets] {
        for slow in [Slow::CatchUp, Slow::Drop] {
            let mut options = options(kind);
            options.slow = slow;
            let quiet = quiet(options.clone());
            let attacked = beside(options, |view, told| {
                vec![status(view, told, view.position.saturating_sub(1), 1 << 40)]
            });
            attacked.assert_good();
            let (last, before) = (attacked.last(), quiet.last());
            assert!(
                last <= before + SECOND / 10,
                "{kind:?}: {last:?} instead of {before:?}"
            );
            let ended = attacked.ended.unwrap();
            assert!(ended <= last + PATIENCE + SECOND, "{kind:?}: {ended:?}");
        }
    }
}

/// It says that it has everything, and has nothing: that is its own affair.
#[test]
fn who_claims_everything_costs_nothing() {
    for kind in [Kind::Coded, Kind::Plain, Kind::Buckets] {
        let quiet = quiet(options(kind));
        let attacked = beside(options(kind), |view, told| {
            let whole = ToTransmitter::Extended(Xcntl {
                control: control(view, view.position, 1 << 40),
                delay_us: DELAY_NONE,
                ..Xcntl::default()
            });
            // What can not be is no word at all.
            let more = status(view, told, u64::MAX >> 2, 1 << 40);
            vec![speak(told, 2, whole, Options::RCLOSE), more]
        });
        attacked.assert_good();
        let (last, before) = (attacked.last(), quiet.last());
        assert!(
            last <= before + SECOND / 10,
            "{kind:?}: {last:?} instead of {before:?}"
        );
        let packets = attacked.stream_packets();
        assert!(packets <= quiet.stream_packets() + 8, "{kind:?}: {packets}");
    }
}

/// It takes no more than it said at first: who has room is not kept from more.
#[test]
fn who_grants_no_more_is_left_behind() {
    for kind in [Kind::Coded, Kind::Plain, Kind::Buckets] {
        let quiet = quiet(options(kind));
        // As much room as two blocks, and never more.
        let room = 2 * u64::from(SYMBOLS) * 1_416;
        let attacked = beside_one_with_room(room, options(kind), |view, told| {
            vec![status(view, told, view.position.min(room), room)]
        });
        attacked.assert_good();
        let (last, before) = (attacked.last(), quiet.last());
        assert!(
            last <= before + LEFT_BEHIND,
            "{kind:?}: {last:?} instead of {before:?}"
        );
    }
}

/// Words that contradict each other in every way, at every turn.
#[test]
fn who_says_all_there_is_to_say_ends_nobody() {
    for kind in [Kind::Coded, Kind::Plain, Kind::Buckets] {
        let quiet = quiet(options(kind));
        let mut turn = 0;
        let attacked = beside(options(kind), |view, told| {
            turn += 1;
            let all = view.to_transmitter(told, 3 + turn as u32);
            // That it goes away is said last.
            let number = turn % (all.len() - 2);
            vec![all[number].clone(), status(view, told, view.position, 1 << 40)]
        });
        attacked.assert_good();
        let (last, before) = (attacked.last(), quiet.last());
        assert!(
            last <= 2 * before + SECOND,
            "{kind:?}: {last:?} instead of {before:?}"
        );
    }
}
