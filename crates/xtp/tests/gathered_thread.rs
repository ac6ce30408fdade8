//! Short writes that come quickly share packets, for which there is a thread while somebody needs it. One test: it looks at the threads of
//! its process.

#[path = "common/begun.rs"]
mod begun;
mod common;
#[path = "common/flusher.rs"]
mod flusher;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use begun::read_all;
use common::{endpoint, pattern};
use flusher::has_flusher;
use xtp::{Config, Endpoint, Stream};

/// Writes are quick only while their thread keeps its core: where others have the cores all the time, in one of so many runs.
const TRIES: usize = 10;

/// As `std::io::Write` does.
fn write(stream: &Stream, octets: &[u8]) {
    (&mut &*stream).write_all(octets).expect("room");
}

/// As memory of its own.
fn send(stream: &Stream, octets: &[u8]) {
    stream.send(octets.to_vec()).expect("room");
}

/// Whether there is a thread for what is gathered: it stays until its endpoint ends, but gives itself its name, for which it needs
/// a core that others may have for a while.
fn has_flusher_soon() -> bool {
    let patience = Instant::now() + Duration::from_secs(1);
    while !has_flusher() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(1));
    }
    has_flusher()
}

/// Hands over `data` in pieces of `size`, to a reader in a thread of its own; packets sent, and whether there was a thread for what
/// is gathered. There is none unless it is `wanted`.
fn packets(
    gather: bool,
    wanted: bool,
    data: &[u8],
    size: usize,
    put: impl Fn(&Stream, &[u8]),
) -> (u64, bool) {
    let server = endpoint();
    let mut config = Config::client();
    config.gather_writes = gather;
    let client = Endpoint::bind(config).expect("a socket");
    let (stream, far) = begun::stream(&server, &client);
    let before = client.stats().packets_sent();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            read_all(&far, data);
            // It is there until the writer knows that everything came.
            assert_eq!((&far).read(&mut [0]).expect("the end"), 0);
        });
        for piece in data.chunks(size) {
            put(&stream, piece);
        }
        stream.flush_acknowledged().expect("it has all");
        stream.shutdown_write().expect("open");
    });
    let sent = client.stats().packets_sent() - before;
    if !wanted {
        assert!(!has_flusher(), "{size}");
    }
    (sent, wanted && has_flusher_soon())
}

#[test]
fn short_writes_share_packets_unless_told_otherwise() {
    let data = pattern(4 << 20);
    let writes = |size| data.len().div_ceil(size) as u64;

    // How many packets there are says little: those that wait for the window share packets at all times. Without the thread nothing
    // is gathered.
    for put in [write, send] {
        println!("{} packets", packets(false, false, &data, 1_024, put).0);
    }
    let prompt = |stream: &Stream, octets: &[u8]| {
        if !stream.tuning().nodelay().expect("open") {
            stream.tuning().set_nodelay(true).expect("open");
        }
        write(stream, octets);
    };
    packets(true, false, &data, 1_024, prompt);

    for size in [16, 1_024, 8_192] {
        for put in [write, send] {
            // A tenth of it, and more where others take the core for a while: then some writes leave alone.
            let most = writes(size) / 4 + 32 * 4;
            let gathers = (0..TRIES).any(|_| {
                let (packets, held) = packets(true, true, &data, size, put);
                println!("{size}: {} writes, {packets} packets", writes(size));
                held && packets < most
            });
            assert!(
                gathers,
                "{size}: more than {most} packets, or nobody sends what is left"
            );
        }
    }
    assert!(!has_flusher(), "it ends with its endpoint");

    // These fill packets by themselves.
    for (size, put) in [(48 << 10, write as fn(&Stream, &[u8])), (20 << 10, send)] {
        packets(true, false, &data, size, put);
    }
}
