//! Packets to the group: one sync for all of them, and when each left (§9.10).

use crate::emit;
use crate::{CastStats, Target};
use bytes::Bytes;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use smallvec::SmallVec;
use std::collections::VecDeque;
use xtp_core::time::Time;
use xtp_core::transmit::{Ecn, Route, TransmitBatch};
use xtp_wire::{Address, First, GroupHeader, Options, Protection, ToGroup, serial_gt};

/// Packets whose departure is remembered: at 100 000 a second those of the last half of a second and more.
const MOST_REMEMBERED: usize = 1 << 16;

/// When a packet left, and how many octets had left with and before it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct SendRecord {
    pub(super) at: Time,
    pub(super) octets: u64,
}

/// Departures of the latest packets, by sync.
#[derive(Debug, Default)]
pub(super) struct SentLog {
    /// Sync of the first that is remembered.
    first: u32,
    departures: VecDeque<SendRecord>,
    octets: u64,
}

impl SentLog {
    pub(super) fn note(&mut self, sync: u32, at: Time, octets: u64) {
        if self.departures.is_empty() {
            self.first = sync;
        }
        if self.departures.len() == MOST_REMEMBERED {
            self.departures.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.octets += octets;
        self.departures.push_back(SendRecord {
            at,
            octets: self.octets,
        });
    }

    /// `None` for one that has not left, or that left too long ago.
    pub(super) fn get(&self, sync: u32) -> Option<SendRecord> {
        let index = sync.wrapping_sub(self.first) as usize;
        self.departures.get(index).copied()
    }

    /// Octets that left so far.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }
}

/// The way to the group.
pub(super) struct GroupPath {
    routes: SmallVec<[Route; 1]>,
    /// K.
    pub(super) key: u64,
    /// Of the newest packet.
    pub(super) sync: u32,
    pub(super) log: SentLog,
    /// Options that every packet has, and every control packet besides: WCLOSE once the stream's end was said (§9.10).
    pub(super) modes: Options,
    pub(super) ending: Options,
    /// What protects packets of the stream; all others are covered whole.
    pub(super) protection: Protection,
    /// What packets of the stream carry (§9.11).
    mark: Ecn,
    /// Octets of all copies of what was no packet of the stream, since the rate was told of them last.
    pub(super) beside: u64,
    pub(super) stats: CastStats,
}

impl GroupPath {
    pub(super) fn new(target: &Target, key: u64, sync: u32) -> Self {
        let route = |dst: SocketAddr| Route {
            dst,
            src: None,
            ecn: Ecn::NotEct,
            sort: None,
        };
        let routes = match target {
            Target::Group(group) => core::iter::once(route(*group)).collect(),
            Target::Each(hosts) => hosts.iter().map(|host| route(*host)).collect(),
        };
        Self {
            routes,
            key,
            sync,
            log: SentLog::default(),
            modes: Options::empty(),
            ending: Options::empty(),
            protection: Protection::Header,
            mark: Ecn::NotEct,
            beside: 0,
            stats: CastStats::default(),
        }
    }

    /// Copies of each packet.
    pub(super) fn copies(&self) -> u64 {
        self.routes.len() as u64
    }

    /// Whether this is where packets go.
    pub(super) fn leads_to(&self, group: SocketAddr) -> bool {
        self.routes.iter().any(|route| route.dst == group)
    }

    /// Whether a receiver can have seen it: it is none that is still to come.
    pub(super) fn has_left(&self, sync: u32) -> bool {
        !serial_gt(sync, self.sync)
    }

    /// The packet that leaves next has this sync.
    pub(super) fn next_sync(&self) -> u32 {
        self.sync.wrapping_add(1)
    }

    /// Packets of the stream carry this from now on; all others carry nothing.
    pub(super) fn mark_stream(&mut self, mark: Ecn) {
        self.mark = mark;
    }

    /// Sends it; returns the octets of one copy.
    pub(super) fn say(
        &mut self,
        said: ToGroup<'_>,
        (seq, options): (u64, Options),
        payload: &[Bytes],
        now: Time,
        out: &mut TransmitBatch,
    ) -> u64 {
        self.sync = self.next_sync();
        let of_stream = matches!(said, ToGroup::Data(_) | ToGroup::Parity(_));
        let protection = if of_stream {
            self.protection
        } else {
            Protection::Packet
        };
        let ecn = if of_stream { self.mark } else { Ecn::NotEct };
        if self.routes.first().is_some_and(|route| route.ecn != ecn) {
            self.routes.iter_mut().for_each(|route| route.ecn = ecn);
        }
        let packet = said.packet(GroupHeader {
            key: self.key,
            sync: self.sync,
            seq,
            options: options | self.modes,
        });
        let octets = emit::push(out, &self.routes, &packet, payload, protection) as u64;
        self.log.note(self.sync, now, octets);
        self.stats.octets_sent += octets * self.copies();
        if !of_stream {
            self.beside += octets * self.copies();
        }
        octets
    }

    /// Sends a form of an announcement to those of the hosts that it is for; all forms have one number. Returns the octets of one copy.
    pub(super) fn announce(
        &mut self,
        first: First<'_>,
        (seq, options): (u64, Options),
        is_for: impl Fn(SocketAddr) -> bool,
        out: &mut TransmitBatch,
    ) -> u64 {
        let routes = self.routes.iter().filter(|route| is_for(route.dst));
        let routes: SmallVec<[Route; 1]> = routes
            .map(|route| Route {
                ecn: Ecn::NotEct,
                ..*route
            })
            .collect();
        if routes.is_empty() {
            return 0;
        }
        let packet = ToGroup::Announcement(first).packet(GroupHeader {
            key: self.key,
            sync: self.next_sync(),
            seq,
            options: options | self.modes,
        });
        let octets = emit::push(out, &routes, &packet, &[], Protection::Packet) as u64;
        self.stats.octets_sent += octets * routes.len() as u64;
        self.beside += octets * routes.len() as u64;
        octets
    }

    /// The announcement left, of so many octets in its longest form.
    pub(super) fn announced(&mut self, octets: u64, now: Time) {
        self.sync = self.next_sync();
        self.log.note(self.sync, now, octets);
    }

    /// The same for a packet that carries nothing of the stream.
    pub(super) fn control(
        &mut self,
        said: ToGroup<'_>,
        (seq, options): (u64, Options),
        now: Time,
        out: &mut TransmitBatch,
    ) {
        self.stats.control_packets += 1;
        self.say(said, (seq, options | self.ending), &[], now, out);
    }

    /// The address segment of announcements and answers: the group, and the service number.
    pub(super) fn address(&self, port: u16) -> Address {
        match self.routes.first().map(|route| route.dst.ip()) {
            Some(IpAddr::V6(group)) => Address::Ipv6 {
                domain: 0,
                dst: group.octets(),
                src: [0; 16],
                dst_port: port,
                src_port: 0,
            },
            other => Address::Ipv4 {
                domain: 0,
                dst: match other {
                    Some(IpAddr::V4(group)) => group.octets(),
                    _ => Ipv4Addr::UNSPECIFIED.octets(),
                },
                src: [0; 4],
                dst_port: port,
                src_port: 0,
            },
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
