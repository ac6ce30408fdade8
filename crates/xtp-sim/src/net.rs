//! The links between the hosts, and an observer who sees every packet that enters one.

use core::net::{IpAddr, SocketAddr};
use std::collections::BTreeSet;

use bytes::Bytes;
use xtp_engine::{Ecn, TransmitBatch};
use xtp_link::{Arrival, ConfigError, Direction, DropCause, Duplex, Link, LinkConfig, Outcome, flip_bits};

use crate::check::reflection::ReflectionCheck;
use crate::check::wire::WireCheck;
use crate::clock::Clock;
use crate::digest::Digest;
use crate::fault::SendError;
use crate::packet::Seen;
use crate::rng::Rng;
use crate::trace::{Fate, Record, Side};

/// A datagram under way.
#[derive(Clone, Debug)]
pub struct Flying {
    /// Source address on the wire.
    pub src: SocketAddr,
    /// Destination address.
    pub dst: SocketAddr,
    /// ECN bits.
    pub ecn: Ecn,
    /// The octets.
    pub data: Bytes,
    /// When it left, nanoseconds of world time.
    pub left: u64,
}

/// What the carrier tells a sender at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The sender.
    pub host: usize,
    /// Where the datagram was to go.
    pub peer: SocketAddr,
    /// Octets that fit.
    pub octets: usize,
}

/// Links and addresses.
pub struct Net {
    count: usize,
    links: Vec<Option<Duplex<Flying>>>,
    addresses: Vec<Vec<SocketAddr>>,
    /// Addresses that hosts have or had.
    ever: BTreeSet<SocketAddr>,
    /// Rules each packet is checked against.
    pub check: WireCheck,
    /// Every packet so far, if a trace is wanted.
    pub records: Option<Vec<Record>>,
    /// Every datagram so far with its sender and the moment, octet by octet, if wanted.
    pub captured: Option<Vec<(u64, usize, Flying)>>,
    /// Datagrams that left since somebody looked, with their senders, if somebody looks.
    pub tapped: Option<Vec<(usize, Flying)>>,
    /// What goes to addresses in whose name packets were forged.
    pub reflection: ReflectionCheck,
    /// Clocks of the hosts: who sends at a rate measures it by its own.
    pub clocks: Vec<Clock>,
    /// Packets handed to links.
    pub packets: u64,
    /// Whether a datagram larger than the link's MTU is reported to its sender.
    pub report_too_big: bool,
    /// Of all that was sent, and told to users.
    pub digest: Digest,
    /// Option bits seen on any packet.
    pub options_seen: u32,
    /// Packets refused by their own sender's wire rules; the first one with its reason.
    pub violation: Option<String>,
    too_big: Vec<TooBig>,
    refusing: Vec<Option<SendError>>,
    kept: Vec<Vec<Flying>>,
    /// How many datagrams the carrier of a host takes before it refuses.
    room: Vec<u64>,
    /// Draws that.
    rooms: Rng,
    /// Datagrams the carrier of a host did not take when they were handed to it.
    pub refused: u64,
}

impl Net {
    /// `count` hosts with the given addresses and the same link between any two of them.
    ///
    /// # Errors
    /// A link setting outside its range.
    pub fn new(addresses: Vec<SocketAddr>, link: &LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        let count = addresses.len();
        let mut links = Vec::new();
        for one in 0..count {
            for two in 0..count {
                let number = (one * count + two) as u64;
                let exists = one < two;
                links.push(if exists {
                    Some(Duplex::symmetric(
                        link.clone(),
                        seed.wrapping_add(number.wrapping_mul(0x9e37)),
                    )?)
                } else {
                    None
                });
            }
        }
        Ok(Self {
            count,
            ever: addresses.iter().copied().collect(),
            links,
            addresses: addresses.into_iter().map(|address| vec![address]).collect(),
            check: WireCheck::default(),
            records: None,
            captured: None,
            tapped: None,
            reflection: ReflectionCheck::default(),
            clocks: vec![Clock::default(); count],
            packets: 0,
            report_too_big: false,
            digest: Digest::default(),
            options_seen: 0,
            violation: None,
            too_big: Vec::new(),
            refusing: vec![None; count],
            kept: vec![Vec::new(); count],
            room: vec![0; count],
            rooms: Rng::new(seed, 91),
            refused: 0,
        })
    }

    /// Address a host sends from now.
    pub fn address(&self, host: usize) -> SocketAddr {
        self.addresses[host][self.addresses[host].len() - 1]
    }

    /// The host moves: packets to its old address reach nobody.
    pub fn set_address(&mut self, host: usize, address: SocketAddr) {
        self.addresses[host] = vec![address];
        self.ever.insert(address);
    }

    /// The host gets a second address beside its old one, and sends from it.
    pub fn add_address(&mut self, host: usize, address: SocketAddr) {
        self.addresses[host].push(address);
        self.ever.insert(address);
    }

    /// Whether any host ever had this address.
    pub(crate) fn was_owned(&self, address: SocketAddr) -> bool {
        self.ever.contains(&address)
    }

    /// Who has this address.
    pub fn owner(&self, address: SocketAddr) -> Option<usize> {
        self.addresses.iter().position(|own| own.contains(&address))
    }

    /// The link between two hosts; the direction from the lower number is A to B.
    ///
    /// # Panics
    /// If the hosts are the same or there is no such host.
    pub fn link_mut(&mut self, one: usize, two: usize) -> &mut Duplex<Flying> {
        let place = one.min(two) * self.count + one.max(two);
        match &mut self.links[place] {
            Some(link) => link,
            None => panic!("no link between host {one} and host {two}"),
        }
    }

    /// The direction of the link between two hosts in which `from` sends.
    ///
    /// # Panics
    /// If the hosts are the same or there is no such host.
    pub fn one_way_mut(&mut self, from: usize, to: usize) -> &mut Link<Flying> {
        self.link_mut(from, to).link_mut(direction(from, to))
    }

    /// The carrier of `host` takes nothing from now on, or takes it again: then what was kept leaves.
    pub fn refuse(&mut self, at: u64, host: usize, error: Option<SendError>) {
        self.refusing[host] = error;
        // A carrier that takes a part takes what was kept before anything new.
        if error.is_none_or(SendError::takes_a_part) {
            for flying in core::mem::take(&mut self.kept[host]) {
                self.carry(at, host, flying);
            }
        }
    }

    /// All links.
    pub fn links_mut(&mut self) -> impl Iterator<Item = &mut Duplex<Flying>> {
        self.links.iter_mut().flatten()
    }

    /// Hands everything in `batch` to the links.
    pub fn transmit(&mut self, at: u64, from: usize, batch: &TransmitBatch) {
        if self.refusing[from].is_some_and(SendError::takes_a_part) {
            self.take_a_part(at, from, batch);
        }
        batch.for_each_datagram(|train, octets| {
            let src = match train.src {
                Some(ip) => SocketAddr::new(ip, self.address(from).port()),
                None => self.address(from),
            };
            let src = if self.addresses[from].contains(&src) {
                src
            } else {
                self.address(from)
            };
            let flying = Flying {
                src,
                dst: train.dst,
                ecn: train.ecn,
                data: Bytes::copy_from_slice(octets),
                left: at,
            };
            self.send(at, from, flying);
        });
    }

    /// The carrier of a host has room for some of what it kept and of this.
    fn take_a_part(&mut self, at: u64, from: usize, batch: &TransmitBatch) {
        let mut all = self.kept[from].len() as u64;
        batch.for_each_datagram(|_, _| all += 1);
        let room = self.rooms.range(0, all);
        let first = (room as usize).min(self.kept[from].len());
        let leave: Vec<_> = self.kept[from].drain(..first).collect();
        for flying in leave {
            self.carry(at, from, flying);
        }
        self.room[from] = room - first as u64;
    }

    /// What the carrier of a host says to one more datagram.
    fn refusal(&mut self, from: usize) -> Option<SendError> {
        let error = self.refusing[from]?;
        if error.takes_a_part() && self.room[from] > 0 {
            self.room[from] -= 1;
            return None;
        }
        Some(error)
    }

    /// Hands one datagram of `from` to the link towards its destination.
    pub fn send(&mut self, at: u64, from: usize, flying: Flying) {
        self.packets += 1;
        self.digest.sent(at, from, &flying);
        if let Some(captured) = &mut self.captured {
            captured.push((at, from, flying.clone()));
        }
        if let Some(tapped) = &mut self.tapped {
            tapped.push((from, flying.clone()));
        }
        if let Err(rule) = self.reflection.sent(from, flying.dst, flying.data.len() as u64) {
            self.violate(at, from, &rule);
        }
        let decoded = Seen::decode(&flying.data);
        let datagram = flying.data.clone();
        let to = flying.dst;
        let fate = match self.refusal(from) {
            None => self.carry(at, from, flying),
            Some(error) => {
                self.refused += 1;
                let keeps = matches!(error, SendError::Again | SendError::AgainWithin);
                self.kept[from].extend(keeps.then_some(flying));
                if keeps { Fate::Kept } else { Fate::Refused }
            }
        };
        match decoded {
            Ok(seen) => self.observe(at, from, to, seen, fate),
            Err(error) => {
                let head: Vec<String> = datagram
                    .iter()
                    .take(96)
                    .map(|octet| format!("{octet:02x}"))
                    .collect();
                let head = head.concat();
                self.violate(
                    at,
                    from,
                    &format!("an engine sent a malformed packet: {error} ({head})"),
                );
            }
        }
    }

    fn carry(&mut self, at: u64, from: usize, flying: Flying) -> Fate {
        let dst = flying.dst;
        let octets = flying.data.len();
        let Some(to) = self.owner(dst).filter(|&to| to != from) else {
            return Fate::NoHost;
        };
        let direction = direction(from, to);
        let link = self.link_mut(from, to);
        let outcome = link.send(direction, at, flying, octets);
        if outcome == Outcome::Dropped(DropCause::TooLarge) {
            let limit = link.link(direction).config().mtu.unwrap_or(octets);
            self.too_big.push(TooBig {
                host: from,
                peer: dst,
                octets: limit,
            });
        }
        Fate::Link(outcome)
    }

    fn observe(&mut self, at: u64, from: usize, to: SocketAddr, seen: Seen, fate: Fate) {
        self.options_seen |= seen.options.bits();
        let local = self.clocks[from].local(at).as_nanos();
        let end = match self.check.packet(local, from, to, &seen, fate) {
            Ok(end) => end,
            Err(rule) => {
                self.violate(
                    at,
                    from,
                    &format!(
                        "{rule} ({:?} sync {} seq {}+{})",
                        seen.format, seen.sync, seen.seq, seen.len
                    ),
                );
                None
            }
        };
        if let Some((number, side)) = end {
            let association = &mut self.check.associations[number];
            if association.ends[side.index()].packets == 1 && side == Side::Initiator {
                // Nothing has come yet, and nothing could.
                association.ends.iter_mut().for_each(|end| end.arrived_at = at);
            }
            association.ends[side.index()].has_sent(at, &seen);
        }
        if let Some(records) = &mut self.records {
            records.push(Record {
                at,
                from,
                end,
                seen,
                fate,
            });
        }
    }

    fn violate(&mut self, at: u64, from: usize, what: &str) {
        if self.violation.is_none() {
            self.violation = Some(format!("host {from} at {:.6} s: {what}", at as f64 / 1e9));
        }
    }

    /// Datagrams that were too large since the last call, if that is reported.
    pub fn take_too_big(&mut self) -> Vec<TooBig> {
        let reports = core::mem::take(&mut self.too_big);
        if self.report_too_big { reports } else { Vec::new() }
    }

    /// When the next datagram arrives anywhere.
    pub fn next_arrival(&self) -> Option<u64> {
        self.links.iter().flatten().filter_map(Duplex::next_arrival).min()
    }

    /// The next datagram that has arrived by `at`: the host its link leads to, and the datagram.
    pub fn receive(&mut self, at: u64) -> Option<(usize, Flying)> {
        for place in 0..self.links.len() {
            let Some(link) = &mut self.links[place] else {
                continue;
            };
            if link.next_arrival().is_none_or(|next| next > at) {
                continue;
            }
            let (direction, arrival) = link.receive(at)?;
            if !arrival.corrupted_bits.is_empty()
                && let Ok(seen) = Seen::decode(&arrival.packet.data)
            {
                self.check.damaged(&seen);
            }
            let (one, two) = (place / self.count, place % self.count);
            let to = if direction == Direction::AToB { two } else { one };
            return Some((to, landed(arrival)));
        }
        None
    }

    /// Datagrams under way.
    pub fn in_flight(&self) -> usize {
        let both = [Direction::AToB, Direction::BToA];
        self.links
            .iter()
            .flatten()
            .map(|link| both.map(|way| link.link(way).in_flight()).iter().sum::<usize>())
            .sum()
    }

    /// Whether `host` answers at `address`.
    pub fn has_address(&self, host: usize, address: SocketAddr) -> bool {
        self.addresses[host].contains(&address)
    }

    /// IP addresses of a host.
    pub fn own_ips(&self, host: usize) -> Vec<IpAddr> {
        self.addresses[host].iter().map(SocketAddr::ip).collect()
    }
}

fn direction(from: usize, to: usize) -> Direction {
    if from < to {
        Direction::AToB
    } else {
        Direction::BToA
    }
}

/// Applies the link's damage and its congestion mark.
fn landed(arrival: Arrival<Flying>) -> Flying {
    let mut flying = arrival.packet;
    if arrival.ce && flying.ecn != Ecn::NotEct {
        flying.ecn = Ecn::Ce;
    }
    if !arrival.corrupted_bits.is_empty() {
        let mut octets = flying.data.to_vec();
        flip_bits(&mut octets, &arrival.corrupted_bits);
        if folded(&octets) == folded(&flying.data) {
            // Flips that cancel in a 16-bit sum pass every checksum there is on this path; a frame check
            // sequence below would catch them. One flip alone never cancels.
            octets = flying.data.to_vec();
            flip_bits(&mut octets, &arrival.corrupted_bits[..1]);
        }
        flying.data = octets.into();
    }
    flying
}

fn folded(octets: &[u8]) -> u32 {
    let words = octets
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low)));
    // 0 and 0xffff are the same number in one's complement.
    words.sum::<u32>() % 0xffff
}
