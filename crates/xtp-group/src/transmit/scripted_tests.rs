//! A host with a transmitter, and receivers that are scripts: what they say is made packet by packet.

use crate::GroupError;
use crate::groups::host_testing::Host;
use crate::{GroupEvent, GroupId, Target, TransmitterOptions};
use bytes::Bytes;
use core::net::SocketAddr;
use core::time::Duration;
use xtp_core::Time;
use xtp_core::transmit::{Datagram, Ecn, TransmitBatch};
use xtp_wire::{
    Address, Body, Caps, Control, Diag, DiagCode, DiagValue, ExtendedTraffic, Gnack, GnackBlock, GroupHeader,
    Options, Packet, Spans, Tlv, TlvWriter, ToGroup, ToMember, ToTransmitter, Traffic, Xcntl,
};

pub(super) const MS: Duration = Duration::from_millis(1);
pub(super) const SECOND: Duration = Duration::from_secs(1);

pub(super) fn group() -> SocketAddr {
    "239.1.2.3:36036".parse().expect("an address")
}

pub(super) fn host(number: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, number], 40_000))
}

/// One packet that left.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) to: SocketAddr,
    octets: Vec<u8>,
}

impl Heard {
    pub(super) fn packet(&self) -> Packet<'_> {
        Packet::parse(&self.octets).expect("what leaves is well-formed")
    }

    pub(super) fn len(&self) -> usize {
        self.octets.len()
    }

    pub(super) fn to_group(&self) -> Option<ToGroup<'_>> {
        ToGroup::of(&self.packet()).ok()
    }

    pub(super) fn to_member(&self) -> Option<ToMember<'_>> {
        ToMember::of(&self.packet()).ok()
    }
}

/// The host, its clock, and everything that left.
pub(super) struct Stage {
    pub(super) host: Host,
    pub(super) id: GroupId,
    pub(super) now: Time,
    pub(super) heard: Vec<Heard>,
    pub(super) events: Vec<GroupEvent>,
}

impl Stage {
    pub(super) fn new(options: TransmitterOptions) -> Self {
        Self::to(Target::Group(group()), options)
    }

    pub(super) fn to(target: Target, options: TransmitterOptions) -> Self {
        Self::with(|host, now| host.cast(now, target, options))
    }

    pub(super) fn with(begin: impl FnOnce(&mut Host, Time) -> Result<GroupId, GroupError>) -> Self {
        let mut host = Host::new(7);
        let now = Time::ZERO + SECOND;
        let id = begin(&mut host, now).expect("sound options");
        Self {
            host,
            id,
            now,
            heard: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Lets time go on, serving the host whenever it wants.
    pub(super) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            self.flush();
            match self.host.deadline() {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => break,
            }
        }
        self.now = end;
        self.flush();
    }

    /// Serves the host until it has nothing to say.
    pub(super) fn flush(&mut self) {
        for round in 0.. {
            assert!(round < 100_000, "it never comes to rest");
            let mut batch = TransmitBatch::new();
            self.host.flush(self.now, &mut batch);
            let heard = &mut self.heard;
            batch.for_each_datagram(|train, octets| {
                heard.push(Heard {
                    to: train.dst,
                    octets: octets.to_vec(),
                });
            });
            while let Some((_, event)) = self.host.poll_event() {
                self.events.push(event);
            }
            if batch.is_empty() {
                break;
            }
        }
    }

    /// How much of the stream was sent.
    pub(super) fn position(&mut self) -> u64 {
        self.host.cast_stats(self.now, self.id).expect("known").position
    }

    pub(super) fn write(&mut self, octets: usize) -> usize {
        let data: Vec<u8> = (0..octets).map(|at| (at % 251) as u8).collect();
        self.host
            .send(self.now, self.id, Bytes::from(data), false)
            .expect("open")
    }

    pub(super) fn finish(&mut self) {
        self.host.finish(self.now, self.id).expect("known");
    }

    /// Hands in a packet that came from `src`.
    pub(super) fn hear(&mut self, src: SocketAddr, packet: &Packet<'_>) {
        let mut octets = vec![0; packet.encoded_len()];
        packet.encode(&mut octets).expect("well-formed");
        let datagram = Datagram {
            src,
            dst: None,
            ecn: Ecn::NotEct,
            data: &octets,
            backing: None,
        };
        self.host.receive(self.now, datagram);
    }

    /// What left for the group since this was asked last, and for members.
    pub(super) fn take(&mut self) -> Vec<Heard> {
        core::mem::take(&mut self.heard)
    }

    /// The group's key, from its first announcement.
    pub(super) fn key(&self) -> u64 {
        let first = self.heard.iter().find(|heard| heard.to_group().is_some());
        first.expect("it announces itself").packet().header.key.value()
    }

    pub(super) fn count(&self, of: impl Fn(&ToGroup<'_>) -> bool) -> usize {
        let all = self.heard.iter().filter_map(Heard::to_group);
        all.filter(|said| of(said)).count()
    }
}

/// A receiver that says what a test lets it say.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub(super) at: SocketAddr,
    /// R.
    pub(super) key: u64,
    /// T, once it was told.
    pub(super) own: u64,
    pub(super) group: u64,
    pub(super) sync: u32,
    pub(super) room: u64,
    pub(super) maxdata: u32,
    pub(super) port: u16,
    pub(super) caps: Caps,
    name: Option<&'static str>,
}

impl Actor {
    pub(super) fn new(number: u8, group: u64) -> Self {
        Self {
            at: host(number),
            key: 0x1000 + u64::from(number),
            own: 0,
            group,
            sync: 100,
            room: 1 << 30,
            maxdata: 65_000,
            port: 0,
            caps: Caps::XCNTL | Caps::FEC | Caps::MB,
            name: None,
        }
    }

    /// One that says how it is called.
    pub(super) fn named(number: u8, group: u64, name: &'static str) -> Self {
        Self {
            name: Some(name),
            ..Self::new(number, group)
        }
    }

    fn header(&mut self, key: u64, options: Options) -> GroupHeader {
        self.sync += 1;
        GroupHeader {
            key,
            sync: self.sync,
            seq: 0,
            options,
        }
    }

    /// Step 2.
    pub(super) fn join(&mut self, stage: &mut Stage, rseq: u64, options: Options) {
        let header = self.header(self.group, options);
        let mut room = [0; 96];
        let mut tlvs = TlvWriter::new(&mut room);
        if let Some(name) = self.name {
            tlvs.tlv(&Tlv::Name(name)).expect("it fits");
        }
        let tlvs = tlvs.finish().expect("it fits");
        let join = ToTransmitter::Join {
            control: Control {
                rseq,
                alloc: self.room,
                echo: 0,
            },
            xkey: self.key,
            address: Address::Ipv4 {
                domain: 0,
                dst: [239, 1, 2, 3],
                src: [0; 4],
                dst_port: self.port,
                src_port: 0,
            },
            traffic: Traffic::Extended(ExtendedTraffic {
                caps: self.caps,
                service: xtp_wire::service::MULTICAST_RELIABLE,
                maxdata: self.maxdata,
                tlvs,
                ..ExtendedTraffic::default()
            }),
        };
        stage.hear(self.at, &join.packet(header));
    }

    /// Finds the latest answer to this one; T, where it begins and `live`.
    pub(super) fn answer(&mut self, heard: &[Heard]) -> Option<(u64, u64, u32)> {
        let mut found = None;
        for one in heard.iter().filter(|one| one.to == self.at) {
            let packet = one.packet();
            if let Some(ToMember::Answer { xkey, traffic, .. }) = one.to_member()
                && packet.header.key.value() == self.key
                && let Traffic::Extended(specifier) = traffic
            {
                let terms = xtp_wire::GroupTerms::read(specifier.tlvs).expect("sound");
                self.own = xkey;
                found = terms
                    .point
                    .map(|point| (packet.header.seq, point.live, packet.header.sync));
            }
        }
        found
    }

    /// All four steps.
    pub(super) fn enter(&mut self, stage: &mut Stage) {
        self.enter_after(stage, Duration::ZERO);
    }

    /// The same where the answer comes within `span`.
    pub(super) fn enter_after(&mut self, stage: &mut Stage, span: Duration) {
        self.join(stage, 0, Options::empty());
        stage.run(span);
        let (seq, _, sync) = self.answer(&stage.heard).expect("it is answered");
        self.confirm(stage, seq, sync);
    }

    /// Step 4, or the answer to any packet to it alone.
    pub(super) fn confirm(&mut self, stage: &mut Stage, rseq: u64, echo: u32) {
        let control = Control {
            rseq,
            alloc: rseq + self.room,
            echo,
        };
        let header = self.header(self.own, Options::empty());
        stage.hear(self.at, &ToTransmitter::Status(control).packet(header));
    }

    /// XCNTL without spans, asked or not.
    pub(super) fn status(&mut self, stage: &mut Stage, rseq: u64, echo: u32, options: Options) {
        self.spans(stage, rseq, echo, Spans::EMPTY, options);
    }

    /// The same with spans, as the answer to a poll.
    pub(super) fn spans_asked(&mut self, stage: &mut Stage, rseq: u64, echo: u32, spans: Spans<'_>) {
        self.spans(stage, rseq, echo, spans, Options::empty());
    }

    /// DIAG of a user that does not want what came.
    pub(super) fn reject(&mut self, stage: &mut Stage, text: &str) {
        let header = self.header(self.own, Options::empty());
        let diag = Diag::new(DiagCode::ContextAbandoned, DiagValue::Unspecified, text);
        stage.hear(self.at, &ToTransmitter::Diag(diag).packet(header));
    }

    /// DIAG of a user that closes the receiver before it has everything.
    pub(super) fn leave(&mut self, stage: &mut Stage) {
        let header = self.header(self.own, Options::empty());
        let diag = Diag::new(DiagCode::ContextAbandoned, DiagValue::HostGoingDown, "");
        stage.hear(self.at, &ToTransmitter::Diag(diag).packet(header));
    }

    pub(super) fn spans(
        &mut self,
        stage: &mut Stage,
        rseq: u64,
        echo: u32,
        spans: Spans<'_>,
        options: Options,
    ) {
        let status = Xcntl {
            control: Control {
                rseq,
                alloc: rseq + self.room,
                echo,
            },
            spans,
            ..Xcntl::default()
        };
        let header = self.header(self.own, options);
        stage.hear(self.at, &ToTransmitter::Extended(status).packet(header));
    }

    /// XCNTL without spans that answers a poll at once.
    pub(super) fn answer_poll(&mut self, stage: &mut Stage, rseq: u64, echo: u32) {
        let status = Xcntl {
            control: Control {
                rseq,
                alloc: rseq + self.room,
                echo,
            },
            delay_us: 0,
            ..Xcntl::default()
        };
        let header = self.header(self.own, Options::empty());
        stage.hear(self.at, &ToTransmitter::Extended(status).packet(header));
    }

    /// GNACK that nobody asked for.
    pub(super) fn need(&mut self, stage: &mut Stage, rseq: u64, echo: u32, blocks: &[GnackBlock]) {
        let control = Control {
            rseq,
            alloc: rseq + self.room,
            echo,
        };
        let header = self.header(self.own, Options::empty());
        let gnack = ToTransmitter::Need(Gnack::unsolicited(control, 0, blocks));
        stage.hear(self.at, &gnack.packet(header));
    }
}

/// The sync of the newest packet to the group.
pub(super) fn newest(heard: &[Heard]) -> u32 {
    let mut group = heard.iter().filter(|one| one.to_group().is_some());
    group.next_back().expect("something left").packet().header.sync
}

/// DATA of these packets: positions, octets, options.
pub(super) fn data(heard: &[Heard]) -> Vec<(u64, Vec<u8>, Options)> {
    let mut all = Vec::new();
    for one in heard {
        let packet = one.packet();
        if let Body::Data(segment) = packet.body {
            all.push((packet.header.seq, segment.data.to_vec(), packet.header.options));
        }
    }
    all
}
