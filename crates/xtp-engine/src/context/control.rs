//! What a control segment says: acknowledgements, losses, credit, RTT samples, limits (§3.1, §2.5, §4.3, §5.1).

use super::requests::OpenDreq;
use super::timers::Timer;
use super::writer::Within;
use super::{Context, Env, State, Transition};
use crate::event::Event;
use core::time::Duration;
use xtp_congestion::{Ack, Controller, Lost};
use xtp_core::Rate;
use xtp_core::send::{DetectedLoss, LossCriteria, NEVER, Overtaken, ReportSpan};
use xtp_core::time::Time;
use xtp_wire::{
    Body, Caps, Control, DELAY_NONE, Format, Header, Options, Spans, Tlv, Traffic, Xcntl, XcntlFlags,
    serial_gt,
};

/// Packet threshold of loss detection [D-25].
pub(super) const THRESHOLD: u32 = 3;
/// The control side of a packet, one shape for all formats.
struct Status<'a> {
    control: Control,
    spans: Spans<'a>,
    delay_us: Option<u32>,
    extended: Option<&'a Xcntl<'a>>,
    format: Format,
}

impl<'a> Status<'a> {
    fn of(header: &Header, body: &'a Body<'a>) -> Option<Self> {
        let plain = |control: Control| Self {
            control,
            spans: Spans::default(),
            delay_us: None,
            extended: None,
            format: header.format,
        };
        Some(match body {
            Body::Cntl(control) => plain(*control),
            Body::Ecntl { control, spans } => Self {
                spans: *spans,
                ..plain(*control)
            },
            Body::Xdata {
                control, delay_us, ..
            } => Self {
                delay_us: Some(*delay_us),
                ..plain(*control)
            },
            Body::Xcntl(status) => Self {
                spans: status.spans,
                delay_us: Some(status.delay_us),
                extended: Some(status),
                ..plain(status.control)
            },
            Body::Tcntl { control, .. } | Body::Jcntl { control, .. } => plain(*control),
            _ => return None,
        })
    }

    /// §4.3: TCNTL, JCNTL and packets with END are never evidence of loss.
    fn is_evidence(&self, header: &Header) -> bool {
        matches!(
            self.format,
            Format::Cntl | Format::Ecntl | Format::Xcntl | Format::Xdata
        ) && !header.options.contains(Options::END)
    }
}

impl Context {
    /// Applies the control side of a packet.
    pub(super) fn take_control(&mut self, header: &Header, body: &Body<'_>, env: &mut Env<'_>) {
        let Some(status) = Status::of(header, body) else {
            return;
        };
        let now = env.now;
        self.peer.is_echoed(status.control.echo);
        if let Body::Tcntl { xkey, traffic, .. } = body {
            self.take_terms(*xkey, traffic, env);
            self.renegotiation
                .peer_told(header.options.contains(Options::SREQ));
        } else if header.format == Format::Xcntl || header.format == Format::Xdata {
            self.in_force |= self.offered & caps_of(header.format);
        }
        let raised = self.take_credit(&status, now);
        let flight = if self.writer.control.window() == u64::MAX {
            0
        } else {
            self.in_flight(now)
        };
        let stale = serial_gt(self.writer.echo_max, status.control.echo);
        let sample = self.take_echo(&status, header, raised, now);
        let acknowledged = self.acknowledge(&status, env);
        self.take_answers(&status, header, env);
        if !stale && let Some(extended) = status.extended {
            self.take_window(extended);
        }
        if acknowledged > 0 {
            self.grow(acknowledged, sample, flight, status.control.echo, now);
        }
        let mut progress = acknowledged > 0 || raised;
        progress |= self.finish_handshake(&status, header, acknowledged, now);
        if status.is_evidence(header) && !stale {
            self.judge_status(&status, now);
        }
        progress |= self.writer.requests.answered(status.control.echo);
        self.renegotiation.answered(status.control.echo);
        if progress {
            self.note_progress(acknowledged > 0);
        }
        if let Some(extended) = status.extended {
            self.take_ecn(extended, now);
        }
    }

    /// An answer, new acknowledgement or new credit stops WTIMER; `settle_timers` starts it afresh (§3.5).
    fn note_progress(&mut self, acknowledged: bool) {
        self.timers.answered();
        self.timers.stop(Timer::Wait);
        if acknowledged {
            // Octets that the last poll did not wait for arrived: its user is asked about these from now on.
            self.timers.user_answered();
            self.writer.stuck.acknowledged();
            self.timers.stop(Timer::LazyStatus);
        }
    }

    /// New credit begins the patience of a blocked writer anew, whether or not it suffices: the stream moves.
    fn take_credit(&mut self, status: &Status<'_>, now: Time) -> bool {
        let raised = self
            .writer
            .credit
            .raise(status.control.alloc, status.control.rseq);
        if raised {
            self.timers.unblocked();
            if let Some(block) = &mut self.writer.block {
                block.since = now;
            }
        }
        raised
    }

    /// RTT (§3.1): a sample when the echo rises, less the delay the peer carried along.
    fn take_echo(
        &mut self,
        status: &Status<'_>,
        header: &Header,
        raised: bool,
        now: Time,
    ) -> Option<Duration> {
        let echo = status.control.echo;
        if !serial_gt(echo, self.writer.echo_max) {
            return None;
        }
        let old = std::mem::replace(&mut self.writer.echo_max, echo);
        let sent = self.sent_at(echo)?;
        let mut held = false;
        let delay = match status.delay_us {
            Some(DELAY_NONE) => return None,
            Some(delay) => Duration::from_micros(delay.into()),
            None if status.format == Format::Tcntl => match self.rtt.samples() {
                0 => Duration::ZERO,
                _ => return None,
            },
            None => {
                // What asks itself may be a question of the peer's own, long after the packet it echoes. Where nothing it
                // said before is missing, it is the first it said since, and so the answer.
                let asks = header.options.intersects(Options::SREQ | Options::DREQ);
                let open = &self.writer.requests;
                let asked = match asks {
                    true => self.rtt.samples() == 0 && self.reader.newest.is_gapless() && open.contains(echo),
                    false => open.any_within(old, echo),
                };
                // The user of a peer that has not received everything has not held back the word that it took everything.
                let early = |seq| self.close_awaits_delivery() && status.control.rseq < seq;
                let waited = |dreq: &OpenDreq| !serial_gt(dreq.since, echo) && !early(dreq.seq);
                held = self.writer.requests.dreq().as_ref().is_some_and(waited)
                    && (raised || self.confirm == crate::Confirm::Delivered);
                if !asked {
                    return None;
                }
                Duration::ZERO
            }
        };
        let sample = now.since(sent).saturating_sub(delay).max(Duration::from_nanos(1));
        // The peer's user may have held it: it bounds the round trip from above, which a pause may have made far too long.
        if held && self.rtt.srtt().is_none_or(|srtt| 2 * sample >= srtt) {
            return None;
        }
        self.measure(echo, sample)
    }

    /// When the packet with this sync left, if it is still known.
    pub(crate) fn sent_at(&self, sync: u32) -> Option<Time> {
        let writer = &self.writer;
        writer
            .ring
            .time_of(sync)
            .or_else(|| writer.inflight.time_of(sync))
    }

    /// §4.2: octets below rseq and inside spans leave the map.
    fn acknowledge(&mut self, status: &Status<'_>, env: &mut Env<'_>) -> u64 {
        // A tag is never split: an acknowledgement that ends inside one ends before it (§5.5).
        let rseq = self.writer.queue.tag_floor(status.control.rseq);
        if self.timers.runs(Timer::Loss) || self.writer.inflight.is_disturbed() {
            self.note_order(status, rseq, env.now);
        }
        let mut octets = 0;
        if rseq > self.writer.una {
            octets += self.writer.inflight.acknowledge_below(rseq);
            if self.tuning.no_error {
                octets += rseq - self.writer.una;
            }
            self.writer.una = rseq;
            self.release_acknowledged(env);
        }
        for (left, right) in status.spans.iter() {
            let writer = &mut self.writer;
            writer.stuck.arrived(left, right, &writer.inflight);
            octets += writer.inflight.acknowledge_range(left, right);
        }
        self.stats.octets_acknowledged += octets;
        octets
    }

    /// What a report that comes now has that arrived late (§4.3). Nothing if nothing is missing.
    #[inline(never)]
    fn note_order(&mut self, status: &Status<'_>, rseq: u64, now: Time) {
        let stale = serial_gt(self.writer.echo_max, status.control.echo);
        let (false, Some((before, _, within))) = (stale, self.writer.evidence) else {
            return;
        };
        let told = ReportSpan {
            before,
            above: within.above,
            below: within.below,
            echo: status.control.echo,
        };
        let inflight = &self.writer.inflight;
        let ranges = std::iter::once((self.writer.una, rseq)).chain(status.spans.iter());
        let overtaken = ranges
            .map(|(left, right)| inflight.overtaken(left, right, &told))
            .fold(Overtaken::default(), Overtaken::and);
        if overtaken != Overtaken::default() {
            let usual = self.rtt.usual();
            let writer = &mut self.writer;
            let surprised = writer.reordering.get_or_insert_default().on_overtaken(
                overtaken,
                now,
                usual,
                self.rtt.known(),
            );
            writer.control.on_found(overtaken.in_vain, surprised);
        }
    }

    /// Gives the user's memory back and tells the user what it waits for.
    pub(super) fn release_acknowledged(&mut self, env: &mut Env<'_>) {
        self.writer.queue.release(self.writer.una);
        if self.writer.wants_room && self.room() > 0 {
            self.writer.wants_room = false;
            self.event(env, Event::Writable);
        }
        self.reach_marks(env);
    }

    /// DREQ answers (§3.2): what the peer's user has consumed.
    fn take_answers(&mut self, status: &Status<'_>, header: &Header, env: &mut Env<'_>) {
        if let Some(delivered) = status.extended.and_then(|extended| extended.delivered) {
            self.note_delivered(delivered.min(self.writer.nxt), env);
        }
        self.take_delivery(status, header, env);
        if status.control.rseq == self.writer.nxt && self.writer.delivered == self.writer.nxt {
            self.writer.credit.is_all(self.writer.nxt);
        }
    }

    /// Whether an open DREQ is answered.
    fn take_delivery(&mut self, status: &Status<'_>, header: &Header, env: &mut Env<'_>) {
        let Some(dreq) = self.writer.requests.dreq() else {
            return;
        };
        if serial_gt(dreq.sync, status.control.echo) {
            return;
        }
        let satisfied = match dreq.for_delivery {
            true => self.writer.delivered >= dreq.seq,
            false => true,
        };
        if satisfied {
            let _ = self.writer.requests.take_dreq();
            self.timers.user_answered();
            return;
        }
        let plain = matches!(status.format, Format::Cntl | Format::Ecntl);
        let answer = plain
            && !header
                .options
                .intersects(Options::END | Options::SREQ | Options::DREQ);
        if !answer || status.control.echo != dreq.sync {
            return;
        }
        // A plain CNTL means "consumed" where it answers nothing else; otherwise the DREQ is repeated alone (§3.2).
        // A close that waits for delivery needs neither: END tells (§6.4).
        let open = self.writer.requests.any_after(status.control.echo);
        let closes = self.confirm == crate::Confirm::Delivered && !self.writer.state.is_open();
        if open || closes {
            return;
        }
        let _ = self.writer.requests.take_dreq();
        if dreq.alone {
            self.timers.user_answered();
            self.note_delivered(dreq.seq, env);
        } else {
            self.writer.wanted.add(dreq.seq, crate::Confirm::Delivered);
        }
    }

    fn note_delivered(&mut self, delivered: u64, env: &mut Env<'_>) {
        if delivered > self.writer.delivered {
            self.writer.delivered = delivered;
            self.reach_marks(env);
        }
    }

    fn grow(&mut self, octets: u64, rtt: Option<Duration>, flight: u64, echo: u32, now: Time) {
        let window = self.writer.control.window();
        let segment = self.segment_size() as u64;
        let ack = Ack {
            now,
            echo,
            octets,
            rtt,
            srtt: self.rtt.srtt(),
            in_flight_before: flight,
            app_limited: flight.saturating_add(2 * segment) < window,
        };
        self.writer.control.on_ack(ack);
    }

    /// A control packet or XDATA with echo >= hs completes the synchronising handshake (§3.7.2).
    fn finish_handshake(
        &mut self,
        status: &Status<'_>,
        header: &Header,
        acknowledged: u64,
        now: Time,
    ) -> bool {
        let Some(sync) = self.writer.handshake else {
            return false;
        };
        if serial_gt(sync, status.control.echo) {
            return false;
        }
        self.writer.handshake = None;
        self.timers.answered();
        self.transition(Transition::Answered);
        if acknowledged == 0 {
            let writer = &mut self.writer;
            writer
                .stuck
                .handshake_alone(&writer.inflight, &mut self.peer.mtu, now);
        }
        // WCLOSE may have been what was lost.
        self.writer.state.repeat_wclose();
        self.writer.forced_judgement = status.is_evidence(header);
        if !self.writer.forced_judgement
            && let Some((seq, len)) = self.writer.inflight.last()
        {
            // After a TCNTL, which is no evidence, the last segment asks again.
            self.writer.inflight.mark_lost(seq, len);
        }
        true
    }

    /// §4.3.
    fn judge_status(&mut self, status: &Status<'_>, now: Time) {
        let go_back_n = status
            .extended
            .is_some_and(|extended| extended.flags.contains(XcntlFlags::GO_BACK_N))
            && status.spans.is_empty();
        let forced = std::mem::take(&mut self.writer.forced_judgement);
        let threshold = if forced || go_back_n { 0 } else { THRESHOLD };
        let told = |flag| {
            status
                .extended
                .is_some_and(|extended| extended.flags.contains(flag))
        };
        let many = status.format != Format::Xcntl && status.spans.len() >= self.reader.max_spans;
        let within = Within {
            above: match status.spans.iter().next() {
                Some((left, _)) if told(XcntlFlags::EARLIER_SPANS) => left,
                _ => 0,
            },
            below: match status.spans.iter().last() {
                Some((_, right)) if many || told(XcntlFlags::LATER_SPANS) => right,
                _ => u64::MAX,
            },
        };
        self.judge(status.control.echo, threshold, within, now);
    }

    /// Declares losses and sets LTIMER for what is too young.
    pub(super) fn judge(&mut self, echo: u32, threshold: u32, within: Within, now: Time) {
        if self.tuning.no_error {
            return;
        }
        self.writer.evidence = Some((echo, threshold > 0, within));
        if self.writer.inflight.is_empty() {
            self.timers.stop(Timer::Loss);
            return;
        }
        let window = self.writer.reordering.as_ref().and_then(|order| order.window());
        let pause = self.writer.stuck.pause(self.writer.una, &self.rtt);
        let oldest = self.writer.una;
        // It was counted, and has not left again.
        let waits = (self.writer.inflight.lost_from(oldest)).is_some_and(|(seq, _)| seq == oldest);
        let late = self.rtt.late() + window.unwrap_or_default();
        let verdict = self.writer.inflight.judge(LossCriteria {
            echo,
            threshold: match window {
                _ if pause.is_some() => NEVER,
                Some(_) if threshold > 0 => NEVER,
                _ => threshold,
            },
            above: within.above,
            below: within.below,
            now,
            late: pause.map_or(late, |pause| pause.max(late)),
        });
        self.timers.put(Timer::Loss, verdict.check_at);
        if let Some(sent) = verdict.newest_lost_time {
            // It leaves first: what leaves again before it fills a short queue, which then never takes it.
            if pause.is_some() {
                self.writer.inflight.lose_first();
            }
            if !waits {
                let writer = &mut self.writer;
                writer
                    .stuck
                    .lost(writer.una, &writer.inflight, &mut self.peer.mtu, now);
            }
            self.note_losses(verdict, sent, now);
        }
    }

    /// Something was declared lost, the newest of it sent then.
    #[cold]
    fn note_losses(&mut self, verdict: DetectedLoss, sent: Time, now: Time) {
        self.stats.packets_lost += u64::from(verdict.lost_packets);
        let order = self.writer.reordering.get_or_insert_default();
        order.on_loss(now, self.rtt.known());
        let flight = self.in_flight(now);
        let lost = Lost {
            octets: verdict.lost_octets,
            gaps: verdict.gaps,
        };
        self.writer.control.on_loss(now, sent, lost, flight);
    }

    fn take_ecn(&mut self, status: &Xcntl<'_>, now: Time) {
        let increase = self.writer.ecn.on_status(status.ect0, status.ect1, status.ce);
        if increase > 0 {
            self.stats.ce_reported += u64::from(increase);
            let sent = self.writer.ring.time_of(status.control.echo).unwrap_or(now);
            self.writer.control.on_ce(now, sent);
        }
    }

    /// TCNTL: the key to use from now on, and the peer's limits (§2.5).
    fn take_terms(&mut self, xkey: u64, traffic: &Traffic<'_>, env: &mut Env<'_>) {
        let key = xkey & (u64::MAX >> 1);
        if key != 0 && self.role == super::Role::Initiator {
            self.peer_key = Some(key);
            self.peer.note_key(self.writer.sync_out.wrapping_add(1));
        }
        self.take_limits(traffic, env);
    }

    /// Limits of a specifier of the peer, as seen by our writer (§1.7).
    pub(super) fn take_limits(&mut self, traffic: &Traffic<'_>, env: &mut Env<'_>) {
        let (max_data, rate) = match traffic {
            Traffic::Extended(terms) => {
                self.in_force = self.offered & terms.caps;
                self.writer.credit.raise(terms.credit, self.writer.una);
                self.take_tlvs(terms.tlvs);
                let rate = Rate {
                    octets_per_second: terms.inrate,
                    burst: terms.inburst,
                };
                let sockbuf = terms.tlvs.iter().any(|tlv| matches!(tlv, Tlv::SockBuf(_)));
                self.take_window_of_terms(rate, sockbuf);
                (terms.maxdata, rate)
            }
            Traffic::Basic(terms) => {
                let rate = Rate {
                    octets_per_second: terms.inrate.into(),
                    burst: terms.inburst,
                };
                (terms.maxdata, rate)
            }
            Traffic::None { .. } | Traffic::Unknown { .. } => return,
        };
        self.writer.rates.set_peer(rate, env.now);
        let agreed = super::setup::agreed_max_data(max_data, self.stated_max_data());
        if agreed != self.writer.max_data {
            self.writer.max_data = agreed;
            self.writer.control.set_segment(self.segment_size() as u32);
            self.event(env, Event::MaxData(agreed));
        }
    }

    fn take_tlvs(&mut self, tlvs: xtp_wire::Tlvs<'_>) {
        for tlv in tlvs.iter() {
            match tlv {
                Tlv::EcntlMax(count) => self.reader.max_spans = usize::from(count).clamp(1, 64),
                Tlv::Token(token) if self.role == super::Role::Initiator => self.learned_token = Some(token),
                Tlv::AppBuf(_) => self.begin_window(),
                _ => {}
            }
        }
    }

    /// RCLOSE (§6.2): acknowledges everything, or refuses.
    pub(super) fn take_rclose(&mut self, header: &Header, body: &Body<'_>, env: &mut Env<'_>) {
        if self.writer.state.is_closed() {
            return;
        }
        let told = body.control().map(|control| control.rseq);
        let complete = match (self.writer.state.final_seq(), told) {
            (Some(end), Some(rseq)) => rseq >= end,
            (Some(_), None) => header.format != Format::First,
            (None, _) => false,
        };
        if complete {
            self.writer.una = self.writer.state.final_seq().unwrap_or(self.writer.una);
            self.writer.state.acknowledge();
            self.writer.drop_all();
            self.timers.stop(Timer::Loss);
            self.note_progress(true);
            self.stats.octets_acknowledged = self.stats.octets_acknowledged.max(self.writer.una);
            self.leave_handshake();
            self.release_acknowledged(env);
        } else if header.format == Format::First || told.is_some() {
            self.take_refusal(env);
        }
    }

    fn leave_handshake(&mut self) {
        if self.state == State::InHandshake {
            self.transition(Transition::Answered);
        }
    }

    /// The peer's reader takes no more: unsent data is dropped, final is what was sent.
    fn take_refusal(&mut self, env: &mut Env<'_>) {
        let not_taken = self.writer.queue.end().saturating_sub(self.writer.una);
        self.writer.state.refuse(self.writer.nxt, not_taken);
        self.writer.drop_all();
        // A user who takes no more never answers whether it has taken everything (§6.4).
        let _ = self.writer.requests.take_dreq();
        self.note_progress(true);
        self.leave_handshake();
        if not_taken > 0 || self.writer.nxt > 0 {
            self.event(env, Event::Refused { not_taken });
        }
    }

    /// How much a refusal or an END leaves behind.
    pub(super) fn unconfirmed(&self) -> u64 {
        match self.writer.state.is_closed() {
            true => 0,
            false => self
                .writer
                .nxt
                .max(self.writer.queue.end())
                .saturating_sub(self.writer.una),
        }
    }
}

/// A packet of an extension shows that the peer has the capability [D-54].
fn caps_of(format: Format) -> Caps {
    match format {
        Format::Xcntl => Caps::XCNTL,
        Format::Xdata => Caps::XDATA,
        Format::Path => Caps::PATH,
        _ => Caps::empty(),
    }
}
