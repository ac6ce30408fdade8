//! Octets in trains of datagrams, with a window that the receiver opens: the upper bound of what one socket moves.
//! What is lost stays lost, and is said.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use xtp_io::{Interest, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

use super::DATAGRAM;
use crate::console::{Console, Stop};
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::plan::WaitPolicy;
use crate::transport::flowing::{Receiving, Sending};
use crate::transport::fresh::{self, FRESH, HOT, Turns, look_at, marked};
use crate::transport::waiting::{POLLING, SLICE};

/// Octets under way: less than a receive buffer of 4 MiB holds with the kernel's overhead.
const WINDOW: u64 = 1 << 20;
/// Octets a receiver acknowledges at once.
const ACKNOWLEDGED: u64 = WINDOW / 8;
/// Datagrams of a train.
const TRAIN: usize = 64;
/// Payload of a datagram where the interface takes 1500 octets.
const SHORT: usize = 1_472;
/// No acknowledgement for this long: what is under way is lost.
const LOST: Duration = Duration::from_millis(100);
/// Times the end is said.
const ENDS: u32 = 20;
/// What payload consists of, and the datagram after it.
const PAYLOAD: u8 = 7;
const END: u8 = 8;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut flow = Flow {
        socket: UdpSocket::bind(job.any_port(), &SocketOptions::default())?,
        batch: RecvBatch::default(),
        wait: job.wait,
        stop: console.stop(),
    };
    match job.role {
        Role::Client => Sender::new(&mut flow, job)?.run(job),
        _ => server(job, console, &mut flow),
    }
}

/// A socket and what arrived on it.
struct Flow {
    socket: UdpSocket,
    batch: RecvBatch,
    wait: WaitPolicy,
    stop: Stop,
}

impl Flow {
    /// Receives; whether something came before the deadline and before the coordinator said stop.
    fn recv(&mut self, deadline: Option<Instant>) -> io::Result<bool> {
        let mut begin = None;
        while self.socket.recv(&mut self.batch)? == 0 {
            let now = Instant::now();
            if self.stop.is_set() || deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(false);
            }
            let sleeps = match self.wait {
                WaitPolicy::Block => true,
                WaitPolicy::Spin => false,
                WaitPolicy::Adaptive => now - *begin.get_or_insert(now) > POLLING,
            };
            if sleeps {
                let limit = deadline.map_or(SLICE, |deadline| SLICE.min(deadline - now));
                self.socket.wait(Some(limit), Interest::READABLE)?;
            }
        }
        Ok(true)
    }

    fn send(&mut self, train: &SendTrain<'_>) -> Worked<()> {
        let mut first = 0;
        loop {
            match self.socket.send_from(train, first)? {
                SendOutcome::Sent => return Ok(()),
                SendOutcome::WouldBlock { sent, .. } => first = sent,
                other => return Err(Problem::new(format!("a train did not leave: {other:?}"))),
            }
            self.socket.wait(Some(SLICE), Interest::WRITABLE)?;
        }
    }

    fn calls(&self) -> u64 {
        let counts = self.socket.counters();
        counts.send_calls + counts.recv_calls + counts.poll_calls
    }
}

struct Sender<'a> {
    flow: &'a mut Flow,
    peer: SocketAddr,
    sent: u64,
    acknowledged: u64,
    lost: u64,
}

impl<'a> Sender<'a> {
    fn new(flow: &'a mut Flow, job: &Job) -> Worked<Self> {
        Ok(Self {
            flow,
            peer: job.peer.parse()?,
            sent: 0,
            acknowledged: 0,
            lost: 0,
        })
    }

    fn run(mut self, job: &Job) -> Worked<Outcome> {
        let longest = if job.interface == "lo" { DATAGRAM } else { SHORT };
        let size = usize::try_from(job.size)?;
        let segment = size.min(longest);
        // Short messages leave several to a train, a datagram each.
        let messages = (DATAGRAM / size).clamp(1, TRAIN);
        let fresh = job.transport == super::FRESH.name;
        let memory = if fresh {
            endless()
        } else {
            vec![PAYLOAD; size * messages]
        };
        let mut turns = Turns::new((size * messages) as u64);
        let mut sending = Sending::new(job);
        loop {
            let octets = size * (0..messages).take_while(|_| sending.more()).count();
            if octets == 0 {
                break;
            }
            // What a receiver has not acknowledged yet must leave room for the next train.
            // One call takes no more octets than one datagram could have.
            let train = segment
                * (ACKNOWLEDGED as usize / segment)
                    .min(TRAIN)
                    .min(DATAGRAM / segment);
            let mut turn = if fresh { turns.next() } else { 0..octets };
            // Messages longer than the memory are cut, as in the other rows from fresh memory.
            turn.end = turn.end.min(turn.start + octets);
            for part in memory[turn].chunks(train) {
                self.make_room(part.len() as u64)?;
                self.flow
                    .send(&SendTrain::new(self.peer, segment, &[IoSlice::new(part)]))?;
                self.sent += part.len() as u64;
            }
        }
        self.end()?;
        let lost = self.lost;
        let mut outcome = sending.outcome(job, self.flow.calls());
        let mark = if fresh { FRESH } else { HOT };
        outcome.note = marked(mark, (lost > 0).then(|| format!("{lost} octets were lost")));
        Ok(outcome)
    }

    /// Waits until the window takes so many octets.
    fn make_room(&mut self, octets: u64) -> Worked<()> {
        while self.sent - self.acknowledged > WINDOW.saturating_sub(octets) {
            if !self.flow.recv(Some(Instant::now() + LOST))? {
                if self.flow.stop.is_set() {
                    return Err(Problem::new("stopped"));
                }
                self.lost += self.sent - self.acknowledged;
                self.acknowledged = self.sent;
            }
            self.take();
        }
        Ok(())
    }

    /// Takes acknowledgements; returns whether one says that the end has come.
    fn take(&mut self) -> bool {
        let mut ended = false;
        for datagram in &self.flow.batch {
            if let Some((octets, end)) = parse(datagram.data) {
                let known = (octets + self.lost).min(self.sent);
                self.acknowledged = self.acknowledged.max(known);
                ended |= end;
            }
        }
        ended
    }

    fn end(&mut self) -> Worked<()> {
        for _ in 0..ENDS {
            self.flow
                .send(&SendTrain::new(self.peer, 1, &[IoSlice::new(&[END])]))?;
            let deadline = Some(Instant::now() + LOST);
            while self.flow.recv(deadline)? {
                if self.take() {
                    self.lost += self.sent - self.acknowledged;
                    return Ok(());
                }
            }
        }
        Err(Problem::new("the receiver is silent"))
    }
}

/// Fresh memory in which no octet says that the end has come.
fn endless() -> Vec<u8> {
    let mut memory = fresh::memory();
    memory
        .iter_mut()
        .filter(|octet| **octet == END)
        .for_each(|octet| *octet = PAYLOAD);
    memory
}

/// An acknowledgement: octets received, and whether the end came.
fn parse(datagram: &[u8]) -> Option<(u64, bool)> {
    let (octets, rest) = datagram.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*octets), *rest.first()? == END))
}

fn acknowledgement(octets: u64, end: bool) -> [u8; 9] {
    let mut datagram = [if end { END } else { PAYLOAD }; 9];
    datagram[..8].copy_from_slice(&octets.to_be_bytes());
    datagram
}

fn server(job: &Job, console: &mut Console, flow: &mut Flow) -> Worked<Outcome> {
    console.ready(flow.socket.local_addr())?;
    let mut receiving = Receiving::new(job);
    let reads = job.transport == super::FRESH.name;
    let (mut octets, mut open) = (0, 0);
    while flow.recv(None)? {
        let (mut here, mut end, mut peer) = (0, false, None);
        for datagram in &flow.batch {
            match datagram.data {
                [END] => end = true,
                data => {
                    if reads {
                        look_at(data);
                    }
                    here += data.len();
                }
            }
            peer = Some(datagram.src);
        }
        if here > 0 {
            receiving.octets(here, || flow.calls());
        }
        octets += here as u64;
        open += here as u64;
        if let (true, Some(peer)) = (end || open >= ACKNOWLEDGED, peer) {
            open = 0;
            let datagram = acknowledgement(octets, end);
            flow.send(&SendTrain::new(peer, datagram.len(), &[IoSlice::new(&datagram)]))?;
        }
        if end {
            break;
        }
    }
    Ok(receiving.outcome(job, flow.calls()))
}

#[cfg(test)]
#[path = "bulk_tests.rs"]
mod tests;
