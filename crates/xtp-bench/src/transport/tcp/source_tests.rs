//! Every way brings what it is to bring.

use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use super::{Source, memory};
use crate::console::Stop;
use crate::plan::WaitPolicy;
use crate::transport::fresh::is_fresh;
use crate::transport::sockets::prepare;
use crate::transport::waiting::Waiter;

/// What arrives of three messages of `size` octets.
fn brought(transport: &str, size: u64, policy: WaitPolicy) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = thread::spawn(move || {
        let mut came = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut came).unwrap();
        came
    });
    let mut waiter = Waiter::new(policy, Stop::never());
    let mut source = Source::of(transport, size).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    source.prepare(&stream).unwrap();
    prepare(&stream, &mut waiter).unwrap();
    assert_eq!(source.is_hot(), !is_fresh(transport), "{transport}");
    for _ in 0..3 {
        source.send(&mut stream, &mut waiter).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    receiver.join().unwrap()
}

#[test]
fn all_ways_bring_the_same_octets() {
    // More than a pipe and a socket hold, and no multiple of a page.
    let size = (5 << 20) + 1;
    let expected = &memory()[..3 * size];
    for way in ["tcp-fresh", "tcp-sendfile", "tcp-splice", "tcp-zerocopy"] {
        for policy in [WaitPolicy::Block, WaitPolicy::Adaptive] {
            let came = brought(way, size as u64, policy);
            assert!(came == expected, "{way} {policy:?}: {} octets", came.len());
        }
    }
    assert_eq!(brought("tcp", 1_000, WaitPolicy::Block), [7; 3_000]);
}
