//! Who is joined, and how (§9.12).

use super::{Bound, Receiver, Stage, says_end};
use crate::groups::PartyEnv;
use crate::{BlockLayout, Feedback, LayoutError, ReceiverOptions};
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::Datagram;
use xtp_wire::{
    Caps, ExtendedTraffic, First, GroupBuckets, GroupPoint, GroupTerms, Header, Options, ToGroup, Traffic,
    serial_gt, service, size,
};

/// First wait for an answer in a large group; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// Who announces itself is asked for so long before another one is.
const TURN: Duration = Duration::from_secs(1);
/// What is assumed where an announcement does not say it.
const SIZE: u32 = 1_024;
const RATE: u32 = 2_000;
const ROUND_TRIP: u32 = 100_000;

/// Asking to be let in.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// When the next join leaves.
    pub(super) at: Option<Time>,
    wait: Duration,
    /// The transmitter announced itself since the last join left.
    called: bool,
    /// The next join leaves when it does so.
    overdue: bool,
    /// When the transmitter that is asked was chosen.
    since: Time,
    /// This receiver was a member before.
    pub(super) again: bool,
    /// The newest word of the transmitter to this receiver alone, and the newest packet of this receiver that it had heard.
    newest: Option<(u32, u32)>,
}

/// What an announcement says.
pub(crate) struct AnnouncedTerms {
    pub(crate) feedback: Feedback,
    service: u8,
    layout: Option<BlockLayout>,
    supplies: bool,
    buckets: Option<GroupBuckets>,
    /// Nobody is asked to join: whoever hears it takes what comes.
    is_open: bool,
}

impl Receiver {
    /// Takes a packet of somebody else than the transmitter that is heard. False: it is of no use.
    pub(crate) fn hear_stranger(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        said: &ToGroup<'_>,
        env: &mut PartyEnv<'_>,
    ) -> bool {
        let is_free = match self.stage {
            Stage::Listening => !self.released && !self.gone,
            // Whoever does not answer keeps no other one out.
            Stage::Joining => self.place.is_none() && self.is_unanswered(env.now),
            _ => false,
        };
        let terms = is_free.then(|| invitation(&self.options, datagram, header, said, env));
        let Some(terms) = terms.flatten() else {
            return false;
        };
        let whole = matches!(said, ToGroup::Datagram(_));
        self.bind(datagram, header, terms, whole, env);
        self.hear(datagram, said, env);
        match said {
            ToGroup::Datagram(first) => self.datagram(datagram, header, first, env),
            ToGroup::Announcement(first) => self.announced(header, first, env),
            _ => {}
        }
        true
    }

    /// Whether the transmitter had its second to answer, and did not.
    pub(crate) fn is_unanswered(&self, now: Time) -> bool {
        let asks = self.stage == Stage::Joining && !self.joining.again;
        asks && now >= self.joining.since + TURN
    }

    /// Since when the transmitter has not answered.
    pub(crate) fn asked_since(&self) -> Time {
        self.joining.since
    }

    fn bind(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        terms: AnnouncedTerms,
        whole: bool,
        env: &mut PartyEnv<'_>,
    ) {
        self.start_over();
        self.feedback = terms.feedback;
        self.bound = Some(Bound {
            address: datagram.src,
            key: header.key.value(),
            member: 0,
            announced: datagram.data.len(),
            service: terms.service,
            supplies: terms.supplies,
            buckets: terms.buckets,
        });
        self.blocks = terms.layout.map(super::Blocks::new);
        self.joining.since = env.now;
        self.heard.since = (env.now, 0);
        self.watch.heard(env.now);
        self.found(env);
        if whole {
            self.stage = Stage::Confirming;
        } else if terms.is_open {
            self.stage = Stage::Following;
            self.stream = super::new_stream(header.seq, &self.options);
            self.hand_out(env);
        } else {
            self.stage = Stage::Joining;
            self.ask(env);
        }
    }

    /// A join leaves after a random wait, so that those of a whole group do not leave at once.
    fn ask(&mut self, env: &mut PartyEnv<'_>) {
        self.joining.wait = self.feedback.first_repeat(FIRST_WAIT);
        self.joining.called = true;
        self.joining.at = Some(env.now + self.feedback.once(env.random()));
    }

    /// The transmitter wants to hear of this receiver.
    pub(super) fn called_to_join(&mut self, env: &PartyEnv<'_>) {
        self.joining.called = true;
        if core::mem::take(&mut self.joining.overdue) {
            self.joining.at = Some(env.now);
        }
    }

    /// The same of the confirmation of a datagram.
    pub(super) fn ask_to_confirm(&mut self, env: &mut PartyEnv<'_>) {
        let begun = self.joining.at.is_some() || self.joining.overdue;
        self.called_to_join(env);
        if !begun {
            self.ask(env);
        }
    }

    /// The transmitter does not know this receiver any more.
    pub(super) fn join_again(&mut self, env: &mut PartyEnv<'_>) {
        if self.stage == Stage::Member {
            self.stage = Stage::Joining;
            self.joining.again = true;
            self.ask(env);
        }
    }

    /// The transmitter of this receiver announces itself again. Its code is what it was at first, whatever it says now.
    pub(super) fn announced(&mut self, header: &Header, first: &First<'_>, env: &mut PartyEnv<'_>) {
        self.heard_control(header, env.now);
        if let Traffic::Extended(traffic) = &first.traffic
            && let Ok(terms) = GroupTerms::read(traffic.tlvs)
        {
            self.feedback = feedback(&terms, Some(self.feedback));
            self.learn_buckets(terms.buckets);
        }
        self.called_to_join(env);
        if header.options.contains(Options::DREQ) {
            self.close.waits_for_user = true;
        }
        if says_end(header) {
            self.learn_end(header.seq, env);
        }
        if self.stage == Stage::Following {
            self.follow_position(header, env);
        }
    }

    /// Joins that are due.
    pub(super) fn join_due(&mut self, env: &mut PartyEnv<'_>) {
        if self.joining.at.is_none_or(|at| at > env.now) {
            return;
        }
        match self.stage {
            Stage::Joining | Stage::Confirming if !self.joining.called && !self.joining.again => {
                // Nobody is asked more often than it calls: so made-up announcements cost one join each.
                self.joining.at = None;
                self.joining.overdue = true;
            }
            Stage::Joining | Stage::Confirming => {
                self.joining.called = false;
                self.outbox.join = true;
                self.joining.at = Some(env.now + self.joining.wait);
                self.joining.wait = LONGEST_WAIT.min(2 * self.joining.wait);
            }
            _ => self.joining.at = None,
        }
    }

    /// The transmitter says by which key it knows this receiver, and where it stands.
    pub(super) fn answered(
        &mut self,
        header: &Header,
        (echo, xkey): (u32, u64),
        traffic: &Traffic<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let Traffic::Extended(traffic) = traffic else {
            return;
        };
        let Ok(terms) = GroupTerms::read(traffic.tlvs) else {
            return;
        };
        let (Some(bound), Some(point)) = (&mut self.bound, terms.point) else {
            return;
        };
        let takes = matches!(self.stage, Stage::Joining | Stage::Member);
        if point.group != bound.key || !takes {
            return;
        }
        self.watch.heard(env.now);
        self.outbox.answer = Some(header.sync);
        // One that forgot this receiver counts anew under another T: which of two words is newer tells what it had heard.
        let is_news = self
            .joining
            .newest
            .is_none_or(|(sync, heard)| match bound.member == xkey {
                true => serial_gt(header.sync, sync),
                false => !serial_gt(heard, echo),
            });
        if !is_news {
            return;
        }
        self.joining.newest = Some((header.sync, echo));
        bound.member = xkey;
        self.feedback = feedback(&terms, Some(self.feedback));
        self.learn_buckets(terms.buckets);
        self.admitted(header.seq, point, env);
    }

    fn admitted(&mut self, join_point: u64, point: GroupPoint, env: &mut PartyEnv<'_>) {
        if self.stage == Stage::Joining {
            self.stage = Stage::Member;
            self.joining.at = None;
            self.hand_out(env);
            if !self.joining.again {
                self.begin_at(join_point);
            }
            if self.stream.readable() > 0 {
                self.tell_readable(env);
            }
        }
        self.stands_at(point, env);
        self.look_for_end(env);
        self.judge(env);
    }

    /// What lies below the join point is not for this receiver.
    fn begin_at(&mut self, position: u64) {
        if position > self.alloc() {
            self.stream = super::new_stream(position, &self.options);
        } else {
            self.stream.skip_to(position);
            while self.stream.delivered() < position {
                let left = usize::try_from(position - self.stream.delivered()).unwrap_or(usize::MAX);
                if self.stream.read(left).is_none() {
                    break;
                }
            }
        }
        // What was computed of the first block waited for what lies below.
        self.insert_waited();
        if let Some(blocks) = &mut self.blocks {
            blocks.release(self.stream.next());
        }
    }

    /// The specifier of a join, without TLVs.
    pub(super) fn own_traffic(&self) -> ExtendedTraffic<'static> {
        ExtendedTraffic {
            service: self.bound.as_ref().map_or(0, |bound| bound.service),
            maxdata: u32::try_from(size::payload(self.options.datagram)).unwrap_or(u32::MAX),
            credit: self.alloc(),
            caps: Caps::XCNTL | Caps::FEC | Caps::CATCHUP | Caps::MB,
            ..ExtendedTraffic::default()
        }
    }
}

/// What a packet of a transmitter that is not heard yet invites a receiver with these options to. `None`: it can not take what is
/// announced, or it is for others.
pub(crate) fn invitation(
    options: &ReceiverOptions,
    datagram: &Datagram<'_>,
    header: &Header,
    said: &ToGroup<'_>,
    env: &mut PartyEnv<'_>,
) -> Option<AnnouncedTerms> {
    let (first, whole) = match said {
        ToGroup::Announcement(first) => (first, false),
        ToGroup::Datagram(first) => (first, true),
        _ => return None,
    };
    let wanted = options
        .source
        .is_none_or(|source| source.to_canonical() == datagram.src.ip().to_canonical());
    let key = header.key.value();
    // What this endpoint transmits is for others, unless its user names it as the source.
    let is_echo = env.is_own(key) && options.source.is_none();
    if !wanted || is_echo || env.is_buried(datagram.src, key) {
        return None;
    }
    let terms = terms(options, header, first)?;
    (whole || terms.is_open || header.options.contains(Options::SREQ)).then_some(terms)
}

/// What an announcement says to a receiver with these options.
fn terms(options: &ReceiverOptions, header: &Header, first: &First<'_>) -> Option<AnnouncedTerms> {
    let Traffic::Extended(traffic) = &first.traffic else {
        return None;
    };
    let terms = GroupTerms::read(traffic.tlvs).ok()?;
    let fits = traffic.maxdata as usize <= size::payload(options.datagram);
    if first.address.port() != Some(options.service_number) || !fits {
        return None;
    }
    let layout = match terms
        .fec
        .map(|fec| BlockLayout::new(&fec, traffic.maxdata, options.capacity))
    {
        // Too small a buffer is the transmitter's to refuse: so its user hears of it.
        None | Some(Err(LayoutError::Window)) => None,
        Some(layout) => Some(layout.ok()?),
    };
    Some(AnnouncedTerms {
        feedback: feedback(&terms, None),
        service: traffic.service,
        layout,
        supplies: traffic.caps.contains(Caps::CATCHUP),
        buckets: terms.buckets,
        is_open: traffic.service == service::MULTICAST_UNACKNOWLEDGED
            && header.options.contains(Options::NOERR),
    })
}

/// What is said, else what was known, else what is usual.
fn feedback(terms: &GroupTerms<'_>, known: Option<Feedback>) -> Feedback {
    let micros = |micros: u32| Duration::from_micros(micros.into());
    let usual = Feedback {
        size: SIZE,
        rate: RATE,
        round_trip: micros(ROUND_TRIP),
        hold: 4 * micros(ROUND_TRIP),
    };
    let before = known.unwrap_or(usual);
    let round_trip = terms.grtt_us.map_or(before.round_trip, micros);
    Feedback {
        size: terms.size.unwrap_or(before.size),
        rate: terms.feedback_rate.unwrap_or(before.rate),
        round_trip,
        hold: known.map_or(4 * round_trip, |known| known.hold),
    }
}

#[cfg(test)]
#[path = "join_tests.rs"]
mod tests;
