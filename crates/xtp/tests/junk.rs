//! Random, truncated, bit-flipped and repeated packets thrown at a live endpoint with an open transfer.
//!
//! A proxy between client and server lets an attacker see every packet and send from the client's address; other
//! sockets are strangers. Payloads are under the protocol's checksum here: an attacker rewrites that of UDP.

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use common::{LONG, PORT, pattern};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use xtp::{Bytes, Config, Endpoint, EndpointStats, ListenOptions, Stream, Wait, paradigm};
use xtp_wire::{Format, HEADER_LEN, Header, seal};

const CONTEXTS: usize = 64;
const TOMBSTONES: usize = 128;
const HALF_OPEN: usize = 16;
/// DIAGs a second of any endpoint.
const DIAGS: u64 = 100;
const STRANGERS: usize = 24;
const ROUNDS: usize = 1_500;
/// Packets the attacker remembers.
const REMEMBERED: usize = 512;

fn limited() -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.wait = Wait::Block;
    let engine = &mut config.engine;
    engine.checksum_payload = true;
    (engine.max_contexts, engine.overrides.max_half_open) = (CONTEXTS, HALF_OPEN);
    engine.overrides.max_tombstones = TOMBSTONES;
    Endpoint::bind(config).expect("loopback")
}

/// Carries packets between a client and the server, and remembers them.
struct Proxy {
    front: SocketAddr,
    /// The client's address as the server sees it.
    back: UdpSocket,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let wait = Some(Duration::from_millis(20));
    socket.set_read_timeout(wait).expect("a timeout");
    socket
}

impl Proxy {
    fn new(server: SocketAddr) -> Self {
        let (front, back) = (Arc::new(socket()), socket());
        back.connect(server).expect("loopback");
        let (seen, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let client = Arc::new(Mutex::new(None));
        let pump = |inward: bool| {
            let (front, back) = (Arc::clone(&front), back.try_clone().expect("a handle"));
            let (seen, stop, client) = (Arc::clone(&seen), Arc::clone(&stop), Arc::clone(&client));
            thread::spawn(move || {
                let mut buffer = vec![0; 65_536];
                while !stop.load(Ordering::Relaxed) {
                    let from = if inward { &*front } else { &back };
                    let Ok((length, source)) = from.recv_from(&mut buffer) else {
                        continue;
                    };
                    let packet = &buffer[..length];
                    // A full buffer loses packets, as networks do.
                    if inward {
                        *client.lock().expect("no panic") = Some(source);
                        let _ = back.send(packet);
                    } else if let Some(client) = *client.lock().expect("no panic") {
                        let _ = front.send_to(packet, client);
                    }
                    let mut seen = seen.lock().expect("no panic");
                    if seen.len() == REMEMBERED {
                        seen.swap_remove(REMEMBERED / 2);
                    }
                    seen.push(packet.to_vec());
                }
            })
        };
        let threads = vec![pump(true), pump(false)];
        let front = front.local_addr().expect("bound");
        Self {
            front,
            back,
            seen,
            stop,
            threads,
        }
    }

    fn finish(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("no panic");
        }
    }
}

/// A socket that never was anybody's peer, and what went to and fro.
struct Stranger {
    socket: UdpSocket,
    sent: usize,
    answered: usize,
    formats: Vec<Format>,
}

impl Stranger {
    fn new(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.connect(server).expect("loopback");
        socket.set_nonblocking(true).expect("a mode");
        Self {
            socket,
            sent: 0,
            answered: 0,
            formats: Vec::new(),
        }
    }

    fn send(&mut self, packet: &[u8]) {
        if self.socket.send(packet).is_ok() {
            self.sent += packet.len();
        }
        self.hear();
    }

    fn hear(&mut self) {
        let mut buffer = vec![0; 65_536];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.answered += length;
            let header = Header::parse(&buffer[..length]).expect("an endpoint sends packets");
            self.formats.push(header.format);
        }
        assert!(
            self.answered <= 3 * self.sent,
            "{} octets for {}: {:?}",
            self.answered,
            self.sent,
            self.formats
        );
    }
}

struct Attacker {
    random: ChaCha8Rng,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Attacker {
    fn below(&mut self, limit: usize) -> usize {
        self.random.next_u32() as usize % limit.max(1)
    }

    fn captured(&mut self) -> Vec<u8> {
        let at = self.random.next_u32() as usize;
        let seen = self.seen.lock().expect("no panic");
        match seen.len() {
            0 => Vec::new(),
            count => seen[at % count].clone(),
        }
    }

    /// What no receiver may take for a packet.
    fn garbage(&mut self) -> Vec<u8> {
        let mut packet = self.captured();
        match self.below(3) {
            0 => {
                packet = vec![0; self.below(1_400)];
                self.random.fill_bytes(&mut packet);
            }
            1 => packet.truncate(self.below(packet.len().min(HEADER_LEN + 40))),
            _ => {
                let at = self.below(packet.len());
                let bit = 1 << self.below(8);
                if let Some(octet) = packet.get_mut(at) {
                    *octet ^= bit;
                }
            }
        }
        packet
    }

    /// A packet in good form from somebody who does not know the key: who reads it on the way can do anything that
    /// the peer can.
    fn forgery(&mut self) -> Vec<u8> {
        let mut packet = self.captured();
        if packet.len() < HEADER_LEN {
            return packet;
        }
        packet[self.below(8)] ^= 1 + self.below(255) as u8;
        for _ in 0..self.below(4) {
            // An option, a number, anything but the length.
            let at = [8 + self.below(4), 16 + self.below(80)][self.below(2)];
            let value = self.random.next_u32() as u8;
            if let Some(octet) = packet.get_mut(at) {
                *octet = value;
            }
        }
        seal(&mut packet, []);
        packet
    }
}

/// Sends back what comes until it ends.
fn echo(stream: &Stream) {
    while let Some(message) = stream.recv_message().expect("an open association") {
        stream.send_message(message).expect("room");
    }
}

/// Exchanges messages as long as the attack goes on.
fn transfer(client: &Endpoint, server: SocketAddr, under_attack: &AtomicBool) -> usize {
    let stream = client.open(server, paradigm::stream(PORT)).expect("room");
    stream.set_read_timeout(Some(LONG));
    let mut count = 0;
    while count < 20 || under_attack.load(Ordering::Relaxed) {
        let message = Bytes::from(pattern(1 + count * 7_919 % 50_000));
        stream.send_message(message.clone()).expect("room");
        let answer = stream.recv_message().expect("an open association");
        assert!(answer.is_some_and(|answer| answer == message), "message {count}");
        count += 1;
    }
    stream.close_timeout(LONG).expect("confirmed");
    count
}

fn assert_limits(stats: &EndpointStats, running: Duration) {
    let engine = &stats.engine;
    assert!(engine.contexts <= CONTEXTS, "{engine:?}");
    // One more than the limit is what sets off the demand for cookies.
    assert!(engine.half_open <= HALF_OPEN + 1, "{engine:?}");
    assert!(engine.tombstones <= TOMBSTONES, "{engine:?}");
    let allowed = DIAGS * (running.as_secs() + 2);
    assert!(
        engine.diags_sent <= allowed,
        "more than {allowed} DIAG: {engine:?}"
    );
}

/// Attacks while a transfer runs: `attack` gets a round's number, the attacker, the client's socket and the strangers.
fn under_attack(
    attack: impl Fn(&mut Attacker, &UdpSocket, &mut [Stranger]),
) -> (EndpointStats, Vec<Stranger>) {
    let (server, client) = (limited(), limited());
    let address = server.local_addr();
    let listener = server
        .listen_with(ListenOptions::every_service(PORT))
        .expect("a free number");
    let proxy = Proxy::new(address);
    let started = Instant::now();
    let attacked = AtomicBool::new(true);
    let mut strangers: Vec<Stranger> = (0..STRANGERS).map(|_| Stranger::new(address)).collect();
    let exchanged = thread::scope(|scope| {
        scope.spawn(|| {
            let stream = listener.accept_timeout(LONG).expect("the client").into_stream();
            echo(&stream);
            stream.close_timeout(LONG).expect("confirmed");
        });
        let transferring = scope.spawn(|| transfer(&client, proxy.front, &attacked));
        let mut attacker = Attacker {
            random: ChaCha8Rng::seed_from_u64(36),
            seen: Arc::clone(&proxy.seen),
        };
        // The listener's first association must be the client's.
        while proxy.seen.lock().expect("no panic").len() < 4 {
            thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..ROUNDS {
            attack(&mut attacker, &proxy.back, &mut strangers);
            assert_limits(&server.stats(), started.elapsed());
            thread::sleep(Duration::from_micros(500));
        }
        attacked.store(false, Ordering::Relaxed);
        transferring.join().expect("an undamaged transfer")
    });
    assert!(exchanged >= 20);
    for _ in 0..20 {
        let _ = server.progress_timeout(Duration::from_millis(10));
        strangers.iter_mut().for_each(Stranger::hear);
    }
    proxy.finish();
    (server.stats(), strangers)
}

#[test]
fn garbage_gets_no_answer_but_a_few_diagnostics() {
    let (stats, strangers) = under_attack(|attacker, client, strangers| {
        for _ in 0..8 {
            let _ = client.send(&attacker.garbage());
            let who = attacker.below(STRANGERS);
            strangers[who].send(&attacker.garbage());
        }
    });
    assert!(stats.engine.bad_checksum > 1_000, "{:?}", stats.engine);
    assert!(stats.engine.malformed > 1_000, "{:?}", stats.engine);
    for stranger in &strangers {
        let other = stranger.formats.iter().find(|format| **format != Format::Diag);
        assert_eq!(other, None, "garbage was answered");
    }
}

#[test]
fn repetitions_from_elsewhere_do_no_harm() {
    let (_, strangers) = under_attack(|attacker, client, strangers| {
        let _ = client.send(&attacker.captured());
        let who = attacker.below(STRANGERS);
        strangers[who].send(&attacker.captured());
    });
    assert!(strangers.iter().any(|stranger| stranger.sent > 0));
}

#[test]
fn forgeries_of_strangers_do_no_harm() {
    let (_, strangers) = under_attack(|attacker, _, strangers| {
        for _ in 0..4 {
            let who = attacker.below(STRANGERS);
            strangers[who].send(&attacker.forgery());
        }
    });
    assert!(strangers.iter().any(|stranger| stranger.sent > 0));
}
