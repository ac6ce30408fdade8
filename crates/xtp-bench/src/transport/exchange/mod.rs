//! R-UDP and T-UDP: a message, or a request and its response, in three datagrams with almost no state. The floor of
//! what a reliable transport can cost.

use std::io;
use std::net::SocketAddr;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::Experiment;
use crate::stage::Stage;
use crate::transport::Transport;
use crate::transport::answering::{Serving, Timing};
use crate::transport::sockets::Udp;
use crate::transport::waiting::Waiter;

use packet::{HEADER, Kind, packet};
use state::{Answering, Asking, Due, Heard, Told};

mod packet;
mod state;

/// Longest datagram's payload, octets.
const DATAGRAM: usize = 65_507;

pub(super) static R_UDP: Transport = Transport {
    name: "r-udp",
    experiments: &[Experiment::Oneshot],
    obstacle,
    work,
};

pub(super) static T_UDP: Transport = Transport {
    name: "t-udp",
    experiments: &[Experiment::Transaction],
    obstacle,
    work,
};

fn obstacle(_: &Stage, _: Experiment, size: u64) -> Option<String> {
    let longest = DATAGRAM - HEADER;
    (size > longest as u64).then(|| format!("its messages are one datagram, {longest} octets at most"))
}

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job, console),
        _ => server(job, console),
    }
}

fn client(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let socket = Udp::bind(job, &waiter)?;
    socket.connect(job.peer.parse()?)?;
    // Another client may have had this port: its numbers must not come again.
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let mut lengths = Lengths::of(job);
    let mut asking = Asking::new(now.as_nanos() as u64, &vec![7; lengths.most()]);
    let mut buffer = vec![0; DATAGRAM];
    let mut timing = Timing::new(job);
    let answers = job.transport == T_UDP.name;
    loop {
        let before = waiter.calls();
        let more = timing.one(
            || before,
            || {
                let length = lengths.next();
                let expected = if answers { length } else { 0 };
                match ask(&mut asking, length, &socket, &mut waiter, &mut buffer)? {
                    answer if answer == expected => Ok(()),
                    other => Err(Problem::new(format!("{other} octets came back"))),
                }
            },
        )?;
        if !more {
            return Ok(timing.outcome(waiter.calls()));
        }
    }
}

/// One exchange with a request of so many octets; returns those of the answer.
fn ask(
    asking: &mut Asking,
    length: usize,
    socket: &Udp,
    waiter: &mut Waiter,
    buffer: &mut [u8],
) -> Worked<usize> {
    socket.send(waiter, asking.begin(Instant::now(), length))?;
    loop {
        match socket.recv(waiter, buffer, asking.deadline())? {
            None => match asking.due(Instant::now()) {
                Due::Repeat => socket.send(waiter, asking.request())?,
                Due::GiveUp => return Err(Problem::new("no answer after the last try")),
            },
            Some(octets) => match asking.heard(&buffer[..octets]) {
                Heard::Answer(answer) => {
                    let length = answer.len();
                    socket.send(waiter, &packet(Kind::Confirm, asking.id(), &[]))?;
                    return Ok(length);
                }
                Heard::Old(id) => socket.send(waiter, &packet(Kind::Confirm, id, &[]))?,
                Heard::Nothing => {}
            },
        }
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let socket = Udp::bind(job, &waiter)?;
    console.ready(socket.local_addr()?)?;
    let mut answering: Answering<SocketAddr> = Answering::new();
    let mut serving = Serving::new(job);
    let mut buffer = vec![0; DATAGRAM];
    let answers = job.transport == T_UDP.name;
    loop {
        let received = match socket.recv_from(&mut waiter, &mut buffer, answering.deadline()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                return Ok(serving.outcome(waiter.calls()));
            }
            received => received?,
        };
        let now = Instant::now();
        let Some((octets, peer)) = received else {
            answering.due(now, |peer, reply| socket.send_to(&mut waiter, reply, peer))?;
            continue;
        };
        match answering.told(now, peer, &buffer[..octets]) {
            Told::Execute(id, request) => {
                let response = if answers { request } else { &[] };
                let reply = answering.answer(now, peer, id, response);
                socket.send_to(&mut waiter, reply, peer)?;
            }
            Told::Repeat(reply) => socket.send_to(&mut waiter, &reply, peer)?,
            Told::Confirmed => {
                let calls = waiter.calls();
                serving.one(|| calls);
            }
            Told::Nothing => {}
        }
    }
}
