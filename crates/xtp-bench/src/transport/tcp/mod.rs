//! Kernel TCP, without Nagle's delay, with the congestion control each name says.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use socket2::{Domain, Socket, Type};

use crate::error::Worked;
use crate::job::{Job, Outcome};
use crate::plan::Experiment;
use crate::stage::Stage;
use crate::transport::waiting::{SLICE, Waiter};
use crate::transport::{Transport, always};
use crate::worker::Console;

mod bulk;
mod pingpong;

/// With cubic, which most hosts use.
pub(super) static TCP: Transport = Transport {
    name: "tcp",
    experiments: &[Experiment::Pingpong, Experiment::Bulk, Experiment::Wan],
    obstacle: always,
    work,
};

/// With reno.
pub(super) static RENO: Transport = Transport {
    name: "tcp-reno",
    experiments: &[Experiment::Bulk, Experiment::Wan],
    obstacle: |stage, _, _| missing(stage, "reno"),
    work,
};

/// With bbr.
pub(super) static BBR: Transport = Transport {
    name: "tcp-bbr",
    experiments: &[Experiment::Bulk, Experiment::Wan],
    obstacle: |stage, _, _| missing(stage, "bbr"),
    work,
};

/// Says so if the kernel has no such congestion control.
fn missing(stage: &Stage, name: &str) -> Option<String> {
    let all = stage.sysctl_value("net.ipv4.tcp_available_congestion_control");
    let present = all.is_some_and(|all| all.split_ascii_whitespace().any(|one| one == name));
    (!present).then(|| format!("the kernel has no congestion control '{name}' (load tcp_{name})"))
}

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.experiment {
        Experiment::Pingpong => pingpong::work(job, console),
        Experiment::Bulk | Experiment::Wan => bulk::work(job, console),
        other => Err(crate::error::Problem::new(format!("TCP has no '{other}'"))),
    }
}

/// The congestion control a transport's name stands for.
fn congestion(transport: &str) -> &'static [u8] {
    match transport {
        "tcp-reno" => b"reno",
        "tcp-bbr" => b"bbr",
        _ => b"cubic",
    }
}

/// A socket with the transport's congestion control; a listener hands it on to what it accepts.
fn socket(job: &Job) -> Worked<Socket> {
    let socket = Socket::new(Domain::for_address(job.any_port()), Type::STREAM, None)?;
    socket.set_tcp_congestion(congestion(&job.transport))?;
    Ok(socket)
}

/// Listens on a port of the system's choice.
fn listen(job: &Job, waiter: &Waiter) -> Worked<TcpListener> {
    let socket = socket(job)?;
    socket.bind(&job.any_port().into())?;
    socket.listen(1_024)?;
    if waiter.wants_nonblocking() {
        socket.set_nonblocking(true)?;
    } else {
        // Accepting waits this long before it looks whether to stop.
        socket.set_read_timeout(Some(SLICE))?;
    }
    Ok(socket.into())
}

/// Connects to the peer.
fn connect(job: &Job) -> Worked<TcpStream> {
    let socket = socket(job)?;
    let peer: SocketAddr = job.peer.parse()?;
    socket.connect(&peer.into())?;
    Ok(socket.into())
}

/// `None` if the coordinator said stop.
fn unless_stopped<T>(result: io::Result<T>) -> Worked<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        other => Ok(Some(other?)),
    }
}
