//! Datagrams to a group as fast as the socket takes them, received and thrown away: what the host can do at all.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use xtp_io::{
    GroupSending, Interest, Interface, MembershipOptions, RecvBatch, SendOutcome, SendTrain, SocketOptions,
    UdpSocket,
};

use super::{GROUP, PORT, option};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};

/// Payload of a datagram: what xtp has of an MTU of 1500 octets.
const DATAGRAM: usize = 1_440;
/// Datagrams handed over at once.
const TRAIN: usize = 16;
/// Times the end is said, and the time between.
const ENDS: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(5);
/// Longest wait for the socket to take more.
const SLICE: Duration = Duration::from_millis(100);
/// A receiver that hears nothing for so long has heard the end.
const SILENCE: Duration = Duration::from_secs(2);
const PAYLOAD: u8 = 7;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => send(job),
        _ => receive(job, console),
    }
}

fn group() -> SocketAddr {
    (GROUP, PORT).into()
}

fn send(job: &Job) -> Worked<Outcome> {
    let octets: usize = option(job, "octets")?.parse()?;
    let socket = UdpSocket::bind(job.any_port(), &SocketOptions::default())?;
    socket.send_to_groups(&GroupSending {
        interface: Interface::Address(job.bind),
        ..GroupSending::default()
    })?;
    let memory = vec![PAYLOAD; DATAGRAM * TRAIN];
    let mut left = octets;
    while left > 0 {
        let part = left.min(memory.len());
        let pieces = [IoSlice::new(&memory[..part])];
        leave(&socket, &SendTrain::new(group(), DATAGRAM, &pieces))?;
        left -= part;
    }
    for _ in 0..ENDS {
        let pieces = [IoSlice::new(&[PAYLOAD])];
        leave(&socket, &SendTrain::new(group(), 1, &pieces))?;
        std::thread::sleep(BETWEEN);
    }
    Ok(Outcome::default())
}

fn leave(socket: &UdpSocket, train: &SendTrain<'_>) -> Worked<()> {
    let mut first = 0;
    loop {
        match socket.send_from(train, first)? {
            SendOutcome::Sent => return Ok(()),
            SendOutcome::WouldBlock { sent, .. } => first = sent,
            other => return Err(Problem::new(format!("a train did not leave: {other:?}"))),
        }
        socket.wait(Some(SLICE), Interest::WRITABLE)?;
    }
}

fn receive(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let joined = MembershipOptions {
        interface: Interface::Address(job.bind),
        ..MembershipOptions::default()
    };
    let socket = UdpSocket::join(group(), &joined)?;
    console.ready(socket.local_addr())?;
    let mut batch = RecvBatch::default();
    let mut heard: Option<Instant> = None;
    let mut octets = 0;
    loop {
        if socket.recv(&mut batch)? == 0 {
            if console.stop().is_set() || heard.is_some_and(|heard| heard.elapsed() > SILENCE) {
                break;
            }
            socket.wait(Some(SLICE), Interest::READABLE)?;
            continue;
        }
        heard = Some(Instant::now());
        let ended = batch.iter().any(|datagram| datagram.data.len() == 1);
        octets += batch
            .iter()
            .map(|datagram| datagram.data.len() as u64)
            .sum::<u64>();
        if ended {
            break;
        }
    }
    Ok(Outcome {
        octets,
        ..Outcome::default()
    })
}
