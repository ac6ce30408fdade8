//! Memory of many associations: opens some (100 000 unless told otherwise) from one process to another on loopback,
//! exchanges one message on each, keeps all of them open, and says what each takes at either end.
//!
//! ```text
//! cargo run --release -p xtp-transport --example scale -- 100000
//! ```

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use xtp::{Config, Endpoint, Stream, paradigm, service_numbers};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Messages on their way at once: less than a socket's buffer holds.
const GROUP: usize = 200;
/// How long both ends may settle down before memory is read.
const REST: Duration = Duration::from_secs(1);

fn main() -> Outcome<()> {
    let argument = env::args().nth(1).unwrap_or_else(|| "100000".into());
    if argument == "serve" {
        return serve();
    }
    let number: usize = argument.parse()?;
    let mut child = Command::new(env::current_exe()?)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let outcome = measure(number, &mut child);
    child.kill()?;
    child.wait()?;
    outcome
}

/// Answers echo; says where on standard output, and then its memory whenever a line comes in.
fn serve() -> Outcome<()> {
    let endpoint = endpoint()?;
    endpoint.enable_echo()?;
    let driver = endpoint.spawn_driver()?;
    println!("{}", endpoint.local_addr());
    for line in std::io::stdin().lines() {
        line?;
        let stats = endpoint.stats().engine;
        println!("{} {} {}", resident()?, stats.contexts, stats.parked);
    }
    drop(driver);
    Ok(())
}

fn endpoint() -> Outcome<Endpoint> {
    let mut config = Config::server("127.0.0.1:0".parse()?);
    config.wait = xtp::Wait::Block;
    Ok(Endpoint::bind(config)?)
}

fn measure(number: usize, child: &mut Child) -> Outcome<()> {
    let mut answers = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut asks = child.stdin.take().ok_or("no input")?;
    let mut answer = || {
        answers
            .next()
            .ok_or("the server is gone")?
            .map_err(Box::<dyn Error>::from)
    };
    let server: SocketAddr = answer()?.parse()?;
    let client = endpoint()?;
    let mut ask = || -> Outcome<Vec<usize>> {
        writeln!(asks)?;
        Ok(answer()?.split(' ').map(str::parse).collect::<Result<_, _>>()?)
    };
    // A few first: what every process needs once is not what an association takes.
    let first = exchange(&client, server, GROUP)?;
    let (before, theirs) = (resident()?, ask()?[0]);
    let start = Instant::now();
    let streams = exchange(&client, server, number)?;
    let took = start.elapsed();
    let until = Instant::now() + REST;
    while Instant::now() < until {
        client.progress_timeout(Duration::from_millis(10))?;
    }
    let (after, end) = (resident()?, ask()?);
    let stats = client.stats().engine;
    println!(
        "{number} associations opened and used in {:.2} s, {:.0} a second",
        took.as_secs_f64(),
        number as f64 / took.as_secs_f64()
    );
    let report = |side: &str, octets: usize, open: usize, parked: usize| {
        println!(
            "{side}: {} octets each; {open} open, {parked} parked",
            octets / number
        );
    };
    report(
        "client",
        after.saturating_sub(before),
        stats.contexts,
        stats.parked,
    );
    report("server", end[0].saturating_sub(theirs), end[1], end[2]);
    drop((streams, first));
    Ok(())
}

/// Opens associations and exchanges a message on each.
fn exchange(client: &Endpoint, server: SocketAddr, number: usize) -> Outcome<Vec<Stream>> {
    let mut streams = Vec::with_capacity(number);
    while streams.len() < number {
        let from = streams.len();
        for at in from..number.min(from + GROUP) {
            let stream = client.open(server, paradigm::stream(service_numbers::ECHO))?;
            stream.send_message(format!("message of association {at}"))?;
            streams.push(stream);
        }
        for (at, stream) in streams.iter().enumerate().skip(from) {
            let answer = stream.recv_message()?.ok_or("no answer")?;
            if answer != format!("message of association {at}") {
                return Err("another answer".into());
            }
        }
    }
    thread::yield_now();
    Ok(streams)
}

/// Resident memory of this process, octets.
fn resident() -> Outcome<usize> {
    const PAGE: usize = 4_096;
    let line = fs::read_to_string("/proc/self/statm")?;
    let pages: usize = line.split(' ').nth(1).ok_or("no figure")?.parse()?;
    Ok(pages * PAGE)
}
