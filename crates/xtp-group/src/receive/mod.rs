//! A receiver of a group: from waiting for a transmitter to the end of its stream (§9.12 to §9.16).
//!
//! It hears what comes to the group and to itself, keeps a [`Reassembly`] of the stream and the [`Blocks`] that are not whole, and
//! reports to the transmitter when it is asked, when something is missing, when everything is here, and when nothing was heard
//! for too long. What is due is noted where it is found and leaves in [`Receiver::flush`].

mod answer;
mod behind;
mod blocks;
mod bucket;
mod catch_up;
mod close;
mod intake;
mod join;
mod need;
mod packets;
mod place;
mod seams;
mod unreliable;
mod watch;

use crate::GroupError;
use crate::groups::PartyEnv;
use crate::{Feedback, GroupClose, GroupEvent, Progress, ReceiverOptions, SubscriptionStats};
use answer::PendingAnswer;
use behind::Behind;
use blocks::Blocks;
use bucket::Answering;
use close::Close;
use core::net::SocketAddr;
use join::Joining;
pub(super) use join::invitation;
use need::Needs;
use packets::Outbox;
use place::ListenerPlace;
use watch::TransmitterWatch;
use xtp_core::path::LEAST_DATAGRAM;
use xtp_core::recv::{Item, Reassembly};
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_core::user::Read;
use xtp_wire::{
    Diag, DiagCode, DiagReason, Format, GroupBuckets, Header, MAX_NAME_LEN, Options, ToGroup, ToMember,
};

/// Largest buffer of a receiver.
const MOST_CAPACITY: u64 = 1 << 40;
/// Positions are below this.
const POSITIONS: u64 = 1 << 62;

/// How far it is with its transmitter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody was heard.
    Listening,
    /// Somebody announced itself; it is asked to let this receiver in.
    Joining,
    /// The transmitter knows this receiver.
    Member,
    /// The stream of somebody who wants to know nobody.
    Following,
    /// A whole datagram came; it is confirmed.
    Confirming,
    /// It ended.
    Over,
}

/// The transmitter that this receiver hears.
#[derive(Clone, Debug)]
struct Bound {
    address: SocketAddr,
    /// Key of the group.
    key: u64,
    /// By which key the transmitter knows this receiver; 0 before it said so.
    member: u64,
    /// Octets of the announcement.
    announced: usize,
    service: u8,
    /// Whether it lets those who fell behind fetch what they lack.
    supplies: bool,
    /// Whether questions are answered to the whole group, and how.
    buckets: Option<GroupBuckets>,
}

impl Bound {
    fn is(&self, datagram: &Datagram<'_>, key: u64) -> bool {
        self.key == key && self.address == datagram.src
    }
}

/// What was heard of the group's packets.
#[derive(Debug, Default)]
struct Heard {
    progress: Progress,
    /// When the newest packet came.
    newest_at: Time,
    ect0: u32,
    ect1: u32,
    ce: u32,
    /// What of `ce` was told last.
    ce_told: u32,
    packets: u64,
    octets: u64,
    decoded: u64,
    /// Since when, and since how many octets, the rate is measured; and the last figure.
    since: (Time, u64),
    rate: u64,
}

/// One receiver of one group.
pub(super) struct Receiver {
    options: ReceiverOptions,
    key: u64,
    stage: Stage,
    bound: Option<Bound>,
    feedback: Feedback,
    heard: Heard,
    stream: Reassembly,
    blocks: Option<Blocks>,
    joining: Joining,
    asked: PendingAnswer,
    answering: Answering,
    needs: Needs,
    behind: Behind,
    close: Close,
    watch: TransmitterWatch,
    outbox: Outbox,
    /// It hears the transmitter for a listener of the group.
    place: Option<ListenerPlace>,
    /// The user found nothing to read since it was last told that there is something.
    waits: bool,
    /// The user has read some of the stream.
    has_read: bool,
    released: bool,
    gone: bool,
}

impl Receiver {
    pub(super) fn new(options: ReceiverOptions, env: &mut PartyEnv<'_>) -> Result<Self, GroupError> {
        if !(1..=MOST_CAPACITY).contains(&options.capacity) {
            return Err(GroupError::InvalidOption("capacity must be 1..=2^40"));
        }
        if !(LEAST_DATAGRAM..=65_507).contains(&options.datagram) {
            return Err(GroupError::InvalidOption("datagram must be 548..=65 507"));
        }
        if options.name.len() > MAX_NAME_LEN {
            return Err(GroupError::InvalidOption("a name has at most 64 octets"));
        }
        let stream = new_stream(0, &options);
        Ok(Self {
            options,
            key: env.fresh_key(),
            stage: Stage::Listening,
            bound: None,
            feedback: Feedback {
                size: 1,
                rate: 1,
                round_trip: core::time::Duration::ZERO,
                hold: core::time::Duration::ZERO,
            },
            heard: Heard::default(),
            stream,
            blocks: None,
            joining: Joining::default(),
            asked: PendingAnswer::default(),
            answering: Answering::default(),
            needs: Needs::default(),
            behind: Behind::default(),
            close: Close::default(),
            watch: TransmitterWatch::new(env.now),
            outbox: Outbox::new(env.random() as u32),
            place: None,
            waits: true,
            has_read: false,
            released: false,
            gone: false,
        })
    }

    /// The group whose socket brings its packets; `None`: the endpoint's own socket.
    pub(super) fn group(&self) -> Option<SocketAddr> {
        self.options.group
    }

    /// Takes what came to the group; false if it is not from this receiver's transmitter.
    pub(super) fn hear_group(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        said: &ToGroup<'_>,
        env: &mut PartyEnv<'_>,
    ) -> bool {
        self.called(env);
        let key = header.key.value();
        let known = self.bound.as_ref().is_some_and(|bound| bound.is(datagram, key));
        if self.stage == Stage::Over {
            return known && env.is_buried(datagram.src, key);
        }
        if !known || self.gone || self.released && !self.stays() {
            // Its user has let go: what it says last is said, and nobody is told anything.
            return known;
        }
        self.hear(datagram, said, env);
        match said {
            ToGroup::Announcement(first) => self.announced(header, first, env),
            ToGroup::Datagram(first) => self.datagram(datagram, header, first, env),
            ToGroup::Data(segment) => self.data(datagram, header, segment, env),
            ToGroup::Parity(parity) => self.parity(datagram, header, parity, env),
            ToGroup::Poll(poll) => self.polled(header, poll, env),
            ToGroup::Rows(blocks) => self.rows_announced(header, blocks, env),
            ToGroup::Question => self.questioned(header, env),
            ToGroup::Position => self.positioned(header, env),
            ToGroup::End => self.group_ended(header, env),
        }
        true
    }

    /// Takes what came to this receiver alone.
    pub(super) fn hear_transmitter(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        said: ToMember<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        self.called(env);
        let theirs = self.bound.as_ref().map(|bound| bound.address) == Some(datagram.src);
        if theirs && self.stage == Stage::Over && matches!(said, ToMember::Answer { .. }) {
            self.outbox.farewell.clone_from(&self.close.rejected);
        }
        if !theirs || self.gone || self.released && !self.stays() || self.stage == Stage::Over {
            return;
        }
        match said {
            ToMember::Answer {
                control,
                xkey,
                traffic,
                ..
            } => self.answered(header, (control.echo, xkey), &traffic, env),
            ToMember::End(control) if self.stage != Stage::Joining => {
                self.watch.heard(env.now);
                self.alone_ended(header, control.echo, env);
            }
            ToMember::End(_) => {}
            ToMember::Diag(diag) => self.told_off(&diag, env),
        }
    }

    /// "I do not know that key", of the transmitter's host: the key is the group's, or the one by which it knew this receiver.
    /// False: it is about somebody else.
    pub(super) fn disowned(&mut self, key: u64, peer: SocketAddr, env: &mut PartyEnv<'_>) -> bool {
        let Some(bound) = &mut self.bound else {
            return false;
        };
        if bound.address != peer || self.stage == Stage::Over {
            return false;
        }
        if bound.key == key {
            self.lost(env);
            return true;
        }
        // Whoever sends in this receiver's name makes that host say so of keys that nobody has.
        if bound.member != key || key == 0 {
            return false;
        }
        if self.close.said {
            self.close_normally(env);
        } else {
            bound.member = 0;
            self.join_again(env);
        }
        true
    }

    fn told_off(&mut self, diag: &Diag<'_>, env: &mut PartyEnv<'_>) {
        if DiagCode::try_from(diag.code) == Ok(DiagCode::InvalidContext) {
            self.join_again(env);
        } else if self.close.said {
            self.finish(GroupClose::Normal, env);
        } else {
            if self.place.is_some() {
                // It goes on for others.
                self.bury(env);
            }
            self.finish(GroupClose::Dropped(DiagReason(diag.val)), env);
        }
    }

    pub(super) fn port_unreachable(&mut self, peer: SocketAddr, env: &mut PartyEnv<'_>) {
        if self.bound.as_ref().map(|bound| bound.address) == Some(peer) {
            self.doubt_transmitter(env.now);
        }
    }

    /// Due timers fire, and what is to be sent goes into `out`.
    pub(super) fn flush(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        self.called(env);
        if self.stage != Stage::Over && !self.gone {
            self.join_due(env);
            self.need_due(env);
            self.watch_due(env);
            self.report_due(env);
        }
        self.emit(env, out);
        self.gone |= self.released && !self.stays();
        if self.gone {
            env.forget_key(self.key);
        }
    }

    /// When `flush` wants to be called although nothing happens.
    pub(super) fn deadline(&self) -> Option<Time> {
        if self.stage == Stage::Over {
            return None;
        }
        let times = [
            self.joining.at,
            self.asked.at,
            self.answering.at,
            self.needs.deadline(),
            self.close.at,
            self.behind_at(),
            self.watch_at(),
        ];
        times.into_iter().flatten().min()
    }

    /// Whether `flush` would send something now.
    pub(super) fn is_pressing(&self) -> bool {
        self.gone || self.released && !self.stays() || !self.outbox.is_empty()
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether what came is for the user already: where it begins the transmitter says.
    fn hands_out(&self) -> bool {
        match self.stage {
            Stage::Listening => false,
            Stage::Joining => self.joining.again,
            _ => true,
        }
    }

    pub(super) fn readable(&self) -> u64 {
        match self.hands_out() {
            true => self.stream.readable(),
            false => 0,
        }
    }

    pub(super) fn read(&mut self, max: usize, env: &mut PartyEnv<'_>) -> Read {
        let item = match self.hands_out() {
            true => self.stream.read(max),
            false => None,
        };
        self.has_read |= item.is_some();
        let read = match item {
            Some(Item::Data { seq, bytes, eom }) => Read::Data {
                offset: seq,
                bytes,
                eom,
            },
            Some(Item::Tag { seq, tag }) => Read::Tag { offset: seq, tag },
            Some(Item::Gap { seq, len }) => Read::Gap { offset: seq, len },
            None if self.close.end == Some(self.stream.delivered()) => Read::End,
            None => {
                self.waits = true;
                Read::Pending
            }
        };
        self.taken(env);
        read
    }

    pub(super) fn stats(&self) -> SubscriptionStats {
        SubscriptionStats {
            transmitter: self.bound.as_ref().map(|bound| bound.address),
            packets: self.heard.packets,
            octets: self.stream.next(),
            decoded: self.heard.decoded,
            reports: self.outbox.reports,
            is_behind: self.is_behind(),
        }
    }

    /// One past the last octet there is room for.
    fn alloc(&self) -> u64 {
        self.stream.delivered().saturating_add(self.options.capacity)
    }

    /// Tells the user that there is something to read, if it found nothing.
    fn tell_readable(&mut self, env: &mut PartyEnv<'_>) {
        if self.waits {
            self.waits = false;
            if self.is_handed_out() {
                env.tell(GroupEvent::Readable);
            }
        }
    }

    /// Forgets the transmitter, and everything that came of it: as before anybody was heard. For one that a listener made for it that is
    /// the end.
    fn start_over(&mut self) {
        self.gone |= self.place.is_some() && self.stage != Stage::Listening;
        self.stage = Stage::Listening;
        self.bound = None;
        self.heard = Heard::default();
        self.stream = new_stream(0, &self.options);
        self.blocks = None;
        self.joining = Joining::default();
        self.asked = PendingAnswer::default();
        self.answering = Answering::default();
        self.needs = Needs::default();
        self.behind = Behind::default();
        self.close = Close::default();
        self.outbox.clear();
    }

    /// It is over; nothing is sent or taken any more but what the outbox holds.
    fn finish(&mut self, close: GroupClose, env: &mut PartyEnv<'_>) {
        if self.stage == Stage::Over {
            return;
        }
        self.hand_out(env);
        self.stage = Stage::Over;
        let farewell = self.outbox.farewell.take();
        self.outbox.clear();
        self.outbox.farewell = farewell;
        self.needs = Needs::default();
        self.blocks = None;
        self.tell_readable(env);
        self.tell_closed(close, env);
    }
}

fn new_stream(start: u64, options: &ReceiverOptions) -> Reassembly {
    let mut stream = Reassembly::new(start);
    let pieces = options.capacity / 256 + 1_024;
    stream.set_piece_limit(usize::try_from(pieces).unwrap_or(usize::MAX));
    stream
}

/// Whether a packet of the group says that its stream ends at its position.
fn says_end(header: &Header) -> bool {
    header.options.contains(Options::WCLOSE) && header.format != Format::Data
}

#[cfg(test)]
mod script;
#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
