//! What must be true of a group when everything is over.

use std::collections::BTreeMap;
use std::time::Duration;

use xtp_engine::group::{DropReason, GroupClose, MemberState, Require, Slow};
use xtp_link::Loss;

use super::liar;
use super::machine::Gone;
use super::member::Receiving;
use super::plan::{Disturbance, Target, Trouble, Verdict};
use super::world::{GroupWorld, receiver_at};
use crate::app::nanos;

/// A receiver that heard of its transmitter's end too late, or never, ends after so long at most: 25 s of silence (§9.14), and what a timer may be late.
const SILENCE: Duration = Duration::from_secs(32);
/// Least that is expected of a receiver that is heard, octets a second (§9.14).
const LEAST_RATE: u64 = 65_536;
/// How often a member that is behind is told where it stands, and when the third FIRST of a catch-up has come.
const TOLD: Duration = Duration::from_millis(500);
const TWO_LOST: Duration = Duration::from_millis(3_100);
/// What joining and closing take with losses.
const MARGIN: Duration = Duration::from_secs(10);

/// No receiver gives up a transmitter that stops for less than that.
const SHORT: Duration = Duration::from_secs(20);

/// Why a receiver need not be whole.
pub(super) type Excuses = Vec<&'static str>;

impl GroupWorld {
    /// When everything must be over.
    pub fn limit(&self) -> Duration {
        // Rows that follow each block unasked are sent, too.
        let fec = self.plan.options.fec.filter(|fec| fec.proactive > 0);
        let unasked = fec.map_or(Duration::ZERO, |fec| {
            self.plan.sending_time() * fec.proactive.into() / fec.symbols.max(1).into()
        });
        let quiet = self.quiet_at() + unasked;
        quiet + self.slowest() + self.transmitter_patience() + SILENCE + Duration::from_secs(30)
    }

    /// When nothing of what is planned disturbs the group any more.
    fn quiet_at(&self) -> Duration {
        let joins = self.plan.members.iter().map(|member| member.at).max();
        let wait = self.plan.options.wait;
        self.plan.calm_at().max(joins.unwrap_or_default()).max(wait) + self.plan.sending_time()
    }

    /// What slow links and readers cost beyond that.
    fn slowest(&self) -> Duration {
        let octets = self.plan.octets();
        let of = |member: &super::plan::MemberPlan| {
            let link = member.down.rate_bits_per_s.map_or(u64::MAX / 2, |rate| rate / 8);
            let reader = match member.reading {
                super::plan::Reading::Slow { octets, every } => {
                    octets as u64 * 1_000_000 / every.as_micros().max(1) as u64
                }
                _ => u64::MAX,
            };
            link.min(reader).max(1)
        };
        let least = self.plan.members.iter().map(of).min().unwrap_or(u64::MAX);
        Duration::from_micros(octets.saturating_mul(3_000_000) / least.min(1 << 40)) + self.plan.rounds()
    }

    fn transmitter_patience(&self) -> Duration {
        let missing = Duration::from_micros(self.plan.octets() * 1_000_000 / LEAST_RATE);
        self.plan.options.patience + missing + MARGIN
    }

    /// Judges what a world that is over leaves behind; how many receivers were excused, by what.
    ///
    /// # Errors
    /// The first rule that was broken.
    pub fn judge(&mut self) -> Result<BTreeMap<&'static str, u64>, String> {
        for member in 0..self.members.len() {
            self.members[member].measure()?;
        }
        let mut used = BTreeMap::new();
        for member in 0..self.members.len() {
            let excuses = self.excuses(member);
            let whole = self.judge_member(member)?;
            if whole {
                continue;
            }
            match excuses.first() {
                Some(excuse) => *used.entry(*excuse).or_default() += 1,
                None => return Err(format!("receiver {member} is not whole: {}", self.story(member))),
            }
        }
        self.judge_transmitter()?;
        self.judge_repairs()?;
        Ok(used)
    }

    /// What is true of each receiver; whether it is whole.
    fn judge_member(&self, member: usize) -> Result<bool, String> {
        let receiving = &self.members[member];
        let written = self.sender.ledger.written;
        let finished = self.sender.ledger.closed;
        let whole = finished && receiving.now.had == written && receiving.check.next == written;
        let fail = |what: &str| Err(format!("receiver {member} {what}: {}", self.story(member)));
        if self.plan.options.require == Require::Nobody {
            return Ok(receiving.check.next == written || self.loses(member));
        }
        match &receiving.now.closed {
            Some((_, GroupClose::Normal)) if !whole && !receiving.now.rejected => {
                return fail("says that all is well");
            }
            Some((_, GroupClose::Nobody | GroupClose::Protocol(_))) => return fail("ended oddly"),
            Some((at, _)) => {
                let end = self.sender_over().unwrap_or(self.now);
                let read = nanos(self.quiet_at() + self.slowest());
                if *at > end.max(read) + nanos(SILENCE) {
                    return fail("ended long after its transmitter");
                }
            }
            None => {}
        }
        let said = receiving.now.closed.is_some() || !receiving.is_alive();
        Ok(whole && (said || !receiving.found))
    }

    fn sender_over(&self) -> Option<u64> {
        self.sender_gone
            .or(self.sender.closed.as_ref().map(|(at, _)| *at))
    }

    /// Whether this receiver, or everybody, may lose packets.
    fn loses(&self, member: usize) -> bool {
        let own = &self.plan.members[member];
        own.down.loss != Loss::None
            || self.plan.uplink.loss != Loss::None
            || own.down.rate_bits_per_s.is_some()
            || own.at > Duration::ZERO
            || !matches!(own.reading, super::plan::Reading::Fast)
            || own.look > Duration::ZERO
            || own.down.jitter > Duration::ZERO
            || own.down.reorder > 0.0
            || !self.happened.is_empty()
    }

    /// Whether the window is less than half a second of the rate (§9.13): then whoever is farther away than others is behind.
    fn is_narrow(&self) -> bool {
        let options = &self.plan.options;
        let rate = options.rate.octets_per_second;
        rate == 0 || options.window < rate / 2
    }

    /// Why this receiver need not be whole.
    pub fn excuses(&self, member: usize) -> Excuses {
        let receiving = &self.members[member];
        let options = &self.plan.options;
        let mut excuses = Excuses::new();
        let mut add = |holds: bool, name: &'static str| {
            if holds {
                excuses.push(name);
            }
        };
        add(receiving.plan.left_out, "left out");
        add(receiving.machine.gone == Some(Gone::Killed), "killed");
        add(receiving.machine.gone == Some(Gone::Off), "switched off");
        add(receiving.left, "left");
        add(self.sender_gone.is_some(), "transmitter gone");
        add(receiving.plan.verdict == Verdict::Reject, "rejects");
        let list = match &options.require {
            Require::List(names) => !names.contains(&receiving.plan.join.name),
            Require::AnyOf(_) => true,
            _ => false,
        };
        add(list, "not required");
        let troubled = self.plan.troubles_of(member).next().is_some()
            || self
                .plan
                .troubles
                .iter()
                .any(|trouble| trouble.what.member().is_none());
        let slow = receiving.plan.down.rate_bits_per_s.is_some();
        let lossy = share(&receiving.plan.down.loss) > 0.06;
        // A window of less than half a second of the rate makes whoever loses anything a slow one.
        // So does a reader's own room: it is behind where it has none for 0.1 s and half of the others have (§9.10).
        let room = receiving.plan.join.capacity;
        let narrow = self.is_narrow() || room < options.rate.octets_per_second / 2;
        add(
            options.slow == Slow::Drop && (troubled || slow || self.loses(member) || narrow),
            "slow, and slow ones are dropped",
        );
        add(self.is_away_for_long(member), "away for longer than the patience");
        let bursts = matches!(receiving.plan.down.loss, Loss::GilbertElliott { .. }) && troubled;
        let chance = bursts || lossy && options.patience < Duration::from_secs(10);
        add(chance, "loses much, and the patience is short");
        // Whoever was away when the rest was done is found again by the group only as long as it lasts.
        let over = self.sender_over().unwrap_or(u64::MAX);
        let began = receiving.now.began;
        let started = self.sender.started.unwrap_or(u64::MAX);
        // Where it keeps its address a program that takes another's place can not be told from it.
        let replaced = !receiving.before.is_empty() && self.plan.target == Target::Each;
        add(replaced, "took the place of another at its address");
        let joined = self.member_of(receiving).is_some();
        let mut time_to_join = nanos(if lossy || troubled {
            MARGIN
        } else {
            Duration::from_secs(2)
        });
        if options.expect.or(options.size).is_none() {
            // As long as nobody knows how many there are, joins are spread as those of many.
            time_to_join += nanos(Duration::from_secs(1_024) / options.feedback_rate);
        }
        let began = match troubled {
            true => began.max(nanos(self.plan.calm_at())),
            false => began,
        };
        add(
            !joined && began + time_to_join > over.min(started),
            "came too late",
        );
        self.excuse_by_the_past(receiving, lossy, &mut excuses);
        if self.came_back_late(member) {
            excuses.push("came back late, and loses packets");
        }
        excuses
    }

    /// Whether it, or all of them, were cut off for so long that the patience may have been over.
    fn is_away_for_long(&self, member: usize) -> bool {
        // Of the patience a quarter may be over before a member that says nothing is asked by itself.
        let patience = self.plan.options.patience.mul_f64(0.7);
        let mut troubles = self.plan.troubles.iter();
        troubles.any(|trouble| {
            let concerns = trouble.what.member().is_none_or(|its| its == member);
            concerns
                && match trouble.what {
                    // Who slept judges nobody; receivers give up a transmitter that says nothing for 25 s.
                    Disturbance::TransmitterPause { span } => span >= SHORT,
                    what => what.span() > patience,
                }
        })
    }

    /// What somebody lacks is no longer kept, and can not be had, or not in time.
    fn excuse_by_the_past(&self, receiving: &Receiving, lossy: bool, excuses: &mut Excuses) {
        let state = self.member_of(receiving).map(|report| report.state);
        let out = |reason| state == Some(MemberState::Dropped(reason));
        if out(DropReason::Behind) && self.is_past_gone() {
            excuses.push("lacks what nobody has any more");
        }
        // Whoever loses much fetches a range in several round trips, and has room for little at a time.
        let narrow = receiving.plan.join.capacity < 32 * self.plan.options.datagram as u64;
        let many_round_trips = lossy || narrow && receiving.plan.down.loss != Loss::None;
        // Its way carries less than it is waited for.
        let link = receiving.plan.down.rate_bits_per_s.unwrap_or(u64::MAX) / 8;
        if (many_round_trips || link < LEAST_RATE) && self.was_waited_for(receiving) {
            excuses.push("fetches too slowly to be waited for");
        }
        if self.is_crowded() && self.was_waited_for(receiving) {
            excuses.push("fetches beside too many others to be waited for");
        }
    }

    /// Whether all members that were behind fetch, if they lack everything, for longer than each is given: what they share is the rate (§9.10, §9.15).
    fn is_crowded(&self) -> bool {
        let behind = self.sender.laggards.len() as u64;
        let rate = self.plan.options.rate.octets_per_second;
        let link = self.plan.uplink.rate_bits_per_s.unwrap_or(0) / 8;
        let slowest = [rate, link].into_iter().filter(|rate| *rate > 0).min();
        let octets = behind * self.plan.octets();
        slowest.is_some_and(|rate| Duration::from_secs(octets / rate) >= self.plan.options.patience)
    }

    /// Whether what was left of the patience when it was back was less than a catch-up takes that loses two FIRSTs, which leave after
    /// 0, 1 and 3 s (§2.4.2), once it is told where it stands, every 0.5 s (§9.10).
    fn came_back_late(&self, member: usize) -> bool {
        let receiving = &self.members[member];
        let report = self.member_of(receiving);
        let out = report.and_then(|report| self.sender.dropped.get(&report.member));
        let Some((at, DropReason::TooSlow)) = out else {
            return false;
        };
        let loses = receiving.plan.down.loss != Loss::None || receiving.plan.up.loss != Loss::None;
        let mut own = self.plan.troubles_of(member);
        loses && own.any(|trouble| *at < nanos(trouble.at + trouble.what.span() + TOLD + TWO_LOST))
    }

    /// Whether a member that was heard was out no earlier than §9.10 says: the patience, and a second for each 64 KiB that it lacked,
    /// after everything had left. What it lacks at its end it lacked then.
    fn was_waited_for(&self, receiving: &Receiving) -> bool {
        let report = self.member_of(receiving);
        let out = report.and_then(|report| self.sender.dropped.get(&report.member));
        let (Some((at, DropReason::TooSlow)), Some(written)) = (out, self.sender.finished) else {
            return false;
        };
        let lacked = self.sender.ledger.written.saturating_sub(receiving.now.had);
        let waited = self.plan.options.patience + Duration::from_micros(lacked * 1_000_000 / LEAST_RATE);
        *at >= written + nanos(waited)
    }

    /// What the transmitter says of the program that runs there now.
    fn member_of(&self, receiving: &Receiving) -> Option<&xtp_engine::group::MemberReport> {
        let mut reports = self.sender.reports.iter().rev();
        reports.find(|report| report.address == receiving.now.address)
    }

    /// What happened to a receiver, in words.
    fn story(&self, member: usize) -> String {
        let receiving = &self.members[member];
        let state = self.member_of(receiving).map(|report| report.state);
        format!(
            "has {} of {}, read {}, ended {:?}; the transmitter says {state:?} and ended {:?}",
            receiving.now.had,
            self.sender.ledger.written,
            receiving.check.next,
            receiving.now.closed,
            self.sender.closed
        )
    }

    /// The transmitter's end, and what it says.
    fn judge_transmitter(&self) -> Result<(), String> {
        let Some((at, why)) = &self.sender.closed else {
            return Ok(());
        };
        let options = &self.plan.options;
        let joined = !self.sender.joined.is_empty();
        match why {
            GroupClose::Normal => {}
            // Nobody came, or nobody stayed until it began.
            GroupClose::Nobody if self.sender.started.is_none() => {}
            why => return Err(format!("the transmitter ended: {why}")),
        }
        if options.require == Require::Nobody {
            return Ok(());
        }
        for report in &self.sender.reports {
            let open = matches!(
                report.state,
                MemberState::Pending | MemberState::Holder | MemberState::Laggard
            );
            if open && matches!(options.require, Require::All) {
                return Err(format!(
                    "the transmitter ended, and its member is open: {report:?}"
                ));
            }
            self.judge_report(report)?;
        }
        if let Require::AnyOf(count) = options.require {
            // A liar that says that it has all is one of them, as long as it is not asked to say that it is done.
            let done = self.sender.done.len() + usize::from(self.liar.is_some());
            let alive = self.members.iter().filter(|member| member.is_alive()).count();
            let quiet = self.plan.troubles.is_empty() && joined && !self.is_past_gone();
            let rejects = self
                .plan
                .members
                .iter()
                .any(|member| member.verdict == Verdict::Reject);
            if quiet
                && !rejects
                && options.slow == Slow::Wait
                && done < alive.min(count as usize)
                && self.sender.joined.len() >= alive
            {
                return Err(format!("{done} are done where any {count} were to be"));
            }
        }
        let last = self.sender.done.values().max().copied();
        let last = last
            .unwrap_or(0)
            .max(nanos(self.quiet_at()))
            .max(self.sender.started.unwrap_or(0));
        let most = last + nanos(self.transmitter_patience() + self.slowest());
        match *at > most {
            true => Err(format!(
                "the transmitter ended {} s after everything was over",
                (at - last) / 1_000_000_000
            )),
            false => Ok(()),
        }
    }

    /// Nobody is out for a reason that does not hold.
    fn judge_report(&self, report: &xtp_engine::group::MemberReport) -> Result<(), String> {
        let MemberState::Dropped(reason) = report.state else {
            return Ok(());
        };
        // Whatever becomes of a liar is its own doing.
        if report.address == liar::address() {
            return Ok(());
        }
        let found = receiver_at(report.address).and_then(|at| Some((at, self.members.get(at)?)));
        let Some((member, receiving)) = found else {
            return Err(format!("a member that is nobody: {report:?}"));
        };
        let restarted = !receiving.before.is_empty();
        let holds = match reason {
            DropReason::Rejected => receiving.now.rejected || restarted,
            DropReason::Left => receiving.left || restarted,
            DropReason::Unreachable => {
                receiving.machine.gone == Some(Gone::Killed) || receiving.left || restarted
            }
            DropReason::Replaced => restarted,
            DropReason::Slow => self.plan.options.slow == Slow::Drop,
            // However little is kept: what its user gives back makes everybody whole (§9.7).
            DropReason::Behind => self.is_past_gone(),
            _ => true,
        };
        // Who drops slow ones drops silent ones after four polls. A transmitter that was stopped itself judges nobody for it; receivers
        // give up one that says nothing for 25 s.
        let stopped = |trouble: &Trouble| matches!(trouble.what, Disturbance::TransmitterPause { span } if span < SHORT);
        let quiet = self.happened.iter().all(stopped) && self.plan.options.slow != Slow::Drop;
        let patient = reason == DropReason::Silent && quiet && share(&receiving.plan.down.loss) < 0.1;
        match holds && !patient {
            true => Ok(()),
            false => Err(format!(
                "receiver {member} is out for a reason that does not hold: {report:?}"
            )),
        }
    }

    /// Repairs keep to the information bound where little is lost and nothing else goes wrong.
    fn judge_repairs(&self) -> Result<(), String> {
        let options = &self.plan.options;
        let calm = self.plan.troubles.is_empty()
            && self.plan.target == Target::Group
            && options.require == Require::All
            && options.expect == Some(self.members.len() as u32)
            && self.sender.joined.len() == self.members.len()
            && self.sender.dropped.is_empty()
            && share(&self.plan.uplink.loss) <= 0.05
            && self.members.iter().all(|member| {
                let link = &member.plan.down;
                share(&link.loss) <= 0.05
                    && link.rate_bits_per_s.is_none()
                    // What is overtaken by a question is asked for: nobody can tell it from what is lost.
                    && link.jitter.is_zero()
                    && link.reorder == 0.0
                    && member.plan.socket_buffer > 1 << 20
                    && (!self.plan.is_collected() || member.plan.join.capacity >= self.plan.octets())
            })
            // Whoever goes back has everything sent again from a hole on; and who is not heard in a bucket may have no room.
            && !self.plan.goes_back();
        if !calm {
            return Ok(());
        }
        let bound = information_bound(self);
        let (proactive, blocks) = match (options.fec, self.watch.coding) {
            (Some(fec), Some(coding)) => (
                u64::from(fec.proactive),
                self.sender.ledger.written.div_ceil(coding.block),
            ),
            _ => (0, 0),
        };
        // With more marks than a descriptor holds a symbol is sent as data, too, in as many packets as there were.
        let usual = self.watch.coding.map_or(u64::MAX / 2, |coding| {
            self.sender.ledger.written / coding.symbol + 4
        });
        if self.watch.data > usual + usual / 8 {
            return Ok(());
        }
        // The packets of such a symbol leave again with every row of their block, nearly all of those that are more than one a symbol.
        let symbols = self.watch.coding.map_or(u64::MAX, |coding| {
            self.sender.ledger.written.div_ceil(coding.symbol)
        });
        let cut = self.watch.data.saturating_sub(symbols);
        let again = if proactive + bound > 0 { 2 * cut } else { 0 };
        let most = bound + bound / 4 + proactive * blocks + again + REPAIR_MARGIN;
        let many = match self.liar {
            // What a liar asks for is no loss.
            Some(_) => self.watch.repaired > most * self.symbol() + self.cost_of_a_liar(),
            None => self.watch.repairs > most,
        };
        match many {
            true => Err(format!(
                "{} packets repaired where {bound} were needed ({} data packets, {} receivers)",
                self.watch.repairs,
                self.watch.data,
                self.members.len()
            )),
            false => Ok(()),
        }
    }
}

/// Repairs beyond the bound and a quarter of it: those lost themselves, and the short last block, repaired by data.
const REPAIR_MARGIN: u64 = 12;

/// The least number of packets that repair what was lost on first transmission: with parity the greatest loss of each block
/// at one receiver; without, what anybody lost.
pub fn information_bound(world: &GroupWorld) -> u64 {
    let watch = &world.watch;
    let Some(coding) = watch.coding else {
        return watch.firsts.iter().filter(|first| first.lost != 0).count() as u64;
    };
    let mut blocks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for first in &watch.firsts {
        let lost = blocks
            .entry(first.seq / coding.block)
            .or_insert_with(|| vec![0; world.members.len()]);
        for (member, count) in lost.iter_mut().enumerate() {
            *count += first.lost >> member & 1;
        }
    }
    blocks.values().filter_map(|lost| lost.iter().max()).sum()
}

fn share(loss: &Loss) -> f64 {
    match *loss {
        Loss::None => 0.0,
        Loss::Random(share) => share,
        // One in a bad state loses for as long as it lasts.
        Loss::GilbertElliott { .. } => 1.0,
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
