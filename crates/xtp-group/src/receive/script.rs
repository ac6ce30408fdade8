//! A transmitter that follows a script, and the receiver it talks to: packets in, packets out, time by hand.

use super::Receiver;
use crate::groups::host_testing::Host;
use crate::groups::{AnyParty, PartyEnv};
use crate::{Descriptor, GroupClose, GroupEvent, GroupId, ReceiverOptions, Symbol, SymbolMark, encode_row};
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn, TransmitBatch};
use xtp_core::user::Read;
use xtp_wire::{
    Address, Body, Caps, Control, DataSegment, Diag, DiagCode, DiagValue, EXTENDED_TRAFFIC_LEN,
    ExtendedTraffic, ExtendedTrafficBuilder, FecAgreement, First, GnackBlock, GroupBuckets, GroupHeader,
    GroupPoint, GroupPoll, GroupTerms, Options, Packet, Parity, Tlvs, ToGroup, ToMember, ToTransmitter,
    Traffic, service,
};

pub(super) const GROUP: SocketAddr =
    SocketAddr::new(IpAddr::V4(core::net::Ipv4Addr::new(239, 1, 2, 3)), 36_036);
pub(super) const TRANSMITTER: SocketAddr =
    SocketAddr::new(IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 1)), 5_000);
/// Another receiver.
const OTHER: SocketAddr = SocketAddr::new(IpAddr::V4(core::net::Ipv4Addr::new(10, 0, 0, 9)), 5_000);
/// Key of the group, and of the receiver at its transmitter.
pub(super) const K: u64 = 77;
pub(super) const T: u64 = 88;
/// Symbols of a block, and octets of a symbol.
pub(super) const SYMBOLS: u16 = 4;
pub(super) const LEN: u16 = 100;
pub(super) const BLOCK: u64 = SYMBOLS as u64 * LEN as u64;

/// What the receiver sent, without what it borrowed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReceiverPacket {
    Join {
        control: Control,
        xkey: u64,
        options: Options,
        name: Option<String>,
    },
    Status {
        control: Control,
        options: Options,
        key: u64,
    },
    Spans {
        control: Control,
        options: Options,
        spans: Vec<(u64, u64)>,
        asked: bool,
        ce: u32,
    },
    Need {
        control: Control,
        blocks: Vec<(u32, u16, u16)>,
        asked: bool,
    },
    Diag(u32, u32, String),
}

pub(super) struct Script {
    pub(super) host: Host,
    pub(super) id: GroupId,
    pub(super) now: Time,
    pub(super) sync: u32,
    pub(super) from: SocketAddr,
    pub(super) key: u64,
    pub(super) fec: Option<FecAgreement>,
    pub(super) size: u32,
    pub(super) service: u8,
    pub(super) caps: Caps,
    /// How questions to all are to be answered.
    pub(super) buckets: Option<GroupBuckets>,
    /// Packets that the receiver sent to the group.
    pub(super) to_all: usize,
    /// The receiver's key, once it was heard.
    pub(super) receiver: u64,
    member_sync: u32,
    /// T, and the newest packet of the receiver that was heard when it is answered.
    pub(super) member: (u64, u32),
    /// What packets come with.
    pub(super) ecn: Ecn,
}

pub(super) fn code() -> FecAgreement {
    FecAgreement {
        scheme: 1,
        k: SYMBOLS,
        pmax: SYMBOLS,
        symbol_len: LEN,
        origin: 0,
    }
}

pub(super) fn options() -> ReceiverOptions {
    ReceiverOptions {
        group: Some(GROUP),
        capacity: 100_000,
        ..ReceiverOptions::default()
    }
}

impl Script {
    pub(super) fn new(options: ReceiverOptions) -> Self {
        Self::seeded(3, options)
    }

    pub(super) fn seeded(seed: u8, options: ReceiverOptions) -> Self {
        let mut host = Host::new(seed);
        let now = Time::ZERO + Duration::from_secs(1_000);
        let id = host.join(now, options).expect("options are sound");
        Self {
            host,
            id,
            now,
            sync: 1_000,
            from: TRANSMITTER,
            key: K,
            fec: Some(code()),
            size: 1,
            service: service::MULTICAST_RELIABLE,
            caps: Caps::XCNTL | Caps::FEC,
            buckets: None,
            to_all: 0,
            receiver: 0,
            member_sync: 50,
            member: (T, 0),
            ecn: Ecn::NotEct,
        }
    }

    /// One that is a member.
    pub(super) fn member(options: ReceiverOptions) -> Self {
        let mut script = Self::new(options);
        script.join();
        script
    }

    pub(super) fn join(&mut self) {
        self.announce();
        let said = self.flush();
        assert!(matches!(said[..], [ReceiverPacket::Join { .. }]), "{said:?}");
        self.answer(0, 0);
        let said = self.flush();
        assert!(matches!(said[..], [ReceiverPacket::Status { .. }]), "{said:?}");
    }

    pub(super) fn wait(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
    }

    fn header(&mut self, seq: u64, options: Options) -> GroupHeader {
        self.sync += 1;
        GroupHeader {
            key: self.key,
            sync: self.sync,
            seq,
            options,
        }
    }

    /// What `packet` is to the receiver's host: from the group's socket or from its own.
    fn deliver(&mut self, packet: &Packet<'_>, to_group: bool) {
        let mut octets = vec![0; packet.encoded_len()];
        packet.encode(&mut octets).expect("a packet that can be sent");
        let datagram = Datagram {
            src: self.from,
            dst: None,
            ecn: self.ecn,
            data: &octets,
            backing: None,
        };
        match to_group {
            true => self.host.receive_group(self.now, GROUP, datagram),
            false => self.host.receive(self.now, datagram),
        }
    }

    pub(super) fn say_to_group(&mut self, said: ToGroup<'_>, seq: u64, options: Options) {
        let header = self.header(seq, options);
        self.deliver(&said.packet(header), true);
    }

    fn terms(&self) -> GroupTerms<'static> {
        GroupTerms {
            size: Some(self.size),
            feedback_rate: Some(2_000),
            grtt_us: Some(1_000),
            fec: self.fec,
            buckets: self.buckets,
            ..GroupTerms::default()
        }
    }

    fn with_traffic(&self, terms: &GroupTerms<'_>, each: impl FnOnce(Traffic<'_>)) {
        let fixed = ExtendedTraffic {
            service: self.service,
            maxdata: 1_440,
            caps: self.caps,
            ..ExtendedTraffic::default()
        };
        let mut specifier = ExtendedTrafficBuilder::new(fixed);
        terms.add_to(&mut specifier).expect("they fit");
        let mut octets = [0; 512];
        let len = specifier.encode(&mut octets).expect("they fit");
        let tlvs = Tlvs::new(&octets[EXTENDED_TRAFFIC_LEN..len]).expect("just written");
        each(Traffic::Extended(ExtendedTraffic { tlvs, ..fixed }));
    }

    pub(super) fn address() -> Address {
        Address::Ipv4 {
            domain: 0,
            dst: [239, 1, 2, 3],
            src: [0; 4],
            dst_port: 0,
            src_port: 0,
        }
    }

    pub(super) fn announce(&mut self) {
        self.first(0, Options::SREQ, &[]);
    }

    pub(super) fn first(&mut self, seq: u64, options: Options, data: &[u8]) {
        let header = self.header(seq, options);
        let mut octets = vec![0; 2_048];
        self.with_traffic(&self.terms(), |traffic| {
            let first = First {
                address: Self::address(),
                traffic,
                data: DataSegment { tag: None, data },
            };
            let said = match data {
                [] => ToGroup::Announcement(first),
                _ => ToGroup::Datagram(first),
            };
            let len = said.packet(header).encode(&mut octets).expect("it fits");
            octets.truncate(len);
        });
        let datagram = Datagram {
            src: self.from,
            dst: None,
            ecn: Ecn::NotEct,
            data: &octets,
            backing: None,
        };
        self.host.receive_group(self.now, GROUP, datagram);
    }

    /// The transmitter announces itself in so many octets; those of the join that leaves.
    pub(super) fn join_for_announcement_of(&mut self, announced: usize) -> usize {
        let terms = self.terms();
        let fixed = ExtendedTraffic {
            service: self.service,
            maxdata: 1_440,
            caps: self.caps,
            ..ExtendedTraffic::default()
        };
        let mut specifier = ExtendedTrafficBuilder::new(fixed);
        terms.add_to(&mut specifier).expect("they fit");
        let mut room = vec![0; announced];
        let around = 32 + 16;
        specifier.pad_to(announced - around);
        let len = specifier.encode(&mut room).expect("it fits");
        let tlvs = Tlvs::new(&room[EXTENDED_TRAFFIC_LEN..len]).expect("just written");
        let first = First {
            address: Self::address(),
            traffic: Traffic::Extended(ExtendedTraffic { tlvs, ..fixed }),
            data: DataSegment { tag: None, data: &[] },
        };
        self.say_to_group(ToGroup::Announcement(first), 0, Options::SREQ);
        let mut out = TransmitBatch::new();
        self.host.flush(self.now, &mut out);
        let mut left = 0;
        out.for_each_datagram(|_, octets| left += octets.len());
        left
    }

    /// Another receiver says to the group what it has.
    pub(super) fn overhear(&mut self, key: u64, said: ToTransmitter<'_>) {
        let header = GroupHeader {
            key,
            ..GroupHeader::default()
        };
        let transmitter = core::mem::replace(&mut self.from, OTHER);
        self.deliver(&said.packet(header), true);
        self.from = transmitter;
    }

    /// JCNTL to the receiver.
    pub(super) fn answer(&mut self, join_point: u64, live: u64) {
        self.member_sync += 1;
        let header = GroupHeader {
            key: self.receiver,
            sync: self.member_sync,
            seq: join_point,
            options: Options::empty(),
        };
        let terms = GroupTerms {
            point: Some(GroupPoint {
                group: self.key,
                at: 0,
                live,
            }),
            ..self.terms()
        };
        let mut octets = vec![0; 2_048];
        self.with_traffic(&terms, |traffic| {
            let said = ToMember::Answer {
                control: Control {
                    echo: self.member.1,
                    ..Control::default()
                },
                xkey: self.member.0,
                address: Self::address(),
                traffic,
            };
            let len = said.packet(header).encode(&mut octets).expect("it fits");
            octets.truncate(len);
        });
        let datagram = Datagram {
            src: self.from,
            dst: None,
            ecn: Ecn::NotEct,
            data: &octets,
            backing: None,
        };
        self.host.receive(self.now, datagram);
    }

    /// The transmitter forgot the receiver, and knows it by another T, under which it counts from there on.
    pub(super) fn forget(&mut self, own: u64, sync: u32) {
        (self.member.0, self.member_sync) = (own, sync);
    }

    pub(super) fn member_sync(&self) -> u32 {
        self.member_sync
    }

    /// Closed is the last event, and that is how.
    pub(super) fn events_end_with(&mut self, close: GroupClose) {
        assert_eq!(self.events().last(), Some(&GroupEvent::Closed(close)));
    }

    /// How many joins leave now, to whom ever.
    pub(super) fn count_joins(&mut self) -> usize {
        let mut out = TransmitBatch::new();
        self.host.flush(self.now, &mut out);
        out.datagrams()
    }

    /// DIAG 3 of the transmitter's host: it does not know that key.
    pub(super) fn disown(&mut self, key: u64) {
        let header = GroupHeader {
            key,
            ..GroupHeader::default()
        };
        let diag = Diag::new(DiagCode::InvalidContext, DiagValue::Unspecified, "");
        self.deliver(&ToMember::Diag(diag).packet(header), false);
    }

    pub(super) fn diag(&mut self, code: DiagCode, value: DiagValue) {
        let header = GroupHeader {
            key: self.receiver,
            ..GroupHeader::default()
        };
        let said = ToMember::Diag(Diag::new(code, value, ""));
        self.deliver(&said.packet(header), false);
    }

    /// The octets of the stream at `position`, all of it being known.
    pub(super) fn octets(position: u64, len: usize) -> Vec<u8> {
        (position..position + len as u64)
            .map(|at| (at * 7 % 251) as u8)
            .collect()
    }

    pub(super) fn data(&mut self, position: u64, len: usize) {
        self.data_with(position, len, Options::empty());
    }

    pub(super) fn data_with(&mut self, position: u64, len: usize, options: Options) {
        let octets = Self::octets(position, len);
        let segment = DataSegment {
            tag: None,
            data: &octets,
        };
        self.say_to_group(ToGroup::Data(segment), position, options);
    }

    /// A whole block of symbols but those named.
    pub(super) fn block_without(&mut self, block: u64, lost: &[u64]) {
        for symbol in 0..u64::from(SYMBOLS) {
            if lost.contains(&symbol) {
                self.sync += 1;
            } else {
                self.data(block * BLOCK + symbol * u64::from(LEN), LEN.into());
            }
        }
    }

    /// A parity row of a block that ends at `end`, marks of its first symbol being `marks`.
    pub(super) fn row_of(&mut self, block: u64, row: u8, end: u64, marks: &[SymbolMark], flags: u8) {
        let start = block * BLOCK;
        let symbols = (end - start).div_ceil(u64::from(LEN)) as u16;
        let pieces: Vec<Vec<u8>> = (0..u64::from(symbols))
            .map(|symbol| {
                let at = start + symbol * u64::from(LEN);
                Self::octets(at, (end - at).min(u64::from(LEN)) as usize)
            })
            .collect();
        let short = end < start + BLOCK;
        let coded: Vec<Symbol<'_>> = pieces
            .iter()
            .enumerate()
            .map(|(index, octets)| Symbol {
                octets,
                descriptor: Descriptor::new(
                    if index == 0 { marks } else { &[] },
                    short && index + 1 == usize::from(symbols),
                )
                .expect("marks in order"),
            })
            .collect();
        let mut octets = vec![0; usize::from(LEN) + 8];
        encode_row(row, usize::from(LEN), &coded, &mut octets);
        self.raw_row(start, symbols, row.into(), end, &octets, flags);
    }

    pub(super) fn raw_row(&mut self, seq: u64, k: u16, row: u16, end: u64, symbol: &[u8], flags: u8) {
        let parity = Parity {
            k,
            row,
            symbol_len: (symbol.len() - 8) as u16,
            scheme: 1,
            flags,
            end,
            symbol,
        };
        self.say_to_group(ToGroup::Parity(parity), seq, Options::empty());
    }

    pub(super) fn row(&mut self, block: u64, row: u8) {
        self.row_of(block, row, (block + 1) * BLOCK, &[], 0);
    }

    pub(super) fn question(&self) -> GroupPoll {
        GroupPoll {
            modulus: 1,
            remainder: 0,
            size: self.size,
            grtt_us: 1_000,
            feedback_rate: 2_000,
            hold_us: 4_000,
        }
    }

    pub(super) fn poll(&mut self, seq: u64, options: Options) {
        let question = self.question();
        self.say_to_group(ToGroup::Poll(question), seq, options);
    }

    pub(super) fn ask(&mut self, question: GroupPoll, seq: u64) {
        self.say_to_group(ToGroup::Poll(question), seq, Options::empty());
    }

    /// A poll that this receiver is not asked by.
    pub(super) fn poll_nobody(&mut self, seq: u64) {
        self.poll_nobody_with(seq, Options::empty());
    }

    pub(super) fn poll_nobody_with(&mut self, seq: u64, options: Options) {
        let mut question = self.question();
        question.modulus = 1_000;
        question.remainder = (self.receiver as u16 % 1_000 + 1) % 1_000;
        self.say_to_group(ToGroup::Poll(question), seq, options);
    }

    /// Looks into the receiver.
    pub(super) fn receiver<R>(&mut self, look: impl FnOnce(&Receiver) -> R) -> R {
        let look = |party: &mut AnyParty, _: &mut PartyEnv<'_>| match party {
            AnyParty::Receiver(receiver) => look(receiver),
            _ => unreachable!("a receiver was made"),
        };
        self.host.with_party(self.id, look).expect("it is there")
    }

    pub(super) fn announce_rows(&mut self, blocks: &[(u32, u16)]) {
        let blocks: Vec<GnackBlock> = blocks
            .iter()
            .map(|(block, rows)| GnackBlock::new(*block, *rows, SYMBOLS))
            .collect();
        self.say_to_group(ToGroup::Rows(&blocks), 0, Options::empty());
    }

    pub(super) fn end(&mut self, seq: u64) {
        self.say_to_group(ToGroup::End, seq, Options::WCLOSE);
    }

    /// END to this receiver alone, with WCLOSE, that has heard its word.
    pub(super) fn let_go(&mut self, seq: u64) {
        self.end_alone(seq, 0);
    }

    /// END to this receiver alone, in answer to the packet in which it first said that everything is here, or one that left
    /// so many before.
    pub(super) fn end_alone(&mut self, seq: u64, before: u32) {
        self.member_sync += 1;
        let said = self.receiver(|receiver| receiver.close.said_in);
        let header = GroupHeader {
            key: self.receiver,
            sync: self.member_sync,
            seq,
            options: Options::WCLOSE,
        };
        let control = Control {
            echo: said.wrapping_sub(before),
            ..Control::default()
        };
        self.deliver(&ToMember::End(control).packet(header), false);
    }

    /// END without WCLOSE.
    pub(super) fn give_up(&mut self, seq: u64) {
        self.say_to_group(ToGroup::End, seq, Options::empty());
    }

    /// What the receiver sends now.
    pub(super) fn flush(&mut self) -> Vec<ReceiverPacket> {
        let mut out = TransmitBatch::new();
        self.host.flush(self.now, &mut out);
        let mut said = Vec::new();
        out.for_each_datagram(|train, octets| {
            let packet = Packet::parse(octets).expect("well-formed");
            let to_all = train.dst == GROUP;
            assert!(to_all || train.dst == self.from);
            assert!(!to_all || packet.header.key.value() == self.key);
            self.to_all += usize::from(to_all);
            said.push(understood(&packet));
        });
        for each in &said {
            if let ReceiverPacket::Join { xkey, .. } = each {
                self.receiver = *xkey;
            }
        }
        said
    }

    /// Lets `millis` pass as a driver does: it comes when the groups want it.
    pub(super) fn run(&mut self, millis: u64) -> Vec<(Time, ReceiverPacket)> {
        let until = self.now + Duration::from_millis(millis);
        let mut said = Vec::new();
        let mut turns = 0;
        loop {
            for each in self.flush() {
                said.push((self.now, each));
            }
            let at = self.host.deadline().map_or(Time::NEVER, |at| at.max(self.now));
            if at > until {
                break;
            }
            self.now = at;
            turns += 1;
            assert!(turns < 100_000, "it never rests");
        }
        self.now = until;
        said
    }

    pub(super) fn events(&mut self) -> Vec<GroupEvent> {
        core::iter::from_fn(|| self.host.poll_event())
            .map(|(id, event)| {
                assert_eq!(id, self.id);
                event
            })
            .collect()
    }

    /// Everything that can be read, and what it ended with.
    pub(super) fn read(&mut self) -> (Vec<u8>, Read) {
        let mut octets = Vec::new();
        loop {
            match self.host.read(self.now, self.id, 1 << 20) {
                Ok(Read::Data { offset, bytes, .. }) => {
                    assert_eq!(bytes, Self::octets(offset, bytes.len()));
                    octets.extend_from_slice(&bytes);
                }
                Ok(other) => return (octets, other),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn understood(packet: &Packet<'_>) -> ReceiverPacket {
    let options = packet.header.options - Options::NOCHECK - Options::MULTI;
    match ToTransmitter::of(packet).expect("a receiver's packet") {
        ToTransmitter::Join {
            control,
            xkey,
            traffic,
            ..
        } => {
            let Traffic::Extended(traffic) = traffic else {
                panic!("an extended specifier")
            };
            let terms = GroupTerms::read(traffic.tlvs).expect("sound terms");
            ReceiverPacket::Join {
                control,
                xkey,
                options,
                name: terms.name.map(str::to_owned),
            }
        }
        ToTransmitter::Status(control) => ReceiverPacket::Status {
            control,
            options,
            key: packet.header.key.value(),
        },
        ToTransmitter::Extended(status) => ReceiverPacket::Spans {
            control: status.control,
            options,
            spans: status.spans.iter().collect(),
            asked: status.delay_us != xtp_wire::DELAY_NONE,
            ce: status.ce,
        },
        ToTransmitter::Need(gnack) => ReceiverPacket::Need {
            control: gnack.control,
            blocks: gnack.iter().collect(),
            asked: gnack.delay_us != xtp_wire::DELAY_NONE,
        },
        ToTransmitter::Diag(diag) => ReceiverPacket::Diag(diag.code, diag.val, diag.text.to_owned()),
        ToTransmitter::Spans { .. } => panic!("never sent: {:?}", matches!(packet.body, Body::Ecntl { .. })),
    }
}
