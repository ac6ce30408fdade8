//! Commands of the users of groups.

use super::{Audience, GroupEnv, Party, Receiver, Transmitter};
use crate::engine::{Engine, Read};
use crate::error::Error;
use crate::group::{
    CastOptions, CastStats, GroupEvent, GroupId, JoinOptions, MemberReport, SubscriptionStats, Target,
};
use bytes::Bytes;
use xtp_core::time::Time;

impl Engine {
    /// Transmits to a group: announces it with the next flush.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], [`Error::Limit`].
    pub fn cast(&mut self, now: Time, target: Target, options: CastOptions) -> Result<GroupId, Error> {
        self.advance(now);
        self.listen_for_catch_ups()?;
        self.add_party(|env| {
            let transmitter = Transmitter::new(target, options, env)?;
            Ok(Party::Transmitter(Box::new(transmitter)))
        })
    }

    /// Sends one message to a group: with [`Require::Nobody`](crate::group::Require::Nobody) once, and that is all;
    /// otherwise until all who are required have answered, or `patience` is over ([`GroupEvent::Closed`]).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], also for no octets at all, [`Error::Limit`], [`Error::TooLong`] for more than fits one packet.
    pub fn cast_datagram(
        &mut self,
        now: Time,
        target: Target,
        options: CastOptions,
        data: Bytes,
    ) -> Result<GroupId, Error> {
        self.advance(now);
        self.add_party(|env| {
            let transmitter = Transmitter::datagram(target, options, data, env)?;
            Ok(Party::Transmitter(Box::new(transmitter)))
        })
    }

    /// Waits for a transmitter of a group, and joins.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], [`Error::Limit`].
    pub fn join(&mut self, now: Time, options: JoinOptions) -> Result<GroupId, Error> {
        self.advance(now);
        self.add_party(|env| Ok(Party::Receiver(Box::new(Receiver::new(options, env)?))))
    }

    /// Listens to all transmitters of a group, so many at once as the options say. Each is heard by a receiver of its own, which is
    /// announced by [`GroupEvent::Heard`] and released by itself.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`], [`Error::Limit`].
    pub fn listen_group(&mut self, now: Time, options: JoinOptions) -> Result<GroupId, Error> {
        self.advance(now);
        self.add_party(|env| Ok(Party::Audience(Box::new(Audience::new(options, env)?))))
    }

    /// Queues octets for the group; returns how many were taken, fewer than offered when `send_capacity` is reached
    /// ([`GroupEvent::Writable`] follows). `eom` marks the last octet as the end of a message if all were taken.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`], [`Error::WriterClosed`].
    pub fn group_send(&mut self, now: Time, id: GroupId, data: Bytes, eom: bool) -> Result<usize, Error> {
        self.transmitter(now, id, |transmitter, env| transmitter.send(data, eom, env))?
    }

    /// Binds a tag to the octet that is written next.
    ///
    /// # Errors
    ///
    /// As [`group_send`](Self::group_send).
    pub fn group_tag(&mut self, now: Time, id: GroupId, tag: u64) -> Result<(), Error> {
        self.transmitter(now, id, |transmitter, env| transmitter.tag(tag, env))?
    }

    /// Nothing more will be written: the group ends when everybody required has everything ([`GroupEvent::Closed`]).
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_finish(&mut self, now: Time, id: GroupId) -> Result<(), Error> {
        self.transmitter(now, id, |transmitter, env| transmitter.finish(env))
    }

    /// Every receiver that ever joined, in the order of joining, and what became of it: at most four times
    /// [`max_members`](crate::group::CastOptions::max_members), beyond which joins are refused. One that lost its place and joined again under
    /// its own key is named once.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_members(&mut self, now: Time, id: GroupId) -> Result<Vec<MemberReport>, Error> {
        self.transmitter(now, id, |transmitter, env| transmitter.reports(env))
    }

    /// Counters of a transmitter.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn cast_stats(&mut self, now: Time, id: GroupId) -> Result<CastStats, Error> {
        self.transmitter(now, id, |transmitter, _| transmitter.stats())
    }

    /// Octets that [`group_send`](Self::group_send) would take.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_writable(&mut self, now: Time, id: GroupId) -> Result<u64, Error> {
        self.transmitter(now, id, |transmitter, _| transmitter.writable())
    }

    /// Octets of sequence space that can be read; tags and gaps count with theirs. The end of the stream is no octet.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`], also for a transmitter.
    pub fn group_readable(&mut self, now: Time, id: GroupId) -> Result<u64, Error> {
        self.receiver(now, id, |receiver, _| receiver.readable())
    }

    /// Takes at most `max` octets, or what is next in the stream.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_read(&mut self, now: Time, id: GroupId, max: usize) -> Result<Read, Error> {
        self.receiver(now, id, |receiver, env| receiver.read(max, env))
    }

    /// What came is as it should be: the transmitter is told so.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_confirm(&mut self, now: Time, id: GroupId) -> Result<(), Error> {
        self.receiver(now, id, Receiver::confirm)
    }

    /// What came is not as it should be: the transmitter is told so, with a text of at most 255 octets, and this receiver is out.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_reject(&mut self, now: Time, id: GroupId, text: &str) -> Result<(), Error> {
        self.receiver(now, id, |receiver, env| receiver.reject(text, env))
    }

    /// Counters of a receiver.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn subscription_stats(&mut self, now: Time, id: GroupId) -> Result<SubscriptionStats, Error> {
        self.receiver(now, id, |receiver, _| receiver.stats())
    }

    /// Forgets a party. One that is not over is told to whom it matters, with the next flush, and gone after it.
    ///
    /// # Errors
    ///
    /// [`Error::NoGroup`].
    pub fn group_release(&mut self, now: Time, id: GroupId) -> Result<(), Error> {
        self.advance(now);
        self.with_party(id, |party, env| match party {
            Party::Transmitter(transmitter) => transmitter.release(env),
            Party::Receiver(receiver) => receiver.release(env),
            Party::Audience(audience) => audience.release(),
        })?;
        self.leave_audience(id);
        Ok(())
    }

    /// The next event of a group, oldest first.
    pub fn poll_group_event(&mut self) -> Option<(GroupId, GroupEvent)> {
        self.groups.events.pop_front()
    }

    fn transmitter<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut Transmitter, &mut GroupEnv<'_>) -> R,
    ) -> Result<R, Error> {
        self.advance(now);
        self.with_party(id, |party, env| match party {
            Party::Transmitter(transmitter) => Ok(act(transmitter, env)),
            Party::Receiver(_) | Party::Audience(_) => Err(Error::NoGroup),
        })?
    }

    fn receiver<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut Receiver, &mut GroupEnv<'_>) -> R,
    ) -> Result<R, Error> {
        self.advance(now);
        self.with_party(id, |party, env| match party {
            Party::Receiver(receiver) => Ok(act(receiver, env)),
            Party::Transmitter(_) | Party::Audience(_) => Err(Error::NoGroup),
        })?
    }
}
