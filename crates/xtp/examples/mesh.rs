//! Ranks that exchange tagged messages by a mesh: work is handed out, long results come back when they are wanted.
//!
//! ```sh
//! cargo run --release -p xtp-transport --example mesh
//! ```
//!
//! A manager sends each worker small tasks; a worker answers each with a word, at once, and keeps a long result that the manager pulls when
//! it posts memory for it. Nothing waits behind anything: the words of the last task are there while the first result is not.

use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use xtp::mesh::{From, Mesh, MeshCompletion, MeshOptions, PeerNumber};
use xtp::{Config, Endpoint, Result, Tags};

const WORKERS: usize = 3;
const TASKS: u64 = 8;
/// Octets of a result.
const RESULT: usize = 1 << 20;

/// What messages are, in their tags.
const TASK: u64 = 1;
const WORD: u64 = 2;
const DONE: u64 = 3;
/// Results have the number of their task beside this.
const RESULTS: u64 = 1 << 32;

fn endpoint() -> Result<Endpoint> {
    Endpoint::bind(Config::server(SocketAddr::from(([127, 0, 0, 1], 0))))
}

/// The next message that was received: from whom, its tag and its octets. Sends that end are passed over.
fn next(mesh: &Mesh, done: &mut Vec<MeshCompletion>) -> Result<(PeerNumber, u64, Vec<u8>)> {
    loop {
        if let Some(at) = done
            .iter()
            .position(|over| matches!(over, MeshCompletion::Received { outcome: Ok(_), .. }))
            && let MeshCompletion::Received {
                mut memory,
                outcome: Ok(placed),
                ..
            } = done.remove(at)
        {
            memory.truncate(placed.taken as usize);
            return Ok((placed.label.peer, placed.label.tag, memory));
        }
        mesh.wait(done, None)?;
    }
}

fn work(endpoint: &Endpoint) -> Result<()> {
    let (mesh, mut done) = (endpoint.mesh(MeshOptions::default())?, Vec::new());
    let mut sent = 0;
    loop {
        mesh.receive(From::Any, Tags::like(0, RESULTS), vec![0; 8], 0)?;
        let (manager, tag, octets) = next(&mesh, &mut done)?;
        if tag == DONE {
            break;
        }
        let task = octets.first().copied().unwrap_or_default();
        mesh.send(manager, WORD, 0, format!("task {task} is done"), 0)?;
        mesh.send(manager, RESULTS | u64::from(task), 0, vec![task; RESULT], 0)?;
        sent += 1;
    }
    println!("a worker did {sent} tasks");
    mesh.leave(None)
}

fn main() -> Result<()> {
    let workers = (0..WORKERS).map(|_| endpoint()).collect::<Result<Vec<_>>>()?;
    let places: Vec<SocketAddr> = workers.iter().map(Endpoint::local_addr).collect();
    let workers: Vec<_> = workers
        .into_iter()
        .map(|endpoint| thread::spawn(move || work(&endpoint)))
        .collect();

    let manager = endpoint()?;
    let (mesh, mut done) = (manager.mesh(MeshOptions::default())?, Vec::new());
    let peers = places
        .iter()
        .map(|place| mesh.peer(place))
        .collect::<Result<Vec<_>>>()?;
    let begin = Instant::now();
    for task in 0..TASKS {
        let peer = peers[task as usize % WORKERS];
        mesh.receive(From::Any, Tags::exact(WORD), vec![0; 100], 0)?;
        mesh.send(peer, TASK, 0, vec![task as u8], 0)?;
    }
    for _ in 0..TASKS {
        let (peer, _, word) = next(&mesh, &mut done)?;
        println!("worker {}: {}", peer.as_u32(), String::from_utf8_lossy(&word));
    }
    // The results are wanted in another order than they were made in.
    for task in (0..TASKS).rev() {
        let peer = peers[task as usize % WORKERS];
        mesh.receive(peer, Tags::exact(RESULTS | task), vec![0; RESULT], task)?;
        let (_, _, result) = next(&mesh, &mut done)?;
        assert!(result.iter().all(|octet| *octet == task as u8) && result.len() == RESULT);
    }
    println!(
        "{TASKS} results of {RESULT} octets in {:.1} ms",
        begin.elapsed().as_secs_f64() * 1e3
    );
    for peer in peers {
        mesh.send(peer, DONE, 0, "", 0)?;
    }
    mesh.leave(None)?;
    workers.into_iter().try_for_each(|worker| match worker.join() {
        Ok(ended) => ended,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
