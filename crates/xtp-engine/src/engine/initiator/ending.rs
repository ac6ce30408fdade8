//! What follows the answer to an association of one message, learned from the last one of its kind that had a context: END, what
//! is counted, and what is left behind.

use super::super::Engine;
use super::answer::Answer;
use super::{Begun, Initiator};
use crate::context::{Context, TimeWaitEnd};
use crate::stats::ContextStats;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::{Datagram, Ecn, Route, TransmitBatch};
use core::net::IpAddr;
use core::time::Duration;
use std::sync::Arc;
use xtp_wire::{Body, Control, DELAY_NONE, DataSegment, Format, Header, Key, Options, Packet, Protection};

/// How long what is over answers stragglers if its round trip was short (§3.7).
const SHORTEST_LIFE: Duration = Duration::from_secs(1);

/// What of an answer decides what follows it.
struct Kind {
    /// Number of the template its FIRST left from.
    template: u64,
    dst: Option<IpAddr>,
    ecn: Ecn,
    format: Format,
    options: Options,
    sort: u16,
    seq: u64,
    rseq: u64,
    alloc: Option<u64>,
    length: usize,
}

/// What followed the last answer of its kind.
pub(super) struct Ending {
    kind: Kind,
    /// Its message was read before END left.
    read: bool,
    /// END, unless the answer said it.
    end: Option<LastEnd>,
    /// The round trip it began with.
    initial: Option<Duration>,
    /// What was counted then.
    counted: ContextStats,
    /// Of its packets.
    urgency: Option<u16>,
}

/// The last END of its kind, and who says it again.
struct LastEnd {
    wait: TimeWait,
    src: Option<IpAddr>,
    ecn: Ecn,
    urgency: Option<u16>,
    /// How long stragglers are answered.
    life: Duration,
}

/// Numbers that differ from one association of a kind to the next: own key and newest sync, and the answer's sync.
#[derive(Clone, Copy)]
struct Numbers {
    key: u64,
    sync: u32,
    echo: u32,
}

/// An answer that goes the general way, and before it had its turn.
pub(super) struct Observed {
    slot: u32,
    kind: Kind,
    numbers: Numbers,
    before: ContextStats,
}

/// What an answer may be made of.
struct Parts<'a> {
    control: Option<Control>,
    delay: Option<u32>,
    data: &'a [u8],
}

/// What of an expected answer is not known before.
pub(super) struct Said<'a> {
    /// Its sync.
    pub(super) sync: u32,
    pub(super) delay: Option<u32>,
    pub(super) data: &'a [u8],
}

impl Engine {
    /// Looks at a packet for a context, which takes it afterwards: whether it is the answer that ends what was begun last.
    #[inline]
    pub(in super::super) fn observe(&mut self, slot: u32, packet: &Packet<'_>, datagram: &Datagram<'_>) {
        let begun = self.initiators.begun.take_if(|begun| begun.slot == slot);
        if let Some(begun) = begun {
            self.initiators.observed = self.observed(begun, packet, datagram);
        }
    }

    fn observed(&self, begun: Begun, packet: &Packet<'_>, datagram: &Datagram<'_>) -> Option<Observed> {
        let Begun {
            slot,
            template,
            segment,
        } = begun;
        let context = self.contexts.awake(slot)?;
        let header = &packet.header;
        let Parts { control, data, .. } = Parts::of(packet)?;
        let mut said = Options::RCLOSE | Options::WCLOSE;
        said.set(Options::EOM, !data.is_empty());
        let ends = header.options - (Options::NOCHECK | Options::SREQ | Options::END) == said
            // What comes so late that a timer is due tells nothing of others.
            && self.has_nothing_due()
            && context.awaits_last_word()
            && context.segment_size() == segment
            && datagram.src == context.peer.addr
            && header.seq == 0
            && context.is_plausible(header, &packet.body)
            && control.is_none_or(|control| {
                control.rseq == context.writer.nxt && control.echo == context.writer.sync_out
            })
            && data.len() as u64 <= context.reader.alloc;
        ends.then(|| Observed {
            slot,
            kind: Kind {
                template,
                dst: datagram.dst,
                ecn: datagram.ecn,
                format: header.format,
                options: header.options,
                sort: header.sort,
                seq: header.seq,
                rseq: context.writer.nxt,
                alloc: control.map(|control| control.alloc),
                length: data.len(),
            },
            numbers: Numbers {
                key: context.key,
                sync: context.writer.sync_out,
                echo: header.sync,
            },
            before: context.stats_now(),
        })
    }

    /// Whether something is to be learned from the next turn of a context.
    #[inline]
    pub(in super::super) fn is_observed(&self, slot: u32) -> bool {
        let observed = self.initiators.observed.as_ref();
        observed.is_some_and(|observed| observed.slot == slot)
    }

    /// Learns from the turn of a context what follows such an answer; what left is in the trains from number `before` on.
    #[inline(never)]
    pub(in super::super) fn learn_ending(&mut self, slot: u32, out: &TransmitBatch, before: usize) {
        let Some(observed) = self.initiators.observed.take() else {
            return;
        };
        let learned = self
            .contexts
            .at(slot)
            .and_then(|context| match observed.is_end() {
                true => Ending::over(observed, context),
                false => Ending::of(observed, context, out, before),
            });
        if learned.is_some() {
            self.initiators.ending = learned.map(Arc::new);
        }
    }

    /// The user of a context lets go of it: if its answer was the end, there may be no turn to learn from.
    #[inline]
    pub(in super::super) fn learn_before_release(&mut self, slot: u32) {
        let observed = self.initiators.observed.as_ref();
        if observed.is_some_and(|observed| observed.slot == slot && observed.is_end()) {
            self.learn_ending(slot, &TransmitBatch::new(), 0);
        }
    }
}

impl Observed {
    pub(super) fn is_of(&self, slot: u32) -> bool {
        self.slot == slot
    }

    fn is_end(&self) -> bool {
        self.kind.options.contains(Options::END)
    }

    /// Whether the congestion window after such an answer is known: what a controller makes of a round trip is not for here, but
    /// it may make nothing of so little, and without a round trip it only counts octets.
    fn predicts_window(&self, after: &ContextStats) -> bool {
        after.rtt.is_none() || self.before.congestion_window == after.congestion_window
    }

    /// What others of the kind will be like, of which `end` is the END.
    fn into_ending(self, context: &Context, end: Option<LastEnd>) -> Option<Ending> {
        let mut counted = context.stats_now();
        let read = self.kind.length > 0 && context.readable() == 0;
        // The answer and END, nothing beside.
        let sent = self.before.packets_sent + u64::from(end.is_some());
        let alone =
            (counted.packets_received, counted.packets_sent) == (self.before.packets_received + 1, sent);
        if !alone || !self.predicts_window(&counted) {
            return None;
        }
        // Of whom there is no context the message is copied once for its user.
        counted.octets_copied = self.before.octets_copied + if read { self.kind.length as u64 } else { 0 };
        Some(Ending {
            kind: self.kind,
            read,
            end,
            initial: context.rtt.initial(),
            counted,
            urgency: context.urgency(),
        })
    }
}

impl Ending {
    /// Of a context that said END in the one train from number `before` on.
    fn of(observed: Observed, context: &mut Context, out: &TransmitBatch, before: usize) -> Option<Self> {
        let (train, packet) = out.only_from(before)?;
        let (header, body) = Header::split(packet).ok()?;
        let options = header.options - Options::NOCHECK;
        let (control, []) = Control::take(body)? else {
            return None;
        };
        let numbers = observed.numbers;
        let left = context.time_wait_end()?;
        let end = LastEnd {
            wait: TimeWait::of(&Header { options, ..header }, control, numbers.key),
            src: train.src,
            ecn: train.ecn,
            urgency: train.sort,
            life: left.life,
        };
        let simple = train.count == 1
            && header.format == Format::Cntl
            && options.contains(Options::END)
            && control.rseq == observed.kind.length as u64;
        let regular = left.wait == end.wait
            && left.wait == end.of_another(numbers)
            && (left.peer, left.local) == (train.dst, end.src)
            && left.answered.is_none()
            // One without a sample lives on as one that began alike.
            && (left.srtt.is_none() || left.life == SHORTEST_LIFE);
        (simple && regular).then(|| observed.into_ending(context, Some(end)))?
    }

    /// Of a `context` whose answer has ended it.
    fn over(observed: Observed, context: &Context) -> Option<Self> {
        context
            .ended_well()
            .then(|| observed.into_ending(context, None))?
    }

    /// Whether it was about what left from template `number`, with so many octets.
    pub(super) fn answers(&self, number: u64, octets: u64) -> bool {
        self.kind.template == number && self.kind.rseq == octets
    }

    /// Whether the answer says END itself.
    pub(super) fn is_end(&self) -> bool {
        self.end.is_none()
    }

    /// Of the contexts' turns.
    pub(super) fn urgency(&self) -> Option<u16> {
        self.urgency
    }

    /// What is new in an answer to a pending initiator that otherwise is the one of last time; `None` if it is another.
    pub(super) fn expects<'a>(
        &self,
        pending: &Initiator,
        packet: &Packet<'a>,
        datagram: &Datagram<'_>,
    ) -> Option<Said<'a>> {
        let (kind, header) = (&self.kind, &packet.header);
        let same = header.key == Key::returned(pending.prepared.identity.key)
            && (header.format, header.options) == (kind.format, kind.options)
            && (header.sort, header.seq) == (kind.sort, kind.seq)
            && datagram.ecn == kind.ecn
            && datagram.dst == kind.dst
            && datagram.src == pending.peer
            && header.packet_len() == datagram.data.len();
        if !same || kind.rseq != pending.request.len() as u64 {
            return None;
        }
        let Parts { control, delay, data } = Parts::of(packet)?;
        let numbers = control.map(|control| (control.rseq, control.alloc));
        let echo = control.map(|control| control.echo);
        let fits = numbers == kind.alloc.map(|alloc| (kind.rseq, alloc))
            && echo.is_none_or(|echo| echo == pending.sync())
            // Without status only END says that nothing else follows.
            && (control.is_some() || self.is_end())
            && data.len() == kind.length
            // Who asked for an answer read it the last time.
            && self.read != data.is_empty();
        fits.then_some(Said {
            sync: header.sync,
            delay,
            data,
        })
    }

    /// END of another one into `out`; false if its answer said it.
    pub(super) fn write_end(
        &self,
        initiator: &Initiator,
        protection: Protection,
        out: &mut TransmitBatch,
    ) -> bool {
        let (Some(end), Some((_, answer))) = (&self.end, initiator.answered()) else {
            return false;
        };
        let at = end
            .of_another(Numbers::of(initiator, answer))
            .write(protection, out);
        let route = Route {
            dst: initiator.peer,
            src: end.src,
            ecn: end.ecn,
            sort: end.urgency,
        };
        out.push(route, false, at, &[]);
        true
    }

    /// Whether an answer that has come, and is read or not, will end it in the turn that follows as it did the last time.
    pub(super) fn foresees(&self, initiator: &Initiator, answer: &Answer) -> bool {
        let times = initiator.left().map(|left| (left, answer.arrived));
        let known = times.is_some_and(|times| self.foresees_after(initiator, times, answer.delay));
        known && self.read == answer.read
    }

    /// The same of one that comes so long after FIRST, and was kept at the peer for this time, if it is read.
    pub(super) fn foresees_after(
        &self,
        initiator: &Initiator,
        (left, arrived): (Time, Time),
        delay: Option<u32>,
    ) -> bool {
        let Some(rtt) = self.round_trip(left, arrived, delay) else {
            return false;
        };
        // How long stragglers are answered depends on what was known before.
        self.end.is_none() || rtt.is_some() || self.initial == initiator.prepared.identity.initial_rtt
    }

    /// The record that answers stragglers of one that had its last turn, unless its answer was the end.
    pub(super) fn time_wait_end(&self, initiator: &Initiator, answer: &Answer) -> Option<TimeWaitEnd> {
        let (end, left) = (self.end.as_ref()?, answer.left?);
        Some(TimeWaitEnd {
            wait: end.of_another(Numbers::of(initiator, answer)),
            peer: initiator.peer,
            local: end.src,
            until: left + end.life,
            life: end.life,
            answered: None,
            srtt: self.rtt(initiator),
        })
    }

    /// What is counted of one that was answered and had its last turn: as then, but for the round trip.
    pub(super) fn count(&self, initiator: &Initiator) -> ContextStats {
        ContextStats {
            rtt: self.rtt(initiator),
            ..self.counted.clone()
        }
    }

    /// The round trip of one that was answered, if it gives one.
    pub(super) fn rtt(&self, initiator: &Initiator) -> Option<Duration> {
        let (left, (_, answer)) = initiator.left().zip(initiator.answered())?;
        self.round_trip(left, answer.arrived, answer.delay)?
    }

    /// The round trip that is counted, if one is; `None` if it is not known what will be counted.
    #[expect(clippy::option_option, reason = "what is counted may be that there was none")]
    fn round_trip(&self, left: Time, arrived: Time, delay: Option<u32>) -> Option<Option<Duration>> {
        let counted = &self.counted;
        // Of an answer that took no time a congestion controller makes something else.
        let instant = counted.rtt.is_some() && counted.congestion_window.is_some() && left >= arrived;
        match (counted.rtt, delay) {
            _ if instant => None,
            (None, None) | (None, Some(DELAY_NONE)) => Some(None),
            (None, Some(_)) | (Some(_), Some(DELAY_NONE)) => None,
            (Some(_), delay) => {
                let kept = Duration::from_micros(delay.unwrap_or_default().into());
                let sample = arrived.since(left).saturating_sub(kept);
                Some(Some(sample.max(Duration::from_nanos(1))))
            }
        }
    }
}

impl<'a> Parts<'a> {
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

impl Numbers {
    fn of(initiator: &Initiator, answer: &Answer) -> Self {
        Self {
            key: initiator.prepared.identity.key,
            sync: initiator.sync(),
            echo: answer.sync,
        }
    }
}

impl LastEnd {
    /// What END of another one says.
    fn of_another(&self, numbers: Numbers) -> TimeWait {
        TimeWait {
            key: Key::own(numbers.key),
            own: numbers.key,
            echo: Some(numbers.echo),
            sync: numbers.sync.wrapping_add(1),
            ..self.wait
        }
    }
}
