//! Round trips over one stream of one connection.

use quinn::{RecvStream, SendStream, VarInt};

use super::setup::{Quic, patient, runtime};
use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::WaitPolicy;
use crate::transport::answering::{Serving, Timing};

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let runtime = runtime()?;
    match job.role {
        Role::Client => runtime.block_on(client(job)),
        _ => runtime.block_on(server(job, console)),
    }
}

async fn client(job: &Job) -> Worked<Outcome> {
    let (quic, server) = Quic::client(job)?;
    let connection = quic.connect(server)?.await?;
    let (mut send, mut recv) = connection.open_bi().await?;
    let mut lengths = Lengths::of(job);
    let messages = vec![7; lengths.most()];
    let mut answer = vec![0; lengths.most()];
    let mut timing = Timing::new(job);
    loop {
        let begin = timing.begin(|| 0);
        let length = lengths.next();
        let (message, answer) = (&messages[..length], &mut answer[..length]);
        round_trip(job.wait, &mut send, &mut recv, message, answer).await?;
        if !timing.end(begin) {
            break;
        }
    }
    let mut outcome = timing.outcome(0);
    outcome.syscalls = None;
    connection.close(VarInt::from_u32(0), b"");
    quic.endpoint.wait_idle().await;
    Ok(outcome)
}

async fn round_trip(
    wait: WaitPolicy,
    send: &mut SendStream,
    recv: &mut RecvStream,
    message: &[u8],
    answer: &mut [u8],
) -> Worked<()> {
    send.write_all(message).await?;
    Ok(patient(wait, recv.read_exact(answer)).await?)
}

async fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let quic = Quic::server(job)?;
    console.ready(&quic.place)?;
    quic.stop_with(console);
    let mut serving = Serving::new(job);
    if let Some(incoming) = quic.endpoint.accept().await {
        let connection = incoming.await?;
        let (mut send, mut recv) = connection.accept_bi().await?;
        let mut lengths = Lengths::of(job);
        let mut room = vec![0; lengths.most()];
        loop {
            let message = &mut room[..lengths.next()];
            // The connection ends when the client has enough, or the coordinator.
            if patient(job.wait, recv.read_exact(message)).await.is_err() {
                break;
            }
            send.write_all(message).await?;
            serving.one(|| 0);
        }
    }
    let mut outcome = serving.outcome(0);
    outcome.syscalls = None;
    Ok(outcome)
}
