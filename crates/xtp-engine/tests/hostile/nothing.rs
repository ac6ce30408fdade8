//! A conversation with forged packets in it is the same, octet for octet and event for event, as one without.

use super::forge::View;
use super::world::{DELAY, MS, PORT, Sent, World, address};
use std::time::Duration;
use xtp_engine::{ContextId, Event, Failure, paradigm};
use xtp_wire::{Control, DiagCode, DiagValue, Key, Options};

const ROUNDS: usize = 4;

/// What is to be the same.
#[derive(PartialEq)]
struct Outcome {
    sent: Vec<Sent>,
    events: [Vec<(ContextId, Event)>; 2],
    read: [Vec<u8>; 2],
    lost: [u64; 2],
}

/// Messages there and back, with a word of somebody else after each of them, and an orderly end.
fn conversation(ahead: bool, mut tamper: impl FnMut(&mut World)) -> Outcome {
    let mut world = World::new(ahead);
    let id = world.open(paradigm::stream(super::world::PORT));
    let mut read = [Vec::new(), Vec::new()];
    let mut peer = None;
    for round in 0..ROUNDS {
        world.send(0, id, 300 + round);
        world.run(4 * DELAY);
        let peer = *peer.get_or_insert_with(|| world.accepted());
        read[1].extend(world.read(1, peer));
        tamper(&mut world);
        world.send(1, peer, 200 + round);
        world.run(4 * DELAY);
        read[0].extend(world.read(0, id));
        tamper(&mut world);
        // So far that whatever was owed or asked is settled.
        world.run(40 * MS);
        tamper(&mut world);
    }
    let peer = peer.expect("somebody answered");
    world.ends[0].command().close_writer(world.now, id).unwrap();
    world.ends[1].command().close_writer(world.now, peer).unwrap();
    world.run(Duration::from_secs(2));
    assert_eq!(world.read(0, id), [0_u8; 0]);
    let lost = [(0, id), (1, peer)].map(|(end, id)| {
        let stats = world.ends[end].view().context(id).unwrap().stats();
        stats.packets_lost + stats.octets_retransmitted
    });
    Outcome {
        sent: world.sent,
        events: world.events,
        read,
        lost,
    }
}

/// Forged packets by name.
type Forgeries = Vec<(&'static str, Vec<Vec<u8>>)>;

/// Numbers that no peer can mean.
fn implausible(view: &View) -> Forgeries {
    let control = view.control();
    let one = |octets| vec![octets];
    let cntl = |control: Control| {
        vec![
            view.cntl(Options::empty(), control),
            view.exchange(control, b"forged"),
        ]
    };
    let far = 1 << 41;
    let unsent = Control {
        rseq: control.rseq + 1,
        alloc: control.alloc + 1,
        ..control
    };
    let below = control
        .rseq
        .checked_sub(1)
        .map(|alloc| Control { alloc, ..control });
    vec![
        (
            "data far beyond",
            one(view.data(view.seq + far, Options::empty(), b"forged")),
        ),
        (
            "data far below",
            one(view.data(view.seq.wrapping_sub(far), Options::empty(), b"forged")),
        ),
        (
            "data beyond without flow control",
            one(view.data(view.seq + far, Options::NOFLOW, b"forged")),
        ),
        ("acknowledges what was never sent", cntl(unsent)),
        (
            "spans of what was never sent",
            view.spans(control, (view.nxt + 1, view.nxt + 2)).to_vec(),
        ),
        ("grants less than it received", below.map_or(Vec::new(), cntl)),
        (
            "grants more than there can be",
            cntl(Control {
                alloc: control.rseq + (1 << 40) + 1,
                ..control
            }),
        ),
        (
            "echo of the future",
            cntl(Control {
                echo: view.echo.wrapping_add(1),
                ..control
            }),
        ),
        (
            "echo from before the first packet",
            cntl(Control {
                echo: view.first_echo.wrapping_sub(2),
                ..control
            }),
        ),
        (
            "echo of the packet before the first",
            cntl(Control {
                echo: view.first_echo.wrapping_sub(1),
                ..control
            }),
        ),
    ]
}

/// Words of somebody who does not know the key, or of a DIAG that means nothing once an association is open.
fn unauthorised(view: &View) -> Forgeries {
    let control = view.control();
    let with_key = |key: Key| View { key, ..*view };
    let other = match view.key.is_returned() {
        true => Key::returned(view.key.value() ^ 1),
        false => Key::own(view.key.value() ^ 1),
    };
    let plain = view.cntl(Options::empty(), control);
    let mut damaged = plain.clone();
    damaged[40] ^= 1;
    let mut version = plain.clone();
    version[11] ^= 0x40;
    let mut forged = vec![
        ("damaged", vec![damaged]),
        ("another version", vec![version]),
        (
            "another key",
            vec![
                with_key(other).cntl(Options::END, control),
                with_key(other).data(view.seq, Options::empty(), b"forged"),
            ],
        ),
        (
            "no key",
            vec![with_key(Key::returned(0)).cntl(Options::END, control)],
        ),
    ];
    let disowned = with_key(other).diag(
        Options::empty(),
        DiagCode::InvalidContext,
        DiagValue::Unspecified,
        "",
    );
    forged.push(("a DIAG about a key that is nobody's", vec![disowned]));
    for code in DiagCode::ALL {
        // Size and doubt are hints that may be followed; the rest is for those who open, or says END.
        let hint = [DiagCode::MaximumPacketSize, DiagCode::InvalidContext].contains(code);
        let value = DiagValue::NoResource;
        if !hint {
            let diag = view.diag(Options::empty(), *code, value, "");
            forged.push(("a DIAG for those who open", vec![diag]));
        }
        let foreign = with_key(Key::own(view.key.value()));
        let diag = foreign.diag(Options::END, *code, value, "600");
        forged.push(("a DIAG under a key that is not the end's own", vec![diag]));
    }
    forged
}

fn has_no_effect(forgeries: fn(&View) -> Forgeries) {
    for ahead in [false, true] {
        let honest = conversation(ahead, |_| {});
        assert!(honest.lost == [0, 0] && honest.sent.len() > 4 * ROUNDS);
        for victim in 0..2 {
            let mut number = 0;
            loop {
                let mut name = None;
                let tampered = conversation(ahead, |world| {
                    let view = View::of(world, victim);
                    if let Some((told, packets)) = forgeries(&view).get(number) {
                        name = Some(*told);
                        for octets in packets {
                            world.forge(victim, octets);
                        }
                    }
                });
                let Some(name) = name else { break };
                assert!(
                    tampered == honest,
                    "{name} (number {number}) to end {victim} has an effect, ahead: {ahead}\n{:?}\n{:?}",
                    tampered.events,
                    honest.events
                );
                number += 1;
            }
            assert!(number > 5);
        }
    }
}

#[test]
fn numbers_that_cannot_be_have_no_effect() {
    has_no_effect(implausible);
}

#[test]
fn who_does_not_know_the_key_has_no_effect() {
    has_no_effect(unauthorised);
}

/// What the users see.
#[derive(Debug, PartialEq)]
struct Seen<'a> {
    told: [Vec<&'a Event>; 2],
    read: &'a [Vec<u8>; 2],
    lost: [u64; 2],
}

fn seen(outcome: &Outcome) -> Seen<'_> {
    Seen {
        told: [0, 1].map(|end: usize| outcome.events[end].iter().map(|(_, event)| event).collect()),
        read: &outcome.read,
        lost: outcome.lost,
    }
}

/// Whatever has been on the wire comes once more, at once and later: nobody sees a difference, nothing is sent again.
#[test]
fn what_was_heard_before_changes_nothing_for_the_users() {
    for ahead in [false, true] {
        let honest = conversation(ahead, |_| {});
        for victim in 0..2 {
            let replayed = conversation(ahead, |world| {
                let all: Vec<_> = world
                    .sent
                    .iter()
                    .filter(|sent| sent.by != victim)
                    .cloned()
                    .collect();
                for sent in all {
                    world.forge(victim, &sent.octets);
                }
            });
            assert!(seen(&replayed) == seen(&honest), "{:?}", seen(&replayed));
        }
    }
}

/// Hints that the peer is gone are followed by a question, and the answer is believed.
#[test]
fn hints_that_the_peer_is_gone_end_nothing() {
    for ahead in [false, true] {
        let honest = conversation(ahead, |_| {});
        for victim in 0..2 {
            let from = |world: &World| world.sent.len();
            let mut asked = 0;
            let mut before = 0;
            let unreachable = conversation(ahead, |world| {
                before = from(world);
                world.ends[victim]
                    .command()
                    .failed(world.now, address(1 - victim), Failure::PortUnreachable);
                world.flush(victim);
                asked += from(world) - before;
            });
            assert!(seen(&unreachable) == seen(&honest), "{:?}", seen(&unreachable));
            assert!(asked > 0, "the hint was not followed");
            let disowned = conversation(ahead, |world| {
                let view = View::of(world, victim);
                let diag = view.diag(
                    Options::empty(),
                    DiagCode::InvalidContext,
                    DiagValue::Unspecified,
                    "",
                );
                world.forge(victim, &diag);
            });
            assert!(seen(&disowned) == seen(&honest), "{:?}", seen(&disowned));
        }
    }
}

/// Octets from far below what was received are looked at by nobody: what they ask is not answered (§2.9).
#[test]
fn data_from_long_ago_is_not_looked_at() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        let id = world.open(paradigm::stream(PORT));
        world.send(0, id, 100);
        world.run(40 * MS);
        let peer = world.accepted();
        for _ in 0..100 {
            world.send(0, id, 100_000);
            world.run(20 * MS);
            world.read(1, peer);
        }
        world.run(Duration::from_secs(1));
        let view = View::of(&world, 1);
        let before = world.ends[1].view().context(peer).unwrap().stats();
        assert_eq!(before.octets_received, 10_000_100);
        for (seq, answers) in [(view.seq - 100_000, 1), (100, 0)] {
            let from = world.sent.len();
            world.forge(1, &view.data(seq, Options::SREQ, &[1; 100]));
            assert_eq!(
                world.sent_by(1, from).count(),
                answers,
                "at {seq}, ahead: {ahead}"
            );
            world.run(Duration::from_secs(1));
        }
        let after = world.ends[1].view().context(peer).unwrap().stats();
        assert_eq!(after.implausible - before.implausible, 1);
    }
}
