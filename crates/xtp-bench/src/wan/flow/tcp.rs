//! Kernel TCP with the congestion control that the transport's name says.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::record::{PIECE, Record, content, place};
use super::{Sending, received};
use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome};

/// How often a waiting receiver looks whether it should stop.
const SLICE: Duration = Duration::from_millis(100);

pub(super) fn send(job: &Job) -> Worked<Outcome> {
    let content = content();
    let socket = socket(job)?;
    let peer: SocketAddr = job.peer.parse()?;
    let sending = Sending::begin(job);
    if let Some(left) = sending.left(0) {
        socket.connect_timeout(&peer.into(), left)?;
    }
    socket.set_tcp_nodelay(true)?;
    // What is under way when the time is over counts no more: the end is an abort.
    socket.set_linger(Some(Duration::ZERO))?;
    let mut stream: TcpStream = socket.into();
    let mut offset = 0;
    while let Some(left) = sending.left(offset) {
        stream.set_write_timeout(Some(left))?;
        let at = place(offset);
        match stream.write(&content[at..at + sending.next(offset, PIECE)]) {
            Ok(written) => offset += written as u64,
            Err(error) if waits(error.kind()) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(left) = sending.left_to_arrive(offset) {
        // The receiver ends its half when it has seen the end of ours.
        stream.shutdown(Shutdown::Write)?;
        stream.set_read_timeout(Some(left))?;
        let _end = stream.read(&mut [0])?;
    }
    Ok(sending.outcome(None))
}

pub(super) fn receive(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let stop = console.stop();
    let socket = socket(job)?;
    socket.bind(&job.any_port().into())?;
    socket.listen(1)?;
    socket.set_read_timeout(Some(SLICE))?;
    let listener: TcpListener = socket.into();
    console.ready(listener.local_addr()?)?;
    let mut record = Record::new();
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if waits(error.kind()) && !stop.is_set() => {}
            Err(error) if waits(error.kind()) => return Ok(received(record, None)),
            Err(error) => return Err(error.into()),
        }
    };
    stream.set_read_timeout(Some(SLICE))?;
    let mut buffer = vec![0; PIECE];
    while !stop.is_set() {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => record.came(&buffer[..read])?,
            Err(error) if waits(error.kind()) => {}
            // The sender breaks off at the end of its time.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && record.octets() > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(received(record, None))
}

fn waits(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn socket(job: &Job) -> Worked<Socket> {
    let socket = Socket::new(Domain::for_address(job.any_port()), Type::STREAM, None)?;
    let congestion: &[u8] = match job.transport.as_str() {
        "tcp-reno" => b"reno",
        "tcp-bbr" => b"bbr",
        _ => b"cubic",
    };
    socket.set_tcp_congestion(congestion)?;
    Ok(socket)
}
