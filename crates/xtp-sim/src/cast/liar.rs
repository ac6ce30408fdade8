//! A member that says of itself what is not so, many times a second, and falls silent in the end (§9.18). It has no engine: what
//! it says is made of what it overhears of the transmitter.

use core::net::SocketAddr;
use std::time::Duration;

use xtp_engine::group::{Feedback, Mode, Require, Slow};
use xtp_wire::{
    Body, Control, DELAY_NONE, Gnack, GnackBlock, GroupHeader, GroupTerms, MAX_GNACK_BLOCKS, Options, Packet,
    ToMember, ToTransmitter, Traffic, Xcntl,
};

use super::forged::{Join, datagram, octets, outside};
use super::network::Travelling;
use super::plan::{CastPlan, Target};
use super::world::{GroupWorld, group_address, transmitter_address};
use crate::app::nanos;
use crate::rng::Rng;

/// Time between two joins of one that is not answered.
const JOINS: u64 = 250_000_000;
/// What a member is told that says nothing, a second: where it stands, and copies.
const TOLD_A_SECOND: u64 = 10;
/// Octets of room of one that has next to none.
const LITTLE: u64 = 12_000;
/// A member that never moves, takes no more or asks for too much is left behind after so long, or four round trips (§9.10).
const BEHIND: Duration = Duration::from_millis(100);
/// Everybody is looked at each twentieth of a second: to see it, to judge it, and the window opens.
const LOOKS: Duration = Duration::from_millis(150);
/// Of a hundred liars so many answer early.
const EARLY: u32 = 15;
/// How long a question has waited for an answer that is early, as that answer says, microseconds.
const WAITED: u32 = 1_000_000;
/// More room than any stream takes.
const ROOM: u64 = 1 << 40;

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// It has nothing.
    Nothing,
    /// It has what did not leave.
    Beyond,
    /// It lacks all symbols of every block, whether it says that it has them or not.
    Needs,
    /// It has all that left.
    Whole,
    /// It has no room for what follows.
    Full,
    /// It has all but the newest octet.
    AllButEnd,
    /// Each time another one of these.
    Any,
    /// It has all that left, and answers each question before the question can have come: its round trip is next to nothing.
    Early,
}

impl Lie {
    const ALL: [Self; 8] = [
        Self::Nothing,
        Self::Beyond,
        Self::Needs,
        Self::Whole,
        Self::Full,
        Self::AllButEnd,
        Self::Any,
        Self::Early,
    ];
    /// Of these so many are drawn with the other parts of a seed.
    const DRAWN: usize = 7;

    /// Whether what it says shows that it is behind or asks for too much: then it holds the window for no longer, and its
    /// silence costs nothing.
    const fn shows(self) -> bool {
        matches!(self, Self::Nothing | Self::Needs | Self::Full)
    }

    /// Whether each of its words says that what had left has arrived: it may be so, and a window that is full waits for the next of them.
    const fn moves(self) -> bool {
        matches!(self, Self::Whole | Self::AllButEnd)
    }

    /// Whether it says that less arrives than left: under every policy that is believed, and a liar may so become the pacemaker (§9.11).
    const fn slows(self) -> bool {
        matches!(self, Self::Nothing | Self::Needs | Self::Any)
    }
}

/// What a liar says, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiarPlan {
    /// What.
    pub lie: Lie,
    /// When it joins.
    pub at: Duration,
    /// Time between two words.
    pub every: Duration,
    /// For how long it speaks.
    pub span: Duration,
    /// It has a name.
    pub is_named: bool,
    /// It speaks to the whole group, where answers are collected (§9.17).
    pub to_all: bool,
}

impl CastPlan {
    /// Whether a liar can be a member.
    pub(super) fn admits_liars(&self) -> bool {
        // Answers of 64 members can be collected (§9.17).
        let has_place = !self.is_collected() || self.members.len() < 64;
        has_place
            && self.target == Target::Group
            && self.options.require != Require::Nobody
            && !self.is_datagram
    }

    /// Draws a member that lies.
    pub(super) fn draw_liar(&mut self, rng: &mut Rng) {
        let late = rng.percent(25);
        let busy = self.sending_time().as_millis() as u64;
        // Where everybody is waited for that is heard, it is sent whatever it wants (§9.18).
        let seconds = match self.options.slow {
            Slow::Wait => 1,
            _ => rng.pick(&[1, 4, 16]),
        };
        let liar = LiarPlan {
            lie: rng.pick(&Lie::ALL[..Lie::DRAWN]),
            at: Duration::from_millis(if late { rng.range(1, busy + 20) } else { 0 }),
            every: Duration::from_millis(rng.pick(&[1, 2, 5, 20, 100])),
            span: Duration::from_millis(500 * seconds * rng.range(1, 3)),
            is_named: rng.percent(80),
            to_all: self.is_collected() && rng.percent(50),
        };
        self.liar = Some(liar);
        if !late {
            self.options.expect = self.options.expect.map(|count| count + 1);
        }
    }

    /// One liar in so many answers early instead: drawn apart, so that what else a seed draws stays what it was.
    pub(super) fn draw_early_liar(&mut self, rng: &mut Rng) {
        if let Some(liar) = self.liar.as_mut().filter(|_| rng.percent(EARLY)) {
            liar.lie = Lie::Early;
        }
    }
}

/// Where a liar is.
pub(super) fn address() -> SocketAddr {
    outside(2)
}

/// The liar.
pub(super) struct Liar {
    plan: LiarPlan,
    service_number: u16,
    rng: Rng,
    /// K, the newest sync, one past the last octet that left.
    key: Option<u64>,
    sync: u32,
    position: u64,
    /// Symbols and octets of a block, where there are blocks.
    coding: Option<(u16, u64)>,
    /// T, once it is admitted.
    own: Option<u64>,
    /// Words since it is admitted.
    spoke: u64,
    /// Packets of the stream: it says how many came, as others do.
    came: u32,
    due: u64,
    /// Questions that it answered as they left.
    early: u64,
    /// Packets that it sent, and that came to it.
    pub(super) said: u64,
    pub(super) heard: u64,
}

impl Liar {
    pub(super) fn of(plan: &CastPlan, seed: u64) -> Option<Self> {
        let liar = plan.liar?;
        Some(Self {
            service_number: plan.options.service_number,
            rng: Rng::new(seed, 61),
            key: None,
            sync: 0,
            position: 0,
            coding: None,
            own: None,
            spoke: 0,
            came: 0,
            due: nanos(liar.at),
            early: 0,
            said: 0,
            heard: 0,
            plan: liar,
        })
    }

    /// A packet of the transmitter passed by.
    pub(super) fn overhear(&mut self, now: u64, to: SocketAddr, octets: &[u8]) {
        let Ok(packet) = Packet::parse(octets) else {
            return;
        };
        if to == address() {
            self.heard += 1;
            if let Ok(ToMember::Answer { xkey, .. }) = ToMember::of(&packet) {
                self.due = if self.own == Some(xkey) { self.due } else { now };
                self.own = Some(xkey);
            }
        } else if to == group_address() {
            let header = &packet.header;
            let len = packet.body.data().map_or(0, |data| data.sequence_len() as u64);
            self.key = Some(header.key.value());
            self.sync = header.sync;
            self.came += u32::from(matches!(packet.body, Body::Data(_) | Body::Parity(_)));
            self.position = self.position.max(header.seq + len);
            let asks = header.options.intersects(Options::SREQ | Options::DREQ);
            if asks && self.plan.lie == Lie::Early && self.own.is_some() {
                self.due = now;
                self.early += 1;
            }
            if let Body::First(first) = &packet.body
                && let Traffic::Extended(traffic) = first.traffic
                && let Ok(terms) = GroupTerms::read(traffic.tlvs)
            {
                let coding = terms
                    .fec
                    .map(|fec| (fec.k, u64::from(fec.k) * u64::from(fec.symbol_len)));
                self.coding = self.coding.or(coding);
            }
        }
    }

    /// When it speaks next.
    pub(super) fn next(&self) -> Option<u64> {
        let speaks = self.key.is_some() && self.due <= nanos(self.plan.at + self.plan.span);
        speaks.then_some(self.due)
    }

    /// What it says now, if it is time.
    pub(super) fn speak(&mut self, now: u64) -> Option<Travelling> {
        self.next().filter(|at| *at <= now)?;
        self.said += 1;
        let (key, every) = (self.key?, nanos(self.plan.every));
        self.due = now + if self.own.is_some() { every } else { JOINS };
        let Some(own) = self.own else {
            let join = Join {
                name: if self.plan.is_named { "liar" } else { "" },
                xkey: 5,
                service_number: self.service_number,
                // Two blocks, or it would not be admitted.
                room: match self.plan.lie {
                    Lie::Full => 2 * self.coding.map_or(LITTLE, |(_, octets)| octets),
                    _ => ROOM,
                },
            };
            let data = join.octets(key, self.said as u32)?;
            return Some(datagram(address(), transmitter_address(), data));
        };
        let mut blocks = Vec::new();
        self.spoke += 1;
        let (said, options) = self.word(&mut blocks);
        // Only what is said under T, from where it joined, makes a member of it.
        let to_all = self.plan.to_all
            && self.is_member()
            && matches!(said, ToTransmitter::Extended(_))
            && options.is_empty();
        let packet = said.packet(GroupHeader {
            key: if to_all { key } else { own },
            sync: self.said as u32,
            seq: 0,
            options,
        });
        let to = if to_all {
            group_address()
        } else {
            transmitter_address()
        };
        Some(datagram(address(), to, octets(&packet)?))
    }

    /// Whether it said enough under T for one word to have arrived.
    fn is_member(&self) -> bool {
        self.spoke > 4
    }

    fn word<'a>(&mut self, blocks: &'a mut Vec<GnackBlock>) -> (ToTransmitter<'a>, Options) {
        let lie = match self.plan.lie {
            Lie::Any => self.rng.pick(&Lie::ALL[..6]),
            lie => lie,
        };
        let position = self.position;
        let (rseq, alloc) = match lie {
            Lie::Nothing | Lie::Any => (0, ROOM),
            Lie::Beyond => (position + self.rng.range(1, 1 << 20), ROOM),
            Lie::Needs => (
                if self.plan.to_all {
                    0
                } else {
                    self.rng.pick(&[0, position])
                },
                ROOM,
            ),
            Lie::Whole | Lie::Early => (position, ROOM),
            // What it was granted by its join is all that it takes.
            Lie::Full => (position, 0),
            Lie::AllButEnd => (position.saturating_sub(1), ROOM),
        };
        let control = Control {
            rseq,
            alloc,
            echo: self.sync,
        };
        if let (Lie::Needs, Some((symbols, octets))) = (lie, self.coding) {
            let from = self
                .rng
                .range(0, (position / octets).saturating_sub(MAX_GNACK_BLOCKS as u64));
            let all = from as u32..from as u32 + MAX_GNACK_BLOCKS as u32;
            blocks.extend(all.map(|block| GnackBlock::new(block, symbols, symbols)));
            let need = Gnack::unsolicited(control, 0, blocks);
            return (ToTransmitter::Need(need), Options::empty());
        }
        let closes = matches!(lie, Lie::Whole | Lie::Early) && self.rng.percent(50);
        let waited = if lie == Lie::Early { WAITED } else { DELAY_NONE };
        let status = Xcntl {
            control,
            delay_us: self.rng.pick(&[0, waited]),
            ect0: self.came,
            ..Xcntl::default()
        };
        let options = if closes { Options::RCLOSE } else { Options::empty() };
        (ToTransmitter::Extended(status), options)
    }
}

impl LiarPlan {
    /// How long it holds up the others, who took `usual` without it and among whom somebody is found silent in `once`: a tenth of a
    /// second or four round trips, and a judgement, since its last word where only that counts (§9.10). Until then it may be the pacemaker,
    /// and the rate takes as long as the whole stream at most to be found again. And polls are as much rarer as one more member makes them.
    /// Each window waits for the next word of one that says each time that it has all that left.
    /// A liar that answers to the group silences members that damp their answers: each window then waits for the turn of its bucket (§9.18).
    pub(super) fn holds_up(&self, plan: &CastPlan, usual: Duration, once: Duration) -> Duration {
        let ways = plan
            .members
            .iter()
            .map(|member| member.up.delay + member.down.delay);
        let round_trip = ways.max().unwrap_or_default() + plan.uplink.delay + plan.downlink.delay;
        let silence = if self.lie.shows() { Duration::ZERO } else { once };
        let slowed = if self.lie.slows() { usual } else { Duration::ZERO };
        let behind = BEHIND.max(4 * round_trip) + LOOKS;
        let known = behind + 2 * self.every + 2 * plan.bucket_turn();
        let moved = match self.lie.moves() {
            true => self.every.min(behind) * plan.windows(),
            false => Duration::ZERO,
        };
        let damps = matches!(plan.options.mode, Mode::Bucket(buckets) if buckets.damping);
        let damped = match self.to_all && damps {
            true => plan.bucket_turn() * plan.windows(),
            false => Duration::ZERO,
        };
        known + moved + silence + slowed + damped + usual / plan.members.len() as u32
    }
}

impl CastPlan {
    /// How much longer than the answers of so many those of all members are spread, the liar's among them, once in every window: so few
    /// members answer at once that one more makes a group of them whose answers are spread.
    pub(super) fn crowding(&self, calm: usize) -> Duration {
        let spread = |members: usize| {
            let feedback = Feedback {
                size: members as u32,
                rate: self.options.feedback_rate,
                round_trip: Duration::ZERO,
                hold: Duration::ZERO,
            };
            feedback.spread(1)
        };
        let all = self.members.len() + usize::from(self.liar.is_some());
        let longer = spread(all).saturating_sub(spread(calm));
        longer * self.windows()
    }

    /// In how many windows the stream leaves at most, and two.
    fn windows(&self) -> u32 {
        let rooms = self.members.iter().map(|member| member.join.capacity);
        let window = rooms.fold(self.options.window, u64::min).max(1);
        (self.octets() / window + 2) as u32
    }
}

impl GroupWorld {
    /// Octets of a symbol, or of a packet where there is none.
    pub(super) fn symbol(&self) -> u64 {
        let packet = self.plan.options.datagram as u64;
        self.watch.coding.map_or(packet, |coding| coding.symbol)
    }

    /// Octets that a liar may cost: a quarter of the stream, and what counts as a block where there is none; two of these, for one is
    /// judged when it is finished (§9.18).
    pub(super) fn cost_of_a_liar(&self) -> u64 {
        let block = self.plan.options.fec.map_or(64, |fec| u64::from(fec.symbols));
        let symbol = self.symbol();
        self.sender.ledger.written.max(64 * symbol) / 4 + (2 * block + 2) * symbol
    }

    /// What a liar cost beside the same group without it, octets; and it is not told more than it says.
    pub(super) fn judge_liar(&self, repaired: u64) -> Result<(), String> {
        let Some(liar) = &self.liar else {
            return Ok(());
        };
        let most = self.cost_of_a_liar();
        // With more marks than a descriptor holds a symbol is sent as data, too, in as many packets as there were.
        let symbols = self.watch.coding.map_or(u64::MAX / 2, |coding| {
            self.sender.ledger.written / coding.symbol + 4
        });
        let many_marks = self.watch.data > symbols + symbols / 8;
        // One that lacks the end alone is sent it as long as it is waited for, and nobody else waits.
        let ends = matches!(liar.plan.lie, Lie::AllButEnd | Lie::Any);
        let exempt = many_marks || ends || self.plan.goes_back() || !self.plan.troubles.is_empty();
        if repaired > most && !exempt {
            return Err(format!(
                "a liar was sent {repaired} octets, at most {most} may be"
            ));
        }
        let told = liar.said + TOLD_A_SECOND * (self.now / 1_000_000_000 + 1);
        match liar.heard > told {
            true => Err(format!(
                "a liar said {} words and heard {}",
                liar.said, liar.heard
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "liar_tests.rs"]
mod tests;
