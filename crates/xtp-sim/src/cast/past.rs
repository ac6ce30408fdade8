//! The past of a stream (§9.7): little of it is kept, and the transmitter's user gives back the rest late, in pieces of any size, or
//! does not have it any more. And tags where ranges end: between two symbols.

use std::collections::VecDeque;
use std::time::Duration;

use xtp_engine::group::{HistoryItem, Require, Slow};
use xtp_engine::{Driver, HistoryWish, Rate};

use super::plan::{CastPlan, Message};
use crate::app::nanos;
use crate::check::stream::{Ledger, Standing};
use crate::content;
use crate::rng::Rng;

/// A group of more receivers than that is not given a long stream: its world would cost too much.
const FEW: usize = 10;

/// Octets a second for which somebody is waited for who is slow (§9.10).
const TRICKLE: u64 = 65_536;

/// How the transmitter's user answers when it is asked for the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastPlan {
    /// How long it takes.
    pub after: Duration,
    /// Octets that it gives at once at most, whatever it is asked for.
    pub piece: usize,
    /// After so many answers it has nothing any more.
    pub forgets_after: Option<u32>,
}

impl CastPlan {
    /// Of some streams next to nothing is kept; of most of these the user has the rest. Drawn apart.
    pub(super) fn draw_past(&mut self, rng: &mut Rng) {
        if self.is_datagram || self.options.require == Require::Nobody || !rng.percent(20) {
            return;
        }
        if self.members.len() <= FEW && rng.percent(75) {
            self.lengthen(rng);
        }
        let few = self.options.datagram as u64;
        self.options.keep = rng.pick(&[0, 0, few, self.octets() / 8]);
        if rng.percent(15) {
            return;
        }
        self.options.history = true;
        let after = Duration::from_micros(rng.pick(&[0, 0, 300, 5_000, 60_000]));
        // Less than so much a second is too slow to be waited for (§9.10).
        let least = (4 * TRICKLE * after.as_micros() as u64 / 1_000_000) as usize;
        self.past = Some(PastPlan {
            after,
            piece: (rng.pick(&[1_000, 5_000, 1 << 20]) * rng.range(1, 3) as usize).max(least),
            forgets_after: rng.percent(10).then(|| rng.range(0, 3) as u32),
        });
        let late = self.sending_time() * rng.range(200, 950) as u32 / 1_000;
        let last = self.members.len() - 1;
        if last > 0 && self.members[last].at < late && rng.percent(60) {
            if let Some(expected) = self.options.expect.as_mut().filter(|expected| **expected > 1) {
                *expected -= 1;
            }
            self.members[last].at = late;
        }
    }

    /// A piece ends with its message, and a tag is one: who has many gives each soon.
    pub(super) fn hurry_past(&mut self) {
        let pieces = 2 * self.messages.len() as u64 + 1;
        let most = Duration::from_micros(self.octets() * 1_000_000 / (4 * TRICKLE * pieces));
        if let Some(past) = &mut self.past {
            past.after = past.after.min(most);
        }
    }

    /// Whether nobody ever has what is no longer kept: who comes late begins with the oldest octet that is (§9.10).
    pub(super) fn forgets(&self) -> bool {
        let given = self.past.is_some() && self.options.slow == Slow::CatchUp;
        self.options.keep < self.octets() && !given
    }

    /// So much that somebody can come late, or be away meanwhile.
    fn lengthen(&mut self, rng: &mut Rng) {
        self.options.rate = Rate {
            octets_per_second: rng.pick(&[200_000, 400_000]),
            burst: 3_000,
        };
        self.uplink.rate_bits_per_s = None;
        let mut rest = rng.range(100_000, 250_000);
        let usual = rng.pick(&[3_000, 10_000, 40_000]);
        self.messages.clear();
        while rest > 0 {
            let octets = rng.range(1, 2 * usual).min(rest);
            rest -= octets;
            self.messages.push(Message {
                octets: octets as u32,
                tag: rng.percent(40).then(|| rng.number()),
                eom: rng.percent(70),
                pause: Duration::ZERO,
            });
        }
    }

    /// In some streams tags begin less than eight octets before a symbol, or what would be one, ends. Drawn apart.
    pub(super) fn draw_seams(&mut self, symbol: u64, rng: &mut Rng) {
        if self.is_datagram || !rng.percent(12) {
            return;
        }
        let total = self.octets();
        let few = rng.percent(50);
        let (mut at, mut tag) = (0, None);
        self.messages.clear();
        while at < total {
            let begins = at + if tag.is_some() { 8 } else { 0 };
            let symbols = if few { rng.range(1, 6) } else { 1 };
            // Where the next tag begins.
            let next = (begins / symbol + symbols + 1) * symbol - rng.range(1, 9);
            self.messages.push(Message {
                octets: (next - begins) as u32,
                tag,
                eom: rng.percent(50),
                pause: Duration::ZERO,
            });
            (at, tag) = (next, Some(rng.number()));
        }
    }
}

/// What the transmitter's user was asked for.
#[derive(Debug, Default)]
pub struct Memory {
    plan: Option<PastPlan>,
    /// Not answered yet, and when that will be.
    asked: VecDeque<(u64, HistoryWish)>,
    /// How often it gave something.
    pub given: u32,
    /// It did not have what it was asked for.
    pub is_lost: bool,
}

impl Memory {
    pub(super) fn new(plan: Option<PastPlan>) -> Self {
        Self {
            plan,
            ..Self::default()
        }
    }

    /// When it answers next.
    pub(super) fn at(&self) -> u64 {
        self.asked.front().map_or(u64::MAX, |(at, _)| *at)
    }

    /// Takes what it is asked for; `left`: so much of the stream has left, and so much of that all have who hold the window.
    ///
    /// # Errors
    /// It is asked for what it can not have, or for what the engine still keeps.
    pub(super) fn ask(
        &mut self,
        world: u64,
        driver: &mut Driver,
        (left, acknowledged): (u64, u64),
    ) -> Result<(), String> {
        while let Some(wish) = driver.poll_history() {
            let plan = self.plan.ok_or("the past was asked for, and nobody has it")?;
            let (from, most) = (wish.from(), wish.most() as u64);
            if most == 0 || from + most > left || from >= acknowledged {
                return Err(format!(
                    "{most} octets at {from} were asked for: {left} left, {acknowledged} are acknowledged"
                ));
            }
            self.asked.push_back((world + nanos(plan.after), wish));
        }
        Ok(())
    }

    /// Answers what it has had time for.
    ///
    /// # Errors
    /// It was asked for what nobody wrote.
    pub(super) fn answer(&mut self, world: u64, driver: &mut Driver, ledger: &Ledger) -> Result<(), String> {
        let Some(plan) = self.plan else { return Ok(()) };
        while let Some(&(_, wish)) = self.asked.front().filter(|(at, _)| *at <= world) {
            self.asked.pop_front();
            if plan.forgets_after.is_some_and(|most| self.given >= most) {
                self.is_lost = true;
                driver.history(&wish, None);
                continue;
            }
            self.given += 1;
            let item = match ledger.standing(wish.from(), plan.piece as u64)? {
                Standing::Tag(tag) => HistoryItem::Tag(tag),
                Standing::Octets { len, eom } => {
                    let bytes = content::make(ledger.key, wish.from(), len as usize);
                    match eom {
                        true => HistoryItem::Octets {
                            bytes,
                            end_of_message: true,
                        },
                        false => bytes.into(),
                    }
                }
            };
            driver.history(&wish, Some(item));
        }
        Ok(())
    }
}

impl super::world::GroupWorld {
    /// Whether nobody has any more what somebody may lack that comes late or falls behind.
    pub(super) fn is_past_gone(&self) -> bool {
        self.plan.forgets() || self.sender.memory.is_lost
    }
}
