//! Runs a group, and says what was wrong.

use std::io::{self, Write};
use std::time::Duration;

use xtp_engine::group::{MemberState, Require};

use super::healthy::Comparison;
use super::plan::CastPlan;
use super::world::GroupWorld;
use crate::report::SeedReport;
use crate::trace::option_table;

/// How long a world runs on when everybody is through: what is left must come to rest.
const REST: Duration = Duration::from_secs(1);

/// Runs a plan; shows the world it left behind, if there was one. `traces`: every packet is written down.
pub fn run_plan(plan: &CastPlan, seed: u64, traces: bool) -> (SeedReport, Option<GroupWorld>) {
    let mut world = match GroupWorld::new(plan.clone(), seed) {
        Ok(world) => world,
        Err(failure) => return (SeedReport::failed(failure), None),
    };
    if traces {
        world.watch.trace = Some(Vec::new());
    }
    let limit = world.limit();
    if !world.settle(limit) && world.failure.is_none() {
        let stuck = world.stuck();
        world.fail(&format!("not over: {stuck}"));
    }
    world.run_for(REST);
    let mut report = SeedReport {
        packets: world.bridge.sent,
        octets_checked: world.members.iter().map(|member| member.check.checked).sum(),
        simulated: Duration::from_nanos(world.now),
        flows: plan.members.len() as u64,
        faults: world.accidents(),
        ..SeedReport::default()
    };
    let seen = world.watch.options;
    let used = option_table().iter().filter(|(bit, _)| seen & bit.bits() != 0);
    report.options = used.map(|(_, name)| *name).collect();
    report.paradigms.insert(kind(plan));
    if world.failure.is_none() {
        match world.judge() {
            Ok(excuses) => {
                report.excused = excuses.values().sum();
                report.excuses = excuses;
            }
            Err(what) => world.fail(&what),
        }
    }
    if plan.is_compared && world.failure.is_none() {
        report.faults.insert("group: compared");
        match world.compare_with_calm(seed) {
            Ok(Comparison::AsFast) => {}
            Ok(Comparison::HeldUp) => _ = report.faults.insert("group: held up"),
            Err(what) => world.fail(&what),
        }
    }
    for member in &world.sender.reports {
        match member.state {
            MemberState::Done(_) => report.clean += 1,
            MemberState::Dropped(reason) => *report.refusals.entry(reason.to_string()).or_default() += 1,
            _ => {}
        }
    }
    report.failure = world.failure.take();
    report.passed = report.failure.is_none();
    (report, Some(world))
}

fn kind(plan: &CastPlan) -> &'static str {
    match (&plan.options.require, plan.options.fec) {
        (Require::Nobody, _) if plan.is_datagram => "group, datagram nobody answers",
        _ if plan.is_datagram => "group, datagram answered",
        _ if plan.is_collected() => "group, buckets",
        (Require::Nobody, _) => "group, nobody required",
        (Require::All, Some(_)) => "group, all, parity",
        (Require::All, None) => "group, all, no parity",
        (Require::List(_), _) => "group, a list",
        (Require::AnyOf(_), _) => "group, any of",
    }
}

impl GroupWorld {
    /// Who is not through, and where it stands.
    fn stuck(&mut self) -> String {
        let mut all = Vec::new();
        if self.sender.closed.is_none() && self.sender_gone.is_none() {
            let _ = self.sender.note();
            let members: Vec<_> = self
                .sender
                .reports
                .iter()
                .map(|report| format!("{} {:?} {}", report.address, report.state, report.octets))
                .collect();
            all.push(format!(
                "transmitter (wrote {}, {:?}, members {})",
                self.sender.ledger.written,
                self.sender.stats,
                members.join(", ")
            ));
        }
        for (number, member) in self.members.iter_mut().enumerate() {
            let _ = member.measure();
            if !member.is_over() {
                all.push(format!(
                    "receiver {number} (has {}, read {}, found {}, complete {:?})",
                    member.now.had, member.check.next, member.found, member.complete_at
                ));
            }
        }
        all.join("; ")
    }

    /// Every packet, if that was wanted, and how everybody ended.
    ///
    /// # Errors
    /// Whatever `out` says.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.watch.trace.iter().flatten() {
            writeln!(out, "{line}")?;
        }
        writeln!(
            out,
            "transmitter wrote {}, ended {:?}; {:?}",
            self.sender.ledger.written, self.sender.closed, self.sender.stats
        )?;
        for report in &self.sender.reports {
            writeln!(out, "  {report:?}")?;
        }
        for (number, member) in self.members.iter().enumerate() {
            writeln!(
                out,
                "receiver {number} has {}, read {}, complete {:?}, ended {:?}, excused by {:?}",
                member.now.had,
                member.check.next,
                member.complete_at,
                member.now.closed,
                self.excuses(number)
            )?;
        }
        Ok(())
    }
}

/// Prints what is planned.
///
/// # Errors
/// Whatever `out` says.
pub fn print_plan(plan: &CastPlan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:?}", plan.options)?;
    writeln!(out, "to {:?}, uplink {:?}", plan.target, plan.uplink)?;
    if let Some(past) = &plan.past {
        writeln!(out, "{past:?}")?;
    }
    for (number, member) in plan
        .members
        .iter()
        .enumerate()
        .filter(|(_, member)| !member.left_out)
    {
        writeln!(out, "flow {number}: receiver {member:?}")?;
    }
    for (number, message) in plan.messages.iter().enumerate() {
        writeln!(out, "flow {}: {message:?}", number + plan.members.len())?;
    }
    for (number, trouble) in plan.troubles.iter().enumerate() {
        writeln!(out, "fault {number} at {:?}: {:?}", trouble.at, trouble.what)?;
    }
    if let Some(twin) = &plan.twin {
        writeln!(out, "{twin:?}")?;
    }
    if let Some(liar) = &plan.liar {
        writeln!(out, "{liar:?}")?;
    }
    Ok(())
}
