//! Packets of a group that its parties did not send.

use crate::world::{Sent, address, group};
use std::net::SocketAddr;
use xtp_wire::{
    Address, Body, Caps, Control, DELAY_NONE, DataSegment, Diag, DiagCode, DiagValue, ExtendedTraffic, First,
    Format, Gnack, GnackBlock, GroupHeader, GroupPoint, GroupPoll, Header, Key, MissingRange, Options,
    Packet, Parity, Span, Spans, Tlv, TlvWriter, ToGroup, ToMember, ToTransmitter, Traffic, Xcntl, service,
};

/// A member as its packets show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) at: SocketAddr,
    /// R and T.
    pub(super) key: u64,
    pub(super) own: u64,
}

/// What a reader of the path knows.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// K, the newest sync, and one past the last octet that left.
    pub(super) key: u64,
    pub(super) sync: u32,
    pub(super) position: u64,
    pub(super) members: Vec<Told>,
}

impl View {
    pub(super) fn of(sent: &[Sent]) -> Self {
        let mut view = Self::default();
        for one in sent.iter().filter(|one| one.src == address(0)) {
            let packet = Packet::parse(&one.octets).expect("well-formed");
            if one.dst == group(1) {
                let data = packet.body.data().map_or(0, |data| data.sequence_len() as u64);
                view.key = packet.header.key.value();
                view.sync = packet.header.sync;
                view.position = view.position.max(packet.header.seq + data);
            } else if let Ok(ToMember::Answer { xkey, .. }) = ToMember::of(&packet) {
                let told = Told {
                    at: one.dst,
                    key: packet.header.key.value(),
                    own: xkey,
                };
                if !view.members.contains(&told) {
                    view.members.push(told);
                }
            }
        }
        view
    }

    /// The member at that address.
    pub(super) fn member(&self, at: SocketAddr) -> Option<Told> {
        self.members.iter().copied().find(|told| told.at == at)
    }

    /// The same with keys that somebody made up.
    pub(super) fn guessed(&self, by: u64) -> Self {
        let wrong = |key: u64| (key ^ (by << 20 | 1)) >> 1 << 1 | 1;
        let members = self.members.iter().map(|told| Told {
            at: told.at,
            key: wrong(told.key),
            own: wrong(told.own),
        });
        Self {
            key: wrong(self.key),
            members: members.collect(),
            ..*self
        }
    }

    /// Everything a transmitter may say to its group, as a liar would say it.
    pub(super) fn to_group(&self) -> Vec<Vec<u8>> {
        let far = self.position + (1 << 16);
        let poll = GroupPoll {
            modulus: 1,
            remainder: 0,
            size: u32::MAX,
            grtt_us: u32::MAX,
            feedback_rate: 1,
            hold_us: u32::MAX,
        };
        let data = DataSegment {
            tag: None,
            data: &[0xee; 100],
        };
        let row = [0xee; 1_424];
        let parity = Parity {
            k: 8,
            row: 0,
            symbol_len: 1_416,
            scheme: Parity::SCHEME_BYTES,
            flags: Parity::LAST,
            end: 8 * 1_416,
            symbol: &row,
        };
        let blocks: Vec<GnackBlock> = (0..64).map(|block| GnackBlock::new(block, 8, 8)).collect();
        let end = Options::WCLOSE;
        let said = [
            (
                ToGroup::Announcement(first(DataSegment::default())),
                far,
                Options::SREQ,
            ),
            (ToGroup::Datagram(first(data)), 0, Options::END | Options::RCLOSE),
            (ToGroup::Datagram(first(data)), 0, Options::SREQ),
            (ToGroup::Data(data), 0, Options::empty()),
            (ToGroup::Data(data), self.position, end | Options::EOM),
            (ToGroup::Parity(parity), 0, Options::empty()),
            (ToGroup::Poll(poll), far, Options::empty()),
            (ToGroup::Poll(poll), self.position, end),
            (ToGroup::Rows(&blocks), far, Options::empty()),
            (ToGroup::Question, far, Options::empty()),
            (ToGroup::Position, far, Options::empty()),
            (ToGroup::Position, self.position, end),
            (ToGroup::End, self.position, end),
            (ToGroup::End, self.position, Options::empty()),
        ];
        let made = said
            .into_iter()
            .enumerate()
            .map(|(number, (said, seq, options))| {
                octets(&said.packet(GroupHeader {
                    key: self.key,
                    sync: self.sync.wrapping_add(1 + number as u32),
                    seq,
                    options,
                }))
            });
        made.collect()
    }

    /// Everything a member may say to its transmitter: that it has all, that it lacks all, that it goes.
    pub(super) fn to_transmitter(&self, told: Told, sync: u32) -> Vec<Vec<u8>> {
        let all = Control {
            rseq: self.position,
            alloc: u64::MAX >> 2,
            echo: self.sync,
        };
        let nothing = Control { rseq: 0, ..all };
        let no_room = Control { alloc: 0, ..nothing };
        let list = [Span::new(self.position + 1, self.position + 2)];
        let spans = Spans::new(0, &list).expect("in order");
        let blocks: Vec<GnackBlock> = (0..64).map(|block| GnackBlock::new(block, 8, 8)).collect();
        let extended = |control, delay_us| Xcntl {
            control,
            delay_us,
            ..Xcntl::default()
        };
        let gone = Diag::new(DiagCode::ContextAbandoned, DiagValue::Unspecified, "forged");
        let unknown = Diag::new(DiagCode::InvalidContext, DiagValue::Unspecified, "");
        let said = [
            (ToTransmitter::Status(all), Options::RCLOSE),
            (ToTransmitter::Status(no_room), Options::empty()),
            (
                ToTransmitter::Spans {
                    control: nothing,
                    spans,
                },
                Options::empty(),
            ),
            (ToTransmitter::Extended(extended(all, 0)), Options::RCLOSE),
            (
                ToTransmitter::Extended(extended(nothing, DELAY_NONE)),
                Options::SREQ,
            ),
            (
                ToTransmitter::Need(Gnack::unsolicited(nothing, 1, &blocks)),
                Options::empty(),
            ),
            (
                ToTransmitter::Need(Gnack::answer(nothing, 0, 1, &blocks)),
                Options::empty(),
            ),
            (ToTransmitter::Diag(gone), Options::empty()),
            (ToTransmitter::Diag(unknown), Options::empty()),
        ];
        let made = said.into_iter().enumerate().map(|(number, (said, options))| {
            octets(&said.packet(GroupHeader {
                key: told.own,
                sync: sync.wrapping_add(number as u32),
                seq: 0,
                options,
            }))
        });
        made.collect()
    }

    /// Everything a transmitter may say to one member.
    pub(super) fn to_member(&self, told: Told) -> Vec<Vec<u8>> {
        let point = GroupPoint {
            group: self.key,
            at: self.position,
            live: GroupPoint::NEVER,
        };
        let mut room = [0; 64];
        let mut tlvs = TlvWriter::new(&mut room);
        tlvs.tlv(&Tlv::Catchup(point)).expect("it fits");
        let tlvs = tlvs.finish().expect("it fits");
        let control = Control {
            echo: u32::MAX / 2,
            ..Control::default()
        };
        let answer = ToMember::Answer {
            control,
            xkey: told.own ^ 4,
            address: target(),
            traffic: Traffic::Extended(ExtendedTraffic { tlvs, ..traffic() }),
        };
        let refused = Diag::new(DiagCode::JoinRefused, DiagValue::JoinDenied, "");
        let unknown = Diag::new(DiagCode::InvalidContext, DiagValue::Unspecified, "");
        let said = [
            (answer, Options::empty()),
            (ToMember::End(control), Options::WCLOSE),
            (ToMember::End(control), Options::empty()),
            (ToMember::Diag(refused), Options::empty()),
            (ToMember::Diag(unknown), Options::empty()),
        ];
        let made = said.into_iter().map(|(said, options)| {
            octets(&said.packet(GroupHeader {
                key: told.key,
                sync: u32::MAX / 2,
                seq: self.position,
                options,
            }))
        });
        // A host that does not know T says so under T.
        let disowned = ToMember::Diag(unknown).packet(GroupHeader {
            key: told.own,
            ..GroupHeader::default()
        });
        made.chain([octets(&disowned)]).collect()
    }

    /// What a member says to the whole group (mode B).
    pub(super) fn to_all(&self, control: Control) -> Vec<u8> {
        let status = Xcntl {
            control,
            ..Xcntl::default()
        };
        octets(&ToTransmitter::Extended(status).packet(GroupHeader {
            key: self.key,
            sync: 1,
            seq: 0,
            options: Options::empty(),
        }))
    }

    /// FIRST of a catch-up in the name of the member that goes by `own`; it asks for one range, and names no client and no time.
    pub(super) fn catch_up(&self, own: u64, key: u64) -> Vec<u8> {
        let point = GroupPoint {
            group: self.key,
            at: own,
            live: 0,
        };
        let mut room = [0; 64];
        let mut tlvs = TlvWriter::new(&mut room);
        tlvs.tlv(&Tlv::Catchup(point)).expect("it fits");
        let tlvs = tlvs.finish().expect("it fits");
        let record = MissingRange::new(0, 1_000).expect("some octets").encode();
        let data = DataSegment {
            tag: None,
            data: &record,
        };
        let traffic = Traffic::Extended(ExtendedTraffic {
            service: service::STREAM,
            tlvs,
            ..traffic()
        });
        let first = First {
            address: target(),
            traffic,
            data,
        };
        let header = Header {
            key: Key::own(key),
            options: Options::SREQ,
            format: Format::First,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: 1,
            seq: 0,
        };
        octets(&Packet {
            header,
            body: Body::First(first),
            padding: 0,
        })
    }

    /// A join under the receiver's key `key`; with a name if one is given.
    pub(super) fn join(&self, key: u64, name: &str, options: Options) -> Vec<u8> {
        self.join_with_room(key, name, 1 << 30, options)
    }

    /// The same of one that has so much room.
    pub(super) fn join_with_room(&self, key: u64, name: &str, alloc: u64, options: Options) -> Vec<u8> {
        let mut room = [0; 96];
        let mut tlvs = TlvWriter::new(&mut room);
        if !name.is_empty() {
            tlvs.tlv(&Tlv::Name(name)).expect("it fits");
        }
        let tlvs = tlvs.finish().expect("it fits");
        let join = ToTransmitter::Join {
            control: Control {
                rseq: 0,
                alloc,
                echo: 0,
            },
            xkey: key,
            address: target(),
            traffic: Traffic::Extended(ExtendedTraffic { tlvs, ..traffic() }),
        };
        octets(&join.packet(GroupHeader {
            key: self.key,
            sync: 7,
            seq: 0,
            options,
        }))
    }
}

/// A member that says what a test lets it say, at an address of its own.
pub(super) fn speak(told: Told, sync: u32, said: ToTransmitter<'_>, options: Options) -> Vec<u8> {
    octets(&said.packet(GroupHeader {
        key: told.own,
        sync,
        seq: 0,
        options,
    }))
}

pub(super) fn octets(packet: &Packet<'_>) -> Vec<u8> {
    let mut octets = vec![0; packet.encoded_len()];
    packet.encode(&mut octets).expect("it has a form");
    octets
}

fn target() -> Address {
    Address::Ipv4 {
        domain: 0,
        dst: [239, 0, 0, 1],
        src: [0; 4],
        dst_port: 0,
        src_port: 0,
    }
}

fn traffic() -> ExtendedTraffic<'static> {
    ExtendedTraffic {
        service: service::MULTICAST_RELIABLE,
        maxdata: 1_440,
        credit: 1 << 30,
        caps: Caps::XCNTL | Caps::FEC | Caps::CATCHUP | Caps::MB,
        ..ExtendedTraffic::default()
    }
}

fn first(data: DataSegment<'_>) -> First<'_> {
    First {
        address: target(),
        traffic: Traffic::Extended(traffic()),
        data,
    }
}
