//! Runs a mesh, and says what was wrong.

use std::io::{self, Write};
use std::time::Duration;

use super::plan::{MeshPlan, Mishap};
use super::world::MeshWorld;
use crate::report::SeedReport;

/// Runs a plan.
pub(crate) fn run_plan(plan: &MeshPlan, seed: u64) -> SeedReport {
    let mut world = match MeshWorld::new(plan.clone(), seed) {
        Ok(world) => world,
        Err(failure) => return SeedReport::failed(failure),
    };
    world.settle();
    let mut report = SeedReport {
        packets: world.bridge.sent,
        octets_checked: world.oracle.octets,
        simulated: Duration::from_nanos(world.now),
        flows: plan.sends.len() as u64,
        ..SeedReport::default()
    };
    report.paradigms.insert("mesh");
    report
        .faults
        .extend(plan.mishaps.iter().map(|mishap| match mishap.what {
            Mishap::Pause => "mesh: host paused",
            Mishap::CutOut | Mishap::CutIn => "mesh: path broken",
            Mishap::Killed => "mesh: program killed",
            Mishap::Leaves => "mesh: program leaves",
        }));
    if plan.liar {
        report.faults.insert("mesh: a liar");
    }
    if world.oracle.losses > 0 {
        report.faults.insert("mesh: peer lost");
    }
    report.failure = world.failure.take();
    report.passed = report.failure.is_none();
    report
}

/// Prints what is planned.
///
/// # Errors
/// Whatever `out` says.
pub(crate) fn print_plan(plan: &MeshPlan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} hosts, liar: {}, {:?}", plan.hosts, plan.liar, plan.link)?;
    for (number, send) in plan.sends.iter().enumerate() {
        writeln!(out, "message {number}: {send:?}")?;
    }
    for (number, receive) in plan.receives.iter().enumerate() {
        writeln!(out, "receive {number}: {receive:?}")?;
    }
    for (number, mishap) in plan.mishaps.iter().enumerate() {
        writeln!(out, "fault {number}: {mishap:?}")?;
    }
    Ok(())
}
