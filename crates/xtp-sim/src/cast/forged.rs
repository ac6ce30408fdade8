//! Packets to a transmitter that none of its receivers sent.

use core::net::SocketAddr;
use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use xtp_engine::Ecn;
use xtp_wire::{
    Address, Caps, Control, ExtendedTraffic, GroupHeader, Options, Packet, Tlv, TlvWriter, ToTransmitter,
    Traffic, service,
};

use super::network::Travelling;

/// Address of host `low` of those that are no receivers of the plan.
pub(super) fn outside(low: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 2, low)), 40_000)
}

/// A join under a key of the receiver's choice.
pub(super) struct Join<'a> {
    pub(super) name: &'a str,
    pub(super) xkey: u64,
    pub(super) service_number: u16,
    /// Octets for which it has room.
    pub(super) room: u64,
}

impl Join<'_> {
    /// Its octets for the group of key `key`.
    pub(super) fn octets(&self, key: u64, sync: u32) -> Option<Bytes> {
        let mut room = [0; 96];
        let mut tlvs = TlvWriter::new(&mut room);
        if !self.name.is_empty() {
            tlvs.tlv(&Tlv::Name(self.name)).ok()?;
        }
        let traffic = Traffic::Extended(ExtendedTraffic {
            service: service::MULTICAST_RELIABLE,
            maxdata: 1 << 15,
            credit: 1 << 30,
            caps: Caps::XCNTL | Caps::FEC | Caps::CATCHUP | Caps::MB,
            tlvs: tlvs.finish().ok()?,
            ..ExtendedTraffic::default()
        });
        let join = ToTransmitter::Join {
            control: Control {
                rseq: 0,
                alloc: self.room,
                echo: 0,
            },
            xkey: self.xkey,
            address: Address::Ipv4 {
                domain: 0,
                dst: [239, 1, 2, 3],
                src: [0; 4],
                dst_port: self.service_number,
                src_port: 0,
            },
            traffic,
        };
        let header = GroupHeader {
            key,
            sync,
            seq: 0,
            options: Options::empty(),
        };
        octets(&join.packet(header))
    }
}

/// The octets of a packet, if it has a form.
pub(super) fn octets(packet: &Packet<'_>) -> Option<Bytes> {
    let mut octets = vec![0; packet.encoded_len()];
    packet.encode(&mut octets).ok()?;
    Some(Bytes::from(octets))
}

/// A datagram of a host outside.
pub(super) fn datagram(src: SocketAddr, dst: SocketAddr, data: Bytes) -> Travelling {
    Travelling {
        src,
        dst,
        ecn: Ecn::NotEct,
        data,
        number: 0,
        refused: false,
    }
}
