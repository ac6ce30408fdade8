//! The other process: takes what the demo sends, over xtp, TCP and UDP, and keeps account.

use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use xtp::{Chunk, Endpoint, Error, Incoming, ListenOptions, Listener, Stream};

use super::arrivals::Arrivals;
use super::copy::FileWriter;
use super::kernel_server::{serve_tcp, serve_udp};
use super::paradigms::{FILE_PORT, Kind, Paradigm, TAG, WORK_MS, served_at};
use super::pipe::{Places, Question};
use crate::args::DemoReceiverArgs;
use crate::common::{Common, Failure, Outcome};

/// Receives until its standard input ends.
pub(crate) fn run(args: &DemoReceiverArgs, common: &Common) -> Outcome {
    let endpoint = common.server(common.config(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))))?;
    let listener = endpoint
        .listen_with(ListenOptions::wildcard())
        .map_err(|error| Failure::of("cannot listen", &error))?;
    let arrivals = Arrivals::default();
    let kernel = |error| Failure::io("cannot listen with the kernel's protocols", &error);
    let places = Places {
        xtp: endpoint.local_addr(),
        tcp: serve_tcp(&arrivals, &args.directory).map_err(kernel)?,
        udp: serve_udp(&arrivals).map_err(kernel)?,
    };
    let (account, seen) = (arrivals.clone(), endpoint.clone());
    thread::Builder::new()
        .name("answers".into())
        .spawn(move || answer(&places, &account, &seen))
        .map_err(|error| Failure::io("cannot start another thread", &error))?;
    serve(&listener, &arrivals, &args.directory)
}

/// Answers the sender's questions until there are no more; then everything ends.
fn answer(places: &Places, arrivals: &Arrivals, endpoint: &Endpoint) {
    let mut stdout = std::io::stdout().lock();
    let mut say = |line: serde_json::Result<String>| -> Option<()> {
        let line = line.ok()? + "\n";
        stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush())
            .ok()
    };
    if say(serde_json::to_string(places)).is_some() {
        for line in std::io::stdin().lock().lines() {
            let Some(question) = line
                .ok()
                .and_then(|line| serde_json::from_str::<Question>(&line).ok())
            else {
                break;
            };
            let mut answer = arrivals.wait(question.arrivals);
            answer.packets_out = endpoint.stats().packets_sent();
            if say(serde_json::to_string(&answer)).is_none() {
                break;
            }
        }
    }
    endpoint.interrupt();
}

fn serve(listener: &Listener, arrivals: &Arrivals, directory: &Path) -> Outcome {
    loop {
        let incoming = match listener.accept() {
            Ok(incoming) => incoming,
            // The sender has ended, or a signal came; either way nobody waits for a word.
            Err(error) if error.is_interrupted() => return Ok(()),
            Err(error) => return Err(Failure::of("cannot receive", &error)),
        };
        let served = match served_at(incoming.service_number()) {
            Some(paradigm) => take(paradigm, incoming, arrivals),
            None if incoming.service_number() == FILE_PORT => {
                take_file(&incoming.into_stream(), arrivals, directory)
            }
            None => Ok(()),
        };
        match served {
            Ok(()) => {}
            Err(error) if error.is_interrupted() => return Ok(()),
            Err(error) => {
                tracing::error!(%error, "an exchange failed");
                arrivals.damaged();
            }
        }
    }
}

fn take(paradigm: &Paradigm, incoming: Incoming, arrivals: &Arrivals) -> xtp::Result<()> {
    let size = paradigm.size;
    match paradigm.kind {
        Kind::Datagram | Kind::Acknowledged | Kind::OneShot => {
            arrivals.arrived(&incoming.receive()?, size);
            Ok(())
        }
        Kind::Transaction | Kind::Unconfirmed | Kind::Slow => {
            let request = incoming.receive()?;
            if paradigm.kind == Kind::Slow {
                thread::sleep(Duration::from_millis(WORK_MS));
            }
            if paradigm.kind == Kind::Unconfirmed {
                incoming.respond_unconfirmed(request.clone())?;
            } else {
                incoming.respond(request.clone())?;
            }
            arrivals.arrived(&request, size);
            Ok(())
        }
        Kind::ByteStream => {
            let stream = incoming.into_stream();
            let mut octets = Vec::new();
            while let Some(chunk) = stream.recv_chunk()? {
                if let Chunk::Data { bytes, .. } = chunk {
                    octets.extend_from_slice(&bytes);
                }
            }
            arrivals.arrived(&octets, size);
            Ok(())
        }
        Kind::MessageStream => take_messages(&incoming.into_stream(), true, size, arrivals),
        Kind::UnreliableStream => take_messages(&incoming.into_stream(), false, size, arrivals),
        Kind::Tags => take_tagged(&incoming.into_stream(), size, arrivals),
    }
}

fn take_messages(stream: &Stream, answered: bool, size: usize, arrivals: &Arrivals) -> xtp::Result<()> {
    let mut last = Bytes::new();
    while let Some(message) = stream.recv_message()? {
        if answered {
            stream.send_message(message.clone())?;
        }
        last = message;
    }
    arrivals.arrived(&last, size);
    Ok(())
}

/// The tag comes before the octets it was sent with.
fn take_tagged(stream: &Stream, size: usize, arrivals: &Arrivals) -> xtp::Result<()> {
    let mut octets = Vec::new();
    let mut tagged = false;
    while let Some(chunk) = stream.recv_chunk()? {
        match chunk {
            Chunk::Tag { offset: 0, tag: TAG } => tagged = true,
            Chunk::Data { bytes, .. } => octets.extend_from_slice(&bytes),
            _ => {}
        }
    }
    if !tagged {
        octets.clear();
    }
    arrivals.arrived(&octets, size);
    Ok(())
}

fn take_file(stream: &Stream, arrivals: &Arrivals, directory: &Path) -> xtp::Result<()> {
    let failed = |source| Error::Carrier {
        doing: "writing the file",
        source,
    };
    let mut writer = FileWriter::create(directory.join("xtp.copy")).map_err(failed)?;
    while let Some(chunk) = stream.recv_chunk()? {
        if let Chunk::Data { bytes, .. } = chunk {
            writer.write(&bytes).map_err(failed)?;
        }
    }
    let hash = writer.finish().map_err(failed)?;
    stream.send(Bytes::copy_from_slice(&hash))?;
    stream.shutdown_write()?;
    arrivals.file();
    Ok(())
}
