//! One message, or a request and its answer, with a connection of its own.

use quinn::{Connection, VarInt};

use super::setup::{Quic, patient, runtime};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::Experiment;
use crate::transport::answering::{Serving, Timing};

/// What is closed in peace.
const DONE: VarInt = VarInt::from_u32(0);
/// Connections made in vain for a ticket before it is given up.
const REFILLS: u32 = 100;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let runtime = runtime()?;
    let early = job.transport == "quinn-0rtt";
    match job.role {
        Role::Client if early => runtime.block_on(early_client(job)),
        Role::Client => runtime.block_on(client(job)),
        _ => runtime.block_on(server(job, console, early)),
    }
}

/// One connection after the other, over one endpoint.
async fn client(job: &Job) -> Worked<Outcome> {
    let (quic, server) = Quic::client(job)?;
    let mut lengths = Lengths::of(job);
    let messages = vec![7; lengths.most()];
    let mut timing = Timing::new(job);
    loop {
        let begin = timing.begin(|| 0);
        let connection = patient(job.wait, quic.connect(server)?).await?;
        exchange(job, &connection, &messages[..lengths.next()], false).await?;
        if job.experiment == Experiment::Oneshot {
            // The peer closes when it has read the message.
            patient(job.wait, connection.closed()).await;
        } else {
            connection.close(DONE, b"");
        }
        if !timing.end(begin) {
            return end(&quic, timing).await;
        }
    }
}

/// As `client`, with data in the first packet. A connection without a ticket does not count: it fetches some.
async fn early_client(job: &Job) -> Worked<Outcome> {
    let (quic, server) = Quic::client(job)?;
    let mut lengths = Lengths::of(job);
    let messages = vec![7; lengths.most()];
    let mut timing = Timing::new(job);
    let mut refills = 0;
    loop {
        let begin = timing.begin(|| 0);
        let connection = match quic.connect(server)?.into_0rtt() {
            Ok((connection, _)) => connection,
            Err(_) if refills == REFILLS => return Err(Problem::new("the server hands out no tickets")),
            Err(connecting) => {
                refills += 1;
                refill(&connecting.await?).await?;
                continue;
            }
        };
        refills = 0;
        exchange(job, &connection, &messages[..lengths.next()], true).await?;
        connection.close(DONE, b"");
        if !timing.end(begin) {
            return end(&quic, timing).await;
        }
    }
}

async fn end(quic: &Quic, timing: Timing) -> Worked<Outcome> {
    let mut outcome = timing.outcome(0);
    // Its socket is not ours to count at.
    outcome.syscalls = None;
    quic.endpoint.wait_idle().await;
    Ok(outcome)
}

/// Asks for nothing: tickets follow the handshake, and whatever is answered comes after them.
async fn refill(connection: &Connection) -> Worked<()> {
    let (mut send, mut recv) = connection.open_bi().await?;
    send.finish()?;
    recv.read_to_end(1).await?;
    connection.close(DONE, b"");
    Ok(())
}

/// Sends the message; reads the answer of a transaction, or the octet that stands for one.
async fn exchange(job: &Job, connection: &Connection, message: &[u8], early: bool) -> Worked<()> {
    let length = match job.experiment {
        Experiment::Transaction => message.len(),
        _ if early => 1,
        _ => {
            let mut send = connection.open_uni().await?;
            send.write_all(message).await?;
            return Ok(send.finish()?);
        }
    };
    let (mut send, mut recv) = connection.open_bi().await?;
    send.write_all(message).await?;
    send.finish()?;
    let answer = patient(job.wait, recv.read_to_end(length)).await?;
    if answer.len() == length {
        Ok(())
    } else {
        Err(Problem::new(format!(
            "{} octets were answered, not {length}",
            answer.len()
        )))
    }
}

async fn server(job: &Job, console: &mut Console, early: bool) -> Worked<Outcome> {
    let quic = Quic::server(job)?;
    console.ready(&quic.place)?;
    quic.stop_with(console);
    let stop = console.stop();
    let mut serving = Serving::new(job);
    while let Some(incoming) = patient(job.wait, quic.endpoint.accept()).await {
        let connection = match incoming.accept()?.into_0rtt() {
            Ok((connection, _)) => connection,
            Err(connecting) => connecting.await?,
        };
        match serve(job, &connection, early).await {
            Ok(true) => {
                serving.one(|| 0);
            }
            Ok(false) => {}
            Err(_) if stop.is_set() => break,
            Err(problem) => return Err(problem),
        }
    }
    let mut outcome = serving.outcome(0);
    outcome.syscalls = None;
    Ok(outcome)
}

/// Serves one connection; returns whether it was an operation.
async fn serve(job: &Job, connection: &Connection, early: bool) -> Worked<bool> {
    let size = job.size as usize;
    if job.experiment == Experiment::Oneshot && !early {
        let mut recv = patient(job.wait, connection.accept_uni()).await?;
        let message = patient(job.wait, recv.read_to_end(size)).await?;
        connection.close(DONE, b"");
        return Ok(!message.is_empty());
    }
    let (mut send, mut recv) = patient(job.wait, connection.accept_bi()).await?;
    let message = patient(job.wait, recv.read_to_end(size)).await?;
    let answer = match job.experiment {
        Experiment::Transaction if !message.is_empty() => &message[..],
        _ => &[1],
    };
    send.write_all(answer).await?;
    send.finish()?;
    patient(job.wait, connection.closed()).await;
    Ok(!message.is_empty())
}
