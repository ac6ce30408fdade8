//! Who is joined, how often it is asked, and what ends that.

use super::super::script::*;
use crate::{GroupClose, GroupEvent, ReceiverOptions};
use core::net::SocketAddr;
use xtp_wire::DiagReason;
use xtp_wire::{Caps, DiagCode, DiagValue, FecAgreement, Options};

fn joins(said: &[(xtp_core::Time, ReceiverPacket)]) -> Vec<u64> {
    let joins = said
        .iter()
        .filter(|each| matches!(each.1, ReceiverPacket::Join { .. }));
    joins
        .map(|(at, _)| at.as_nanos() / 1_000_000 - 1_000_000)
        .collect()
}

#[test]
fn a_join_says_who_asks_and_is_repeated_while_nobody_answers() {
    let mut script = Script::new(ReceiverOptions {
        name: "ada".into(),
        ..options()
    });
    let mut said = Vec::new();
    for _ in 0..40 {
        script.announce();
        said.extend(script.run(250));
    }
    assert_eq!(
        joins(&said),
        [0, 250, 500, 750, 1_070, 1_710, 2_990, 5_550, 9_550],
        "40 ms, doubling to 4 s, but once an announcement at most"
    );
    let ReceiverPacket::Join {
        control,
        xkey,
        name,
        options,
    } = &said[0].1
    else {
        panic!("{said:?}")
    };
    assert_eq!(
        (control.rseq, control.alloc, *options),
        (0, 100_000, Options::empty())
    );
    assert_eq!(name.as_deref(), Some("ada"));
    assert_ne!(*xkey, 0);
}

#[test]
fn joins_of_a_large_group_are_spread() {
    let mut latest = 0;
    for seed in 0..50 {
        let mut script = Script::seeded(seed, options());
        script.size = 10_000;
        script.announce();
        let said = script.run(6_000);
        let at = joins(&said)[0];
        assert!(at <= 5_625, "9/8 of 10 000 members at 2 000 a second: {at}");
        latest = latest.max(at);
    }
    assert!(latest > 3_000, "over all of that time: {latest}");
}

#[test]
fn made_up_announcements_cost_one_join_a_second() {
    let mut script = Script::new(options());
    let mut said = 0;
    for turn in 0..1_000_u32 {
        let octets = turn.to_be_bytes();
        script.from = SocketAddr::from(([10, 9, octets[2], octets[3]], 7));
        script.key = 1_000 + u64::from(turn);
        script.announce();
        let from = script.host.deadline();
        assert!(from.is_some());
        script.wait(10);
        said += script.count_joins();
    }
    assert!((5..=10).contains(&said), "{said} joins in 10 s");
}

#[test]
fn whoever_does_not_answer_keeps_no_other_one_out() {
    let mut script = Script::new(options());
    script.from = SocketAddr::from(([10, 9, 9, 9], 9));
    script.announce();
    script.run(900);
    script.from = TRANSMITTER;
    script.announce();
    assert_eq!(script.run(0), [], "the other one has its second");
    script.wait(100);
    script.announce();
    assert!(matches!(script.flush()[..], [ReceiverPacket::Join { .. }]));
    script.answer(0, 0);
    assert!(matches!(
        script.flush()[..],
        [ReceiverPacket::Status { key: T, .. }]
    ));
}

#[test]
fn nobody_else_is_heard_by_a_member() {
    let mut script = Script::member(options());
    script.events();
    script.from = SocketAddr::from(([10, 9, 9, 9], 9));
    script.announce();
    script.data(0, 100);
    script.end(100);
    script.from = TRANSMITTER;
    script.key = K + 1;
    script.announce();
    script.data(0, 100);
    script.end(100);
    script.key = K;
    assert_eq!(script.run(0), []);
    assert_eq!(script.events(), []);
    assert_eq!(script.read().0, []);
}

#[test]
fn other_services_sources_and_codes_are_not_joined() {
    let wrong: [fn(&mut Script, &mut ReceiverOptions); 5] = [
        |_, options| options.service_number = 5,
        |_, options| options.source = Some([10, 0, 0, 2].into()),
        |script, _| script.fec = Some(FecAgreement { scheme: 2, ..code() }),
        |script, _| script.fec = Some(FecAgreement { pmax: 3, ..code() }),
        |_, options| options.datagram = 1_000,
    ];
    for (index, change) in wrong.into_iter().enumerate() {
        let mut with = options();
        let mut script = Script::new(options());
        change(&mut script, &mut with);
        let fec = script.fec;
        let mut script = Script::new(with);
        script.fec = fec;
        script.announce();
        assert_eq!(script.run(1_000), [], "{index}");
        assert_eq!(script.events(), [], "{index}");
    }
}

#[test]
fn every_answer_is_confirmed_and_names_what_it_answers() {
    let mut script = Script::member(options());
    for _ in 0..3 {
        script.answer(0, 0);
        let said = script.flush();
        let [
            ReceiverPacket::Status {
                control,
                options,
                key: T,
            },
        ] = &said[..]
        else {
            panic!("{said:?}")
        };
        assert_eq!(control.echo, script.member_sync());
        assert_eq!(*options, Options::empty());
    }
}

#[test]
fn a_refused_one_says_why() {
    let mut script = Script::new(options());
    script.announce();
    script.flush();
    script.diag(DiagCode::JoinRefused, DiagValue::JoinDenied);
    script.events_end_with(GroupClose::Dropped(DiagReason(13)));
    assert_eq!(script.run(60_000), []);
}

#[test]
fn a_forgotten_one_joins_again_with_what_it_has() {
    let mut script = Script::member(options());
    script.block_without(0, &[]);
    script.disown(T);
    let said = script.flush();
    let [ReceiverPacket::Join { control, .. }] = &said[..] else {
        panic!("{said:?}")
    };
    assert_eq!(control.rseq, BLOCK);
    assert_eq!(
        script.read().0.len() as u64,
        BLOCK,
        "what is here can be read meanwhile"
    );
    script.answer(0, 0);
    assert!(matches!(
        script.flush()[..],
        [ReceiverPacket::Status { key: T, .. }]
    ));
}

/// The transmitter counts anew under each T, from wherever it likes; an answer from before, that comes late, is none.
#[test]
fn who_was_forgotten_is_known_by_another_key() {
    for before in [1, u32::MAX / 3, u32::MAX] {
        let mut script = Script::member(options());
        let old = script.member_sync();
        script.disown(T);
        assert!(matches!(script.flush()[..], [ReceiverPacket::Join { .. }]));
        script.forget(T + 1, old.wrapping_sub(before));
        script.member.1 = 1;
        script.answer(0, 0);
        assert!(matches!(script.flush()[..], [ReceiverPacket::Status { key, .. }] if key == T + 1));
        script.forget(T, old + 10);
        script.member.1 = 0;
        script.answer(0, 0);
        let said = script.flush();
        assert!(
            matches!(said[..], [ReceiverPacket::Status { key, .. }] if key == T + 1),
            "{said:?}"
        );
    }
}

#[test]
fn a_group_that_its_transmitter_does_not_know_is_lost() {
    let mut script = Script::member(options());
    script.disown(K);
    script.events_end_with(GroupClose::TransmitterLost);
}

#[test]
fn a_code_that_changes_is_not_believed() {
    let mut script = Script::member(options());
    script.fec = Some(FecAgreement {
        symbol_len: 50,
        ..code()
    });
    script.announce();
    script.answer(0, 0);
    script.flush();
    script.block_without(0, &[0]);
    script.raw_row(0, 4, 0, 200, &[0; 58], 0);
    assert_eq!(script.read().0, []);
    script.row(0, 0);
    assert_eq!(
        script.read().0.len() as u64,
        BLOCK,
        "rows of the first code still count"
    );
}

#[test]
fn what_lies_below_the_join_point_is_not_read() {
    let mut script = Script::new(options());
    script.announce();
    script.flush();
    script.block_without(0, &[]);
    script.block_without(1, &[]);
    assert_eq!(script.read().0, [], "nobody knows yet where it begins");
    script.answer(BLOCK, 0);
    let (octets, _) = script.read();
    assert_eq!(octets.len() as u64, BLOCK);
    assert_eq!(octets, Script::octets(BLOCK, BLOCK as usize));
}

/// Whether a symbol that was computed goes on with a tag of the one before is not known while it joins, and no matter where it begins.
#[test]
fn what_was_computed_of_the_first_block_while_joining_is_read() {
    for begin in [BLOCK, 3 * BLOCK] {
        let mut script = Script::new(options());
        script.announce();
        script.flush();
        let first = begin / BLOCK;
        script.block_without(first, &[0]);
        script.row(first, 0);
        script.answer(begin, 0);
        assert_eq!(script.read().0, Script::octets(begin, BLOCK as usize));
    }
}

#[test]
fn the_end_of_a_group_one_is_not_in_is_forgotten_with_it() {
    let mut script = Script::new(options());
    script.announce();
    script.flush();
    script.end(0);
    script.announce();
    assert_eq!(script.run(1_000), [], "it is known to be over");
    script.key = K + 1;
    script.announce();
    assert!(
        matches!(script.flush()[..], [ReceiverPacket::Join { .. }]),
        "another one is not"
    );
    assert_eq!(script.caps, Caps::XCNTL | Caps::FEC);
    let found = GroupEvent::Found(TRANSMITTER);
    assert_eq!(script.events(), [found.clone(), found]);
}

#[test]
fn a_join_is_padded_but_no_longer_than_its_announcement() {
    for (announced, least, most) in [(200, 100, 200), (548, 480, 548), (1_472, 480, 548)] {
        let octets = Script::new(options()).join_for_announcement_of(announced);
        assert!((least..=most).contains(&octets), "{octets} for {announced}");
    }
}
