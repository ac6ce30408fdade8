//! Commands of the users of groups.

use crate::engine::Engine;
use crate::error::Error;
use crate::event::Read;
use crate::group::{
    CastStats, GroupEvent, GroupId, MemberReport, ReceiverOptions, SubscriptionStats, Target,
    TransmitterOptions,
};
use bytes::Bytes;
use xtp_core::time::Time;

impl Engine {
    /// Transmits to a group: announces it with the next flush.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], [`Error::Limit`].
    pub fn cast(&mut self, now: Time, target: Target, options: TransmitterOptions) -> Result<GroupId, Error> {
        self.advance(now);
        self.listen_for_catch_ups()?;
        let (groups, env) = self.groups();
        Ok(groups.cast(&env, target, options)?)
    }

    /// Sends one message to a group: with [`Require::Nobody`](crate::group::Require::Nobody) once, and that is all;
    /// otherwise until all required members have answered, or `patience` is over ([`GroupEvent::Closed`]).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], also for no octets at all, [`Error::Limit`], [`Error::TooLong`] for more than fits one packet.
    pub fn cast_datagram(
        &mut self,
        now: Time,
        target: Target,
        options: TransmitterOptions,
        data: Bytes,
    ) -> Result<GroupId, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.cast_datagram(&env, target, options, data)?)
    }

    /// Waits for a transmitter of a group, and joins.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], [`Error::Limit`].
    pub fn join(&mut self, now: Time, options: ReceiverOptions) -> Result<GroupId, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.join(&env, options)?)
    }

    /// Listens to all transmitters of a group, so many at once as the options say. Each is heard by a receiver of its own, which is
    /// announced by [`GroupEvent::Heard`] and released by itself.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], [`Error::Limit`].
    pub fn listen_group(&mut self, now: Time, options: ReceiverOptions) -> Result<GroupId, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.listen(&env, options)?)
    }

    /// Queues octets for the group; returns how many were taken, fewer than offered when `send_capacity` is reached
    /// ([`GroupEvent::Writable`] follows). `eom` marks the last octet as the end of a message if all were taken.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`], [`Error::WriterClosed`].
    pub fn group_send(&mut self, now: Time, id: GroupId, data: Bytes, eom: bool) -> Result<usize, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.send(&env, id, data, eom)?)
    }

    /// Binds a tag to the octet that is written next.
    ///
    /// # Errors
    ///
    /// As [`group_send`](Self::group_send).
    pub fn group_tag(&mut self, now: Time, id: GroupId, tag: u64) -> Result<(), Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.tag(&env, id, tag)?)
    }

    /// Nothing more will be written: the group ends when everybody required has everything ([`GroupEvent::Closed`]).
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_finish(&mut self, now: Time, id: GroupId) -> Result<(), Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.finish(&env, id)?)
    }

    /// Every receiver that ever joined, in the order of joining, and what became of it: at most four times
    /// [`max_members`](crate::group::TransmitterOptions::max_members), beyond which joins are refused. One that lost its place and joined again under
    /// its own key is named once.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_members(&mut self, now: Time, id: GroupId) -> Result<Vec<MemberReport>, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.members(&env, id)?)
    }

    /// Counters of a transmitter.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn cast_stats(&mut self, now: Time, id: GroupId) -> Result<CastStats, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.cast_stats(&env, id)?)
    }

    /// Octets that [`group_send`](Self::group_send) would take.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_writable(&mut self, now: Time, id: GroupId) -> Result<u64, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.writable(&env, id)?)
    }

    /// Octets of sequence space that can be read; tags and gaps count with theirs. The end of the stream is no octet.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`], also for a transmitter.
    pub fn group_readable(&mut self, now: Time, id: GroupId) -> Result<u64, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.readable(&env, id)?)
    }

    /// Takes at most `max` octets, or what is next in the stream.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_read(&mut self, now: Time, id: GroupId, max: usize) -> Result<Read, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.read(&env, id, max)?)
    }

    /// What came is as it should be: the transmitter is told so.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_confirm(&mut self, now: Time, id: GroupId) -> Result<(), Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.confirm(&env, id)?)
    }

    /// What came is not as it should be: the transmitter is told so, with a text of at most 255 octets, and this receiver is out.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_reject(&mut self, now: Time, id: GroupId, text: &str) -> Result<(), Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.reject(&env, id, text)?)
    }

    /// Counters of a receiver.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn subscription_stats(&mut self, now: Time, id: GroupId) -> Result<SubscriptionStats, Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.subscription_stats(&env, id)?)
    }

    /// Forgets a party. One that is not over is told to whom it matters, with the next flush, and gone after it.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_release(&mut self, now: Time, id: GroupId) -> Result<(), Error> {
        let (groups, env) = self.groups_at(now);
        Ok(groups.release(&env, id)?)
    }

    /// The next event of a group, oldest first.
    pub fn poll_group_event(&mut self) -> Option<(GroupId, GroupEvent)> {
        self.groups.poll_event()
    }
}
