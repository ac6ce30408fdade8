//! A transmitter from its announcement to its end.

use super::scripted::*;
use crate::{Fec, GroupClose, GroupEvent, MemberId, MemberState, Require, Target, TransmitterOptions};
use core::net::SocketAddr;
use xtp_core::Rate;
use xtp_core::transmit::{Failure, TransmitBatch};
use xtp_wire::{GnackBlock, GroupTerms, Options, ToGroup, Traffic};

fn options() -> TransmitterOptions {
    TransmitterOptions {
        expect: Some(1),
        ..TransmitterOptions::default()
    }
}

#[test]
fn a_stream_to_one_member() {
    let mut stage = Stage::new(options());
    stage.flush();
    let mut actor = Actor::new(1, stage.key());
    actor.enter(&mut stage);
    stage.write(10_000);
    stage.finish();
    stage.flush();
    assert_eq!(
        stage.events,
        [GroupEvent::Joined(MemberId(0)), GroupEvent::Started]
    );
    let data = data(&stage.heard);
    let whole: Vec<u8> = data.iter().flat_map(|(_, octets, _)| octets.clone()).collect();
    assert_eq!(whole.len(), 10_000);
    assert!(
        data.last()
            .is_some_and(|(_, _, options)| options.contains(Options::WCLOSE))
    );
    assert!(
        data[..data.len() - 1]
            .iter()
            .all(|(_, _, options)| !options.contains(Options::WCLOSE))
    );
    let mut polls = stage
        .heard
        .iter()
        .filter(|one| matches!(one.to_group(), Some(ToGroup::Poll(_))));
    let poll = polls.next_back().expect("the end is asked about").packet().header;
    assert!(poll.options.contains(Options::WCLOSE) && poll.seq == 10_000);
    actor.status(&mut stage, 10_000, poll.sync, Options::RCLOSE);
    stage.run(SECOND);
    assert_eq!(stage.count(|said| *said == ToGroup::End), 3);
    assert_eq!(
        stage.events[2..],
        [
            GroupEvent::Done(MemberId(0)),
            GroupEvent::Closed(GroupClose::Normal)
        ]
    );
    let reports = stage.host.members(stage.now, stage.id).expect("known");
    assert_eq!(reports[0].state, MemberState::Done(false));
}

#[test]
fn packets_become_shorter_until_a_receiver_has_joined() {
    let mut stage = Stage::new(options());
    stage.write(10_000);
    stage.flush();
    let longest = |stage: &Stage| stage.heard.iter().map(Heard::len).max().unwrap_or(0);
    assert!((1_465..=1_472).contains(&longest(&stage)), "a full announcement");
    stage.take();
    let says = |stage: &mut Stage, peer, octets| {
        let octets = Some(octets);
        stage.host.failed(stage.now, peer, Failure::TooBig { octets })
    };
    assert!(!says(&mut stage, host(9), 600), "another path");
    assert!(says(&mut stage, group(), 600));
    assert!(!says(&mut stage, group(), 1_000), "a larger limit undoes nothing");
    stage.flush();
    assert!(
        (593..=600).contains(&longest(&stage)),
        "announced again at once, and full"
    );
    let mut actor = Actor::new(1, stage.key());
    actor.enter(&mut stage);
    stage.finish();
    stage.run(20 * MS);
    assert!(!says(&mut stage, group(), 548), "the terms stand");
    let whole: usize = data(&stage.heard).iter().map(|(_, octets, _)| octets.len()).sum();
    assert_eq!((whole, longest(&stage) <= 600), (10_000, true));
}

/// Joins are spread over 9/8 of the size that is announced, divided by the joins a second that are answered.
#[test]
fn who_joins_a_group_of_unknown_size_comes_in_half_of_the_time_to_wait() {
    let announced = |options: TransmitterOptions| {
        let mut stage = Stage::new(options);
        stage.flush();
        let mut sizes = stage.heard.iter().filter_map(|one| match one.to_group() {
            Some(ToGroup::Announcement(first)) => match first.traffic {
                Traffic::Extended(specifier) => GroupTerms::read(specifier.tlvs).ok()?.size,
                _ => None,
            },
            _ => None,
        });
        sizes.next_back().expect("it announces itself")
    };
    let waits = |millis: u32, rate: u32| TransmitterOptions {
        expect: None,
        wait: millis * MS,
        feedback_rate: rate,
        ..options()
    };
    assert_eq!(announced(waits(500, 2_000)), 444);
    assert_eq!(announced(waits(500, 100)), 22);
    assert_eq!(announced(waits(30_000, 2_000)), 1_024);
    assert_eq!(announced(waits(10, 2_000)), 16, "those of a few ms");
    let named = TransmitterOptions {
        require: Require::List(vec!["a".into(), "b".into()]),
        ..waits(500, 2_000)
    };
    assert_eq!(announced(named), 2);
}

/// Each report of the last one opens the window, which closes again with the octets that leave at once.
#[test]
fn a_window_that_opens_and_closes_again_is_asked_about_again() {
    const WINDOW: u64 = 14_400;
    let mut stage = Stage::new(TransmitterOptions {
        expect: Some(2),
        window: WINDOW,
        fec: None,
        ..options()
    });
    stage.flush();
    let key = stage.key();
    let mut actors = [Actor::new(1, key), Actor::new(2, key)];
    for actor in &mut actors {
        actor.enter_after(&mut stage, 20 * MS);
    }
    stage.write(100_000);
    stage.run(MS);
    let asks_all = |said: &ToGroup<'_>| matches!(said, ToGroup::Poll(poll) if poll.modulus == 1);
    for turn in 1..=3 {
        assert_eq!(stage.position(), turn * WINDOW);
        assert_eq!(
            stage.count(asks_all),
            turn as usize,
            "asked at once, once for each window"
        );
        let echo = newest(&stage.heard);
        for actor in &mut actors {
            actor.status(&mut stage, turn * WINDOW, echo, Options::empty());
        }
        stage.run(MS);
    }
}

#[test]
fn rows_for_who_lacks_symbols() {
    let mut stage = Stage::new(TransmitterOptions {
        fec: Some(Fec {
            symbols: 8,
            rows: 8,
            proactive: 0,
        }),
        ..options()
    });
    stage.flush();
    let mut actor = Actor::new(1, stage.key());
    actor.enter(&mut stage);
    stage.write(20_000);
    stage.run(20 * MS);
    let echo = newest(&stage.heard);
    stage.take();
    actor.need(&mut stage, 0, echo, &[GnackBlock::new(0, 3, 8)]);
    stage.run(5 * MS);
    let rows: Vec<_> = stage.heard.iter().filter_map(Heard::to_group).collect();
    assert!(matches!(rows[0], ToGroup::Rows(blocks) if blocks == [GnackBlock::new(0, 3, 8)]));
    let numbers: Vec<_> = rows
        .iter()
        .filter_map(|said| match said {
            ToGroup::Parity(parity) => Some((parity.row, parity.flags)),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [(0, 0), (1, 0), (2, 2)]);
    // What it could not have seen is not sent again.
    actor.need(&mut stage, 0, echo, &[GnackBlock::new(0, 3, 8)]);
    stage.take();
    stage.run(5 * MS);
    assert_eq!(
        stage.count(|said| matches!(said, ToGroup::Parity(_) | ToGroup::Rows(_))),
        0
    );
}

#[test]
fn nobody_is_asked_where_nobody_is_required() {
    let mut stage = Stage::new(TransmitterOptions {
        require: Require::Nobody,
        ..TransmitterOptions::default()
    });
    stage.write(5_000);
    stage.finish();
    stage.run(SECOND);
    assert_eq!(data(&stage.heard).len(), 4);
    assert_eq!(stage.count(|said| *said == ToGroup::End), 3);
    assert!(stage.count(|said| matches!(said, ToGroup::Poll(_))) == 0);
    assert_eq!(stage.events, [GroupEvent::Closed(GroupClose::Normal)]);
    let modes = Options::NOERR | Options::NOFLOW;
    assert!(stage.heard.iter().all(|one| {
        let packet = one.packet().header;
        packet.options.contains(modes) && !packet.options.contains(Options::SREQ)
    }));
}

#[test]
fn one_train_is_followed_by_the_next_at_once() {
    let mut stage = Stage::new(TransmitterOptions {
        require: Require::Nobody,
        ..TransmitterOptions::default()
    });
    stage.write(50_000);
    let mut batch = TransmitBatch::new();
    stage.host.flush(stage.now, &mut batch);
    let position = stage.position();
    assert!((20_000..30_000).contains(&position), "{position}");
    let due = stage.host.deadline();
    assert!(due.is_some_and(|at| at <= stage.now), "{due:?}");
}

#[test]
fn who_waits_for_members_calls_them_soon_again() {
    let announcements = |require: Require| {
        let mut stage = Stage::new(TransmitterOptions { require, ..options() });
        let mut counts = Vec::new();
        for span in [10 * MS, 90 * MS, 900 * MS] {
            stage.run(span);
            counts.push(stage.count(|said| matches!(said, ToGroup::Announcement(_))));
        }
        counts
    };
    // At 0, 20, 40, 80, 160, 320, 570 and 820 ms.
    assert_eq!(announcements(Require::All), [1, 4, 8]);
    // At 0, 250, 500, 750 and 1 000 ms.
    assert_eq!(announcements(Require::Nobody), [1, 1, 5]);
}

/// Fifty copies of an announcement take 0.3 s of this rate: calls are four times as far apart, and 2 s at most.
#[test]
fn announcements_take_a_quarter_of_the_rate_at_most() {
    let each = |copies: u16, octets_per_second: u64| {
        let members = (1..=copies).map(|port| SocketAddr::from(([192, 0, 2, 1], port)));
        let limited = TransmitterOptions {
            rate: Rate {
                octets_per_second,
                burst: 0,
            },
            ..options()
        };
        let mut stage = Stage::to(Target::Each(members.collect()), limited);
        stage.run(10_000 * MS);
        stage.count(|said| matches!(said, ToGroup::Announcement(_))) / usize::from(copies)
    };
    assert_eq!(each(50, 0), 44);
    let datagram = options().datagram as u64;
    assert_eq!(each(50, 50 * datagram * 4), 11, "once a second");
    assert_eq!(each(50, 1_000), 6);
    assert_eq!(
        each(1, 50 * datagram * 4),
        44,
        "one copy takes 20 ms of this rate"
    );
}

/// A host that joined gets full packets: its announcements need not show it any more, whatever other hosts of the list do.
#[test]
fn a_host_that_has_joined_is_announced_to_in_short() {
    let mut stage = Stage::to(Target::Each((1..=2).map(host).collect()), options());
    let longest = |stage: &mut Stage, number: u8| {
        stage.heard.clear();
        stage.run(3_000 * MS);
        let said = stage.heard.iter();
        let said = said.filter(|heard| matches!(heard.to_group(), Some(ToGroup::Announcement(_))));
        let to_host = said.filter(|heard| heard.to == host(number));
        to_host.map(Heard::len).max().expect("it is announced")
    };
    let is_full = |octets: usize| octets + 8 > options().datagram;
    stage.flush();
    assert!(is_full(longest(&mut stage, 1)));
    Actor::new(1, stage.key()).enter(&mut stage);
    let (joined, other) = (longest(&mut stage, 1), longest(&mut stage, 2));
    assert!(joined < 300 && is_full(other), "{joined} and {other} octets");
}

/// Announcements, polls and all else that is none of the stream go to each host as well.
#[test]
fn what_is_said_beside_the_stream_is_within_the_rate() {
    let mut stage = Stage::to(
        Target::Each((1..=50).map(host).collect()),
        TransmitterOptions {
            expect: Some(1),
            rate: Rate {
                octets_per_second: 200_000,
                burst: 3_000,
            },
            fec: None,
            ..TransmitterOptions::default()
        },
    );
    stage.flush();
    let mut one = Actor::new(1, stage.key());
    one.enter(&mut stage);
    stage.write(1_000_000);
    let octets = |stage: &Stage| stage.heard.iter().map(Heard::len).sum::<usize>();
    let before = octets(&stage);
    for _ in 0..100 {
        stage.run(100 * MS);
        let (came, echo) = (stage.position(), newest(&stage.heard));
        one.status(&mut stage, came, echo, Options::empty());
    }
    let octets = octets(&stage) - before;
    // One announcement to all may leave at once.
    assert!(
        (1_900_000..2_100_000).contains(&octets),
        "{octets} in ten seconds"
    );
}

/// An acknowledgement of a packet lets a packet leave, and no piece of one.
#[test]
fn a_window_lets_whole_packets_leave_while_something_is_unacknowledged() {
    let mut stage = Stage::new(TransmitterOptions {
        window: 20_000,
        fec: None,
        ..options()
    });
    stage.flush();
    let mut actor = Actor::new(1, stage.key());
    actor.enter(&mut stage);
    stage.write(60_000);
    stage.run(20 * MS);
    let sent = data(&stage.heard);
    let (first, whole) = (
        sent[0].1.len(),
        sent.iter().all(|one| one.1.len() == sent[0].1.len()),
    );
    assert!(whole && sent.len() == 20_000 / first, "{} packets", sent.len());
    for number in 1..=4 {
        let echo = newest(&stage.heard);
        actor.status(&mut stage, number * first as u64, echo, Options::empty());
        stage.run(300 * MS);
    }
    let whole = data(&stage.heard).iter().all(|one| one.1.len() == first);
    assert!(whole, "no piece of a packet left");
    assert_eq!(stage.position(), ((sent.len() + 4) * first) as u64);
}
