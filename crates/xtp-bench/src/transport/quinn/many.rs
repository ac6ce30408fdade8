//! Many connections from one thread: one-shots in flight, and connections that stay open.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quinn::{Connection, VarInt};
use tokio::task::{JoinSet, LocalSet};

use super::setup::{Quic, patient, runtime};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::meter::Meter;
use crate::transport::many::{HOLD, Opened, Part, Served, WARM, number, resident, slab};

const DONE: VarInt = VarInt::from_u32(0);

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let (runtime, local) = (runtime()?, LocalSet::new());
    let part = Part::of(job);
    match (job.role, part) {
        (Role::Client, Part::Rate) => local.block_on(&runtime, fly(job)),
        (Role::Client, Part::Memory) => local.block_on(&runtime, open(job)),
        (_, Part::Random) => Err(Problem::new("round trips on one of many are not measured of it")),
        _ => local.block_on(&runtime, serve(job, console, part)),
    }
}

/// One-shots as in the experiment of that name, a number of them in flight.
async fn fly(job: &Job) -> Worked<Outcome> {
    let (quic, server) = Quic::client(job)?;
    let quic = Rc::new(quic);
    let done = Rc::new(Cell::new(0));
    let meter = Meter::start(&job.interface);
    let end = Instant::now() + Duration::from_secs_f64(job.seconds);
    let mut flights = JoinSet::new();
    for _ in 0..number(job, "in_flight")? {
        let (quic, done, size) = (Rc::clone(&quic), Rc::clone(&done), job.size as usize);
        flights.spawn_local(async move {
            let message = vec![7; size];
            while Instant::now() < end {
                let connection = quic.connect(server)?.await?;
                let mut send = connection.open_uni().await?;
                send.write_all(&message).await?;
                send.finish()?;
                connection.closed().await;
                done.set(done.get() + 1);
            }
            Worked::Ok(())
        });
    }
    while let Some(flight) = patient(job.wait, flights.join_next()).await {
        flight??;
    }
    let reading = meter.read();
    Ok(Outcome {
        operations: done.get(),
        seconds: reading.seconds,
        cpu_s: reading.cpu_s,
        softirq_s: reading.softirq_s,
        packets: reading.packets,
        ..Outcome::default()
    })
}

async fn open(job: &Job) -> Worked<Outcome> {
    let (quic, server) = Quic::client(job)?;
    let number = number(job, "associations")?;
    let quic = Rc::new(quic);
    let first = exchange(job, &quic, server, WARM).await?;
    let (memory, kernel) = (resident(), slab());
    let begin = Instant::now();
    let connections = exchange(job, &quic, server, number).await?;
    let seconds = begin.elapsed().as_secs_f64();
    tokio::time::sleep(HOLD).await;
    let opened = Opened {
        number,
        resident: [memory, resident()],
        slab: [kernel, slab()],
        seconds,
    };
    drop((first, connections));
    Ok(opened.outcome(false))
}

/// Opens connections, a number of them at once, and exchanges a message on each.
async fn exchange(
    job: &Job,
    quic: &Rc<Quic>,
    server: std::net::SocketAddr,
    total: u64,
) -> Worked<Vec<Connection>> {
    let mut flights = JoinSet::new();
    let mut connections = Vec::new();
    let (mut begun, at_once) = (0, number(job, "in_flight")? as usize);
    loop {
        while begun < total && flights.len() < at_once {
            let (quic, size) = (Rc::clone(quic), job.size as usize);
            begun += 1;
            flights.spawn_local(async move {
                let connection = quic.connect(server)?.await?;
                let (mut send, mut recv) = connection.open_bi().await?;
                send.write_all(&vec![7; size]).await?;
                send.finish()?;
                match recv.read_to_end(size).await?.len() == size {
                    true => Worked::Ok(connection),
                    false => Err(Problem::new("the server answered something else")),
                }
            });
        }
        match flights.join_next().await {
            Some(connection) => connections.push(connection??),
            None => return Ok(connections),
        }
    }
}

async fn serve(job: &Job, console: &mut Console, part: Part) -> Worked<Outcome> {
    let quic = Quic::server(job)?;
    console.ready(&quic.place)?;
    quic.stop_with(console);
    let served = Arc::new(Mutex::new(Served::new(job)?));
    while let Some(incoming) = patient(job.wait, quic.endpoint.accept()).await {
        let (served, size) = (Arc::clone(&served), job.size as usize);
        // One client that breaks off does not end the server.
        tokio::task::spawn_local(async move {
            let connection = incoming.await?;
            match part {
                Part::Rate => {
                    connection.accept_uni().await?.read_to_end(size).await?;
                    connection.close(DONE, b"");
                }
                Part::Memory | Part::Random => {
                    let (mut send, mut recv) = connection.accept_bi().await?;
                    let message = recv.read_to_end(size).await?;
                    send.write_all(&message).await?;
                    send.finish()?;
                }
            }
            served.lock().unwrap_or_else(PoisonError::into_inner).one();
            connection.closed().await;
            Worked::Ok(())
        });
    }
    let mut outcome = served.lock().unwrap_or_else(PoisonError::into_inner).outcome();
    outcome.cpu_s = crate::meter::cpu_seconds();
    Ok(outcome)
}
