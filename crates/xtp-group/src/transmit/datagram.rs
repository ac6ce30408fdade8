//! A datagram to a group: one FIRST that holds it all (§9.10).

use super::Transmitter;
use super::close::TransmitPhase;
use super::members::Member;
use super::reply::UnicastReply;
use super::stream::GroupStream;
use crate::GroupError;
use crate::groups::PartyEnv;
use crate::{GroupClose, GroupEvent, MemberId, MemberState, Mode, Require, Target, TransmitterOptions};
use bytes::Bytes;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{DataSegment, First, GroupTerms, Header, Options, ToGroup, size};

/// Until all answered the datagram is repeated after this time, twice as long each time up to the second.
const FIRST_REPEAT: Duration = Duration::from_millis(20);
const LONGEST_REPEAT: Duration = Duration::from_millis(250);

/// The message, and when it leaves next.
#[derive(Debug)]
pub(super) struct GroupDatagram {
    data: Bytes,
    next: Time,
    repeat: Duration,
    /// Who has not answered by then is not waited for, but who is busy.
    until: Time,
    /// Since when only those are waited for.
    overdue: Option<Time>,
}

impl GroupDatagram {
    /// The transmitter was stopped for `span`: it waits for so long more, and reads what came until `soon` at least.
    pub(super) fn excuse(&mut self, span: Duration, soon: Time) {
        self.until = (self.until + span).max(soon);
    }
}

impl Transmitter {
    /// A transmitter of one message and no stream.
    pub(crate) fn datagram(
        target: Target,
        options: TransmitterOptions,
        data: Bytes,
        env: &mut PartyEnv<'_>,
    ) -> Result<Self, GroupError> {
        if data.is_empty() {
            // It would look like an announcement (§9.2).
            return Err(GroupError::InvalidOption(
                "a datagram to a group has at least one octet",
            ));
        }
        let options = TransmitterOptions {
            fec: None,
            mode: Mode::Unicast,
            ..options
        };
        let mut transmitter = Self::new(target, options, env)?;
        let address = transmitter
            .line
            .address(transmitter.options.service_number)
            .encoded_len();
        let mut room = Vec::new();
        let specifier = transmitter
            .terms
            .specifier(&transmitter.feedback(), (None, None), 0, &mut room)
            .map_or(0, |traffic| traffic.encoded_len());
        let max = size::payload(transmitter.options.datagram).saturating_sub(address + specifier);
        if data.len() > max {
            return Err(GroupError::TooLong { len: data.len(), max });
        }
        let awaited =
            transmitter.expected().is_some() || matches!(transmitter.options.require, Require::AnyOf(_));
        let patience = match awaited {
            true => transmitter.options.patience,
            false => transmitter.options.wait,
        };
        transmitter.stream = GroupStream::of_message(data.clone());
        transmitter.phase = TransmitPhase::Sending;
        transmitter.message = Some(GroupDatagram {
            data,
            next: env.now,
            repeat: FIRST_REPEAT,
            until: env.now + patience,
            overdue: None,
        });
        Ok(transmitter)
    }

    pub(super) fn is_datagram(&self) -> bool {
        self.message.is_some()
    }

    pub(super) fn message_at(&self) -> Option<Time> {
        let message = self.message.as_ref().filter(|_| !self.is_ending())?;
        Some(message.next.min(message.until))
    }

    /// The message, again as long as somebody has not answered; then END, once.
    pub(super) fn say_message(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        let Some(message) = self.message.as_ref().filter(|_| !self.is_ending()) else {
            return;
        };
        let first = message.next == self.began;
        let since = message.overdue.unwrap_or(message.until);
        let is_late = message.until <= env.now;
        let waits = is_late && self.waits_for_busy(since, env.now);
        if !first && (self.all_answered() || is_late && !waits) {
            return self.end_message(env, out);
        }
        if let Some(message) = self.message.as_mut().filter(|_| waits) {
            message.overdue = Some(since);
            message.until = env.now + LONGEST_REPEAT;
        }
        if self.message.as_ref().is_none_or(|message| message.next > env.now) {
            return;
        }
        self.send_message(env, out);
        if let Some(message) = &mut self.message {
            message.next = env.now + message.repeat;
            message.repeat = (2 * message.repeat).min(LONGEST_REPEAT);
        }
        if self.repairs_nothing() {
            self.finish_with(GroupClose::Normal, env);
        }
    }

    fn send_message(&mut self, env: &PartyEnv<'_>, out: &mut TransmitBatch) {
        let data: Vec<Bytes> = self.message.iter().map(|message| message.data.clone()).collect();
        let mut options = Options::WCLOSE | Options::EOM;
        options |= match (self.repairs_nothing(), self.asks_for_delivery()) {
            (true, _) => Options::RCLOSE | Options::END,
            (false, false) => Options::SREQ,
            (false, true) => Options::SREQ | Options::DREQ,
        };
        let mut room = core::mem::take(&mut self.room);
        if let Some(traffic) = self.terms.specifier(&self.feedback(), (None, None), 0, &mut room) {
            let said = ToGroup::Datagram(First {
                address: self.line.address(self.options.service_number),
                traffic,
                data: DataSegment::default(),
            });
            self.line.stats.data_packets += 1;
            self.line.say(said, (0, options), &data, env.now, out);
        }
        self.room = room;
    }

    fn end_message(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        self.line.ending = Options::WCLOSE;
        let at = (self.stream.nxt, Options::empty());
        self.line.control(ToGroup::End, at, env.now, out);
        let how = match self.members.len() {
            0 => GroupClose::Nobody,
            _ => GroupClose::Normal,
        };
        self.finish_with(how, env);
    }

    fn all_answered(&self) -> bool {
        let enough = match self.options.require {
            Require::AnyOf(least) => Some(least as usize),
            _ => self.expected(),
        };
        enough.is_some_and(|enough| self.members.required_here() >= enough)
    }

    /// A join with RCLOSE is the confirmation of the datagram; one without waits for its user.
    pub(super) fn take_datagram_join(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        key: u64,
        terms: &GroupTerms<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let name = terms.name.unwrap_or_default();
        let known = self.members.by_peer(datagram.src, key);
        let full = self.members.len() >= self.options.max_members;
        if !header.options.contains(Options::RCLOSE) || known.is_some() || full || self.is_ending() {
            if let Some(index) = known.filter(|_| self.is_ending()) {
                self.replies.push(UnicastReply::End(self.members.get(index).own));
            }
            return;
        }
        if let Some(index) = self.members.same_receiver(name, datagram.src) {
            // A program that was started again: there is one receiver, which has it.
            let keys = (key, env.fresh_key());
            let before = self.members.speaks_as(index, (datagram.src, datagram.dst), keys);
            self.members.get_mut(index).heard_sync = header.sync;
            return env.forget_key(before);
        }
        let required = self.members.is_required(name, datagram.src);
        let round_trip = env.now.since(self.began);
        let member = Member {
            address: datagram.src,
            local: datagram.dst,
            name: name.into(),
            key,
            state: MemberState::Done(false),
            required,
            rseq: self.stream.nxt,
            ended: Some(env.now),
            heard_sync: header.sync,
            ..Member::new(env.fresh_key(), env.now, Some(round_trip))
        };
        let index = self.members.add(member);
        env.tell(GroupEvent::Joined(MemberId(index)));
        env.tell(GroupEvent::Done(MemberId(index)));
    }
}

#[cfg(test)]
#[path = "datagram_tests.rs"]
mod tests;
