//! Every order of events around a restart, whatever the clocks say: no request is run twice, and those that could be saved
//! are.

use core::net::SocketAddr;
use std::collections::HashSet;

use super::*;
use crate::EngineConfig;
use crate::admit::AtMostOnce;

/// One step of the model: as long as half a copy lives.
const STEP: u64 = 25_000;
/// The last step at which anything happens.
const END: u64 = 4;
/// How often the responder is started.
const STARTS: u32 = 3;
const UTC: u64 = 1_790_000_000_000;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Copy {
    left: u64,
    names: Option<u64>,
    /// By the client's clock, as the responder reads it.
    time: i64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Told {
    by: Option<(u64, Duration)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct World {
    step: u64,
    /// When the responder was started, if it runs; whether it has run the request.
    serving: Option<(u64, bool)>,
    runs: u32,
    starts: u32,
    copies: Vec<Copy>,
    told: Vec<Told>,
    /// The first packet left then.
    first: Option<u64>,
    sent: u32,
    names: Option<u64>,
    repeated: bool,
    answered: bool,
    failed: bool,
}

/// A rule that may be left out, to see that it is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// A young instance takes what names none.
    Youth,
    /// The initiator repeats whatever was refused.
    Proof,
}

/// What differs from one exploration to the next: how far the client's clock is ahead, and the responder's after a restart.
#[derive(Clone, Copy)]
struct Clocks {
    client: i64,
    jump: i64,
    without: Without,
}

/// A start by both clocks, milliseconds.
fn started(utc_ms: u64, at: u64) -> Option<Started> {
    let at = Time::ZERO + Duration::from_millis(at);
    Some(Started { utc_ms, at })
}

impl World {
    fn now(&self) -> Time {
        Time::ZERO + Duration::from_millis(self.step * STEP)
    }

    /// The instance that was started then, by a clock that was set before.
    fn instance(start: u64, clocks: Clocks) -> (u64, Instance) {
        let jumped = if start > 0 { clocks.jump } else { 0 };
        let offset = UTC.cast_signed() + jumped;
        let name = (start * STEP).saturating_add_signed(offset);
        (name, Instance::new(started(name, start * STEP)))
    }

    /// All worlds one event later.
    fn next(&self, clocks: Clocks) -> Vec<Self> {
        let mut next = Vec::new();
        if self.step < END {
            let mut later = self.clone();
            later.step += 1;
            // A copy lives for less than two steps.
            later.copies.retain(|copy| later.step < copy.left + 2);
            next.push(later);
        }
        if !self.answered && !self.failed && self.sent < 2 {
            next.push(self.send(clocks));
        }
        match self.serving {
            Some(_) => next.push(Self {
                serving: None,
                ..self.clone()
            }),
            None if self.starts < STARTS => next.push(Self {
                serving: Some((self.step, false)),
                starts: self.starts + 1,
                ..self.clone()
            }),
            None => {}
        }
        for copy in &self.copies {
            // It stays: the network may have another.
            next.extend(self.arrive(copy, clocks));
        }
        for told in &self.told {
            next.push(self.hear(told, clocks));
        }
        next
    }

    fn send(&self, clocks: Clocks) -> Self {
        let mut world = self.clone();
        world.first.get_or_insert(self.step);
        world.sent += 1;
        let created = UTC + world.first.unwrap_or_default() * STEP;
        let time = match self.names {
            // Corrected by what the responder told.
            Some(_) => i64::MAX,
            None => created.cast_signed() + clocks.client,
        };
        let copy = Copy {
            left: self.step,
            names: self.names,
            time,
        };
        if !world.copies.contains(&copy) {
            world.copies.push(copy);
        }
        world
    }

    fn arrive(&self, copy: &Copy, clocks: Clocks) -> Option<Self> {
        let (start, has_run) = self.serving?;
        let mut world = self.clone();
        if has_run {
            // Its tombstone answers, or its number.
            world.answered = true;
            return Some(world);
        }
        let (name, instance) = Self::instance(start, clocks);
        let same_clock = clocks.without == Without::Youth;
        let old = copy.time < name.cast_signed() && !instance.is_called(copy.names);
        if old || instance.refuses(self.now(), copy.names, same_clock) {
            let told = Told {
                by: instance.introduce(self.now()),
            };
            if !world.told.contains(&told) {
                world.told.push(told);
            }
            return Some(world);
        }
        world.serving = Some((start, true));
        world.runs += 1;
        world.answered = true;
        Some(world)
    }

    fn hear(&self, told: &Told, clocks: Clocks) -> Self {
        let mut world = self.clone();
        let of_unnamed_copy = self.names.is_some() && told.by.map(|(name, _)| name) == self.names;
        if self.answered || self.failed || of_unnamed_copy {
            return world;
        }
        let left = Duration::from_millis((self.step - self.first.unwrap_or_default()) * STEP);
        let proved = AgeRefusal {
            utc_ms: 0,
            by: told.by,
        }
        .never_ran(left)
            || clocks.without == Without::Proof;
        match !self.repeated && proved {
            true => {
                world.repeated = true;
                world.names = told.by.map(|(name, _)| name);
                world.sent = 0;
            }
            false => world.failed = true,
        }
        world
    }
}

/// In how many worlds the request was answered after a refusal; `None` if it was run twice in one.
fn explore(clocks: Clocks) -> Option<usize> {
    let mut seen = HashSet::new();
    let mut open = vec![World {
        serving: Some((0, false)),
        starts: 1,
        ..World::default()
    }];
    let mut saved = 0;
    while let Some(world) = open.pop() {
        if world.runs > 1 {
            return None;
        }
        if seen.contains(&world) {
            continue;
        }
        // Without a copy and a way to send one nothing can happen any more.
        let over = (world.answered || world.failed) && world.copies.is_empty();
        if !over {
            open.extend(world.next(clocks));
        }
        saved += usize::from(world.repeated && world.answered);
        seen.insert(world);
    }
    Some(saved)
}

const YEAR: i64 = 365 * 86_400_000;

#[test]
fn no_order_of_events_and_no_clock_runs_a_request_twice() {
    for client in [-YEAR, 0, 60_000, YEAR] {
        for jump in [-YEAR, 0, YEAR] {
            let without = Without::Nothing;
            let saved = explore(Clocks {
                client,
                jump,
                without,
            });
            assert!(
                saved.is_some_and(|saved| saved > 0),
                "{saved:?} answered after a refusal, client {client} ms ahead, jump {jump} ms"
            );
        }
    }
}

#[test]
fn each_rule_is_needed() {
    let twice = |client, without| {
        explore(Clocks {
            client,
            jump: 0,
            without,
        })
        .is_none()
    };
    assert!(twice(60_000, Without::Youth), "a fast clock");
    assert!(twice(0, Without::Proof));
    assert!(twice(-YEAR, Without::Proof));
}

#[test]
fn a_refusal_is_read_with_and_without_a_name() {
    let read = |text| AgeRefusal::read(text).map(|refusal| (refusal.utc_ms, refusal.by));
    assert_eq!(read("12"), Some((12, None)));
    assert_eq!(
        read("12 7 5 40"),
        Some((12, Some((7, Duration::from_micros(5_040)))))
    );
    for text in ["12", "12 7 5 40", "12 7 0 999"] {
        assert_eq!(AgeRefusal::read(text).expect("well formed").to_string(), text);
    }
    // Whole milliseconds may have been rounded up, twice.
    for rounded in ["12 7 5", "12 7 5 1000", "12 7 5 x", "12 7 5 -1"] {
        assert_eq!(
            read(rounded),
            Some((12, Some((7, Duration::from_millis(3))))),
            "{rounded:?}"
        );
    }
    assert_eq!(read("12 7 1"), Some((12, Some((7, Duration::ZERO)))));
    for half in ["12 x 5", "12 7", "12 7 -5", "12  7 5"] {
        assert_eq!(read(half), Some((12, None)), "{half:?}");
    }
    for odd in ["", " 7", "x", "-1", "99999999999999999999999"] {
        assert_eq!(read(odd), None, "{odd:?}");
    }
}

#[test]
fn only_who_was_there_before_the_request_left_clears_it() {
    let refusal = |age: u64| AgeRefusal {
        utc_ms: 0,
        by: Some((7, Duration::from_secs(age))),
    };
    assert!(refusal(10).never_ran(Duration::from_secs(9)));
    assert!(!refusal(10).never_ran(Duration::from_secs(10)));
    assert!(
        refusal(10).never_ran(Duration::from_millis(9_900)),
        "clocks run apart by less"
    );
    assert!(
        !refusal(10).never_ran(Duration::from_millis(9_930)),
        "too near for clocks that run apart"
    );
    assert!(!refusal(0).never_ran(Duration::ZERO));
    let read = |text| AgeRefusal::read(text).expect("it is well formed");
    let rtt = Duration::from_micros(60);
    assert!(
        read("0 7 1 900").never_ran(rtt),
        "a call begins as soon as the server says it is there"
    );
    assert!(
        !read("0 7 2").never_ran(Duration::ZERO),
        "both times may have been cut"
    );
    let nameless = AgeRefusal { utc_ms: 0, by: None };
    assert!(!nameless.never_ran(Duration::ZERO));
    assert_eq!(nameless.to_be_named(), Duration::ZERO);
    assert_eq!(refusal(0).to_be_named(), LIFE_OF_A_COPY + MARGIN);
    assert_eq!(refusal(u64::MAX / 2).to_be_named(), Duration::ZERO);
}

#[test]
fn an_instance_ages_whatever_becomes_of_utc() {
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    let instance = Instance::new(started(UTC + 100_000, 100_000));
    assert!(instance.is_young(at(100)) && instance.is_young(at(149)));
    assert!(!instance.is_young(at(150)));
    assert!(instance.refuses(at(149), None, false) && !instance.refuses(at(149), None, true));
    assert!(!instance.refuses(at(150), None, false));
    for now in [at(100), at(1_000)] {
        assert!(!instance.refuses(now, Some(UTC + 100_000), false));
        assert!(instance.refuses(now, Some(UTC), false), "meant for another");
    }
    let nameless = Instance::new(None);
    assert!(!nameless.refuses(at(0), None, false) && !nameless.refuses(at(0), Some(1), false));
}

/// A memory of an instance that was started at 1 s, called at these moments, milliseconds; whether it refuses then what names none.
fn refuses_when_called(calls: &[u64]) -> bool {
    let mut config = EngineConfig::new([7; 32]);
    (config.started, config.utc_offset_ms) = (started(1_000, 1_000), 0);
    let mut memory = AtMostOnce::new(&config, [1; 16]);
    for &ms in calls {
        let now = Time::ZERO + Duration::from_millis(ms);
        memory.find(now, SocketAddr::from(([192, 0, 2, 1], 40_000)), 9);
    }
    let instance = Instance::new(config.started);
    instance.refuses(memory.came_since(), None, false)
}

#[test]
fn an_instance_that_slept_while_it_was_young_is_young_until_it_has_read_what_came() {
    assert!(refuses_when_called(&[2_000]));
    // It was stopped for a minute; the copies that lie in its socket came before it was of age.
    assert!(refuses_when_called(&[2_000, 62_000]));
    assert!(refuses_when_called(&[2_000, 62_000, 62_500, 62_999]));
    assert!(!refuses_when_called(&[2_000, 62_000, 62_500, 63_000]));
    // So was one that was stopped before it was called at all.
    assert!(refuses_when_called(&[62_000]));
    // One that came when it came of age has read them, and one that is busy reads them all the time.
    assert!(!refuses_when_called(&[2_000, 51_000, 80_000]));
    let busy: Vec<u64> = (2_000..=51_200).step_by(200).collect();
    assert!(!refuses_when_called(&busy));
}

#[test]
fn an_instance_is_called_when_it_comes_of_age() {
    let mut config = EngineConfig::new([7; 32]);
    (config.started, config.utc_offset_ms) = (started(1_000, 1_000), 0);
    let mut memory = AtMostOnce::new(&config, [1; 16]);
    let of_age = Time::ZERO + Duration::from_secs(51);
    assert_eq!(memory.deadline(), Some(of_age));
    memory.expire(of_age);
    assert_eq!(memory.deadline(), None);
}
