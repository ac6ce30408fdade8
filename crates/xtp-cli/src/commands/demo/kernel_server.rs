//! The receiver's side of TCP and UDP.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::arrivals::Arrivals;
use super::copy::FileWriter;
use super::kernel::{Tcp, patiently};
use super::paradigms::{Job, MESSAGES, PARADIGMS, WORK_MS};

/// Largest UDP datagram.
const LARGEST: usize = 65_507;

/// Serves TCP in a thread; returns where.
///
/// # Errors
/// As the system says.
pub(super) fn serve_tcp(arrivals: &Arrivals, directory: &Path) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let place = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let (arrivals, directory) = (arrivals.clone(), directory.to_owned());
    thread::Builder::new().name("tcp".into()).spawn(move || {
        loop {
            let accepted = patiently(|| listener.accept(), |on| listener.set_nonblocking(on));
            let served = accepted.and_then(|(stream, _)| tcp_job(&Tcp::new(stream)?, &arrivals, &directory));
            if served.is_err() {
                arrivals.damaged();
            }
        }
    })?;
    Ok(place)
}

fn tcp_job(tcp: &Tcp, arrivals: &Arrivals, directory: &Path) -> io::Result<()> {
    let mut code = [0];
    tcp.read_exact(&mut code)?;
    let job = Job::from_code(code[0]).ok_or_else(|| io::Error::other("an unknown job"))?;
    match job {
        Job::File => return tcp_file(tcp, arrivals, directory.join("tcp.copy")),
        Job::Messages => {
            let size = size_of(job);
            let mut message = vec![0; size];
            for _ in 0..MESSAGES {
                tcp.read_exact(&mut message)?;
                tcp.write_all(&message)?;
            }
            check_end(&tcp.read_rest()?)?;
            arrivals.arrived(&message, size);
        }
        _ => {
            let octets = tcp.read_rest()?;
            match job {
                Job::Slow => thread::sleep(Duration::from_millis(WORK_MS)),
                Job::OneWay | Job::Confirmed => return take(arrivals, &octets),
                _ => {}
            }
            tcp.write_all(&octets)?;
            take(arrivals, &octets)?;
        }
    }
    Ok(())
}

fn take(arrivals: &Arrivals, octets: &[u8]) -> io::Result<()> {
    arrivals.arrived(octets, octets.len());
    Ok(())
}

fn check_end(rest: &[u8]) -> io::Result<()> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(io::Error::other("octets behind the last message"))
    }
}

fn tcp_file(tcp: &Tcp, arrivals: &Arrivals, path: PathBuf) -> io::Result<()> {
    let mut writer = FileWriter::create(path)?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match tcp.read(&mut buffer)? {
            0 => break,
            count => writer.write(&buffer[..count])?,
        }
    }
    tcp.write_all(&writer.finish()?)?;
    arrivals.file();
    Ok(())
}

/// Messages of a TCP job have no length of their own.
fn size_of(job: Job) -> usize {
    PARADIGMS
        .iter()
        .find(|paradigm| paradigm.tcp == Some(job))
        .map_or(0, |paradigm| paradigm.size)
}

/// Serves UDP in a thread; returns where.
///
/// # Errors
/// As the system says.
pub(super) fn serve_udp(arrivals: &Arrivals) -> io::Result<SocketAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let place = socket.local_addr()?;
    socket.set_nonblocking(true)?;
    let arrivals = arrivals.clone();
    thread::Builder::new().name("udp".into()).spawn(move || {
        let mut buffer = vec![0; LARGEST];
        let mut burst = 0;
        loop {
            if udp_job(&socket, &arrivals, &mut buffer, &mut burst).is_err() {
                arrivals.damaged();
            }
        }
    })?;
    Ok(place)
}

fn udp_job(socket: &UdpSocket, arrivals: &Arrivals, buffer: &mut [u8], burst: &mut usize) -> io::Result<()> {
    let (length, peer) = patiently(|| socket.recv_from(buffer), |on| socket.set_nonblocking(on))?;
    let (code, octets) = buffer
        .get(..length)
        .and_then(<[u8]>::split_first)
        .ok_or_else(|| io::Error::other("an empty datagram"))?;
    let answer = |octets: &[u8]| patiently(|| socket.send_to(octets, peer), |on| socket.set_nonblocking(on));
    match Job::from_code(*code) {
        Some(Job::OneWay) => {}
        Some(Job::Confirmed) => drop(answer(&[1])?),
        Some(Job::Transaction) => drop(answer(octets)?),
        Some(Job::Slow) => {
            thread::sleep(Duration::from_millis(WORK_MS));
            answer(octets)?;
        }
        Some(Job::Burst) => {
            *burst += 1;
            if !burst.is_multiple_of(MESSAGES) {
                return Ok(());
            }
            answer(&[1])?;
        }
        _ => return Err(io::Error::other("an unknown job")),
    }
    arrivals.arrived(octets, octets.len());
    Ok(())
}
