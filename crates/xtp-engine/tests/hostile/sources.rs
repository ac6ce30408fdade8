//! Who proves an address, and what nobody needs to prove.

use super::world::{DELAY, PORT, World, address};
use xtp_engine::{EngineConfig, OpenOptions, Setting, paradigm};
use xtp_wire::{Body, Control, Format, Header, Key, Options, Packet};

/// A packet under the initiator's own key, as somebody sends it who has heard nothing.
fn blind(key: u64, sync: u32, options: Options) -> Vec<u8> {
    let header = Header {
        key: Key::own(key),
        options,
        format: Format::Cntl,
        dlen: 0,
        check: 0,
        sort: 0,
        sync,
        seq: 0,
    };
    let body = Body::Cntl(Control::default());
    let packet = Packet {
        header,
        body,
        padding: 0,
    };
    let mut octets = vec![0; packet.encoded_len()];
    packet.encode(&mut octets).unwrap();
    octets
}

/// A FIRST of the initiator that reached the responder; nothing comes back.
fn half_open(world: &mut World, options: OpenOptions) -> Header {
    let begin = world.sent.len();
    world.lose[0] = usize::MAX;
    let id = world.open(options);
    world.send(0, id, 20);
    world.run(DELAY);
    let first = world.sent_by(0, begin).next().expect("FIRST left");
    assert_eq!(first.header.format, Format::First);
    first.header
}

/// END without an echo is believed of whom nobody knows (§2.9), and proves nothing: the next FIRST of that address counts
/// against its rate like any other's.
#[test]
fn an_end_without_an_echo_proves_no_address() {
    for ahead in [false, true] {
        let mut world = World::with(ahead, |config| config.overrides.source_rate = 1, |_| {});
        let first = half_open(&mut world, paradigm::stream(PORT));
        assert_eq!(world.ends[1].view().stats().half_open, 1);
        let end = blind(first.key.value(), first.sync.wrapping_add(1), Options::END);
        world.forge(1, &end);
        assert_eq!(world.ends[1].view().stats().half_open, 0);
        half_open(&mut world, paradigm::stream(PORT));
        assert_eq!(world.ends[1].view().stats().cookies_sent, 1, "ahead: {ahead}");
    }
}

/// A repeated FIRST from another address is no other association, and is not told what the first was answered.
#[test]
fn a_repeat_from_elsewhere_begins_nothing() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        let id = world.open(paradigm::transaction(PORT));
        world.send(0, id, 20);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.run(DELAY);
        let first = world.sent[0].clone();
        let accepted = |world: &World| {
            let told = world.events[1].iter();
            told.filter(|(_, event)| matches!(event, xtp_engine::Event::Accepted { .. }))
                .count()
        };
        assert_eq!(accepted(&world), 1);
        let begin = world.sent.len();
        world.inject(1, address(7), &first.octets);
        assert_eq!((accepted(&world), world.sent.len()), (1, begin));
        // And again when it is over.
        let peer = world.accepted();
        assert_eq!(world.read(1, peer).len(), 20);
        world.ends[1]
            .command()
            .set(world.now, peer, Setting::UnconfirmedResponse(true))
            .unwrap();
        world.send(1, peer, 100);
        world.ends[1].command().close_writer(world.now, peer).unwrap();
        world.flush(1);
        world.ends[1].command().release(world.now, peer).unwrap();
        world.run(20 * DELAY);
        let begin = world.sent.len();
        world.inject(1, address(7), &first.octets);
        let said = world.data_sent_by(1, begin);
        assert_eq!((accepted(&world), said), (1, 0), "ahead: {ahead}");
        world.run(20 * DELAY);
        let begin = world.sent.len();
        world.inject(1, address(0), &first.octets);
        assert_eq!(world.data_sent_by(1, begin), 100, "its own source hears it again");
    }
}

/// The limits of an endpoint hold against FIRSTs and against questions that fit nothing.
#[test]
fn limits_of_the_endpoint_hold() {
    for ahead in [false, true] {
        let limits = |config: &mut xtp_engine::EngineConfig| config.max_contexts = 4;
        let mut world = World::with(ahead, limits, |_| {});
        for _ in 0..4 {
            half_open(&mut world, paradigm::stream(PORT));
        }
        let octets = world.sent[0].octets.clone();
        let first = Packet::parse(&octets).unwrap();
        for number in 1..20 {
            let mut other = first;
            other.header.key = Key::own(first.header.key.value() ^ number);
            let mut octets = vec![0; other.encoded_len()];
            other.encode(&mut octets).unwrap();
            world.inject(1, address(2 + number as usize), &octets);
        }
        let stats = world.ends[1].view().stats();
        assert!(stats.contexts <= 4, "{} associations", stats.contexts);
        let before = stats.diags_sent;
        world.run(std::time::Duration::from_secs(2));
        for number in 1..=250 {
            let mut question = Packet::parse(&octets).unwrap().header;
            question.key = Key::returned(number);
            question.options = Options::SREQ;
            let packet = Packet {
                header: question,
                body: Body::Cntl(Control::default()),
                padding: 0,
            };
            let mut octets = vec![0; packet.encoded_len()];
            packet.encode(&mut octets).unwrap();
            world.inject(1, address(7), &octets);
        }
        let sent = world.ends[1].view().stats().diags_sent - before;
        assert_eq!(sent, 100, "all that a second has");
    }
}

/// FIRST of a group begins no association of one; the same without the bit does.
#[test]
fn a_first_of_a_group_begins_nothing() {
    for ahead in [false, true] {
        let mut world = World::new(ahead);
        world.lose[1] = usize::MAX;
        half_open(&mut world, paradigm::stream(PORT));
        let octets = world.sent[0].octets.clone();
        let begin = world.sent.len();
        for (options, begun) in [(Options::MULTI, 0), (Options::empty(), 1)] {
            let mut first = Packet::parse(&octets).unwrap();
            first.header.options |= options;
            let mut octets = vec![0; first.encoded_len()];
            first.encode(&mut octets).unwrap();
            world.forge(1, &octets);
            assert_eq!(
                world.ends[1].view().stats().contexts,
                begun,
                "ahead: {ahead}, {options:?}"
            );
            assert!(
                begun > 0 || world.sent_by(1, begin).count() == 0,
                "nobody answers a group"
            );
        }
    }
}

/// What asked for status left behind the first FIRST, of which nothing was kept: the FIRST with the cookie asks itself, and
/// nobody waits for WTIMER.
#[test]
fn a_message_of_several_packets_asks_again_with_its_cookie() {
    for ahead in [false, true] {
        let pressed = |config: &mut EngineConfig| config.overrides.max_half_open = 0;
        let mut world = World::with(ahead, pressed, |_| {});
        half_open(&mut world, paradigm::stream(PORT));
        world.lose[0] = 0;
        let id = world.open(paradigm::one_shot(PORT));
        world.send(0, id, 12_000);
        world.ends[0].command().close_writer(world.now, id).unwrap();
        world.run(40 * DELAY);
        assert_eq!(world.ends[1].view().stats().cookies_sent, 1, "ahead: {ahead}");
        let peer = world.accepted();
        assert_eq!(world.read(1, peer).len(), 12_000, "ahead: {ahead}");
    }
}
