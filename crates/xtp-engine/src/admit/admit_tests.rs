//! Conformance (§6.9): what a FIRST that comes again meets.

use core::net::SocketAddr;
use core::ops::Range;
use core::time::Duration;

use bytes::Bytes;
use xtp_wire::ClientId;

use super::{AtMostOnce, IncomingPacket, Tombstone, TombstoneAnswer, Verdict};
use crate::config::{EngineConfig, Started};
use crate::time_wait::TimeWait;
use xtp_core::time::Time;

/// UTC milliseconds at the origin of the monotonic clock.
const UTC: u64 = 1_790_000_000_000;
const YEAR: u64 = 31_536_000_000;

/// A FIRST and the moment it comes, milliseconds.
#[derive(Copy, Clone)]
struct Heard {
    ms: u64,
    src: SocketAddr,
    key: u64,
    extended: bool,
    time: Option<u32>,
    client: Option<ClientId>,
}

fn heard(ms: u64, key: u64) -> Heard {
    let src = SocketAddr::from(([192, 0, 2, 1], 40_000));
    Heard {
        ms,
        src,
        key,
        extended: true,
        time: Some((UTC + ms) as u32),
        client: None,
    }
}

fn numbered(n: u64, low: u64) -> Heard {
    Heard {
        client: Some(ClientId { client: 3, n, low }),
        ..heard(n, 100 + n)
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn config(max_tombstones: usize, start: Option<u64>) -> EngineConfig {
    let mut config = EngineConfig::new([7; 32]);
    config.started = start.map(|utc_ms| Started { utc_ms, at: at(0) });
    config.overrides.max_tombstones = max_tombstones;
    config
}

fn memory(max_tombstones: usize) -> AtMostOnce {
    AtMostOnce::new(&config(max_tombstones, None), [1; 16])
}

/// A driver that comes whenever something is to be forgotten.
fn drive(memory: &mut AtMostOnce, until_ms: u64) {
    while let Some(due) = memory.deadline().filter(|due| *due <= at(until_ms)) {
        memory.expire(due);
    }
    memory.expire(at(until_ms));
}

/// A driver that has something else to do every second.
fn attend(memory: &mut AtMostOnce, span_ms: Range<u64>) {
    for ms in span_ms.step_by(1_000) {
        memory.find(at(ms), heard(0, 0).src, 0);
    }
}

fn judge(memory: &mut AtMostOnce, f: Heard) -> Verdict {
    memory.judge_first(at(f.ms), UTC + f.ms, f.src, f.key, f.extended, f.time, f.client)
}

fn begin(memory: &mut AtMostOnce, f: Heard) -> Verdict {
    let verdict = judge(memory, f);
    if verdict == Verdict::New {
        memory.accept(at(f.ms), UTC + f.ms, f.src, f.key, f.extended, f.time, f.client);
    }
    verdict
}

fn end(memory: &mut AtMostOnce, ms: u64, f: Heard) {
    let cached = Some(Bytes::from_static(b"response"));
    let tombstone = Tombstone {
        received: 100,
        sent: 52,
        cached,
        ..tombstone_of(f)
    };
    memory.insert(at(ms), UTC + ms, tombstone, None);
}

fn replays(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Replay(_))
}

#[test]
fn a_duplicate_1_ms_and_50_s_later_is_accepted_once() {
    for extended in [false, true] {
        let mut memory = memory(64);
        let first = Heard {
            extended,
            ..heard(0, 5)
        };
        assert_eq!(begin(&mut memory, first), Verdict::New);
        assert_eq!(
            judge(&mut memory, Heard { ms: 1, ..first }),
            Verdict::DropSilently,
            "open"
        );
        end(&mut memory, 2, first);
        for ms in [3, 1_000, 50_000] {
            memory.expire(at(ms));
            assert!(replays(judge(&mut memory, Heard { ms, ..first })));
        }
    }
}

#[test]
fn a_driver_that_slept_knows_what_it_knew_until_it_has_read_what_came() {
    let numbered = Heard {
        client: Some(ClientId {
            client: 7,
            n: 1,
            low: 1,
        }),
        ..heard(0, 1)
    };
    let keyed = Heard {
        client: None,
        ..heard(5, 2)
    };
    for first in [numbered, keyed] {
        let mut memory = memory(8);
        assert_eq!(begin(&mut memory, first), Verdict::New);
        end(&mut memory, first.ms + 10, first);
        // The driver did not come for two minutes, and a copy lay in the socket.
        memory.expire(at(130_000));
        let copy = |ms| Heard { ms, ..first };
        assert!(replays(judge(&mut memory, copy(130_000))), "{:?}", first.client);
        assert!(replays(judge(&mut memory, copy(130_900))), "{:?}", first.client);
        // Then its time goes on.
        drive(&mut memory, 260_000);
        assert_eq!((memory.tombstones(), memory.clients()), (0, 0));
    }
}

#[test]
fn a_driver_that_was_away_until_a_record_was_due_knows_it_until_it_has_read_what_came() {
    for late_ms in [0, 59, 300] {
        let mut memory = memory(8);
        let first = heard(0, 1);
        assert_eq!(begin(&mut memory, first), Verdict::New);
        end(&mut memory, 10, first);
        // The driver did not come for a minute, and a copy lay in the socket.
        let due = memory.deadline().expect("a tombstone is forgotten");
        assert_eq!(due, at(60_010));
        let woken = 60_010 + late_ms;
        memory.expire(at(woken));
        let copy = |ms| Heard { ms, ..first };
        assert!(
            replays(judge(&mut memory, copy(woken + 900))),
            "{late_ms} ms late"
        );
        // Then it is forgotten, although the driver comes for nothing else.
        drive(&mut memory, 130_000);
        assert_eq!(memory.tombstones(), 0, "{late_ms} ms late");
    }
}

#[test]
fn the_clock_of_records_goes_on_where_the_driver_comes_only_to_forget() {
    let mut memory = memory(64);
    let mut known = 0;
    // A request every 2.5 s, and nothing else: each gap hides what may have come in it.
    for n in 0..100 {
        let now = n * 2_500;
        while let Some(due) = memory.deadline().filter(|due| *due <= at(now)) {
            memory.expire(due);
        }
        let first = heard(now, n);
        assert_eq!(begin(&mut memory, first), Verdict::New);
        end(&mut memory, now, first);
        known = memory.tombstones().max(known);
    }
    assert!(known < 2 * 60_000 / 2_500, "{known} at once");
}

#[test]
fn a_driver_that_is_busy_has_not_slept() {
    let mut memory = memory(8);
    let first = heard(0, 1);
    assert_eq!(begin(&mut memory, first), Verdict::New);
    end(&mut memory, 10, first);
    // It looks at every packet, and is late for what is to be forgotten by a second.
    for ms in (100..61_500).step_by(100) {
        memory.find(at(ms), first.src, 99);
    }
    memory.expire(at(61_500));
    assert_eq!(memory.tombstones(), 0);
}

#[test]
fn after_eviction_it_is_refused_as_unknown() {
    for skew in [0, 5_000, -5_000_i32] {
        let mut memory = memory(2);
        let time = |ms: u64| Some(((UTC + ms) as u32).wrapping_add_signed(skew));
        let first = Heard {
            time: time(0),
            ..heard(0, 5)
        };
        assert_eq!(begin(&mut memory, first), Verdict::New);
        end(&mut memory, 1, first);
        let other = Heard {
            time: time(10),
            ..heard(10, 6)
        };
        assert_eq!(begin(&mut memory, other), Verdict::New);
        end(&mut memory, 11, other);
        assert_eq!(memory.tombstones(), 1);
        assert_eq!(judge(&mut memory, Heard { ms: 20, ..first }), Verdict::RefuseAge);
        assert_eq!(
            judge(
                &mut memory,
                Heard {
                    time: time(20),
                    ..heard(20, 7)
                }
            ),
            Verdict::New,
            "a later one"
        );
    }
}

#[test]
fn after_a_restart_it_is_refused_as_unknown() {
    let mut memory = AtMostOnce::new(&config(64, Some(UTC + 1_000)), [1; 16]);
    assert_eq!(
        judge(
            &mut memory,
            Heard {
                ms: 1_500,
                ..heard(0, 5)
            }
        ),
        Verdict::RefuseStart
    );
    assert_eq!(judge(&mut memory, heard(1_500, 6)), Verdict::New);
    let behind = Heard {
        time: Some((UTC + 1_500 - 5_000) as u32),
        ..heard(1_500, 7)
    };
    assert_eq!(
        judge(&mut memory, behind),
        Verdict::RefuseStart,
        "unknown at worst"
    );
    let ahead = Heard {
        time: Some((UTC + 1_500 + 5_000) as u32),
        ..heard(1_500, 8)
    };
    assert_eq!(judge(&mut memory, ahead), Verdict::New);
    let silent = Heard {
        time: None,
        ..heard(1_500, 9)
    };
    assert_eq!(judge(&mut memory, silent), Verdict::New, "no time, no judgement");
    assert_eq!(
        judge(
            &mut memory,
            Heard {
                time: Some(0),
                ..silent
            }
        ),
        Verdict::New,
        "0 is no time"
    );
}

#[test]
fn after_a_nat_rebinding_it_is_known_but_gets_no_data() {
    let mut memory = memory(64);
    let first = heard(0, 5);
    let rebound = Heard {
        src: SocketAddr::from(([192, 0, 2, 1], 50_000)),
        ..first
    };
    assert_eq!(begin(&mut memory, first), Verdict::New);
    assert_eq!(
        judge(&mut memory, rebound),
        Verdict::DropSilently,
        "while it is open"
    );
    end(&mut memory, 1, first);
    let packet = IncomingPacket {
        first: Some(first.key),
        asks_delivery: false,
        sync: 2,
        octets: 100,
    };
    let Verdict::Replay(found) = judge(&mut memory, rebound) else {
        panic!("its key is known")
    };
    let unproved = memory.answer(at(10), found, packet);
    assert!(matches!(unproved, TombstoneAnswer::Control(_)));
    let Verdict::Replay(found) = judge(&mut memory, first) else {
        panic!("its key is known")
    };
    let proved = memory.answer(at(20), found, packet);
    assert!(matches!(proved, TombstoneAnswer::Cached(_, _)));
}

#[test]
fn a_legacy_first_from_another_port_is_another_first() {
    let mut memory = memory(64);
    let first = Heard {
        extended: false,
        ..heard(0, 5)
    };
    assert_eq!(begin(&mut memory, first), Verdict::New);
    let other = Heard {
        src: SocketAddr::from(([192, 0, 2, 1], 50_000)),
        ..first
    };
    assert_eq!(judge(&mut memory, other), Verdict::New);
}

#[test]
fn a_fast_client_keeps_the_tables_small() {
    let mut memory = memory(1 << 20);
    for n in 1..=200_000_u64 {
        let ms = n / 100;
        let low = n.saturating_sub(20).max(1);
        let client = Some(ClientId { client: 3, n, low });
        let first = Heard {
            client,
            ..heard(ms, 1_000_000 + n)
        };
        assert_eq!(begin(&mut memory, first), Verdict::New, "association {n}");
        end(&mut memory, ms, first);
        assert!(memory.tombstones() <= 21);
    }
    let client = Some(ClientId {
        client: 3,
        n: 100,
        low: 1,
    });
    assert_eq!(
        judge(
            &mut memory,
            Heard {
                client,
                ..heard(2_000, 1_000_100)
            }
        ),
        Verdict::DropSilently
    );
}

#[test]
fn what_a_client_has_finished_with_leaves_no_tombstone() {
    let mut memory = memory(64);
    assert_eq!(begin(&mut memory, numbered(1, 1)), Verdict::New);
    assert_eq!(begin(&mut memory, numbered(2, 2)), Verdict::New);
    end(&mut memory, 3, numbered(1, 1));
    assert_eq!(memory.tombstones(), 0);
    assert_eq!(judge(&mut memory, numbered(1, 1)), Verdict::DropSilently);
    assert_eq!(
        judge(&mut memory, numbered(1, 2)),
        Verdict::DropSilently,
        "contradicts itself"
    );
    end(&mut memory, 4, numbered(2, 2));
    assert_eq!(memory.tombstones(), 1);
}

/// A copy in the legacy format names no client, so only the tombstone tells that it is one (§2.7).
#[test]
fn a_first_that_fell_back_is_known_though_its_client_has_finished_with_it() {
    for ends_first in [false, true] {
        let mut memory = memory(64);
        let ended = Tombstone {
            fell_back: true,
            ..tombstone_of(numbered(1, 1))
        };
        let copy = Heard {
            extended: false,
            time: None,
            ..heard(20_000, 101)
        };
        assert_eq!(begin(&mut memory, numbered(1, 1)), Verdict::New);
        if ends_first {
            memory.insert(at(1), UTC + 1, ended.clone(), None);
        }
        assert_eq!(begin(&mut memory, numbered(2, 2)), Verdict::New);
        if !ends_first {
            memory.insert(at(3), UTC + 3, ended, None);
        }
        assert!(replays(judge(&mut memory, copy)), "{ends_first}");
    }
}

/// Of a stream FIRST is repeated no more as soon as its peer was heard; what it says last may be, for longer than others of its client
/// live.
#[test]
fn a_stream_tells_its_end_though_its_client_repeats_no_first() {
    for (peer_ended, left) in [(false, 1), (true, 0)] {
        for ends_first in [false, true] {
            let mut memory = memory(64);
            let stream = Tombstone {
                peer_ended,
                lasting: true,
                ..tombstone_of(numbered(1, 1))
            };
            assert_eq!(begin(&mut memory, numbered(1, 1)), Verdict::New);
            if ends_first {
                memory.insert(at(1), UTC + 1, stream.clone(), None);
            }
            assert_eq!(begin(&mut memory, numbered(2, 2)), Verdict::New);
            if !ends_first {
                memory.insert(at(3), UTC + 3, stream, None);
            }
            assert_eq!(memory.tombstones(), left, "{peer_ended} {ends_first}");
            drive(&mut memory, 130_000);
            assert_eq!(memory.tombstones(), 0, "it is forgotten like any other");
        }
    }
}

#[test]
fn a_first_dated_next_year_harms_nobody_else() {
    let mut memory = memory(2);
    let hostile = Heard {
        time: Some((UTC + YEAR) as u32),
        ..heard(0, 5)
    };
    assert_eq!(
        begin(&mut memory, hostile),
        Verdict::New,
        "answered like any other"
    );
    end(&mut memory, 0, hostile);
    for n in 1..10 {
        let first = heard(n, 100 + n);
        assert_eq!(begin(&mut memory, first), Verdict::New);
        end(&mut memory, n, first);
    }
}

/// What a client began last may come before what it began earlier: its clock was set back, or it spoke from two addresses.
/// Where the record of the later one was evicted, the record that the earlier one makes must not call its copy new.
#[test]
fn a_record_made_after_an_eviction_does_not_vouch_for_greater_numbers() {
    let client = |client, n| Some(ClientId { client, n, low: 1 });
    let elsewhere = SocketAddr::from(([198, 51, 100, 9], 40_000));
    for (src, time) in [(heard(0, 1).src, UTC - 50), (elsewhere, UTC)] {
        let mut limits = config(2, None);
        limits.overrides.max_clients = 1;
        let mut memory = AtMostOnce::new(&limits, [1; 16]);
        let later = Heard {
            src,
            time: Some(time as u32),
            client: client(7, 11),
            ..heard(0, 1)
        };
        let stranger = Heard {
            client: client(8, 1),
            ..heard(10, 2)
        };
        let earlier = Heard {
            time: Some((UTC + 20) as u32),
            client: client(7, 10),
            ..heard(30_000, 3)
        };
        for first in [later, stranger, earlier] {
            assert_eq!(begin(&mut memory, first), Verdict::New);
            end(&mut memory, first.ms + 1, first);
        }
        let copy = Heard { ms: 30_010, ..later };
        assert_eq!(judge(&mut memory, copy), Verdict::RefuseAge, "from {src}");
        // What is begun now is new all the same, and when there are no copies any more whatever its time.
        let next = Heard {
            client: client(7, 12),
            ..heard(30_020, 4)
        };
        assert_eq!(begin(&mut memory, next), Verdict::New);
        drive(&mut memory, 80_000);
        memory.clients.heard(at(80_000), 7);
        drive(&mut memory, 100_990);
        let slow = Heard {
            time: Some((UTC - 50) as u32),
            client: client(7, 13),
            ..heard(101_000, 5)
        };
        assert_eq!(judge(&mut memory, slow), Verdict::New);
    }
}

#[test]
fn a_flood_evicts_only_others() {
    let mut memory = memory(8);
    let good = heard(0, 5);
    assert_eq!(begin(&mut memory, good), Verdict::New);
    let tombstone = Tombstone {
        validated: true,
        ..tombstone_of(good)
    };
    memory.insert(at(1), UTC + 1, tombstone, None);
    for n in 0..1_000 {
        let src = SocketAddr::from(([10, 0, (n >> 8) as u8, n as u8], 1));
        let flood = Heard {
            src,
            ..heard(2, 1_000 + n)
        };
        if begin(&mut memory, flood) == Verdict::New {
            end(&mut memory, 2, flood);
        }
    }
    assert_eq!(memory.tombstones(), 5);
    assert!(replays(judge(&mut memory, Heard { ms: 3, ..good })));
}

fn tombstone_of(f: Heard) -> Tombstone {
    Tombstone {
        src: f.src,
        wait: TimeWait::sample(f.key, 0),
        extended: f.extended,
        fell_back: false,
        peer_ended: false,
        untaken: false,
        lasting: false,
        validated: false,
        received: 0,
        sent: 0,
        cached: None,
    }
}

#[test]
fn pure_datagrams_are_known_for_two_seconds_and_evict_nobody() {
    let mut memory = memory(2);
    let first = heard(0, 5);
    assert_eq!(begin(&mut memory, first), Verdict::New);
    end(&mut memory, 0, first);
    let datagram = Heard {
        extended: false,
        ..heard(1, 6)
    };
    for n in 0..100_000 {
        memory.insert_datagram(at(1), datagram.src, 6 + n);
    }
    let last = Heard {
        key: 6 + 99_999,
        ..datagram
    };
    assert_eq!(judge(&mut memory, last), Verdict::DropSilently);
    assert_eq!(
        judge(&mut memory, Heard { ms: 2_000, ..last }),
        Verdict::DropSilently
    );
    assert_eq!(judge(&mut memory, Heard { ms: 2_001, ..last }), Verdict::New);
    assert_eq!(judge(&mut memory, datagram), Verdict::New, "the ring is bounded");
    assert!(replays(judge(&mut memory, first)));
}

#[test]
fn end_shortens_and_expiry_is_bounded() {
    let mut memory = memory(10_000);
    for n in 1..=1_000 {
        let first = heard(0, n);
        assert_eq!(begin(&mut memory, first), Verdict::New);
        end(&mut memory, 0, first);
    }
    let found = memory.find(at(0), heard(0, 1).src, 1).expect("buried");
    memory.end_received(at(0), found);
    assert_eq!(memory.deadline(), Some(at(30_000)));
    attend(&mut memory, 0..30_000);
    memory.expire(at(30_000));
    assert_eq!(memory.tombstones(), 999);
    attend(&mut memory, 30_000..60_000);
    memory.expire(at(60_000));
    assert_eq!(memory.tombstones(), 999 - super::BATCH);
    assert_eq!(memory.deadline(), Some(at(60_000)), "there is more");
    while memory.deadline().is_some_and(|deadline| deadline <= at(60_000)) {
        memory.expire(at(60_000));
    }
    assert_eq!((memory.tombstones(), memory.deadline()), (0, None));
}

#[test]
fn a_datagram_of_several_packets_leaves_no_open_record() {
    for extended in [false, true] {
        let mut memory = memory(64);
        let client = extended.then_some(ClientId {
            client: 3,
            n: 1,
            low: 1,
        });
        let first = Heard {
            extended,
            client,
            ..heard(0, 5)
        };
        assert_eq!(begin(&mut memory, first), Verdict::New);
        let elsewhere = Heard {
            src: SocketAddr::from(([192, 0, 2, 9], 1)),
            ..first
        };
        memory.insert_datagram(at(1), elsewhere.src, 5);
        assert_eq!(memory.table.records(), 1, "somebody else's key");
        memory.insert_datagram(at(1), first.src, 5);
        assert_eq!(memory.table.records(), 0);
        assert_eq!(
            judge(&mut memory, Heard { ms: 2_000, ..first }),
            Verdict::DropSilently
        );
        assert_eq!(judge(&mut memory, Heard { ms: 2_001, ..first }), Verdict::New);
        assert_eq!(memory.clients(), usize::from(extended));
    }
}

/// A client that calls its own association finished is not believed, known or not.
#[test]
fn a_client_that_contradicts_itself_begins_nothing() {
    let mut memory = memory(64);
    let says = |key, n, low| Heard {
        client: Some(ClientId { client: 9, n, low }),
        ..heard(0, key)
    };
    assert_eq!(begin(&mut memory, says(5, 3, 4)), Verdict::DropSilently);
    assert_eq!(begin(&mut memory, says(6, 4, 4)), Verdict::New);
    assert_eq!(begin(&mut memory, says(7, 8, 9)), Verdict::DropSilently);
    assert_eq!(
        begin(&mut memory, says(8, 5, 4)),
        Verdict::New,
        "what it said was not believed"
    );
}
