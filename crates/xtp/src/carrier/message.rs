//! Taking the next message of an association for a caller who waits for it: from where it landed, if that is all there is
//! to it.

use xtp_engine::{Datagram, Driver, Ecn, Joined, Time};
use xtp_io::RecvBatch;

use super::{Carrier, WORTH_KEEPING};
use crate::clock::Clock;
use crate::error::Result;

/// What a look by the shortcut alone brought.
enum Landed {
    /// A datagram, which the driver took.
    Taken(Time),
    /// A datagram that is in the batch now.
    Kept(Time),
    /// Nothing.
    Nothing,
    /// Not looked: more is to be asked, or elsewhere.
    NotLooked,
}

impl Carrier {
    /// As [`Self::receive`], for a driver that [expects](Driver::expect) what comes next of an association: how many datagrams it took, and
    /// when.
    #[inline(always)]
    pub(crate) fn receive_next(
        &mut self,
        clock: Clock,
        driver: &mut Driver,
        looks: u32,
    ) -> Result<Option<(usize, Time)>> {
        if let Some(rest) = self.hand_in_rest(clock, driver, true) {
            return Ok(Some(rest));
        }
        match self.land(clock, driver, looks)? {
            Landed::Taken(now) => Ok(Some((1, now))),
            Landed::Nothing => Ok(None),
            Landed::Kept(now) => Ok(Some((self.take_batch(now, driver), now))),
            Landed::NotLooked => {
                if self.fill(looks, false)? == 0 {
                    return Ok(None);
                }
                let now = clock.now();
                Ok(Some((self.take_batch(now, driver), now)))
            }
        }
    }

    /// The driver takes what is there: so many datagrams.
    #[inline(never)]
    fn take_batch(&mut self, now: Time, driver: &mut Driver) -> usize {
        let count = self.batch.as_deref().map_or(0, RecvBatch::len);
        self.hand_in(now, driver, false);
        count
    }

    /// Looks by the shortcut alone, where nothing is to be told of a datagram but its octets: then the message is taken from
    /// where it landed, and the batch need not know of it.
    #[inline(always)]
    fn land(&mut self, clock: Clock, driver: &mut Driver, looks: u32) -> Result<Landed> {
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
            let datagram = Datagram {
                src: shortcut.peer(),
                dst: shortcut.local(),
                ecn: Ecn::NotEct,
                data: batch.landed(octets),
                backing: None,
            };
            driver.receive(now, &mut Joined::alone(datagram));
            self.shortcut.came(1);
            return Ok(Landed::Taken(now));
        }
        self.socket.keep_by(shortcut, batch, octets);
        self.shortcut.came(1);
        Ok(Landed::Kept(now))
    }
}
