//! Suite `namespaces`: two hosts and a router between them, real processes, real accidents.
//!
//! Octets go to the other host and come back, checked one by one, over IPv4, IPv6 and a link-local address; while
//! the path's MTU shrinks without a word, while the client gets another address, while the server is stopped and
//! continued; and a server that was killed is noticed.

use std::io::{BufRead, BufReader, Lines, Read};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::time::{Duration, Instant};

use super::host::{Host, output};
use super::namespace::{Namespace, Process, join};

const CLIENT: &str = "10.36.1.1";
const CLIENT_LATER: &str = "10.36.1.9";
const ROUTER: [&str; 2] = ["10.36.1.2", "10.36.2.2"];
const SERVER: &str = "10.36.2.1";
const SERVER_V6: &str = "fd36:2::1";
const PORT: &str = "36036";
/// Octets a second of the exchanges in which something happens, and how many: some three seconds.
const RATE: u64 = 1_000_000;
const LONG: u64 = 3_000_000;
const SHORT: u64 = 500_000;
/// A smaller MTU, and the largest segment that fits it: less IP, UDP and XTP headers.
const SMALL_MTU: &str = "1280";
const SMALL_SEGMENT: u64 = 1_280 - 20 - 8 - 32;
/// A killed peer must be noticed within this time.
const NOTICE: Duration = Duration::from_secs(15);

struct World {
    client: Namespace,
    router: Namespace,
    server: Namespace,
    program: PathBuf,
}

pub(super) fn run(host: &Host) -> Result<String, String> {
    let world = World::new(host.example("exchange_probe")?)?;
    let mut server = world.start_server()?;
    type Step = fn(&World, &mut Process) -> Result<(), String>;
    let steps: &[(&str, Step)] = &[
        ("IPv4", |world, _| world.exchange_all(SERVER)),
        ("IPv6", |world, _| world.exchange_all(SERVER_V6)),
        ("link-local IPv6", |world, _| world.link_local()),
        ("a stopped server", |world, server| {
            world.stop_and_continue(server)
        }),
        ("a new address", |world, _| world.move_client()),
        ("a black hole", |world, _| world.black_hole()),
        ("a killed server", |world, server| world.kill(server)),
    ];
    for (name, step) in steps {
        step(&world, &mut server).map_err(|error| format!("{name}: {error}"))?;
    }
    let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
    Ok(format!("octets checked there and back: {}", names.join(", ")))
}

impl World {
    fn new(program: PathBuf) -> Result<Self, String> {
        let (client, router, server) = (
            Namespace::new("client")?,
            Namespace::new("router")?,
            Namespace::new("server")?,
        );
        let addr = |addr: &str| format!("{addr}/24");
        join(
            &client,
            &router,
            ["to-router", "to-client"],
            [&addr(CLIENT), &addr(ROUTER[0])],
        )?;
        join(
            &router,
            &server,
            ["to-server", "to-router"],
            [&addr(ROUTER[1]), &addr(SERVER)],
        )?;
        for (namespace, interface, addr) in [
            (&client, "to-router", "fd36:1::1/64"),
            (&router, "to-client", "fd36:1::2/64"),
            (&router, "to-server", "fd36:2::2/64"),
            (&server, "to-router", "fd36:2::1/64"),
        ] {
            namespace.ip(&["address", "add", addr, "dev", interface, "nodad"])?;
        }
        for (namespace, routers) in [
            (&client, [ROUTER[0], "fd36:1::2"]),
            (&server, [ROUTER[1], "fd36:2::2"]),
        ] {
            for router in routers {
                namespace.ip(&["route", "add", "default", "via", router])?;
            }
        }
        for switch in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            router.shell(&format!("echo 1 > /proc/sys/net/{switch}"))?;
        }
        Ok(Self {
            client,
            router,
            server,
            program,
        })
    }

    fn start_server(&self) -> Result<Process, String> {
        let mut server = start(&self.server, &self.program, &["echo", &format!("[::]:{PORT}")])?;
        lines(&mut server)?.next_line()?;
        Ok(server)
    }

    fn exchange(&self, host: &str, octets: u64, rate: u64) -> Result<(Process, Progress), String> {
        let words = ["exchange", host, PORT, &octets.to_string(), &rate.to_string()];
        let mut client = start(&self.client, &self.program, &words)?;
        let progress = lines(&mut client)?;
        Ok((client, progress))
    }

    fn exchange_all(&self, host: &str) -> Result<(), String> {
        let (client, progress) = self.exchange(host, SHORT, 0)?;
        finish(client, progress).map(drop)
    }

    /// The router itself has no program to talk to: one is started there for this step.
    fn link_local(&self) -> Result<(), String> {
        let text = self
            .router
            .ip(&["-6", "-o", "address", "show", "dev", "to-client", "scope", "link"])?;
        let mut words = text
            .split_whitespace()
            .skip_while(|word| *word != "inet6")
            .skip(1);
        let addr = words.next().and_then(|addr| addr.split('/').next());
        let addr = addr.ok_or_else(|| format!("no link-local address in {text}"))?;
        let mut server = start(&self.router, &self.program, &["echo", &format!("[::]:{PORT}")])?;
        lines(&mut server)?.next_line()?;
        self.exchange_all(&format!("{addr}%to-router"))
    }

    fn stop_and_continue(&self, server: &mut Process) -> Result<(), String> {
        let (client, mut progress) = self.exchange(SERVER, LONG, RATE)?;
        progress.until(|octets, _| octets > LONG / 3)?;
        let process = server.child().id().to_string();
        output("kill", &["-STOP", &process])?;
        std::thread::sleep(Duration::from_secs(2));
        output("kill", &["-CONT", &process])?;
        finish(client, progress).map(drop)
    }

    fn move_client(&self) -> Result<(), String> {
        let (client, mut progress) = self.exchange(SERVER, LONG, RATE)?;
        progress.until(|octets, _| octets > LONG / 3)?;
        let (later, before) = (format!("{CLIENT_LATER}/24"), format!("{CLIENT}/24"));
        self.client.ip(&["address", "del", &before, "dev", "to-router"])?;
        self.client.ip(&["address", "add", &later, "dev", "to-router"])?;
        // The last address of the network took the default route with it.
        self.client
            .ip(&["route", "replace", "default", "via", ROUTER[0]])?;
        finish(client, progress).map(drop)
    }

    /// The router's links get a smaller MTU, and it may not say so: what it says itself finds no route.
    fn black_hole(&self) -> Result<(), String> {
        let (client, mut progress) = self.exchange(SERVER, LONG, RATE)?;
        progress.until(|octets, segment| octets > LONG / 4 && segment > SMALL_SEGMENT)?;
        self.router
            .ip(&["rule", "add", "pref", "10", "iif", "lo", "prohibit"])?;
        for interface in ["to-client", "to-server"] {
            self.router.ip(&["link", "set", interface, "mtu", SMALL_MTU])?;
        }
        let segment = finish(client, progress)?;
        if segment > SMALL_SEGMENT {
            return Err(format!(
                "still segments of {segment} octets where {SMALL_SEGMENT} fit"
            ));
        }
        Ok(())
    }

    fn kill(&self, server: &mut Process) -> Result<(), String> {
        let (mut client, mut progress) = self.exchange(SERVER, LONG, RATE)?;
        progress.until(|octets, _| octets > LONG / 3)?;
        output("kill", &["-KILL", &server.child().id().to_string()])?;
        let killed = Instant::now();
        let mut said = String::new();
        while progress.next_line().is_ok() {}
        let errors = client.child().stderr.take().ok_or("the client has no errors")?;
        BufReader::new(errors)
            .read_to_string(&mut said)
            .map_err(|error| error.to_string())?;
        let status = client.child().wait().map_err(|error| error.to_string())?;
        match status.code() {
            Some(3) if killed.elapsed() < NOTICE => Ok(()),
            _ => Err(format!(
                "{status} after {:.1} s, saying: {said}",
                killed.elapsed().as_secs_f64()
            )),
        }
    }
}

fn start(namespace: &Namespace, program: &Path, words: &[&str]) -> Result<Process, String> {
    Process::start(namespace.command(&program.to_string_lossy(), words))
}

/// What an exchange prints as it goes.
pub(super) struct Progress(Lines<BufReader<ChildStdout>>);

pub(super) fn lines(process: &mut Process) -> Result<Progress, String> {
    let stream = process.child().stdout.take().ok_or("no output")?;
    Ok(Progress(BufReader::new(stream).lines()))
}

impl Progress {
    pub(super) fn next_line(&mut self) -> Result<String, String> {
        match self.0.next() {
            Some(Ok(line)) => Ok(line),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("it ended".to_owned()),
        }
    }

    /// Octets that came back, and the largest segment.
    fn next(&mut self) -> Result<(u64, u64), String> {
        let line = self.next_line()?;
        let numbers = line
            .split_once(' ')
            .map(|(one, other)| (one.parse(), other.parse()));
        match numbers {
            Some((Ok(octets), Ok(segment))) => Ok((octets, segment)),
            _ => Err(format!("the client said {line}")),
        }
    }

    pub(super) fn until(&mut self, reached: impl Fn(u64, u64) -> bool) -> Result<(), String> {
        loop {
            let (octets, segment) = self.next()?;
            if reached(octets, segment) {
                return Ok(());
            }
        }
    }
}

/// Lets an exchange come to its end; the largest segment then.
pub(super) fn finish(mut client: Process, mut progress: Progress) -> Result<u64, String> {
    let mut last = None;
    while let Ok((_, segment)) = progress.next() {
        last = Some(segment);
    }
    let mut said = String::new();
    if let Some(mut errors) = client.child().stderr.take() {
        errors
            .read_to_string(&mut said)
            .map_err(|error| error.to_string())?;
    }
    match client.child().wait() {
        Ok(status) if status.success() => last.ok_or_else(|| "no octet came back".to_owned()),
        Ok(status) => Err(format!("the client ended with {status}: {}", said.trim())),
        Err(error) => Err(error.to_string()),
    }
}
