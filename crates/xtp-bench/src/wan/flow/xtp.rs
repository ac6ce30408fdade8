//! xtp: the controller the library chooses, or the one that the transport's name says.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use xtp::{
    Chunk, Config, Confirm, CongestionKind, Endpoint, Error, ErrorControl, ListenOptions, Mark, Rate, Stream,
    Trace, Tuning, Wait, paradigm,
};

use super::record::{PIECE, Record, content, place};
use super::{Sending, option, option_of, received};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::WaitPolicy;
use crate::transport::controller;

/// The service number measured.
const SERVICE: u16 = 100;
/// Octets each end may hold, as the kernel's TCP is given: several bandwidth-delay products of the largest link.
const CAPACITY: u64 = 64 << 20;
/// Octets the receiver's socket may hold: half a second of the fastest link.
const SOCKET_BUFFER: usize = 32 << 20;
/// Octets of a retained application buffer, as in the experiments of 1995.
const BUFFER: usize = 512_000;
/// Time between two looks at the association's own figures.
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn send(job: &Job) -> Worked<Outcome> {
    let buffers = option_of::<usize>(job, option::BUFFERS)?;
    let piece = if buffers.is_some() { BUFFER } else { PIECE };
    let mut content = content();
    content.extend_from_within(PIECE..PIECE + BUFFER);
    let content = Bytes::from(content);
    let endpoint = endpoint(job)?;
    let mut sending = Sending::begin(job);
    let mut options = paradigm::stream(SERVICE);
    options.tuning = tuning(job)?;
    let stream = endpoint.open(job.peer.parse::<std::net::SocketAddr>()?, options)?;
    let mut lent: VecDeque<Mark> = VecDeque::new();
    let mut offset = 0;
    let mut looked = Instant::now();
    while let Some(left) = sending.left(offset) {
        if buffers.is_some_and(|buffers| lent.len() >= buffers) {
            // All buffers are lent: the oldest has to come back first.
            let oldest = lent.pop_front();
            match oldest.map(|mark| mark.wait(Some(left))) {
                Some(Err(error)) if error.is_timeout() => break,
                Some(result) => result?,
                None => {}
            }
        }
        let at = place(offset);
        stream.set_write_timeout(Some(left));
        let piece = sending.next(offset, piece);
        match stream.send(content.slice(at..at + piece)) {
            Ok(()) => offset += piece as u64,
            Err(error) if error.is_timeout() => break,
            Err(error) => return Err(error.into()),
        }
        if buffers.is_some() {
            lent.push_back(stream.mark(Confirm::Received)?);
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            look(&stream, &mut sending)?;
        }
    }
    let left_to_arrive = sending.left_to_arrive(offset);
    let stats = stream.stats()?;
    let mut outcome = sending.outcome(Some(endpoint.stats().system_calls()));
    let sent = stats.octets_sent.max(1) as f64;
    let figures = [
        ("retransmitted", stats.octets_retransmitted as f64 / sent),
        ("packets_lost", stats.packets_lost as f64),
        ("wtimer_expiries", stats.wtimer_expiries as f64),
        ("rtt_ms", stats.rtt.unwrap_or_default().as_secs_f64() * 1e3),
        ("max_data", f64::from(stats.max_data)),
        ("wakes", endpoint.stats().wakes as f64),
    ];
    for (name, value) in figures {
        outcome.extra.insert(name.to_owned(), value);
    }
    drop(lent);
    match left_to_arrive {
        Some(left) => stream.close_timeout(left)?,
        None => stream.abort(),
    }
    Ok(outcome)
}

/// Notes what the controller believes.
fn look(stream: &Stream, sending: &mut Sending) -> Worked<()> {
    let stats = stream.stats()?;
    if let Some(window) = stats.congestion_window {
        sending.note("window", window as f64 / 1e6);
    }
    if let Some(rtt) = stats.rtt {
        sending.note("rtt", rtt.as_secs_f64() * 1e3);
    }
    Ok(())
}

pub(super) fn receive(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = endpoint(job)?;
    let mut options = ListenOptions::streams(SERVICE);
    options.tuning = tuning(job)?;
    let listener = endpoint.listen_with(options)?;
    let interrupting = endpoint.clone();
    console.on_stop(move || interrupting.interrupt());
    console.ready(endpoint.local_addr())?;
    let mut record = Record::new();
    let stream = match listener.accept() {
        Err(error) if error.is_interrupted() => return Ok(received(record, None)),
        accepted => accepted?.into_stream(),
    };
    let mut chunks = Vec::new();
    let mut ended = false;
    loop {
        match stream.recv_chunks(&mut chunks, PIECE) {
            Ok(0) => {
                ended = true;
                break;
            }
            Ok(_) => came(&mut record, &mut chunks)?,
            Err(error) if error.is_interrupted() => break,
            // The sender breaks off at the end of its time.
            Err(Error::Closed(_)) if record.octets() > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    let stats = endpoint.stats();
    if ended {
        // The sender waits for the end as well. All is here already, so that whether it heard so is no figure.
        let _ = stream.close();
    } else {
        stream.abort();
    }
    let mut outcome = received(record, Some(stats.system_calls()));
    // The kernel keeps so much for a receiver that rests and no more; what it drops is no fault of the link.
    let dropped = stats.socket.overflows;
    outcome.note =
        (dropped > 0).then(|| format!("{dropped} datagrams found no room in the receiver's socket"));
    Ok(outcome)
}

fn came(record: &mut Record, chunks: &mut Vec<Chunk>) -> Worked<()> {
    for chunk in chunks.drain(..) {
        match chunk {
            Chunk::Data { bytes, .. } => record.came(&bytes)?,
            Chunk::Gap { offset, .. } => {
                return Err(Problem::new(format!("a gap at {offset} in a reliable stream")));
            }
            // Tags are no octets.
            _ => {}
        }
    }
    Ok(())
}

fn endpoint(job: &Job) -> Worked<Endpoint> {
    let mut config = Config::server(job.any_port());
    // The kernel's TCP takes what comes while its receiver rests; a socket keeps what fits.
    config.socket.recv_buffer = SOCKET_BUFFER;
    config.wait = match job.wait {
        WaitPolicy::Block => Wait::Block,
        WaitPolicy::Spin => Wait::Spin,
        WaitPolicy::Adaptive => Wait::Adaptive,
    };
    if let Some(file) = job.options.get(option::TRACE) {
        let role = format!("{:?}", job.role).to_lowercase();
        config.trace = Some(Trace::pcap(format!("{file}.{}.{role}", job.transport))?);
    }
    Ok(Endpoint::bind(config)?)
}

fn tuning(job: &Job) -> Worked<Tuning> {
    let mut tuning = Tuning::default();
    tuning.recv_capacity = option_of(job, option::CAPACITY)?.unwrap_or(CAPACITY);
    tuning.send_capacity = tuning.recv_capacity;
    if let Some(name) = job.options.get("controller") {
        tuning.congestion = controller(name)?;
    }
    // A row that is named after a controller is of that one.
    match job.transport.as_str() {
        "xtp-cubic" => tuning.congestion = CongestionKind::Cubic,
        "xtp-fixed" => tuning.congestion = CongestionKind::Fixed,
        "xtp-gbn" => tuning.error_control = ErrorControl::GoBackN,
        "xtp-kdd" => tuning.congestion = CongestionKind::Kdd,
        "xtp-kdd-gbn" => {
            tuning.congestion = CongestionKind::Kdd;
            tuning.error_control = ErrorControl::GoBackN;
        }
        _ => {}
    }
    if let Some(rate) = option_of::<u64>(job, option::RATE)? {
        tuning.in_rate = Rate {
            octets_per_second: rate,
            // Ten packets at once: less than the smallest queue, more than a timer's grain at usual rates.
            burst: 15_000,
        };
    }
    Ok(tuning)
}
