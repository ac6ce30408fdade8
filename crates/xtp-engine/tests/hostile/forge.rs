//! Packets that fit an association as somebody sees it who reads along on the wire, and say anything.

use super::world::World;
use xtp_wire::{
    Body, Control, DataSegment, Diag, DiagCode, DiagValue, Format, Header, Key, Options, Packet, Span, Spans,
    Token, Xcntl, serial_gt,
};

/// What is known of the packets an end expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The key its peer addresses it by.
    pub(crate) key: Key,
    /// One past the peer's newest.
    pub(crate) sync: u32,
    /// One past the last octet the peer sent.
    pub(crate) seq: u64,
    /// One past the last octet the end itself sent.
    pub(crate) nxt: u64,
    /// What the peer granted last.
    pub(crate) alloc: u64,
    /// The end's own newest sync, and its first.
    pub(crate) echo: u32,
    pub(crate) first_echo: u32,
}

impl View {
    /// What `victim` expects of its peer, going by all that was sent.
    pub(crate) fn of(world: &World, victim: usize) -> Self {
        let peers = || world.sent_by(1 - victim, 0);
        let own = || world.sent_by(victim, 0);
        let end = |packet: &Packet<'_>| {
            let data = packet.body.data();
            packet.header.seq + data.map_or(0, |data| data.sequence_len() as u64)
        };
        let newest = |one: u32, other: u32| if serial_gt(other, one) { other } else { one };
        let latest = peers().last().expect("the peer spoke");
        let first_echo = own().next().expect("the end spoke").header.sync;
        Self {
            key: latest.header.key,
            sync: peers()
                .map(|packet| packet.header.sync)
                .reduce(newest)
                .map_or(0, |sync| sync.wrapping_add(1)),
            seq: peers().map(|packet| end(&packet)).max().unwrap_or(0),
            nxt: own().map(|packet| end(&packet)).max().unwrap_or(0),
            alloc: peers()
                .filter_map(|packet| packet.body.control().map(|control| control.alloc))
                .max()
                .unwrap_or(0),
            echo: own().map(|packet| packet.header.sync).reduce(newest).unwrap_or(0),
            first_echo,
        }
    }

    /// The control segment of a peer who has everything.
    pub(crate) fn control(&self) -> Control {
        Control {
            rseq: self.nxt,
            alloc: self.alloc.max(self.nxt),
            echo: self.echo,
        }
    }

    /// A packet with this body and these options, from here on in the peer's stream.
    pub(crate) fn packet(&self, options: Options, body: Body<'_>) -> Vec<u8> {
        let header = Header {
            key: self.key,
            options,
            format: Format::Cntl,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: self.sync,
            seq: self.seq,
        };
        let packet = Packet {
            header,
            body,
            padding: 0,
        };
        let mut octets = vec![0; packet.encoded_len()];
        packet.encode(&mut octets).expect("it has a form");
        octets
    }

    /// DATA at `seq`.
    pub(crate) fn data(&self, seq: u64, options: Options, data: &[u8]) -> Vec<u8> {
        let body = Body::Data(DataSegment { tag: None, data });
        Self { seq, ..*self }.packet(options, body)
    }

    /// XDATA in place, all acknowledged, with another control segment.
    pub(crate) fn exchange(&self, control: Control, data: &[u8]) -> Vec<u8> {
        let body = Body::Xdata {
            control,
            delay_us: 0,
            data: DataSegment { tag: None, data },
        };
        self.packet(Options::EOM, body)
    }

    pub(crate) fn cntl(&self, options: Options, control: Control) -> Vec<u8> {
        self.packet(options, Body::Cntl(control))
    }

    /// ECNTL and XCNTL with one span.
    pub(crate) fn spans(&self, control: Control, span: (u64, u64)) -> [Vec<u8>; 2] {
        let list = [Span::new(span.0, span.1)];
        let spans = Spans::new(control.rseq, &list).expect("in order");
        let extended = Xcntl {
            control,
            delay_us: xtp_wire::DELAY_NONE,
            spans,
            ..Xcntl::default()
        };
        [
            self.packet(Options::empty(), Body::Ecntl { control, spans }),
            self.packet(Options::empty(), Body::Xcntl(extended)),
        ]
    }

    pub(crate) fn diag(&self, options: Options, code: DiagCode, value: DiagValue, text: &str) -> Vec<u8> {
        self.packet(options, Body::Diag(Diag::new(code, value, text)))
    }

    pub(crate) fn cookie(&self) -> Vec<u8> {
        let token = Token {
            epoch: 0,
            kind: Token::COOKIE,
            time: 1,
            mac: [1; 16],
        };
        self.packet(Options::empty(), Body::Cookie(token))
    }
}
