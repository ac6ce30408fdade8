//! Raw UDP: the floor. Nothing is repeated; an answer that does not come ends the measurement.

use std::io;
use std::time::{Duration, Instant};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::Experiment;
use crate::transport::answering::{Serving, Timing};
use crate::transport::sockets::Udp;
use crate::transport::waiting::Waiter;
use crate::transport::{Transport, always, fresh};

mod bulk;

/// Longest datagram's payload, octets.
const DATAGRAM: usize = 65_507;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) static UDP: Transport = Transport {
    name: "udp",
    experiments: &[Experiment::Pingpong, Experiment::Bulk],
    obstacle: always,
    work,
};

/// From fresh memory: what the system's way of trains costs, without headers between payloads.
pub(super) static FRESH: Transport = fresh::row("udp-fresh", work);

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    if job.experiment == Experiment::Bulk {
        return bulk::work(job, console);
    }
    match job.role {
        Role::Client => client(job, console),
        _ => server(job, console),
    }
}

fn client(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let socket = Udp::bind(job, &waiter)?;
    socket.connect(job.peer.parse()?)?;
    let mut lengths = Lengths::of(job);
    let messages = vec![7; lengths.most()];
    let mut buffer = vec![0; DATAGRAM];
    let mut timing = Timing::new(job);
    loop {
        let before = waiter.calls();
        let more = timing.one(
            || before,
            || -> Worked<()> {
                let message = &messages[..lengths.next()];
                for part in message.chunks(DATAGRAM) {
                    socket.send(&mut waiter, part)?;
                }
                let deadline = Some(Instant::now() + PATIENCE);
                let mut missing = message.len();
                while missing > 0 {
                    match socket.recv(&mut waiter, &mut buffer, deadline)? {
                        Some(octets) => missing = missing.saturating_sub(octets),
                        None => return Err(Problem::new("a datagram was lost, and UDP repeats nothing")),
                    }
                }
                Ok(())
            },
        )?;
        if !more {
            return Ok(timing.outcome(waiter.calls()));
        }
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let socket = Udp::bind(job, &waiter)?;
    console.ready(socket.local_addr()?)?;
    let mut lengths = Lengths::of(job);
    let mut room = vec![7; lengths.most()];
    let mut serving = Serving::new(job);
    let mut known = false;
    loop {
        let message = &mut room[..lengths.next()];
        let mut filled = 0;
        while filled < message.len() {
            let part = &mut message[filled..];
            // Connected to the first who sends, so that the kernel looks up the way once.
            let received = if known {
                socket.recv(&mut waiter, part, None)
            } else {
                first(&socket, &mut waiter, part)
            };
            known = true;
            match received {
                Ok(Some(octets)) => filled += octets,
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    return Ok(serving.outcome(waiter.calls()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        for part in message.chunks(DATAGRAM) {
            socket.send(&mut waiter, part)?;
        }
        let calls = waiter.calls();
        if !serving.one(|| calls) {
            return Ok(serving.outcome(calls));
        }
    }
}

/// Takes the first datagram, and its sender for the peer.
fn first(socket: &Udp, waiter: &mut Waiter, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    let received = socket.recv_from(waiter, buffer, None)?;
    received
        .map(|(octets, peer)| socket.connect(peer).map(|()| octets))
        .transpose()
}
