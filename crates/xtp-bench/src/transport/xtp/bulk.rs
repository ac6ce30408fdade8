//! Octets over one association, as many as will go.

use std::io::{Read, Write, repeat};

use bytes::Bytes;
use xtp::{Chunk, FrameBytes, Stream};

use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome, Role};
use crate::transport::flowing::{Receiving, Sending};
use crate::transport::fresh::{FRESH, HOT, Messages, Room, Turns, look_at, marked, memory};

/// Most octets taken at once.
const READ: usize = 1 << 20;
/// Most octets of a plain `read`: as many as TCP's.
const PLAIN_READ: usize = 256 << 10;
/// Octets in messages that take turns: more than are under way at a time.
const RETAINED: usize = 16 << 20;
/// Most of such messages.
const MOST: usize = 64;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job),
        _ => server(job, console),
    }
}

fn client(job: &Job) -> Worked<Outcome> {
    let mut sending = Sending::new(job);
    let endpoint = super::endpoint(job)?;
    let stream = endpoint.open(super::peer(job)?, super::stream(job)?)?;
    let name = job.transport.as_str();
    let hot = name != super::FRESH.name && name != super::WRITE.name;
    if name == super::FRESH.name {
        let mut messages = Messages::new(job.size);
        // Making the data is no part of sending it.
        sending = Sending::new(job);
        while sending.more() {
            stream.send(messages.next())?;
        }
    } else if name == super::WRITE.name {
        let (memory, mut turns) = (memory(), Turns::new(job.size));
        sending = Sending::new(job);
        while sending.more() {
            (&stream).write_all(&memory[turns.next()])?;
        }
    } else if name == super::PLAIN.name {
        let message = Bytes::from(vec![7; job.size as usize]);
        while sending.more() {
            stream.send(message.clone())?;
        }
    } else {
        let mut messages = framed(&stream, job)?;
        'turns: loop {
            // The path is explored while it is used.
            if stream.tuning().packet_payload()? > messages[0].packet() {
                messages = framed(&stream, job)?;
            }
            for message in &messages {
                if !sending.more() {
                    break 'turns;
                }
                stream.tuning().send_frames(message)?;
            }
        }
    }
    stream.confirm(xtp::Confirm::Delivered)?;
    let mut outcome = sending.outcome(job, super::calls(&endpoint));
    let again = stream.stats()?.octets_retransmitted;
    let again = (again > 0).then(|| format!("{again} octets were sent again"));
    outcome.note = marked(if hot { HOT } else { FRESH }, again);
    stream.close()?;
    Ok(outcome)
}

/// Messages in memory laid out for the packets they leave in, which take turns: whoever sends the same memory again before
/// it was acknowledged has it copied.
fn framed(stream: &Stream, job: &Job) -> Worked<Vec<FrameBytes>> {
    let size = usize::try_from(job.size)?;
    let message = || {
        let mut buffer = stream.tuning().frame_buffer(size)?;
        buffer.read_from(&mut repeat(7))?;
        Ok(buffer.freeze())
    };
    std::iter::repeat_with(message)
        .take((RETAINED / size.max(1)).clamp(2, MOST))
        .collect()
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let listener = endpoint.listen_streams(super::SERVICE)?;
    super::stop_with(console, &endpoint);
    console.ready(endpoint.local_addr())?;
    let mut receiving = Receiving::new(job);
    let stream = match listener.accept() {
        Err(error) if error.is_interrupted() => return Ok(Outcome::default()),
        accepted => accepted?.into_stream(),
    };
    if job.transport == super::WRITE.name {
        let mut room = Room::new(PLAIN_READ);
        loop {
            let buffer = room.next();
            match (&stream).read(buffer)? {
                0 => break,
                octets => {
                    look_at(&buffer[..octets]);
                    receiving.octets(octets, || super::calls(&endpoint));
                }
            }
        }
    }
    let reads = job.transport == super::FRESH.name;
    let mut chunks = Vec::new();
    while stream.tuning().recv_trains(&mut chunks, READ)? > 0 {
        let octets = chunks.drain(..).map(|chunk| match chunk {
            Chunk::Data { bytes, .. } => {
                if reads {
                    look_at(&bytes);
                }
                bytes.len()
            }
            Chunk::Train { octets, .. } => {
                let length = octets.len();
                if reads {
                    octets.into_parts().for_each(|part| look_at(&part));
                }
                length
            }
            _ => 0,
        });
        receiving.octets(octets.sum(), || super::calls(&endpoint));
    }
    let outcome = receiving.outcome(job, super::calls(&endpoint));
    stream.close()?;
    Ok(outcome)
}
