//! Octets over one association, as many as will go.

use std::io::repeat;

use bytes::Bytes;
use xtp::{Chunk, FrameBytes, Stream, paradigm};

use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome, Role};
use crate::transport::flowing::{Receiving, Sending};

/// Most octets taken at once.
const READ: usize = 1 << 20;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job),
        _ => server(job, console),
    }
}

fn client(job: &Job) -> Worked<Outcome> {
    let mut sending = Sending::new(job);
    let endpoint = super::endpoint(job)?;
    let stream = endpoint.open(super::peer(job)?, paradigm::stream(super::SERVICE))?;
    if [super::PLAIN.name, super::LENT.name].contains(&job.transport.as_str()) {
        let message = Bytes::from(vec![7; job.size as usize]);
        while sending.more() {
            stream.send(message.clone())?;
        }
    } else {
        let mut message = framed(&stream, job)?;
        while sending.more() {
            // The path is explored while it is used.
            if stream.packet_payload()? > message.packet() {
                message = framed(&stream, job)?;
            }
            stream.send_frames(&message)?;
        }
    }
    stream.confirm(xtp::Confirm::Delivered)?;
    let outcome = sending.outcome(job, super::calls(&endpoint));
    stream.close()?;
    Ok(outcome)
}

/// A message in memory laid out for the packets it leaves in.
fn framed(stream: &Stream, job: &Job) -> Worked<FrameBytes> {
    let mut buffer = stream.frame_buffer(job.size as usize)?;
    buffer.read_from(&mut repeat(7))?;
    Ok(buffer.freeze())
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let listener = endpoint.listen(super::SERVICE)?;
    super::stop_with(console, &endpoint);
    console.ready(endpoint.local_addr())?;
    let mut receiving = Receiving::new(job);
    let stream = match listener.accept() {
        Err(error) if error.is_interrupted() => return Ok(Outcome::default()),
        accepted => accepted?.into_stream(),
    };
    let mut chunks = Vec::new();
    while stream.recv_chunks(&mut chunks, READ)? > 0 {
        let octets = chunks.drain(..).map(|chunk| match chunk {
            Chunk::Data { bytes, .. } => bytes.len(),
            _ => 0,
        });
        receiving.octets(octets.sum(), || super::calls(&endpoint));
    }
    let outcome = receiving.outcome(job, super::calls(&endpoint));
    stream.close()?;
    Ok(outcome)
}
