//! Copies over loopback.

use std::fs;
use std::net::TcpListener;

use super::{send, take};
use crate::console::Console;
use crate::job::{Job, Role};
use crate::multicast::tests::job;

#[test]
fn every_receiver_gets_every_octet() {
    let name = |what: &str| {
        let file = format!("xtp-copies-{}-{what}", std::process::id());
        std::env::temp_dir().join(file).to_string_lossy().into_owned()
    };
    let octets: Vec<u8> = (0..3_000_001_u32).map(|index| (index % 251) as u8).collect();
    fs::write(name("sent"), &octets).expect("written");
    let listeners: Vec<TcpListener> = (0..3)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"))
        .collect();
    let peers = listeners
        .iter()
        .map(|listener| listener.local_addr().expect("bound"));
    let peers: Vec<String> = peers.map(|peer| peer.to_string()).collect();
    let options = [("file", name("sent")), ("peers", peers.join(","))];
    let receivers: Vec<_> = listeners
        .into_iter()
        .enumerate()
        .map(|(index, listener)| {
            let file = name(&index.to_string());
            std::thread::spawn(move || {
                let outcome = take(&listener, &file, &Console::silent());
                (
                    file,
                    outcome.map(|outcome| outcome.octets).map_err(|problem| problem.0),
                )
            })
        })
        .collect();
    let job: Job = job("tcp", Role::Client, &options);
    assert_eq!(
        send(&job).map_err(|problem| problem.0).expect("sent").octets,
        9_000_003
    );
    for receiver in receivers {
        let (file, received) = receiver.join().expect("no panic");
        assert_eq!(received.expect("received"), 3_000_001);
        assert!(fs::read(&file).expect("written") == octets, "{file}");
        fs::remove_file(file).expect("removed");
    }
    fs::remove_file(name("sent")).expect("removed");
}
