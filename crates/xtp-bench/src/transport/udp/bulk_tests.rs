//! Acknowledgements of the window, and a flow through a real socket.

use std::net::{Ipv4Addr, SocketAddr};

use xtp_io::{RecvBatch, SocketOptions, UdpSocket};

use super::{Flow, Sender, acknowledgement, parse, work};
use crate::console::{Console, Stop};
use crate::job::Job;
use crate::plan::WaitPolicy;
use crate::transport::fresh::{FRESH, HOT};

#[test]
fn acknowledgements_are_read_as_written() {
    for (octets, end) in [(0, false), (1 << 40, true), (u64::MAX, false)] {
        assert_eq!(parse(&acknowledgement(octets, end)), Some((octets, end)));
    }
    assert_eq!(parse(&[7; 8]), None);
}

fn job(transport: &str, size: u64, operations: u64) -> Job {
    let text = format!(
        r#"{{"role":"client","experiment":"bulk","transport":"{transport}","wait":"block","size":{size},"warmup":0,
        "operations":{operations},"seconds":20,"core":null,"bind":"127.0.0.1","interface":"lo"}}"#
    );
    serde_json::from_str(&text).expect("a job")
}

fn flow() -> Flow {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Flow {
        socket: UdpSocket::bind(any, &SocketOptions::default()).expect("a socket"),
        batch: RecvBatch::default(),
        wait: WaitPolicy::Block,
        stop: Stop::never(),
    }
}

/// Receives until the end and acknowledges everything; returns the octets.
fn receive(flow: &mut Flow) -> u64 {
    let mut octets = 0;
    while flow.recv(None).expect("a working socket") {
        let mut end = None;
        for datagram in &flow.batch {
            match datagram.data {
                [super::END] => end = Some(datagram.src),
                data => octets += data.len() as u64,
            }
        }
        let peer = end.or_else(|| flow.batch.iter().next().map(|datagram| datagram.src));
        let answer = acknowledgement(octets, end.is_some());
        let pieces = [std::io::IoSlice::new(&answer)];
        let train = xtp_io::SendTrain::new(peer.expect("a sender"), answer.len(), &pieces);
        flow.send(&train).expect("a working socket");
        if end.is_some() {
            break;
        }
    }
    octets
}

#[test]
fn everything_sent_arrives_whatever_the_length_of_messages() {
    let flows = [
        ("udp", 2, 1_000, HOT),
        ("udp", 1_000, 500, HOT),
        ("udp", 200_000, 20, HOT),
        ("udp-fresh", 1, 10_000, FRESH),
        ("udp-fresh", 200_000, 20, FRESH),
    ];
    for (transport, size, operations, mark) in flows {
        let mut receiver = flow();
        let mut job = job(transport, size, operations);
        job.peer = receiver.socket.local_addr().to_string();
        let receiving = std::thread::spawn(move || receive(&mut receiver));
        let mut flow = flow();
        let outcome = Sender::new(&mut flow, &job).and_then(|sender| sender.run(&job));
        let outcome = outcome.expect("a flow");
        assert_eq!(outcome.operations, operations, "{size}");
        assert_eq!(outcome.note.as_deref(), Some(mark), "{size}");
        assert_eq!(receiving.join().expect("a receiver"), size * operations);
    }
}

#[test]
fn a_client_without_a_server_address_is_a_failure() {
    let problem = work(&job("udp", 1, 1), &mut Console::silent());
    assert!(problem.is_err_and(|problem| problem.0.contains("address")));
}
