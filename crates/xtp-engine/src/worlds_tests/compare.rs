//! Both worlds in lock step.

use super::action::{Action, Kind};
use super::calls::Way;
use super::generate::actions;
use super::host::Shortcut;
use super::profile::Profile;
use super::world::{Told, World, later};
use crate::Time;
use core::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use xtp_wire::Packet;

/// Where both worlds went apart.
#[derive(Clone, Debug)]
pub(super) struct Divergence {
    /// Number of the action.
    pub(super) step: usize,
    pub(super) what: String,
}

/// How often each shortcut was taken.
pub(super) type Taken = [u64; Shortcut::COUNT];

/// Runs a seed.
pub(super) fn run_seed(seed: u64) -> Result<Taken, Divergence> {
    let profile = Profile::new(seed);
    run(&profile, &actions(seed, &profile))
}

/// Runs `actions` in both worlds; a panic of an engine is a divergence too.
pub(super) fn run(profile: &Profile, actions: &[Action]) -> Result<Taken, Divergence> {
    let step = RefCell::new(0);
    quietly(|| run_loudly(profile, actions, &step)).unwrap_or_else(|what| {
        Err(Divergence {
            step: *step.borrow(),
            what: format!("panic: {what}"),
        })
    })
}

fn run_loudly(profile: &Profile, actions: &[Action], at: &RefCell<usize>) -> Result<Taken, Divergence> {
    let mut worlds = [profile.way(), Way::General].map(|way| World::new(profile, way));
    let mut now = Time::from_nanos(1_000_000_000);
    for (step, action) in actions.iter().enumerate() {
        at.replace(step);
        now = match action.after {
            Action::NEXT_TIMER => next_timer(&worlds[1], action.host).unwrap_or(now).max(now),
            nanos => later(now, nanos),
        };
        let idle = is_idle(&mut worlds, action, now);
        if idle == Some([true; 2]) {
            continue;
        }
        worlds.iter_mut().for_each(|world| world.act(action, now));
        let idle = idle.is_some_and(|[short, _]| short);
        let differs = differences(&worlds)
            .or_else(|| (idle && worlds[0].has_acted()).then(|| "there was something to do".to_owned()))
            .or_else(|| match action.kind {
                Kind::Audit => audit(&mut worlds),
                _ => None,
            });
        if let Some(what) = differs {
            return Err(Divergence { step, what });
        }
    }
    let mut taken = [0; Shortcut::COUNT];
    let hosts = worlds[0].hosts.iter();
    hosts.for_each(|host| {
        taken
            .iter_mut()
            .zip(host.taken)
            .for_each(|(sum, more)| *sum += more)
    });
    Ok(taken)
}

/// Whether either world says that there is nothing to do in a turn, where that is asked: it may err in one direction only.
fn is_idle(worlds: &mut [World; 2], action: &Action, now: Time) -> Option<[bool; 2]> {
    let host = action.host % worlds[0].hosts.len();
    match action {
        Action {
            kind: Kind::TurnIfPressing(_),
            ..
        } => Some(worlds.each_mut().map(|world| !world.hosts[host].is_pressing(now))),
        Action {
            after: Action::NEXT_TIMER,
            ..
        } => Some([worlds[0].hosts[host].would_sleep(now), false]),
        _ => None,
    }
}

fn next_timer(world: &World, host: usize) -> Option<Time> {
    world.hosts[host % world.hosts.len()].driver.deadline()
}

fn differences(worlds: &[World; 2]) -> Option<String> {
    let [short, general] = worlds;
    for (number, (short, general)) in short.hosts.iter().zip(&general.hosts).enumerate() {
        if in_order(&short.told) != in_order(&general.told) {
            return Some(format!(
                "host {number}: told {:#?}\ninstead of {:#?}",
                short.told, general.told
            ));
        }
        if short.sent != general.sent {
            let [short, general] = [short, general].map(|host| {
                let sent = host.sent.iter();
                sent.map(|(to, flying)| describe(&flying.octets, &(to, flying.dst, flying.ecn)))
                    .collect::<Vec<_>>()
            });
            return Some(format!("host {number}: sent {short:#?}\ninstead of {general:#?}"));
        }
    }
    None
}

/// Events that follow each other by association: in which order associations have their turn is nobody's business.
fn in_order(told: &[Told]) -> Vec<Told> {
    let mut told = told.to_vec();
    for events in told.chunk_by_mut(|one, next| one.association().is_some() && next.association().is_some()) {
        events.sort_by_key(Told::association);
    }
    told
}

fn describe(octets: &[u8], way: &impl core::fmt::Debug) -> String {
    match Packet::parse(octets) {
        Ok(packet) => format!("{way:?} {:?} {:?}", packet.header, packet.body.control()),
        Err(error) => format!("{way:?} {} octets: {error}", octets.len()),
    }
}

/// Everything there is to ask.
fn audit(worlds: &mut [World; 2]) -> Option<String> {
    let [short, general] = worlds;
    let parks = short.profile.parks();
    for (number, (short, general)) in short.hosts.iter_mut().zip(&mut general.hosts).enumerate() {
        short.told.clear();
        general.told.clear();
        let (found, expected) = (short.audit(parks), general.audit(parks));
        if short.told != general.told {
            return Some(format!(
                "host {number}: told {:?} instead of {:?}",
                short.told, general.told
            ));
        }
        let differs = found
            .iter()
            .zip(&expected)
            .find(|(found, expected)| found != expected);
        if let Some((found, expected)) = differs {
            return Some(format!(
                "host {number}: other counters\n  {found}\ninstead of\n  {expected}"
            ));
        }
    }
    None
}

thread_local! {
    /// What a panic said, while nobody wants to read it.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `act`; a panic is caught, and what it said given.
fn quietly<R>(act: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let heard = SAID.with_borrow_mut(|said| match said {
                Some(said) => {
                    *said = info.to_string();
                    true
                }
                None => false,
            });
            if !heard {
                before(info);
            }
        }));
    });
    SAID.set(Some(String::new()));
    let outcome = catch_unwind(AssertUnwindSafe(act));
    let said = SAID.take().unwrap_or_default();
    outcome.map_err(|_| said)
}
