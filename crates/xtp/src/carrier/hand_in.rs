//! What a batch brought goes to the engine: all of it at once, or as far as its user can answer at once.

use xtp_engine::{Datagram, Engine, Time};

use super::{Carrier, backing, from_io};
use crate::clock::Clock;

impl Carrier {
    /// Gives the engine what the batch brought; if `one_by_one`, up to an association it begins that its user can answer
    /// before there is anything else to do. The rest waits for
    /// [`Self::hand_in_rest`].
    pub(super) fn hand_in(&mut self, now: Time, engine: &mut Engine, one_by_one: bool) {
        let Some(batch) = &self.batch else { return };
        let own = self.waker.source();
        let mut datagrams = batch.iter();
        let mut handed = std::mem::take(&mut self.handed_in);
        for _ in 0..handed {
            datagrams.next();
        }
        while let Some(datagram) = datagrams.next() {
            handed += 1;
            if own == Some(datagram.src) {
                self.wakes += 1;
                continue;
            }
            if let Some(trace) = &self.trace {
                trace.received(
                    datagram.src,
                    datagram.dst,
                    self.socket.local_addr(),
                    datagram.data,
                );
            }
            let backing = backing(batch, &datagram);
            let mut arrived = Datagram {
                src: datagram.src,
                dst: datagram.dst,
                ecn: from_io(datagram.ecn),
                data: datagram.joined,
                backing,
            };
            let stride = datagram.data.len();
            if datagram.joined.len() > stride && backing.is_some() && self.trace.is_none() {
                let count = engine.receive_run(now, &arrived, stride);
                if count > 0 {
                    self.taken += (count * stride) as u64;
                    datagrams.skip_joined(count - 1);
                    handed += count - 1;
                    continue;
                }
            }
            arrived.data = datagram.data;
            self.taken += stride as u64;
            engine.receive_ahead(now, arrived);
            if one_by_one && handed < batch.len() && engine.is_serving() {
                self.handed_in = handed;
                return;
            }
        }
    }

    /// Gives the engine what is left of the batch; how many datagrams that were at most, and when. `None` if there is nothing.
    #[inline]
    pub(super) fn hand_in_rest(
        &mut self,
        clock: Clock,
        engine: &mut Engine,
        one_by_one: bool,
    ) -> Option<(usize, Time)> {
        if self.handed_in == 0 {
            return None;
        }
        let all = self.batch.as_ref()?.len();
        let (count, now) = (all - self.handed_in, clock.now());
        self.hand_in(now, engine, one_by_one);
        Some((count, now))
    }
}
