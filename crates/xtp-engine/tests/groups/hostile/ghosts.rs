//! Joins of receivers that are not there, or that come in thousands.

use super::forge::{Told, View, speak};
use super::scene::{Kind, PATIENCE, RECEIVERS, STEP, Scene, join, options, outside, quiet};
use crate::world::{ARRIVES, Sent, World, address, group, is_done};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::group::{GroupClose, Slow, Target, TransmitterOptions};
use xtp_wire::{Control, Options, ToTransmitter};

const SECOND: Duration = Duration::from_secs(1);
/// A join is answered so often at most: three times its octets.
const ANSWERS: usize = 3;

fn ghost(number: usize) -> SocketAddr {
    SocketAddr::from(([10, 7, (number >> 8) as u8, number as u8], 36_036))
}

/// So many made-up receivers ask to be let in, each from another address, which is not theirs.
fn haunt(world: &mut World<'_>, view: &View, ghosts: std::ops::Range<usize>) {
    for number in ghosts {
        let forged = view.join(1 + number as u64, "", Options::empty());
        world.inject(ghost(number), address(0), &forged);
    }
}

/// Answers to ghosts: to each address how many.
fn answers(sent: &[Sent]) -> BTreeMap<SocketAddr, usize> {
    let mut answers = BTreeMap::new();
    for one in sent {
        if matches!(one.dst, SocketAddr::V4(v4) if v4.ip().octets()[..2] == [10, 7]) {
            *answers.entry(one.dst).or_default() += 1;
        }
    }
    answers
}

fn haunted(kind: Kind, rate: u32) -> TransmitterOptions {
    let mut options = options(kind);
    options.feedback_rate = rate;
    options
}

/// Ten thousand joins from addresses at which nobody is: members do not notice, what is remembered and what is answered is
/// limited, and the transmitter waits for none of them longer than six seconds.
#[test]
fn nobody_waits_for_those_who_never_answer() {
    const RATE: u32 = 100;
    const PLACES: usize = 64;
    for kind in [Kind::Coded, Kind::Plain] {
        let limits = |config: &mut xtp_engine::EngineConfig| config.overrides.max_half_open = PLACES;
        let quiet = Scene::with(haunted(kind, RATE), limits).play(|_| {});
        quiet.assert_good();
        let mut made = 0;
        let attacked = Scene::with(haunted(kind, RATE), limits).play(|scene| {
            let view = scene.view();
            if view.members.len() >= RECEIVERS {
                haunt(&mut scene.world, &view, made..made + 10);
                made += 10;
            }
        });
        attacked.assert_good();
        assert!(made > 10_000, "{made}");
        assert_eq!(attacked.complete, quiet.complete, "{kind:?}");
        let (ended, before) = (attacked.ended.unwrap(), quiet.ended.unwrap());
        assert!(
            ended <= before + 9 * SECOND,
            "{kind:?}: {ended:?} instead of {before:?}"
        );
        // Each answer is one of so many a second.
        let answers = answers(&attacked.sent);
        let seconds = ended.as_secs() as usize + 1;
        assert!(
            answers.len() <= RATE as usize * seconds,
            "{kind:?}: {}",
            answers.len()
        );
        assert!(answers.len() >= PLACES, "{kind:?}: {}", answers.len());
        assert!(answers.values().all(|count| *count <= ANSWERS), "{kind:?}");
        let stream = attacked.stream_packets().abs_diff(quiet.stream_packets());
        assert_eq!(stream, 0, "{kind:?}");
    }
}

/// More ghosts ask than there are places for: a receiver that comes meanwhile is let in, since it answers and they do not.
#[test]
fn who_answers_gets_a_place_among_ghosts() {
    let limits = |config: &mut xtp_engine::EngineConfig| config.overrides.max_half_open = 128;
    let mut late = None;
    let (mut made, mut turn) = (0, 0);
    let scene = Scene::with(haunted(Kind::Coded, 400), limits);
    let outcome = scene.play(|scene| {
        let view = scene.view();
        if view.members.len() < RECEIVERS {
            return;
        }
        // All places are taken at once, and more ghosts come than are forgotten.
        turn += 1;
        let more = if turn < 40 { 5 } else { 1 };
        haunt(&mut scene.world, &view, made..made + more);
        made += more;
        if turn == 40 {
            let id = scene.world.join(RECEIVERS + 1, join());
            scene.receivers.push((RECEIVERS + 1, id));
            late = Some(id);
        }
    });
    assert!(late.is_some() && made > 300, "{made}");
    outcome.assert_good();
    assert_eq!(outcome.complete.len(), RECEIVERS + 1);
    assert!(outcome.last() < 3 * SECOND, "{:?}", outcome.complete);
}

/// Ghosts alone do not keep a transmitter that waits for its first receiver from saying that nobody came.
#[test]
fn a_transmitter_to_whom_only_ghosts_come_ends() {
    let mut world = World::new(1, |_| ARRIVES);
    world.tap = Some(Vec::new());
    let mut options = options(Kind::Coded);
    options.wait = SECOND;
    let cast = world.cast(0, Target::Group(group(1)), options);
    let began = world.now;
    let mut made = 0;
    while !world.is_over() && world.now.since(began) < 30 * SECOND {
        world.run_for(10 * STEP);
        let view = View::of(world.tap.as_deref().unwrap());
        haunt(&mut world, &view, made..made + 1);
        made += 1;
    }
    let party = world.party(0, cast);
    assert_eq!(party.closed(), Some(&GroupClose::Nobody));
    let ended = party.closed_at.unwrap().since(began);
    assert!(ended <= 10 * SECOND, "{ended:?}");
}

/// Many that do answer, from one address under as many names, and then fall silent: members wait for them until they count as silent,
/// the transmitter as long as its patience says.
#[test]
fn a_crowd_that_falls_silent_is_not_waited_for() {
    for slow in [Slow::CatchUp, Slow::Drop] {
        let mut options = options(Kind::Coded);
        options.slow = slow;
        let quiet = quiet(options.clone());
        options.expect = Some(RECEIVERS as u32 + 40);
        let mut asked = 0;
        let attacked = Scene::new(options).play(|scene| {
            let view = scene.view();
            if view.key == 0 {
                return;
            }
            let crowd: Vec<Told> = view
                .members
                .iter()
                .copied()
                .filter(|told| told.at == outside())
                .collect();
            for told in crowd {
                let control = Control {
                    rseq: 0,
                    alloc: 1 << 30,
                    echo: view.sync,
                };
                if view.position == 0 {
                    let word = speak(told, 1, ToTransmitter::Status(control), Options::empty());
                    scene.world.inject(outside(), address(0), &word);
                }
            }
            if asked < 40 {
                asked += 1;
                let forged = view.join(asked, &format!("ghost {asked}"), Options::empty());
                scene.world.inject(outside(), address(0), &forged);
            }
        });
        attacked.assert_good();
        let (last, before) = (attacked.last(), quiet.last());
        // They came in one after the other; then it is half a second, and four polls.
        let coming = 45 * STEP;
        assert!(
            last <= before + coming + SECOND,
            "{slow:?}: {last:?} instead of {before:?}"
        );
        let ended = attacked.ended.unwrap();
        assert!(ended <= last + PATIENCE + 2 * SECOND, "{slow:?}: {ended:?}");
        let out = attacked.members.iter().filter(|one| !is_done(one)).count();
        assert_eq!(out, 40, "{slow:?}: it says of them that they have nothing");
    }
}

/// Confirmations of a datagram that nobody sent make members; there are no more than there may be.
#[test]
fn made_up_confirmations_are_limited() {
    let mut world = World::new(2, |_| ARRIVES);
    world.tap = Some(Vec::new());
    let mut options = TransmitterOptions::default();
    options.max_members = 10;
    options.wait = SECOND;
    let data = bytes::Bytes::from_static(b"to all");
    let cast = world.datagram(0, Target::Group(group(1)), options, data);
    let receiver = world.join(1, join());
    world.run_for(2 * STEP);
    let view = View::of(world.tap.as_deref().unwrap());
    for number in 0..1_000 {
        let forged = view.join(1 + number as u64, "", Options::RCLOSE);
        world.inject(ghost(number), address(0), &forged);
    }
    assert!(world.run());
    assert_eq!(world.party(1, receiver).octets, b"to all");
    assert_eq!(world.members(0, cast).len(), 10);
    let told = answers(world.tap.as_deref().unwrap());
    assert!(told.is_empty(), "nobody is answered: {told:?}");
}
