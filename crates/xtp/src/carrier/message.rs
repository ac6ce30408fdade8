//! Taking the next message of an association for a caller who waits for it: from where it landed, if that is all there is
//! to it.

use xtp_engine::{Arrived, Datagram, Driver, Ecn, TaggedMessage, Time, Wanted};
use xtp_io::RecvBatch;

use super::{Carrier, WORTH_KEEPING, backing, from_io};
use crate::clock::Clock;
use crate::error::Result;

/// What a look for a message brought.
#[derive(Debug)]
pub(crate) enum Came {
    /// The message, and nothing else.
    Message(TaggedMessage),
    /// Datagrams the engine took, so many.
    Datagrams(usize),
}

/// What a look by the shortcut alone brought.
enum Landed {
    /// The message that was waited for.
    Message(TaggedMessage, Time),
    /// Another datagram, which the engine took.
    Other(Time),
    /// A datagram that is in the batch now.
    Kept(Time),
    /// Nothing.
    Nothing,
    /// Not looked: more is to be asked, or elsewhere.
    NotLooked,
}

impl Carrier {
    /// As [`Self::receive`], for a caller who waits for the next message of an association, or for octets: that goes to the caller, of
    /// anything else the engine tells.
    #[inline(always)]
    pub(crate) fn receive_message(
        &mut self,
        clock: Clock,
        driver: &mut Driver,
        looks: u32,
        wanted: Wanted,
    ) -> Result<Option<(Came, Time)>> {
        if let Some((count, now)) = self.hand_in_rest(clock, driver, true) {
            return Ok(Some((Came::Datagrams(count), now)));
        }
        match self.land(clock, driver, looks, wanted)? {
            Landed::Message(message, now) => Ok(Some((Came::Message(message), now))),
            Landed::Nothing => Ok(None),
            Landed::Other(now) => Ok(Some((Came::Datagrams(1), now))),
            Landed::Kept(now) => Ok(Some((self.take_batch(now, driver, wanted), now))),
            Landed::NotLooked => {
                if self.fill(looks, false)? == 0 {
                    return Ok(None);
                }
                let now = clock.now();
                Ok(Some((self.take_batch(now, driver, wanted), now)))
            }
        }
    }

    /// The message, if the batch holds nothing else; the engine takes what is there.
    #[inline(never)]
    fn take_batch(&mut self, now: Time, driver: &mut Driver, wanted: Wanted) -> Came {
        let count = self.batch.as_deref().map_or(0, RecvBatch::len);
        if self.trace.is_none()
            && let Some(batch) = &self.batch
            && let Some(datagram) = batch.only()
            && self.waker.source() != Some(datagram.src)
        {
            let joined = Datagram {
                src: datagram.src,
                dst: datagram.dst,
                ecn: from_io(datagram.ecn),
                data: datagram.joined,
                backing: backing(batch, &datagram),
            };
            let stride = datagram.data.len();
            return match driver.receive_wanted(now, wanted, Arrived { joined, stride }) {
                Some(message) => Came::Message(message),
                None => Came::Datagrams(count),
            };
        }
        self.hand_in(now, driver, true);
        Came::Datagrams(count)
    }

    /// Looks by the shortcut alone, where nothing is to be told of a datagram but its octets: then the message is taken from
    /// where it landed, and the batch need not know of it.
    #[inline(always)]
    fn land(&mut self, clock: Clock, driver: &mut Driver, looks: u32, wanted: Wanted) -> Result<Landed> {
        let (None, Some(batch)) = (&self.trace, &mut self.batch) else {
            return Ok(Landed::NotLooked);
        };
        let Some(shortcut) = self.shortcut.lone_turn() else {
            return Ok(Landed::NotLooked);
        };
        let octets = match self.socket.look_by(shortcut, batch, looks) {
            Ok(None) => return Ok(Landed::NotLooked),
            Ok(Some(octets)) => self.reception.counted(Ok(octets))?,
            Err(error) => self.reception.counted(Err(error))?,
        };
        if octets == 0 {
            return Ok(Landed::Nothing);
        }
        let now = clock.now();
        // What is worth keeping where it lies is for the batch.
        if octets < WORTH_KEEPING {
            let joined = Datagram {
                src: shortcut.peer(),
                dst: shortcut.local(),
                ecn: Ecn::NotEct,
                data: batch.landed(octets),
                backing: None,
            };
            let message = driver.receive_wanted(
                now,
                wanted,
                Arrived {
                    joined,
                    stride: octets,
                },
            );
            self.shortcut.came(1);
            return Ok(match message {
                Some(message) => Landed::Message(message, now),
                None => Landed::Other(now),
            });
        }
        self.socket.keep_by(shortcut, batch, octets);
        self.shortcut.came(1);
        Ok(Landed::Kept(now))
    }
}
