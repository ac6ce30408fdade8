//! How a host is driven makes no difference to what its users get, and seeds drive it in every way.

use std::collections::BTreeSet;
use std::time::Duration;

use xtp_engine::EngineStats;
use xtp_link::LinkConfig;
use xtp_sim::app::{Outcome, Script, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::habits::{Habits, Posts};
use xtp_sim::seed::Plan;
use xtp_sim::trace::Side;
use xtp_sim::world::World;

const EXCHANGES: usize = 12;

/// Who waits for what comes, and does everything as soon as it may be done.
fn quick() -> Habits {
    Habits {
        posts: Posts::One,
        batch: 1,
        begins: true,
        direct: true,
        follows_at_once: true,
        idle_after: 3_000_000,
        ..Habits::default()
    }
}

/// Two hosts with these habits, near each other.
fn pair(habits: Habits) -> World {
    let link = LinkConfig {
        delay: Duration::from_micros(50),
        ..LinkConfig::default()
    };
    let mut world = World::pair(1, &link);
    for host in &mut world.hosts {
        host.config.habits = habits;
    }
    world
}

/// Transactions one after the other between two hosts with these habits; packets, and what each engine counted.
fn transactions(habits: Habits, unconfirmed: bool) -> (u64, [EngineStats; 2]) {
    let mut world = pair(habits);
    for number in 0..EXCHANGES {
        let send = Step::Send {
            octets: 64,
            eom: true,
        };
        let asks = Script::new(vec![send, Step::CloseWriter, Step::AwaitMessages(1)]).on_demand();
        let octets = 100;
        let respond = Step::Respond { octets, unconfirmed };
        let serves = Script::new(vec![Step::AwaitMessages(1), respond, Step::LetGo]).on_demand();
        let mut spec = FlowSpec::new(xtp_engine::paradigm::transaction(0), asks, serves);
        spec.series = Some(0);
        spec.after = number.checked_sub(1);
        world.add_flow(spec);
    }
    assert!(world.settle(Duration::from_secs(5)), "{:?}", world.failure);
    world.run_for(Duration::from_secs(75));
    assert_eq!(world.failure, None);
    for number in 0..EXCHANGES {
        let normal = Outcome::Closed(xtp_engine::CloseReason::Normal);
        assert_eq!(world.outcome(number, Side::Initiator), Some(&normal), "{number}");
        let read = |side| world.task(number, side).map(|task| task.reader.next);
        assert_eq!(
            (read(Side::Initiator), read(Side::Responder)),
            (Some(100), Some(64))
        );
    }
    let stats = [0, 1].map(|host: usize| world.hosts[host].engine.view().stats());
    assert!(stats.iter().all(|stats| stats.contexts == 0), "{stats:?}");
    (world.net.packets, stats)
}

#[test]
fn who_waits_for_an_exchange_gets_it_in_as_few_packets_and_the_short_way() {
    for unconfirmed in [false, true] {
        let (plain, slow) = transactions(Habits::default(), unconfirmed);
        let (packets, fast) = transactions(quick(), unconfirmed);
        assert!(packets <= plain, "{packets} packets, {plain} without");
        let express = |stats: &[EngineStats; 2]| [stats[0].express, stats[1].express];
        let most = (EXCHANGES - 4) as u64;
        assert!(express(&fast).iter().all(|count| *count >= most), "{fast:?}");
        assert!(express(&slow) < express(&fast), "{slow:?} {fast:?}");
    }
}

/// Users of a stream who write octets and read as many, again and again, between two hosts with these habits; packets, and how
/// often a user was handed what it waited for.
fn turns_of_octets(habits: Habits) -> (u64, u64) {
    let mut world = pair(habits);
    let (octets, eom) = (64, false);
    let turns = 1..=EXCHANGES as u64;
    let ask = |turn: u64| [Step::Send { octets, eom }, Step::AwaitOctets(turn * 64)];
    let answer = |turn: u64| [Step::AwaitOctets(turn * 64), Step::Send { octets, eom }];
    let mut asks: Vec<Step> = turns.clone().flat_map(ask).collect();
    asks.push(Step::CloseWriter);
    let mut answers: Vec<Step> = turns.flat_map(answer).collect();
    answers.extend([Step::AwaitEnd, Step::CloseWriter]);
    let (asks, answers) = (Script::new(asks), Script::new(answers));
    world.add_flow(FlowSpec::new(xtp_engine::paradigm::stream(0), asks, answers));
    assert!(world.settle(Duration::from_secs(5)), "{:?}", world.failure);
    assert_eq!(world.failure, None);
    let normal = Outcome::Closed(xtp_engine::CloseReason::Normal);
    for side in [Side::Initiator, Side::Responder] {
        assert_eq!(world.outcome(0, side), Some(&normal));
        let read = world.task(0, side).map(|task| task.reader.next);
        assert_eq!(read, Some(64 * EXCHANGES as u64));
    }
    (world.net.packets, world.handed)
}

#[test]
fn octets_that_take_turns_are_handed_over_and_nothing_else_changes() {
    let (plain, told) = turns_of_octets(Habits::default());
    let (packets, handed) = turns_of_octets(quick());
    assert_eq!(packets, plain);
    assert_eq!(told, 0);
    // Not the first ones, while the association is new.
    assert!(handed >= 2 * EXCHANGES as u64 - 8, "{handed}");
}

#[test]
fn seeds_draw_every_habit() {
    let mut seen = BTreeSet::new();
    for seed in 1..=60 {
        for host in Plan::draw(seed).hosts {
            let habits = host.habits;
            seen.insert(format!("{:?}", habits.posts));
            for (name, holds) in [
                ("joins", habits.joins),
                ("begins", habits.begins),
                ("direct", habits.direct),
                ("follows", habits.follows_at_once),
                ("one at a time", habits.batch == 1),
                ("idle later", habits.idle_after > 0),
            ] {
                seen.insert(format!("{name} {holds}"));
            }
        }
    }
    assert_eq!(seen.len(), 4 + 2 * 6, "{seen:?}");
}

/// What was sent together arrives together: taking it one by one is no endless loop, however much it is.
#[test]
fn a_host_that_takes_packets_one_by_one_comes_to_rest() {
    let mut world = World::pair(1, &LinkConfig::default());
    world.hosts[1].config.habits.batch = 1;
    let src = world.net.address(0);
    for _ in 0..1_500 {
        world.inject(1, src, &[0; 64]);
    }
    world.run_for(Duration::from_millis(1));
    assert_eq!(world.failure, None);
    assert_eq!(world.hosts[1].engine.view().stats().received, 1_500);
}
