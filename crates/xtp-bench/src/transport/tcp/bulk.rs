//! Octets over one connection, as many as will go.

use std::net::Shutdown;

use rustix::event::PollFlags;

use super::source::Source;
use super::unless_stopped;
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::transport::flowing::{Receiving, Sending};
use crate::transport::fresh::{FRESH, HOT, Room, is_fresh, look_at, marked};
use crate::transport::sockets::{prepare, read};
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
    let mut source = Source::of(&job.transport, job.size)?;
    let mut stream = super::connect(job)?;
    source.prepare(&stream)?;
    prepare(&stream, &mut waiter)?;
    // Making the data is no part of sending it.
    let mut sending = Sending::new(job);
    while sending.more() {
        source.send(&mut stream, &mut waiter)?;
    }
    waiter.call(|| stream.shutdown(Shutdown::Write))?;
    // The peer's end says that it has everything.
    match read(&mut stream, &mut waiter, &mut [0])? {
        0 => {
            let mut outcome = sending.outcome(job, waiter.calls());
            outcome.note = marked(if source.is_hot() { HOT } else { FRESH }, None);
            Ok(outcome)
        }
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
    let reads = is_fresh(&job.transport);
    let mut buffer = vec![0; READ];
    let mut room = reads.then(|| Room::new(READ));
    loop {
        let buffer = room.as_mut().map_or(&mut buffer[..], Room::next);
        let octets = read(&mut stream, &mut waiter, buffer);
        match unless_stopped(octets)? {
            None | Some(0) => break,
            Some(octets) => {
                if reads {
                    look_at(&buffer[..octets]);
                }
                receiving.octets(octets, || waiter.calls());
            }
        }
    }
    drop(stream);
    Ok(receiving.outcome(job, waiter.calls()))
}
