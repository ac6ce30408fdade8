//! The transmitter of a group: one stream to many (§9.10).
//!
//! Everything that comes from outside changes what is kept here; what leaves, leaves in [`Transmitter::flush`], in the order
//! control, repair, new octets. Each file beside this one is a part of the rules: who joins (`admit`), whose a place is (`claim`), who is there
//! (`members`), what they say (`status`), whom to ask (`poll`), who is slow or silent (`judge`), what is sent again
//! (`repair`), how fast (`rate`), when it is over (`close`).

mod admit;
mod announce;
mod asleep;
mod bucket;
mod busy;
mod catch_up;
mod claim;
mod close;
mod datagram;
mod hearing;
mod judge;
mod latest;
mod line;
mod losses;
mod members;
mod poll;
mod rate;
mod received;
mod repair;
mod reply;
mod send;
mod shrink;
mod status;
mod stream;
mod terms;

use crate::GroupError;
use crate::groups::PartyEnv;
use crate::{
    BlockLayout, CastStats, Fec, Feedback, MemberReport, MemberState, Mode, Require, Target,
    TransmitterOptions, hold,
};
use admit::Joins;
use bucket::Collector;
use busy::BusyReceivers;
use bytes::Bytes;
use close::TransmitPhase;
use core::net::SocketAddr;
use core::time::Duration;
use datagram::GroupDatagram;
use judge::MemberJudge;
use line::GroupPath;
use members::Members;
use poll::{Polls, Situation};
use rate::RateControl;
use repair::Repair;
use reply::Replies;
use smallvec::SmallVec;
use status::StatusReport;
use stream::GroupStream;
use terms::TransmitterTerms;
use xtp_core::path::LEAST_DATAGRAM;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{
    DESCRIPTOR_LEN, DiagCode, DiagValue, FecAgreement, GnackBlock, Header, Options, PARITY_LEN, Parity,
    ToTransmitter, service, size,
};

/// Most destinations of a fan-out.
const MOST_HOSTS: usize = 1_024;
/// The greatest round trip while none was measured.
const UNKNOWN_ROUND_TRIP: Duration = Duration::from_millis(100);
/// Members of a group of unknown size: at most, and at least.
const UNKNOWN_SIZE: u32 = 1_024;
const LEAST_GUESSED: u32 = 16;

/// How long the packets of a group are, and how its stream lies in them.
struct StreamShape {
    maxdata: u32,
    agreement: Option<FecAgreement>,
    layout: Option<BlockLayout>,
}

impl StreamShape {
    fn of(options: &TransmitterOptions) -> Result<Self, GroupError> {
        let maxdata = size::payload(options.datagram) as u32;
        let agreement = options
            .fec
            .filter(|_| options.require != Require::Nobody && options.mode == Mode::Unicast)
            .map(|fec| agreement(&fec, maxdata));
        let layout = match &agreement {
            Some(agreement) => Some(BlockLayout::new(agreement, maxdata, options.window).map_err(|_| {
                GroupError::InvalidOption("the code of a group, or a window of less than two blocks")
            })?),
            None => None,
        };
        Ok(Self {
            maxdata,
            agreement,
            layout,
        })
    }

    /// Octets of the stream in a full packet.
    fn most(&self) -> usize {
        let of_symbol = |layout: &BlockLayout| layout.symbol_len().into();
        self.layout.as_ref().map_or(self.maxdata as usize, of_symbol)
    }

    /// Rows of parity of a block.
    fn rows(&self) -> u8 {
        self.layout.as_ref().map_or(1, |layout| layout.rows())
    }
}

/// One group's transmitter.
pub(super) struct Transmitter {
    options: TransmitterOptions,
    phase: TransmitPhase,
    line: GroupPath,
    terms: TransmitterTerms,
    stream: GroupStream,
    repair: Repair,
    joins: Joins,
    busy: BusyReceivers,
    members: Members,
    replies: Replies,
    polls: Polls,
    judge: MemberJudge,
    rate: RateControl,
    /// Replies to the whole group (mode B).
    buckets: Option<Collector>,
    /// The one message of an acknowledged datagram, or of one that nobody answers.
    message: Option<GroupDatagram>,
    /// When the next announcement leaves, and the first one did.
    announce: Time,
    began: Time,
    /// One past what all who hold the window have.
    acknowledged: u64,
    /// The greatest round trip.
    round_trip: Duration,
    /// Since when nobody is left to wait for but those who are joining.
    quiet_since: Option<Time>,
    /// The window or the credit was closed when this was looked at last.
    blocked: bool,
    /// The time to wait was over, and nobody was there.
    nobody_came: bool,
    released: bool,
    gone: bool,
    /// Rooms that packets are made in.
    room: Vec<u8>,
    blocks: Vec<GnackBlock>,
}

impl Transmitter {
    pub(super) fn new(
        target: Target,
        options: TransmitterOptions,
        env: &mut PartyEnv<'_>,
    ) -> Result<Self, GroupError> {
        check(&target, &options)?;
        let nobody = options.require == Require::Nobody;
        let shape = StreamShape::of(&options)?;
        let most = shape.most();
        let key = env.fresh_key();
        let mut line = GroupPath::new(&target, key, env.random() as u32);
        line.protection = env.host.protection;
        if nobody {
            line.modes = Options::NOERR | Options::NOFLOW;
        }
        Ok(Self {
            phase: match nobody {
                true => TransmitPhase::Sending,
                false => TransmitPhase::Gathering(env.now + options.wait),
            },
            terms: TransmitterTerms {
                service: match nobody {
                    true => service::MULTICAST_UNACKNOWLEDGED,
                    false => service::MULTICAST_RELIABLE,
                },
                maxdata: shape.maxdata,
                rate: options.rate.octets_per_second,
                fec: shape.agreement,
                supplies: options.slow == crate::Slow::CatchUp && !nobody,
                time: env.host.utc_ms() as u32,
            },
            stream: GroupStream::new(options.send_capacity, most, shape.layout),
            repair: Repair::new(shape.rows()),
            joins: Joins::default(),
            busy: BusyReceivers::default(),
            members: Members::new(options.require.clone()),
            replies: Replies::default(),
            polls: Polls::new(env.now),
            judge: MemberJudge::default(),
            rate: RateControl::new(&options, most as u64, line.copies(), env.now),
            buckets: bucket::collector(&options, env.now),
            message: None,
            announce: env.now,
            began: env.now,
            acknowledged: 0,
            round_trip: UNKNOWN_ROUND_TRIP,
            quiet_since: None,
            blocked: false,
            nobody_came: false,
            released: false,
            gone: false,
            room: Vec::new(),
            blocks: Vec::new(),
            line,
            options,
        })
    }

    /// Takes what a receiver sent to this transmitter's own address.
    pub(super) fn receive(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        said: ToTransmitter<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        self.line.stats.feedback_packets += 1;
        if self.is_over() && !self.is_datagram() {
            return self.answer_late(datagram.src, header);
        }
        match said {
            ToTransmitter::Join {
                control,
                xkey,
                address,
                traffic,
            } => {
                if header.key.value() == self.line.key {
                    self.take_join(datagram, header, (control, xkey, address.port()), &traffic, env);
                }
            }
            ToTransmitter::Status(control) => {
                self.take_report(datagram.src, header, &StatusReport::plain(control), env)
            }
            ToTransmitter::Spans { control, spans } => {
                self.take_report(datagram.src, header, &StatusReport::spans(control, spans), env);
            }
            ToTransmitter::Extended(status) => {
                self.take_report(datagram.src, header, &StatusReport::extended(&status), env);
                self.remind(header.key.value(), env.now);
            }
            ToTransmitter::Need(gnack) => {
                self.take_report(datagram.src, header, &StatusReport::need(&gnack), env)
            }
            ToTransmitter::Diag(diag) => {
                if !self.hears_busy(header, &diag, env.now) {
                    self.take_diag(datagram.src, header, &diag, env);
                }
            }
        }
    }

    /// It is over; who has not heard so is told, and who lacks something that nobody will supply any more, too.
    fn answer_late(&mut self, src: SocketAddr, header: &Header) {
        let own = header.key.value();
        let known = self.members.by_own(own).map(|index| self.members.get(index));
        let Some(member) = known.filter(|member| member.address == src) else {
            return;
        };
        let (code, value) = match member.state {
            MemberState::Done(_) => return self.replies.push(reply::UnicastReply::End(own)),
            MemberState::Dropped(reason) => members::diagnosis(reason),
            _ => (DiagCode::ContextAbandoned, DiagValue::HostGoingDown),
        };
        let to = (member.address, member.local);
        let refusal = reply::UnicastReply::refusal(to, member.key, code, value);
        self.replies.push(refusal);
    }

    pub(super) fn port_unreachable(&mut self, peer: SocketAddr, env: &mut PartyEnv<'_>) {
        if !self.is_over() {
            self.doubt_address(peer, env.now);
        }
    }

    /// Due timers fire, and what is to be sent goes into `out`.
    pub(super) fn flush(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if self.released {
            self.abandon(env, out);
            self.leave(env);
            return;
        }
        if self.is_over() {
            return self.send_replies(env, out);
        }
        self.gather(env);
        self.serve_buckets(env.now);
        if self.judge.next.is_some_and(|at| at <= env.now) {
            self.judge(env);
        }
        while let Some(asked) = self.polls.over(env.now) {
            self.note_misses(asked);
        }
        self.settle(env);
        self.send_replies(env, out);
        self.say_announcement(env, out);
        self.say_message(env, out);
        self.say_polls(env, out);
        self.say_ends(env, out);
        self.send_stream(env, out);
        if self.stream.has_room_again() {
            env.tell(crate::GroupEvent::Writable);
        }
    }

    /// When `flush` wants to be called although nothing happens.
    pub(super) fn deadline(&self) -> Option<Time> {
        if self.is_over() {
            return None;
        }
        let timers = [
            self.announcement_at(),
            self.message_at(),
            self.judge.next,
            self.polls.next_over(),
            self.poll_at(),
            self.bucket_at(),
            self.end_at(),
            self.stream_at(),
        ];
        timers.into_iter().flatten().min()
    }

    /// Whether `flush` would send something now.
    pub(super) fn is_pressing(&self) -> bool {
        let news = !self.is_over() && (self.repair.has_news() || self.may_send_now());
        self.released || !self.replies.is_empty() || news
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(super) fn send(
        &mut self,
        data: Bytes,
        eom: bool,
        _env: &mut PartyEnv<'_>,
    ) -> Result<usize, GroupError> {
        if self.message.is_some() || self.is_over() {
            return Err(GroupError::WriterClosed);
        }
        self.stream.write(data, eom)
    }

    pub(super) fn writable(&self) -> u64 {
        match self.message.is_some() || self.is_over() {
            true => 0,
            false => self.stream.writable(),
        }
    }

    pub(super) fn tag(&mut self, tag: u64, _env: &mut PartyEnv<'_>) -> Result<(), GroupError> {
        if self.message.is_some() || self.is_over() {
            return Err(GroupError::WriterClosed);
        }
        self.stream.tag(tag)
    }

    pub(super) fn finish(&mut self, _env: &mut PartyEnv<'_>) {
        if self.message.is_none() && !self.stream.closed {
            self.stream.close();
            if self.stream.is_sent() {
                // The last octet left before anybody knew that it was.
                self.line.ending = Options::WCLOSE;
                self.polls.press();
            }
        }
    }

    pub(super) fn reports(&self, env: &PartyEnv<'_>) -> Vec<MemberReport> {
        self.members.reports(env.now)
    }

    pub(super) fn stats(&self) -> CastStats {
        CastStats {
            position: self.stream.nxt,
            acknowledged: self.acknowledged,
            rate: self.rate.octets_per_second(),
            round_trip: self.members.round_trip(),
            ..self.line.stats
        }
    }

    pub(super) fn release(&mut self, _env: &mut PartyEnv<'_>) {
        self.released = true;
    }

    /// Nobody finds it any more.
    fn leave(&mut self, env: &mut PartyEnv<'_>) {
        env.forget_key(self.line.key);
        self.members
            .keys()
            .chain(self.joins.keys())
            .for_each(|key| env.forget_key(key));
        self.joins.clear();
        self.gone = true;
    }

    /// What the group is told about itself.
    fn feedback(&self) -> Feedback {
        let present = self.members.present() as u32;
        let expected = self.expected().and_then(|count| u32::try_from(count).ok());
        let guessed = match self.options.size.or(expected) {
            Some(size) => size.max(present),
            None if present == 0 => self.most_in_time(),
            None => (2 * present)
                .clamp(LEAST_GUESSED, self.most_in_time())
                .max(present),
        };
        Feedback {
            size: if self.is_gathering() {
                guessed
            } else {
                present.max(1)
            },
            rate: self.options.feedback_rate,
            round_trip: self.round_trip,
            hold: self.hold(),
        }
    }

    /// How many may be guessed of whom nothing is known: as many as join in half of the time it waits for them, by the spread of joins
    /// (§9.12). If more come, their joins meet those of others, and are repeated.
    fn most_in_time(&self) -> u32 {
        let joins =
            u128::from(self.options.feedback_rate) * self.options.wait.as_millis() * 8 / (9 * 2 * 1_000);
        u32::try_from(joins)
            .unwrap_or(UNKNOWN_SIZE)
            .clamp(LEAST_GUESSED, UNKNOWN_SIZE)
    }

    /// How long a need may wait before it is told.
    fn hold(&self) -> Duration {
        let rate = self.rate.octets_per_second();
        let flowing = !self.stream.is_sent() && rate > 0;
        let eighth = flowing.then(|| {
            let nanos = u128::from(self.window()) / 8 * 1_000_000_000 / u128::from(rate);
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        });
        hold(self.round_trip, eighth)
    }

    fn window(&self) -> u64 {
        self.options.window
    }

    /// Whether nobody reports.
    fn repairs_nothing(&self) -> bool {
        self.options.require == Require::Nobody
    }

    /// After somebody's report, or somebody's leaving: what that changes for all.
    fn after_report(&mut self, env: &mut PartyEnv<'_>) {
        if self.is_anonymous() {
            // Buckets move the window (§9.17).
        } else if let Some(position) = self.members.acknowledged() {
            self.acknowledged = self.acknowledged.max(position);
        } else if self.members.nobody_to_wait_for() && self.members.all_settled() && self.members.len() > 0 {
            self.acknowledged = self.stream.nxt;
        }
        self.line.stats.acknowledged = self.acknowledged;
        self.forget_acknowledged();
        self.settle(env);
    }

    /// Lets go of what nobody needs any more.
    fn forget_acknowledged(&mut self) {
        self.stream
            .release(self.acknowledged.saturating_sub(self.kept_beyond()));
        // Who came late holds the window from below what the others acknowledged, and asks about all that is kept.
        let least = self.stream.lowest();
        let block = match &self.stream.layout {
            Some(layout) => layout.place(least).map_or(0, |place| place.block),
            None => 0,
        };
        self.repair.release(block, least);
    }

    /// What the next poll is for.
    fn situation(&self) -> Situation {
        let outstanding = self.stream.nxt.saturating_sub(self.acknowledged);
        match () {
            () if self.stream.is_sent() => Situation::Closing,
            () if self.blocked || outstanding > self.window() / 4 * 3 => Situation::Tight,
            () if outstanding > 0 && self.stream.nxt < self.stream.end() => Situation::Filling,
            () if outstanding > 0 => Situation::Flowing,
            () => Situation::Idle,
        }
    }
}

fn agreement(fec: &Fec, maxdata: u32) -> FecAgreement {
    let most = maxdata.saturating_sub((PARITY_LEN + DESCRIPTOR_LEN) as u32);
    FecAgreement {
        scheme: Parity::SCHEME_BYTES,
        k: fec.symbols.into(),
        pmax: fec.rows.into(),
        symbol_len: (most.min((1 << 15) - 2) & !1) as u16,
        origin: 0,
    }
}

fn check(target: &Target, options: &TransmitterOptions) -> Result<(), GroupError> {
    let invalid = |what| Err(GroupError::InvalidOption(what));
    match target {
        Target::Group(group) if !group.ip().is_multicast() => {
            return invalid("a group has a multicast address");
        }
        Target::Each(hosts) => {
            let mut sorted: SmallVec<[SocketAddr; 16]> = hosts.iter().copied().collect();
            sorted.sort_unstable();
            sorted.dedup();
            if hosts.is_empty() || hosts.len() > MOST_HOSTS || sorted.len() != hosts.len() {
                return invalid("1 to 1 024 different hosts");
            }
        }
        Target::Group(_) => {}
    }
    match options {
        TransmitterOptions { datagram, .. } if !(LEAST_DATAGRAM..=65_507).contains(datagram) => {
            invalid("datagram: 548 to 65 507 octets")
        }
        TransmitterOptions { feedback_rate: 0, .. } => invalid("feedback_rate: at least 1"),
        TransmitterOptions { window: 0, .. } | TransmitterOptions { send_capacity: 0, .. } => {
            invalid("window and send_capacity: not 0")
        }
        TransmitterOptions { max_members: 0, .. } => invalid("max_members: at least 1"),
        TransmitterOptions {
            require: Require::AnyOf(0),
            ..
        } => invalid("any of no members"),
        TransmitterOptions {
            require: Require::List(list),
            ..
        } if list.is_empty() => invalid("a list of nobody"),
        options if bucket::refusal(target, options).is_some() => {
            invalid(bucket::refusal(target, options).unwrap_or_default())
        }
        TransmitterOptions { fec: Some(fec), .. }
            if fec.symbols == 0 || fec.rows < fec.symbols || fec.proactive > fec.rows =>
        {
            invalid("rows of parity: from the number of symbols on")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod bridge;
#[cfg(test)]
#[path = "scripted_tests.rs"]
mod scripted;
#[cfg(test)]
#[path = "transmit_tests.rs"]
mod tests;
