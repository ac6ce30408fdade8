//! An association of one message ends with its packet: END leaves from a template, and what the answer before it means
//! is booked later, perhaps only when the next association's FIRST is under way.
//!
//! It is about the association that was launched last (`launch`): when the answer to its FIRST is the one that came to
//! the FIRST before, what follows is what followed then. The books call the functions of the long way with the times of
//! then; the packet they build is the one that has left.

use super::guest::copy_of;
use super::launch::Launch;
use super::{Engine, Read};
use crate::context::{Context, Dally};
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use crate::stats::ContextStats;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::{Datagram, Ecn, Route, TransmitBatch};
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use xtp_wire::{Body, Control, DELAY_NONE, Format, Header, Key, Options, Packet, Protection};

mod at_once;

/// How long what is over answers stragglers if its round trip was short (§3.7).
const SHORTEST_LIFE: Duration = Duration::from_secs(1);

/// An answer that ends its association and is not in the books.
pub(super) struct Farewell {
    pub(super) id: ContextId,
    slot: u32,
    /// Own key and newest sync of ours.
    pub(super) key: u64,
    pub(super) sync: u32,
    /// Serial number at this client.
    serial: Option<u64>,
    arrived: Time,
    pub(super) src: SocketAddr,
    kind: Kind,
    /// Sync of the answer.
    pub(super) echo: u32,
    /// How long the peer says that it kept the answer.
    delay: Option<u32>,
    message: core::ops::Range<usize>,
    left: Option<Time>,
    /// It is a note still.
    errand: Option<Launch>,
    /// When its user let go of a note.
    pub(super) released: Option<Time>,
}

/// What of an answer decides what END says.
#[derive(Clone, PartialEq)]
struct Kind {
    /// Number of the template its FIRST left from.
    launch: u64,
    dst: Option<IpAddr>,
    ecn: Ecn,
    format: Format,
    options: Options,
    sort: u16,
    seq: u64,
    rseq: u64,
    alloc: Option<u64>,
    length: usize,
    read: bool,
}

/// What followed the last answer of its kind.
pub(super) struct Ending {
    kind: Kind,
    /// END, unless the answer said it.
    end: Option<LastEnd>,
    /// What was counted before the answer came, and after END.
    counted: (ContextStats, ContextStats),
    /// What is left of one when its user has let go, if that is known.
    relic: Option<Remains>,
}

/// The last END of its kind.
struct LastEnd {
    wait: TimeWait,
    src: Option<IpAddr>,
    ecn: Ecn,
}

/// What is known of what is left of an association that was answered: a record that answers stragglers, unless the answer
/// was the end.
struct Remains {
    /// How long it does.
    life: Duration,
    /// The round trip it began with.
    initial: Option<Duration>,
}

/// What is left of another one.
pub(super) struct Relic {
    pub(super) dally: Option<Dally>,
    pub(super) rtt: Option<Duration>,
    /// When it had its last turn.
    pub(super) left: Time,
}

impl Farewell {
    /// What was launched, if it is a note still.
    pub(super) fn errand(&self) -> Option<&Launch> {
        self.errand.as_ref()
    }

    /// Its user lets go; false if it is no note, or he has.
    pub(super) fn note_release(&mut self, now: Time) -> bool {
        let over = self.left.is_some() || self.is_ended() && self.kind.read;
        let notes = self.errand.is_some() && over && self.released.is_none();
        if notes {
            self.released = Some(now);
        }
        notes
    }

    /// Whether no timer of the context of a note would be due, had it been made.
    pub(super) fn is_patient(&self, now: Time) -> bool {
        let waits = self.errand.as_ref().and_then(|launch| launch.waits.as_ref());
        waits.is_none_or(|waits| now < waits.until)
    }

    /// Whether nothing of it has to leave.
    pub(super) fn has_left(&self) -> bool {
        self.left.is_some() || self.is_ended()
    }

    /// Whether it is a note, its answer was the end, and there was no turn since.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.left.is_none() && self.errand.is_some() && self.is_ended()
    }

    /// The turn after an answer that was the end, if it had none: serial number of what is over then.
    pub(super) fn end_note(&mut self, now: Time) -> Option<u64> {
        if !self.has_ended() {
            return None;
        }
        self.left = Some(now);
        self.serial
    }

    /// Whether what is left to book may wait for the next launch.
    fn is_parting(&self) -> bool {
        match self.is_ended() {
            // The turn after it may be that of the launch, and until then it is not put away.
            true => self.left.is_none() && self.released.is_some(),
            false => self.left.is_some(),
        }
    }

    /// Whether the answer was the end.
    #[inline]
    pub(super) fn is_ended(&self) -> bool {
        self.kind.options.contains(Options::END)
    }
}

impl Engine {
    /// Takes the answer to what was launched last, if it is one that ends the association; false if not.
    pub(super) fn take_leave(&mut self, slot: u32, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let Some(launch) = self.launched.take_if(|(launched, _)| *launched == slot) else {
            return false;
        };
        let expected = self.welcoming && !self.is_ahead() && self.scheduler.is_empty();
        let Some(context) = self.contexts.awake(slot).filter(|_| expected) else {
            return false;
        };
        let header = &packet.header;
        let (control, data) = match &packet.body {
            Body::Cntl(control) => (Some(control), &[][..]),
            // RCLOSE alone says that the request is there.
            Body::Data(data) if data.tag.is_none() && !data.data.is_empty() => (None, data.data),
            Body::Xdata { control, data, .. } if data.tag.is_none() && !data.data.is_empty() => {
                (Some(control), data.data)
            }
            _ => return false,
        };
        let mut said = Options::RCLOSE | Options::WCLOSE;
        said.set(Options::EOM, !data.is_empty());
        let ends = header.options - (Options::NOCHECK | Options::SREQ | Options::END) == said
            && context.awaits_last_word()
            && datagram.src == context.peer.addr
            && header.seq == 0
            && context.is_plausible(header, &packet.body)
            && control.is_none_or(|control| {
                control.rseq == context.writer.nxt && control.echo == context.writer.sync_out
            })
            && data.len() as u64 <= context.reader.alloc;
        if !ends {
            return false;
        }
        let end = header.packet_len();
        self.last_word.keep(datagram, data.len());
        let farewell = Farewell {
            id: context.id,
            slot,
            key: context.key,
            sync: context.writer.sync_out,
            serial: context.serial,
            arrived: self.now,
            src: datagram.src,
            kind: Kind {
                launch: launch.1,
                dst: datagram.dst,
                ecn: datagram.ecn,
                format: header.format,
                options: header.options,
                sort: header.sort,
                seq: header.seq,
                rseq: context.writer.nxt,
                alloc: control.map(|control| control.alloc),
                length: data.len(),
                read: false,
            },
            echo: header.sync,
            delay: match &packet.body {
                Body::Xdata { delay_us, .. } => Some(*delay_us),
                _ => None,
            },
            message: end - data.len()..end,
            left: None,
            errand: None,
            released: None,
        };
        self.farewell = Some(farewell);
        self.tell();
        true
    }

    /// An answer came.
    fn tell(&mut self) {
        let Some(farewell) = &self.farewell else { return };
        let over = farewell.is_ended().then_some(Event::Closed(CloseReason::Normal));
        let told = [Event::Heard, Event::Readable].into_iter().chain(over);
        self.events.extend(told.map(|event| (farewell.id, event)));
    }

    /// Octets to read of an answer that is not in the books.
    pub(super) fn noted_readable(&self, id: ContextId) -> Option<u64> {
        let farewell = self.farewell.as_ref().filter(|farewell| farewell.id == id)?;
        Some(match farewell.kind.read {
            true => 0,
            false => farewell.message.len() as u64,
        })
    }

    /// Whether what can be read of `id` is known although its books are not done, so that nobody who asks needs them.
    pub fn is_noted(&self, id: ContextId) -> bool {
        self.noted_readable(id).is_some()
    }

    pub(super) fn read_last(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let farewell = self.farewell.as_mut()?;
        let fits = !farewell.message.is_empty() && farewell.message.len() <= max;
        if farewell.id != id || farewell.left.is_some() || farewell.kind.read || !fits {
            return None;
        }
        self.now = self.now.max(now);
        farewell.kind.read = true;
        let bytes = self.last_word.part(farewell.message.clone());
        Some(Read::Data {
            offset: 0,
            bytes,
            eom: true,
        })
    }

    /// Says END, if that is all there is to do.
    pub(super) fn flush_farewell(&mut self, out: &mut TransmitBatch) -> bool {
        let idle = self.scheduler.is_empty()
            && self.replies.is_empty()
            && self.next_timer().is_none_or(|at| at > self.now);
        let now = self.now;
        let Some(farewell) = self
            .farewell
            .as_mut()
            .filter(|last| idle && last.left.is_none() && last.is_patient(now))
        else {
            return false;
        };
        let known = self.ending.as_ref().filter(|ending| ending.kind == farewell.kind);
        let end = known.and_then(|ending| ending.end.as_ref());
        if farewell.is_ended() || farewell.errand.is_some() && end.is_none() {
            return false;
        }
        farewell.left = Some(now);
        let before = out.begin();
        if let Some(end) = end {
            let at = out.arena.len();
            end.write(farewell, self.config.protection(), out);
            let (id, serial) = (farewell.id, farewell.serial);
            self.events.push_back((id, Event::Closed(CloseReason::Normal)));
            // The next FIRST says which associations are finished.
            if let Some(n) = serial {
                self.open_n.remove(n);
            }
            self.stats.sent += 1;
            self.stats.express += 1;
            copy_of(&mut self.left_last, &out.arena[at..]);
            return true;
        }
        // The first of its kind: as long as ever, and remembered.
        if let Some(farewell) = self.farewell.take() {
            let count = |context: &Context| context.stats_now();
            let first = self.contexts.awake(farewell.slot).map(count);
            self.part(&farewell, Some(&mut *out));
            self.stats.sent += out.datagrams_from(before) as u64;
            let counted = first.zip(self.contexts.awake(farewell.slot).map(count));
            let relic = self
                .contexts
                .at(farewell.slot)
                .and_then(|context| context.dally().zip(Some(context.rtt.initial())));
            self.ending = counted.and_then(|counted| Ending::of(&farewell, out, before, counted, relic));
        }
        true
    }

    /// Whether END has left, or the answer was the end and its user went before there was a turn, and nothing else waits
    /// for the books of that, so that they may wait until there is nothing to do.
    /// [`catch_up`](Self::catch_up) does them.
    pub fn is_parting(&self) -> bool {
        let parting = self.farewell.as_ref().is_some_and(Farewell::is_parting);
        parting
            && self.launch.is_none()
            && self.guest.is_none()
            && self.books.is_none()
            && self.unsettled.is_none()
    }

    /// What [`context_stats`](Self::context_stats) will say of `id` when the books of its END are done, if that is known
    /// before: whoever ends an association need not wait for them.
    pub fn parting_stats(&self, id: ContextId) -> Option<ContextStats> {
        let farewell = self.farewell.as_ref().filter(|farewell| farewell.id == id)?;
        self.counts(farewell)
    }

    fn counts(&self, farewell: &Farewell) -> Option<ContextStats> {
        let ending = self.ending.as_ref().filter(|_| farewell.left.is_some())?;
        if let Some(launch) = &farewell.errand {
            return ending.counts(farewell, launch.left);
        }
        let context = self.contexts.awake(farewell.slot)?;
        let as_then = context.stats_now() == ending.counted.0;
        ending
            .counts(farewell, context.sent_at(farewell.sync))
            .filter(|_| as_then)
    }

    /// Does the books of an answer that came, and of END if it left.
    pub(super) fn settle_farewell(&mut self) {
        if let Some(farewell) = self.farewell.take() {
            match &farewell.errand {
                Some(launch) => self.settle_errand(&farewell, launch),
                None => self.part(&farewell, None),
            }
        }
    }

    /// A context was told its end by the answer: others of its kind will be.
    fn note_end(&mut self, farewell: &Farewell, first: ContextStats) {
        let known = self.ending.as_ref();
        if known.is_some_and(|known| known.kind == farewell.kind) {
            return;
        }
        let context = self.contexts.awake(farewell.slot);
        self.ending = context.map(|context| Ending::over(farewell, context, first));
    }

    pub(super) fn part(&mut self, farewell: &Farewell, out: Option<&mut TransmitBatch>) {
        let unforeseen = out.is_some();
        let expected = match cfg!(debug_assertions) && !unforeseen {
            true => self.counts(farewell),
            false => None,
        };
        let now = std::mem::replace(&mut self.now, farewell.arrived);
        let told = self.events.len();
        let first = farewell
            .is_ended()
            .then(|| self.contexts.awake(farewell.slot))
            .flatten();
        let first = first.map(Context::stats_now);
        let (own, shared) = self.last_word.lend();
        let octets = shared.as_deref().unwrap_or(&own);
        if let Ok(packet) = Packet::parse(octets) {
            let datagram = Datagram {
                src: farewell.src,
                dst: farewell.kind.dst,
                ecn: farewell.kind.ecn,
                data: octets,
                backing: shared.as_ref(),
            };
            self.deliver_as(farewell.slot, &packet, &datagram, farewell.kind.read);
            if !farewell.kind.read {
                self.count_copied(farewell.slot, self.last_word.copied());
            }
        }
        self.last_word.take_back(own);
        if let Some(context) = self.contexts.at(farewell.slot).filter(|_| farewell.kind.read) {
            let read = context.read(usize::MAX);
            debug_assert!(matches!(read, Ok(Read::Data { eom: true, .. })));
        }
        if let Some(left) = farewell.left {
            self.scheduler.remove(farewell.slot);
            let expected = std::mem::take(&mut self.left_last);
            let said: &[u8] = if farewell.is_ended() { &[] } else { &expected };
            self.turn_of_then(farewell.slot, left, out, said);
            self.left_last = expected;
        }
        debug_assert!(
            expected.is_none() || self.contexts.see(farewell.slot, |context| context.stats_now()) == expected,
            "something else was counted"
        );
        if let Some(first) = first {
            self.note_end(farewell, first);
        }
        // Told already; of the first of its kind, that it ended turned out only now.
        let events = 2 + usize::from(farewell.is_ended() || farewell.left.is_some() && !unforeseen);
        debug_assert!(self.events.len() >= told + events, "fewer events than were told");
        debug_assert!(
            unforeseen || self.events.len() == told + events,
            "other events than were told"
        );
        self.events.drain(told..(told + events).min(self.events.len()));
        self.now = now;
    }
}

impl Ending {
    /// What left in the one train from number `before` on, if it may serve again.
    fn of(
        farewell: &Farewell,
        out: &TransmitBatch,
        before: usize,
        counted: (ContextStats, ContextStats),
        relic: Option<(Dally, Option<Duration>)>,
    ) -> Option<Self> {
        let (train, packet) = out.only_from(before)?;
        let (header, body) = Header::split(packet).ok()?;
        let options = header.options - Options::NOCHECK;
        let (control, []) = Control::take(body)? else {
            return None;
        };
        let end = LastEnd {
            wait: TimeWait::of(&Header { options, ..header }, control, farewell.key),
            src: train.src,
            ecn: train.ecn,
        };
        let simple = train.count == 1 && header.format == Format::Cntl && options.contains(Options::END);
        let relic = relic.filter(|(dally, _)| {
            let regular = dally.wait == end.wait
                && dally.wait == end.of_another(farewell)
                && (dally.peer, dally.local) == (farewell.src, end.src)
                && dally.answered.is_none();
            // One without a sample lives on as one that began alike.
            regular
                && is_window_predictable(&counted)
                && (dally.srtt.is_none() || dally.life == SHORTEST_LIFE)
        });
        simple.then(|| Self {
            kind: farewell.kind.clone(),
            end: Some(end),
            relic: relic.map(|(dally, initial)| Remains {
                life: dally.life,
                initial,
            }),
            counted,
        })
    }

    /// What a `context` makes of an answer that ends it.
    fn over(farewell: &Farewell, context: &Context, first: ContextStats) -> Self {
        let counted = (first, context.stats_now());
        let over = context.ended_well() && is_window_predictable(&counted);
        Self {
            kind: farewell.kind.clone(),
            end: None,
            relic: over.then(|| Remains {
                life: Duration::ZERO,
                initial: context.rtt.initial(),
            }),
            counted,
        }
    }

    /// Whether there is something to leave behind of one who was never made.
    pub(super) fn has_relic(&self) -> bool {
        self.relic.is_some()
    }

    /// Whether it was about what left from template `number`, with so many octets.
    pub(super) fn answers(&self, number: u64, octets: u64) -> bool {
        self.kind.launch == number && self.kind.rseq == octets
    }

    /// What is left of a note that was answered, and its round trip.
    pub(super) fn relic_for(&self, farewell: &Farewell, launch: &Launch) -> Option<Relic> {
        let known = self.relic.as_ref()?;
        let rtt = self.round_trip(farewell, launch.left)?;
        if self.end.is_some() && rtt.is_none() && known.initial != launch.prepared.identity.initial_rtt {
            return None;
        }
        let left = farewell.left?;
        let dally = self.end.as_ref().map(|end| Dally {
            wait: end.of_another(farewell),
            peer: farewell.src,
            local: end.src,
            until: left + known.life,
            life: known.life,
            answered: None,
            srtt: rtt,
        });
        Some(Relic { dally, rtt, left })
    }

    /// What is counted when the books are done of one whose FIRST left at `asked`: as then, but for the round trip.
    fn counts(&self, farewell: &Farewell, asked: Option<Time>) -> Option<ContextStats> {
        let rtt = self.round_trip(farewell, asked)?;
        let (_, after) = &self.counted;
        Some(ContextStats { rtt, ..after.clone() })
    }

    /// The round trip that is counted, if one is; `None` if it is not known what will be counted.
    #[expect(clippy::option_option, reason = "what is counted may be that there was none")]
    fn round_trip(&self, farewell: &Farewell, asked: Option<Time>) -> Option<Option<Duration>> {
        let (_, after) = &self.counted;
        // Of an answer that took no time a congestion controller makes something else.
        let instant = after.rtt.is_some()
            && after.congestion_window.is_some()
            && asked.is_none_or(|asked| asked >= farewell.arrived);
        if self.kind != farewell.kind || !is_window_predictable(&self.counted) || instant {
            return None;
        }
        match (after.rtt, farewell.delay) {
            (None, None) | (None, Some(DELAY_NONE)) => Some(None),
            (None, Some(_)) | (Some(_), Some(DELAY_NONE)) => None,
            (Some(_), delay) => {
                let kept = Duration::from_micros(delay.unwrap_or_default().into());
                let sample = farewell.arrived.since(asked?).saturating_sub(kept);
                Some(Some(sample.max(Duration::from_nanos(1))))
            }
        }
    }
}

impl LastEnd {
    /// What END of another one says.
    fn of_another(&self, farewell: &Farewell) -> TimeWait {
        TimeWait {
            key: Key::own(farewell.key),
            own: farewell.key,
            echo: Some(farewell.echo),
            sync: farewell.sync.wrapping_add(1),
            ..self.wait
        }
    }

    /// The packet, into `out`.
    fn write(&self, farewell: &Farewell, protection: Protection, out: &mut TransmitBatch) {
        let at = self.of_another(farewell).write(protection, out);
        let route = Route {
            dst: farewell.src,
            src: self.src,
            ecn: self.ecn,
        };
        out.push(route, false, at, &[]);
    }
}

/// Whether the congestion window after an answer of this kind is known: what a controller makes of a round trip is not for
/// here, but it may make nothing of so little, and without a round trip it only counts octets.
fn is_window_predictable((before, after): &(ContextStats, ContextStats)) -> bool {
    after.rtt.is_none() || before.congestion_window == after.congestion_window
}
