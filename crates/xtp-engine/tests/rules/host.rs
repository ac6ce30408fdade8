//! One engine, and the packets somebody writes to it by hand.

use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{
    ContextId, Datagram, Ecn, Engine, EngineConfig, Event, ListenOptions, OpenOptions, Read, Time,
    TransmitBatch,
};
use xtp_wire::{
    Address, BasicTraffic, Body, Control, DataSegment, ExtendedTraffic, First, Format, Header, Key, Options,
    Packet, Traffic,
};

/// The service number that is listened on.
pub(crate) const PORT: u16 = 9;
/// The key of the writer of packets.
pub(crate) const KEY: u64 = 0x0123_4567_89ab_cdef;

/// An engine and its time.
pub(crate) struct Host {
    pub(crate) engine: Engine,
    pub(crate) now: Time,
    pub(crate) events: Vec<(ContextId, Event)>,
}

pub(crate) fn peer() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 40_000))
}

impl Host {
    /// It listens for everything on [`PORT`].
    pub(crate) fn new() -> Self {
        Self::with(EngineConfig::new([7; 32]))
    }

    pub(crate) fn with(config: EngineConfig) -> Self {
        Self::made(config, ListenOptions::every_service(PORT))
    }

    pub(crate) fn serving(options: ListenOptions) -> Self {
        Self::made(EngineConfig::new([7; 32]), options)
    }

    fn made(config: EngineConfig, options: ListenOptions) -> Self {
        let mut engine = Engine::new(config).expect("a valid configuration");
        engine.listen(options).expect("nobody else listens");
        Self {
            engine,
            now: Time::from_nanos(1_000_000_000),
            events: Vec::new(),
        }
    }

    pub(crate) fn open(&mut self, options: OpenOptions) -> ContextId {
        self.engine.open(self.now, peer(), options).expect("room for it")
    }

    /// What it sends for `octets` from [`peer`].
    pub(crate) fn give_octets(&mut self, octets: &[u8]) -> Vec<Vec<u8>> {
        self.give_from(peer(), octets)
    }

    pub(crate) fn give_from(&mut self, src: SocketAddr, octets: &[u8]) -> Vec<Vec<u8>> {
        let datagram = Datagram {
            src,
            dst: None,
            ecn: Ecn::NotEct,
            data: octets,
            backing: None,
        };
        self.engine.receive(self.now, datagram);
        self.flush()
    }

    pub(crate) fn give(&mut self, packet: &Packet<'_>) -> Vec<Vec<u8>> {
        self.give_octets(&encode(packet))
    }

    pub(crate) fn flush(&mut self) -> Vec<Vec<u8>> {
        let mut out = TransmitBatch::new();
        self.engine.flush(self.now, &mut out);
        let mut sent = Vec::new();
        out.for_each_datagram(|_, octets| sent.push(octets.to_vec()));
        while let Some(event) = self.engine.poll_event() {
            self.events.push(event);
        }
        sent
    }

    /// What it sends by itself within `span`, and when.
    pub(crate) fn wait(&mut self, span: Duration) -> Vec<(Time, Vec<u8>)> {
        let until = self.now + span;
        let mut sent = Vec::new();
        while let Some(at) = self.engine.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            let now = self.now;
            sent.extend(self.flush().into_iter().map(|octets| (now, octets)));
        }
        self.now = until;
        sent
    }

    /// The contexts that were accepted.
    pub(crate) fn accepted(&self) -> Vec<ContextId> {
        let accepted =
            |(id, event): &(ContextId, Event)| matches!(event, Event::Accepted { .. }).then_some(*id);
        self.events.iter().filter_map(accepted).collect()
    }

    pub(crate) fn read(&mut self, id: ContextId) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            match self.engine.read(self.now, id, usize::MAX) {
                Ok(Read::Data { bytes, .. }) => all.extend_from_slice(&bytes),
                Ok(Read::Tag { .. } | Read::Gap { .. }) => {}
                _ => return all,
            }
        }
    }

    /// Writes all of `data`, and ends the stream if `last`.
    pub(crate) fn write(&mut self, id: ContextId, data: &[u8], last: bool) {
        let data = Bytes::copy_from_slice(data);
        let taken = self.engine.send(self.now, id, data.clone(), last);
        assert_eq!(taken, Ok(data.len()), "it has room for this");
        if last {
            self.engine.close_writer(self.now, id).expect("open");
        }
    }

    pub(crate) fn closed(&self, id: ContextId) -> Option<String> {
        self.engine
            .context(id)
            .ok()
            .and_then(|context| context.close_reason())
            .map(|reason| reason.to_string())
    }
}

pub(crate) fn encode(packet: &Packet<'_>) -> Vec<u8> {
    let mut octets = vec![0; packet.encoded_len()];
    packet.encode(&mut octets).expect("a packet that can be written");
    octets
}

/// A packet with [`KEY`] as its sender's own key.
pub(crate) fn packet<'a>(sync: u32, seq: u64, options: Options, body: Body<'a>) -> Packet<'a> {
    keyed(Key::own(KEY), sync, seq, options, body)
}

pub(crate) fn keyed<'a>(key: Key, sync: u32, seq: u64, options: Options, body: Body<'a>) -> Packet<'a> {
    let header = Header {
        key,
        options,
        format: Format::Data,
        dlen: 0,
        check: 0,
        sort: 0,
        sync,
        seq,
    };
    Packet {
        header,
        body,
        padding: 0,
    }
}

pub(crate) fn plain(data: &[u8]) -> DataSegment<'_> {
    DataSegment { tag: None, data }
}

pub(crate) fn data<'a>(sync: u32, seq: u64, options: Options, data: &'a [u8]) -> Packet<'a> {
    packet(sync, seq, options, Body::Data(plain(data)))
}

pub(crate) fn cntl<'a>(
    sync: u32,
    seq: u64,
    options: Options,
    rseq: u64,
    alloc: u64,
    echo: u32,
) -> Packet<'a> {
    packet(sync, seq, options, Body::Cntl(Control { rseq, alloc, echo }))
}

pub(crate) fn address() -> Address {
    Address::Ipv4 {
        domain: 0,
        dst: [10, 0, 0, 2],
        src: [0; 4],
        dst_port: PORT,
        src_port: 0,
    }
}

/// A FIRST for [`PORT`] in the formats of 1995.
pub(crate) fn first(service: u8, sync: u32, seq: u64, options: Options, data: &[u8]) -> Packet<'_> {
    let traffic = Traffic::Basic(BasicTraffic {
        service,
        ..BasicTraffic::default()
    });
    let first = First {
        address: address(),
        traffic,
        data: plain(data),
    };
    packet(sync, seq, options, Body::First(first))
}

/// A FIRST in the extended format.
pub(crate) fn extended<'a>(
    key: u64,
    terms: ExtendedTraffic<'a>,
    sync: u32,
    options: Options,
    data: &'a [u8],
) -> Packet<'a> {
    let first = First {
        address: address(),
        traffic: Traffic::Extended(terms),
        data: plain(data),
    };
    keyed(Key::own(key), sync, 0, options, Body::First(first))
}

pub(crate) fn parse(octets: &[u8]) -> Packet<'_> {
    Packet::parse(octets).expect("engines send well-formed packets")
}
