//! A datagram as an observer between the hosts sees it.

use smallvec::SmallVec;
use xtp_wire::{
    Body, Control, DataSegment, Format, Key, Options, Packet, PathKind, Traffic, WireError, Xcntl, XcntlFlags,
};

/// What a traffic specifier states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// tformat: 0, 1 or 0x80.
    pub format: u8,
    /// Largest data segment, 0 if not stated.
    pub maxdata: u32,
    /// Rate and burst the peer's writer must not exceed.
    pub inrate: (u64, u32),
    /// Rate and burst of the own writer.
    pub outrate: (u64, u32),
    /// Initial alloc granted.
    pub credit: u64,
    /// Whether a token came with it.
    pub token: bool,
    /// Whether a client's number came with it.
    pub client: bool,
    /// UTC milliseconds of the creation of the association.
    pub time: u32,
}

/// A packet, decoded once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whose key, and which.
    pub key: Key,
    /// Option bits as they were sent.
    pub options: Options,
    /// Packet format.
    pub format: Format,
    /// Synchronisation number.
    pub sync: u32,
    /// Sequence number.
    pub seq: u64,
    /// Octets of sequence space the packet occupies (a tag counts eight).
    pub len: u64,
    /// Octets of the datagram.
    pub size: usize,
    /// Octets of the packet, padding behind it not counted.
    pub packet_len: usize,
    /// The sort field.
    pub sort: u16,
    /// Common control segment.
    pub control: Option<Control>,
    /// Octets held beyond rseq.
    pub spans: SmallVec<[(u64, u64); 4]>,
    /// Flags and delivered of XCNTL.
    pub extended: Option<(u16, Option<u64>)>,
    /// The receiver's window in XCNTL (§5.3.1).
    pub window: Option<u64>,
    /// Delay in microseconds of XCNTL and XDATA.
    pub delay_us: Option<u32>,
    /// Key of the sender (TCNTL, JCNTL).
    pub xkey: Option<u64>,
    /// Traffic specifier (FIRST, TCNTL, JCNTL).
    pub statement: Option<Statement>,
    /// It answers a PATH challenge.
    pub answers_challenge: bool,
    /// Code and val of a DIAG.
    pub diag: Option<(u32, u32)>,
    /// Service number FIRST names.
    pub port: Option<u16>,
    /// The first octets FIRST carries, if it carries so many.
    pub begins: Option<[u8; 16]>,
}

impl Seen {
    /// Its specifier has tformat 0x80, and so time and client identity on FIRST.
    pub fn states_extended(&self) -> bool {
        self.statement.is_some_and(|statement| statement.format == 0x80)
    }

    /// Decodes a datagram.
    ///
    /// # Errors
    /// Whatever makes it no well-formed packet.
    pub fn decode(datagram: &[u8]) -> Result<Self, WireError> {
        let packet = Packet::parse(datagram)?;
        let header = packet.header;
        let mut seen = Self {
            key: header.key,
            options: header.options,
            format: header.format,
            sync: header.sync,
            seq: header.seq,
            len: 0,
            size: datagram.len(),
            packet_len: 32 + header.dlen as usize,
            sort: header.sort,
            control: None,
            spans: SmallVec::new(),
            extended: None,
            window: None,
            delay_us: None,
            xkey: None,
            statement: None,
            answers_challenge: false,
            diag: None,
            port: None,
            begins: None,
        };
        seen.take(&packet.body);
        Ok(seen)
    }

    fn take(&mut self, body: &Body<'_>) {
        match body {
            Body::First(first) => {
                self.port = first.address.port();
                self.statement = Some(statement(&first.traffic));
                self.begins = first.data.data.first_chunk().copied();
                self.take_data(&first.data);
            }
            Body::Data(data) => self.take_data(data),
            Body::Xdata {
                control,
                delay_us,
                data,
            } => {
                self.control = Some(*control);
                self.delay_us = Some(*delay_us);
                self.take_data(data);
            }
            Body::Cntl(control) => self.control = Some(*control),
            Body::Ecntl { control, spans } => {
                self.control = Some(*control);
                self.spans = spans.iter().collect();
            }
            Body::Tcntl {
                control,
                xkey,
                traffic,
            }
            | Body::Jcntl {
                control,
                xkey,
                traffic,
                ..
            } => {
                self.control = Some(*control);
                self.xkey = Some(*xkey);
                self.statement = Some(statement(traffic));
            }
            Body::Xcntl(extended) => self.take_xcntl(extended),
            Body::Path(path) => self.answers_challenge = path.kind == PathKind::Response,
            Body::Diag(diag) => self.diag = Some((diag.code, diag.val)),
            _ => {}
        }
    }

    fn take_xcntl(&mut self, extended: &Xcntl<'_>) {
        self.control = Some(extended.control);
        self.spans = extended.spans.iter().collect();
        self.delay_us = Some(extended.delay_us);
        self.extended = Some((extended.flags.bits(), extended.delivered));
        let ships = extended.flags.contains(XcntlFlags::WINDOW);
        self.window = ships.then_some(extended.rxrate);
    }

    fn take_data(&mut self, data: &DataSegment<'_>) {
        self.len = data.data.len() as u64 + if data.tag.is_some() { 8 } else { 0 };
    }

    /// One past the last octet of sequence space it occupies.
    pub fn end(&self) -> u64 {
        self.seq.saturating_add(self.len)
    }

    /// Whether it carries octets of a stream, or could (FIRST).
    pub fn is_data(&self) -> bool {
        self.format.carries_data()
    }

    /// Whether `bits` are all set.
    pub fn has(&self, bits: Options) -> bool {
        self.options.contains(bits)
    }
}

fn statement(traffic: &Traffic<'_>) -> Statement {
    match traffic {
        Traffic::Basic(basic) => Statement {
            format: 1,
            maxdata: basic.maxdata,
            inrate: (u64::from(basic.inrate), basic.inburst),
            outrate: (u64::from(basic.outrate), basic.outburst),
            ..Statement::default()
        },
        Traffic::Extended(extended) => Statement {
            format: 0x80,
            maxdata: extended.maxdata,
            inrate: (extended.inrate, extended.inburst),
            outrate: (extended.outrate, extended.outburst),
            credit: extended.credit,
            token: extended
                .tlvs
                .iter()
                .any(|tlv| matches!(tlv, xtp_wire::Tlv::Token(_))),
            client: extended
                .tlvs
                .iter()
                .any(|tlv| matches!(tlv, xtp_wire::Tlv::Client(_))),
            time: extended.time,
        },
        _ => Statement::default(),
    }
}
