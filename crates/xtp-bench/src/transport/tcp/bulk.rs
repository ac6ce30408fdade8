//! Octets over one connection, as many as will go.

use std::net::Shutdown;

use rustix::event::PollFlags;

use super::unless_stopped;
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::transport::flowing::{Receiving, Sending};
use crate::transport::sockets::{prepare, read, write_all};
use crate::transport::waiting::Waiter;

/// What a receiver takes in one call: larger reads fall out of the processor's cache.
const READ: usize = 256 << 10;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job, console),
        _ => server(job, console),
    }
}

fn client(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let message = vec![7; job.size as usize];
    let mut sending = Sending::new(job);
    let mut stream = super::connect(job)?;
    prepare(&stream, &mut waiter)?;
    while sending.more() {
        write_all(&mut stream, &mut waiter, &message)?;
    }
    waiter.call(|| stream.shutdown(Shutdown::Write))?;
    // The peer's end says that it has everything.
    match read(&mut stream, &mut waiter, &mut [0])? {
        0 => Ok(sending.outcome(job, waiter.calls())),
        _ => Err(Problem::new("the receiver answered")),
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut waiter = Waiter::new(job.wait, console.stop());
    let listener = super::listen(job, &waiter)?;
    console.ready(listener.local_addr()?)?;
    let mut receiving = Receiving::new(job);
    let accepted = waiter.until(&listener, PollFlags::IN, || listener.accept());
    let Some((mut stream, _)) = unless_stopped(accepted)? else {
        return Ok(Outcome::default());
    };
    prepare(&stream, &mut waiter)?;
    let mut buffer = vec![0; READ];
    loop {
        let octets = read(&mut stream, &mut waiter, &mut buffer);
        match unless_stopped(octets)? {
            None | Some(0) => break,
            Some(octets) => receiving.octets(octets, || waiter.calls()),
        }
    }
    drop(stream);
    Ok(receiving.outcome(job, waiter.calls()))
}
