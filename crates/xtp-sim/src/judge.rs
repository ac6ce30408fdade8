//! What must be true of every association once everything is over.

use std::collections::BTreeSet;
use std::time::Duration;

use xtp_engine::{CloseReason, CongestionKind};
use xtp_wire::Caps;

use crate::app::{Outcome, Task};
use crate::bound::taken_and_allowed;
use crate::check::share::{self, Traffic};
use crate::check::wire::Association;
use crate::check::wire::End;
use crate::excuse::{self, Excuse};
use crate::fault::Fault;
use crate::flow::Flow;
use crate::paradigm::Paradigm;
use crate::report::SeedReport;
use crate::seed::Plan;
use crate::trace::Side;
use crate::world::World;

/// Judges the ends of all associations and what is left in the engines.
pub(crate) fn judge(plan: &Plan, world: &mut World, report: &mut SeedReport) {
    world.name_associations();
    for (number, (paradigm, _)) in plan.flows.iter().enumerate() {
        if world.flows[number].spec.left_out {
            continue;
        }
        report.flows += 1;
        let excuses = excuse::of(plan, world, number);
        let binding = !matches!(paradigm, Paradigm::Datagram | Paradigm::LongDatagram);
        report.excused += u64::from(binding && !excuses.is_empty());
        // Where memory is rationed an association waits as long as others keep it: it ends well, and later.
        let rationed = is_rationed(plan, world, number);
        let prompt = excuses.is_empty() && !rationed;
        if let Some(what) = world.suspicions.get(&number).filter(|_| prompt) {
            let text = format!("flow {number} ({}): {what}", paradigm.name());
            world.fail(text);
            return;
        }
        if binding
            && prompt
            && let Some((taken, allowed)) = taken_and_allowed(plan, world, number)
            && taken > allowed
        {
            let what = format!("took {taken:.3} s; {allowed:.3} s are explained by users, links and outages");
            world.fail(format!("flow {number} ({}): {what}", paradigm.name()));
            return;
        }
        if binding
            && excuses.is_empty()
            && let Err(what) = share::check(traffic(plan, world, number))
        {
            world.fail(format!("flow {number} ({}): {what}", paradigm.name()));
            return;
        }
        count_refusals(world, number, report);
        match judge_flow(plan, world, number, *paradigm, &excuses) {
            Ok(Verdict::Clean) => report.clean += 1,
            Ok(Verdict::Residue) => report.residue += 1,
            Ok(Verdict::Failed) => {
                for excuse in excuses {
                    *report.excuses.entry(excuse.name()).or_default() += 1;
                }
            }
            Err(what) => {
                world.fail(format!("flow {number} ({}): {what}", paradigm.name()));
                return;
            }
        }
    }
    for number in 0..world.hosts.len() {
        let stats = world.hosts[number].engine.view().stats();
        if stats.contexts > 0 {
            world.fail(format!("host {number} still has {} contexts", stats.contexts));
        }
    }
}

/// What the ends of a flow's newest association sent.
fn traffic(plan: &Plan, world: &World, number: usize) -> Traffic {
    let flow = &world.flows[number];
    let Some(&association) = world.newest.get(&number) else {
        return Traffic::default();
    };
    let seen = &world.net.check.associations[association];
    let sum = |of: fn(&End) -> u64| seen.ends.iter().map(of).sum::<u64>();
    let steps =
        [&flow.spec.initiator_script, &flow.spec.responder_script].map(|script| script.steps.len() as u64);
    let spec = &flow.spec;
    let tunings = [&spec.open.tuning, &spec.listen.tuning];
    let extended = |host: usize| plan.hosts[host].engine.overrides.caps.contains(Caps::XCNTL);
    let window_in_terms = tunings
        .iter()
        .any(|tuning| tuning.congestion == CongestionKind::Kdd)
        && !(extended(spec.initiator) && extended(spec.responder));
    let last = seen.ends.iter().map(|end| end.sent_at).max().unwrap_or(0);
    let mut readers = [&spec.initiator_script.reader, &spec.responder_script.reader].into_iter();
    Traffic {
        data: sum(|end| end.packets - end.control_packets),
        control: sum(|end| end.control_packets),
        lost: sum(|end| end.lost_packets),
        seconds: last.saturating_sub(flow.opened_at) / 1_000_000_000 + 1,
        steps: steps.iter().sum(),
        window_in_terms,
        grants_late: is_rationed(plan, world, number) || readers.any(|reader| reader.grants_late()),
    }
}

/// Whether memory is rationed at one of a flow's hosts.
fn is_rationed(plan: &Plan, world: &World, number: usize) -> bool {
    let spec = &world.flows[number].spec;
    let mut hosts = [spec.initiator, spec.responder].into_iter();
    hosts.any(|host| excuse::rations(plan, host))
}

/// What the ends of a flow were refused for, in the words users read.
fn count_refusals(world: &World, number: usize, report: &mut SeedReport) {
    for task in world.tasks.iter().filter(|task| task.flow == number) {
        if let Outcome::Closed(CloseReason::Refused(reason)) = &task.outcome {
            *report.refusals.entry(reason.to_string()).or_default() += 1;
        }
    }
}

enum Verdict {
    Clean,
    Residue,
    Failed,
}

fn judge_flow(
    plan: &Plan,
    world: &World,
    number: usize,
    paradigm: Paradigm,
    excuses: &BTreeSet<Excuse>,
) -> Result<Verdict, String> {
    let flow = &world.flows[number];
    if let Some(error) = &flow.open_error {
        return match excuse::is_crowded(plan, flow.spec.initiator) {
            true => Ok(Verdict::Failed),
            false => Err(format!("open failed: {error}")),
        };
    }
    accepted_at_most_once(plan, world, flow, paradigm)?;
    let Some(initiator) = world.task(number, Side::Initiator) else {
        return Err("never opened".to_owned());
    };
    if matches!(paradigm, Paradigm::Datagram | Paradigm::LongDatagram) {
        return judge_datagram(flow, world, number);
    }
    let responder = best_responder(flow, world);
    let normal = |task: &Task| task.outcome == Outcome::Closed(CloseReason::Normal);
    let got = |task: &Task, written: u64| task.reader.ended || task.reader.next == written;
    let delivered = responder.is_some_and(|task| got(task, flow.ledgers[0].written))
        || (paradigm == Paradigm::UnreliableStream && responder.is_some());
    let stayed = !crashed(world, number) && !flow.spec.leaves_early;
    if normal(initiator) && !delivered && stayed {
        return Err(
            "the initiator was told that all is well, and the responder did not get everything".to_owned(),
        );
    }
    let answered = !expects_answer(paradigm) || got(initiator, flow.ledgers[1].written);
    if responder.is_some_and(normal) && !answered && stayed && expects_answer(paradigm) {
        let unconfirmed = paradigm == Paradigm::TransactionUnconfirmed;
        if !unconfirmed {
            return Err(
                "the responder was told that all is well, and the initiator did not get everything"
                    .to_owned(),
            );
        }
    }
    if normal(initiator) && responder.is_some_and(normal) {
        return Ok(Verdict::Clean);
    }
    if delivered && answered {
        // Who let go of its end was told nothing, and wanted nothing more.
        let parted = |task: &Task| task.outcome == Outcome::Released;
        let well = |task: &Task| normal(task) || parted(task);
        return match well(initiator) && responder.is_some_and(well) {
            true => Ok(Verdict::Clean),
            false if excuses.is_empty() && !excuse::may_lose_the_last_word(plan, world, number) => {
                Err(format!(
                    "all was delivered, and an end does not know it: {:?}, {:?}",
                    initiator.outcome,
                    responder.map(|task| &task.outcome)
                ))
            }
            false => Ok(Verdict::Residue),
        };
    }
    if excuses.iter().any(|excuse| excuse.covers(&initiator.outcome)) {
        return Ok(Verdict::Failed);
    }
    let (one, two) = (&initiator.outcome, responder.map(|task| &task.outcome));
    Err(format!(
        "did not end well although nothing was worse than the timeouts allow: {one:?}, {two:?}"
    ))
}

/// FIRSTs leave for so long (§2.4.2).
const OPENING: Duration = Duration::from_secs(20);
/// FIRSTs that leave for one association (§2.4.2).
const FIRSTS: usize = 11;

/// One accept, but for what §6.9 lets happen again: a FIRST without time and client identity (a datagram, or one in the
/// legacy format) may be accepted once more for each time that its record is lost with its host or its source moves, and
/// each time it is repeated where records are pushed out. One with both may be where its client's record was pushed out, too, and
/// its source moves.
fn accepted_at_most_once(plan: &Plan, world: &World, flow: &Flow, paradigm: Paradigm) -> Result<(), String> {
    let (initiator, responder) = (flow.spec.initiator, flow.spec.responder);
    let faults = plan.troubles.iter().flat_map(|trouble| &trouble.faults);
    let lost = faults.filter(|(_, fault)| match *fault {
        Fault::Crash(host) => host == responder,
        Fault::Move { host, .. } => host == initiator,
        _ => false,
    });
    let forgotten = match excuse::evicts(plan, responder) {
        true => FIRSTS,
        false => lost.count(),
    };
    let mut seen = world.net.check.associations.iter();
    let legacy = |association: &Association| association.port == Some(flow.port) && association.was_nameless;
    let nameless = matches!(paradigm, Paradigm::Datagram | Paradigm::LongDatagram) || seen.any(legacy);
    let faults = plan.troubles.iter().flat_map(|trouble| &trouble.faults);
    let moves = faults.filter(|(_, fault)| matches!(*fault, Fault::Move { host, .. } if host == initiator));
    let most = match nameless {
        true => 1 + forgotten,
        false if excuse::forgets_clients(plan, responder) => 1 + moves.count(),
        false => 1,
    };
    if flow.accepted as usize > most {
        return Err(format!("accepted {} times", flow.accepted));
    }
    Ok(())
}

/// Whether the initiator of a flow did not run when its association, of which nothing was heard, was over.
fn slept_through(flow: &Flow, world: &World) -> bool {
    let host = flow.spec.initiator;
    let clock = world.hosts[host].config.clock;
    let over = clock.world(clock.local(flow.opened_at) + OPENING);
    let mut pauses = world.pauses.get(&host).into_iter().flat_map(|pause| &pause.spans);
    pauses.any(|&(began, ended)| began <= over && over <= ended)
}

fn judge_datagram(flow: &Flow, world: &World, number: usize) -> Result<Verdict, String> {
    let Some(Outcome::Closed(reason)) = world.outcome(number, Side::Initiator) else {
        return Ok(Verdict::Failed);
    };
    // Nothing ever answers it (§2.3); but before all of several packets have left, its sender may learn that nobody has
    // the port (§2.6).
    if *reason == CloseReason::Unreachable && slept_through(flow, world) {
        // A process that slept for so long repeats nothing: what was never answered fails (§3.7).
        return Ok(Verdict::Failed);
    }
    if !matches!(reason, CloseReason::Normal | CloseReason::NobodyListens) {
        return Err(format!("a datagram ended with {reason:?} at its sender"));
    }
    for &task in &flow.responder_tasks {
        let read = world.tasks[task].reader.next;
        if read != 0 && read != flow.ledgers[0].written {
            return Err(format!(
                "{read} of {} octets of a datagram were delivered",
                flow.ledgers[0].written
            ));
        }
    }
    Ok(Verdict::Clean)
}

/// The responder's end that got the whole stream, or the last one.
fn best_responder<'a>(flow: &Flow, world: &'a World) -> Option<&'a Task> {
    let tasks = || flow.responder_tasks.iter().map(|&task| &world.tasks[task]);
    tasks()
        .find(|task| task.reader.ended)
        .or_else(|| tasks().next_back())
}

fn crashed(world: &World, number: usize) -> bool {
    world
        .tasks
        .iter()
        .any(|task| task.flow == number && task.outcome == Outcome::Crashed)
}

fn expects_answer(paradigm: Paradigm) -> bool {
    matches!(
        paradigm,
        Paradigm::Transaction
            | Paradigm::TransactionUnconfirmed
            | Paradigm::TransactionSlow
            | Paradigm::ByteStream
            | Paradigm::MessageStream
            | Paradigm::Tags
    )
}
