//! Streams of small writes to a reader that does not look for a while: nothing is thrown away, so nothing is sent again.

#[path = "common/begun.rs"]
mod begun;
mod common;

use std::io::{Read, Write};

use begun::read_all;
use common::{endpoint, pattern};

/// Octets of each stream.
const TOTAL: usize = 6 << 20;

#[test]
fn what_a_resting_reader_does_not_take_waits_for_it() {
    let data = pattern(TOTAL);
    for size in [16, 64, 256, 1_024, 2_048, 4_096, 8_192] {
        let (server, client) = (endpoint(), endpoint());
        let granted = server.capabilities().recv_buffer;
        assert!(granted >= 4 << 20, "a socket of this host holds {granted} octets");
        let (stream, far) = begun::stream(&server, &client);

        // Nobody looks at the server's socket meanwhile.
        let mut written = 0;
        for piece in data.chunks(size) {
            match stream.try_write(piece) {
                Ok(taken) if taken < piece.len() => {
                    written += taken;
                    break;
                }
                Ok(taken) => written += taken,
                Err(xtp::Error::WouldBlock) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(written >= 3 << 20, "{size}: {written} octets were taken");
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                read_all(&far, &data);
                // It is there until the writer knows that everything came.
                assert_eq!((&far).read(&mut [0]).expect("the end"), 0);
            });
            for piece in data[written..].chunks(size) {
                (&stream).write_all(piece).expect("room");
            }
            stream.flush_acknowledged().expect("it has all");
            stream.shutdown_write().expect("open");
            reading.join().expect("no panic");
        });
        let lost = server.stats().socket.overflows;
        let stats = stream.stats().expect("it lives");
        println!("{size}: {} packets", client.stats().packets_sent());
        assert_eq!(
            (lost, stats.packets_lost),
            (0, 0),
            "{size}: thrown away, taken for lost"
        );
        // Whoever waits in vain for an answer asks once more, with the last packet: where others have the cores, again.
        let asked = stats.wtimer_expiries.max(1);
        let most = asked * u64::from(stats.max_data);
        assert!(stats.octets_retransmitted <= most, "{size}: {stats:?}");
    }
}
