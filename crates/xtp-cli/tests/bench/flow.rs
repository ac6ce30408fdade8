//! `xtp bench flow`: octets and datagrams against a server, each way, several clients at once.

use std::io::{BufRead, BufReader};
use std::process::Command;

use serde_json::Value;

use crate::hosts::{Server, once};
use crate::run::{Done, bench, figure, finish, start};

fn object(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// One run of flows for a second.
fn flow(server: &Server, options: &[&str]) -> Value {
    let args = [
        "flow",
        "--to",
        &server.address,
        "-t",
        "1",
        "-i",
        "0.25",
        "--json",
        "-",
    ];
    let object = object(&bench(&[&args, options].concat(), 0));
    assert_eq!(
        (&object["ok"], &object["error"]),
        (&Value::from(true), &Value::Null),
        "{object}"
    );
    assert!(figure(&object, "core_percent_here") > 0.0, "{object}");
    assert!(figure(&object, "core_percent_there") > 0.0, "{object}");
    let intervals = object["intervals"].as_array().expect("a list");
    assert!((1..=4).contains(&intervals.len()), "{object}");
    let mut end = 0.0;
    for interval in intervals {
        assert_eq!(figure(interval, "begin"), end, "without gaps: {object}");
        end = figure(interval, "end");
    }
    object
}

/// Number and direction of each pair of ends: those with something sent and received.
fn pairs(object: &Value) -> Vec<(Option<u64>, bool)> {
    let pairs = object["flows"].as_array().expect("a list").iter();
    pairs
        .map(|pair| {
            for end in ["sender", "receiver"] {
                assert!(figure(&pair[end], "octets") > 0.0, "{object}");
                assert!(figure(&pair[end], "seconds") > 0.0, "{object}");
                assert!(figure(pair, &format!("{end}_bits_per_second")) > 0.0, "{object}");
            }
            (pair["flow"].as_u64(), pair["from_server"] == true)
        })
        .collect()
}

#[test]
fn octets_each_way() {
    let server = Server::here();
    let one = flow(&server, &[]);
    assert_eq!(pairs(&one), [(Some(1), false)]);
    assert_eq!(one["direction"], "to-server");
    let reverse = flow(&server, &["-R", "-P", "2"]);
    assert_eq!(pairs(&reverse), [(Some(1), true), (Some(2), true), (None, true)]);
    let both = flow(&server, &["--bidir", "-l", "4KiB", "--controller", "cubic"]);
    assert_eq!(pairs(&both), [(Some(1), false), (Some(2), true)]);
    // What passed in all intervals is part of what the end counted.
    for object in [one, reverse, both] {
        let intervals = object["intervals"].as_array().expect("a list").iter();
        let parts = intervals.flat_map(|interval| interval["parts"].as_array().expect("a list"));
        let first = parts.filter(|part| part["flow"] == 1);
        let passed: u64 = first.map(|part| part["octets"].as_u64().expect("a number")).sum();
        let from_server = object["flows"][0]["from_server"] == true;
        let here = if from_server { "receiver" } else { "sender" };
        assert!(
            passed <= object["flows"][0][here]["octets"].as_u64().expect("a number"),
            "{object}"
        );
    }
    let done = server.stop();
    assert_eq!(object(&done)["refused"], 0, "{done:?}");
}

#[test]
fn datagrams_at_a_rate() {
    let server = Server::here();
    let options = ["-u", "-b", "2mbit", "-l", "500", "--bidir", "-P", "2"];
    let object = flow(&server, &options);
    assert_eq!(pairs(&object).len(), 6, "{object}");
    for pair in object["flows"].as_array().expect("a list") {
        let (sent, came) = (&pair["sender"]["datagrams"], &pair["receiver"]["datagrams"]);
        let arrived = figure(came, "datagrams") + figure(came, "lost");
        assert_eq!(
            arrived,
            figure(sent, "datagrams"),
            "each has arrived or is lost: {object}"
        );
        assert_eq!(
            figure(&pair["sender"], "octets"),
            500.0 * figure(sent, "datagrams")
        );
        assert!(figure(came, "jitter_ms") >= 0.0);
        // No more than the rate; a busy host may send fewer.
        let most = if pair["flow"].is_null() { 1_002.0 } else { 501.0 };
        assert!(figure(sent, "datagrams") <= most, "{object}");
    }
    drop(server.stop());
}

#[test]
fn people_get_a_line_an_interval() {
    let server = Server::here();
    let done = bench(
        &["flow", "--to", &server.address, "-t", "1", "-i", "0.5", "-P", "2"],
        0,
    );
    for part in [
        "[  1] to server",
        "[all] to server",
        "bit/s",
        "sender",
        "receiver",
        "of a core: ",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    drop(server.stop());
}

/// They measure what they get together; in turns neither would.
#[test]
fn clients_run_side_by_side() {
    let server = Server::here();
    let args = ["flow", "--to", &server.address, "-t", "2", "--json", "-"];
    for child in [start(&args), start(&args)] {
        let done = finish(child);
        assert_eq!(done.status, Some(0), "{done:?}");
        assert_eq!(figure(&object(&done), "waited"), 0.0, "{done:?}");
    }
    drop(server.stop());
}

/// Were its flows not given up, the comparison would wait for ten minutes.
#[test]
fn a_client_of_flows_that_vanishes_is_forgotten() {
    let server = Server::here();
    let mut gone = start(&["flow", "--to", &server.address, "-t", "600", "-i", "0.1"]);
    let mut lines = BufReader::new(gone.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    gone.kill().expect("a child");
    gone.wait().expect("ended");
    bench(&once("pingpong", &server), 0);
    drop(server.stop());
}

#[test]
fn one_that_is_interrupted_tells_what_passed() {
    let server = Server::here();
    let mut child = start(&[
        "flow",
        "--to",
        &server.address,
        "-t",
        "600",
        "-i",
        "0.1",
        "--bidir",
    ]);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    let kill = format!("kill -INT {}", child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .expect("a shell")
            .success()
    );
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert_eq!(finish(child).status, Some(130));
    for end in ["to server   receiver", "from server sender"] {
        assert!(rest.iter().any(|line| line.contains(end)), "{end}: {rest:?}");
    }
    drop(server.stop());
}

#[test]
fn a_server_that_vanishes_is_told() {
    let server = Server::here();
    let mut child = start(&["flow", "--to", &server.address, "-t", "600", "-i", "0.1"]);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    server.kill();
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    let done = finish(child);
    assert_eq!(done.status, Some(1), "{done:?}");
    assert!(done.stderr.contains("the measurement broke"), "{done:?}");
    assert!(rest.iter().any(|line| line.contains("did not say")), "{rest:?}");
}
