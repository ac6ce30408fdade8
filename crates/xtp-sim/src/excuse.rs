//! Which association may end badly, and why: a property of a flow and a moment.
//!
//! An association must end well unless something met it *while it lived* that `docs/protocol` does not promise to
//! survive. Each excuse says what that is; those that can only lead to a refusal excuse nothing else.

use std::collections::BTreeSet;

use xtp_engine::CloseReason;
use xtp_wire::{Caps, service};

use crate::app::Outcome;
use crate::check::wire::Association;
use crate::fault::{Fault, Report};
use crate::seed::Plan;
use crate::trace::Side;
use crate::trouble::FaultClass;
use crate::world::World;

/// Why an association may end badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Excuse {
    /// One of its hosts lost its memory while it lived, or it was opened to a host that was down.
    Crash,
    /// Its FIRST is not younger than its responder (§6.9): refused as "execution unknown".
    Restarted,
    /// It was silent for longer than the timeouts allow (§3.7): 20 s before anything was heard, 60 s later. The queue of a link that
    /// holds its packets for so long is a cut, too.
    LongCut,
    /// One of its hosts was told that no program has the port of the other, or an injector that its peer forgot it, and nothing got through for
    /// as long as a doubt lasts (§3.7.2, §7.1.1): silence, or the queue of a link that was slow.
    Doubted,
    /// Its host moved before the keys were exchanged, or without PATH in force, or both ends moved at once (§7.6).
    Moved,
    /// Its responder demands cookies, which its initiator does not take, or seems not to after three lost FIRSTs
    /// (§7.4, §2.7): refused.
    Pressed,
    /// Its responder's records are too few and were pushed out (§6.9): refused as "execution unknown".
    Evicted,
    /// The same responder, which could not ask for a cookie, let it give way to a newer one before its message was
    /// complete (§7.4): aborted.
    Displaced,
    /// One of its users ended it before its end, or took no more.
    LeftEarly,
    /// One of its hosts had no place for it (§7.4): not opened, refused, or aborted to give way.
    Crowded,
    /// Its listener did not serve it when it began, and never took it, or took another copy of its FIRST than the one it refused
    /// (§2.6): refused.
    NotServed,
    /// It was refused for want of a place after it had fallen back, when a refusal ends nothing, and nothing answered the last
    /// FIRST (§2.7): unreachable.
    Unheeded,
    /// It gave way, and the record that would have said so again was pushed out: nobody answers it any more.
    Forgotten,
}

/// Longest silence that an association which was heard survives for sure: CTIMEOUT of 60 s less the longest period
/// of a repetition, and a little for what is lost besides.
const SURVIVED: u64 = 40_000_000_000;
/// Two silences with less than this between them are one: a repetition may fall into both.
const BETWEEN: u64 = 12_000_000_000;
/// How long after it was opened the last silence must have ended for its FIRST to get through: the last one leaves
/// after 19 s, and some are lost besides.
const OPENING: u64 = 12_000_000_000;
/// Two moves closer than this are at once: neither end knows where the other is.
const AT_ONCE: u64 = 10_000_000_000;

/// The shortest doubt, and how much of it a silence must take for its handshake and the answer to be lost.
const DOUBT: u64 = 200_000_000;
const MOST_OF_A_DOUBT: u64 = 100_000_000;

impl Excuse {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Crash,
        Self::Restarted,
        Self::LongCut,
        Self::Doubted,
        Self::Moved,
        Self::Pressed,
        Self::Evicted,
        Self::Displaced,
        Self::LeftEarly,
        Self::Crowded,
        Self::NotServed,
        Self::Unheeded,
        Self::Forgotten,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Restarted => "restarted",
            Self::LongCut => "long-cut",
            Self::Doubted => "doubted",
            Self::Moved => "moved",
            Self::Pressed => "pressed",
            Self::Evicted => "evicted",
            Self::Displaced => "displaced",
            Self::LeftEarly => "left-early",
            Self::Crowded => "crowded",
            Self::NotServed => "not-served",
            Self::Unheeded => "unheeded",
            Self::Forgotten => "forgotten",
        }
    }

    /// Whether the initiator may be told this.
    pub(crate) fn covers(self, told: &Outcome) -> bool {
        match self {
            Self::Crash | Self::LongCut | Self::Doubted | Self::Moved | Self::LeftEarly => true,
            Self::Restarted | Self::Evicted => {
                matches!(told, Outcome::Closed(CloseReason::ExecutionUnknown { .. }))
            }
            Self::Pressed | Self::NotServed => matches!(told, Outcome::Closed(CloseReason::Refused(_))),
            Self::Crowded => matches!(
                told,
                Outcome::Closed(CloseReason::Refused(_) | CloseReason::Aborted { .. })
            ),
            Self::Displaced => matches!(told, Outcome::Closed(CloseReason::Aborted { .. })),
            Self::Unheeded => *told == Outcome::Closed(CloseReason::Unreachable),
            Self::Forgotten => matches!(
                told,
                Outcome::Closed(
                    CloseReason::Unreachable | CloseReason::Lost | CloseReason::Unconfirmed { .. }
                )
            ),
        }
    }
}

/// What excuses flow `number`.
pub fn of(plan: &Plan, world: &World, number: usize) -> BTreeSet<Excuse> {
    let life = Life::of(world, number);
    let spec = &world.flows[number].spec;
    let (one, two) = (
        &plan.hosts[spec.initiator].engine,
        &plan.hosts[spec.responder].engine,
    );
    let crowded = is_crowded(plan, spec.responder);
    let pressed = two.overrides.max_half_open == 0 && life.takes_no_cookie(world, [one, two]);
    let found = [
        (Excuse::Crash, life.meets_crash(plan)),
        (Excuse::Restarted, life.is_too_old(world)),
        (Excuse::LongCut, life.is_cut_off(plan) || life.is_held_up(world)),
        (Excuse::Doubted, life.is_doubted(plan, world)),
        (Excuse::Moved, life.is_lost_by_moves(plan, world)),
        (Excuse::Pressed, pressed),
        (Excuse::Evicted, evicts(plan, spec.responder)),
        (
            Excuse::Displaced,
            pressed && life.displaces(world) && life.was_aborted(world),
        ),
        (Excuse::LeftEarly, spec.leaves_early),
        (Excuse::Crowded, crowded),
        (Excuse::NotServed, life.is_not_served(world)),
        (
            Excuse::Unheeded,
            (crowded || pressed) && life.fell_back(world) && !life.is_refused(world),
        ),
        (
            Excuse::Forgotten,
            crowded && evicts(plan, spec.responder) && life.was_aborted(world),
        ),
    ];
    found
        .into_iter()
        .filter(|(_, holds)| *holds)
        .map(|(excuse, _)| excuse)
        .collect()
}

/// Whether END of a flow and all that repeats it may be lost (§6.7) though nothing excuses its end: its initiator keeps hardly any
/// record of what is over, a host moved, which such a record does not follow, or the responder may not ask an address any more that has
/// not shown that it receives.
pub(crate) fn may_lose_the_last_word(plan: &Plan, world: &World, number: usize) -> bool {
    let life = Life::of(world, number);
    let stores = &plan.hosts[life.initiator].engine.overrides;
    let forgets = plan.classes.contains(&FaultClass::SmallStores) && stores.max_time_waits <= 4;
    let moved = world.moves.iter().any(|moved| {
        [life.initiator, life.responder].contains(&moved.host) && life.meets(moved.at, moved.at)
    });
    let association = world.newest.get(&number);
    let spent = association.is_some_and(|&association| world.net.check.amplification.is_spent(association));
    forgets || moved || spent
}

/// Whether a host has so few records that those of associations that ended a moment ago are pushed out.
pub(crate) fn evicts(plan: &Plan, host: usize) -> bool {
    plan.classes.contains(&FaultClass::SmallStores) && plan.hosts[host].engine.overrides.max_tombstones <= 64
}

/// Whether it has so few records of clients beside that neither shows that a FIRST is a repetition (§6.9).
pub(crate) fn forgets_clients(plan: &Plan, host: usize) -> bool {
    evicts(plan, host) && plan.hosts[host].engine.overrides.max_clients <= 64
}

/// Whether a host has so little memory that its associations wait for one another's.
pub(crate) fn rations(plan: &Plan, host: usize) -> bool {
    plan.classes.contains(&FaultClass::ScarceMemory) && plan.hosts[host].engine.memory_limit <= 1 << 20
}

/// Whether a host has few places for associations.
pub(crate) fn is_crowded(plan: &Plan, host: usize) -> bool {
    let engine = &plan.hosts[host].engine;
    let own =
        engine.max_contexts <= 12 || engine.overrides.source_rate <= 2 || engine.overrides.max_half_open <= 4;
    let mut flows = plan.flows.iter().filter(|(_, flow)| flow.responder == host);
    plan.classes.contains(&FaultClass::FewPlaces) && (own || flows.any(|(_, flow)| flow.listen.backlog <= 16))
}

/// When and between whom a flow was.
struct Life {
    number: usize,
    initiator: usize,
    responder: usize,
    from: u64,
    until: u64,
    /// The initiator heard the responder.
    heard: bool,
}

/// Nanoseconds: 1/128 of the age of an instance that refuses what is 20 s old, and what the clocks of the two hosts differ by
/// meanwhile.
const NEARLY: u64 = 300_000_000;

impl Life {
    fn of(world: &World, number: usize) -> Self {
        let flow = &world.flows[number];
        let tasks = || world.tasks.iter().filter(|task| task.flow == number);
        let running = tasks().any(|task| !task.is_over());
        let last = tasks().map(|task| task.finished_at).max();
        Self {
            number,
            initiator: flow.spec.initiator,
            responder: flow.spec.responder,
            from: flow.opened_at,
            until: last.filter(|_| !running).unwrap_or(world.now),
            heard: world.task(number, Side::Initiator).is_some_and(|task| task.heard),
        }
    }

    fn meets(&self, from: u64, until: u64) -> bool {
        from <= self.until && until >= self.from
    }

    fn meets_crash(&self, plan: &Plan) -> bool {
        plan.troubles.iter().any(|trouble| {
            let (from, until) = trouble.span();
            trouble.faults.iter().any(|(_, fault)| match *fault {
                Fault::Crash(host) if host == self.initiator => self.meets(from, from),
                Fault::Crash(host) if host == self.responder => self.meets(from, until),
                _ => false,
            })
        })
    }

    /// The responder was started after its FIRST left, or so little before that the refusal, which was under way and waited for
    /// an initiator that did not run, cannot show it (§2.6). What the clocks say is no excuse.
    fn is_too_old(&self, world: &World) -> bool {
        let way = self.association(world).map_or(0, |seen| seen.slowest);
        let paused = world.pauses.get(&self.initiator).map_or(0, |pause| pause.longest);
        let mut restarts = world.restarts.iter();
        restarts.any(|restart| {
            restart.host == self.responder
                && restart.at <= self.until
                && restart.at.saturating_add(NEARLY + way + paused) >= self.from
        })
    }

    /// Its listener was closed to it for a while, and took none of its FIRSTs, or a later one while the refusal was under way.
    fn is_not_served(&self, world: &World) -> bool {
        let mut closed = world.closed.iter();
        let met = closed.any(|closed| closed.flow == self.number && self.meets(closed.from, closed.until));
        let repeated = self.association(world).is_some_and(|seen| seen.firsts > 1);
        met && (world.flows[self.number].accepted == 0 || repeated)
    }

    fn is_cut_off(&self, plan: &Plan) -> bool {
        let silent = plan
            .troubles
            .iter()
            .filter(|trouble| trouble.silences(self.initiator, self.responder));
        let mut spans: Vec<_> = silent.map(|trouble| trouble.span()).collect();
        spans.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (from, until) in spans {
            match merged.last_mut() {
                Some(last) if from <= last.1 + BETWEEN => last.1 = last.1.max(until),
                _ => merged.push((from, until)),
            }
        }
        let mut met = merged
            .into_iter()
            .filter(|&(from, until)| self.meets(from, until));
        met.any(|(from, until)| {
            until - from.max(self.from) > SURVIVED || !self.heard && until > self.from + OPENING
        })
    }

    /// One of its packets was under way for so long. Links are first in, first out: so were those before and behind it.
    fn is_held_up(&self, world: &World) -> bool {
        let way = self.association(world).map_or(0, |seen| seen.slowest);
        way > if self.heard { SURVIVED } else { OPENING }
    }

    fn is_doubted(&self, plan: &Plan, world: &World) -> bool {
        let association = self.association(world);
        let mut ends = association.into_iter().flat_map(|association| &association.ends);
        if ends.any(|end| end.longest_doubt(self.until) >= DOUBT) {
            return true;
        }
        let pair = [self.initiator, self.responder];
        let mut concerned = world.reports.iter().filter(|report| {
            let of_pair =
                pair.contains(&report.host) && report.about.is_some_and(|about| pair.contains(&about));
            of_pair && self.meets(report.at, report.at)
        });
        let silent = |report: &Report| {
            plan.troubles.iter().any(|trouble| {
                let (from, until) = trouble.span();
                let slow = |fault: &Fault| match *fault {
                    Fault::Rate { one, two, bits, .. } => {
                        bits.is_some() && pair.contains(&one) && pair.contains(&two)
                    }
                    _ => false,
                };
                if from <= report.at && trouble.faults.iter().any(|(_, fault)| slow(fault)) {
                    return true;
                }
                let common = until.min(report.at + DOUBT).saturating_sub(from.max(report.at));
                common >= MOST_OF_A_DOUBT && trouble.silences(self.initiator, self.responder)
            })
        };
        concerned.any(silent)
    }

    fn is_lost_by_moves(&self, plan: &Plan, world: &World) -> bool {
        let met = || {
            world.moves.iter().filter(|moved| {
                [self.initiator, self.responder].contains(&moved.host) && self.meets(moved.at, moved.at)
            })
        };
        let able = |host: usize| {
            let engine = &plan.hosts[host].engine;
            !engine.overrides.legacy && engine.overrides.caps.contains(Caps::PATH)
        };
        let path = able(self.initiator)
            && able(self.responder)
            && self.is_lasting(world)
            && !self.is_nameless(world);
        met().any(|moved| {
            let other =
                met().any(|second| second.host != moved.host && second.at.abs_diff(moved.at) <= AT_ONCE);
            !path || other || !moved.known.contains(&self.number)
        })
    }

    fn takes_no_cookie(&self, world: &World, engines: [&xtp_engine::EngineConfig; 2]) -> bool {
        let unable = |engine: &xtp_engine::EngineConfig| {
            engine.overrides.legacy || !engine.overrides.caps.contains(Caps::COOKIE)
        };
        engines.into_iter().any(unable) || self.is_nameless(world)
    }

    /// Its responder made somebody give way.
    fn displaces(&self, world: &World) -> bool {
        world.hosts[self.responder].displaced() > 0
    }

    /// Its responder aborted it, which no user does, or nobody was ever told of it.
    fn was_aborted(&self, world: &World) -> bool {
        let aborted = Outcome::Closed(CloseReason::LocalAbort);
        let mut tasks = world.tasks.iter().filter(|task| task.flow == self.number);
        tasks.all(|task| task.side == Side::Initiator || task.outcome == aborted)
    }

    /// One of its FIRSTs was in the legacy formats, and the first one was not.
    fn fell_back(&self, world: &World) -> bool {
        self.association(world)
            .is_some_and(|association| association.was_nameless && !association.nameless)
    }

    /// A refusal came since its last FIRST left, and before it was over.
    fn is_refused(&self, world: &World) -> bool {
        self.association(world)
            .and_then(|association| association.refused)
            .is_some_and(|at| at <= self.until)
    }

    /// Whether it spoke the legacy formats.
    fn is_nameless(&self, world: &World) -> bool {
        self.association(world).is_some_and(Association::is_nameless)
    }

    /// Whether keys are exchanged ("lasting or not").
    fn is_lasting(&self, world: &World) -> bool {
        let service = world.flows[self.number].spec.open.service;
        let open = self
            .association(world)
            .is_some_and(|association| !association.closed_at_once);
        open && [service::UNSPECIFIED, service::STREAM].contains(&service)
    }

    /// What the links have seen of it last.
    fn association<'a>(&self, world: &'a World) -> Option<&'a Association> {
        let number = world.newest.get(&self.number)?;
        Some(&world.net.check.associations[*number])
    }
}
