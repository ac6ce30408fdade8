//! Segments of one stream in any order, any overlap, any number of times, through the engine's public interface:
//! the reader gets every octet once, in order, from its place, and in the end all of them.
#![no_main]

use std::net::SocketAddr;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use xtp_engine::{
    ContextId, Datagram, Ecn, Engine, EngineConfig, ErrorControl, Event, ListenOptions, Read, Time,
    TransmitBatch,
};
use xtp_fuzz::{Choices, PORT};
use xtp_wire::{Address, Body, DataSegment, First, Format, Header, Key, Options, Packet, Traffic, service};

const STEPS: usize = 300;
/// Octets of the stream.
const TOTAL: u64 = 4_096;
/// Every so many octets a message ends; no segment reaches beyond that, as no writer would send it.
const MESSAGE: u64 = 128;

struct Reader {
    engine: Engine,
    now: Time,
    id: Option<ContextId>,
    sync: u32,
    modes: Options,
    /// The next octet the user has not seen.
    next: u64,
    ended: bool,
}

fn octet(at: u64) -> u8 {
    (at.wrapping_mul(2_654_435_761) >> 11) as u8
}

impl Reader {
    fn new(choice: u8) -> Self {
        let mut config = EngineConfig::new([4; 32]);
        // The writer here offers nothing, so it gets plain XTP 4.
        config.overrides.legacy = choice & 1 != 0;
        let mut engine = Engine::new(config).expect("limits within their ranges");
        let mut listen = ListenOptions::every_service(PORT);
        if choice & 2 != 0 {
            listen.tuning.error_control = ErrorControl::GoBackN;
        }
        engine.listen(listen).expect("a free number");
        Self {
            engine,
            now: Time::from_nanos(100_000_000_000),
            id: None,
            sync: 1,
            modes: if choice & 4 != 0 {
                Options::NOERR
            } else {
                Options::empty()
            },
            next: 0,
            ended: false,
        }
    }

    fn is_gapless(&self) -> bool {
        !self.modes.contains(Options::NOERR)
    }

    fn receive(&mut self, options: Options, seq: u64, body: Body<'_>) {
        let header = Header {
            key: Key::own(77),
            options: options | self.modes,
            format: Format::Data,
            dlen: 0,
            check: 0,
            sort: 0,
            sync: self.sync,
            seq,
        };
        let packet = Packet {
            header,
            body,
            padding: 0,
        };
        let mut buffer = [0; 2_048];
        let length = packet.encode(&mut buffer).expect("room for it");
        let datagram = Datagram {
            src: SocketAddr::from(([10, 0, 0, 1], 36_036)),
            dst: None,
            ecn: Ecn::NotEct,
            data: &buffer[..length],
            backing: None,
        };
        self.engine.receive(self.now, datagram);
        while let Some((id, event)) = self.engine.poll_event() {
            if matches!(event, Event::Accepted { .. }) {
                self.id = Some(id);
            }
        }
    }

    /// Octets from `from` to `to`, the end of a message or of the stream where it is one.
    fn segment(&mut self, from: u64, to: u64) {
        let data: Vec<u8> = (from..to).map(octet).collect();
        let mut options = Options::empty();
        options.set(Options::EOM, to.is_multiple_of(MESSAGE));
        options.set(Options::WCLOSE, to == TOTAL);
        let data = DataSegment {
            tag: None,
            data: &data,
        };
        let body = match from {
            0 => Body::First(First {
                address: Address::Ipv4 {
                    domain: 0,
                    dst: [10, 0, 0, 2],
                    src: [10, 0, 0, 1],
                    dst_port: PORT,
                    src_port: 0,
                },
                traffic: Traffic::None {
                    service: service::STREAM,
                },
                data,
            }),
            _ => Body::Data(data),
        };
        self.receive(options, from, body);
    }

    fn read(&mut self, max: usize) {
        let Some(id) = self.id else { return };
        loop {
            match self.engine.read(self.now, id, max) {
                Ok(Read::Data { offset, bytes, eom }) => {
                    assert_eq!(offset, self.next, "octets out of order");
                    assert!(bytes.len() <= max && !bytes.is_empty());
                    for (at, value) in (offset..).zip(bytes.iter()) {
                        assert_eq!(*value, octet(at), "octet {at}");
                    }
                    self.next += bytes.len() as u64;
                    assert_eq!(
                        eom,
                        self.next.is_multiple_of(MESSAGE),
                        "end of message at {}",
                        self.next
                    );
                    assert!(
                        self.next.div_ceil(MESSAGE) <= offset / MESSAGE + 1,
                        "two messages in one"
                    );
                }
                Ok(Read::Gap { offset, len }) => {
                    assert!(!self.is_gapless(), "a gap in a reliable stream");
                    assert_eq!(offset, self.next);
                    self.next += len;
                }
                Ok(Read::End) => {
                    self.ended = true;
                    return;
                }
                Ok(Read::Pending) => return,
                other => panic!("{other:?}"),
            }
        }
    }

    fn flush(&mut self) {
        self.engine.flush(self.now, &mut TransmitBatch::new());
    }
}

fuzz_target!(|input: &[u8]| {
    let mut choices = Choices::new(input);
    let mut reader = Reader::new(choices.octet());
    reader.segment(0, 1 + u64::from(choices.octet()) % (MESSAGE - 1));
    for _ in 0..STEPS {
        if choices.is_empty() || reader.ended {
            break;
        }
        match choices.index(8) {
            0 => reader.read(1 + usize::from(choices.word())),
            1 => {
                reader.now = reader.now + Duration::from_millis(u64::from(choices.octet()) % 20);
                reader.flush();
            }
            2 => reader.sync += 1,
            _ => {
                let from = u64::from(choices.word()) % TOTAL;
                let room = MESSAGE - from % MESSAGE;
                reader.segment(from, from + 1 + u64::from(choices.octet()) % room);
            }
        }
    }
    if !reader.is_gapless() {
        return;
    }
    for message in 0..TOTAL / MESSAGE {
        reader.segment(message * MESSAGE, (message + 1) * MESSAGE);
        reader.flush();
        reader.read(1_000);
    }
    assert_eq!((reader.next, reader.ended), (TOTAL, true), "something is missing");
});
