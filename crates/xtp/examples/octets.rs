//! Octets by `write` and `read`, beside TCP's and beside the least that UDP could cost: trains that are copied once before they are
//! sent and once after they came.
//!
//! In one terminal `cargo run --release -p xtp-transport --example octets -- receive xtp`, in another the same with `send`; `tcp` and `udp`
//! instead of `xtp` are what it is held against. Behind that, each with a default: the receiver's address, octets of a call,
//! mebibytes in all, `block` for who should sleep rather than poll, and octets of a receiver's call if these are others. Both walk
//! through more memory than caches hold.

use std::hint::black_box;
use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use xtp::{Config, Endpoint, Wait, paradigm};
use xtp_io::{Interest, RecvBatch, SendOutcome, SendTrain, SocketOptions, UdpSocket};

const SERVICE: u16 = 100;
const MEMORY: usize = 64 << 20;
/// Octets of a train of UDP's, of a datagram where they are short, what is under way at most and how much is acknowledged at once.
const TRAIN: usize = 44 * SHORT;
const SHORT: usize = 1_472;
const WINDOW: u64 = 1 << 20;
const ACKNOWLEDGED: u64 = WINDOW / 8;
const LOST: Duration = Duration::from_millis(100);

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// What one end does.
struct Job {
    address: SocketAddr,
    octets: usize,
    /// Of a call of the receiver.
    read: usize,
    total: u64,
    wait: Wait,
}

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map(String::as_str);
    let job = Job {
        address: word(2).unwrap_or("127.0.0.1:36199").parse()?,
        octets: octets(word(3))?,
        read: octets(word(6).or(word(3)))?,
        total: word(4).unwrap_or("4096").parse::<u64>()? << 20,
        wait: if word(5) == Some("block") {
            Wait::Block
        } else {
            Wait::default()
        },
    };
    match (word(0), word(1)) {
        (Some("receive"), Some("xtp")) => receive_xtp(&job),
        (Some("receive"), Some("tcp")) => receive_tcp(&job),
        (Some("receive"), Some("udp")) => receive_udp(&job),
        (Some("send"), Some("xtp")) => send_xtp(&job),
        (Some("send"), Some("tcp")) => send_tcp(&job),
        (Some("send"), Some("udp")) => send_udp(&job),
        _ => Err(
            "octets receive|send xtp|tcp|udp [ADDRESS [OCTETS [MEBIBYTES [block|adaptive [READ]]]]]".into(),
        ),
    }
}

/// Octets of a call.
fn octets(word: Option<&str>) -> Outcome<usize> {
    Ok(word.unwrap_or("262144").parse::<usize>()?.clamp(1, MEMORY))
}

/// Memory that a program goes through from one end to the other, and again.
struct Walk {
    memory: Vec<u8>,
    at: usize,
}

impl Walk {
    fn new() -> Self {
        Self {
            memory: vec![7; MEMORY],
            at: 0,
        }
    }

    fn next(&mut self, octets: usize) -> &mut [u8] {
        if self.at + octets > MEMORY {
            self.at = 0;
        }
        let start = self.at;
        self.at += octets;
        &mut self.memory[start..self.at]
    }
}

fn look_at(octets: &[u8]) {
    let words = octets.as_chunks::<8>().0.iter();
    black_box(words.fold(0_u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word))));
}

fn tell(begin: Instant, octets: u64) {
    let seconds = begin.elapsed().as_secs_f64();
    println!("{:.2} Gbit/s", octets as f64 * 8.0 / seconds / 1e9);
}

/// Reads until the end.
fn read(job: &Job, mut walk: Walk, mut reader: impl Read) -> Outcome {
    let (mut total, mut begin) = (0, None);
    loop {
        let room = walk.next(job.read);
        let octets = reader.read(room)?;
        if octets == 0 {
            break;
        }
        look_at(&room[..octets]);
        total += octets as u64;
        begin.get_or_insert_with(Instant::now);
    }
    begin.into_iter().for_each(|begin| tell(begin, total));
    Ok(())
}

fn write(job: &Job, mut walk: Walk, mut writer: impl Write) -> Outcome {
    let mut left = job.total;
    while left > 0 {
        writer.write_all(walk.next(job.octets))?;
        left = left.saturating_sub(job.octets as u64);
    }
    Ok(())
}

fn endpoint(job: &Job, address: SocketAddr) -> Outcome<Endpoint> {
    let mut config = Config::server(address);
    config.wait = job.wait;
    Ok(Endpoint::bind(config)?)
}

fn receive_xtp(job: &Job) -> Outcome {
    let endpoint = endpoint(job, job.address)?;
    let listener = endpoint.listen_streams(SERVICE)?;
    let walk = Walk::new();
    let stream = listener.accept()?.into_stream();
    read(job, walk, &stream)?;
    println!("{:?} {:?}", endpoint.stats().socket, stream.stats()?);
    Ok(stream.close()?)
}

fn send_xtp(job: &Job) -> Outcome {
    let endpoint = endpoint(job, SocketAddr::new(local(job), 0))?;
    let stream = endpoint.open(job.address, paradigm::stream(SERVICE))?;
    write(job, Walk::new(), &stream)?;
    stream.confirm(xtp::Confirm::Delivered)?;
    println!("{:?} {:?}", endpoint.stats().socket, stream.stats()?);
    Ok(stream.close()?)
}

/// Any address of the family.
fn local(job: &Job) -> std::net::IpAddr {
    match job.address.is_ipv4() {
        true => std::net::Ipv4Addr::UNSPECIFIED.into(),
        false => std::net::Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn receive_tcp(job: &Job) -> Outcome {
    let listener = TcpListener::bind(job.address)?;
    let walk = Walk::new();
    read(job, walk, listener.accept()?.0)
}

fn send_tcp(job: &Job) -> Outcome {
    let walk = Walk::new();
    let stream = TcpStream::connect(job.address)?;
    stream.set_nodelay(true)?;
    write(job, walk, stream)
}

/// Something that came, if it came in time.
fn wait_for(socket: &UdpSocket, batch: &mut RecvBatch, longest: Duration) -> io::Result<bool> {
    let begin = Instant::now();
    while socket.recv(batch)? == 0 {
        if begin.elapsed() > longest {
            return Ok(false);
        }
        if begin.elapsed() > Duration::from_micros(50) {
            socket.wait(Some(longest), Interest::READABLE)?;
        }
    }
    Ok(true)
}

/// Sends a train, also if the kernel has no room for all of it at first.
fn send(socket: &UdpSocket, to: SocketAddr, segment: usize, octets: &[u8]) -> io::Result<()> {
    let (pieces, mut first) = ([IoSlice::new(octets)], 0);
    while let SendOutcome::WouldBlock { sent, .. } =
        socket.send_from(&SendTrain::new(to, segment, &pieces), first)?
    {
        first = sent;
        socket.wait(None, Interest::WRITABLE)?;
    }
    Ok(())
}

fn receive_udp(job: &Job) -> Outcome {
    let socket = UdpSocket::bind(job.address, &SocketOptions::default())?;
    let (mut batch, mut walk) = (RecvBatch::default(), Walk::new());
    let (mut total, mut told, mut begin) = (0_u64, 0, None);
    while wait_for(
        &socket,
        &mut batch,
        Duration::from_secs(2 + 8 * u64::from(begin.is_none())),
    )? {
        let mut peer = None;
        let mut datagrams = batch.iter();
        while let Some(datagram) = datagrams.next() {
            if datagram.data.len() == 1 {
                begin.into_iter().for_each(|begin| tell(begin, total));
                return Ok(());
            }
            let room = walk.next(datagram.joined.len());
            room.copy_from_slice(datagram.joined);
            look_at(room);
            datagrams.skip_joined(datagram.joined.len().div_ceil(datagram.data.len()) - 1);
            total += datagram.joined.len() as u64;
            peer = Some(datagram.src);
        }
        begin.get_or_insert_with(Instant::now);
        if let Some(peer) = peer.filter(|_| total - told >= ACKNOWLEDGED) {
            told = total;
            send(&socket, peer, 8, &total.to_be_bytes())?;
        }
    }
    Err("the end was lost".into())
}

fn send_udp(job: &Job) -> Outcome {
    let socket = UdpSocket::bind(SocketAddr::new(local(job), 0), &SocketOptions::default())?;
    let (mut batch, mut walk) = (RecvBatch::default(), Walk::new());
    let mut memory = vec![0; 64 * TRAIN];
    let segment = if job.address.ip().is_loopback() {
        TRAIN
    } else {
        SHORT
    };
    let (mut sent, mut acknowledged, mut lost) = (0, 0, 0_u64);
    for turn in 0.. {
        if sent >= job.total {
            break;
        }
        let train = &mut memory[turn % 64 * TRAIN..][..TRAIN];
        train.copy_from_slice(walk.next(TRAIN));
        while sent + TRAIN as u64 > acknowledged + WINDOW {
            if wait_for(&socket, &mut batch, LOST)? {
                for datagram in &batch {
                    let told = datagram.data.try_into().map_or(0, u64::from_be_bytes);
                    acknowledged = acknowledged.max(told + lost);
                }
            } else {
                lost += sent - acknowledged;
                acknowledged = sent;
            }
        }
        send(&socket, job.address, segment, train)?;
        sent += TRAIN as u64;
    }
    for _ in 0..20 {
        send(&socket, job.address, 1, &[0])?;
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("{lost} octets were lost");
    Ok(())
}
