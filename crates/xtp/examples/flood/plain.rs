//! The floor: a flood beside bare UDP. A server that gives back what is marked and throws everything else away unread is what
//! any server has to be at least, on this machine.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket as System};
use std::time::{Duration, Instant};

use xtp_io::{EcnCodepoint, RecvBatch, SocketOptions, UdpSocket};

use crate::Outcome;

/// What is given back begins with it.
const MARK: &[u8; 8] = b"an echo!";
/// As long as the packet of a short request.
const OCTETS: usize = 156;
/// When the question is repeated.
const REPEAT: Duration = Duration::from_millis(200);
/// When it is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Receives in batches, as an endpoint does.
pub(crate) fn serve(address: SocketAddr) -> Outcome {
    let socket = UdpSocket::bind(address, &SocketOptions::default())?;
    println!("{}", socket.local_addr());
    let mut batch = RecvBatch::default();
    loop {
        socket.recv_asleep(&mut batch)?;
        for datagram in batch.iter().filter(|datagram| datagram.data.starts_with(MARK)) {
            socket.send_one(datagram.src, datagram.dst, EcnCodepoint::NotEct, datagram.data);
        }
    }
}

/// A question and its answer, from a socket of their own; how long that took.
pub(crate) fn once(server: SocketAddr) -> Result<Duration, Box<dyn std::error::Error>> {
    let socket = System::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(REPEAT))?;
    let (mut question, mut answer) = ([0; OCTETS], [0; OCTETS]);
    question[..MARK.len()].copy_from_slice(MARK);
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        socket.send(&question)?;
        if socket.recv(&mut answer).is_ok() {
            return Ok(begin.elapsed());
        }
    }
    Err("no answer".into())
}
