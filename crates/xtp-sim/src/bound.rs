//! How long an association may take: what its users and its links account for, several times over, and a little.

use std::time::Duration;

use xtp_engine::Tuning;

use crate::app::{Pace, Script, Step};
use crate::check::wire::Association;
use crate::seed::Plan;
use crate::trace::Side;
use crate::trouble::FaultClass;
use crate::world::World;

/// What everything may take besides: the first periods of timers, the keys, the close.
const BASE: f64 = 6.0;
/// How many times as long as computed an association may take.
const TIMES: f64 = 2.0;
/// What a lost packet may cost: a period of WTIMER before anything is known of the round trip.
const LOSS: f64 = 1.0;
/// What an outage may cost beyond three times its length: the longest period of a timer that doubled.
const OUTAGE: f64 = 12.0;

/// When who was silent for so long says something itself, and its answer.
const PROBE: f64 = 45.0;

/// The time until both readers had everything, and how long it may be, seconds; `None` if they never had. A responder whose
/// initiator is over, and was never proved, may not ask for the last word (§7.3): its own end is nobody's fault.
pub(crate) fn taken_and_allowed(plan: &Plan, world: &World, number: usize) -> Option<(f64, f64)> {
    let flow = &world.flows[number];
    let newest = *world.newest.get(&number)?;
    let ends = match world.net.check.amplification.may_ask(newest) {
        true => flow.read_at.iter().flatten().max()?,
        false => flow.read_at[Side::Initiator.index()].as_ref()?,
    };
    let taken = seconds(ends.saturating_sub(flow.opened_at));
    let seen = &world.net.check.associations[newest];
    let spec = &flow.spec;
    let one = Direction {
        octets: flow.ledgers[0].written,
        writer: (&spec.open.tuning, &spec.initiator_script),
        reader: (&spec.listen.tuning, &spec.responder_script),
    };
    let two = Direction {
        octets: flow.ledgers[1].written,
        writer: (&spec.listen.tuning, &spec.responder_script),
        reader: (&spec.open.tuning, &spec.initiator_script),
    };
    let polls = [spec.initiator, spec.responder].map(|host| plan.hosts[host].poll_period);
    let round = 2.0 * seconds(seen.slowest) + seconds(polls.iter().sum()) + 0.01;
    let opened = seconds(flow.opened_at);
    let busy: f64 = [one, two].iter().map(|way| way.seconds(round, opened)).sum();
    let all = world.net.check.associations.iter();
    // Everybody may have been before it in a slow link's queue.
    let carried: u64 = all
        .flat_map(|other| &other.ends)
        .map(|end| end.octets + 28 * end.packets)
        .sum();
    let wire = plan
        .slowest_rate()
        .map_or(0.0, |rate| carried as f64 * 8.0 / rate as f64);
    let former = world.former.get(&number).into_iter().flatten();
    let all = former
        .chain([&newest])
        .map(|one| &world.net.check.associations[*one]);
    let lost = losses(world, all, [spec.initiator, spec.responder]) * LOSS.max(round);
    // Three in a row make a timer run as long as an outage does.
    let doubled = if lost > 2.0 * LOSS { OUTAGE } else { 0.0 };
    let out = doubled + outages(plan, world, number, flow.opened_at, *ends);
    Some((taken, BASE + TIMES * (busy + wire) + lost + out))
}

/// Packets that never came, as far as can be seen from outside.
fn losses<'a>(world: &World, seen: impl Iterator<Item = &'a Association>, hosts: [usize; 2]) -> f64 {
    let overrun: u64 = hosts.iter().map(|&host| world.hosts[host].overrun).sum();
    let gone: u64 = seen
        .flat_map(|association| &association.ends)
        .map(|end| end.lost_packets + end.damaged_packets)
        .sum();
    (gone + overrun) as f64
}

/// Times in which nothing got through, and what is lost by them.
fn outages(plan: &Plan, world: &World, number: usize, from: u64, until: u64) -> f64 {
    let spec = &world.flows[number].spec;
    let mut sum = 0.0;
    for trouble in &plan.troubles {
        let (begin, end) = trouble.span();
        let meets = begin <= until && end >= from;
        let moves = trouble.class == FaultClass::AddressChange;
        if meets && (moves || trouble.silences(spec.initiator, spec.responder)) {
            sum += OUTAGE + 3.0 * seconds(end.min(until) - begin.max(from).min(end.min(until)));
        }
    }
    // A host that moved is found again by what it says itself, and it may have nothing to say for 40 s.
    let met = |at: u64| at <= until && at >= from;
    let hosts = [spec.initiator, spec.responder];
    let moved = world
        .moves
        .iter()
        .any(|moved| hosts.contains(&moved.host) && met(moved.at));
    sum + if moved { PROBE } else { 0.0 }
}

impl Plan {
    /// The lowest rate any link ever has, bits a second.
    fn slowest_rate(&self) -> Option<u64> {
        let faults = self.troubles.iter().flat_map(|trouble| &trouble.faults);
        let rates = faults.filter_map(|(_, fault)| match fault {
            crate::fault::Fault::Rate { bits, .. } => *bits,
            _ => None,
        });
        rates.chain(self.link.rate_bits_per_s).min()
    }
}

/// One direction of a stream.
struct Direction<'a> {
    octets: u64,
    writer: (&'a Tuning, &'a Script),
    reader: (&'a Tuning, &'a Script),
}

impl Direction<'_> {
    fn seconds(&self, round: f64, opened: f64) -> f64 {
        let octets = self.octets as f64;
        let (tuning, script) = self.reader;
        let posted = script.reader.post.unwrap_or(u64::MAX);
        // What may grow need not: whoever does not take what came is not given room for more.
        let window = tuning
            .recv_capacity
            .min(posted)
            .min(self.writer.0.send_capacity)
            .max(1) as f64;
        // A reader says so once a quarter of its window is free again.
        let rounds = octets / (window / 4.0).min(11_680.0) + 10.0;
        let messages = self.writer.1.steps.len() as f64;
        let reading = match script.reader.pace {
            Pace::Fast | Pace::Never => 0.0,
            Pace::Slow { octets: most, every } => {
                (octets / window.min(f64::from(most)).max(1.0) + messages) * every.as_secs_f64()
            }
            Pace::Bursty { every } => (octets / window + messages) * every.as_secs_f64(),
            Pace::StoppedUntil(until) => (until.as_secs_f64() - opened).max(0.0),
        };
        let packets = octets / 100.0 + messages;
        let limits = [self.writer.0.out_rate, tuning.in_rate];
        let rated = limits.iter().map(|limit| match limit.octets_per_second {
            0 => 0.0,
            rate => (octets + 56.0 * packets) / rate as f64,
        });
        (rounds + messages) * round + reading + rated.sum::<f64>() + waits(self.writer.1, opened)
    }
}

fn waits(script: &Script, opened: f64) -> f64 {
    let wait = |step: &Step| match step {
        Step::Wait(span) => span.as_secs_f64(),
        Step::Until(moment) => (moment.as_secs_f64() - opened).max(0.0),
        _ => 0.0,
    };
    script.steps.iter().map(wait).sum()
}

fn seconds(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64()
}
