//! Frames lent to the kernel arrive as they were written.

mod common;

use std::io::Write;
use std::net::SocketAddr;
use std::thread;

use common::{LONG, PORT, pattern};
use xtp::{Bytes, Chunk, Config, Confirm, Endpoint, FrameBuffer, FrameBytes, Wait, paradigm};
use xtp_io::{EcnCodepoint, SocketOptions, UdpSocket};
use xtp_link::relay::{Relay, RelayConfig, RelayHandle};
use xtp_link::{LinkConfig, Loss};

fn endpoint() -> Endpoint {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.fresh_start = true;
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

/// Whether this kernel lends.
fn works() -> bool {
    let options = SocketOptions::default();
    let [ours, peer] = [(); 2].map(|()| {
        let any = "127.0.0.1:0".parse().expect("an address");
        UdpSocket::bind(any, &options).expect("a socket")
    });
    let (there, train) = (peer.local_addr(), [0; 40_000]);
    ours.shortcut(there).is_ok_and(|mut shortcut| {
        ours.lend_by(&mut shortcut, there, None, EcnCodepoint::NotEct, &train, 1_472)
    })
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
    let server = endpoint();
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
                .tuning()
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
            let fresh = || stream.tuning().frame_buffer(MESSAGE).expect("open");
            let data = match memory.take() {
                None => fill(fresh(), number),
                Some(data) if anew => fill(data.reclaim().unwrap_or_else(|_| fresh()), number),
                Some(data) => data,
            };
            stream.tuning().send_frames(&data).expect("room");
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
