//! Round trips over one association: of messages, or of as many octets by `write` and `read`, as most programs make them.

use std::io::{ErrorKind, Read, Write};

use bytes::Bytes;
use xtp::Stream;

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::transport::answering::{Serving, Timing};

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job),
        _ => server(job, console),
    }
}

fn client(job: &Job) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let stream = endpoint.open(super::peer(job)?, super::stream(job)?)?;
    let mut lengths = Lengths::of(job);
    let messages = Bytes::from(vec![7; lengths.most()]);
    let mut answer = vec![0; lengths.most()];
    let plain = job.transport == super::WRITE.name;
    let mut timing = Timing::new(job);
    loop {
        let more = timing.one(
            || super::calls(&endpoint),
            || -> Worked<()> {
                let length = lengths.next();
                if plain {
                    (&stream).write_all(&messages[..length])?;
                    return Ok((&stream).read_exact(&mut answer[..length])?);
                }
                stream.send_message(messages.slice(..length))?;
                match stream.recv_message()? {
                    Some(answer) if answer.len() == length => Ok(()),
                    _ => Err(Problem::new("the server answered something else")),
                }
            },
        )?;
        if !more {
            let outcome = timing.outcome(super::calls(&endpoint));
            stream.close()?;
            return Ok(outcome);
        }
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let listener = endpoint.listen_streams(super::SERVICE)?;
    super::stop_with(console, &endpoint);
    console.ready(endpoint.local_addr())?;
    let mut serving = Serving::new(job);
    let stream = match listener.accept() {
        Err(error) if error.is_interrupted() => return Ok(Outcome::default()),
        accepted => accepted?.into_stream(),
    };
    if job.transport == super::WRITE.name {
        let mut lengths = Lengths::of(job);
        let mut room = vec![0; lengths.most()];
        loop {
            let octets = &mut room[..lengths.next()];
            if !whole(&stream, octets)? {
                break;
            }
            (&stream).write_all(octets)?;
            serving.one(|| super::calls(&endpoint));
        }
    }
    while let Some(message) = stream.recv_message()? {
        stream.send_message(message)?;
        serving.one(|| super::calls(&endpoint));
    }
    let outcome = serving.outcome(super::calls(&endpoint));
    stream.close()?;
    Ok(outcome)
}

/// Reads as many octets as there is room for; false at the end of the stream.
fn whole(mut stream: &Stream, octets: &mut [u8]) -> Worked<bool> {
    match stream.read_exact(octets) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error.into()),
    }
}
