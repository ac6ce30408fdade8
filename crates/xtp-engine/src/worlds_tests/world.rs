//! A world: hosts, the network between them, and what was seen.

use super::action::{Action, Kind, Place};
use super::calls::Way;
use super::dice::Dice;
use super::host::{Bookkeeping, Host};
use super::mutate::{mutate, patch};
use super::near::{nearly, overtake};
use super::profile::Profile;
use crate::{Confirm, Datagram, Ecn, Engine, ErrorControl, Event, Failure, MarkAt, Setting, Time};
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use std::collections::VecDeque;
use std::time::Duration;
use xtp_wire::{Body, First, Format, Header, Packet, Traffic};

/// Datagrams a network remembers, to bring them again.
const REMEMBERED: usize = 48;

/// A datagram under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flying {
    pub(super) src: SocketAddr,
    /// What the carrier tells of the address it was sent to.
    pub(super) dst: Option<IpAddr>,
    pub(super) ecn: Ecn,
    pub(super) octets: Vec<u8>,
}

impl Flying {
    pub(super) fn as_datagram<'a>(&self, data: &'a [u8], backing: Option<&'a Bytes>) -> Datagram<'a> {
        Datagram {
            src: self.src,
            dst: self.dst,
            ecn: self.ecn,
            data,
            backing,
        }
    }

    /// The key of the association it is about.
    fn association(&self) -> u64 {
        self.octets
            .first_chunk()
            .map_or(0, |key| u64::from_be_bytes(*key))
    }

    /// Whether receive offload would join both.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (self.src, self.dst, self.ecn) == (other.src, other.dst, other.ecn)
    }
}

/// What a user was told; associations are numbered as he heard of them.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Told {
    Event(usize, Event),
    Returned(&'static str, String),
    /// Position, octets, end of message.
    Read(u64, Vec<u8>, bool),
    /// A whole message of a lasting association.
    Message(usize, Vec<u8>),
}

impl Told {
    /// The association an event is about.
    pub(super) fn association(&self) -> Option<usize> {
        match self {
            Self::Event(association, _) => Some(*association),
            _ => None,
        }
    }
}

impl core::fmt::Debug for Told {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let sum = |octets: &[u8]| {
            octets
                .iter()
                .fold(0_u64, |sum, octet| sum * 31 % 65_521 + u64::from(*octet))
        };
        match self {
            Self::Event(id, event) => write!(f, "association {id} {event:?}"),
            Self::Returned(what, outcome) => write!(f, "{what}: {outcome}"),
            Self::Read(offset, octets, eom) => {
                write!(
                    f,
                    "read at {offset}: {} octets (sum {}), eom {eom}",
                    octets.len(),
                    sum(octets)
                )
            }
            Self::Message(id, octets) => {
                write!(
                    f,
                    "association {id} message: {} octets (sum {})",
                    octets.len(),
                    sum(octets)
                )
            }
        }
    }
}

/// Hosts and what is between them. The first is the server.
pub(super) struct World {
    pub(super) hosts: Vec<Host>,
    pub(super) profile: Profile,
    /// Went over the network lately, and to whom.
    past: VecDeque<(usize, Flying)>,
}

/// Where host number `host` is.
pub(super) fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8 + 1], 36_036))
}

impl World {
    pub(super) fn new(profile: &Profile, way: Way) -> Self {
        let mut hosts = Vec::new();
        for number in 0..=profile.clients {
            let mut config = profile.config(number);
            config.overrides.express = way.is_short();
            hosts.push(Host::new(Engine::new(config).unwrap(), way));
        }
        hosts[0].expects = profile.listener();
        for options in profile.listeners() {
            let listener = hosts[0].driver.command().listen(options).unwrap();
            hosts[0].listeners.push(listener);
        }
        Self {
            hosts,
            profile: profile.clone(),
            past: VecDeque::new(),
        }
    }

    /// What was sent is under way.
    fn deliver(&mut self) {
        for from in 0..self.hosts.len() {
            // In which order associations have their turn is nobody's business.
            self.hosts[from]
                .sent
                .sort_by_key(|(to, flying)| (*to, flying.association()));
            for at in 0..self.hosts[from].sent.len() {
                let (to, flying) = &self.hosts[from].sent[at];
                let Some(to) = (0..self.hosts.len()).find(|host| address(*host) == *to) else {
                    continue;
                };
                let arrives = Flying {
                    src: address(from),
                    dst: self.profile.tells_destination.then(|| address(to).ip()),
                    ..flying.clone()
                };
                if self.past.len() == REMEMBERED {
                    self.past.pop_front();
                }
                self.past.push_back((to, arrives.clone()));
                self.hosts[to].arriving.push(arrives);
            }
        }
    }

    /// Does what `action` says, and puts what was sent on its way.
    pub(super) fn act(&mut self, action: &Action, now: Time) {
        for host in &mut self.hosts {
            host.sent.clear();
            host.told.clear();
        }
        let me = action.host % self.hosts.len();
        match &action.kind {
            Kind::Network(place, what, number) => self.disturb(me, *place, *what, *number),
            Kind::Patch { at, octets } => {
                if let Some(oldest) = self.hosts[me].arriving.first_mut() {
                    patch(oldest, *at, octets);
                }
            }
            Kind::Replay(number) => self.replay(*number),
            Kind::RepeatFirst => self.repeat_first(),
            Kind::Audit => self
                .hosts
                .iter_mut()
                .for_each(|host| host.turn(now, Bookkeeping::Now)),
            kind => self.do_by(me, kind, now),
        }
        self.deliver();
    }

    /// Whether anything was sent or told by the last action.
    pub(super) fn has_acted(&self) -> bool {
        let mut hosts = self.hosts.iter();
        hosts.any(|host| !host.sent.is_empty() || !host.told.is_empty())
    }

    /// Up to where `me` granted octets lately, to whoever is at `to`.
    fn granted(&self, me: usize, to: SocketAddr) -> Option<u64> {
        let own = |(host, flying): &&(usize, Flying)| address(*host) == to && flying.src == address(me);
        let mut grants = self.past.iter().rev().filter(own).filter_map(|(_, flying)| {
            let packet = Packet::parse(&flying.octets).ok()?;
            match &packet.body {
                Body::First(First {
                    traffic: Traffic::Extended(traffic),
                    ..
                }) => Some(traffic.credit),
                body => body.control().map(|control| control.alloc),
            }
        });
        grants.next()
    }

    fn disturb(&mut self, me: usize, place: Place, what: u8, number: u64) {
        let src = self.hosts[me].arriving.first().map(|flying| flying.src);
        let granted = src.filter(|_| what >= 8).and_then(|src| self.granted(me, src));
        let arriving = &mut self.hosts[me].arriving;
        if arriving.is_empty() {
            return;
        }
        let at = match place {
            Place::Oldest => 0,
            Place::Newest => arriving.len() - 1,
            Place::Any => number as usize % arriving.len(),
        };
        match what {
            0 => drop(arriving.remove(at)),
            1 => {
                let again = arriving[at].clone();
                arriving.insert(at, again);
            }
            2 => arriving.reverse(),
            3 => {
                let late = arriving.remove(at);
                arriving.push(late);
            }
            4 => {
                let early = arriving.remove(at);
                arriving.insert(0, early);
            }
            5 => {
                // The right one comes right behind.
                let right = arriving[at].clone();
                mutate(&mut arriving[at], number);
                arriving.insert(at + 1, right);
            }
            6 => arriving.clear(),
            8 => nearly(&mut arriving[at], granted, number),
            9 => {
                let right = arriving[at].clone();
                nearly(&mut arriving[at], granted, number);
                arriving.insert(at + 1, right);
            }
            10..13 => all_alike(arriving, what, number),
            _ => mutate(&mut arriving[at], number),
        }
    }

    /// Something comes again, or something like it.
    fn replay(&mut self, number: u64) {
        let mut dice = Dice::new(number);
        if self.past.is_empty() {
            return;
        }
        let at = match dice.below(3) {
            0 => self.past.len() - 1,
            _ => dice.below(self.past.len() as u64) as usize,
        };
        let (to, mut flying) = self.past[at].clone();
        if dice.one_in(2) {
            mutate(&mut flying, dice.next());
        }
        match dice.one_in(2) {
            true => self.hosts[to].arriving.insert(0, flying),
            false => self.hosts[to].arriving.push(flying),
        }
    }

    fn repeat_first(&mut self) {
        let is_first = |(_, flying): &&(usize, Flying)| {
            Header::parse(&flying.octets).is_ok_and(|header| header.format == Format::First)
        };
        if let Some((to, first)) = self.past.iter().rev().find(is_first).cloned() {
            self.hosts[to].arriving.insert(0, first);
        }
    }

    fn do_by(&mut self, me: usize, kind: &Kind, now: Time) {
        let profile = &self.profile;
        let host = &mut self.hosts[me];
        match kind {
            Kind::Network(..) | Kind::Patch { .. } | Kind::Replay(_) | Kind::RepeatFirst | Kind::Audit => {}
            Kind::Begin { kind, len } => {
                let data = payload(*len, kind.wrapping_add(*len));
                host.open_message(now, address(0), profile.kind(*kind).clone(), data);
            }
            Kind::Open { kind } => host.open(now, address(0), profile.lasting(*kind).clone()),
            Kind::Turn(when) | Kind::TurnIfPressing(when) => host.turn(now, *when),
            Kind::Receive { all, joined, shared } => {
                let came = take(host, *all);
                match joined {
                    true => host.receive_joined(now, &came),
                    false => host.receive(now, &came, *shared),
                }
            }
            Kind::ReceiveMessage { back, all, shared } => {
                let came = take(host, *all);
                host.receive_message(now, *back, &came, *shared);
            }
            Kind::ReceiveFirst { limit, shared, when } => {
                for came in take(host, false) {
                    host.receive_first(now, &came, *limit, *shared, *when);
                }
            }
            Kind::ReceiveAnswer { limit, shared, when } => {
                for came in take(host, false) {
                    host.receive_answer(now, &came, *limit, *shared, *when);
                }
            }
            Kind::ReceiveEnd { goes, when } => {
                for came in take(host, false) {
                    host.receive_end(now, &came, *goes, *when);
                }
            }
            Kind::Respond {
                len,
                unconfirmed,
                when,
            } => host.respond(now, payload(*len, 3), *unconfirmed, *when),
            Kind::SendMessage { back, len, when } => {
                host.send_message(now, *back, payload(*len, *len), *when);
            }
            other => self.command(me, other, now),
        }
        self.hosts[me].take_events();
    }

    fn command(&mut self, me: usize, kind: &Kind, now: Time) {
        let host = &mut self.hosts[me];
        match kind {
            Kind::Accept { back } => host.accept(*back),
            Kind::Read { back, max } => host.read_once(now, *back, *max),
            Kind::Send { back, len, eom } => host.send(now, *back, payload(*len, *len), *eom),
            Kind::Close { back } => host.close(now, *back),
            Kind::Release { back } => host.release(now, *back),
            Kind::MarkAt { back, octets, what } => host.mark_at(now, *back, *octets, *what),
            Kind::FinalStats { back } => host.final_stats(*back),
            Kind::Readable { back } => host.readable(*back),
            Kind::Unreachable { host: of } => {
                host.driver
                    .command()
                    .failed(now, address(*of), Failure::PortUnreachable);
            }
            Kind::TooBig { host: of, octets } => {
                host.driver
                    .command()
                    .failed(now, address(*of), Failure::TooBig { octets: *octets });
            }
            Kind::Clock { offset } => host.driver.command().set_utc_offset(*offset),
            Kind::Odd { back, what, number } => odd_command(host, *back, *what, *number, now),
            _ => {}
        }
    }
}

/// What happens to all that is under way alike, so that receive offload still joins it.
fn all_alike(arriving: &mut Vec<Flying>, what: u8, number: u64) {
    match what {
        10 => arriving.iter_mut().for_each(|flying| flying.src.set_port(7)),
        11 => arriving
            .iter_mut()
            .for_each(|flying| overtake(flying, 1 + number as u32 % 64)),
        _ => arriving.extend(arriving.clone()),
    }
}

/// A command that few programs use.
fn odd_command(host: &mut Host, back: usize, what: u8, number: u64, now: Time) {
    let confirm = match number % 2 {
        0 => Confirm::Received,
        _ => Confirm::Delivered,
    };
    match what % 14 {
        0 => host.command("abort", back, |engine, id| engine.abort(now, id)),
        1 => host.command("mark", back, |engine, id| {
            engine.mark(now, id, MarkAt::Queued, confirm)
        }),
        2 => host.command("tag", back, |engine, id| engine.send_tag(now, id, number)),
        3 => host.command("sort", back, |engine, id| {
            engine.set(
                now,
                id,
                Setting::Sort((!number.is_multiple_of(3)).then_some(number as u16 % 9)),
            )
        }),
        4 => host.command("close reader", back, |engine, id| engine.close_reader(now, id)),
        5 => host.command("forgo reader", back, |engine, id| engine.forgo_reader(now, id)),
        6 => host.command("go back n", back, |engine, id| {
            let kind = match number % 2 {
                0 => ErrorControl::GoBackN,
                _ => ErrorControl::Selective,
            };
            engine.set(now, id, Setting::ErrorControl(kind))
        }),
        7 => host.command("connect", back, |engine, id| engine.connect(now, id)),
        8 => host.command("in rate", back, |engine, id| {
            engine.set(now, id, Setting::InRate(rate(number)))
        }),
        9 => host.command("out rate", back, |engine, id| {
            engine.set(now, id, Setting::OutRate(rate(number)))
        }),
        10 => host.command("unconfirmed", back, |engine, id| {
            engine.set(now, id, Setting::UnconfirmedResponse(number.is_multiple_of(2)))
        }),
        11 => host.command("post", back, |engine, id| engine.post(now, id, number % 5_000)),
        12 => host.command("acknowledged", back, |engine, id| {
            engine.catch_up();
            engine.octets_acknowledged(id)
        }),
        _ => host.command("close reason", back, |engine, id| {
            engine.catch_up();
            engine.context(id).ok().and_then(|context| context.close_reason())
        }),
    }
}

fn rate(number: u64) -> crate::Rate {
    crate::Rate {
        octets_per_second: number % 4 * 100_000,
        burst: 3_000,
    }
}

fn take(host: &mut Host, all: bool) -> Vec<Flying> {
    let count = if all {
        host.arriving.len()
    } else {
        host.arriving.len().min(1)
    };
    host.arriving.drain(..count).collect()
}

/// So many octets of a user's.
fn payload(len: usize, mark: usize) -> Bytes {
    (0..len)
        .map(|at| (at / 7 + mark) as u8)
        .collect::<Vec<_>>()
        .into()
}

/// Time goes on.
pub(super) fn later(now: Time, nanos: u64) -> Time {
    now + Duration::from_nanos(nanos)
}
