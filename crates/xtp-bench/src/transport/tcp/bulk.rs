//! Octets over one connection, as many as will go.

use std::fs::File;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::ops::Range;

use rustix::event::PollFlags;

use super::unless_stopped;
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::transport::flowing::{Receiving, Sending};
use crate::transport::fresh::{FRESH, HOT, Room, Turns, look_at, marked, memory};
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
    let hot = job.transport != super::FRESH.name && job.transport != super::SENDFILE.name;
    let message = if hot { vec![7; job.size as usize] } else { memory() };
    let file = match job.transport == super::SENDFILE.name {
        true => Some(file_of(&message)?),
        false => None,
    };
    let mut turns = Turns::new(job.size);
    let mut sending = Sending::new(job);
    let mut stream = super::connect(job)?;
    prepare(&stream, &mut waiter)?;
    while sending.more() {
        match &file {
            _ if hot => write_all(&mut stream, &mut waiter, &message)?,
            None => write_all(&mut stream, &mut waiter, &message[turns.next()])?,
            Some(file) => send_file(&stream, &mut waiter, file, turns.next())?,
        }
    }
    waiter.call(|| stream.shutdown(Shutdown::Write))?;
    // The peer's end says that it has everything.
    match read(&mut stream, &mut waiter, &mut [0])? {
        0 => {
            let mut outcome = sending.outcome(job, waiter.calls());
            outcome.note = marked(if hot { HOT } else { FRESH }, None);
            Ok(outcome)
        }
        _ => Err(Problem::new("the receiver answered")),
    }
}

/// A file without a disk.
fn file_of(octets: &[u8]) -> Worked<File> {
    let mut file = File::from(rustix::fs::memfd_create("bulk", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(octets)?;
    Ok(file)
}

/// A part of a file, whose pages the kernel sends without a copy.
fn send_file(stream: &TcpStream, waiter: &mut Waiter, file: &File, part: Range<usize>) -> Worked<()> {
    let mut offset = part.start as u64;
    while offset < part.end as u64 {
        let left = part.end - offset as usize;
        waiter.until(stream, PollFlags::OUT, || {
            Ok(rustix::fs::sendfile(stream, file, Some(&mut offset), left)?)
        })?;
    }
    Ok(())
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
    let reads = job.transport == super::FRESH.name || job.transport == super::SENDFILE.name;
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
