//! Runs a seed: safety while faults are at work, liveness once they are gone.

use std::io::{self, Write};
use std::time::Duration;

use xtp_engine::ErrorControl;
use xtp_link::Direction;

use crate::app::Step;
use crate::excuse;
use crate::fault::Fault;
use crate::flow::FlowSpec;
use crate::host::HostConfig;
use crate::judge::judge;
use crate::paradigm::Paradigm;
use crate::report::SeedReport;
use crate::scenario::{Class, Scenario};
use crate::seed::Plan;
use crate::trace::{Printer, option_table};
use crate::trouble::FaultClass;
use crate::world::World;

/// Virtual time after the faults within which everything must have ended.
const LIVENESS: Duration = Duration::from_secs(600);
/// Links lose, double, hold back and damage by chance no longer than this.
const CALM: Duration = Duration::from_secs(12);
/// A reader that keeps nothing behind a hole makes its writer send almost everything many times over where packets overtake each
/// other (§4.4): how many times as many packets are no storm then.
const MANY_TIMES: u64 = 5;
/// Virtual time after the end within which nothing may be left: a responder whose user has gone and whose peer fell silent asks
/// after 40 s, and gives up 60 s after that (§3.7); and a little. What is over is forgotten sooner.
const FORGET: Duration = Duration::from_secs(110);

/// Runs one seed.
pub fn run_seed(seed: u64) -> SeedReport {
    Scenario::new(seed, Class::Plain).run()
}

/// Runs a plan, and shows the world it left behind.
///
/// # Panics
/// If a setting of the plan is outside its range.
pub fn run_plan(plan: &Plan, seed: u64) -> (SeedReport, World) {
    match run_plan_here(plan, seed, |_| {}) {
        (report, Some(world)) => (report, world),
        (report, None) => panic!("{:?}", report.failure),
    }
}

/// Runs a plan in a world that `change` has seen; no world if a setting of the plan is outside its range.
pub(crate) fn run_plan_here(
    plan: &Plan,
    seed: u64,
    change: impl FnOnce(&mut World),
) -> (SeedReport, Option<World>) {
    match build(seed, plan) {
        Ok(mut world) => {
            change(&mut world);
            (run(plan, &mut world), Some(world))
        }
        Err(failure) => (SeedReport::failed(failure), None),
    }
}

/// Runs one seed and prints what was planned, every packet, and what was wrong.
///
/// # Errors
/// Whatever `out` says.
pub fn replay(seed: u64, out: &mut dyn Write) -> io::Result<SeedReport> {
    Scenario::new(seed, Class::Plain).replay(out)
}

/// As [`replay`], with the configuration of every host changed.
///
/// # Errors
/// Whatever `out` says.
pub fn replay_with(
    seed: u64,
    change: impl Fn(&mut HostConfig),
    out: &mut dyn Write,
) -> io::Result<SeedReport> {
    let mut plan = Plan::draw(seed);
    for host in &mut plan.hosts {
        change(host);
    }
    print_plan(&plan, out)?;
    let (mut report, world) = run_plan_here(&plan, seed, |world| world.net.records = Some(Vec::new()));
    report.seed = seed;
    if let Some(world) = &world {
        print_run(world, out)?;
    }
    Ok(report)
}

/// Every packet of a world that was recorded, and how its users ended.
pub(crate) fn print_run(world: &World, out: &mut dyn Write) -> io::Result<()> {
    let mut printer = Printer::default();
    for record in world.net.records.as_deref().unwrap_or_default() {
        let place = record.end.map_or_else(String::new, |(number, _)| {
            let port = world.net.check.associations[number].port.unwrap_or(0);
            format!("flow {} ", port.wrapping_sub(1_000))
        });
        writeln!(out, "{place}{}", printer.line(record))?;
    }
    for task in &world.tasks {
        let (step, steps) = task.progress();
        let (outcome, read, written) = (&task.outcome, task.reader.next, task.written);
        let (flow, side) = (task.flow, task.side);
        writeln!(
            out,
            "flow {flow} {side:?}: {outcome:?}, step {step}/{steps}, wrote {written}, read {read}"
        )?;
    }
    Ok(())
}

pub(crate) fn print_plan(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let classes: Vec<_> = plan.classes.iter().map(|class| class.name()).collect();
    writeln!(out, "faults {}; healed at {:?}", classes.join(" "), plan.heal_at)?;
    writeln!(out, "link {:?}", plan.link)?;
    for (number, host) in plan.hosts.iter().enumerate() {
        let (engine, clock) = (&host.engine, host.clock);
        let (legacy, caps, pressed) = (
            engine.overrides.legacy,
            engine.overrides.caps,
            engine.overrides.max_half_open == 0,
        );
        writeln!(
            out,
            "host {number}: legacy {legacy}, {caps:?}, demands cookies {pressed}, {clock:?}, {} ms UTC",
            host.utc_ms
        )?;
    }
    for (number, trouble) in plan.troubles.iter().enumerate() {
        for (at, fault) in &trouble.faults {
            writeln!(out, "fault {number} at {at:?} {fault:?}")?;
        }
    }
    let kept = plan.flows.iter().enumerate();
    for (number, (paradigm, flow)) in kept.filter(|(_, (_, flow))| !flow.left_out) {
        let (from, to, start) = (flow.initiator, flow.responder, flow.start);
        writeln!(
            out,
            "flow {number}: {} host {from} to host {to}, begins at {start:?}",
            paradigm.name()
        )?;
        writeln!(out, "  open {:?}", flow.open)?;
        writeln!(out, "  listen {:?}", flow.listen)?;
        writeln!(out, "  initiator {:?}", flow.initiator_script)?;
        writeln!(out, "  responder {:?}", flow.responder_script)?;
    }
    Ok(())
}

pub(crate) fn build(seed: u64, plan: &Plan) -> Result<World, String> {
    let mut world = World::new(seed, plan.hosts.clone(), &plan.link, plan.v6)?;
    world.net.report_too_big = plan.report_too_big;
    world.unreachable_reports = plan.unreachable_reports;
    if goes_back_over_disorder(plan) {
        world.packet_limit *= MANY_TIMES;
    }
    world.net.check.forgetful = (0..plan.hosts.len())
        .filter(|&host| excuse::forgets_clients(plan, host))
        .collect();
    for (_, flow) in &plan.flows {
        world.add_flow(flow.clone());
    }
    for (at, fault) in plan.schedule() {
        world.schedule(at, fault);
    }
    // A link that loses for longer than FIRST is repeated would make every failure an excusable one.
    world.schedule(plan.heal_at.min(CALM), Fault::Calm);
    world.schedule(plan.heal_at, Fault::Heal);
    Ok(world)
}

/// Whether a reader keeps nothing behind a hole on links on which packets overtake each other.
fn goes_back_over_disorder(plan: &Plan) -> bool {
    let disorder = [FaultClass::Reordering, FaultClass::Jitter];
    let goes_back = |(_, flow): &(Paradigm, FlowSpec)| {
        let steps = flow.initiator_script.steps.iter();
        let mut steps = steps.chain(&flow.responder_script.steps);
        let tunings = [&flow.open.tuning, &flow.listen.tuning];
        tunings
            .iter()
            .any(|tuning| tuning.error_control == ErrorControl::GoBackN)
            || steps.any(|step| matches!(step, Step::ErrorControl(ErrorControl::GoBackN)))
    };
    disorder.iter().any(|class| plan.classes.contains(class)) && plan.flows.iter().any(goes_back)
}

pub(crate) fn run(plan: &Plan, world: &mut World) -> SeedReport {
    world.run_for(plan.heal_at);
    let settled = world.settle(LIVENESS);
    if !settled && world.failure.is_none() {
        let stuck = stuck(world);
        world.fail(format!(
            "not over {} s after the last fault: {stuck}",
            LIVENESS.as_secs()
        ));
    }
    let ended_at = world
        .tasks
        .iter()
        .map(|task| task.finished_at)
        .max()
        .unwrap_or(world.now);
    world.run_for(FORGET);
    let mut report = SeedReport {
        packets: world.net.packets,
        digest: world.net.digest.value(),
        octets_checked: world.tasks.iter().map(|task| task.reader.checked).sum(),
        simulated: Duration::from_nanos(world.now),
        paradigms: plan.flows.iter().map(|(paradigm, _)| paradigm.name()).collect(),
        faults: effective(plan, world, ended_at),
        ..SeedReport::default()
    };
    let seen = world.net.options_seen;
    report.options = option_table()
        .iter()
        .filter(|(bit, _)| seen & bit.bits() != 0)
        .map(|(_, name)| *name)
        .collect();
    if world.failure.is_none() {
        judge(plan, world, &mut report);
    }
    report.failure = world.failure.take();
    report.passed = report.failure.is_none();
    report
}

fn stuck(world: &World) -> String {
    let running = world.tasks.iter().filter(|task| !task.is_over());
    let ends: Vec<_> = running
        .map(|task| {
            let (step, steps) = task.progress();
            format!(
                "flow {} {:?} at step {step}/{steps} ({:?})",
                task.flow, task.side, task.outcome
            )
        })
        .collect();
    ends.join(", ")
}

/// The classes that did something before everything was over.
fn effective(plan: &Plan, world: &mut World, ended_at: u64) -> std::collections::BTreeSet<&'static str> {
    let mut stats = xtp_link::LinkStats::default();
    for link in world.net.links_mut() {
        stats.add(link.link(Direction::AToB).stats());
        stats.add(link.link(Direction::BToA).stats());
    }
    let refused = world.net.refused;
    let happened = |matching: fn(&Fault) -> bool| {
        let mut planned = plan.troubles.iter().flat_map(|trouble| &trouble.faults);
        planned.any(|(at, fault)| matching(fault) && at.as_nanos() < u128::from(ended_at))
    };
    let had_effect = |class: &FaultClass| match class {
        FaultClass::RandomLoss | FaultClass::BurstLoss => stats.dropped.loss > 0,
        FaultClass::Duplication => stats.duplicated > 0,
        FaultClass::Reordering => stats.reordered > 0,
        FaultClass::Corruption => stats.corrupted > 0,
        FaultClass::QueueOverflow => stats.dropped.queue_full > 0,
        FaultClass::Jitter | FaultClass::ClockDrift => true,
        FaultClass::Partition => stats.dropped.down > 0,
        FaultClass::PausedReader => happened(|fault| matches!(fault, Fault::Pause(_))),
        FaultClass::CrashRestart => happened(|fault| matches!(fault, Fault::Crash(_))),
        FaultClass::MtuChange => happened(|fault| matches!(fault, Fault::Configure { .. })),
        FaultClass::AddressChange => happened(|fault| matches!(fault, Fault::Move { .. })),
        FaultClass::OneWayPartition => happened(|fault| matches!(fault, Fault::OneWay { .. })),
        FaultClass::RateChange => happened(|fault| matches!(fault, Fault::Rate { .. })),
        FaultClass::ClockJump => happened(|fault| matches!(fault, Fault::ClockJump { .. })),
        FaultClass::SendErrors => refused > 0,
        FaultClass::ListenerChange => happened(|fault| matches!(fault, Fault::Serve { .. })),
        FaultClass::SmallStores | FaultClass::ScarceMemory | FaultClass::FewPlaces => true,
    };
    plan.classes
        .iter()
        .filter(|class| had_effect(class))
        .map(|class| class.name())
        .collect()
}
