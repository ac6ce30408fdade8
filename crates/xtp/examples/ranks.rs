//! A manager and its workers, as in a parallel program: receives are posted by tag before and after messages come, in another order than
//! they do. `ranks manager 127.0.0.1:36036 WORKERS` waits for so many `ranks worker 127.0.0.1:36036`; without arguments all run in this
//! process.
//!
//! | MPI | here |
//! | --- | --- |
//! | `MPI_Isend` | `Stream::send_tagged` |
//! | `MPI_Irecv`, `MPI_ANY_SOURCE` | `Stream::post_receive`, `Endpoint::post_receive` |
//! | `MPI_Wait`, `MPI_Test`, `MPI_Cancel` | `PostedReceive::wait`, `try_take`, `cancel` |
//! | `MPI_Probe`, `MPI_Iprobe` | `Stream::peek`, `try_peek` |
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::thread;

use xtp::{Config, Endpoint, ListenOptions, PostedReceive, Stream, Tags, paradigm};

/// Service number of the workers' associations.
const SERVICE: u16 = 1_000;
/// Longest message.
const LIMIT: usize = 64;
/// A worker has time for a task.
const READY: u64 = 1 << 32;
/// Tasks: the numbers up to here, each of which is to be squared.
const TASKS: u64 = 100;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["manager", address, workers] => {
            let endpoint = Endpoint::bind(Config::server(address.parse()?))?;
            println!("the sum of squares is {}", manage(&endpoint, workers.parse()?)?);
            Ok(())
        }
        ["worker", address] => {
            println!("{} tasks done", work(address.parse()?)?);
            Ok(())
        }
        [] => demonstrate(),
        _ => Err("usage: ranks [manager ADDRESS WORKERS | worker ADDRESS]".into()),
    }
}

/// Hands out the tasks to whoever has time, and sums up what comes back in the order of the tasks.
fn manage(endpoint: &Endpoint, count: usize) -> Outcome<u64> {
    let listener = endpoint.listen_matched(ListenOptions::streams(SERVICE))?;
    let _driver = endpoint.spawn_driver()?;
    let workers: Vec<Stream> = (0..count)
        .map(|_| listener.accept().map(|incoming| incoming.into_stream()))
        .collect::<xtp::Result<_>>()?;
    // A result has the tag of its task, whoever it comes from: its receive is there before it.
    let results: Vec<PostedReceive> = (0..TASKS)
        .map(|task| endpoint.post_receive(Tags::exact(task), LIMIT))
        .collect::<xtp::Result<_>>()?;
    for task in 0..TASKS {
        let ready = endpoint.post_receive(Tags::exact(READY), LIMIT)?;
        let message = ready.wait(None)?.ok_or("the workers have gone")?;
        let free = workers.iter().find(|worker| worker.number() == message.stream);
        free.ok_or("a stranger")?.send_tagged(task, "square it")?;
    }
    let mut sum = 0;
    for result in &results {
        let message = result.wait(None)?.ok_or("the workers have gone")?;
        let mut octets = [0; 8];
        message.copy_to(&mut octets)?;
        sum += u64::from_be_bytes(octets);
    }
    for worker in workers {
        // It says once more that it has time, and hears that nothing follows.
        worker.post_receive(Tags::exact(READY), LIMIT)?.wait(None)?;
        worker.close()?;
    }
    Ok(sum)
}

/// Does tasks as long as there are any; returns how many.
fn work(manager: SocketAddr) -> Outcome<u64> {
    let endpoint = Endpoint::client()?;
    let stream = endpoint.open_matched(manager, paradigm::stream(SERVICE))?;
    let mut done = 0;
    loop {
        stream.send_tagged(READY, "ready")?;
        // The tag is the task, and no more is to be known of it.
        let Some(task) = stream.post_receive(Tags::Any, LIMIT)?.wait(None)? else {
            break;
        };
        let number = task.tag.ok_or("no task")?;
        stream.send_tagged(number, (number * number).to_be_bytes().to_vec())?;
        done += 1;
    }
    stream.close()?;
    Ok(done)
}

fn demonstrate() -> Outcome<()> {
    let endpoint = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let address = endpoint.local_addr();
    let workers: Vec<_> = (0..3).map(|_| thread::spawn(move || work(address))).collect();
    let sum = manage(&endpoint, workers.len())?;
    println!("the sum of squares is {sum}");
    assert_eq!(sum, (0..TASKS).map(|number| number * number).sum());
    let mut done = 0;
    for worker in workers {
        done += worker.join().map_err(|_| "a worker panicked")??;
    }
    assert_eq!(done, TASKS);
    Ok(())
}
