//! Somebody outside of a group who joins under the name of a member, from an address at which nobody listens (§9.18).

use core::net::SocketAddr;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::Ecn;
use xtp_wire::{
    Address, Caps, Control, ExtendedTraffic, GroupHeader, Options, Packet, Tlv, TlvWriter, ToTransmitter,
    Traffic, service,
};

use super::network::Travelling;
use super::plan::CastPlan;
use super::world::transmitter_address;
use crate::app::nanos;
use crate::rng::Rng;

/// Under whose name, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwinPlan {
    /// The member.
    pub member: usize,
    /// When it begins.
    pub at: Duration,
    /// Time between two joins.
    pub every: Duration,
    /// How many joins.
    pub joins: u32,
    /// Each under a key of its own.
    pub is_new: bool,
}

impl CastPlan {
    /// One in eight groups has such a neighbour.
    pub(super) fn draw_twin(&mut self, rng: &mut Rng) {
        if !rng.percent(12) {
            return;
        }
        let last = self.members.len() as u64 - 1;
        let member = rng.range(0, last) as usize;
        self.twin = Some(TwinPlan {
            member,
            at: Duration::from_millis(rng.range(0, 3_000)),
            every: Duration::from_millis(rng.pick(&[20, 100, 300])),
            joins: rng.range(1, 60) as u32,
            is_new: rng.percent(50),
        })
        .filter(|_| !self.members[member].join.name.is_empty());
    }
}

/// The neighbour.
pub(super) struct Twin {
    plan: TwinPlan,
    name: String,
    service_number: u16,
    /// K, once an announcement told it.
    key: Option<u64>,
    made: u32,
}

fn address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 2, 1)), 40_000)
}

impl Twin {
    pub(super) fn of(plan: &CastPlan) -> Option<Self> {
        let twin = plan.twin?;
        Some(Self {
            name: plan.members.get(twin.member)?.join.name.clone(),
            service_number: plan.options.service_number,
            plan: twin,
            key: None,
            made: 0,
        })
    }

    /// A packet of the transmitter passed by: the first is for the group.
    pub(super) fn overhear(&mut self, octets: &[u8]) {
        if self.key.is_none() {
            let packet = Packet::parse(octets).ok();
            self.key = packet.map(|packet| packet.header.key.value());
        }
    }

    /// When it joins next.
    pub(super) fn next(&self) -> Option<u64> {
        let is_left = self.key.is_some() && self.made < self.plan.joins;
        is_left.then(|| nanos(self.plan.at + self.plan.every * self.made))
    }

    /// The join that is due, if one is.
    pub(super) fn pose(&mut self, now: u64) -> Option<Travelling> {
        self.next().filter(|at| *at <= now)?;
        self.made += 1;
        let data = self.join()?;
        Some(Travelling {
            src: address(),
            dst: transmitter_address(),
            ecn: Ecn::NotEct,
            data,
            number: 0,
        })
    }

    fn join(&self) -> Option<Bytes> {
        let mut room = [0; 96];
        let mut tlvs = TlvWriter::new(&mut room);
        tlvs.tlv(&Tlv::Name(&self.name)).ok()?;
        let traffic = Traffic::Extended(ExtendedTraffic {
            service: service::MULTICAST_RELIABLE,
            maxdata: 1 << 15,
            credit: 1 << 30,
            caps: Caps::XCNTL | Caps::FEC | Caps::CATCHUP | Caps::MB,
            tlvs: tlvs.finish().ok()?,
            ..ExtendedTraffic::default()
        });
        let xkey = if self.plan.is_new { self.made.into() } else { 1 };
        let join = ToTransmitter::Join {
            control: Control {
                rseq: 0,
                alloc: 1 << 30,
                echo: 0,
            },
            xkey,
            address: Address::Ipv4 {
                domain: 0,
                dst: [239, 1, 2, 3],
                src: [0; 4],
                dst_port: self.service_number,
                src_port: 0,
            },
            traffic,
        };
        let packet = join.packet(GroupHeader {
            key: self.key?,
            sync: self.made,
            seq: 0,
            options: Options::empty(),
        });
        let mut octets = vec![0; packet.encoded_len()];
        packet.encode(&mut octets).ok()?;
        Some(Bytes::from(octets))
    }
}
