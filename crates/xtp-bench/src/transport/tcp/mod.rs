//! Kernel TCP, without Nagle's delay, with the congestion control each name says.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;

use socket2::{Domain, Socket, Type};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::Experiment;
use crate::stage::Stage;
use crate::transport::waiting::{SLICE, Waiter};
use crate::transport::{Transport, always, fresh};

mod bulk;
mod crowd;
mod many;
mod pingpong;
mod single;
mod source;

/// With cubic, which most hosts use.
pub(super) static TCP: Transport = Transport {
    name: "tcp",
    experiments: Experiment::ALL,
    obstacle: always,
    work,
};

/// From fresh memory, by `send`.
pub(super) static FRESH: Transport = fresh::row("tcp-fresh", work);

/// The same from a file in memory, whose pages the kernel sends without a copy.
pub(super) static SENDFILE: Transport = fresh::row("tcp-sendfile", work);

/// The same by way of a pipe.
pub(super) static SPLICE: Transport = fresh::row("tcp-splice", work);

/// From fresh memory whose pages the kernel sends without a copy. Where packets stay on the host it copies after all.
pub(super) static ZEROCOPY: Transport = fresh::row("tcp-zerocopy", work);

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

/// Ended by a reset.
pub(super) static ABORT: Transport = Transport {
    name: "tcp-abort",
    experiments: &[Experiment::Oneshot, Experiment::Transaction],
    obstacle: always,
    work,
};

/// With the data in the SYN.
pub(super) static FAST_OPEN: Transport = Transport {
    name: "tcp-fastopen",
    experiments: &[Experiment::Oneshot, Experiment::Transaction],
    obstacle: |stage, _, _| fast_open(stage),
    work,
};

/// Fast Open for clients, servers, and every listener without being asked.
const FAST_OPEN_FOR_ALL: &str = "1027";

/// Allows Fast Open on the stage; says so if that cannot be.
fn fast_open(stage: &Stage) -> Option<String> {
    let parameter = "net.ipv4.tcp_fastopen";
    let value = stage
        .sysctl_value(parameter)
        .and_then(|value| value.parse::<u32>().ok());
    if value.is_some_and(|value| value & 0x403 == 0x403) {
        return None;
    }
    let set = stage.sysctl(parameter, FAST_OPEN_FOR_ALL);
    set.err()
        .map(|error| format!("{parameter} has to be {FAST_OPEN_FOR_ALL}: {error}"))
}

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
        Experiment::Scale => many::work(job, console),
        Experiment::Oneshot | Experiment::Transaction => single::work(job, console),
        other => Err(Problem::new(format!("TCP has no '{other}' here"))),
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

/// A socket with the transport's congestion control, unless it is the host's default already; a listener hands it on
/// to what it accepts.
fn socket(job: &Job) -> Worked<Socket> {
    let socket = Socket::new(Domain::for_address(job.any_port()), Type::STREAM, None)?;
    let wanted = congestion(&job.transport);
    if default_congestion() != wanted {
        socket.set_tcp_congestion(wanted)?;
    }
    Ok(socket)
}

/// What sockets use that are not told.
fn default_congestion() -> &'static [u8] {
    static DEFAULT: OnceLock<Vec<u8>> = OnceLock::new();
    DEFAULT.get_or_init(|| {
        let text = std::fs::read("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_default();
        text.trim_ascii().to_vec()
    })
}

/// Listens on a port of the system's choice.
fn listen(job: &Job, waiter: &Waiter) -> Worked<TcpListener> {
    let socket = socket(job)?;
    socket.set_tcp_nodelay(true)?;
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
