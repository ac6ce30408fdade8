//! The emulator's thread: packets in from both devices, through the model, out when due.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use xtp_link::{DelayHistogram, Direction, Duplex, LinkConfig, Outcome, flip_bits};

use super::device::Device;
use super::packet::{is_housekeeping, mark};
use super::schedule::Conditions;
use super::tally::{Period, Tally};
use crate::config::Damage;
use crate::report::Report;

/// Packets taken from one device before the due ones get their turn: some 20 us.
const BATCH: usize = 16;
/// Larger than any IP packet.
const LARGEST_PACKET: usize = 1 << 16;
/// Longest wait, nanoseconds; requests wake the thread, so this only bounds arithmetic.
const LONGEST_WAIT: u64 = 1_000_000_000;

/// Longest nap under traffic, nanoseconds. Waking for every packet would take a processor from the programs that are
/// being watched.
const LONGEST_NAP: u64 = 50_000;
/// A nap is at most this part of the smaller delay, and not worth it below [`SHORTEST_NAP`].
const NAP_OF_DELAY: u64 = 100;
const SHORTEST_NAP: u64 = 20_000;

/// What the handle asks of the thread.
#[derive(Debug)]
pub(super) enum Request {
    /// What happened so far.
    Report(Sender<Report>),
    /// Count afresh; the answer comes when it is done.
    Reset(Sender<()>),
    /// Change both directions. The settings are known to be good.
    Links(Box<[LinkConfig; 2]>),
    /// Switch the link.
    Up(bool),
    /// End.
    Stop,
}

/// One end of the link.
struct End {
    device: Device,
    tally: Tally,
}

/// Everything the thread owns.
pub(super) struct Worker {
    /// Left and right. What is read from the left goes A to B.
    ends: [End; 2],
    duplex: Duplex<Box<[u8]>>,
    damage: Damage,
    max_in_flight: usize,
    requests: Receiver<Request>,
    waker: Arc<OwnedFd>,
    conditions: Conditions,
    period: Period,
    lateness: DelayHistogram,
    waits: u64,
    /// Nanoseconds between two looks under traffic; 0 to look at once.
    nap: u64,
    /// Packets came since the last wait.
    traffic: bool,
    started: Instant,
    buffer: Box<[u8]>,
}

const DIRECTIONS: [Direction; 2] = [Direction::AToB, Direction::BToA];

/// The device a direction starts from; it ends at the other one.
fn origin(direction: Direction) -> usize {
    match direction {
        Direction::AToB => 0,
        Direction::BToA => 1,
    }
}

/// How long the link's delays allow to look away under traffic, nanoseconds.
fn nap<T>(duplex: &Duplex<T>) -> u64 {
    let delays = DIRECTIONS.map(|direction| duplex.link(direction).config().delay);
    let shortest = delays.into_iter().min().unwrap_or_default().as_nanos();
    let allowed = u64::try_from(shortest).unwrap_or(u64::MAX) / NAP_OF_DELAY;
    if allowed < SHORTEST_NAP {
        0
    } else {
        allowed.min(LONGEST_NAP)
    }
}

impl Worker {
    pub(super) fn new(
        devices: [Device; 2],
        duplex: Duplex<Box<[u8]>>,
        (damage, max_in_flight): (Damage, usize),
        requests: Receiver<Request>,
        waker: Arc<OwnedFd>,
        conditions: Conditions,
    ) -> Self {
        let nap = nap(&duplex);
        Self {
            ends: devices.map(|device| End {
                device,
                tally: Tally::default(),
            }),
            duplex,
            damage,
            max_in_flight,
            requests,
            waker,
            conditions,
            period: Period::begin(),
            lateness: DelayHistogram::default(),
            waits: 0,
            nap,
            traffic: false,
            started: Instant::now(),
            buffer: vec![0; LARGEST_PACKET].into(),
        }
    }

    /// Works until told to stop.
    ///
    /// # Errors
    /// If a device fails.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut quiet = false;
        loop {
            self.deliver();
            if quiet && self.wait()? {
                self.rest()?;
            }
            if !self.answer() {
                return Ok(());
            }
            let mut read = 0;
            for direction in DIRECTIONS {
                read += self.read(direction)?;
            }
            quiet = read == 0;
            self.traffic |= !quiet;
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Takes packets from a device; how many.
    fn read(&mut self, direction: Direction) -> io::Result<usize> {
        let from = origin(direction);
        for count in 0..BATCH {
            let length = match self.ends[from].device.recv(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.take(direction, length);
        }
        Ok(BATCH)
    }

    /// Puts the packet in the buffer on the link.
    fn take(&mut self, direction: Direction, length: usize) {
        let now = self.now();
        let packet = &self.buffer[..length];
        let tally = &mut self.ends[origin(direction)].tally;
        if is_housekeeping(packet) {
            tally.housekeeping += 1;
        } else if self.duplex.link(direction).in_flight() >= self.max_in_flight {
            tally.overflow += 1;
            tally.overflow_octets += length as u64;
        } else {
            let outcome = self.duplex.send(direction, now, packet.into(), length);
            debug_assert!(matches!(
                outcome,
                Outcome::Queued | Outcome::Duplicated | Outcome::Dropped(_)
            ));
        }
    }

    /// Writes what is due.
    fn deliver(&mut self) {
        let mut now = self.now();
        while let Some((direction, mut arrival)) = self.duplex.receive(now) {
            let from = origin(direction);
            let damaged = !arrival.corrupted_bits.is_empty();
            if damaged && self.damage == Damage::Drop {
                self.ends[from].tally.bit_error += 1;
                continue;
            }
            flip_bits(&mut arrival.packet, &arrival.corrupted_bits);
            let marked = arrival.ce && mark(&mut arrival.packet);
            now = self.now();
            let written = self.ends[1 - from].device.send(&arrival.packet);
            let tally = &mut self.ends[from].tally;
            if written.is_ok() {
                self.lateness.record(now.saturating_sub(arrival.at));
                tally.delivered += 1;
                tally.delivered_octets += arrival.packet.len() as u64;
                tally.damaged += u64::from(damaged);
                tally.marked += u64::from(marked);
            } else {
                tally.refused += 1;
            }
        }
    }

    /// Waits for a packet, a request or the next due time; whether there is a request.
    fn wait(&mut self) -> io::Result<bool> {
        let now = self.now();
        let nanoseconds = self
            .duplex
            .next_arrival()
            .map_or(LONGEST_WAIT, |at| at.saturating_sub(now).min(LONGEST_WAIT));
        self.waits += 1;
        if std::mem::take(&mut self.traffic) && self.nap > 0 {
            thread::sleep(Duration::from_nanos(self.nap));
            return Ok(false);
        }
        let timeout = Timespec {
            tv_sec: (nanoseconds / 1_000_000_000).cast_signed(),
            tv_nsec: (nanoseconds % 1_000_000_000).cast_signed(),
        };
        let mut waiting = [
            PollFd::new(&self.ends[0].device, PollFlags::IN),
            PollFd::new(&self.ends[1].device, PollFlags::IN),
            PollFd::new(&*self.waker, PollFlags::IN),
        ];
        match poll(&mut waiting, Some(&timeout)) {
            Ok(_) => Ok(waiting[2].revents().contains(PollFlags::IN)),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes note that it was woken, so that it can be woken again.
    fn rest(&self) -> io::Result<()> {
        match rustix::io::read(&self.waker, &mut [0; 8]) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what the handle asked for; false to end.
    fn answer(&mut self) -> bool {
        while let Ok(request) = self.requests.try_recv() {
            match request {
                // Whoever asked may have gone.
                Request::Report(answer) => {
                    let _ = answer.send(self.report());
                }
                Request::Reset(answer) => {
                    self.reset();
                    let _ = answer.send(());
                }
                Request::Links(links) => {
                    for (direction, link) in DIRECTIONS.into_iter().zip(*links) {
                        let changed = self.duplex.link_mut(direction).set_config(link);
                        debug_assert!(changed.is_ok(), "checked before it was sent");
                    }
                    self.nap = nap(&self.duplex);
                }
                Request::Up(up) => self.duplex.set_up(up),
                Request::Stop => return false,
            }
        }
        true
    }

    fn reset(&mut self) {
        for direction in DIRECTIONS {
            let link = self.duplex.link_mut(direction);
            link.reset_stats();
            self.ends[origin(direction)].tally = Tally::after(link.in_flight());
        }
        self.lateness = DelayHistogram::default();
        self.waits = 0;
        self.period = Period::begin();
    }

    fn report(&self) -> Report {
        let (seconds, busy) = self.period.so_far();
        let [left_to_right, right_to_left] = DIRECTIONS.map(|direction| {
            let tally = &self.ends[origin(direction)].tally;
            tally.report(self.duplex.link(direction), seconds)
        });
        let microseconds = |nanoseconds: u64| nanoseconds as f64 / 1_000.0;
        Report {
            seconds,
            packets_per_s: left_to_right.packets_per_s + right_to_left.packets_per_s,
            left_to_right,
            right_to_left,
            lateness_p50_us: microseconds(self.lateness.quantile(0.5)),
            lateness_p99_us: microseconds(self.lateness.quantile(0.99)),
            lateness_max_us: microseconds(self.lateness.max()),
            busy,
            waits: self.waits,
            scheduling: self.conditions.scheduling,
            cores_awake: self.conditions.awake.is_some(),
            bottleneck: None,
        }
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
