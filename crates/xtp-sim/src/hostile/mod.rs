//! Somebody who injects packets, and must have no effect.
//!
//! An [`Injector`] stands beside the hosts: it sees what leaves and what arrives, and puts packets of its own into
//! sockets, with whatever source address it likes. It neither holds back nor changes what it sees. The packets are
//! well-formed and their checksums right; what is wrong with each is a [`Strike`]. Required (§7.1): every flow ends as it
//! is judged without it, contents are right, nothing is executed twice, nothing ends because of it, and a forged address
//! gets no more than three times what came from there.
//!
//! What a reader of the path can do to plain packets by guessing nothing is not injected; §7.1.1 lists it.

mod forge;
mod run;
mod strike;

pub use run::run_hostile_seed;
pub(crate) use run::{hostile_plan, run_hostile_plan};
pub use strike::Strike;

use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use xtp_engine::Ecn;
use xtp_wire::{Control, Format, Key, Options, service};

use crate::check::wire::Facts;
use crate::net::Flying;
use crate::packet::Seen;
use crate::rng::Rng;
use crate::trace::{Fate, Record, Side};
use crate::world::World;
use forge::Draft;

/// How long after the packet it is made from an injected one comes, nanoseconds: in the same batch, while the exchange
/// goes on, after it, and after the life of what is left of it.
const DELAYS: [u64; 11] = [
    0,
    0,
    1,
    10_000,
    1_000_000,
    20_000_000,
    300_000_000,
    2_000_000_000,
    9_000_000_000,
    27_000_000_000,
    40_000_000_000,
];

/// A service that nobody offers.
const NOBODYS: u16 = 999;
/// Pure datagrams are known again for 2 s (§6.9); less what they may still wait in a socket that nobody looks at.
const DATAGRAM_MEMORY: u64 = 500_000_000;
/// A FIRST is known again for 30 s after the peer's END (§6.8), by a clock that may be fast.
const FIRST_MEMORY: u64 = 28_000_000_000;
/// The same for a FIRST without time and client.
const NAMELESS_MEMORY: u64 = 20_000_000;

/// A packet that will be injected.
struct Planned {
    strike: Strike,
    to: usize,
    flying: Flying,
    seen: Seen,
    /// When the packet it is made from was seen.
    since: u64,
    /// Draws its details: none depends on what else is injected.
    rng: Rng,
}

/// Who injects.
pub struct Injector {
    rng: Rng,
    /// Of a hundred packets so many are followed by one.
    percent: u32,
    left: u32,
    /// Nothing but the injector troubles this world.
    quiet: bool,
    /// What it may do.
    kinds: Vec<Strike>,
    /// Which of its packets it injects; all if nothing is said.
    kept: Option<BTreeSet<u64>>,
    seed: u64,
    queue: BTreeMap<(u64, u64), Planned>,
    serial: u64,
    /// How many of each kind were injected, by the service number of the association they were made from.
    pub done: BTreeMap<(Strike, Option<u16>), u64>,
}

impl Injector {
    /// Draws an injector; none of its draws is one of the plan's.
    pub fn draw(seed: u64, quiet: bool) -> Self {
        let mut rng = Rng::new(seed, 30);
        let percent = rng.pick(&[3, 10, 30, 60]);
        let left = rng.range(10, 150) as u32;
        Self {
            rng,
            percent,
            left,
            quiet,
            kinds: Strike::ALL.to_vec(),
            kept: None,
            seed,
            queue: BTreeMap::new(),
            serial: 0,
            done: BTreeMap::new(),
        }
    }

    /// The same, but it does nothing else than this.
    #[must_use]
    pub fn only(mut self, kinds: &[Strike]) -> Self {
        self.kinds = kinds.to_vec();
        self
    }

    /// Only these of its packets are injected.
    pub(crate) fn keep(&mut self, numbers: BTreeSet<u64>) {
        self.kept = Some(numbers);
    }

    /// When the next packet is injected.
    pub(crate) fn next(&self) -> Option<u64> {
        self.queue.keys().next().map(|&(at, _)| at)
    }

    /// A packet was seen; what will be made of it.
    fn plan(&mut self, now: u64, to: usize, flying: &Flying, answers: bool) {
        if self.left == 0 || !self.rng.percent(self.percent) {
            return;
        }
        let Ok(seen) = Seen::decode(&flying.data) else {
            return;
        };
        let kinds: Vec<Strike> = self
            .kinds
            .iter()
            .copied()
            .filter(|kind| kind.answers() == answers && kind.suits(&seen))
            .filter(|&kind| self.quiet || kind != Strike::Doubt)
            .collect();
        if kinds.is_empty() {
            return;
        }
        let strike = self.rng.pick(&kinds);
        self.left -= 1;
        self.serial += 1;
        let at = now + self.rng.pick(&DELAYS);
        if self
            .kept
            .as_ref()
            .is_some_and(|kept| !kept.contains(&self.serial))
        {
            return;
        }
        let planned = Planned {
            strike,
            to,
            flying: flying.clone(),
            seen,
            since: now,
            rng: Rng::new(self.seed, 1_000 + self.serial),
        };
        self.queue.insert((at, self.serial), planned);
    }

    /// The first packet that may come before the one that arrives now.
    fn take_overtaking(&mut self, now: u64) -> Option<Planned> {
        let overtakes = |&(&(at, _), planned): &(&(u64, u64), &Planned)| {
            at == now && planned.since == now && planned.strike.may_overtake()
        };
        let place = self.queue.iter().find(overtakes).map(|(&place, _)| place)?;
        self.queue.remove(&place)
    }

    fn take_due(&mut self, now: u64) -> Option<Planned> {
        let place = *self.queue.keys().next().filter(|&&(at, _)| at <= now)?;
        self.queue.remove(&place)
    }
}

fn strange_key(like: Key, rng: &mut Rng) -> Key {
    let value = rng.number() >> 1 | 1;
    match like.is_returned() {
        true => Key::returned(value),
        false => Key::own(value),
    }
}

impl World {
    /// A datagram is about to reach a socket: an injected one may come before it.
    pub(crate) fn before_arrival(&mut self, to: usize, flying: &Flying) {
        let now = self.now;
        let room = self.hosts[to].has_room(flying.data.len());
        let Some(injector) = self.injector.as_mut().filter(|_| room) else {
            return;
        };
        injector.plan(now, to, flying, false);
        let half = injector.rng.percent(50);
        if half && let Some(planned) = injector.take_overtaking(now) {
            self.strike(planned);
        }
    }

    /// What left since the last call was seen by the injector, who may answer in somebody's place.
    pub(crate) fn tap(&mut self) {
        let tapped = self.net.tapped.as_mut().map(std::mem::take).unwrap_or_default();
        let Some(injector) = &mut self.injector else {
            return;
        };
        for (from, flying) in tapped {
            injector.plan(self.now, from, &flying, true);
        }
    }

    /// Injects what is due.
    pub(crate) fn inject_due(&mut self) {
        while let Some(planned) = self
            .injector
            .as_mut()
            .and_then(|injector| injector.take_due(self.now))
        {
            self.strike(planned);
        }
    }

    fn strike(&mut self, planned: Planned) {
        let to = planned.to;
        let own = &self.hosts[to];
        if own.down || !own.has_room(planned.flying.data.len()) {
            return;
        }
        let known = self.net.check.facts(planned.seen.key, to);
        let mut rng = planned.rng.clone();
        let Some((src, octets)) = self.forge(&planned, &mut rng, known.as_ref()) else {
            return;
        };
        if let Some(injector) = &mut self.injector {
            let port = known.and_then(|known| known.port);
            *injector.done.entry((planned.strike, port)).or_default() += 1;
        }
        if let (Some(records), Ok(seen)) = (&mut self.net.records, Seen::decode(&octets)) {
            records.push(Record {
                at: self.now,
                from: to,
                end: None,
                seen,
                fate: Fate::Injected(planned.strike.name()),
            });
        }
        if let Some(known) = known.filter(|_| planned.strike == Strike::Doubt) {
            self.net.check.associations[known.number].ends[known.side.index()].doubt(self.now);
        }
        self.land_forged(
            to,
            src,
            octets,
            known.filter(|known| known.side == Side::Responder),
        );
    }

    /// An injected packet reaches a socket. It proves nothing to any checker, but it counts for the 3x of its source.
    fn land_forged(&mut self, to: usize, src: SocketAddr, octets: Vec<u8>, responder: Option<Facts>) {
        if !self.net.was_owned(src) {
            self.net.reflection.received(to, src, octets.len() as u64);
        }
        if let Some(known) = responder {
            let amplification = &mut self.net.check.amplification;
            amplification.forged(known.number, src, octets.len() as u64);
        }
        let flying = Flying {
            src,
            dst: self.net.address(to),
            ecn: Ecn::NotEct,
            data: Bytes::from(octets),
            left: self.now,
        };
        self.hosts[to].deliver(flying);
    }

    /// The packet and where it claims to come from; nothing if it could be what it claims to be.
    fn forge(
        &self,
        planned: &Planned,
        rng: &mut Rng,
        known: Option<&Facts>,
    ) -> Option<(SocketAddr, Vec<u8>)> {
        let (seen, flying) = (&planned.seen, &planned.flying);
        let src = match planned.strike.answers() {
            true => flying.dst,
            false => flying.src,
        };
        let newer = seen.sync.wrapping_add(rng.range(0, 1_000) as u32);
        let elsewhere = self.strange_address(rng, planned.to, src);
        let anywhere = if rng.percent(50) { src } else { elsewhere };
        let draft = Draft::of(&flying.data);
        let octets = match planned.strike {
            Strike::WrongKey => draft.key(strange_key(seen.key, rng)).finish(),
            Strike::StrayFirst => {
                let key = strange_key(seen.key, rng);
                draft.key(key).service(NOBODYS).finish()
            }
            Strike::KeylessEnd => {
                let key = strange_key(seen.key, rng);
                let over = Options::RCLOSE | Options::WCLOSE | Options::END;
                forge::cntl(key, over, newer, forge::confirmation(seen))
            }
            Strike::KeylessDiag => {
                let key = strange_key(Key::returned(1), rng);
                let code = rng.range(0, 8) as u32;
                forge::diag(key, code, rng)
            }
            Strike::KeylessCookie => {
                let key = strange_key(Key::returned(1), rng);
                forge::cookie(key, rng)
            }
            _ => {
                let known = known?;
                let octets = self.forge_known(planned, rng, known, newer)?;
                let src = if planned.strike == Strike::ReplayElsewhere {
                    elsewhere
                } else {
                    src
                };
                return Some((src, octets));
            }
        };
        Some((anywhere, octets?))
    }

    /// Somewhere the packet did not come from: nobody's address, another port, another host's.
    fn strange_address(&self, rng: &mut Rng, to: usize, src: SocketAddr) -> SocketAddr {
        let other = (to + rng.range(1, self.hosts.len() as u64 - 1) as usize) % self.hosts.len();
        match rng.range(0, 3) {
            0 if self.net.address(other) != src => self.net.address(other),
            1 => SocketAddr::new(src.ip(), src.port() ^ 0x4000),
            _ => SocketAddr::new(nobodys(src.ip(), rng.range(0, 9) as u8), src.port()),
        }
    }

    /// With the key of a living association, or of one that lived.
    fn forge_known(&self, planned: &Planned, rng: &mut Rng, known: &Facts, newer: u32) -> Option<Vec<u8>> {
        self.is_wrong_for_sure(planned, known).then_some(())?;
        let seen = &planned.seen;
        let draft = Draft::of(&planned.flying.data);
        let control = seen.control.unwrap_or_default();
        match planned.strike {
            Strike::Replay | Strike::ReplayElsewhere => Some(planned.flying.data.to_vec()),
            Strike::Reborn => {
                seen.statement
                    .is_some_and(|statement| statement.client)
                    .then_some(())?;
                draft.key(strange_key(seen.key, rng)).finish()
            }
            Strike::FirstMoved => {
                // What is left of an association does not know where its streams began, but how far they went.
                let (by, sync) = rng.pick(&[(1, seen.sync), (1_000, seen.sync), (1 << 33, newer)]);
                draft.seq(seen.seq + by).sync(sync).finish()
            }
            Strike::WrongEcho | Strike::BeyondSent | Strike::AllocBelow | Strike::AllocTooFar => {
                let wrong = self.impossible(rng, planned.strike, control, known, planned.to)?;
                let zero = if wrong.echo == 0 {
                    Options::END
                } else {
                    Options::empty()
                };
                draft.control(wrong).sync(newer).without(zero).finish()
            }
            Strike::Withdrawn => {
                let alloc = control.rseq;
                draft.control(Control { alloc, ..control }).finish()
            }
            Strike::BeyondAlloc => {
                let bounded = !known.ended && self.is_at_rest(planned.to);
                bounded.then_some(())?;
                let says = Options::SREQ | Options::DREQ | Options::EOM | Options::WCLOSE | Options::RCLOSE;
                let draft = draft.without(says | Options::END).other_octets();
                draft.seq(known.allowed).finish()
            }
            Strike::BeyondWindow => draft.seq(seen.seq + (1 << 42)).sync(newer).finish(),
            Strike::LateDiag => {
                // 2 is obeyed with END, 3 is a doubt, 7 a report of a size: who knows the key may say that.
                let code = rng.pick(&[0, 1, 4, 5, 6, 8, 99]);
                known.accepted.then_some(())?;
                forge::diag(known.target, code, rng)
            }
            Strike::Doubt => {
                known.accepted.then_some(())?;
                forge::diag(known.target, 3, rng)
            }
            Strike::LateCookie => {
                known.accepted.then_some(())?;
                forge::cookie(known.target, rng)
            }
            Strike::FalseEnd | Strike::FalseConfirmation => {
                let kinds = [
                    Strike::WrongEcho,
                    Strike::BeyondSent,
                    Strike::AllocBelow,
                    Strike::AllocTooFar,
                ];
                let kind = rng.pick(&kinds);
                let right = forge::confirmation(seen);
                let wrong = self.impossible(rng, kind, right, known, planned.to)?;
                let mut options = Options::RCLOSE | Options::WCLOSE;
                options.set(
                    Options::END,
                    planned.strike == Strike::FalseEnd && wrong.echo != 0,
                );
                forge::cntl(known.target, options, rng.number() as u32, wrong)
            }
            _ => None,
        }
    }

    /// Whether its receiver knows enough for the packet to be what it is meant to be: old, or a copy.
    fn is_wrong_for_sure(&self, planned: &Planned, known: &Facts) -> bool {
        let seen = &planned.seen;
        let old = self.now - planned.since;
        let first = seen.format == Format::First;
        if first && (old > FIRST_MEMORY || !self.remembers(planned.to)) {
            return false;
        }
        match planned.strike {
            Strike::Replay => self.may_come_again(seen, known, old),
            Strike::ReplayElsewhere | Strike::FirstMoved | Strike::Reborn => {
                let nameless = known.nameless || self.is_datagram(known);
                // A packet that was overtaken by nothing yet is no copy.
                (!first || known.accepted && !nameless) && planned.since < self.now
            }
            _ => true,
        }
    }

    /// Numbers of which one can not be (§2.9).
    fn impossible(
        &self,
        rng: &mut Rng,
        kind: Strike,
        right: Control,
        known: &Facts,
        to: usize,
    ) -> Option<Control> {
        let far = rng.range(1 << 16, 1 << 29) as u32;
        let (mut wrong, newest) = (right, known.sync?);
        match kind {
            Strike::WrongEcho => {
                wrong.echo = match rng.range(0, 2) {
                    0 => newest.wrapping_add(far),
                    1 => newest.wrapping_sub((1 << 30) + far),
                    _ => 0,
                }
            }
            Strike::BeyondSent => {
                let exact = self.is_at_rest(to) && rng.percent(50);
                wrong.rseq = known.sent + if exact { 1 } else { 1 << 33 };
                wrong.alloc = wrong.rseq;
            }
            Strike::AllocBelow => wrong.alloc = wrong.rseq.checked_sub(rng.pick(&[1, 1, 100]))?,
            _ => wrong.alloc = wrong.rseq + (1 << 40) + rng.range(1, 1 << 41),
        }
        Some(wrong)
    }

    /// What is put into this host's socket now is looked at before anything else happens there.
    fn is_at_rest(&self, host: usize) -> bool {
        let host = &self.hosts[host];
        !host.paused && host.config.poll_period == 0 && host.waiting() == 0
    }

    /// Whether this host looks at what comes, and pushes no record out before its time.
    fn remembers(&self, host: usize) -> bool {
        let host = &self.hosts[host];
        let engine = &host.config.engine;
        !host.paused && engine.overrides.max_tombstones > 64 && engine.overrides.max_clients > 64
    }

    /// Whether its receiver still knows what this packet was.
    fn may_come_again(&self, seen: &Seen, known: &Facts, old: u64) -> bool {
        if self.is_datagram(known) {
            return old <= DATAGRAM_MEMORY;
        }
        if seen.format != Format::First {
            return true;
        }
        match known.nameless {
            true => old <= NAMELESS_MEMORY,
            false => known.accepted,
        }
    }

    /// It speaks in datagrams, which nothing remembers for long.
    fn is_datagram(&self, known: &Facts) -> bool {
        let mut flows = self.flows.iter();
        flows.any(|flow| Some(flow.port) == known.port && flow.spec.open.service == service::DATAGRAM)
    }
}

/// An address that no host ever has.
fn nobodys(like: IpAddr, low: u8) -> IpAddr {
    match like {
        IpAddr::V4(_) => IpAddr::from([10, 9, 9, low]),
        IpAddr::V6(_) => IpAddr::from([0xfd09, 0, 0, 0, 0, 0, 9, low.into()]),
    }
}
