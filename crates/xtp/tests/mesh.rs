//! Meshes over sockets: what runtimes of parallel programs need.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use xtp::mesh::{From, LossReason, Mesh, MeshCompletion, MeshOptions, PeerNumber};
use xtp::{Bytes, Config, Endpoint, Result, Tags, Wait};

const PATIENCE: Duration = Duration::from_secs(60);

fn endpoint() -> Endpoint {
    Endpoint::bind(Config::server("127.0.0.1:0".parse().unwrap())).unwrap()
}

fn mesh(endpoint: &Endpoint) -> Mesh {
    endpoint.mesh(MeshOptions::default()).unwrap()
}

/// Waits until so many receives are over: token, and octets.
fn received(mesh: &Mesh, count: usize) -> Result<Vec<(u64, Vec<u8>)>> {
    let (mut done, mut all) = (Vec::new(), Vec::new());
    while all.len() < count {
        mesh.wait(&mut done, Some(PATIENCE))?;
        for over in done.drain(..) {
            if let MeshCompletion::Received {
                token,
                mut memory,
                outcome,
            } = over
            {
                memory.truncate(outcome.unwrap().taken as usize);
                all.push((token, memory));
            }
        }
    }
    Ok(all)
}

fn pattern(length: usize, seed: u8) -> Vec<u8> {
    (0..length)
        .map(|at| (at / 253) as u8 ^ (at as u8).wrapping_mul(5) ^ seed)
        .collect()
}

#[test]
fn all_to_all_in_every_length() {
    const RANKS: usize = 4;
    const LENGTHS: [usize; 6] = [0, 8, 1_024, 16_384, 16_385, 1_000_000];
    let endpoints: Vec<Endpoint> = (0..RANKS).map(|_| endpoint()).collect();
    let addresses: Vec<SocketAddr> = endpoints.iter().map(Endpoint::local_addr).collect();
    let ranks: Vec<_> = endpoints
        .into_iter()
        .enumerate()
        .map(|(rank, endpoint)| {
            let addresses = addresses.clone();
            thread::spawn(move || -> Result<()> {
                let mesh = mesh(&endpoint);
                let peers: Vec<PeerNumber> = addresses
                    .iter()
                    .enumerate()
                    .map(|(other, address)| {
                        if other == rank {
                            Ok(PeerNumber::OWN)
                        } else {
                            mesh.peer(address)
                        }
                    })
                    .collect::<Result<_>>()?;
                for (n, length) in LENGTHS.iter().enumerate() {
                    for (other, peer) in peers.iter().enumerate() {
                        let token = (other * LENGTHS.len() + n) as u64;
                        mesh.receive(*peer, Tags::exact(n as u64), vec![0; *length], token)?;
                    }
                }
                for (n, length) in LENGTHS.iter().enumerate() {
                    for peer in &peers {
                        mesh.send(*peer, n as u64, 7, pattern(*length, rank as u8), 0)?;
                    }
                }
                // Sends and receives alike are over before it leaves.
                let (mut over, mut done) = (0, Vec::new());
                while over < 2 * RANKS * LENGTHS.len() {
                    mesh.wait(&mut done, Some(PATIENCE))?;
                    for one in done.drain(..) {
                        over += usize::from(!matches!(one, MeshCompletion::Lost { .. }));
                        match one {
                            MeshCompletion::Received {
                                token,
                                memory,
                                outcome,
                            } => {
                                let (other, n) =
                                    (token as usize / LENGTHS.len(), token as usize % LENGTHS.len());
                                assert_eq!(outcome.unwrap().taken, LENGTHS[n] as u64);
                                assert!(
                                    memory == pattern(LENGTHS[n], other as u8),
                                    "rank {rank} from {other}, {n}"
                                );
                            }
                            MeshCompletion::Sent { outcome, .. } => outcome.unwrap(),
                            // Another one that is through.
                            MeshCompletion::Lost { reason, .. } => assert_eq!(reason, LossReason::Left),
                        }
                    }
                }
                mesh.leave(Some(PATIENCE))
            })
        })
        .collect();
    for rank in ranks {
        rank.join().unwrap().unwrap();
    }
}

#[test]
fn a_small_wanted_message_passes_a_big_unwanted_one() {
    let (one, two) = (endpoint(), endpoint());
    let (sender, receiver) = (mesh(&one), mesh(&two));
    let driver = one.spawn_driver().unwrap();
    let peer = sender.peer(two.local_addr()).unwrap();
    sender.send(peer, 1, 0, pattern(20 << 20, 1), 1).unwrap();
    sender.send(peer, 2, 9, "small", 2).unwrap();
    receiver
        .receive(From::Any, Tags::exact(2), vec![0; 100], 5)
        .unwrap();
    assert_eq!(received(&receiver, 1).unwrap(), [(5, b"small".to_vec())]);
    let label = receiver.peek(From::Any, Tags::exact(1)).unwrap().unwrap();
    assert_eq!((label.length, receiver.unexpected()), (20 << 20, (1, 0)));
    let (claim, _) = receiver.claim(From::Any, Tags::Any).unwrap();
    assert!(receiver.peek(From::Any, Tags::Any).unwrap().is_none());
    receiver.receive_claimed(claim, vec![0; 20 << 20], 6).unwrap();
    assert!(received(&receiver, 1).unwrap()[0].1 == pattern(20 << 20, 1));
    drop(driver);
}

#[test]
fn polling_without_waiting_is_enough() {
    let (one, two) = (endpoint(), endpoint());
    let there = two.local_addr();
    let answering = thread::spawn(move || -> Result<()> {
        let mesh = mesh(&two);
        let mut done = Vec::new();
        for n in 0..500 {
            mesh.receive(From::Any, Tags::Any, vec![0; 8], n)?;
            let placed = loop {
                mesh.poll(&mut done)?;
                let over = done.drain(..).find_map(|over| match over {
                    MeshCompletion::Received { outcome, .. } => Some(outcome.unwrap()),
                    _ => None,
                });
                if let Some(placed) = over {
                    break placed;
                }
            };
            mesh.send(placed.label.peer, 1, placed.label.word, "pong", n)?;
        }
        mesh.leave(Some(PATIENCE))
    });
    // What leaves at the other end is confirmed by this one.
    let _driver = one.spawn_driver().unwrap();
    let mesh = mesh(&one);
    let peer = mesh.peer(there).unwrap();
    for n in 0..500_u64 {
        mesh.receive(peer, Tags::exact(1), vec![0; 8], n).unwrap();
        mesh.send(peer, 0, n, "ping", 1_000 + n).unwrap();
        assert_eq!(received(&mesh, 1).unwrap(), [(n, b"pong".to_vec())]);
    }
    answering.join().unwrap().unwrap();
}

#[test]
fn one_that_is_not_there_yet_gets_everything_when_it_is() {
    let place = endpoint();
    let there = place.local_addr();
    drop(place);
    let one = endpoint();
    let sender = mesh(&one);
    let driver = one.spawn_driver().unwrap();
    let peer = sender.peer(there).unwrap();
    for n in 0..100_u64 {
        sender.send(peer, 0, n, n.to_be_bytes().to_vec(), n).unwrap();
    }
    thread::sleep(Duration::from_millis(300));
    let two = Endpoint::bind(Config::server(there)).unwrap();
    let receiver = mesh(&two);
    for n in 0..100 {
        receiver.receive(From::Any, Tags::Any, vec![0; 8], n).unwrap();
    }
    let expected: Vec<_> = (0..100_u64).map(|n| (n, n.to_be_bytes().to_vec())).collect();
    assert_eq!(received(&receiver, 100).unwrap(), expected);
    drop(driver);
}

#[test]
fn peers_that_leave_are_told_of_and_what_they_said_is_kept() {
    let (one, two) = (endpoint(), endpoint());
    let receiver = mesh(&two);
    let sender = mesh(&one);
    let driver = two.spawn_driver().unwrap();
    let peer = sender.peer(two.local_addr()).unwrap();
    for n in 0..10_u64 {
        sender.send(peer, 0, n, Bytes::from_static(b"said"), n).unwrap();
    }
    sender.leave(Some(PATIENCE)).unwrap();
    let mut done = Vec::new();
    while !done.iter().any(|over| {
        matches!(
            over,
            MeshCompletion::Lost {
                reason: LossReason::Left,
                ..
            }
        )
    }) {
        receiver.wait(&mut done, Some(PATIENCE)).unwrap();
    }
    for n in 0..10 {
        receiver.receive(From::Any, Tags::Any, vec![0; 4], n).unwrap();
    }
    assert_eq!(received(&receiver, 10).unwrap().len(), 10);
    drop(driver);
}

#[test]
fn bad_calls_are_told() {
    let one = endpoint();
    let first = mesh(&one);
    assert!(
        one.mesh(MeshOptions::default()).is_err(),
        "its service number is taken"
    );
    let other = endpoint();
    let stranger = mesh(&other).peer(one.local_addr()).unwrap();
    assert!(first.send(stranger, 0, 0, "nobody", 0).is_err());
    assert!(first.receive(stranger, Tags::Any, Vec::new(), 0).is_err());
    assert!(first.address(stranger).is_err());
    let limited = MeshOptions::default();
    let receive = first
        .receive(From::Any, Tags::Any, vec![0; 3], 0)
        .unwrap()
        .unwrap();
    assert_eq!(first.cancel(receive), Some(vec![0; 3]));
    assert_eq!(first.cancel(receive), None);
    drop(first);
    // The number is free again.
    assert!(one.mesh(limited).is_ok());
}

#[test]
fn hundreds_of_peers_of_one_host_are_not_refused() {
    // Each has two descriptors, of which a process may have 1 024 on many systems.
    const PEERS: u64 = 300;
    let hub = endpoint();
    let there = hub.local_addr();
    let gathering = thread::spawn(move || -> Result<usize> {
        let mesh = mesh(&hub);
        for n in 0..PEERS {
            mesh.receive(From::Any, Tags::Any, vec![0; 8], n)?;
        }
        let all = received(&mesh, PEERS as usize)?;
        Ok(all.len())
    });
    let mut config = Config::server("127.0.0.1:0".parse().unwrap());
    config.wait = Wait::Block;
    let peers: Vec<(Endpoint, Mesh)> = (0..PEERS)
        .map(|n| {
            let endpoint = Endpoint::bind(config.clone()).unwrap();
            let mesh = mesh(&endpoint);
            let hub = mesh.peer(there).unwrap();
            mesh.send(hub, 0, n, n.to_be_bytes().to_vec(), n).unwrap();
            (endpoint, mesh)
        })
        .collect();
    let mut turn = peers.iter().cycle();
    while !gathering.is_finished() {
        if let Some((endpoint, _)) = turn.next() {
            endpoint.progress().unwrap();
        }
    }
    assert_eq!(gathering.join().unwrap().unwrap(), PEERS as usize);
}
