//! Associations a second: one thread of one process makes one-shots (or transactions) to another process on loopback,
//! 64 in flight.
//!
//! ```text
//! cargo run --release -p xtp-transport --example oneshots -- 200000 64 [transaction]
//! ```

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use xtp::{Config, Endpoint, OpenOptions, paradigm};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PORT: u16 = 100;
const ANSWERED: u16 = 101;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "serve") {
        return serve(&arguments);
    }
    let number = arguments.first().map_or(Ok(200_000), |number| number.parse())?;
    let in_flight = arguments.get(1).map_or(Ok(64), |number| number.parse())?;
    let answered = arguments.iter().any(|argument| argument == "transaction");
    let mut child = Command::new(env::current_exe()?)
        .args(["serve", if answered { "transaction" } else { "message" }])
        .stdout(Stdio::piped())
        .spawn()?;
    let options = match answered {
        true => paradigm::transaction(ANSWERED),
        false => paradigm::one_shot(PORT),
    };
    let outcome = measure(number, in_flight, &options, &mut child);
    child.kill()?;
    child.wait()?;
    outcome
}

fn serve(arguments: &[String]) -> Outcome<()> {
    let server = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let answered = arguments.iter().any(|argument| argument == "transaction");
    let listener = server.listen(if answered { ANSWERED } else { PORT })?;
    println!("{}", server.local_addr());
    loop {
        let (request, incoming) = listener.recv_message()?;
        if answered {
            incoming.respond(request)?;
        }
    }
}

fn measure(number: u64, in_flight: usize, options: &OpenOptions, child: &mut Child) -> Outcome<()> {
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let server: SocketAddr = line.trim().parse()?;
    let client = Endpoint::bind(Config::server("127.0.0.1:0".parse()?))?;
    let queue = client.completion_queue();
    let (mut submitted, mut done) = (0, Vec::new());
    let start = Instant::now();
    while submitted < number || queue.pending() > 0 {
        for _ in queue.pending()..in_flight {
            if submitted < number {
                queue.submit(server, options, "a message of one packet", submitted)?;
                submitted += 1;
            }
        }
        queue.wait(&mut done, None)?;
        for completion in done.drain(..) {
            completion.result?;
        }
    }
    let took = start.elapsed().as_secs_f64();
    let stats = client.stats();
    println!(
        "{number} in {took:.2} s, {:.0} a second; {:.2} datagrams sent and {:.2} received each, {:.2} system calls",
        number as f64 / took,
        stats.engine.sent as f64 / number as f64,
        stats.engine.received as f64 / number as f64,
        (stats.socket.send_calls + stats.socket.recv_calls) as f64 / number as f64,
    );
    println!(
        "{} contexts, {} over and in time-wait; {} octets resident here, {} there",
        stats.engine.contexts,
        stats.engine.time_waits,
        resident("self")?,
        resident(&child.id().to_string())?
    );
    Ok(())
}

/// Resident memory of a process, octets.
fn resident(process: &str) -> Outcome<usize> {
    const PAGE: usize = 4_096;
    let line = fs::read_to_string(format!("/proc/{process}/statm"))?;
    let pages: usize = line.split(' ').nth(1).ok_or("no figure")?.parse()?;
    Ok(pages * PAGE)
}
