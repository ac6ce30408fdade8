//! What a batch brought goes to the driver: all of it at once, or as far as its user can answer at once.

use std::net::SocketAddr;

use xtp_engine::{Arrivals, Arrived, Datagram, Driver, Time};
use xtp_io::{Datagrams, RecvBatch};

use super::{Carrier, backing, from_io};
use crate::capture::Trace;
use crate::clock::Clock;

/// A batch on its way to the driver.
pub(super) struct Batch<'a> {
    batch: &'a RecvBatch,
    datagrams: Datagrams<'a>,
    trace: Option<&'a Trace>,
    local: SocketAddr,
    /// Where our own waker sends from.
    own: Option<SocketAddr>,
    /// Octets of the datagram handed out last.
    stride: usize,
    /// Datagrams handed out, and those of our own waker, which are not.
    handed: usize,
    wakes: u64,
}

impl<'a> Batch<'a> {
    /// What came to the socket of `local`, of which `handed` datagrams were handed out before.
    pub(super) fn new(
        batch: &'a RecvBatch,
        trace: Option<&'a Trace>,
        local: SocketAddr,
        own: Option<SocketAddr>,
        handed: usize,
    ) -> Self {
        let mut datagrams = batch.iter();
        for _ in 0..handed {
            datagrams.next();
        }
        Self {
            batch,
            datagrams,
            trace,
            local,
            own,
            stride: 0,
            handed,
            wakes: 0,
        }
    }
}

impl<'a> Arrivals<'a> for Batch<'a> {
    fn only(&self) -> Option<Arrived<'a>> {
        let datagram = self.batch.only().filter(|_| self.handed == 0)?;
        if self.trace.is_some() || self.own == Some(datagram.src) {
            return None;
        }
        Some(Arrived {
            joined: Datagram {
                src: datagram.src,
                dst: datagram.dst,
                ecn: from_io(datagram.ecn),
                data: datagram.joined,
                backing: backing(self.batch, &datagram),
            },
            stride: datagram.data.len(),
        })
    }

    fn next(&mut self) -> Option<Arrived<'a>> {
        loop {
            let datagram = self.datagrams.next()?;
            self.handed += 1;
            if self.own == Some(datagram.src) {
                self.wakes += 1;
                continue;
            }
            let mut joined = datagram.joined;
            if let Some(trace) = self.trace {
                trace.received(datagram.src, datagram.dst, self.local, datagram.data);
                // What is recorded is taken one by one.
                joined = datagram.data;
            }
            self.stride = datagram.data.len();
            return Some(Arrived {
                joined: Datagram {
                    src: datagram.src,
                    dst: datagram.dst,
                    ecn: from_io(datagram.ecn),
                    data: joined,
                    backing: backing(self.batch, &datagram),
                },
                stride: self.stride,
            });
        }
    }

    fn skip_joined(&mut self, count: usize) {
        self.datagrams.skip_joined(count);
        self.handed += count;
    }
}

impl Carrier {
    /// Gives the driver what the batch brought, or what is left of it; if not `all`, as far as whoever waits wants it
    /// now. The rest waits for [`Self::hand_in_rest`].
    pub(super) fn hand_in(&mut self, now: Time, driver: &mut Driver, all: bool) {
        let Some(batch) = &self.batch else { return };
        let handed = std::mem::take(&mut self.handed_in);
        let (local, own) = (self.socket.local_addr(), self.waker.source());
        let mut arrivals = Batch::new(batch, self.trace.as_ref(), local, own, handed);
        let met = match all {
            true => {
                driver.receive_all(now, &mut arrivals);
                false
            }
            false => driver.receive(now, &mut arrivals),
        };
        if met {
            return;
        }
        self.wakes += arrivals.wakes;
        if arrivals.handed < batch.len() {
            self.handed_in = arrivals.handed;
        }
    }

    /// Gives the driver what is left of the batch; how many datagrams that were at most, and when. `None` if there is
    /// nothing.
    #[inline]
    pub(super) fn hand_in_rest(
        &mut self,
        clock: Clock,
        driver: &mut Driver,
        all: bool,
    ) -> Option<(usize, Time)> {
        if self.handed_in == 0 {
            return None;
        }
        let whole = self.batch.as_ref()?.len();
        let (count, now) = (whole - self.handed_in, clock.now());
        self.hand_in(now, driver, all);
        Some((count, now))
    }
}
