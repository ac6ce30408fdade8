//! One end of the flows of a measurement: a thread for each, which sends or counts.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{
    Chunk, CloseReason, DriverThread, Endpoint, Error, ListenOptions, Listener, OpenOptions, Stream, Tuning,
    paradigm,
};

use super::arrivals::{DatagramHeading, FlowArrivals};
use super::report::{DatagramCount, FlowCount};
use super::terms::{FlowHeading, FlowTerms, NAME};
use super::{DATAGRAMS, SERVICE};
use crate::error::Worked;
use crate::transport::controller;

/// How often a sender that waits for room looks whether it is time to end.
const LOOK: Duration = Duration::from_millis(100);
/// Longest time from the end of sending until the other end knows.
const ENDING: Duration = Duration::from_secs(3);
/// Datagrams that are under way when their sender has ended are waited for so long.
const STRAGGLERS: Duration = Duration::from_millis(300);
/// Silence after which a peer is asked whether it is there, and after which it is not.
const SILENCE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(8));
/// Most octets taken at once.
const READ: usize = 1 << 20;

/// What the threads of one end share.
pub(super) struct FlowClock {
    pub(super) begin: Instant,
    /// When senders end.
    pub(super) until: Instant,
    /// Earlier if this is set.
    pub(super) stop: AtomicBool,
}

impl FlowClock {
    pub(super) fn new(terms: &FlowTerms) -> Self {
        let begin = Instant::now();
        Self {
            begin,
            until: begin + terms.time(),
            stop: AtomicBool::new(false),
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// When nothing is waited for any more.
    pub(super) fn deadline(&self) -> Instant {
        self.until + ENDING + 2 * STRAGGLERS
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// One end of one flow.
pub(super) struct FlowEnd {
    pub(super) heading: FlowHeading,
    /// This end sends.
    sends: bool,
    /// Octets of the flow's name among those of the stream.
    name: u64,
    stream: Stream,
    octets: AtomicU64,
    /// Octets repeated, as of the last look.
    again: AtomicU64,
    /// Datagrams sent; of a receiver those its sender says it sent, once it does.
    datagrams: OnceLock<u64>,
    sent: AtomicU64,
    arrivals: Mutex<FlowArrivals>,
    /// When the first and the last octets came, or left.
    first: OnceLock<Instant>,
    last: Mutex<Option<Instant>>,
    is_done: AtomicBool,
    fault: OnceLock<String>,
}

impl FlowEnd {
    /// The end at the party that opened the association, or at the other one.
    pub(super) fn new(heading: FlowHeading, stream: Stream, at_server: bool) -> Self {
        let sends = heading.from_server == at_server;
        Self {
            heading,
            sends,
            name: if sends && !at_server { NAME as u64 } else { 0 },
            stream,
            octets: AtomicU64::new(0),
            again: AtomicU64::new(0),
            datagrams: OnceLock::new(),
            sent: AtomicU64::new(0),
            arrivals: Mutex::default(),
            first: OnceLock::new(),
            last: Mutex::default(),
            is_done: AtomicBool::new(false),
            fault: OnceLock::new(),
        }
    }

    pub(super) fn sends(&self) -> bool {
        self.sends
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    /// Why it ended before its time, if it did.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// Ends it now, whatever its thread does.
    pub(super) fn abort(&self) {
        self.look();
        self.stream.abort_shared();
    }

    /// The measured round trip, where this end knows one.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.stream.stats().ok()?.rtt
    }

    /// What it has counted so far.
    pub(super) fn count(&self, terms: &FlowTerms) -> FlowCount {
        self.look();
        let first = self.first.get().copied();
        let last = *lock(&self.last);
        let span = first
            .zip(last)
            .map(|(first, last)| last.saturating_duration_since(first));
        let datagrams = terms.datagram_rate.map(|_| self.datagrams());
        FlowCount {
            octets: self.octets.load(Ordering::Relaxed),
            seconds: span.unwrap_or_default().as_secs_f64(),
            repeated: (self.sends && datagrams.is_none()).then(|| self.again.load(Ordering::Relaxed)),
            datagrams,
        }
    }

    fn datagrams(&self) -> DatagramCount {
        if self.sends {
            return DatagramCount {
                datagrams: self.sent.load(Ordering::Relaxed),
                ..DatagramCount::default()
            };
        }
        let arrivals = self.arrivals();
        DatagramCount {
            datagrams: arrivals.received,
            lost: Some(arrivals.lost(self.datagrams.get().copied())),
            out_of_order: Some(arrivals.out_of_order),
            duplicates: Some(arrivals.duplicates),
            jitter_ms: Some(arrivals.jitter_ns * 1e-6),
        }
    }

    fn arrivals(&self) -> MutexGuard<'_, FlowArrivals> {
        lock(&self.arrivals)
    }

    /// Of a sender of octets: what the receiver's host has acknowledged, and what was sent again.
    fn look(&self) {
        if !self.sends || self.first.get().is_none() {
            return;
        }
        if let Ok(stats) = self.stream.stats()
            && self.sent.load(Ordering::Relaxed) == 0
        {
            let before = self.octets.load(Ordering::Relaxed);
            let octets = stats.octets_acknowledged.saturating_sub(self.name);
            if octets > before {
                self.octets.store(octets, Ordering::Relaxed);
                *lock(&self.last) = Some(Instant::now());
            }
            self.again.store(stats.octets_retransmitted, Ordering::Relaxed);
        }
    }

    fn came(&self, octets: u64) {
        let now = Instant::now();
        self.first.get_or_init(|| now);
        *lock(&self.last) = Some(now);
        self.octets.fetch_add(octets, Ordering::Relaxed);
    }

    /// Does its part to the end.
    fn run(&self, endpoint: &Endpoint, terms: &FlowTerms, clock: &FlowClock) {
        let done = match (terms.datagram_rate, self.sends) {
            (None, true) => self.send_octets(terms, clock),
            (None, false) => self.take_octets(),
            (Some(rate), true) => self.send_datagrams(endpoint, terms, clock, rate),
            (Some(_), false) => self.take_count(),
        };
        if let Err(problem) = done
            && !clock.is_over()
        {
            let _ = self.fault.set(problem.0);
        }
        self.is_done.store(true, Ordering::Release);
    }

    fn send_octets(&self, terms: &FlowTerms, clock: &FlowClock) -> Worked<()> {
        let piece = Bytes::from(vec![7; usize::try_from(terms.length)?]);
        self.stream.set_write_timeout(Some(LOOK));
        self.first.get_or_init(Instant::now);
        while !clock.is_over() {
            match self.stream.send(piece.clone()) {
                Err(error) if error.is_timeout() => {}
                outcome => outcome?,
            }
        }
        // What is queued on a slow path would leave behind the time: it is cut off, and counted by neither end.
        self.abort();
        Ok(())
    }

    fn take_octets(&self) -> Worked<()> {
        let mut chunks = Vec::new();
        loop {
            match self.stream.tuning().recv_trains(&mut chunks, READ) {
                Ok(0) => break,
                Ok(_) => {}
                // So senders end.
                Err(Error::Closed(CloseReason::Aborted { .. })) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            let octets = chunks.drain(..).map(|chunk| match chunk {
                Chunk::Data { bytes, .. } => bytes.len(),
                Chunk::Train { octets, .. } => octets.len(),
                _ => 0,
            });
            self.came(octets.sum::<usize>() as u64);
        }
        Ok(self.stream.close_shared()?)
    }

    /// Datagrams at even distances. One that is due while the thread does not run leaves as soon as it does.
    fn send_datagrams(
        &self,
        endpoint: &Endpoint,
        terms: &FlowTerms,
        clock: &FlowClock,
        rate: u64,
    ) -> Worked<()> {
        let peer = self.stream.peer_addr()?;
        let distance = Duration::from_secs_f64(terms.length as f64 / rate as f64);
        let mut datagram = vec![7; usize::try_from(terms.length)?];
        let begin = *self.first.get_or_init(Instant::now);
        let mut sequence = 0;
        while !clock.is_over() {
            let due = begin + distance.mul_f64(sequence as f64);
            let early = due.saturating_duration_since(Instant::now());
            if !early.is_zero() {
                std::thread::sleep(early.min(LOOK));
                continue;
            }
            let heading = DatagramHeading {
                flow: self.heading.number,
                sequence,
                sent_ns: clock.nanos(),
            };
            heading.write(terms, &mut datagram);
            endpoint.send_datagram(peer, DATAGRAMS, Bytes::copy_from_slice(&datagram))?;
            sequence += 1;
            self.sent.store(sequence, Ordering::Relaxed);
            self.came(terms.length);
        }
        (&self.stream).write_all(&sequence.to_be_bytes())?;
        self.stream.shutdown_write()?;
        Ok(self.stream.close_shared()?)
    }

    /// The sender's count, when it has ended, and a moment for datagrams under way.
    fn take_count(&self) -> Worked<()> {
        let mut count = [0; 8];
        (&self.stream).read_exact(&mut count)?;
        let sent = u64::from_be_bytes(count);
        let until = Instant::now() + STRAGGLERS;
        while self.arrivals().received < sent && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.datagrams.set(sent);
        Ok(self.stream.close_shared()?)
    }
}

/// The listener for datagrams of all flows, if these are datagrams, with the driver of the endpoint.
///
/// # Errors
/// If the endpoint cannot listen, or has no thread for its driver.
pub(super) fn datagrams_of(
    endpoint: &Endpoint,
    terms: &FlowTerms,
) -> xtp::Result<Option<(Listener, DriverThread)>> {
    match terms.datagram_rate {
        Some(_) => Ok(Some((endpoint.listen(DATAGRAMS)?, endpoint.spawn_driver()?))),
        None => Ok(None),
    }
}

/// All flows of an endpoint begin, each on a thread of `scope`, and one more counts their datagrams.
pub(super) fn begin<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    (endpoint, datagrams): (&'env Endpoint, Option<&'env (Listener, DriverThread)>),
    ends: &'env [FlowEnd],
    terms: &'env FlowTerms,
    clock: &'env FlowClock,
) {
    for end in ends {
        scope.spawn(move || end.run(endpoint, terms, clock));
    }
    if let Some((listener, _)) = datagrams {
        scope.spawn(move || take_datagrams(listener, ends, terms, clock));
    }
}

/// Counts datagrams of all flows until the endpoint is interrupted.
fn take_datagrams(listener: &Listener, ends: &[FlowEnd], terms: &FlowTerms, clock: &FlowClock) {
    let by_number: BTreeMap<u32, &FlowEnd> = ends
        .iter()
        .filter(|end| !end.sends)
        .map(|end| (end.heading.number, end))
        .collect();
    while let Ok((datagram, incoming)) = listener.recv_message() {
        drop(incoming);
        let arrived = clock.nanos();
        let Some(heading) = DatagramHeading::read(terms, &datagram) else {
            continue;
        };
        if let Some(end) = by_number.get(&heading.flow)
            && end.datagrams.get().is_none()
            && end.arrivals().came(&heading, arrived)
        {
            end.came(datagram.len() as u64);
        }
    }
}

/// Associations that notice soon that the other party has vanished.
fn tuning(terms: &FlowTerms) -> Worked<Tuning> {
    let mut tuning = Tuning::default();
    tuning.keepalive = Some(SILENCE.0);
    tuning.timeout = SILENCE.1;
    if let Some(name) = &terms.controller {
        tuning.congestion = controller(name)?;
    }
    Ok(tuning)
}

/// How flows are opened.
pub(super) fn opening(terms: &FlowTerms) -> Worked<OpenOptions> {
    let mut options = paradigm::stream(SERVICE);
    options.tuning = tuning(terms)?;
    Ok(options)
}

/// How flows are accepted.
pub(super) fn accepting(terms: &FlowTerms) -> Worked<ListenOptions> {
    let mut options = ListenOptions::streams(SERVICE);
    options.tuning = tuning(terms)?;
    Ok(options)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
