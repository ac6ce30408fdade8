//! `xtp send` and `xtp listen` with streams, and options that change how things are sent.

use crate::support::{Running, costs, noise, xtp, xtp_fed};

#[test]
fn a_stream_arrives_octet_by_octet() {
    let octets = noise(20 << 20);
    let (listen, address) = Running::listener(&["listen", "--once", "127.0.0.1:0"]);
    xtp_fed(&["send", "--stream", &address], &octets).expect(0);
    assert!(listen.finish().expect(0).stdout == octets);
}

#[test]
fn a_stream_closes_by_its_ladder() {
    // L8 with one data packet: FIRST, TCNTL, {SREQ WCLOSE}, {RCLOSE}, {SREQ RCLOSE WCLOSE}, {END}.
    costs(&(3, 3), || {
        let (listen, address) = Running::listener(&["listen", "--once", "127.0.0.1:0"]);
        let done = xtp_fed(&["send", "--stream", "--json", &address], b"few octets").expect(0);
        assert_eq!(done.json()["paradigm"], "byte-stream");
        assert_eq!(listen.finish().expect(0).stdout, b"few octets");
        done.packets()
    });
}

#[test]
fn an_empty_stream_has_an_end() {
    let (listen, address) = Running::listener(&["listen", "--once", "--json", "127.0.0.1:0"]);
    xtp_fed(&["send", "--stream", &address], b"").expect(0);
    let object = listen.finish().expect(0).json();
    assert_eq!(object["items"][0]["kind"], "stream");
    assert_eq!(object["items"][0]["octets"], 0);
}

#[test]
fn each_line_is_a_message() {
    let lines = b"one\n\ntwo three\nno newline";
    let (listen, address) = Running::listener(&["listen", "--lines", "--once", "127.0.0.1:0"]);
    let object = xtp_fed(&["send", "--lines", "--json", &address], lines)
        .expect(0)
        .json();
    assert_eq!(object["messages"], 4);
    assert_eq!(
        listen.finish().expect(0).stdout,
        b"one\n\ntwo three\nno newline\n"
    );
}

#[test]
fn octets_appear_while_the_stream_is_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("arrived");
    let (listen, address) = Running::listener(&["listen", "-o", path.to_str().expect("text"), "127.0.0.1:0"]);
    let mut send = Running::start(&["send", "--stream", &address]);
    for (more, so_far) in [("begin ", "begin "), ("middle ", "begin middle ")] {
        send.write(more.as_bytes());
        while std::fs::read(&path).expect("the file") != so_far.as_bytes() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    send.feed(b"end");
    send.finish().expect(0);
    listen.interrupt().expect(130);
    assert_eq!(std::fs::read(&path).expect("the file"), b"begin middle end");
}

#[test]
fn several_streams_at_once_arrive_whole() {
    let (listen, address) = Running::listener(&["listen", "--json", "127.0.0.1:0"]);
    let senders: Vec<_> = (0..8)
        .map(|number: usize| {
            let mut send = Running::start(&["send", "--stream", &address]);
            send.feed(&vec![b'a' + number as u8; 10_000 + number]);
            send
        })
        .collect();
    for send in senders {
        send.finish().expect(0);
    }
    let object = listen.interrupt().expect(130).json();
    let items = object["items"].as_array().expect("a list");
    assert_eq!(items.len(), 8);
    for item in items {
        let text = item["content"]["text"].as_str().expect("text");
        let number = usize::from(text.as_bytes()[0] - b'a');
        assert_eq!(
            text,
            String::from_utf8(vec![text.as_bytes()[0]; 10_000 + number]).expect("text")
        );
        assert_eq!(item["complete"], true);
    }
}

#[test]
fn a_limit_a_trace_and_every_way_to_wait_change_nothing_of_what_arrives() {
    let directory = tempfile::tempdir().expect("a directory");
    let octets = noise(200_000);
    for options in [
        &["--limit", "100mbit"][..],
        &["--limit", "2MB", "--trace-format", "udp"],
        &["--wait", "spin"],
        &["--wait", "block"],
    ] {
        let trace = directory.path().join("trace.pcap");
        let trace = trace.to_str().expect("text");
        let (listen, address) = Running::listener(&["listen", "--once", "127.0.0.1:0"]);
        let mut args = vec!["send", "--stream", "--trace", trace, &address];
        args.extend(options);
        xtp_fed(&args, &octets).expect(0);
        assert!(listen.finish().expect(0).stdout == octets, "{options:?}");
        let capture = std::fs::read(trace).expect("a capture");
        assert!(capture.starts_with(&[0xa1, 0xb2, 0x3c, 0x4d]), "{options:?}");
        assert!(capture.len() > octets.len(), "{options:?}");
    }
}

#[test]
fn details_are_told_when_asked_for() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    assert_eq!(xtp(&["send", "-m", "x", &address]).expect(0).stderr, "");
    let done = xtp(&["send", "-v", "-m", "x", &address]).expect(0);
    assert!(done.stderr.contains("2 packets out, 1 in"), "{done:?}");
}

/// Waits until a file has these contents; returns what it has if that never happens within the patience of the tests.
fn until_written(path: &std::path::Path, wanted: &str) {
    while std::fs::read_to_string(path).expect("the file") != wanted {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn octets_of_streams_are_not_mixed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("arrived");
    let (mut listen, address) =
        Running::listener(&["listen", "-o", path.to_str().expect("text"), "127.0.0.1:0"]);
    let mut first = Running::start(&["send", "--stream", &address]);
    first.write(b"first, ");
    until_written(&path, "first, ");
    let mut second = Running::start(&["send", "--stream", &address]);
    second.write(b"second, ");
    listen.wait_for("from 127.0.0.1");
    // More than waits in memory: its sender is slowed down, and loses nothing.
    let more = vec![b'2'; 3 << 20];
    let feeding = std::thread::spawn(move || {
        second.feed(&more);
        second.finish().expect(0);
    });
    // A message waits as well.
    xtp(&["send", "-m", "message, ", &address]).expect(0);
    first.write(b"and its end, ");
    first.finish().expect(0);
    feeding.join().expect("sends");
    listen.interrupt().expect(130);
    let arrived = std::fs::read_to_string(&path).expect("the file");
    let twos = "2".repeat(3 << 20);
    assert!(
        arrived == format!("first, and its end, message, second, {twos}"),
        "{}",
        &arrived[..80]
    );
}

#[test]
fn lines_take_turns() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("arrived");
    let (listen, address) = Running::listener(&[
        "listen",
        "--lines",
        "-o",
        path.to_str().expect("text"),
        "127.0.0.1:0",
    ]);
    let mut streams = [1, 2].map(|_| Running::start(&["send", "--stream", &address]));
    streams[0].write(b"one\nbegun ");
    until_written(&path, "one\n");
    streams[1].write(b"two\nalso ");
    until_written(&path, "one\ntwo\n");
    streams[0].write(b"and ended\nno newline");
    until_written(&path, "one\ntwo\nbegun and ended\n");
    let [first, second] = streams;
    first.finish().expect(0);
    until_written(&path, "one\ntwo\nbegun and ended\nno newline\n");
    second.finish().expect(0);
    listen.interrupt().expect(130);
    let arrived = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(arrived, "one\ntwo\nbegun and ended\nno newline\nalso \n");
}

#[test]
fn each_stream_has_a_file_of_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let inbox = directory.path().join("inbox/");
    let (listen, address) = Running::listener(&[
        "listen",
        "--json",
        "-o",
        inbox.to_str().expect("text"),
        "127.0.0.1:0",
    ]);
    let mut streams = ["first", "second"].map(|text| {
        let mut send = Running::start(&["send", "--stream", &address]);
        send.write(text.as_bytes());
        send
    });
    streams[1].feed(b" and more");
    let [first, second] = streams;
    second.finish().expect(0);
    first.finish().expect(0);
    let object = listen.interrupt().expect(130).json();
    let files = object["items"].as_array().expect("a list").iter();
    let texts: Vec<String> = files
        .map(|item| {
            std::fs::read_to_string(inbox.join(item["file"].as_str().expect("a name"))).expect("reads")
        })
        .collect();
    assert_eq!(texts, ["second and more", "first"]);
    assert_eq!(std::fs::read_dir(&inbox).expect("reads").count(), 2);
}
