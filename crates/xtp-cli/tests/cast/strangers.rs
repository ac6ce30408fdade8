//! Hostile receivers and senders, and older ones: no other party of the cast is harmed.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tempfile::{TempDir, tempdir};
use xtp::{
    CastOptions, Config, Confirm, DriverThread, Endpoint, Interface, JoinOptions, ListenOptions, OpenOptions,
    Stream, Target, service_numbers,
};

use crate::support::{content, recv, send};

const SIZE: usize = 2_500_000;
const PART: usize = 1_000_000;
const VERSION: u16 = 3;

const HELLO_TO_GROUP: u8 = 3;
const HELLO_BESIDE: u8 = 5;

fn hello(operation: u8, rest: &[u8]) -> Vec<u8> {
    [&[1][..], &VERSION.to_be_bytes(), &[operation], rest].concat()
}

/// A record of a type, a number, and what follows.
fn record(kind: u8, id: u64, rest: &[&[u8]]) -> Vec<u8> {
    [&[kind][..], &id.to_be_bytes(), &rest.concat()].concat()
}

fn begin(id: u64, offset: usize) -> Vec<u8> {
    record(18, id, &[&(offset as u64).to_be_bytes()])
}

fn piece(id: u64, octets: usize) -> Vec<u8> {
    record(19, id, &[&u32::try_from(octets).expect("small").to_be_bytes()])
}

fn end(id: u64, content: &[u8]) -> Vec<u8> {
    record(20, id, &[blake3::hash(content).as_bytes()])
}

fn want(id: u64, offset: usize, prefix: &[u8]) -> Vec<u8> {
    let hash = blake3::hash(prefix);
    record(32, id, &[&(offset as u64).to_be_bytes(), hash.as_bytes()])
}

fn have(id: u64, offset: usize, prefix: &[u8]) -> Vec<u8> {
    let mut record = want(id, offset, prefix);
    record[0] = 38;
    record
}

fn skip(id: u64) -> Vec<u8> {
    record(33, id, &[])
}

const FINISH: &[u8] = &[23];

/// An offer of the file `file`.
fn entry(size: usize) -> Vec<u8> {
    let name = b"file";
    let rest: [&[u8]; 9] = [
        &0_u32.to_be_bytes(),
        &0_u16.to_be_bytes(),
        &(name.len() as u16).to_be_bytes(),
        name,
        &0o644_u32.to_be_bytes(),
        &[0; 8],
        &[0; 12],
        &[2],
        &(size as u64).to_be_bytes(),
    ];
    record(16, 0, &rest)
}

fn loopback() -> Interface {
    Interface::Address(Ipv4Addr::LOCALHOST.into())
}

fn endpoint() -> (Endpoint, DriverThread) {
    let mut config = Config::server("127.0.0.1:0".parse().expect("an address"));
    config.message_limit = 1 << 20;
    let endpoint = Endpoint::bind(config).expect("loopback");
    let driver = endpoint.spawn_driver().expect("a thread");
    (endpoint, driver)
}

/// A member of the group that takes everything, confirms it, and answers offers with `answers`.
fn member(group: &str, answers: Option<Vec<Vec<u8>>>) -> JoinHandle<Option<Vec<u8>>> {
    let group: SocketAddr = format!("{group}:36036").parse().expect("an address");
    let (endpoint, driver) = endpoint();
    let options = JoinOptions::new()
        .service_number(service_numbers::FILES)
        .interface(loopback())
        .confirm(Confirm::Delivered);
    let subscription = endpoint.join(Some(group), options).expect("joined");
    std::thread::spawn(move || {
        let _driver = driver;
        let transmitter = subscription.transmitter().expect("found");
        // The greeting and the first offers.
        subscription.recv_message().expect("received").expect("a message");
        let stream = answers.map(|answers| {
            let options = OpenOptions::new(service_numbers::FILES);
            let stream = endpoint.open(transmitter, options).expect("opened");
            stream.set_read_timeout(Some(Duration::from_secs(60)));
            for message in answers {
                stream.send_message(message).expect("room");
            }
            stream
        });
        while subscription.recv_message().expect("received").is_some() {}
        let reply = stream.as_ref().and_then(|stream| {
            // Where the sender said nothing by now it says nothing.
            stream.set_read_timeout(Some(Duration::from_millis(100)));
            stream.recv_message().ok().flatten().map(|reply| reply.to_vec())
        });
        subscription.confirm().expect("told");
        subscription.close().expect("well ended");
        stream.into_iter().for_each(Stream::abort);
        reply
    })
}

/// A file, and a receiver's directory with the beginning of it.
fn place() -> TempDir {
    let dir = tempdir().expect("a directory");
    let data = content(5, SIZE);
    fs::write(dir.path().join("file"), &data).expect("written");
    fs::create_dir(dir.path().join("out")).expect("made");
    let part = dir.path().join("out/.file.xtp-part");
    fs::write(&part, &data[..PART]).expect("written");
    fs::set_permissions(part, fs::Permissions::from_mode(0o600)).expect("ours");
    dir
}

/// What a sender says that has a receiver with a part, and a member with other answers; and what it replied to these.
fn beside(group: &str, answers: Option<Vec<Vec<u8>>>) -> (Value, Option<Vec<u8>>) {
    let dir = place();
    let member = member(group, answers);
    let receiver = recv(group, "out", &[], dir.path());
    let options = ["--expect", "2", "--patience", "2s"];
    let sent = send("file", group, &options, dir.path()).end().expect(0);
    receiver.end().expect(0);
    let data = fs::read(dir.path().join("out/file")).expect("there");
    assert!(data == content(5, SIZE));
    (sent.report(), member.join().expect("well ended"))
}

#[track_caller]
fn spares(report: &Value, octets: usize) {
    assert_eq!(report["resumed_from"], octets, "{report}");
    assert_eq!(report["bytes"], SIZE - octets, "{report}");
}

fn greeting() -> Vec<u8> {
    hello(HELLO_BESIDE, &[0])
}

#[test]
fn one_that_says_it_has_everything() {
    let (report, _) = beside("239.77.10.1", Some(vec![greeting(), skip(0)]));
    spares(&report, PART);
}

#[test]
fn one_that_says_it_has_nothing() {
    let (report, _) = beside("239.77.10.2", Some(vec![greeting(), have(0, 0, b"")]));
    spares(&report, 0);
}

/// A beginning that is none of this file is no beginning, and neither is one that is longer than the file.
#[test]
fn one_that_says_it_has_something_else() {
    for (group, offset) in [("239.77.10.3", 2 * PART), ("239.77.10.4", SIZE + 1)] {
        let (report, _) = beside(group, Some(vec![greeting(), have(0, offset, b"something")]));
        spares(&report, 0);
    }
}

/// One that says that it will answer and does not is waited for as long as a silent receiver, and then left to fetch what it lacks.
#[test]
fn one_that_never_answers() {
    let (report, _) = beside("239.77.10.5", Some(vec![greeting()]));
    spares(&report, PART);
}

/// A receiver that answers nothing, as older ones do, is sent everything.
#[test]
fn one_that_knows_no_answers() {
    let (report, reply) = beside("239.77.10.6", None);
    spares(&report, 0);
    assert_eq!(reply, None);
}

#[test]
fn one_that_breaks_the_rules() {
    for (group, answers) in [
        ("239.77.10.7", vec![hello(HELLO_BESIDE, &[1])]),
        ("239.77.10.8", vec![hello(2, &[0, 0])]),
        ("239.77.10.9", vec![greeting(), skip(1_000)]),
        ("239.77.10.10", vec![greeting(), vec![99]]),
        ("239.77.10.11", vec![greeting(), entry(5)]),
        ("239.77.10.12", vec![greeting(), have(0, 0, b""), want(1, 0, b"")]),
    ] {
        let (report, reply) = beside(group, Some(answers));
        spares(&report, 0);
        let fatal = reply.is_some_and(|reply| reply[..3] == [48, 0, 15]);
        assert!(fatal, "{group}: it is told");
    }
}

/// Receivers that have everything are sent nothing; what one of them wants after all it gets alone.
#[test]
fn one_that_changes_its_mind() {
    let dir = place();
    let group = "239.77.10.13";
    let member = member(group, Some(vec![greeting(), skip(0)]));
    let sent = send("file", group, &["--expect", "1"], dir.path())
        .end()
        .expect(0);
    let report = sent.report();
    assert_eq!((&report["bytes"], &report["unchanged"]), (&0.into(), &1.into()));
    member.join().expect("well ended");
}

/// A sender in the hands of a stranger: it says all of `stream` to the group, and `reply` beside it if it listens there.
fn hostile(group: &str, stream: Vec<Vec<u8>>, reply: Option<Vec<Vec<u8>>>) -> (Option<i32>, String, u64) {
    let dir = place();
    let receiver = recv(group, "out", &[], dir.path());
    let (endpoint, _driver) = endpoint();
    let options = CastOptions::new()
        .service_number(service_numbers::FILES)
        .interface(loopback())
        .expect(1)
        .confirm(Confirm::Delivered);
    let address: SocketAddr = format!("{group}:36036").parse().expect("an address");
    let listener = reply.is_some().then(|| {
        let options = ListenOptions::streams(service_numbers::FILES);
        endpoint.listen_with(options).expect("free")
    });
    let cast = endpoint.cast(Target::Group(address), options).expect("a cast");
    cast.wait_started().expect("it came");
    for message in stream {
        cast.send_message(message).expect("room");
    }
    cast.begin_finish().expect("open");
    let answers = listener.map(|listener| {
        let stream = listener.accept().expect("it answers").into_stream();
        for message in reply.into_iter().flatten() {
            stream.send_message(message).expect("room");
        }
        stream
    });
    let ended = receiver.end();
    answers.into_iter().for_each(Stream::abort);
    assert!(!dir.path().join("out/file").exists(), "nothing of it looks whole");
    let part = fs::metadata(dir.path().join("out/.file.xtp-part"));
    (ended.status, ended.said, part.map_or(0, |seen| seen.len()))
}

fn from_there_on(offset: usize) -> Vec<Vec<u8>> {
    let greeting = hello(HELLO_TO_GROUP, &[0; 9]);
    let rest = vec![0; SIZE - offset];
    let begin = [begin(0, offset), piece(0, rest.len())].concat();
    vec![[greeting, entry(SIZE)].concat(), begin, rest, FINISH.to_vec()]
}

/// Content that begins behind what is here, of a sender that cannot be asked for what is between.
#[test]
fn a_beginning_that_nobody_has() {
    let (status, said, part) = hostile("239.77.10.14", from_there_on(2 * PART), None);
    assert!(said.contains("--no-resume"), "{said}");
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(part, PART as u64, "{said}");
}

/// A sender that is asked for the beginning replies with something else, or with more than that.
#[test]
fn a_beginning_that_is_something_else() {
    let data = content(5, SIZE);
    let right = content(5, PART + 1);
    let replies = [
        vec![begin(0, PART + 1)],
        vec![begin(1, 0)],
        vec![FINISH.to_vec()],
        vec![[begin(0, PART), piece(0, PART + 1)].concat(), right],
        vec![[begin(0, PART), end(0, &data)].concat()],
    ];
    for (number, reply) in replies.into_iter().enumerate() {
        let group = format!("239.77.10.{}", 20 + number);
        let (status, said, _) = hostile(&group, from_there_on(2 * PART), Some(reply));
        assert_eq!(status, Some(1), "{number}: {said}");
    }
}
