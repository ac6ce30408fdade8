//! The packets of a receiver (§9.13).

use super::close::Farewell;
use super::need::Missing;
use super::{Receiver, Stage};
use crate::emit;
use crate::groups::PartyEnv;
use core::net::{IpAddr, SocketAddr};
use smallvec::SmallVec;
use xtp_core::path::LEAST_DATAGRAM;
use xtp_core::transmit::{Ecn, Route, TransmitBatch};
use xtp_wire::{
    Address, Control, DELAY_NONE, EXTENDED_TRAFFIC_LEN, ExtendedTraffic, ExtendedTrafficBuilder, Gnack,
    GroupHeader, GroupTerms, Options, Span, Spans, Tlvs, ToTransmitter, Traffic, Xcntl, XcntlFlags,
};

/// Most ranges in a status packet.
pub(super) const SPANS: usize = 32;
/// Octets of the specifier of a join: three times that leave room for as many answers as are repeated (§7.3), and with all the rest
/// it is no longer than the shortest announcement.
const PADDED: usize = 440;
/// The rate is measured over no less than this.
const MEASURE: core::time::Duration = core::time::Duration::from_millis(10);
/// Units of the rate in a GNACK.
const GNACK_RATE: u64 = 256;

/// What the next flush sends.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    sync: u32,
    pub(super) reports: u64,
    /// A join, or a question whether the transmitter lives.
    pub(super) join: bool,
    pub(super) probes: bool,
    /// CNTL that answers the transmitter's word of that number.
    pub(super) answer: Option<u32>,
    /// A status; one that answers a poll; one that asks where this receiver stands.
    pub(super) status: bool,
    pub(super) asked: bool,
    pub(super) asks: bool,
    /// A status to the whole group.
    pub(super) to_all: bool,
    /// What is missing and not spoken of.
    pub(super) need: bool,
    /// This receiver ends before it has everything.
    pub(super) farewell: Option<Farewell>,
}

impl Outbox {
    pub(super) fn new(sync: u32) -> Self {
        Self {
            sync,
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !(self.join
            || self.status
            || self.need
            || self.to_all
            || self.answer.is_some()
            || self.farewell.is_some())
    }

    /// Nothing of what was due is said; the numbers go on.
    pub(super) fn clear(&mut self) {
        *self = Self {
            sync: self.sync,
            reports: self.reports,
            ..Self::default()
        };
    }
}

impl Receiver {
    /// Sends what is due.
    pub(super) fn emit(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if self.outbox.is_empty() {
            return;
        }
        if let Some(farewell) = self.outbox.farewell.take() {
            self.send(ToTransmitter::Diag(farewell.diag()), Options::empty(), env, out);
            return self.outbox.clear();
        }
        if self.outbox.join {
            self.send_join(env, out);
        }
        if self.stage != Stage::Joining && self.bound.as_ref().is_some_and(|bound| bound.member != 0) {
            if let Some(sync) = self.outbox.answer {
                self.send_answer(sync, env, out);
            }
            if self.outbox.status || self.outbox.need {
                self.send_report(env, out);
            }
            if self.outbox.to_all {
                self.send_to_all(env, out);
            }
        }
        self.outbox.clear();
    }

    /// Puts a packet into the batch; the key is that of this receiver at the transmitter, else that of the group.
    fn send(
        &mut self,
        said: ToTransmitter<'_>,
        options: Options,
        env: &PartyEnv<'_>,
        out: &mut TransmitBatch,
    ) {
        let Some(bound) = &self.bound else { return };
        let of_group = bound.member == 0 || matches!(said, ToTransmitter::Join { .. });
        let key = if of_group { bound.key } else { bound.member };
        self.send_to((bound.address, key), said, options, env, out);
    }

    /// The same to that address, with that key.
    pub(super) fn send_to(
        &mut self,
        (dst, key): (SocketAddr, u64),
        said: ToTransmitter<'_>,
        options: Options,
        env: &PartyEnv<'_>,
        out: &mut TransmitBatch,
    ) {
        self.outbox.sync = self.outbox.sync.wrapping_add(1);
        let packet = said.packet(GroupHeader {
            key,
            sync: self.outbox.sync,
            seq: 0,
            options,
        });
        let route = Route {
            dst,
            src: None,
            ecn: Ecn::NotEct,
            sort: None,
        };
        emit::push(out, &[route], &packet, &[], env.host.protection);
        self.outbox.reports += 1;
        if options.contains(Options::RCLOSE) {
            if !self.close.said {
                self.close.said_in = self.outbox.sync;
                self.close.said_at = Some(env.now);
            }
            self.close.said = true;
            self.close.at = None;
        }
        self.watch.spoke(env.now);
    }

    pub(super) fn control(&self, echo: u32) -> Control {
        Control {
            rseq: self.stream.next(),
            alloc: self.alloc(),
            echo,
        }
    }

    pub(super) fn echo(&self) -> u32 {
        self.heard.progress.newest().unwrap_or(0)
    }

    pub(super) fn rclose(&self) -> Options {
        match self.may_confirm() {
            true => Options::RCLOSE,
            false => Options::empty(),
        }
    }

    fn send_join(&mut self, env: &PartyEnv<'_>, out: &mut TransmitBatch) {
        let Some(bound) = &self.bound else { return };
        let address = address(
            self.options.group.unwrap_or(bound.address),
            self.options.service_number,
        );
        let name = self.options.name.clone();
        let terms = GroupTerms {
            socket_buffer: Some(self.options.socket_buffer).filter(|octets| *octets > 0),
            name: Some(&*name).filter(|name| !name.is_empty()),
            ..GroupTerms::default()
        };
        // A member is proved; and no announcement draws more than its own length.
        let pads = bound.announced >= LEAST_DATAGRAM && self.stage == Stage::Joining;
        let fixed = self.own_traffic();
        let mut specifier = ExtendedTrafficBuilder::new(fixed);
        let mut octets = [0; PADDED];
        let written = terms.add_to(&mut specifier).and_then(|()| {
            specifier.pad_to(if pads { PADDED } else { 0 });
            specifier.encode(&mut octets)
        });
        let tlvs = written.ok().and_then(|len| octets.get(EXTENDED_TRAFFIC_LEN..len));
        let Some(tlvs) = tlvs.and_then(Tlvs::new) else {
            return;
        };
        let mut options = match self.stage {
            Stage::Confirming => self.rclose(),
            _ => Options::empty(),
        };
        options.set(Options::SREQ, self.outbox.probes);
        let join = ToTransmitter::Join {
            control: self.control(self.echo()),
            xkey: self.key,
            address,
            traffic: Traffic::Extended(ExtendedTraffic { tlvs, ..fixed }),
        };
        self.send(join, options, env, out);
    }

    /// The answer to a word of the transmitter to this receiver alone: its echo is of that counter.
    fn send_answer(&mut self, sync: u32, env: &PartyEnv<'_>, out: &mut TransmitBatch) {
        let said = ToTransmitter::Status(self.control(sync));
        self.send(said, self.rclose(), env, out);
        self.behind.quiet_since = env.now;
    }

    /// One packet that answers a poll, and says what is missing.
    fn send_report(&mut self, env: &PartyEnv<'_>, out: &mut TransmitBatch) {
        let asked = self.outbox.asked;
        let delay_us = if asked { self.delay_us(env) } else { DELAY_NONE };
        self.measure(env);
        let control = self.control(self.echo());
        let missing = match self.outbox.need || asked {
            true => self.missing(asked, env.now),
            false => Missing::new(),
        };
        self.reported(&missing, env.now);
        self.behind.quiet_since = env.now;
        let coded = self.coded(&missing);
        if !coded.is_empty() && !self.outbox.asks {
            let rate = u32::try_from(self.heard.rate / GNACK_RATE).unwrap_or(u32::MAX);
            let gnack = match asked {
                true => Gnack::answer(control, delay_us, rate, &coded),
                false => Gnack::unsolicited(control, rate, &coded),
            };
            self.send(ToTransmitter::Need(gnack), Options::empty(), env, out);
            // A GNACK has no room for marks, nor for packets.
            let marked = asked && self.heard.ce != self.heard.ce_told;
            if marked || coded.len() < missing.len() {
                self.send_spans(control, delay_us, env, out);
            }
            return;
        }
        if self.outbox.need && missing.is_empty() && !self.outbox.status {
            return;
        }
        self.send_spans(control, delay_us, env, out);
    }

    /// How long ago the newest packet of the group came.
    pub(super) fn delay_us(&self, env: &PartyEnv<'_>) -> u32 {
        let micros = env.now.since(self.heard.newest_at).as_micros();
        u32::try_from(micros).unwrap_or(DELAY_NONE - 1)
    }

    fn send_spans(&mut self, control: Control, delay_us: u32, env: &PartyEnv<'_>, out: &mut TransmitBatch) {
        let Some(bound) = &self.bound else { return };
        let to = (bound.address, bound.member);
        self.send_status(to, control, delay_us, env, out);
    }

    /// A status with what is here beyond the gaps.
    pub(super) fn send_status(
        &mut self,
        to: (SocketAddr, u64),
        control: Control,
        delay_us: u32,
        env: &PartyEnv<'_>,
        out: &mut TransmitBatch,
    ) {
        let mut ranges = SmallVec::new();
        self.stream.spans(SPANS, &mut ranges);
        let spans: SmallVec<[Span; SPANS]> = ranges
            .iter()
            .map(|(left, right)| Span::new(*left, *right))
            .collect();
        let Ok(spans) = Spans::new(control.rseq, &spans) else {
            return;
        };
        let mut flags = XcntlFlags::empty();
        flags.set(XcntlFlags::DREQ_OR_UNSOLICITED, delay_us == DELAY_NONE);
        flags.set(XcntlFlags::LATER_SPANS, self.stream.span_count() > SPANS);
        self.heard.ce_told = self.heard.ce;
        let said = ToTransmitter::Extended(Xcntl {
            control,
            flags,
            delay_us,
            ect0: self.heard.ect0,
            ect1: self.heard.ect1,
            ce: self.heard.ce,
            rxrate: self.heard.rate,
            spans,
            delivered: None,
            poll: None,
        });
        let mut options = self.rclose();
        options.set(Options::SREQ, self.outbox.asks);
        self.send_to(to, said, options, env, out);
    }

    /// Octets a second of the group's packets since the last report.
    pub(super) fn measure(&mut self, env: &PartyEnv<'_>) {
        let (since, octets) = self.heard.since;
        let time = env.now.since(since);
        if time < MEASURE {
            return;
        }
        let came = u128::from(self.heard.octets - octets);
        let rate = came * 1_000_000_000 / time.as_nanos();
        self.heard.rate = u64::try_from(rate).unwrap_or(u64::MAX);
        self.heard.since = (env.now, self.heard.octets);
    }
}

/// Group and service of a join.
fn address(group: SocketAddr, port: u16) -> Address {
    match group.ip() {
        IpAddr::V4(ip) => Address::Ipv4 {
            domain: 0,
            dst: ip.octets(),
            src: [0; 4],
            dst_port: port,
            src_port: 0,
        },
        IpAddr::V6(ip) => Address::Ipv6 {
            domain: 0,
            dst: ip.octets(),
            src: [0; 16],
            dst_port: port,
            src_port: 0,
        },
    }
}
