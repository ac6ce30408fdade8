//! Payload lent to the kernel arrives as it was written, and its memory comes back when it is acknowledged.

mod common;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use common::{LONG, PORT, pattern};
use xtp::{Bytes, Chunk, Config, Confirm, Driver, Endpoint, FrameBuffer, FrameBytes, Wait, paradigm};
use xtp_link::relay::{Relay, RelayConfig, RelayHandle};
use xtp_link::{LinkConfig, Loss};

/// Memory that tells whether somebody still has it.
struct Memory {
    octets: Vec<u8>,
    #[expect(dead_code, reason = "counts owners")]
    owner: Arc<()>,
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.octets
    }
}

fn endpoint(lend: bool) -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.fresh_start = true;
    config.socket.lend = lend;
    Endpoint::bind(config).expect("a socket")
}

/// A relay to `server` with such links, if there are any, and where to send to.
fn behind(link: Option<LinkConfig>, server: &Endpoint) -> (Option<RelayHandle>, SocketAddr) {
    let relay = link.map(|link| {
        let mut config = RelayConfig::new(server.local_addr()).with_links(link);
        config.seed = 7;
        Relay::spawn(config).expect("a relay")
    });
    let peer = relay.as_ref().map_or(server.local_addr(), |relay| relay.addr());
    (relay, peer)
}

/// Sends what `sizes` say to an endpoint behind `link`; returns the datagrams that were lent.
fn transfer(lend: bool, sizes: &[usize], link: Option<LinkConfig>) -> u64 {
    let (client, server) = (endpoint(lend), endpoint(false));
    let _drivers: [Driver; 2] = [&client, &server].map(|end| end.spawn_driver().expect("a thread"));
    let listener = server.listen_streams(PORT).expect("a free number");
    let (relay, peer) = behind(link, &server);
    let memories: Vec<_> = (0..)
        .zip(sizes)
        .map(|(seed, &size)| {
            let mut octets = pattern(size);
            octets.rotate_left(seed);
            octets
        })
        .collect();
    let owner = Arc::new(());
    thread::scope(|scope| {
        scope.spawn(|| {
            let stream = listener
                .accept_timeout(LONG)
                .expect("an association")
                .into_stream();
            let mut arrived = Vec::new();
            while let Some(chunk) = stream.recv_chunk().expect("an open association") {
                if let Chunk::Data { bytes, .. } = chunk {
                    arrived.extend_from_slice(&bytes);
                }
            }
            assert!(arrived == memories.concat(), "other octets arrived");
        });
        let stream = client.open(peer, paradigm::stream(PORT)).expect("opened");
        for octets in &memories {
            let (octets, owner) = (octets.clone(), owner.clone());
            let bytes = Bytes::from_owner(Memory { octets, owner });
            stream.send(bytes).expect("room");
        }
        stream.confirm(Confirm::Delivered).expect("delivered");
        stream.close().expect("closed");
    });
    let lent = client.stats().socket.lent;
    drop(client);
    if let Some(relay) = relay {
        let stats = relay.stop();
        assert!(
            stats.to_server.dropped.loss > 0,
            "the relay lost nothing: {stats:?}"
        );
    }
    assert_eq!(Arc::strong_count(&owner), 1, "acknowledged memory is kept");
    lent
}

/// Whether this kernel lends.
fn works() -> bool {
    transfer(true, &[16 << 20], None) > 0
}

/// Sizes that begin pages anywhere, some too short to be lent.
fn sizes(count: usize) -> Vec<usize> {
    (0..count)
        .map(|number| 1 + number * number * 7_919 % 300_000)
        .collect()
}

#[test]
fn what_is_lent_arrives() {
    let lent = transfer(true, &sizes(100), None);
    assert_eq!(lent > 0, works());
}

#[test]
fn nothing_is_lent_unless_wished() {
    assert_eq!(transfer(false, &sizes(10), None), 0);
}

#[test]
fn what_is_lent_and_lost_arrives_too() {
    let link = LinkConfig {
        loss: Loss::Random(0.05),
        duplicate: 0.02,
        reorder: 0.1,
        reorder_delay: std::time::Duration::from_millis(2),
        ..LinkConfig::default()
    };
    // A transfer whose search for the datagram size met the losses goes in short ones, which nobody lends.
    let lends = (0..10).any(|_| transfer(true, &sizes(60), Some(link.clone())) > 0);
    assert_eq!(lends, works());
}

/// Octets of a message in frames, and how many of them take turns.
const MESSAGE: usize = 700_000;
const TURNS: usize = 12;

/// What message number `number` says.
fn message(number: usize) -> Vec<u8> {
    let mut octets = pattern(MESSAGE);
    octets.rotate_left(number);
    octets
}

/// Sends frames to an endpoint behind `link`, `count` messages from memory that takes turns, filled anew each time or sent
/// again as it is; returns how many datagrams were lent.
fn transfer_frames(count: usize, anew: bool, link: Option<LinkConfig>) -> u64 {
    let server = endpoint(false);
    let mut config = Config::client();
    config.wait = Wait::Spin;
    let client = Endpoint::bind(config).expect("a socket");
    let listener = server.listen_streams(PORT).expect("a free number");
    let (relay, peer) = behind(link, &server);
    let said = |number: usize| message(if anew { number } else { number % TURNS });
    thread::scope(|scope| {
        scope.spawn(|| {
            let stream = listener
                .accept_timeout(LONG)
                .expect("an association")
                .into_stream();
            let (mut came, mut number, mut chunks) = (Vec::new(), 0, Vec::new());
            while stream
                .recv_trains(&mut chunks, 1 << 20)
                .expect("an open association")
                > 0
            {
                for chunk in chunks.drain(..) {
                    match chunk {
                        Chunk::Data { bytes, .. } => came.extend_from_slice(&bytes),
                        Chunk::Train { octets, .. } => {
                            octets.parts().for_each(|part| came.extend_from_slice(part));
                        }
                        other => panic!("{other:?}"),
                    }
                }
                while came.len() >= MESSAGE {
                    assert!(came[..MESSAGE] == said(number), "message {number}");
                    came.drain(..MESSAGE);
                    number += 1;
                }
            }
            assert_eq!((number, came.len()), (count, 0));
        });
        let stream = client.open(peer, paradigm::stream(PORT)).expect("opened");
        let fill = |mut buffer: FrameBuffer, number| {
            buffer.write_all(&said(number)).expect("room");
            buffer.freeze()
        };
        // The path is explored before memory is laid out for it.
        stream.send(Bytes::from(message(0))).expect("room");
        stream.confirm(Confirm::Delivered).expect("delivered");
        let mut memories: Vec<Option<FrameBytes>> = vec![None; TURNS];
        for number in 1..count {
            let memory = &mut memories[number % TURNS];
            let fresh = || stream.frame_buffer(MESSAGE).expect("open");
            let data = match memory.take() {
                None => fill(fresh(), number),
                Some(data) if anew => fill(data.reclaim().unwrap_or_else(|_| fresh()), number),
                Some(data) => data,
            };
            stream.send_frames(&data).expect("room");
            *memory = Some(data);
        }
        stream.confirm(Confirm::Delivered).expect("delivered");
        stream.close().expect("closed");
    });
    if let Some(relay) = relay {
        relay.stop();
    }
    client.stats().socket.lent
}

#[test]
fn frames_are_lent_and_arrive_as_often_as_they_are_sent() {
    for anew in [false, true] {
        let lent = transfer_frames(120, anew, None);
        assert_eq!(lent > 0, works(), "filled anew: {anew}");
    }
}

#[test]
fn frames_that_are_lent_and_lost_or_late_arrive_too() {
    let link = || LinkConfig {
        loss: Loss::Random(0.01),
        duplicate: 0.02,
        reorder: 0.02,
        reorder_delay: std::time::Duration::from_millis(1),
        ..LinkConfig::default()
    };
    for anew in [false, true] {
        let lent = transfer_frames(120, anew, Some(link()));
        assert_eq!(lent > 0, works(), "filled anew: {anew}");
    }
}
