//! What the proof tests share.

use std::time::Duration;

use xtp_engine::{CloseReason, OpenOptions, Tuning};
use xtp_link::LinkConfig;
use xtp_sim::app::{Outcome, Script, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::trace::{Record, Side, format_name, option_names};
use xtp_sim::world::World;
use xtp_wire::{Format, Options};

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A perfect link with this round trip.
pub(crate) fn link(rtt: Duration) -> LinkConfig {
    LinkConfig {
        delay: rtt / 2,
        overhead_octets: 28,
        mtu: Some(1_472),
        ..LinkConfig::default()
    }
}

/// Two hosts 20 ms apart, every packet recorded and captured.
pub(crate) fn pair() -> World {
    pair_over(&link(20 * MS))
}

/// Two hosts joined by `link`, every packet recorded and captured.
pub(crate) fn pair_over(link: &LinkConfig) -> World {
    recorded(World::pair(1, link))
}

pub(crate) fn recorded(mut world: World) -> World {
    world.net.records = Some(Vec::new());
    world.net.captured = Some(Vec::new());
    world
}

pub(crate) fn send(octets: u32) -> Step {
    Step::Send { octets, eom: true }
}

pub(crate) fn pour(octets: u32) -> Step {
    Step::Send { octets, eom: false }
}

/// A stream without PATH probes, so that only what is asked for is on the link.
pub(crate) fn quiet_stream() -> OpenOptions {
    let mut open = xtp_engine::paradigm::stream(0);
    quiet(&mut open.tuning);
    open
}

pub(crate) fn quiet(tuning: &mut Tuning) {
    tuning.overrides.probe_mtu = false;
}

/// A flow over a quiet stream.
pub(crate) fn stream_flow(initiator: Vec<Step>, responder: Vec<Step>) -> FlowSpec {
    let mut flow = FlowSpec::new(quiet_stream(), Script::new(initiator), Script::new(responder));
    quiet(&mut flow.listen.tuning);
    flow
}

/// `octets` one way, then both close.
pub(crate) fn bulk(octets: u32) -> FlowSpec {
    stream_flow(
        vec![pour(octets), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    )
}

/// Runs to the end; every end must come, without a broken rule.
pub(crate) fn finish(world: &mut World) {
    let settled = world.settle(600 * SECOND);
    if let Some(failure) = &world.failure {
        panic!("{failure}\n{}", tail(world));
    }
    assert!(settled, "not over\n{}{:?}", tail(world), ends(world));
}

pub(crate) fn ends(world: &World) -> Vec<String> {
    let show = |task: &xtp_sim::app::Task| {
        let (step, steps) = task.progress();
        format!(
            "flow {} {:?} {:?} step {step}/{steps} read {}",
            task.flow, task.side, task.outcome, task.reader.next
        )
    };
    world.tasks.iter().map(show).collect()
}

/// Runs to the end, until nothing is under way; every end must be clean.
pub(crate) fn finish_clean(world: &mut World) {
    finish(world);
    world.run_for(SECOND / 10);
    for flow in 0..world.flows.len() {
        for side in [Side::Initiator, Side::Responder] {
            let outcome = world.outcome(flow, side);
            let ended = world.task(flow, side).map_or(0, |task| task.finished_at);
            assert_eq!(
                outcome,
                Some(&Outcome::Closed(CloseReason::Normal)),
                "{flow} {side:?} {ended}\n{}",
                tail(world)
            );
        }
        assert_eq!(world.flows[flow].accepted, 1, "flow {flow}\n{}", tail(world));
        let sent = world.flows[flow].ledgers[0].written;
        let read = world.task(flow, Side::Responder).map(|task| task.reader.next);
        assert_eq!(read, Some(sent), "flow {flow}\n{}", tail(world));
    }
}

/// The last packets, for messages of failed tests.
pub(crate) fn tail(world: &World) -> String {
    let ladder = world.ladder();
    let lines: Vec<_> = ladder.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n") + "\n"
}

pub(crate) fn records(world: &World) -> &[Record] {
    world.net.records.as_deref().unwrap_or_default()
}

/// The packets of a ladder in the words of `docs/protocol`: CNTL stands for XCNTL, DATA for XDATA.
pub(crate) fn rungs(world: &World) -> Vec<String> {
    records(world).iter().map(rung).collect()
}

pub(crate) fn rung(record: &Record) -> String {
    let who = match record.end {
        Some((_, Side::Initiator)) => "I",
        Some((_, Side::Responder)) => "R",
        None => "?",
    };
    let format = match record.seen.format {
        Format::Xcntl if record.seen.spans.is_empty() => Format::Cntl,
        Format::Xcntl => Format::Ecntl,
        Format::Xdata => Format::Data,
        other => other,
    };
    let lost = if record.fate.is_lost() { " LOST" } else { "" };
    let options = option_names(record.seen.options);
    format!(
        "{who} {} {{{options}}} {}{lost}",
        format_name(format),
        record.seen.len
    )
}

/// Asserts the rungs, and that the carrier's NOCHECK is on every packet.
pub(crate) fn assert_rungs(world: &World, expected: &[&str]) {
    assert_eq!(rungs(world), expected, "\n{}", world.ladder());
    for record in records(world) {
        assert!(record.seen.has(Options::NOCHECK), "{}", rung(record));
    }
}

/// Packets of one side that carry no octets of a stream.
pub(crate) fn control_packets(world: &World, side: Side) -> usize {
    let mine = |record: &&Record| record.end.is_some_and(|(_, from)| from == side) && record.seen.len == 0;
    records(world).iter().filter(mine).count()
}

/// Octets of one side's stream sent again, and octets of its data packets that were lost.
pub(crate) fn repeated_and_lost(world: &World, side: Side) -> (u64, u64) {
    let ends = world
        .net
        .check
        .associations
        .iter()
        .map(|association| &association.ends[side.index()]);
    ends.fold((0, 0), |(repeated, lost), end| {
        (repeated + end.repeated_octets, lost + end.lost_octets)
    })
}
