//! What follows the answer to an association of one message: END, what is counted, and what is left behind.

use super::answer::ReceivedAnswer;
use super::first::Facts;
use super::{Initiator, InitiatorState};
use crate::config::EngineConfig;
use crate::context::{COPY_LIMIT, TimeWaitEnd, afterlife};
use crate::options::Confirm;
use crate::plausible::status_is_possible;
use crate::stats::ContextStats;
use crate::time_wait::TimeWait;
use core::time::Duration;
use xtp_congestion::CongestionKind;
use xtp_congestion::{Ack, CongestionControl, Controller, SentPacket};
use xtp_core::path::rtt::Rtt;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, Ecn, Route, TransmitBatch};
use xtp_wire::{Body, Control, DELAY_NONE, DataSegment, Key, Options, Packet};

/// What of an answer that ends its association matters to it.
pub(super) struct Said<'a> {
    /// Its sync.
    pub(super) sync: u32,
    /// The round trip that it gives, if it gives one.
    pub(super) sample: Option<Duration>,
    /// It says how far the request came.
    pub(super) acknowledges: bool,
    /// It says END itself.
    pub(super) ends: bool,
    pub(super) data: &'a [u8],
}

/// What an answer may be made of.
struct EndingParts<'a> {
    control: Option<Control>,
    delay: Option<u32>,
    data: &'a [u8],
}

impl Initiator {
    /// What a packet says that is the answer to FIRST, which left at `left`, and now ends the association; `None` if it is another.
    pub(super) fn expects<'a>(
        &self,
        config: &EngineConfig,
        (left, now): (Time, Time),
        packet: &Packet<'a>,
        datagram: &Datagram<'_>,
    ) -> Option<Said<'a>> {
        let (facts, header) = (self.facts(config), &packet.header);
        let EndingParts { control, delay, data } = EndingParts::of(packet)?;
        let ends = header.options.contains(Options::END);
        let mut closes = Options::RCLOSE | Options::WCLOSE;
        closes.set(Options::EOM, !data.is_empty());
        let plain = header.key == Key::returned(self.prepared.identity.key)
            && header.options - (Options::NOCHECK | Options::SREQ | Options::END) == closes
            && header.seq == 0
            && datagram.src == self.peer
            && datagram.ecn != Ecn::Ce
            && header.packet_len() == datagram.data.len()
            && data.len() as u64 <= facts.credit();
        let sent = self.request.len() as u64;
        let told = match control {
            Some(control) => {
                control.rseq == sent
                    && control.echo == self.sync()
                    && status_is_possible(&packet.body, control, sent)
            }
            // Without status only END says that nothing else follows.
            None => ends,
        };
        if !plain || !told {
            return None;
        }
        let sample = self.sample(control.is_some(), delay, now.since(left));
        // Of an answer that took no time a congestion controller makes something else.
        let instant = left >= now && sample.is_some() && facts.congestion() == CongestionKind::Model;
        (!instant).then_some(Said {
            sync: header.sync,
            sample,
            acknowledges: control.is_some(),
            ends,
            data,
        })
    }

    /// The round trip that an answer gives which took so long (§3.1).
    fn sample(&self, has_status: bool, delay: Option<u32>, took: Duration) -> Option<Duration> {
        let kept = match delay {
            Some(DELAY_NONE) => return None,
            Some(delay) => Duration::from_micros(delay.into()),
            // Its user may have kept it.
            None if !has_status || self.options.confirm == Confirm::Delivered => return None,
            None => Duration::ZERO,
        };
        Some(took.saturating_sub(kept).max(Duration::from_nanos(1)))
    }

    /// What is known of the round trip.
    fn rtt(&self, answer: &ReceivedAnswer) -> Rtt {
        let mut rtt = Rtt::new(self.prepared.identity.initial_rtt);
        if let Some(sample) = answer.sample {
            rtt.sample_of(self.sync(), sample);
        }
        rtt
    }

    /// What END says.
    fn end(&self, facts: &Facts<'_>, answer: &ReceivedAnswer) -> TimeWait {
        let (octets, own) = (answer.octets(), self.prepared.identity.key);
        let freed = if answer.read { octets } else { 0 };
        TimeWait {
            key: Key::own(own),
            own,
            options: Options::END | Options::RCLOSE | Options::WCLOSE | facts.bits(),
            sort: facts.sort(),
            rseq: octets,
            alloc: facts.credit().max(freed + facts.capacity()),
            seq: self.request.len() as u64,
            echo: Some(answer.sync),
            sync: self.sync().wrapping_add(1),
        }
    }

    /// END into `out`; false if the answer said it.
    pub(super) fn write_end(&self, config: &EngineConfig, out: &mut TransmitBatch) -> bool {
        let Some(answer) = self.answered().filter(|answer| !answer.ends) else {
            return false;
        };
        let facts = self.facts(config);
        let at = self.end(&facts, answer).write(config.protection(), out);
        let route = Route {
            dst: self.peer,
            src: answer.came.0,
            ecn: Ecn::NotEct,
            sort: self.urgency(),
        };
        out.push(route, false, at, &[]);
        true
    }

    /// The record that answers stragglers of one that had its last turn, unless its answer was the end.
    pub(super) fn time_wait_end(&self, config: &EngineConfig) -> Option<TimeWaitEnd> {
        let answer = self.answered().filter(|answer| !answer.ends)?;
        let rtt = self.rtt(answer);
        let life = afterlife(rtt.wtimer_base());
        Some(TimeWaitEnd {
            wait: self.end(&self.facts(config), answer),
            peer: self.peer,
            local: answer.came.0,
            until: answer.left? + life,
            life,
            answered: None,
            srtt: rtt.srtt(),
        })
    }

    /// What is counted of one that was answered and had its last turn.
    pub(super) fn count(&self, config: &EngineConfig) -> Option<ContextStats> {
        let InitiatorState::Answered { left, answer } = &self.state else {
            return None;
        };
        let (facts, rtt) = (self.facts(config), self.rtt(answer));
        let (request, octets) = (self.request.len() as u64, answer.octets());
        let read = if answer.read { octets } else { 0 };
        let handed_on = if self.datagram.is_shared() {
            self.datagram.copied()
        } else {
            read
        };
        let copied = if request <= COPY_LIMIT as u64 { request } else { 0 };
        let end = u64::from(!answer.ends);
        Some(ContextStats {
            packets_sent: 1 + end,
            control_sent: end,
            packets_received: 1,
            octets_sent: request,
            octets_acknowledged: request,
            octets_received: octets,
            octets_delivered: read,
            rtt: rtt.srtt(),
            rtt_samples: rtt.samples(),
            congestion_window: self.window(&facts, (*left, answer)),
            max_data: u32::try_from(facts.segment()).unwrap_or(u32::MAX),
            octets_copied: copied + handed_on,
            ..ContextStats::default()
        })
    }

    /// What a controller makes of the one acknowledgement.
    fn window(&self, facts: &Facts<'_>, (left, answer): (Time, &ReceivedAnswer)) -> Option<u64> {
        let kind = facts.congestion();
        if kind == CongestionKind::Fixed {
            return None;
        }
        let (segment, octets, sync) = (facts.segment() as u64, self.request.len() as u64, self.sync());
        let mut control = CongestionControl::new(kind, u32::try_from(segment).unwrap_or(u32::MAX));
        control.on_sent(SentPacket {
            now: left,
            sync,
            idle: true,
        });
        control.on_app_limited(octets);
        if answer.acknowledges {
            let app_limited = octets + 2 * segment < control.window();
            control.on_ack(Ack {
                now: answer.arrived,
                echo: sync,
                octets,
                rtt: answer.sample,
                srtt: answer.sample,
                in_flight_before: octets,
                app_limited,
            });
        }
        Some(control.window())
    }
}

impl<'a> EndingParts<'a> {
    /// `None` if the packet has others.
    fn of(packet: &Packet<'a>) -> Option<Self> {
        let plain =
            |data: &DataSegment<'a>| (data.tag.is_none() && !data.data.is_empty()).then_some(data.data);
        Some(match &packet.body {
            Body::Cntl(control) => Self {
                control: Some(*control),
                delay: None,
                data: &[],
            },
            // RCLOSE alone says that the request is there.
            Body::Data(data) => Self {
                control: None,
                delay: None,
                data: plain(data)?,
            },
            Body::Xdata {
                control,
                delay_us,
                data,
            } => Self {
                control: Some(*control),
                delay: Some(*delay_us),
                data: plain(data)?,
            },
            _ => return None,
        })
    }
}
