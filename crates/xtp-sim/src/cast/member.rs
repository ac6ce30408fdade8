//! A receiver of a simulated group, and its user.

use core::net::SocketAddr;

use xtp_engine::group::{GroupClose, GroupEvent, GroupId};
use xtp_engine::{Confirm, Read};

use super::machine::{Gone, Machine};
use super::plan::{MemberPlan, Reading, Verdict};
use crate::app::nanos;
use crate::check::stream::{Ledger, Promise, StreamCheck};

/// Most octets that are read at once.
const MOST: usize = 1 << 20;

/// What is known of a receiver's program, running or ended.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// Where its endpoint's socket was bound.
    pub address: SocketAddr,
    /// Octets it had without a gap.
    pub had: u64,
    /// Octets its user had read.
    pub read: u64,
    /// Its user had said that all is well.
    pub confirmed: bool,
    /// Its user had rejected what came.
    pub rejected: bool,
    /// When it began.
    pub began: u64,
    /// How it ended, and when.
    pub closed: Option<(u64, GroupClose)>,
}

/// A receiver and what its user has seen.
pub struct Receiving {
    /// Its host.
    pub machine: Machine,
    /// How it was planned.
    pub plan: MemberPlan,
    /// Its subscription, once it has one.
    pub id: Option<GroupId>,
    /// What its user read.
    pub check: StreamCheck,
    /// The program that runs now.
    pub now: ProgramRun,
    /// Those before.
    pub before: Vec<ProgramRun>,
    /// It heard a transmitter.
    pub found: bool,
    /// It was told that everything is there.
    pub complete_at: Option<u64>,
    /// Its user let go.
    pub left: bool,
    /// Its links carry nothing.
    pub cut: bool,
    /// Its stream may begin where the transmitter still keeps it.
    pub begins_anywhere: bool,
    readable: bool,
    next_read: u64,
    says_at: u64,
    promise: Promise,
}

impl Receiving {
    /// A receiver that has not joined yet.
    pub fn new(machine: Machine, plan: MemberPlan, promise: Promise) -> Self {
        Self {
            now: ProgramRun {
                address: machine.address,
                had: 0,
                read: 0,
                confirmed: false,
                rejected: false,
                began: nanos(plan.at),
                closed: None,
            },
            machine,
            id: None,
            check: StreamCheck::new(promise),
            before: Vec::new(),
            found: false,
            complete_at: None,
            left: false,
            cut: false,
            begins_anywhere: promise == Promise::Gaps,
            readable: false,
            next_read: 0,
            says_at: u64::MAX,
            promise,
            plan,
        }
    }

    /// Whether there is, or will be, a program that takes part.
    pub fn is_alive(&self) -> bool {
        self.machine.gone.is_none() && !self.left && !self.plan.left_out
    }

    /// Whether nothing is expected of it any more.
    pub fn is_over(&self) -> bool {
        !self.is_alive() || self.now.closed.is_some()
    }

    /// Whether its user has not read yet what came before its end: a slow one goes on for as long as that takes.
    pub fn is_reading(&self) -> bool {
        self.is_alive() && self.readable
    }

    /// The program that had this address; of several the newest that had so many octets, if there is one, and of these one whose user
    /// has confirmed: what it said may be read when the next program has its place, and of nothing that one has all, too.
    pub fn instance(&self, address: SocketAddr, octets: u64) -> Option<&ProgramRun> {
        let all = self.before.iter().chain([&self.now]).rev();
        let mut its = all.filter(|instance| instance.address == address);
        let mut had = its.clone().filter(|instance| instance.had == octets);
        had.clone()
            .find(|instance| instance.confirmed)
            .or_else(|| had.next())
            .or_else(|| its.next())
    }

    /// Joins if it is time.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn begin(&mut self, world: u64) -> Result<(), String> {
        if self.id.is_some() || self.left || self.plan.left_out || world < self.now.began {
            return Ok(());
        }
        let now = self.machine.local(world);
        let joined = self.machine.driver.command().join(now, self.plan.join.clone());
        self.id = Some(joined.map_err(|error| format!("join: {error}"))?);
        Ok(())
    }

    /// When its user wants to act.
    pub fn user_at(&self) -> u64 {
        if self.left || self.plan.left_out {
            return u64::MAX;
        }
        if self.id.is_none() {
            return self.now.began;
        }
        let read = if self.readable { self.next_read } else { u64::MAX };
        read.min(self.says_at)
    }

    /// Takes what the engine tells.
    ///
    /// # Errors
    /// What can not be.
    pub fn hear(&mut self, world: u64, ledger: &Ledger) -> Result<(), String> {
        while let Some((id, event)) = self.machine.driver.command().poll_group_event() {
            if Some(id) != self.id {
                return Err(format!("told {event:?} of a party it has not"));
            }
            if self.left {
                // What came while its user let go is not measured any more.
                continue;
            }
            if let Some((_, why)) = &self.now.closed
                && event != GroupEvent::Readable
            {
                return Err(format!("told {event:?} after its end ({why})"));
            }
            match event {
                GroupEvent::Found(_) => {}
                GroupEvent::Readable => self.readable = true,
                GroupEvent::Complete => {
                    self.complete(world, ledger)?;
                }
                GroupEvent::Closed(why) => {
                    self.measure()?;
                    self.now.closed = Some((world, why));
                    // What came can still be read.
                    self.readable = true;
                }
                event => return Err(format!("a receiver is told {event:?}")),
            }
        }
        Ok(())
    }

    fn complete(&mut self, world: u64, ledger: &Ledger) -> Result<(), String> {
        self.measure()?;
        if self.complete_at.is_some() {
            return Err("complete twice".to_owned());
        }
        self.complete_at = Some(world);
        if self.promise == Promise::Reliable && (!ledger.closed || self.now.had != ledger.written) {
            let (had, written) = (self.now.had, ledger.written);
            return Err(format!("complete with {had} octets of {written}"));
        }
        self.says_at = match self.plan.verdict {
            Verdict::Confirm { after } if self.plan.join.confirm == Confirm::Delivered => {
                world + nanos(after)
            }
            Verdict::Confirm { .. } => u64::MAX,
            Verdict::Reject => world,
        };
        Ok(())
    }

    /// What the engine says that it has.
    ///
    /// # Errors
    /// It does not know its own subscription.
    pub fn measure(&mut self) -> Result<(), String> {
        let Some(id) = self.id.filter(|_| !self.left && self.machine.gone.is_none()) else {
            return Ok(());
        };
        let stats = self
            .machine
            .driver
            .command()
            .subscription_stats(xtp_engine::Time::ZERO, id);
        let stats = stats.map_err(|error| format!("no counters: {error}"))?;
        self.now.had = stats.octets;
        // Who waited in vain for an answer listens again.
        self.found = stats.transmitter.is_some();
        self.now.read = self.check.next;
        Ok(())
    }

    /// Its user reads and says what it has to say.
    ///
    /// # Errors
    /// What was read is not what was written.
    pub fn act(&mut self, world: u64, ledger: &Ledger) -> Result<(), String> {
        let Some(id) = self.id.filter(|_| !self.left) else {
            return Ok(());
        };
        let now = self.machine.local(world);
        if self.says_at <= world {
            self.says_at = u64::MAX;
            let driver = &mut self.machine.driver;
            let said = match self.plan.verdict {
                Verdict::Confirm { .. } => driver.command().group_confirm(now, id),
                Verdict::Reject => driver.command().group_reject(now, id, "not as it should be"),
            };
            said.map_err(|error| format!("verdict: {error}"))?;
            match self.plan.verdict {
                Verdict::Confirm { .. } => self.now.confirmed = true,
                Verdict::Reject => self.now.rejected = true,
            }
        }
        if let Reading::From(at) = self.plan.reading {
            self.next_read = self.next_read.max(nanos(at));
        }
        if !self.readable || self.next_read > world {
            return Ok(());
        }
        let mut room = match self.plan.reading {
            Reading::Slow { octets, .. } => octets,
            Reading::Fast | Reading::From(_) => usize::MAX,
        };
        while room > 0 {
            let item = self.machine.driver.command().group_read(now, id, room.min(MOST));
            let item = item.map_err(|error| format!("read: {error}"))?;
            if let (
                true,
                0,
                Read::Data { offset, .. } | Read::Tag { offset, .. } | Read::Gap { offset, .. },
            ) = (
                self.begins_anywhere,
                self.check.checked + self.check.missing,
                &item,
            ) {
                // Where nobody is waited for, the stream begins with what is heard first (§9.16); and for who comes late
                // with the oldest octet that is kept (§9.10).
                self.check.next = *offset;
            }
            if self.begins_anywhere && self.check.next == 0 && item == Read::End {
                // It came when all that it could be given had left.
                self.measure()?;
                self.check.next = self.now.had;
            }
            let before = self.check.next;
            self.check.item(&item, ledger)?;
            if matches!(item, Read::Pending | Read::End) {
                self.readable = false;
                break;
            }
            room = room.saturating_sub((self.check.next - before) as usize);
        }
        if let Reading::Slow { every, .. } = self.plan.reading {
            self.next_read = world + nanos(every);
        }
        self.now.read = self.check.next;
        Ok(())
    }

    /// Its user lets go, whatever is missing.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn leave(&mut self, world: u64) -> Result<(), String> {
        self.measure()?;
        self.left = true;
        let now = self.machine.local(world);
        match self.id {
            Some(id) => {
                let released = self.machine.driver.command().group_release(now, id);
                released.map_err(|error| format!("release: {error}"))
            }
            None => Ok(()),
        }
    }

    /// The program ends.
    ///
    /// # Errors
    /// What its last counters say can not be.
    pub fn end(&mut self, why: Gone) -> Result<(), String> {
        self.measure()?;
        self.machine.end(why);
        Ok(())
    }

    /// Another program takes its place.
    pub fn restart(&mut self, world: u64, machine: Machine) {
        self.machine = machine;
        self.id = None;
        self.check = StreamCheck::new(self.promise);
        let next = ProgramRun {
            address: self.machine.address,
            had: 0,
            read: 0,
            confirmed: false,
            rejected: false,
            began: world,
            closed: None,
        };
        self.before.push(core::mem::replace(&mut self.now, next));
        (self.found, self.complete_at, self.readable) = (false, None, false);
        (self.next_read, self.says_at) = (0, u64::MAX);
    }
}
