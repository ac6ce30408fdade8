//! A caller that waits for the next message of an association is handed that and nothing else, and events tell of all else.

use super::forge::View;
use super::shortcuts::begun;
use super::world::{Joined, Link, MS, PORT, World, address, payload};
use xtp_engine::{ContextId, Datagram, Ecn, Event, Expectation, Rate, Read, TaggedMessage, Unit, paradigm};
use xtp_wire::{Body, DataSegment, HEADER_LEN, Options, XDATA_HEAD_LEN};

pub(super) fn datagram(octets: &[u8]) -> Datagram<'_> {
    Datagram {
        src: address(0),
        dst: None,
        ecn: Ecn::NotEct,
        data: octets,
        backing: None,
    }
}

/// Datagrams that come joined to the responder, whose user waits for a message.
pub(super) fn hand_in(
    world: &mut World,
    peer: ContextId,
    joined: Datagram<'_>,
    stride: usize,
) -> Option<TaggedMessage> {
    hand_in_within(world, peer, joined, stride, (Unit::Message, usize::MAX))
}

/// The same of at most `limit` octets, of a message or whatever they belong to.
fn hand_in_within(
    world: &mut World,
    peer: ContextId,
    joined: Datagram<'_>,
    stride: usize,
    (unit, limit): (Unit, usize),
) -> Option<TaggedMessage> {
    let id = peer;
    let driver = &mut world.ends[1];
    driver.expect(Expectation::Next { id, unit, limit });
    driver.receive(world.now, &mut Joined::new(joined, stride));
    let message = driver.take_next();
    driver.withdraw();
    message
}

#[test]
fn a_message_of_another_association_is_not_handed_over() {
    let (mut world, [_, peer]) = begun(true, paradigm::stream(PORT), Rate::default());
    let view = View::of(&world, 1);
    for (key, mine) in [(view.key.value() ^ 1, false), (view.key.value(), true)] {
        let view = View {
            key: xtp_wire::Key::returned(key),
            ..view
        };
        let octets = view.exchange(view.control(), b"message");
        let message = hand_in(&mut world, peer, datagram(&octets), octets.len());
        assert_eq!(message.is_some(), mine);
    }
    world.flush(1);
}

/// The packets of a message in one train, each of `stride` octets.
fn train(view: &View, count: u32, stride: usize) -> Vec<u8> {
    let body = Body::Xdata {
        control: view.control(),
        delay_us: 0,
        data: DataSegment {
            tag: None,
            data: &vec![1; stride - XDATA_HEAD_LEN],
        },
    };
    let mut octets = view.packet(Options::empty(), body);
    let mut seq = view.seq + (stride - XDATA_HEAD_LEN) as u64;
    let data = vec![2; stride - HEADER_LEN];
    for behind in 1..count {
        let later = View {
            sync: view.sync.wrapping_add(behind),
            ..*view
        };
        let mut options = Options::empty();
        options.set(Options::EOM, behind + 1 == count);
        octets.extend(later.data(seq, options, &data));
        seq += data.len() as u64;
    }
    octets
}

#[test]
fn a_message_in_a_train_is_handed_over_up_to_the_grant() {
    for (stride, whole) in [(1_000, true), (20_000, true), (33_000, false)] {
        let (mut world, [_, peer]) = begun(true, paradigm::stream(PORT), Rate::default());
        let octets = train(&View::of(&world, 1), 2, stride);
        let message = hand_in(&mut world, peer, datagram(&octets), stride);
        assert_eq!(
            message.is_some(),
            whole,
            "two of {stride} octets, 64 KiB are granted"
        );
        if !whole {
            continue;
        }
        world.flush(1);
        let octets = message.expect("it was handed over").data.len();
        assert_eq!(octets, 2 * stride - XDATA_HEAD_LEN - HEADER_LEN);
    }
}

#[test]
fn octets_in_a_train_are_handed_over_together_if_their_user_takes_all() {
    let stride = 1_000;
    let octets = 3 * stride - XDATA_HEAD_LEN - 2 * HEADER_LEN;
    for (limit, taken) in [(octets, octets), (octets - 1, 0), (1, 0), (usize::MAX, octets)] {
        let (mut world, peer, view) = awaiting();
        let train = train(&view, 3, stride);
        let wanted = (Unit::Octets, limit);
        let handed = hand_in_within(&mut world, peer, datagram(&train), stride, wanted);
        assert_eq!(
            handed.map_or(0, |handed| handed.data.len()),
            taken,
            "limit {limit}"
        );
        let (told, messages) = told(&mut world, peer);
        let left: usize = messages.iter().map(Vec::len).sum();
        // What is not taken waits, and is told of once.
        assert_eq!(
            (told, taken + left),
            (usize::from(taken == 0), octets),
            "limit {limit}"
        );
    }
}

/// An association whose responder is to be sent something, and what it expects.
fn awaiting() -> (World, ContextId, View) {
    let (mut world, [_, peer]) = begun(true, paradigm::stream(PORT), Rate::default());
    while world.ends[1].poll_event().is_some() {}
    let view = View::of(&world, 1);
    (world, peer, view)
}

/// How often the responder's user is told that something can be read, and what there is, message by message.
fn told(world: &mut World, peer: ContextId) -> (usize, Vec<Vec<u8>>) {
    let events = std::iter::from_fn(|| world.ends[1].poll_event());
    let count = events.filter(|(_, event)| *event == Event::Readable).count();
    let (mut messages, mut message) = (Vec::new(), Vec::new());
    while let Ok(Read::Data { bytes, eom, .. }) = world.ends[1].command().read(world.now, peer, usize::MAX) {
        message.extend_from_slice(&bytes);
        if eom {
            messages.push(std::mem::take(&mut message));
        }
    }
    (count, messages)
}

#[test]
fn of_a_message_longer_than_its_user_takes_it_is_told() {
    for limit in [6, 7] {
        let (mut world, peer, view) = awaiting();
        let octets = view.exchange(view.control(), b"message");
        let message = hand_in_within(
            &mut world,
            peer,
            datagram(&octets),
            octets.len(),
            (Unit::Message, limit),
        );
        assert_eq!(message.is_some(), limit == 7);
        let rest = match message {
            Some(_) => (0, vec![]),
            None => (1, vec![b"message".to_vec()]),
        };
        assert_eq!(told(&mut world, peer), rest);
    }
}

#[test]
fn of_a_message_in_parts_longer_than_its_user_takes_it_is_told_once() {
    let whole = 2 * 1_000 - XDATA_HEAD_LEN - HEADER_LEN;
    for (limit, fits) in [(whole, true), (whole - 9, false)] {
        let (mut world, peer, view) = awaiting();
        let octets = train(&view, 2, 1_000);
        let message = hand_in_within(&mut world, peer, datagram(&octets), 1_000, (Unit::Message, limit));
        assert_eq!(message.map(|message| message.data.len()), fits.then_some(whole));
        let (count, messages) = told(&mut world, peer);
        assert_eq!((count, messages.len()), if fits { (0, 0) } else { (1, 1) });
    }
}

#[test]
fn of_a_message_whose_rest_takes_the_general_way_it_is_told_once() {
    let (mut world, peer, view) = awaiting();
    let mut octets = train(&view, 1, 1_000);
    let later = View {
        sync: view.sync.wrapping_add(1),
        ..view
    };
    let data = vec![2; 1_000 - HEADER_LEN];
    let seq = view.seq + (1_000 - XDATA_HEAD_LEN) as u64;
    octets.extend(later.data(seq, Options::EOM | Options::SREQ, &data));
    assert_eq!(hand_in(&mut world, peer, datagram(&octets), 1_000), None);
    let (count, messages) = told(&mut world, peer);
    assert_eq!((count, messages.len()), (1, 1));
    assert_eq!(messages[0].len(), 2_000 - XDATA_HEAD_LEN - HEADER_LEN);
    let sent = world.sent.len();
    world.flush(1);
    assert!(world.sent.len() > sent, "what is asked is answered");
}

#[test]
fn of_a_message_without_its_end_it_is_told_and_the_rest_follows() {
    let (mut world, peer, view) = awaiting();
    let octets = train(&view, 3, 1_000);
    assert_eq!(hand_in(&mut world, peer, datagram(&octets[..2_000]), 1_000), None);
    assert_eq!(told(&mut world, peer), (1, vec![]));
    assert_eq!(hand_in(&mut world, peer, datagram(&octets[2_000..]), 1_000), None);
    let (_, rest) = told(&mut world, peer);
    assert_eq!(rest, [vec![2; 1_000 - HEADER_LEN]]);
}

#[test]
fn behind_the_message_that_is_handed_over_the_next_is_told() {
    let (mut world, peer, view) = awaiting();
    let first = vec![1; 1_000 - XDATA_HEAD_LEN];
    let mut octets = view.exchange(view.control(), &first);
    let later = View {
        sync: view.sync.wrapping_add(1),
        ..view
    };
    octets.extend(later.data(view.seq + first.len() as u64, Options::EOM, b"next"));
    let message = hand_in(&mut world, peer, datagram(&octets), 1_000);
    assert_eq!(message.map(|message| message.data.len()), Some(first.len()));
    assert_eq!(told(&mut world, peer), (1, vec![b"next".to_vec()]));
}

#[test]
fn a_message_in_a_train_is_copied_once() {
    let (mut world, peer, view) = awaiting();
    let before = world.ends[1].view().context(peer).unwrap().stats().octets_copied;
    let octets = train(&view, 10, 1_440);
    let message = hand_in(&mut world, peer, datagram(&octets), 1_440).expect("it fits");
    let copied = world.ends[1]
        .settled()
        .context(peer)
        .unwrap()
        .stats()
        .octets_copied
        - before;
    assert_eq!(copied, message.data.len() as u64);
}

#[test]
fn what_answers_a_message_in_a_train_leaves_before_the_bookkeeping() {
    for count in [1, 6] {
        let (mut world, [id, peer]) = begun(true, paradigm::stream(PORT), Rate::default());
        // Whoever has been idle looks at its window first.
        world.send(0, id, 50);
        world.run(2 * MS);
        world.read(1, peer);
        world.send(1, peer, 60);
        world.flush(1);
        let view = View::of(&world, 1);
        let octets = match count {
            1 => view.exchange(view.control(), b"message"),
            _ => train(&view, count, 1_000),
        };
        let stride = octets.len().min(1_000);
        assert!(hand_in(&mut world, peer, datagram(&octets), stride).is_some());
        let (mut link, mut answer) = (Link::default(), payload(64));
        let unit = Unit::Message;
        assert!(world.ends[1].hand_out(world.now, peer, (None, &mut answer), unit, &mut link));
    }
}
