//! Three times what came from an address that has proved nothing, and no more (§7.3).

use super::forge::View;
use super::moving::later;
use super::world::{DELAY, MS, PORT, World, address};
use std::time::Duration;
use xtp_engine::{ContextId, OpenOptions, paradigm};
use xtp_wire::{Body, Control, DataSegment, Format, Header, Key, Options, Packet, Path, PathKind};

/// An association whose FIRST reached the responder, and what left that one never arrives: to it, and octets that came.
fn half_open(ahead: bool, service: OpenOptions, len: usize) -> (World, Header, usize) {
    let mut world = World::new(ahead);
    world.lose[0] = usize::MAX;
    let id = world.open(service);
    world.send(0, id, len);
    world.run(DELAY);
    // Nothing of it comes again by itself.
    world.lose[1] = usize::MAX;
    let came = world.sent[0].octets.len();
    let first = Packet::parse(&world.sent[0].octets).unwrap().header;
    assert_eq!(first.format, Format::First);
    (world, first, came)
}

fn sent_to(world: &World, place: usize) -> usize {
    let there = world
        .sent
        .iter()
        .filter(|sent| sent.by == 1 && sent.dst == address(place));
    there.map(|sent| sent.octets.len()).sum()
}

/// DATA under the key that FIRST named.
fn data(first: &Header, by: u32, seq: u64) -> Vec<u8> {
    let header = Header {
        key: Key::own(first.key.value()),
        options: Options::SREQ,
        format: Format::Data,
        sync: first.sync.wrapping_add(1 + by),
        seq,
        ..*first
    };
    let body = Body::Data(DataSegment {
        tag: None,
        data: b"x",
    });
    let packet = Packet {
        header,
        body,
        padding: 0,
    };
    let mut octets = vec![0; packet.encoded_len()];
    packet.encode(&mut octets).unwrap();
    octets
}

/// Status that grows with every hole, and every packet asks.
#[test]
fn questions_are_answered_within_the_budget() {
    for ahead in [false, true] {
        for service in [paradigm::stream(PORT), paradigm::transaction(PORT)] {
            let (mut world, first, mut came) = half_open(ahead, service, 20);
            for number in 0..200_u32 {
                let octets = data(&first, number, 40 + 2 * u64::from(number));
                came += octets.len();
                world.forge(1, &octets);
                let sent = sent_to(&world, 0);
                assert!(sent <= 3 * came, "{sent} of {came} at {number}");
                world.run(DELAY);
            }
            world.run(Duration::from_secs(60));
            let sent = sent_to(&world, 0);
            assert!(
                (2 * came..=3 * came).contains(&sent),
                "{sent} of {came}, ahead: {ahead}"
            );
        }
    }
}

/// A responder with data of this size to send, until nothing leaves any more.
fn exhausted(ahead: bool, size: usize) -> (World, ContextId, usize) {
    let (mut world, _, came) = half_open(ahead, paradigm::stream(PORT), 20);
    let peer = world.accepted();
    for _ in 0..20 {
        world.send(1, peer, size);
        world.flush(1);
    }
    (world, peer, came)
}

/// Data, repetitions of it and questions: three times, and what is left for a question is used for one.
#[test]
fn data_and_its_repetitions_keep_within_the_budget() {
    for ahead in [false, true] {
        for size in [1, 10, 20, 30, 40, 60, 80, 100, 130, 160, 200, 240, 280] {
            let (mut world, _, came) = exhausted(ahead, size);
            world.run(Duration::from_secs(50));
            let sent = sent_to(&world, 0);
            assert!(sent <= 3 * came, "{sent} of {came}, size {size}, ahead: {ahead}");
            let mut asked = world.sent_by(1, 0).map(|packet| packet.header.options);
            assert!(
                asked.any(|options| options.contains(Options::SREQ)),
                "size {size}"
            );
        }
    }
}

/// What comes from elsewhere is nobody's budget but its own.
#[test]
fn what_comes_from_elsewhere_is_no_budget() {
    for ahead in [false, true] {
        let (mut world, peer, came) = exhausted(ahead, 20);
        world.run(Duration::from_secs(1));
        let view = View::of(&world, 1);
        let own = View {
            key: Key::own(view.key.value()),
            ..view
        };
        for by in 0..40 {
            let control = Control {
                rseq: 0,
                ..view.control()
            };
            world.inject(1, address(5), &later(&own, by).cntl(Options::SREQ, control));
        }
        world.run(Duration::from_secs(10));
        let sent = sent_to(&world, 0);
        assert!(sent <= 3 * came, "{sent} of {came}, ahead: {ahead}");
        assert_eq!(sent_to(&world, 5), 0);
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.is_proved()),
            Ok(false)
        );
    }
}

/// The key of FIRST proves nothing, nor does an echo that was guessed; an echo of what was sent does.
#[test]
fn an_address_is_proved_by_what_only_it_was_told() {
    for ahead in [false, true] {
        let (mut world, peer, _) = exhausted(ahead, 20);
        let view = View::of(&world, 1);
        let own = View {
            key: Key::own(view.key.value()),
            ..view
        };
        world.forge(1, &own.data(view.seq, Options::empty(), b"x"));
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.is_proved()),
            Ok(false)
        );
        let echo = |echo| Control {
            rseq: 0,
            echo,
            ..view.control()
        };
        world.forge(1, &later(&own, 2).cntl(Options::empty(), echo(view.echo)));
        assert_eq!(
            world.ends[1]
                .view()
                .context(peer)
                .map(|context| context.is_proved()),
            Ok(true),
            "ahead: {ahead}"
        );
        world.run(20 * MS);
    }
}

/// Whoever was told the key takes the association elsewhere: the address it left was not proved, and is asked no more often
/// than its budget allows.
#[test]
fn an_address_that_was_left_unproved_is_asked_within_its_budget() {
    for ahead in [false, true] {
        for size in [20, 60, 130] {
            let (mut world, peer, mut came) = exhausted(ahead, size);
            // A question brings the key out.
            let view = View::of(&world, 1);
            let own = View {
                key: Key::own(view.key.value()),
                ..view
            };
            let asks = own.data(view.seq, Options::SREQ, b"x");
            came += asks.len();
            world.forge(1, &asks);
            world.run(Duration::from_secs(30));
            let told = world.sent_by(1, 0).find_map(|packet| match packet.body {
                Body::Tcntl { xkey, .. } => Some(xkey),
                _ => None,
            });
            let key = Key::returned(told.expect("the key was told") & (u64::MAX >> 1));
            let view = View { key, ..view };
            let from = world.sent.len();
            let control = Control {
                rseq: 0,
                echo: View::of(&world, 1).echo,
                ..view.control()
            };
            world.inject(1, address(5), &later(&view, 5).cntl(Options::empty(), control));
            let asked = super::moving::challenge(&world, from, 5).expect("it is challenged");
            let answer = Path {
                kind: PathKind::Response,
                ..asked
            };
            let answer = later(&view, 6).packet(Options::empty(), Body::Path(answer));
            world.inject(1, address(5), &answer);
            assert_eq!(
                world.ends[1].view().context(peer).map(|context| context.peer()),
                Ok(address(5))
            );
            world.run(Duration::from_secs(10));
            let sent = sent_to(&world, 0);
            assert!(sent <= 3 * came, "{sent} of {came}, size {size}, ahead: {ahead}");
        }
    }
}

/// An answer for which there is no budget yet is given as soon as there is.
#[test]
fn an_answer_waits_for_its_budget() {
    for ahead in [false, true] {
        let (mut world, first, _) = half_open(ahead, paradigm::stream(PORT), 20);
        let mut number = 0;
        let mut forge = |world: &mut World, options: Options| {
            let before = sent_to(world, 0);
            let mut octets = data(&first, number, 40 + 2 * u64::from(number));
            let mut packet = Packet::parse(&octets).unwrap();
            packet.header.options = options;
            let mut changed = vec![0; octets.len()];
            packet.encode(&mut changed).unwrap();
            std::mem::swap(&mut octets, &mut changed);
            number += 1;
            world.forge(1, &octets);
            sent_to(world, 0) - before
        };
        let asked = (0..200).position(|_| forge(&mut world, Options::SREQ) == 0);
        assert!(asked.is_some(), "there is no end of the budget");
        let unasked = (0..20).position(|_| forge(&mut world, Options::empty()) > 0);
        assert!(unasked.is_some(), "the answer was forgotten, ahead: {ahead}");
        let more = (0..20).position(|_| forge(&mut world, Options::empty()) > 0);
        assert_eq!(more, None, "nobody asked again");
    }
}
