//! Hostile seeds: a plan as any other, with an injector beside it; in every second one nothing else troubles it, and what
//! users saw is compared with a run without the injector.

use std::time::Duration;

use xtp_engine::CloseReason;

use crate::app::{Outcome, Task};
use crate::check::stream::Promise;
use crate::excuse::{self, Excuse};
use crate::report::SeedReport;
use crate::rng::Rng;
use crate::run::run_plan_here;
use crate::scenario::{Class, Scenario};
use crate::seed::Plan;
use crate::trouble::FaultClass;
use crate::world::World;

use super::Injector;

/// What one user saw. Whether it had gone before it was told of the end, or of a position it marked, is a matter of moments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Saw {
    /// How it ended, if not well.
    badly: Option<Outcome>,
    read: u64,
    octets: u64,
    messages: u64,
    tags: u64,
    missing: u64,
    written: u64,
    refused: Option<u64>,
}

/// The plan of a hostile seed; what a seed draws beside it, it draws as ever.
pub(crate) fn hostile_plan(seed: u64) -> (Plan, Injector) {
    let mut plan = Plan::draw(seed);
    let quiet = Rng::new(seed, 31).percent(50);
    if quiet {
        plan.quieten();
    }
    (plan, Injector::draw(seed, quiet))
}

/// Runs a hostile seed.
pub fn run_hostile_seed(seed: u64) -> SeedReport {
    Scenario::new(seed, Class::Hostile).run()
}

/// Runs a plan with an injector beside it, and shows the world it left behind, if there was one.
pub(crate) fn run_hostile_plan(
    plan: &Plan,
    seed: u64,
    injector: Injector,
    change: impl FnOnce(&mut World),
) -> (SeedReport, Option<World>) {
    let quiet = injector.quiet;
    let (mut report, world) = run_plan_here(plan, seed, |world| {
        world.net.tapped = Some(Vec::new());
        world.injector = Some(injector);
        change(world);
    });
    let Some(world) = world else {
        return (report, None);
    };
    if report.passed && quiet {
        report.failure = differs(plan, seed, &world).err();
        report.passed = report.failure.is_none();
    }
    if let Some(injector) = &world.injector {
        for (&(strike, port), count) in &injector.done {
            *report.strikes.entry(strike.name()).or_default() += count;
            if let Some(paradigm) = world.paradigm_of(plan, port) {
                *report.struck.entry((strike.name(), paradigm)).or_default() += count;
            }
        }
    }
    (report, Some(world))
}

/// Runs the plan without the injector; users must have seen the same.
fn differs(plan: &Plan, seed: u64, struck: &World) -> Result<(), String> {
    let (report, calm) = run_plan_here(plan, seed, |_| {});
    if let Some(failure) = report.failure {
        return Err(format!("without injected packets only: {failure}"));
    }
    let Some(calm) = calm else {
        return Ok(());
    };
    for (number, flow) in calm.flows.iter().enumerate() {
        // Who is refused where places or records are short is a matter of moments, too.
        let excused = !excuse::of(plan, &calm, number).is_empty()
            || excuse::of(plan, struck, number).contains(&Excuse::Doubted);
        if excused || is_crowded_out(plan, struck, &calm, number) {
            continue;
        }
        let (with, without) = (struck.flows[number].accepted, flow.accepted);
        if with != without {
            return Err(format!(
                "flow {number}: accepted {with} times with injected packets, {without} without"
            ));
        }
        let (with, without) = (saw(struck, number), saw(&calm, number));
        if with != without {
            let (with, without) = (
                first_difference(&with, &without),
                first_difference(&without, &with),
            );
            return Err(format!(
                "flow {number}: users saw {with:?} with injected packets, {without:?} without"
            ));
        }
    }
    Ok(())
}

/// Whether what was injected took the place of what came, which any packet may: that of its own host's socket, which keeps nothing that
/// it has no room for, or the last one for an association where those are few.
fn is_crowded_out(plan: &Plan, struck: &World, calm: &World, number: usize) -> bool {
    let spec = &calm.flows[number].spec;
    let overran = |host: usize| struck.hosts[host].overrun > calm.hosts[host].overrun;
    let not_opened = [struck, calm]
        .iter()
        .any(|world| world.flows[number].open_error.is_some());
    overran(spec.initiator)
        || overran(spec.responder)
        || not_opened && excuse::is_crowded(plan, spec.initiator)
}

fn first_difference<'a>(one: &'a [Saw], other: &[Saw]) -> Option<&'a Saw> {
    one.iter()
        .enumerate()
        .find(|(place, saw)| other.get(*place) != Some(saw))
        .map(|(_, saw)| saw)
}

fn saw(world: &World, flow: usize) -> Vec<Saw> {
    let of_flow = world.tasks.iter().filter(|task| task.flow == flow);
    let mut all: Vec<_> = of_flow.map(|task| (task.side.index(), Saw::of(task))).collect();
    all.sort_by_key(|(side, _)| *side);
    all.into_iter().map(|(_, saw)| saw).collect()
}

fn is_well(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Closed(CloseReason::Normal) | Outcome::Released)
}

impl Saw {
    fn of(task: &Task) -> Self {
        let reader = &task.reader;
        // What an unreliable stream drops for want of room depends on when its reader is told to read.
        let counts = |number: u64| {
            if reader.promise() == Promise::Gaps {
                0
            } else {
                number
            }
        };
        Self {
            badly: Some(task.outcome.clone()).filter(|outcome| !is_well(outcome)),
            read: reader.next,
            octets: counts(reader.checked),
            messages: counts(reader.messages.into()),
            tags: counts(reader.tags.into()),
            missing: counts(reader.missing),
            written: task.written,
            refused: task.refused,
        }
    }
}

impl World {
    fn paradigm_of(&self, plan: &Plan, port: Option<u16>) -> Option<&'static str> {
        let number = self.flows.iter().position(|flow| Some(flow.port) == port)?;
        Some(plan.flows.get(number)?.0.name())
    }
}

impl Plan {
    /// Takes away what happens by chance or by accident: hosts, links and flows stay as drawn.
    fn quieten(&mut self) {
        self.troubles.clear();
        self.classes.retain(|class| {
            matches!(
                class,
                FaultClass::ClockDrift | FaultClass::SmallStores | FaultClass::FewPlaces
            )
        });
        self.link = xtp_link::LinkConfig {
            rate_bits_per_s: self.link.rate_bits_per_s,
            delay: self.link.delay,
            overhead_octets: self.link.overhead_octets,
            mtu: self.link.mtu,
            ..xtp_link::LinkConfig::default()
        };
        self.heal_at = Duration::from_secs(3);
    }
}
