//! Octets over one association, as many as will go.

use bytes::Bytes;
use xtp::{Chunk, paradigm};

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
    let message = Bytes::from(vec![7; job.size as usize]);
    let mut sending = Sending::new(job);
    let endpoint = super::endpoint(job)?;
    let stream = endpoint.open(super::peer(job)?, paradigm::stream(super::SERVICE))?;
    while sending.more() {
        stream.send(message.clone())?;
    }
    stream.confirm(xtp::Confirm::Delivered)?;
    let outcome = sending.outcome(job, super::calls(&endpoint));
    stream.close()?;
    Ok(outcome)
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
