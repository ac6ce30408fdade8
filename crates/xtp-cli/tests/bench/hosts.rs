//! `xtp bench serve` and `xtp bench ... --to`: over loopback, and between two network namespaces where that is allowed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::run::{Done, THREE_BUT_THE_LAST_END, bench, figure, finish, start};
use serde_json::Value;
use xtp_linkem::HeldNetwork;

/// A server in the background, and where it is.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    /// What it says, line by line, by a thread that reads to the end.
    said: Arc<Mutex<Vec<String>>>,
    reads: JoinHandle<()>,
}

impl Server {
    fn start(mut command: Command, listen: &str) -> Self {
        command
            .args(["bench", "serve", "--json", "-", "--listen", listen])
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let address = loop {
            let line = lines.next().expect("a line").expect("text");
            if let Some(address) = line.strip_prefix("listening on ") {
                break address.to_owned();
            }
        };
        // A full pipe would hold the server up.
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let reads = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().expect("no panic").push(line);
            }
        });
        Self {
            child,
            address,
            said,
            reads,
        }
    }

    pub(crate) fn here() -> Self {
        Self::start(Command::new(env!("CARGO_BIN_EXE_xtp")), "127.0.0.1:0")
    }

    /// Ends it without a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a child");
        self.child.wait().expect("ended");
    }

    /// Waits until it has said something with `text` in it; the test hangs, and its runner says so, if it never does.
    fn until_said(&self, text: &str) {
        while !self
            .said
            .lock()
            .expect("no panic")
            .iter()
            .any(|line| line.contains(text))
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it; what it said while it ran.
    fn stop_and_tell(self) -> Vec<String> {
        terminate(&self.child);
        let stopped = finish(self.child);
        assert_eq!(stopped.status, Some(0), "{stopped:?}");
        self.reads.join().expect("no panic");
        std::mem::take(&mut *self.said.lock().expect("no panic"))
    }

    /// Ends it as a service manager does.
    pub(crate) fn stop(self) -> Done {
        terminate(&self.child);
        finish(self.child)
    }
}

fn terminate(child: &Child) {
    let kill = format!("kill -TERM {}", child.id());
    let killed = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
    assert!(killed.success());
}

/// The rows of a run, each with something measured.
#[track_caller]
fn rows(done: &Done) -> Vec<Value> {
    let rows: Vec<Value> =
        serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    for row in &rows {
        let figure = row["p50_us"].as_f64().or(row["gbit_s"].as_f64());
        assert!(figure.is_some_and(|figure| figure > 0.0), "{row}");
        assert_eq!(row["path"], "remote");
    }
    rows
}

#[test]
fn all_that_two_hosts_can_measure_is_measured() {
    let server = Server::here();
    let common = [
        "--to",
        &server.address,
        "--runs",
        "1",
        "--rivals",
        "tcp,udp",
        "--json",
        "-",
    ];
    for (experiment, transports) in [
        ("pingpong", &["xtp", "udp", "tcp"][..]),
        ("transaction", &["xtp", "tcp"]),
        ("oneshot", &["xtp", "tcp"]),
        ("bulk", &["xtp", "tcp"]),
    ] {
        let mut args = vec![experiment];
        args.extend(common);
        if experiment != "bulk" {
            args.extend(["--size", "64-96"]);
        }
        let rows = rows(&bench(&args, 0));
        let varied = rows.iter().all(|row| row["least"] == 64 && row["size"] == 96);
        assert!(varied || experiment == "bulk", "{rows:?}");
        let measured: Vec<&str> = rows.iter().filter_map(|row| row["transport"].as_str()).collect();
        for transport in transports {
            assert!(measured.contains(transport), "{experiment} {measured:?}");
        }
    }
    let kdd = [
        "bulk",
        "--to",
        &server.address,
        "--runs",
        "1",
        "--rivals",
        "none",
        "--controller",
        "kdd",
        "--json",
        "-",
    ];
    assert_eq!(rows(&bench(&kdd, 0)).len(), 1);
    let done = server.stop();
    assert_eq!(done.status, Some(0), "{done:?}");
    let object: Value = serde_json::from_str(&done.stdout).expect("one object");
    assert!(object["measurements"].as_u64() >= Some(9), "{object}");
    assert_eq!(object["refused"], 0);
}

#[test]
fn what_two_hosts_cannot_measure_is_said() {
    let server = Server::here();
    let done = bench(&["scale", "--to", &server.address], 2);
    assert!(done.stderr.contains("between two hosts"), "{done:?}");
    let done = bench(&["pingpong", "--to", &server.address, "--path", "veth"], 2);
    assert!(done.stderr.contains("--path"), "{done:?}");
    let done = bench(&["pingpong", "--listen", "127.0.0.1"], 2);
    assert!(done.stderr.contains("serve"), "{done:?}");
    drop(server.stop());
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let nobody = socket.local_addr().expect("bound").to_string();
    // It takes nothing from others: the host says that no program has the port.
    socket.connect(&nobody).expect("itself");
    let done = bench(&["pingpong", "--to", &nobody, "--rivals", "none"], 1);
    assert!(done.stderr.contains("xtp bench serve"), "{done:?}");
}

/// A client that vanishes in the middle keeps nobody else from measuring.
#[test]
fn a_client_that_vanishes_is_forgotten() {
    let server = Server::here();
    let mut gone = start(&[
        "bulk",
        "--to",
        &server.address,
        "--rivals",
        "none",
        "--runs",
        "1000",
    ]);
    server.until_said("bulk xtp");
    gone.kill().expect("a child");
    gone.wait().expect("ended");
    let next = bench(&once("pingpong", &server), 0);
    assert_eq!(rows(&next).len(), 1);
    assert!(next.stderr.contains("is busy with another client"), "{next:?}");
    // That, and not the end of the time that its measurement may take.
    let said = server.stop_and_tell();
    assert!(
        said.iter().any(|line| line.contains("the client is gone")),
        "{said:?}"
    );
}

/// The words of one measurement of one size.
pub(crate) fn once<'a>(experiment: &'a str, server: &'a Server) -> [&'a str; 11] {
    [
        experiment,
        "--to",
        &server.address,
        "--runs",
        "1",
        "--rivals",
        "none",
        "--size",
        "64",
        "--json",
        "-",
    ]
}

/// Two clients of one host are two: neither takes over what the other measures.
#[test]
fn two_clients_take_turns() {
    let server = Server::here();
    let both = ["bulk", "pingpong"].map(|experiment| start(&once(experiment, &server)));
    for child in both {
        let done = finish(child);
        assert_eq!(done.status, Some(0), "{done:?}");
        assert!(!rows(&done).is_empty());
    }
    let done = server.stop();
    let object: Value = serde_json::from_str(&done.stdout).expect("one object");
    assert_eq!(object["refused"], 0, "{object}");
}

/// Runs a line of a shell there.
fn run(network: &HeldNetwork, line: &str) {
    let status = network
        .command("sh")
        .args(["-c", line])
        .status()
        .expect("a shell");
    assert!(status.success(), "{line}");
}

#[test]
fn two_hosts_measure() {
    let (Ok(near), Ok(far)) = (HeldNetwork::new(), HeldNetwork::new()) else {
        eprintln!("not root: no network namespaces, nothing was tested");
        return;
    };
    run(
        &near,
        &format!(
            "ip link add to-far type veth peer name to-near netns {}",
            far.process()
        ),
    );
    run(
        &near,
        "ip address add 10.37.0.1/24 dev to-far && ip link set to-far up",
    );
    run(
        &far,
        "ip address add 10.37.0.2/24 dev to-near && ip link set to-near up",
    );
    // To all addresses: its parties are reached at the one the client knows.
    let server = Server::start(far.command(env!("CARGO_BIN_EXE_xtp")), "*");
    let mut client = near.command(env!("CARGO_BIN_EXE_xtp"));
    client
        .args(["bench", "transaction", "--to", "10.37.0.2", "--runs", "1"])
        .args(["--rivals", "tcp,quinn", "--size", "64", "--json", "-"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let done = finish(client.spawn().expect("the command starts"));
    assert_eq!(done.status, Some(0), "{done:?}");
    let rows = rows(&done);
    let ours = rows.iter().find(|row| row["transport"] == "xtp").expect("a row");
    // Three packets each, counted where they leave and come; the END of the last call may leave after the count.
    assert!(figure(ours, "packets_per_op") >= THREE_BUT_THE_LAST_END, "{ours}");
    drop(server.stop());
}
