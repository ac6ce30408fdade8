//! The transmitter of a simulated group, and its user.

use std::collections::{BTreeMap, BTreeSet};

use xtp_engine::group::{
    CastStats, DropReason, GroupClose, GroupEvent, GroupId, MemberId, MemberReport, MemberState,
};

use super::machine::Machine;
use super::past::Memory;
use super::plan::{CastPlan, Message};
use super::world::receiver_at;
use crate::app::nanos;
use crate::check::stream::Ledger;
use crate::content;

/// A transmitter, what its user has written and what it was told.
pub struct Sending {
    /// Its host.
    pub machine: Machine,
    /// The group.
    pub id: GroupId,
    /// What was written.
    pub ledger: Ledger,
    /// When data began to leave.
    pub started: Option<u64>,
    /// How it ended, and when.
    pub closed: Option<(u64, GroupClose)>,
    /// When each member was done.
    pub done: BTreeMap<MemberId, u64>,
    /// When and why each member was dropped.
    pub dropped: BTreeMap<MemberId, (u64, DropReason)>,
    /// Who joined, and when.
    pub joined: BTreeMap<MemberId, u64>,
    /// Receivers that were behind, by their place in the plan.
    pub laggards: BTreeSet<usize>,
    /// What it says of its members in the end.
    pub reports: Vec<MemberReport>,
    /// Its counters in the end.
    pub stats: CastStats,
    /// What its user was asked for of the past.
    pub memory: Memory,
    messages: Vec<Message>,
    /// Which message is next, how much of it was taken, whether its tag was.
    at: usize,
    taken: u32,
    tagged: bool,
    /// When the user goes on.
    next: u64,
    /// The engine has no room.
    full: bool,
    /// When its user had written everything.
    pub finished: Option<u64>,
    /// Not told to the judge yet.
    news: Vec<GroupEvent>,
}

impl Sending {
    /// A transmitter that has written nothing.
    pub fn new(machine: Machine, id: GroupId, plan: &CastPlan, key: u64) -> Self {
        let messages = if plan.is_datagram {
            Vec::new()
        } else {
            plan.messages.clone()
        };
        let next = messages.first().map_or(0, |message| nanos(message.pause));
        Self {
            machine,
            id,
            ledger: Ledger {
                key,
                ..Ledger::default()
            },
            started: None,
            closed: None,
            done: BTreeMap::new(),
            dropped: BTreeMap::new(),
            joined: BTreeMap::new(),
            laggards: BTreeSet::new(),
            reports: Vec::new(),
            stats: CastStats::default(),
            memory: Memory::new(plan.past),
            messages,
            at: 0,
            taken: 0,
            tagged: false,
            next,
            full: false,
            finished: None,
            news: Vec::new(),
        }
    }

    /// A transmitter whose user has handed over one datagram.
    pub fn of_datagram(machine: Machine, id: GroupId, plan: &CastPlan, key: u64) -> Self {
        let mut sending = Self::new(machine, id, plan, key);
        sending.ledger.data(0, plan.octets(), true);
        sending.ledger.closed = true;
        sending.finished = Some(0);
        sending
    }

    /// Whether its user has written everything.
    pub fn has_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// When its user wants to act.
    pub fn user_at(&self) -> u64 {
        let writes = match self.full || self.has_finished() || self.closed.is_some() {
            true => u64::MAX,
            false => self.next,
        };
        writes.min(self.memory.at())
    }

    /// Hears what of the past its user is asked for.
    ///
    /// # Errors
    /// What nobody should ask for.
    pub fn remember(&mut self, world: u64) -> Result<(), String> {
        let stats = self
            .machine
            .driver
            .command()
            .cast_stats(xtp_engine::Time::ZERO, self.id);
        let stats = stats.map_err(|error| format!("no counters: {error}"))?;
        let left = (stats.position, stats.acknowledged);
        self.memory.ask(world, &mut self.machine.driver, left)
    }

    /// Events since the last call.
    pub fn take_news(&mut self) -> Vec<GroupEvent> {
        core::mem::take(&mut self.news)
    }

    /// Takes what the engine tells.
    ///
    /// # Errors
    /// What can not be.
    pub fn hear(&mut self, world: u64) -> Result<(), String> {
        while let Some((id, event)) = self.machine.driver.command().poll_group_event() {
            if id != self.id {
                return Err(format!("the transmitter heard of a party it has not: {event:?}"));
            }
            if self.closed.is_some() {
                return Err(format!("the transmitter is told {event:?} after its end"));
            }
            match &event {
                GroupEvent::Started => self.started = self.started.or(Some(world)),
                GroupEvent::Joined(member) => {
                    self.joined.entry(*member).or_insert(world);
                }
                GroupEvent::Done(member) if self.done.insert(*member, world).is_some() => {
                    return Err(format!("{member:?} is done twice"));
                }
                GroupEvent::Dropped(member, reason)
                    if self.dropped.insert(*member, (world, *reason)).is_some() =>
                {
                    return Err(format!("{member:?} is dropped twice"));
                }
                GroupEvent::Writable => self.full = false,
                GroupEvent::Closed(why) => {
                    self.closed = Some((world, why.clone()));
                    self.note()?;
                }
                _ => {}
            }
            if let GroupEvent::Joined(member) | GroupEvent::Laggard(member) = event {
                self.note_laggard(member)?;
            }
            self.news.push(event);
        }
        Ok(())
    }

    /// Who is behind was behind once, whatever becomes of it.
    fn note_laggard(&mut self, member: MemberId) -> Result<(), String> {
        self.note()?;
        let behind = |report: &&MemberReport| {
            let open = matches!(report.state, MemberState::Laggard | MemberState::Pending);
            report.member == member && open
        };
        if let Some(report) = self.reports.iter().find(behind) {
            self.laggards.extend(receiver_at(report.address));
        }
        Ok(())
    }

    /// Asks for its report and counters.
    ///
    /// # Errors
    /// The engine does not know its own group.
    pub fn note(&mut self) -> Result<(), String> {
        let (now, id) = (xtp_engine::Time::ZERO, self.id);
        let driver = &mut self.machine.driver;
        self.reports = driver
            .command()
            .group_members(now, id)
            .map_err(|error| format!("no report: {error}"))?;
        self.stats = driver
            .command()
            .cast_stats(now, id)
            .map_err(|error| format!("no counters: {error}"))?;
        Ok(())
    }

    /// The user writes what it has to write.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn act(&mut self, world: u64) -> Result<(), String> {
        let now = self.machine.local(world);
        self.memory
            .answer(world, &mut self.machine.driver, &self.ledger)?;
        while self.next <= world && !self.full && !self.has_finished() && self.closed.is_none() {
            let Some(message) = self.messages.get(self.at).cloned() else {
                self.finished = Some(world);
                self.ledger.closed = true;
                let done = self.machine.driver.command().group_finish(now, self.id);
                return done.map_err(|error| format!("finish: {error}"));
            };
            let driver = &mut self.machine.driver;
            if let Some(tag) = message.tag.filter(|_| !self.tagged) {
                let bound = driver.command().group_tag(now, self.id, tag);
                bound.map_err(|error| format!("tag: {error}"))?;
                self.ledger.tag(self.ledger.written, tag);
                self.tagged = true;
            }
            let rest = message.octets - self.taken;
            let data = content::make(self.ledger.key, self.ledger.written, rest as usize);
            let sent = driver.command().group_send(now, self.id, data, message.eom);
            let count = sent.map_err(|error| format!("send: {error}"))?;
            if count > rest as usize {
                return Err(format!("{count} octets taken of {rest} offered"));
            }
            let all = count == rest as usize;
            self.ledger
                .data(self.ledger.written, count as u64, message.eom && all);
            self.taken += count as u32;
            if !all {
                self.full = true;
                return Ok(());
            }
            self.at += 1;
            (self.taken, self.tagged) = (0, false);
            let pause = self.messages.get(self.at).map(|message| nanos(message.pause));
            self.next = world + pause.unwrap_or_default();
        }
        Ok(())
    }
}
