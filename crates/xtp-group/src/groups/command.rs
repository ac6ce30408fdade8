//! Commands of the users of groups.

use super::{AnyParty, Audience, GroupEnv, GroupParties, PartyEnv};
use crate::receive::Receiver;
use crate::transmit::Transmitter;
use crate::{
    CastStats, GroupError, GroupEvent, GroupId, MemberReport, ReceiverOptions, SubscriptionStats, Target,
    TransmitterOptions,
};
use bytes::Bytes;
use xtp_core::user::Read;

impl GroupParties {
    /// Transmits to a group: announces it with the next flush.
    ///
    /// # Errors
    ///
    /// [`GroupError::InvalidOption`], [`GroupError::Limit`].
    pub fn cast(
        &mut self,
        host: &GroupEnv<'_>,
        target: Target,
        options: TransmitterOptions,
    ) -> Result<GroupId, GroupError> {
        self.add_party(host, |env| {
            let transmitter = Transmitter::new(target, options, env)?;
            Ok(AnyParty::Transmitter(Box::new(transmitter)))
        })
    }

    /// Sends one message to a group: with [`Require::Nobody`](crate::Require::Nobody) once, and that is all;
    /// otherwise until all required members have answered, or `patience` is over ([`GroupEvent::Closed`]).
    ///
    /// # Errors
    ///
    /// [`GroupError::InvalidOption`], also for no octets at all, [`GroupError::Limit`], [`GroupError::TooLong`] for more than fits one packet.
    pub fn cast_datagram(
        &mut self,
        host: &GroupEnv<'_>,
        target: Target,
        options: TransmitterOptions,
        data: Bytes,
    ) -> Result<GroupId, GroupError> {
        self.add_party(host, |env| {
            let transmitter = Transmitter::datagram(target, options, data, env)?;
            Ok(AnyParty::Transmitter(Box::new(transmitter)))
        })
    }

    /// Waits for a transmitter of a group, and joins.
    ///
    /// # Errors
    ///
    /// [`GroupError::InvalidOption`], [`GroupError::Limit`].
    pub fn join(&mut self, host: &GroupEnv<'_>, options: ReceiverOptions) -> Result<GroupId, GroupError> {
        self.add_party(host, |env| {
            Ok(AnyParty::Receiver(Box::new(Receiver::new(options, env)?)))
        })
    }

    /// Listens to all transmitters of a group, so many at once as the options say. Each is heard by a receiver of its own, which is
    /// announced by [`GroupEvent::Heard`] and released by itself.
    ///
    /// # Errors
    ///
    /// [`GroupError::InvalidOption`], [`GroupError::Limit`].
    pub fn listen(&mut self, host: &GroupEnv<'_>, options: ReceiverOptions) -> Result<GroupId, GroupError> {
        self.add_party(host, |env| {
            Ok(AnyParty::Audience(Box::new(Audience::new(options, env)?)))
        })
    }

    /// Queues octets for the group; returns how many were taken, fewer than offered when `send_capacity` is reached
    /// ([`GroupEvent::Writable`] follows). `eom` marks the last octet as the end of a message if all were taken.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`], [`GroupError::WriterClosed`].
    pub fn send(
        &mut self,
        host: &GroupEnv<'_>,
        id: GroupId,
        data: Bytes,
        eom: bool,
    ) -> Result<usize, GroupError> {
        self.transmitter(host, id, |transmitter, env| transmitter.send(data, eom, env))?
    }

    /// Binds a tag to the octet that is written next.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn tag(&mut self, host: &GroupEnv<'_>, id: GroupId, tag: u64) -> Result<(), GroupError> {
        self.transmitter(host, id, |transmitter, env| transmitter.tag(tag, env))?
    }

    /// Nothing more will be written: the group ends when everybody required has everything ([`GroupEvent::Closed`]).
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn finish(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<(), GroupError> {
        self.transmitter(host, id, |transmitter, env| transmitter.finish(env))
    }

    /// Every receiver that ever joined, in the order of joining, and what became of it: at most four times
    /// [`max_members`](crate::TransmitterOptions::max_members), beyond which joins are refused. One that lost its place and joined again under
    /// its own key is named once.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn members(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<Vec<MemberReport>, GroupError> {
        self.transmitter(host, id, |transmitter, env| transmitter.reports(env))
    }

    /// Counters of a transmitter.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn cast_stats(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<CastStats, GroupError> {
        self.transmitter(host, id, |transmitter, _| transmitter.stats())
    }

    /// Octets that [`send`](Self::send) would take.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn writable(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<u64, GroupError> {
        self.transmitter(host, id, |transmitter, _| transmitter.writable())
    }

    /// Octets of sequence space that can be read; tags and gaps count with theirs. The end of the stream is no octet.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`], also for a transmitter.
    pub fn readable(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<u64, GroupError> {
        self.receiver(host, id, |receiver, _| receiver.readable())
    }

    /// Takes at most `max` octets, or what is next in the stream.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn read(&mut self, host: &GroupEnv<'_>, id: GroupId, max: usize) -> Result<Read, GroupError> {
        self.receiver(host, id, |receiver, env| receiver.read(max, env))
    }

    /// What came is as it should be: the transmitter is told so.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn confirm(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<(), GroupError> {
        self.receiver(host, id, Receiver::confirm)
    }

    /// What came is not as it should be: the transmitter is told so, with a text of at most 255 octets, and this receiver is out.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn reject(&mut self, host: &GroupEnv<'_>, id: GroupId, text: &str) -> Result<(), GroupError> {
        self.receiver(host, id, |receiver, env| receiver.reject(text, env))
    }

    /// Counters of a receiver.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn subscription_stats(
        &mut self,
        host: &GroupEnv<'_>,
        id: GroupId,
    ) -> Result<SubscriptionStats, GroupError> {
        self.receiver(host, id, |receiver, _| receiver.stats())
    }

    /// Forgets a party. One that is not over is told to whom it matters, with the next flush, and gone after it.
    ///
    /// # Errors
    ///
    /// [`GroupError::NoGroup`].
    pub fn release(&mut self, host: &GroupEnv<'_>, id: GroupId) -> Result<(), GroupError> {
        self.with_party(host, id, |party, env| match party {
            AnyParty::Transmitter(transmitter) => transmitter.release(env),
            AnyParty::Receiver(receiver) => receiver.release(env),
            AnyParty::Audience(audience) => audience.release(),
        })?;
        self.leave_audience(id);
        Ok(())
    }

    /// The next event of a group, oldest first.
    pub fn poll_event(&mut self) -> Option<(GroupId, GroupEvent)> {
        self.events.pop_front()
    }

    fn transmitter<R>(
        &mut self,
        host: &GroupEnv<'_>,
        id: GroupId,
        act: impl FnOnce(&mut Transmitter, &mut PartyEnv<'_>) -> R,
    ) -> Result<R, GroupError> {
        self.with_party(host, id, |party, env| match party {
            AnyParty::Transmitter(transmitter) => Ok(act(transmitter, env)),
            AnyParty::Receiver(_) | AnyParty::Audience(_) => Err(GroupError::NoGroup),
        })?
    }

    fn receiver<R>(
        &mut self,
        host: &GroupEnv<'_>,
        id: GroupId,
        act: impl FnOnce(&mut Receiver, &mut PartyEnv<'_>) -> R,
    ) -> Result<R, GroupError> {
        self.with_party(host, id, |party, env| match party {
            AnyParty::Receiver(receiver) => Ok(act(receiver, env)),
            AnyParty::Transmitter(_) | AnyParty::Audience(_) => Err(GroupError::NoGroup),
        })?
    }
}
