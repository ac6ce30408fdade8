//! DIAGs that fit, at the wrong moment or with odd values (§7.5).

use super::forge::View;
use super::world::{DELAY, MS, PORT, World};
use std::time::Duration;
use xtp_engine::paradigm;
use xtp_wire::{DiagCode, DiagValue, Key, Options};

/// Before its peer was heard an initiator doubts nobody: what follows is what would have been sent anyhow.
#[test]
fn nobody_is_doubted_who_was_not_heard() {
    for ahead in [false, true] {
        let conversation = |doubted: bool| {
            let mut world = World::new(ahead);
            let id = world.open(paradigm::stream(PORT));
            world.send(0, id, 100);
            world.flush(0);
            let first = world.sent_by(0, 0).next().expect("FIRST left").header;
            if doubted {
                let view = View {
                    key: Key::returned(first.key.value()),
                    sync: 1,
                    seq: 0,
                    nxt: 100,
                    alloc: 0,
                    echo: first.sync,
                    first_echo: first.sync,
                };
                let (code, value) = (DiagCode::InvalidContext, DiagValue::Unspecified);
                world.forge(0, &view.diag(Options::empty(), code, value, ""));
                assert_eq!(world.ends[0].view().context(id).unwrap().stats().implausible, 1);
            }
            world.run(Duration::from_secs(1));
            (world.sent, world.events)
        };
        assert!(conversation(true) == conversation(false), "ahead: {ahead}");
    }
}

/// DIAG 7 says what fits, if that can be: what is below 536 octets is taken as a report without a size.
#[test]
fn a_diag_makes_packets_no_smaller_than_every_path_carries() {
    for ahead in [false, true] {
        for (text, largest) in [
            ("100", 1_200),
            ("535", 1_200),
            ("", 1_200),
            ("600", 600),
            ("536", 548),
        ] {
            let mut world = World::new(ahead);
            let id = world.open(paradigm::stream(PORT));
            world.send(0, id, 100);
            world.run(40 * MS);
            let view = View::of(&world, 0);
            let (code, value) = (DiagCode::MaximumPacketSize, DiagValue::Unspecified);
            world.forge(0, &view.diag(Options::empty(), code, value, text));
            let begin = world.sent.len();
            world.send(0, id, 5_000);
            world.run(20 * DELAY);
            let sizes = world.sent[begin..].iter().map(|sent| sent.octets.len());
            assert_eq!(sizes.max(), Some(largest), "{text:?}, ahead: {ahead}");
        }
    }
}
