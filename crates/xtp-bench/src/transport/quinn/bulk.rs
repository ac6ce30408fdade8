//! Octets over one stream of one connection, as many as will go.

use bytes::Bytes;
use quinn::VarInt;

use super::setup::{Quic, patient, runtime};
use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome, Role};
use crate::transport::flowing::{Receiving, Sending};
use crate::transport::fresh::{FRESH, HOT, Messages, look_at, marked};

/// Pieces a receiver takes at once.
const PIECES: usize = 64;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let runtime = runtime()?;
    let mut outcome = match job.role {
        Role::Client => runtime.block_on(client(job))?,
        _ => runtime.block_on(server(job, console))?,
    };
    // Its socket is not ours to count at.
    outcome.syscalls = None;
    Ok(outcome)
}

async fn client(job: &Job) -> Worked<Outcome> {
    let (quic, server) = Quic::client(job)?;
    let fresh = job.transport == super::FRESH.name;
    let message = Bytes::from(vec![7; job.size as usize]);
    let mut messages = fresh.then(|| Messages::new(job.size));
    let mut sending = Sending::new(job);
    let connection = quic.connect(server)?.await?;
    let mut send = connection.open_uni().await?;
    while sending.more() {
        let message = messages.as_mut().map_or_else(|| message.clone(), Messages::next);
        patient(job.wait, send.write_chunk(message)).await?;
    }
    send.finish()?;
    // The peer closes when it has read everything.
    patient(job.wait, connection.closed()).await;
    let mut outcome = sending.outcome(job, 0);
    outcome.note = marked(if fresh { FRESH } else { HOT }, None);
    quic.endpoint.wait_idle().await;
    Ok(outcome)
}

async fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let quic = Quic::server(job)?;
    console.ready(&quic.place)?;
    quic.stop_with(console);
    let mut receiving = Receiving::new(job);
    let Some(incoming) = quic.endpoint.accept().await else {
        return Ok(Outcome::default());
    };
    let connection = incoming.await?;
    let mut recv = connection.accept_uni().await?;
    let mut pieces = vec![Bytes::new(); PIECES];
    while let Some(count) = patient(job.wait, recv.read_chunks(&mut pieces)).await? {
        let octets = pieces[..count].iter().map(Bytes::len).sum();
        if job.transport == super::FRESH.name {
            pieces[..count].iter().for_each(|piece| look_at(piece));
        }
        receiving.octets(octets, || 0);
        pieces[..count].fill(Bytes::new());
    }
    let outcome = receiving.outcome(job, 0);
    connection.close(VarInt::from_u32(0), b"");
    quic.endpoint.wait_idle().await;
    Ok(outcome)
}
