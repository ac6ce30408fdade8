//! A peer that does what `docs/protocol/10-least-peer.md` demands, and nothing else. It knows formats FIRST, DATA and CNTL, sends
//! one segment at a time, keeps nothing out of order, and never uses the other end's key.

use crate::host::{PORT, address, cntl, encode, keyed, parse, plain};
use std::time::Duration;
use xtp_engine::Time;
use xtp_wire::{
    BasicTraffic, Body, Control, Diag, DiagCode, DiagValue, First, Key, Options, Packet, Traffic, serial_gt,
    service,
};

/// Octets of a segment, and of what it grants beyond what it has.
const SEGMENT: usize = 1_000;
const ROOM: u64 = 11_680;
/// It repeats what was not answered for so long.
const WAIT: Duration = Duration::from_millis(500);

/// One association, its only one.
pub(crate) struct Peer {
    /// The initiator's key, whoever that is; 0 before anything came.
    key: u64,
    is_initiator: bool,
    service: u8,
    /// What of FIRST's options is not due to what it carries.
    modes: Options,
    heard: bool,
    sync: u32,
    /// Newest sync that came, and the level of EDGE with it.
    newest: Option<u32>,
    edge: bool,
    /// What it has received, and where the other end's stream ends.
    pub(crate) received: Vec<u8>,
    theirs_ends: Option<u64>,
    /// What it has to send, and whether that is all.
    pub(crate) queue: Vec<u8>,
    pub(crate) closed: bool,
    acknowledged: u64,
    sent: u64,
    granted: u64,
    close_confirmed: bool,
    repeat_at: Option<Time>,
    owes: bool,
    /// END was sent or received; why it was no good end.
    pub(crate) over: bool,
    pub(crate) failed: Option<&'static str>,
}

impl Peer {
    fn new(key: u64, is_initiator: bool, service: u8, modes: Options) -> Self {
        Self {
            key,
            is_initiator,
            service,
            modes,
            heard: false,
            sync: 4_294_967_290,
            newest: None,
            edge: false,
            received: Vec::new(),
            theirs_ends: None,
            queue: Vec::new(),
            closed: false,
            acknowledged: 0,
            sent: 0,
            granted: ROOM,
            close_confirmed: false,
            repeat_at: None,
            owes: false,
            over: false,
            failed: None,
        }
    }

    /// Begins an association; `modes` are those of its paradigm.
    pub(crate) fn open(service: u8, modes: Options, data: &[u8], closed: bool) -> Self {
        let mut peer = Self::new(0x1234_5678, true, service, modes);
        peer.queue = data.to_vec();
        peer.closed = closed;
        if modes.contains(Options::RCLOSE) {
            peer.theirs_ends = Some(0);
        }
        peer
    }

    /// Waits for one.
    pub(crate) fn listen() -> Self {
        Self::new(0, false, 0, Options::empty())
    }

    pub(crate) fn service(&self) -> u8 {
        self.service
    }

    /// Everything of the other end's stream is here.
    pub(crate) fn has_all(&self) -> bool {
        self.theirs_ends == Some(self.received.len() as u64)
    }

    fn is_confirmed(&self) -> bool {
        self.closed && self.acknowledged == self.queue.len() as u64 && self.close_confirmed
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.repeat_at.filter(|_| !self.over)
    }

    /// Takes one datagram.
    pub(crate) fn receive(&mut self, octets: &[u8]) -> Vec<Vec<u8>> {
        let packet = parse(octets);
        let header = packet.header;
        if let Body::First(first) = &packet.body
            && !self.is_initiator
        {
            if matches!(first.traffic, Traffic::Extended(_)) {
                return vec![refusal(&packet)];
            }
            if self.key == 0 {
                self.begin(&packet, first);
            }
        }
        if header.key.value() != self.key || header.key.is_returned() != self.is_initiator {
            return Vec::new();
        }
        if let Body::Diag(diag) = packet.body {
            if !self.heard && diag.code == 1 {
                (self.over, self.failed) = (true, Some("refused"));
            }
            return Vec::new();
        }
        if self.over {
            return match header.options.contains(Options::END) {
                true => Vec::new(),
                false => vec![self.control(Options::END)],
            };
        }
        self.heard = true;
        self.take(&packet);
        Vec::new()
    }

    fn begin(&mut self, packet: &Packet<'_>, first: &First<'_>) {
        self.key = packet.header.key.value();
        self.service = first.traffic.service();
        // Nothing is sent back on a stream the other end has refused, or to a datagram.
        self.closed = matches!(self.service, service::DATAGRAM | service::ACKNOWLEDGED);
    }

    fn take(&mut self, packet: &Packet<'_>) {
        let header = packet.header;
        let newer = self.newest.is_none_or(|newest| serial_gt(header.sync, newest));
        let edge = header.options.contains(Options::EDGE);
        if newer {
            self.owes |= self.newest.is_some() && edge != self.edge;
            (self.newest, self.edge) = (Some(header.sync), edge);
        }
        self.owes |= header.options.intersects(Options::SREQ | Options::DREQ);
        if let Some(data) = packet.body.data() {
            let known = (self.received.len() as u64).saturating_sub(header.seq) as usize;
            if header.seq <= self.received.len() as u64 && known < data.data.len() {
                self.received.extend_from_slice(&data.data[known..]);
            }
            if header.options.contains(Options::WCLOSE) {
                self.theirs_ends = Some(header.seq + data.data.len() as u64);
            }
        } else if header.options.contains(Options::WCLOSE) {
            self.theirs_ends = Some(header.seq);
        }
        if let Some(control) = packet.body.control() {
            if control.rseq <= self.sent {
                self.acknowledged = self.acknowledged.max(control.rseq);
            }
            self.granted = self.granted.max(control.alloc);
        }
        if header.options.contains(Options::RCLOSE) && !matches!(packet.body, Body::First(_)) {
            // Everything is there, or no more is wanted: either way nothing is left to send.
            self.acknowledged = self.queue.len() as u64;
            (self.closed, self.close_confirmed) = (true, true);
        }
        if header.options.contains(Options::RCLOSE) && matches!(packet.body, Body::First(_)) {
            (self.closed, self.close_confirmed) = (true, true);
        }
        if header.options.contains(Options::END) {
            self.over = true;
            if !(self.has_all() && (self.is_confirmed() || self.service == service::DATAGRAM)) {
                self.failed = Some("ended before its time");
            }
        }
    }

    /// What it sends now.
    pub(crate) fn turn(&mut self, now: Time) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        if self.over || self.key == 0 || self.service == service::DATAGRAM && !self.is_initiator {
            return out;
        }
        let all_sent = self.sent == self.queue.len() as u64;
        let waits = self.sent > self.acknowledged
            || (self.closed && all_sent && !self.close_confirmed)
            || (self.is_initiator && !self.heard);
        if !waits {
            self.repeat_at = None;
        }
        let next = self.acknowledged == self.sent && !all_sent && (self.heard || self.sent == 0);
        let due = waits && self.repeat_at.is_none_or(|at| at <= now);
        if next || due {
            self.owes = false;
            out.push(self.segment());
            self.repeat_at = Some(now + WAIT);
            if self.is_initiator && self.service == service::DATAGRAM {
                self.over = true;
            }
        }
        if self.heard && self.has_all() && self.is_confirmed() {
            self.over = true;
            return vec![self.control(Options::END)];
        }
        if std::mem::take(&mut self.owes) {
            out.push(self.control(Options::empty()));
        }
        out
    }

    /// The oldest segment that is not acknowledged, with all that is to be said of it: FIRST as long as nothing was heard.
    fn segment(&mut self) -> Vec<u8> {
        let from = self.acknowledged as usize;
        let until = self.queue.len().min(from + SEGMENT).min(self.granted as usize);
        self.sent = self.sent.max(until as u64);
        let last = self.closed && until == self.queue.len();
        let mut options = self.bits() | self.modes | Options::SREQ;
        options.set(Options::EOM, last && until > from);
        options.set(Options::WCLOSE, last);
        let data = self.queue[from..until].to_vec();
        if self.service == service::DATAGRAM {
            options.remove(Options::SREQ);
            options |= Options::END;
        }
        self.sync = self.sync.wrapping_add(1);
        if self.is_initiator && !self.heard {
            let traffic = match self.service {
                service::DATAGRAM => Traffic::None {
                    service: self.service,
                },
                service => Traffic::Basic(BasicTraffic {
                    service,
                    ..BasicTraffic::default()
                }),
            };
            let first = First {
                address: address(),
                traffic,
                data: plain(&data),
            };
            return self.encoded(options, from as u64, Body::First(first));
        }
        if data.is_empty() {
            self.sync = self.sync.wrapping_sub(1);
            return self.control(Options::SREQ);
        }
        self.encoded(options, from as u64, Body::Data(plain(&data)))
    }

    /// RCLOSE once everything is here.
    fn bits(&self) -> Options {
        match self.has_all() {
            true => Options::RCLOSE,
            false => Options::empty(),
        }
    }

    fn control(&mut self, more: Options) -> Vec<u8> {
        let mut options = self.bits() | more;
        options.set(
            Options::WCLOSE,
            self.closed && self.sent == self.queue.len() as u64,
        );
        self.sync = self.sync.wrapping_add(1);
        let rseq = self.received.len() as u64;
        let status = Control {
            rseq,
            alloc: rseq + ROOM,
            echo: self.newest.unwrap_or(0),
        };
        self.encoded(options, self.sent, Body::Cntl(status))
    }

    fn encoded(&self, options: Options, seq: u64, body: Body<'_>) -> Vec<u8> {
        let key = match self.is_initiator {
            true => Key::own(self.key),
            false => Key::returned(self.key),
        };
        encode(&keyed(key, self.sync, seq, options, body))
    }
}

/// "I do not know this form of the specifier": the other end begins again with the old one.
fn refusal(first: &Packet<'_>) -> Vec<u8> {
    let diag = Diag::new(DiagCode::ContextRefused, DiagValue::TrafficFormat, "");
    let mut packet = cntl(0, 0, Options::empty(), 0, 0, 0);
    packet.header.key = Key::returned(first.header.key.value());
    packet.body = Body::Diag(diag);
    assert_eq!(PORT, 9);
    encode(&packet)
}
